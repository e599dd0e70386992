/* triage_scores.c: see triage_scores.h. The calibration run's residuals are sorted by epoch; then the run is read block by
 * block, and each residual is looked up. */
#include "triage_scores.h"

#include "base/cleanup.h"
#include "die/die.h"
#include "die/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USER_COLUMNS (~UINT64_C(0) << STORE_COLUMN_USER)

const char *const triage_group_names[TRIAGE_GROUPS + 1] = {"under-estimated", "well-estimated", "over-estimated", NULL};

/* The numbers of the columns in a run. */
struct triage_columns {
	unsigned prediction, target, sigma;
	bool has_sigma;
};

/* The residuals of one epoch of the calibration run, ascending. */
struct triage_epoch {
	double *residuals;
	size_t count;
};

void
triage_open(struct dynamics *run, const struct dynamics *beside, const struct run_query *query, const char *name)
{
	const struct dynamics_request wanted = {.losses = true, .signals = USER_COLUMNS};

	if (beside)
		must(dynamics_load_beside(run, beside, query, name, &wanted, &failure));
	else
		must(dynamics_load(run, query, name, &wanted, &failure));
}

static unsigned
triage_column(const struct dynamics *run, const char *name)
{
	for (unsigned c = STORE_COLUMN_USER; c < STORE_COLUMN_MAX; c++) {
		const char *own = store_snapshot_column_name(run->snapshot, c);

		if (store_snapshot_columns(run->snapshot) & STORE_COLUMN_BIT(c) && own && strcmp(own, name) == 0)
			return c;
	}
	die("run '%s' has no column '%s': record a regression with log_regression(), and a difficulty as a column of your "
	    "own",
	    run->info->name, name);
}

static struct triage_columns
triage_columns_of(const struct dynamics *run, const char *sigma)
{
	struct triage_columns columns = {.prediction = triage_column(run, "prediction"),
	                                 .target = triage_column(run, "target"),
	                                 .has_sigma = sigma != NULL};

	if (sigma)
		columns.sigma = triage_column(run, sigma);
	return columns;
}

static bool
triage_has(const struct store_block *block, size_t e, unsigned column, uint32_t row)
{
	const struct store_values *values = store_block_values(block, e, column);

	return values->present && values->present[row / 64] >> row % 64 & 1;
}

static double
triage_value(const struct store_block *block, size_t e, unsigned column, uint32_t row)
{
	return (double)((const float *)store_block_values(block, e, column)->values)[row];
}

/* The residual of a row at an epoch; NaN: the row has none. */
static double
triage_residual(const struct dynamics *run, const struct triage_columns *columns, const struct store_block *block,
                size_t e, uint32_t row, bool scaled)
{
	double residual, sigma = 1;

	if (!triage_has(block, e, columns->prediction, row) || !triage_has(block, e, columns->target, row))
		return NAN;
	residual = triage_value(block, e, columns->target, row) - triage_value(block, e, columns->prediction, row);
	if (!columns->has_sigma || !scaled)
		return residual;
	if (!triage_has(block, e, columns->sigma, row))
		return NAN;
	sigma = triage_value(block, e, columns->sigma, row);
	if (!(sigma > 0))
		die("run '%s', epoch %u: a difficulty (--sigma) is %g, and must be above 0", run->info->name,
		    run->epochs[e], sigma);
	return residual / sigma;
}

static int
triage_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Reads the calibration run: an array of its epochs, in the order of its list. */
static struct triage_epoch *
triage_calibrate(const struct dynamics *calibration, const struct triage_columns *columns)
{
	struct triage_epoch *epochs = memory_new(calibration->epoch_count, sizeof(*epochs));
	struct store_cursor *cursor;

	for (size_t e = 0; e < calibration->epoch_count; e++)
		epochs[e].residuals = memory_array(calibration->ids.rows, sizeof(double), "residuals");
	must(store_cursor_open(calibration->snapshot, &cursor, &failure));
	for (size_t b = 0; b < store_snapshot_blocks(calibration->snapshot); b++) {
		struct store_block block;

		must(store_cursor_block(cursor, b, &block, &failure));
		for (size_t e = 0; e < calibration->epoch_count; e++)
			for (uint32_t row = 0; row < block.rows; row++) {
				double residual = triage_residual(calibration, columns, &block, e, row, true);

				if (!isnan(residual))
					epochs[e].residuals[epochs[e].count++] = residual;
			}
	}
	store_cursor_close(cursor);
	for (size_t e = 0; e < calibration->epoch_count; e++)
		qsort(epochs[e].residuals, epochs[e].count, sizeof(double), triage_compare);
	return epochs;
}

/* How many of the residuals are below r, or, with `or_equal`, at most r. */
static size_t
triage_rank(const struct triage_epoch *epoch, double r, bool or_equal)
{
	size_t low = 0, high = epoch->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		bool before = or_equal ? epoch->residuals[middle] <= r : epoch->residuals[middle] < r;

		low = before ? middle + 1 : low;
		high = before ? high : middle;
	}
	return low;
}

static double
triage_probability(const struct triage_epoch *epoch, double r)
{
	double below = (double)triage_rank(epoch, r, false), to = (double)triage_rank(epoch, r, true);

	return (below + (to - below + 1) / 2) / ((double)epoch->count + 1);
}

/* The calibration run's epoch of each of the run's epochs; NULL where it has none, or none with residuals. */
static const struct triage_epoch **
triage_match(const struct dynamics *run, const struct dynamics *calibration, const struct triage_epoch *epochs)
{
	const struct triage_epoch **matched = memory_new(run->epoch_count, sizeof(struct triage_epoch *));

	for (size_t e = 0, c = 0; e < run->epoch_count; e++) {
		while (c < calibration->epoch_count && calibration->epochs[c] < run->epochs[e])
			c++;
		if (c < calibration->epoch_count && calibration->epochs[c] == run->epochs[e] && epochs[c].count > 0)
			matched[e] = &epochs[c];
	}
	return matched;
}

/* Scores one example: mean and deviation by Welford's updates. False: it has no epoch with a calibration. */
static bool
triage_score_row(const struct dynamics *run, const struct triage_columns *columns, const struct store_block *block,
                 uint32_t row, const struct triage_epoch *const *calibration, struct triage_row *scored)
{
	double squares = 0;

	*scored = (struct triage_row){.row = block->first + row};
	for (size_t e = 0; e < run->epoch_count; e++) {
		double r = calibration[e] ? triage_residual(run, columns, block, e, row, true) : NAN, t, step;

		if (isnan(r))
			continue;
		t = triage_probability(calibration[e], r);
		step = t - scored->score;
		scored->epochs++;
		scored->score += step / scored->epochs;
		squares += step * (t - scored->score);
		scored->residual += triage_residual(run, columns, block, e, row, false);
	}
	if (scored->epochs == 0)
		return false;
	scored->variability = sqrt(squares / scored->epochs);
	scored->residual /= scored->epochs;
	return true;
}

size_t
triage_score(const struct dynamics *run, const struct dynamics *calibration, const char *sigma, struct triage_row *rows,
             size_t *left_out)
{
	const struct triage_columns of_run = triage_columns_of(run, sigma);
	const struct triage_columns of_calibration = triage_columns_of(calibration, sigma);
	struct triage_epoch *epochs = triage_calibrate(calibration, &of_calibration);
	const struct triage_epoch **matched = triage_match(run, calibration, epochs);
	CLEANUP_ARRAY struct triage_row *by_row = memory_array(run->ids.rows, sizeof(*by_row), "scores");
	struct store_cursor *cursor;
	size_t count = 0;

	must(store_cursor_open(run->snapshot, &cursor, &failure));
	for (size_t b = 0; b < store_snapshot_blocks(run->snapshot); b++) {
		struct store_block block;

		must(store_cursor_block(cursor, b, &block, &failure));
		for (uint32_t row = 0; row < block.rows; row++)
			triage_score_row(run, &of_run, &block, row, matched, &by_row[block.first + row]);
	}
	store_cursor_close(cursor);
	for (size_t i = 0; i < run->count; i++)
		if (by_row[run->order[i]].epochs > 0)
			rows[count++] = by_row[run->order[i]];
	*left_out = run->count - count;
	for (size_t e = 0; e < calibration->epoch_count; e++)
		array_free(epochs[e].residuals);
	free(epochs);
	free(matched);
	return count;
}

/* NumPy's percentile, by linear interpolation, of n numbers in ascending order. */
static double
triage_quantile(const double *sorted, size_t n, double share)
{
	double place = share * (double)(n - 1);
	size_t below = (size_t)place;

	return below + 1 < n ? sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below])
	                     : sorted[n - 1];
}

void
triage_group(struct triage_row *rows, size_t count, double low, double share)
{
	CLEANUP_ARRAY double *sorted = memory_array(count + 1, sizeof(*sorted), "variabilities");
	double most;

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		sorted[i] = rows[i].variability;
	qsort(sorted, count, sizeof(*sorted), triage_compare);
	most = triage_quantile(sorted, count, share);
	for (size_t i = 0; i < count; i++) {
		bool is_steady = rows[i].variability <= most;

		rows[i].group = is_steady && rows[i].score <= low       ? TRIAGE_OVER
		                : is_steady && rows[i].score >= 1 - low ? TRIAGE_UNDER
		                                                        : TRIAGE_WELL;
	}
}

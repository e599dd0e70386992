/* dynamics_columns.c: finds a column (a measure, or the mean of a column that the user logged) among those read of a
 * run, and computes the values of all columns for a block of examples (dynamics_columns.h). */
#include "dynamics_columns.h"

#include "measures_losses.h"
#include "measures_tdds.h"

#include <math.h>
#include <string.h>

const struct dynamics_column *
dynamics_column(const struct dynamics *dynamics, const char *name)
{
	for (size_t i = 0; i < dynamics->column_count; i++)
		if (strcmp(dynamics->columns[i].name, name) == 0)
			return &dynamics->columns[i];
	return NULL;
}

struct dynamics_column *
dynamics_measure_column(struct dynamics *dynamics, enum measure measure)
{
	for (size_t i = 0; i < dynamics->column_count; i++)
		if (dynamics->columns[i].measure == (int)measure)
			return &dynamics->columns[i];
	return NULL;
}

const double *
dynamics_measure(const struct dynamics *dynamics, enum measure measure)
{
	const struct dynamics_column *column = dynamics_column(dynamics, measure_infos[measure].name);

	return column ? column->values : NULL;
}

const double *
dynamics_mean(const struct dynamics *dynamics)
{
	return dynamics_measure(dynamics, dynamics->info->of_losses ? MEASURE_TASK_LOSS : MEASURE_CONFIDENCE);
}

const char *
dynamics_label(const struct dynamics *dynamics, uint32_t index)
{
	int32_t gold = dynamics->gold ? dynamics->gold[index] : -1;

	return gold < 0 ? NULL : store_snapshot_label(dynamics->snapshot, (uint64_t)gold);
}

bool
dynamics_is_reserved(const char *name)
{
	return measure_find(name) >= 0 || strcmp(name, "id") == 0 || strcmp(name, "gold") == 0 ||
	       strcmp(name, "label") == 0;
}

bool
dynamics_fills_never(const struct dynamics *dynamics, int measure)
{
	return dynamics->never == NEVER_NEXT &&
	       (measure == MEASURE_FIRST_LEARNED || measure == MEASURE_ALWAYS_RIGHT_AFTER ||
	        measure == MEASURE_ALWAYS_WRONG_AFTER);
}

/* Writes the epoch after the last one where an observed example has none. */
static void
fill_never(const struct dynamics *dynamics, const double *epochs, uint32_t rows, double *values)
{
	double next = (double)dynamics->epochs[dynamics->epoch_count - 1] + 1;

	for (uint32_t r = 0; r < rows; r++)
		if (isnan(values[r]) && epochs[r] > 0)
			values[r] = next;
}

static void
fill_all_never(const struct dynamics *dynamics, uint32_t rows, double *const out[MEASURE_COUNT])
{
	for (int m = 0; m < MEASURE_COUNT; m++)
		if (out[m] && dynamics_fills_never(dynamics, m))
			fill_never(dynamics, out[MEASURE_EPOCHS], rows, out[m]);
}

void
dynamics_fill(const struct dynamics *dynamics, const struct store_block *block, double *const *values)
{
	double *out[MEASURE_COUNT] = {0};

	for (size_t c = 0; c < dynamics->column_count; c++) {
		const struct dynamics_column *column = &dynamics->columns[c];
		double *to = values ? values[c] : column->values;

		if (column->measure == MEASURE_TDDS)
			measures_tdds(block, dynamics->classes, dynamics->class_count, dynamics->window, to);
		else if (column->measure >= 0)
			out[column->measure] = to;
		else
			measures_mean(block, column->stored, to);
	}
	if (out[MEASURE_LOSS_EMA] || out[MEASURE_LEARNING_SPEED] || out[MEASURE_DETRENDED_VARIABILITY])
		measures_losses(block, dynamics->epochs, dynamics->info->of_losses, out[MEASURE_LOSS_EMA],
		                out[MEASURE_LEARNING_SPEED], out[MEASURE_DETRENDED_VARIABILITY]);
	if (dynamics->info->of_losses) /* the mean of what the block has as gold_prob */
		out[MEASURE_CONFIDENCE] = out[MEASURE_TASK_LOSS];
	measures_block(block, dynamics->epochs, dynamics->window,
	               dynamics->info->of_losses ? dynamics->loss_threshold : NAN, out);
	fill_all_never(dynamics, block->rows, out);
}

void
dynamics_fill_from(const struct dynamics *dynamics, const struct block_sums *sums, uint32_t at, uint32_t rows)
{
	double *out[MEASURE_COUNT] = {0};

	for (size_t c = 0; c < dynamics->column_count; c++) {
		const struct dynamics_column *column = &dynamics->columns[c];

		if (column->measure >= 0)
			out[column->measure] = column->values;
		else
			sums_mean(sums, column->stored, at, rows, column->values);
	}
	sums_measures(sums, at, rows, out);
	fill_all_never(dynamics, rows, out);
}

const char *const never_learned_names[] = {"flag", "1000", "epochs", "infinity", "0", NULL};

double
never_learned_number(enum never_learned convention, size_t epochs)
{
	switch (convention) {
	case NEVER_LEARNED_1000:
		return 1000;
	case NEVER_LEARNED_EPOCHS:
		return (double)epochs;
	case NEVER_LEARNED_INFINITY:
		return INFINITY;
	default:
		return NAN; /* 0 as it is: an example that was never right was never forgotten either */
	}
}

void
never_learned_mark(struct dynamics *part, double number)
{
	const struct dynamics_column *never = dynamics_measure_column(part, MEASURE_NEVER_LEARNED);
	const struct dynamics_column *events = dynamics_measure_column(part, MEASURE_FORGETTING_EVENTS);

	if (isnan(number))
		return;
	for (size_t i = 0; i < part->ids.rows; i++)
		if (never->values[i] > 0)
			events->values[i] = number;
}

void
never_learned_count(struct dynamics *dynamics, enum never_learned convention)
{
	struct dynamics_column *events = dynamics_measure_column(dynamics, MEASURE_FORGETTING_EVENTS);
	double number = never_learned_number(convention, dynamics->epoch_count);

	if (!events || !dynamics_measure_column(dynamics, MEASURE_NEVER_LEARNED))
		return;
	dynamics->never_learned = convention;
	if (isinf(number))
		events->integer = false;
	never_learned_mark(dynamics, number);
}

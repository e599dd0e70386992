/*
 * dynamics.c: reads a run block by block and keeps what was asked for.
 *
 * Measures are kept as columns of doubles by dense index, one array each: 8 bytes per example and measure, whatever the
 * number of epochs. The blocks themselves are never held, so memory does not grow with the run's length.
 */
#include "dynamics.h"

#include "program/message.h"
#include "program/number.h"
#include "program/progress.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define USER_COLUMNS (~UINT64_C(0) << STORE_COLUMN_USER)

void
dynamics_free(struct dynamics *dynamics)
{
	for (size_t i = 0; i < dynamics->column_count; i++)
		free(dynamics->columns[i].values);
	free(dynamics->gold);
	free(dynamics->order);
	ids_free(&dynamics->ids);
	store_snapshot_close(dynamics->snapshot);
	if (!dynamics->store_borrowed)
		store_close(dynamics->store);
	*dynamics = (struct dynamics){0};
}

/* Measures are computed from one another: what is asked for, with what that takes. */
static uint32_t
with_dependencies(uint32_t measures)
{
	measures |= MEASURE_BIT(MEASURE_EPOCHS);
	if (measures & MEASURE_BIT(MEASURE_VARIABILITY_CI))
		measures |= MEASURE_BIT(MEASURE_VARIABILITY);
	if (measures & (MEASURE_BIT(MEASURE_VARIABILITY) | MEASURE_BIT(MEASURE_THRESHOLD_CLOSENESS)))
		measures |= MEASURE_BIT(MEASURE_CONFIDENCE);
	return measures;
}

static uint64_t
columns_needed(const struct dynamics_request *request, uint32_t measures)
{
	uint64_t columns = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT);

	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (measures & MEASURE_BIT(m))
			columns |= measure_infos[m].needs;
	if (request->gold)
		columns |= STORE_COLUMN_BIT(STORE_GOLD);
	if (request->user)
		columns |= USER_COLUMNS;
	return columns;
}

/* "epochs 0 to 4", "epoch 3", or "epochs 0 to 100, with gaps"; of the whole run. */
static void
describe_epochs(const struct dynamics *dynamics, char text[64])
{
	struct store_epoch *epochs;
	size_t count;

	snprintf(text, 64, "others");
	if (store_epochs(dynamics->store, dynamics->info->number, &epochs, &count, NULL) < 0)
		return;
	if (count == 1)
		snprintf(text, 64, "epoch %u", epochs[0].epoch);
	else if (count > 1)
		snprintf(text, 64, "epochs %u to %u%s", epochs[0].epoch, epochs[count - 1].epoch,
		         epochs[count - 1].epoch - epochs[0].epoch + 1 == count ? "" : ", with gaps");
	free(epochs);
}

static int
no_observations(const struct dynamics *dynamics, const struct common_options *common, struct portolan_error *error)
{
	const struct store_run_info *info = dynamics->info;
	char has[64], asked[64];

	if (info->epochs == 0 && info->state == STORE_RECORDING)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' is being recorded, but nothing is stored yet: try again later", info->name);
	if (info->epochs == 0)
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no observations", info->name);
	describe_epochs(dynamics, has);
	if (common->epoch_to == UINT32_MAX)
		snprintf(asked, sizeof(asked), "from epoch %u on", common->epoch_from);
	else if (common->epoch_to - common->epoch_from == 1)
		snprintf(asked, sizeof(asked), "in epoch %u", common->epoch_from);
	else
		snprintf(asked, sizeof(asked), "in epochs %u to %u", common->epoch_from, common->epoch_to - 1);
	return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no observations %s; it has %s", info->name, asked,
	                 has);
}

/* A third of the time of a large `metrics` went into page faults for these arrays: huge pages make them few. */
static double *
allocate_values(size_t rows)
{
	size_t bytes = (rows * sizeof(double) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	double *values;

	if (rows * sizeof(double) < HUGE_PAGE)
		return malloc(rows * sizeof(double));
	values = aligned_alloc(HUGE_PAGE, bytes);
	if (values)
		madvise(values, bytes, MADV_HUGEPAGE);
	return values;
}

static int
add_column(struct dynamics *dynamics, const char *prefix, const char *name, struct portolan_error *error)
{
	size_t rows = store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK;
	struct dynamics_column *column = &dynamics->columns[dynamics->column_count];

	*column = (struct dynamics_column){.values = allocate_values(rows)};
	if (!column->values)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %s of %zu examples", name, rows);
	snprintf(column->name, sizeof(column->name), "%s%s", prefix, name);
	dynamics->column_count++;
	return 0;
}

/* Names that every table has already. */
static bool
is_reserved(const char *name)
{
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(name, measure_infos[m].name) == 0)
			return true;
	return strcmp(name, "id") == 0 || strcmp(name, "gold") == 0 || strcmp(name, "label") == 0;
}

/* Makes the columns of the measures that the run has signals for; out[m] is where measure m goes. */
static int
add_measures(struct dynamics *dynamics, uint32_t measures, double *out[MEASURE_COUNT], struct portolan_error *error)
{
	uint64_t available = store_snapshot_columns(dynamics->snapshot);

	for (unsigned m = 0; m < MEASURE_COUNT; m++) {
		const struct measure_info *info = &measure_infos[m];

		out[m] = NULL;
		if (!(measures & MEASURE_BIT(m)) || (info->needs & ~available) != 0)
			continue;
		if (add_column(dynamics, "", info->name, error) < 0)
			return PORTOLAN_E_MEMORY;
		dynamics->columns[dynamics->column_count - 1].integer = info->integer;
		dynamics->columns[dynamics->column_count - 1].sometimes = info->sometimes;
		out[m] = dynamics->columns[dynamics->column_count - 1].values;
	}
	return 0;
}

static int
add_user_columns(struct dynamics *dynamics, double *out[STORE_COLUMN_MAX], struct portolan_error *error)
{
	uint64_t available = store_snapshot_columns(dynamics->snapshot);

	for (unsigned c = STORE_COLUMN_USER; c < STORE_COLUMN_MAX; c++) {
		const char *name = store_snapshot_column_name(dynamics->snapshot, c);

		out[c] = NULL;
		if (!(available & STORE_COLUMN_BIT(c)) || !name)
			continue;
		if (add_column(dynamics, is_reserved(name) ? "mean_" : "", name, error) < 0)
			return PORTOLAN_E_MEMORY;
		dynamics->columns[dynamics->column_count - 1].sometimes = true;
		out[c] = dynamics->columns[dynamics->column_count - 1].values;
	}
	return 0;
}

static void
take_gold(struct dynamics *dynamics, const struct store_block *block)
{
	const struct store_values *gold = &block->gold;
	int32_t *to = dynamics->gold + block->first;

	for (uint32_t r = 0; r < block->rows; r++) {
		to[r] = gold->present && gold->present[r / 64] >> r % 64 & 1 ? ((const int32_t *)gold->values)[r] : -1;
		if (to[r] < -1)
			to[r] = -1; /* no collector stores one; whoever counts classes relies on it */
	}
}

static int
read_block(struct dynamics *dynamics, struct store_cursor *cursor, size_t index, double *const measures[MEASURE_COUNT],
           double *const user[STORE_COLUMN_MAX], struct portolan_error *error)
{
	double *out[MEASURE_COUNT];
	struct store_block block;
	struct store_ids ids;
	int code = store_cursor_block(cursor, index, &block, error);

	if (code < 0)
		return code;
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		out[m] = measures[m] ? measures[m] + block.first : NULL;
	measures_block(&block, dynamics->epochs, out);
	if (out[MEASURE_VARIABILITY])
		measures_first_epoch(&block, out[MEASURE_CONFIDENCE], out[MEASURE_VARIABILITY], &dynamics->first_epoch);
	for (unsigned c = STORE_COLUMN_USER; c < STORE_COLUMN_MAX; c++)
		if (user[c])
			measures_mean(&block, c, user[c] + block.first);
	if (dynamics->gold)
		take_gold(dynamics, &block);
	code = store_cursor_ids(cursor, index, &ids, error);
	return code < 0 ? code : ids_append(&dynamics->ids, dynamics->info->id_kind, &ids, error);
}

static int
read_blocks(struct dynamics *dynamics, double *const measures[MEASURE_COUNT], double *const user[STORE_COLUMN_MAX],
            struct portolan_error *error)
{
	size_t blocks = store_snapshot_blocks(dynamics->snapshot);
	struct store_cursor *cursor;
	struct progress progress;
	int code = store_cursor_open(dynamics->snapshot, &cursor, error);

	if (code < 0)
		return code;
	progress_begin(&progress, "reading", blocks);
	for (size_t b = 0; b < blocks && code >= 0; b++) {
		code = read_block(dynamics, cursor, b, measures, user, error);
		progress_update(&progress, b + 1);
	}
	progress_end(&progress);
	store_cursor_close(cursor);
	return code;
}

/* Lists the observed examples by ascending id, and counts those with gaps. */
static int
make_order(struct dynamics *dynamics, struct portolan_error *error)
{
	const double *epochs = dynamics_measure(dynamics, MEASURE_EPOCHS);

	dynamics->order = malloc((dynamics->ids.rows + 1) * sizeof(*dynamics->order));
	if (!dynamics->order)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples", dynamics->ids.rows);
	for (size_t i = 0; i < dynamics->ids.rows; i++) {
		if (epochs[i] > 0)
			dynamics->order[dynamics->count++] = (uint32_t)i;
		if (epochs[i] > 0 && epochs[i] < (double)dynamics->epoch_count)
			dynamics->gaps++;
	}
	return ids_sort(&dynamics->ids, dynamics->order, dynamics->count, error);
}

static int
load(struct dynamics *dynamics, const struct common_options *common, const struct dynamics_request *request,
     struct portolan_error *error)
{
	size_t rows = store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK;
	double *measures[MEASURE_COUNT], *user[STORE_COLUMN_MAX] = {0};
	int code;

	dynamics->info = store_snapshot_info(dynamics->snapshot);
	dynamics->epoch_count = store_snapshot_epochs(dynamics->snapshot, &dynamics->epochs);
	dynamics->range_given = common->epochs_given;
	if (dynamics->epoch_count == 0 || rows == 0)
		return no_observations(dynamics, common, error);
	if (request->gold) {
		dynamics->gold = malloc(rows * sizeof(*dynamics->gold));
		if (!dynamics->gold)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu labels", rows);
	}
	code = add_measures(dynamics, with_dependencies(request->measures), measures, error);
	if (code >= 0 && request->user)
		code = add_user_columns(dynamics, user, error);
	if (code >= 0)
		code = read_blocks(dynamics, measures, user, error);
	if (code >= 0)
		code = make_order(dynamics, error);
	if (code >= 0 && dynamics->count == 0)
		code = no_observations(dynamics, common, error);
	return code;
}

/* dynamics->store is open. */
static int
load_run(struct dynamics *dynamics, const struct common_options *common, const char *run,
         const struct dynamics_request *request, struct portolan_error *error)
{
	struct store_snapshot_options options = {
	        .epoch_from = common->epoch_from,
	        .epoch_to = common->epoch_to,
	        .columns = columns_needed(request, with_dependencies(request->measures)),
	};
	int code = store_snapshot_open(dynamics->store, run, &options, &dynamics->snapshot, error);

	if (code >= 0)
		code = load(dynamics, common, request, error);
	if (code < 0)
		dynamics_free(dynamics);
	return code;
}

int
dynamics_load(struct dynamics *dynamics, const struct common_options *common, const char *run,
              const struct dynamics_request *request, struct portolan_error *error)
{
	int code;

	*dynamics = (struct dynamics){0};
	code = store_open(common->store, &dynamics->store, error);
	return code < 0 ? code : load_run(dynamics, common, run, request, error);
}

int
dynamics_load_beside(struct dynamics *dynamics, const struct dynamics *first, const struct common_options *common,
                     const char *run, const struct dynamics_request *request, struct portolan_error *error)
{
	*dynamics = (struct dynamics){.store = first->store, .store_borrowed = true};
	return load_run(dynamics, common, run, request, error);
}

const struct dynamics_column *
dynamics_column(const struct dynamics *dynamics, const char *name)
{
	for (size_t i = 0; i < dynamics->column_count; i++)
		if (strcmp(dynamics->columns[i].name, name) == 0)
			return &dynamics->columns[i];
	return NULL;
}

const double *
dynamics_measure(const struct dynamics *dynamics, enum measure measure)
{
	const struct dynamics_column *column = dynamics_column(dynamics, measure_infos[measure].name);

	return column ? column->values : NULL;
}

const char *
dynamics_label(const struct dynamics *dynamics, uint32_t index)
{
	int32_t gold = dynamics->gold ? dynamics->gold[index] : -1;

	return gold < 0 ? NULL : store_snapshot_label(dynamics->snapshot, (uint64_t)gold);
}

int
dynamics_report_gaps(const struct dynamics *dynamics, bool strict)
{
	const struct store_run_info *info = dynamics->info;
	char some[NUMBER_ROOM], all[NUMBER_ROOM];
	bool incomplete = false;

	if (info->state == STORE_RECORDING) {
		message_warning("run '%s' is still being recorded; this is what is stored so far", info->name);
		incomplete = true;
	}
	if (info->declared > dynamics->count) {
		number_print_grouped(info->declared - dynamics->count, some);
		number_print_grouped(info->declared, all);
		message_warning("not observed in these epochs: %s of the %s declared examples", some, all);
		incomplete = true;
	}
	if (dynamics->gaps > 0) {
		number_print_grouped(dynamics->gaps, some);
		number_print_grouped(dynamics->count, all);
		message_warning("not observed in all %zu epochs: %s of %s examples; their measures use what was seen",
		                dynamics->epoch_count, some, all);
		incomplete = true;
	}
	return incomplete && strict ? STATUS_INCOMPLETE : STATUS_DONE;
}

void
dynamics_report_first_epoch(const struct dynamics *dynamics)
{
	const struct measures_first_epoch *sums = &dynamics->first_epoch;

	if (dynamics->range_given || !measures_first_epoch_dominates(sums, dynamics->epoch_count))
		return;
	message_warning(
	        "%.0f%% of the variance is the difference between epoch %u and the later ones, as when training from "
	        "scratch: variability then shows what was learned late, not what is ambiguous; try --epochs %u:",
	        100 * sums->first / sums->total, dynamics->epochs[0], dynamics->epochs[0] + 1);
}

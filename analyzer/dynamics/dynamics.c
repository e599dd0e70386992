/*
 * dynamics.c: opening a run, and holding what was asked for of it.
 *
 * Measures are held as columns of doubles by dense index, one array each: 8 bytes per example and measure, whatever the
 * number of epochs. The scan's workers write straight into them.
 */
#include "dynamics.h"

#include "scan.h"

#include "program/parallel.h"

#include <portolan/error.h>

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

/* A third of the time of a large `metrics` went into page faults for these arrays: huge pages make them few. */
double *
dynamics_allocate_values(size_t rows)
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

static struct dynamics_column *
add_column(struct dynamics *dynamics, const char *prefix, const char *name)
{
	struct dynamics_column *column = &dynamics->columns[dynamics->column_count++];

	*column = (struct dynamics_column){.measure = -1};
	snprintf(column->name, sizeof(column->name), "%s%s", prefix, name);
	return column;
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

/* The columns of the measures that the run has signals for. */
static void
add_measures(struct dynamics *dynamics, uint32_t measures)
{
	uint64_t available = store_snapshot_columns(dynamics->snapshot);

	for (unsigned m = 0; m < MEASURE_COUNT; m++) {
		const struct measure_info *info = &measure_infos[m];
		struct dynamics_column *column;

		if (!(measures & MEASURE_BIT(m)) || (info->needs & ~available) != 0)
			continue;
		column = add_column(dynamics, "", info->name);
		column->measure = (int)m;
		column->integer = info->integer;
		column->sometimes = info->sometimes;
	}
}

static void
add_user_columns(struct dynamics *dynamics)
{
	uint64_t available = store_snapshot_columns(dynamics->snapshot);

	for (unsigned c = STORE_COLUMN_USER; c < STORE_COLUMN_MAX; c++) {
		const char *name = store_snapshot_column_name(dynamics->snapshot, c);
		struct dynamics_column *column;

		if (!(available & STORE_COLUMN_BIT(c)) || !name)
			continue;
		column = add_column(dynamics, is_reserved(name) ? "mean_" : "", name);
		column->sometimes = true;
		column->stored = c;
	}
}

static int
allocate(struct dynamics *dynamics, size_t rows, struct portolan_error *error)
{
	if (dynamics->with_gold) {
		dynamics->gold = malloc(rows * sizeof(*dynamics->gold));
		if (!dynamics->gold)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu labels", rows);
	}
	for (size_t c = 0; c < dynamics->column_count; c++) {
		struct dynamics_column *column = &dynamics->columns[c];

		column->values = dynamics_allocate_values(rows);
		if (!column->values)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %s of %zu examples", column->name,
			                 rows);
	}
	return ids_reserve(&dynamics->ids, dynamics->info->id_kind, rows, error);
}

/* Bytes of the mean string id. */
static uint64_t
text_of(const struct ids *ids)
{
	return ids->kind == STORE_ID_STR && ids->rows > 0 ? ids->offsets[ids->rows] / ids->rows + 1 : 0;
}

/* As many threads as what is left beside the run has room for. */
static void
share_memory(struct dynamics *dynamics, uint64_t needed)
{
	uint64_t room = dynamics->max_memory > needed ? dynamics->max_memory - needed : 0;

	if (dynamics->max_memory > 0)
		scan_fit(dynamics, room + scan_worker_memory(dynamics), 0);
}

/* The ids of parts on their way to the dynamics. */
struct loading {
	struct dynamics *dynamics;
	struct ids *slots;
};

/* How long string ids are is known only now: what all will take, if the others are as long as those so far. */
static int
check_text(const struct dynamics *dynamics, struct portolan_error *error)
{
	const struct ids *ids = &dynamics->ids;
	uint64_t needed;

	if (ids->kind != STORE_ID_STR || ids->rows == 0 || dynamics->max_memory == 0)
		return 0;
	needed = dynamics_memory(dynamics, text_of(ids));
	return needed > dynamics->max_memory ? dynamics_refuse_memory(dynamics, needed, error) : 0;
}

static int
keep_ids(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	struct loading *loading = context;

	loading->slots[slot].rows = 0;
	return ids_append_all(&loading->slots[slot], &part->ids, error);
}

static int
append_ids(void *context, unsigned slot, struct portolan_error *error)
{
	struct loading *loading = context;
	int code = ids_append_all(&loading->dynamics->ids, &loading->slots[slot], error);

	return code < 0 ? code : check_text(loading->dynamics, error);
}

static int
read_all(struct dynamics *dynamics, struct portolan_error *error)
{
	unsigned slots = parallel_slots(dynamics->threads);
	struct loading loading = {dynamics, calloc(slots, sizeof(*loading.slots))};
	struct scan_steps steps = {.context = &loading, .work = keep_ids, .deliver = append_ids};
	int code = loading.slots ? scan_run(dynamics, &steps, error)
	                         : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	for (unsigned s = 0; loading.slots && s < slots; s++)
		ids_free(&loading.slots[s]);
	free(loading.slots);
	return code;
}

/* Lists the observed examples by ascending id. */
static int
make_order(struct dynamics *dynamics, struct portolan_error *error)
{
	const double *epochs = dynamics_measure(dynamics, MEASURE_EPOCHS);
	size_t count = 0;

	dynamics->order = malloc((dynamics->ids.rows + 1) * sizeof(*dynamics->order));
	if (!dynamics->order)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples", dynamics->ids.rows);
	for (size_t i = 0; i < dynamics->ids.rows; i++)
		if (epochs[i] > 0)
			dynamics->order[count++] = (uint32_t)i;
	return ids_sort(&dynamics->ids, dynamics->order, count, error);
}

static void
describe(struct dynamics *dynamics, const struct common_options *common, const struct dynamics_request *request)
{
	dynamics->info = store_snapshot_info(dynamics->snapshot);
	dynamics->verdict = verdict_read(dynamics->store, dynamics->info);
	dynamics->epoch_count = store_snapshot_epochs(dynamics->snapshot, &dynamics->epochs);
	dynamics->range_given = common->epochs_given;
	dynamics->epoch_from = common->epoch_from;
	dynamics->epoch_to = common->epoch_to;
	dynamics->with_gold = request->gold;
	dynamics->threads = parallel_threads(common->threads);
	dynamics->max_memory = common->max_memory;
	dynamics->row_bytes = request->row_bytes;
	add_measures(dynamics, with_dependencies(request->measures));
	if (request->user)
		add_user_columns(dynamics);
}

/* dynamics->store is open. */
static int
open_run(struct dynamics *dynamics, const struct common_options *common, const char *run,
         const struct dynamics_request *request, struct portolan_error *error)
{
	struct common_options chosen = *common;
	struct store_snapshot_options options = {
	        .occupied = true,
	        .epoch_to = common->epoch_to,
	        .columns = columns_needed(request, with_dependencies(request->measures)),
	};
	int code = common->epochs_auto ? dynamics_choose_epochs(dynamics, &chosen, run, error) : 0;

	options.epoch_from = chosen.epoch_from;
	if (code >= 0)
		code = store_snapshot_open(dynamics->store, run, &options, &dynamics->snapshot, error);
	if (code >= 0) {
		describe(dynamics, &chosen, request);
		dynamics->range_chosen = common->epochs_auto;
		if (dynamics->epoch_count == 0 || store_snapshot_blocks(dynamics->snapshot) == 0)
			code = dynamics_no_observations(dynamics, error);
	}
	if (code < 0)
		dynamics_free(dynamics);
	return code;
}

int
dynamics_hold(struct dynamics *dynamics, struct portolan_error *error)
{
	uint64_t needed = dynamics_memory(dynamics, 0);
	int code = 0;

	if (dynamics->max_memory > 0 && needed > dynamics->max_memory)
		code = dynamics_refuse_memory(dynamics, needed, error);
	if (code >= 0) {
		share_memory(dynamics, needed);
		code = allocate(dynamics, store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK, error);
	}
	if (code >= 0)
		code = read_all(dynamics, error);
	if (code >= 0)
		code = dynamics->count ? make_order(dynamics, error) : dynamics_no_observations(dynamics, error);
	if (code >= 0)
		dynamics->beside += dynamics_held(dynamics, text_of(&dynamics->ids));
	else
		dynamics_free(dynamics);
	return code;
}

static int
open_store(struct dynamics *dynamics, const struct common_options *common, struct portolan_error *error)
{
	*dynamics = (struct dynamics){0};
	return store_open(common->store, &dynamics->store, error);
}

int
dynamics_open(struct dynamics *dynamics, const struct common_options *common, const char *run,
              const struct dynamics_request *request, struct portolan_error *error)
{
	int code = open_store(dynamics, common, error);

	return code < 0 ? code : open_run(dynamics, common, run, request, error);
}

int
dynamics_load(struct dynamics *dynamics, const struct common_options *common, const char *run,
              const struct dynamics_request *request, struct portolan_error *error)
{
	int code = dynamics_open(dynamics, common, run, request, error);

	return code < 0 ? code : dynamics_hold(dynamics, error);
}

int
dynamics_open_beside(struct dynamics *dynamics, const struct dynamics *first, const struct common_options *common,
                     const char *run, const struct dynamics_request *request, struct portolan_error *error)
{
	*dynamics = (struct dynamics){.store = first->store, .store_borrowed = true, .beside = first->beside};
	return open_run(dynamics, common, run, request, error);
}

int
dynamics_load_beside(struct dynamics *dynamics, const struct dynamics *first, const struct common_options *common,
                     const char *run, const struct dynamics_request *request, struct portolan_error *error)
{
	int code = dynamics_open_beside(dynamics, first, common, run, request, error);

	return code < 0 ? code : dynamics_hold(dynamics, error);
}

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

const char *
dynamics_label(const struct dynamics *dynamics, uint32_t index)
{
	int32_t gold = dynamics->gold ? dynamics->gold[index] : -1;

	return gold < 0 ? NULL : store_snapshot_label(dynamics->snapshot, (uint64_t)gold);
}

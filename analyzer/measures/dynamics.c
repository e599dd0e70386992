/*
 * dynamics.c: opens a run for a command, and loads the ids, labels and measures that the command asks for (dynamics.h).
 *
 * Measures are held as columns of doubles by dense index (the example's number in the run), one array each: 8 bytes per
 * example and measure, whatever the number of epochs. The threads of scan.c write straight into them.
 */
#include "dynamics.h"

#include "base/arrays.h"
#include "measures_tdds.h"
#include "scan.h"

#include "base/message.h"
#include "base/parallel.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREAD_BYTES (UINT64_C(16) << 20) /* about what a thread takes: its buffers, and its share of the program */
#define THREAD_LEAST (UINT64_C(12) << 20) /* what one takes at least, with the program */
#define USER_COLUMNS (~UINT64_C(0) << STORE_COLUMN_USER)

void
dynamics_drop_values(struct dynamics *dynamics)
{
	for (size_t i = 0; i < dynamics->column_count; i++) {
		array_free(dynamics->columns[i].values);
		dynamics->columns[i].values = NULL;
	}
	array_free(dynamics->gold);
	array_free(dynamics->order);
	dynamics->gold = NULL;
	dynamics->order = NULL;
	ids_free(&dynamics->ids);
}

void
dynamics_free(struct dynamics *dynamics)
{
	dynamics_drop_values(dynamics);
	free(dynamics->trend);
	store_snapshot_close(dynamics->snapshot);
	if (!dynamics->store_borrowed)
		store_close(dynamics->store);
	*dynamics = (struct dynamics){0};
}

void
dynamics_detach(struct dynamics *dynamics)
{
	store_snapshot_detach(dynamics->snapshot);
	if (!dynamics->store_borrowed)
		store_close(dynamics->store);
	dynamics->store = NULL;
	dynamics->store_borrowed = true;
}

/* Adds the measures from which the requested measures are computed. */
static uint32_t
with_dependencies(uint32_t measures)
{
	measures |= MEASURE_BIT(MEASURE_EPOCHS);
	if (measures & MEASURE_BIT(MEASURE_VARIABILITY_CI))
		measures |= MEASURE_BIT(MEASURE_VARIABILITY);
	if (measures & (MEASURE_BIT(MEASURE_VARIABILITY) | MEASURE_BIT(MEASURE_THRESHOLD_CLOSENESS)))
		measures |=
		        MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_TASK_LOSS); /* the mean, of either kind */
	return measures;
}

static uint64_t
columns_needed(const struct dynamics_request *request, uint32_t measures)
{
	uint64_t columns = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT) | request->signals;

	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (measures & MEASURE_BIT(m))
			columns |= measure_infos[m].needs;
	if (request->gold)
		columns |= STORE_COLUMN_BIT(STORE_GOLD);
	if (request->user || measures & MEASURE_BIT(MEASURE_TDDS))
		columns |= USER_COLUMNS;
	return columns;
}

static struct dynamics_column *
add_column(struct dynamics *dynamics, const char *prefix, const char *name)
{
	struct dynamics_column *column = &dynamics->columns[dynamics->column_count++];

	*column = (struct dynamics_column){.measure = -1};
	snprintf(column->name, sizeof(column->name), "%s%s", prefix, name);
	return column;
}

/* Adds the user's column of this name to those for tdds. False: the run has none. */
static bool
find_class(struct dynamics *dynamics, const char *wanted)
{
	uint64_t available = store_snapshot_columns(dynamics->snapshot);

	for (unsigned c = STORE_COLUMN_USER; c < STORE_COLUMN_MAX; c++) {
		const char *name = store_snapshot_column_name(dynamics->snapshot, c);

		if (!(available & STORE_COLUMN_BIT(c)) || !name || strcmp(name, wanted) != 0)
			continue;
		dynamics->classes[dynamics->class_count++] = c;
		return true;
	}
	return false;
}

/* Finds the columns that hold whole distributions over two classes or more: prob_0, prob_1, … without a gap; or else
 * the one that holds how these moved. */
static void
find_classes(struct dynamics *dynamics)
{
	for (bool found = true; found;) {
		char wanted[32];

		snprintf(wanted, sizeof(wanted), "prob_%zu", dynamics->class_count);
		found = find_class(dynamics, wanted);
	}
	if (dynamics->class_count >= 2)
		return;
	dynamics->class_count = 0;
	find_class(dynamics, MEASURES_TDDS_MOVE);
}

/* The kind of the run, as the table of measures names it. */
static unsigned
runs_of(const struct dynamics *dynamics)
{
	if (!dynamics->info->of_losses)
		return MEASURE_OF_LABELS;
	return isnan(dynamics->loss_threshold) ? MEASURE_OF_LOSSES : MEASURE_OF_LOSSES | MEASURE_OF_CROSSINGS;
}

/* Adds the columns of the measures that were asked for, and of those from which they are computed, for which the run has
 * the signals and epochs. Reading a run needs the number of epochs of an example only until its part is done. */
static void
add_measures(struct dynamics *dynamics, uint32_t asked)
{
	const uint32_t measures = with_dependencies(asked);
	uint64_t available = store_snapshot_columns(dynamics->snapshot);
	const unsigned runs = runs_of(dynamics);

	for (unsigned m = 0; m < MEASURE_COUNT; m++) {
		const struct measure_info *info = &measure_infos[m];
		struct dynamics_column *column;

		if (!(measures & MEASURE_BIT(m)) || (info->needs & ~available) != 0 ||
		    !((info->runs ? info->runs : MEASURE_OF_LABELS) & runs) ||
		    (info->windows && dynamics->epoch_count < dynamics->window) ||
		    (m == MEASURE_TDDS && dynamics->class_count == 0))
			continue;
		column = add_column(dynamics, "", info->name);
		column->measure = (int)m;
		column->integer = info->integer;
		column->passing = m == MEASURE_EPOCHS && !(asked & MEASURE_BIT(MEASURE_EPOCHS));
		column->sometimes = info->sometimes && !dynamics_fills_never(dynamics, (int)m);
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
		column = add_column(dynamics, dynamics_is_reserved(name) ? "mean_" : "", name);
		column->sometimes = true;
		column->stored = c;
	}
}

static int
allocate(struct dynamics *dynamics, size_t rows, struct portolan_error *error)
{
	if (dynamics->with_gold) {
		dynamics->gold = array_new(rows, sizeof(*dynamics->gold), "gold labels", error);
		if (!dynamics->gold)
			return PORTOLAN_E_MEMORY;
	}
	for (size_t c = 0; c < dynamics->column_count; c++) {
		struct dynamics_column *column = &dynamics->columns[c];

		if (column->passing)
			continue;
		column->values = array_new(rows, sizeof(*column->values), column->name, error);
		if (!column->values)
			return PORTOLAN_E_MEMORY;
	}
	dynamics->order = array_new(rows, sizeof(*dynamics->order), "examples in order", error);
	if (!dynamics->order)
		return PORTOLAN_E_MEMORY;
	return dynamics->info->declared ? ids_reserve_declared(&dynamics->ids, rows, error)
	                                : ids_reserve(&dynamics->ids, dynamics->info->id_kind, rows, error);
}

/* What a block leaves in its slot until it is delivered. */
struct loading_slot {
	struct ids ids; /* string ids; integers are in their place already */
	size_t rows;
	uint64_t place; /* of its first observed example in the order */
	size_t count;
	bool ascends; /* the ids of its observed examples ascend */
};

/* Collects the ids of blocks, and lists the observed examples. */
struct loading {
	struct dynamics *dynamics;
	struct loading_slot *slots;
	bool ascends; /* the ids of all observed examples delivered so far ascend */
};

static int
load_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct loading *loading = context;
	const struct dynamics *dynamics = loading->dynamics;
	struct loading_slot *kept = &loading->slots[slot];
	uint32_t *order = dynamics->order + part->place;

	kept->rows = part->ids.rows;
	kept->place = part->place;
	kept->count = part->count;
	kept->ascends = dynamics->info->declared || ids_are_in_order(&part->ids, part->order, part->count);
	for (size_t i = 0; i < part->count; i++)
		order[i] = part->first + part->order[i];
	if (dynamics->info->declared) {
		dynamics->ids.chunks[part->first / STORE_CHUNK] = part->ids.integers[0];
		return 0;
	}
	if (part->ids.kind == STORE_ID_INT) {
		memcpy(dynamics->ids.integers + part->first, part->ids.integers,
		       part->ids.rows * sizeof(*part->ids.integers));
		return 0;
	}
	kept->ids.rows = 0;
	return ids_append_all(&kept->ids, &part->ids, error);
}

static int
deliver_part(void *context, unsigned slot, struct portolan_error *error)
{
	struct loading *loading = context;
	const struct loading_slot *kept = &loading->slots[slot];
	struct ids *ids = &loading->dynamics->ids;
	const uint32_t *order = loading->dynamics->order + kept->place;
	int code = 0;

	if (ids->kind == STORE_ID_INT)
		ids->rows += kept->rows;
	else
		code = ids_append_all(ids, &kept->ids, error);
	if (code >= 0 && kept->count > 0)
		loading->ascends = loading->ascends && kept->ascends &&
		                   (kept->place == 0 || ids_compare(ids, order[-1], ids, order[0]) < 0);
	return code;
}

/* Loads everything. The observed examples are listed by ascending id. */
static int
read_all(struct dynamics *dynamics, struct portolan_error *error)
{
	unsigned slots = parallel_slots(dynamics->threads);
	struct loading loading = {dynamics, calloc(slots, sizeof(*loading.slots)), true};
	struct scan_steps steps = {.context = &loading, .work = load_part, .deliver = deliver_part, .placed = true};
	int code = loading.slots ? scan_run(dynamics, &steps, error)
	                         : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	for (unsigned s = 0; loading.slots && s < slots; s++)
		ids_free(&loading.slots[s].ids);
	free(loading.slots);
	return code < 0 || loading.ascends ? code : ids_sort(&dynamics->ids, dynamics->order, dynamics->count, error);
}

/* Lowers the number of threads if memory is short for them, each of which takes so many bytes, and leaves the rest of
 * the memory to arrays. */
static void
share_memory(struct dynamics *dynamics, uint64_t bytes)
{
	uint64_t memory = dynamics->max_memory ? dynamics->max_memory : UINT64_MAX, most = memory / bytes;

	if (dynamics->threads > most)
		dynamics->threads = most > 0 ? (unsigned)most : 1;
	arrays_set_limit(most > 0 ? memory - dynamics->threads * bytes : 0);
}

int
dynamics_take_memory(struct dynamics *dynamics, uint64_t bytes, const char *what, struct portolan_error *error)
{
	const uint64_t least = (THREAD_LEAST + bytes + (UINT64_C(1) << 20) - 1) >> 20;

	if (dynamics->max_memory && dynamics->max_memory < THREAD_LEAST + bytes)
		return error_set(error, PORTOLAN_E_MEMORY, "%s needs --max-memory %lluM or more here", what,
		                 (unsigned long long)least);
	share_memory(dynamics, THREAD_BYTES + bytes);
	return 0;
}

static void
describe(struct dynamics *dynamics, const struct run_query *query, const struct dynamics_request *request)
{
	uint32_t measures = request->measures;

	dynamics->info = store_snapshot_info(dynamics->snapshot);
	dynamics->ids.kind = dynamics->info->id_kind;
	dynamics->verdict = verdict_read(dynamics->store, dynamics->info);
	dynamics->epoch_count = store_snapshot_epochs(dynamics->snapshot, &dynamics->epochs);
	dynamics->range_given = query->epochs_given;
	dynamics->epoch_from = query->epoch_from;
	dynamics->epoch_to = query->epoch_to;
	dynamics->with_gold = request->gold;
	dynamics->with_trend = request->trend;
	dynamics->window = query->window ? (size_t)query->window : MEASURES_WINDOW;
	dynamics->loss_threshold = query->loss_threshold;
	dynamics->never = query->never;
	dynamics->threads = parallel_threads(query->threads);
	dynamics->max_memory = query->max_memory;
	share_memory(dynamics, THREAD_BYTES);
	find_classes(dynamics);
	if (dynamics->info->of_losses && request->measures == MEASURE_ALL)
		measures |= MEASURE_BIT(MEASURE_LOSS_EMA);
	add_measures(dynamics, measures);
	if (request->user)
		add_user_columns(dynamics);
}

/* Says which epochs --epochs auto takes, and why: those of the whole run from its epoch number `first` on. */
static void
note_choice(const struct dynamics *whole, size_t first)
{
	uint32_t last = whole->epochs[whole->epoch_count - 1];
	double all = 100 * trend_within(whole->trend, whole->epoch_count, 0);

	if (first == 0)
		message_note(
		        "run '%s': --epochs auto takes all epochs, %u to %u: %s; the common trend is %.0f%% of the "
		        "variance within examples",
		        whole->info->name, whole->epochs[0], last,
		        whole->epoch_count > TREND_EPOCHS_LEFT ? "there is no burn-in" : "too few to leave any out",
		        all);
	else
		message_note("run '%s': --epochs auto takes epochs %u to %u of %u to %u: over all epochs the common "
		             "trend is %.0f%% of the variance within examples, over these %.0f%%",
		             whole->info->name, whole->epochs[first], last, whole->epochs[0], last, all,
		             100 * trend_within(whole->trend, whole->epoch_count, first));
}

/* For --epochs auto: finds the run's burn-in (trend.h), for which it is read once, and leaves it out. Sets
 * query->epoch_from, and says so on stderr. */
static int
choose_epochs(const struct dynamics *dynamics, struct run_query *query, const char *run, struct portolan_error *error)
{
	const struct dynamics_request request = {
	        .measures = MEASURE_BIT(MEASURE_VARIABILITY), .losses = true, .trend = true};
	const struct scan_steps no_steps = {0};
	struct dynamics whole;
	int code;

	query->epochs_auto = false;
	code = dynamics_open_beside(&whole, dynamics, query, run, &request, error);
	if (code < 0)
		return code;
	code = scan_run(&whole, &no_steps, error);
	if (code >= 0) {
		size_t first = trend_burn_in(whole.trend, whole.epoch_count);

		query->epoch_from = first > 0 ? whole.epochs[first] : query->epoch_from;
		note_choice(&whole, first);
	}
	dynamics_free(&whole);
	return code;
}

/* Opens the run in dynamics->store, which is open. */
static int
open_run(struct dynamics *dynamics, const struct run_query *query, const char *run,
         const struct dynamics_request *request, struct portolan_error *error)
{
	struct run_query chosen = *query;
	struct store_snapshot_options options = {
	        .occupied = true,
	        .epoch_to = query->epoch_to,
	        .columns = columns_needed(request, with_dependencies(request->measures)),
	};
	int code = query->epochs_auto ? choose_epochs(dynamics, &chosen, run, error) : 0;

	options.epoch_from = chosen.epoch_from;
	if (code >= 0)
		code = store_snapshot_open(dynamics->store, run, &options, &dynamics->snapshot, error);
	if (code >= 0) {
		describe(dynamics, &chosen, request);
		if (dynamics->info->of_losses && !request->losses)
			code = dynamics_needs_labels(dynamics, error);
	}
	if (code >= 0) {
		dynamics->range_chosen = query->epochs_auto;
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
	int code = allocate(dynamics, store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK, error);

	if (code >= 0)
		code = read_all(dynamics, error);
	if (code >= 0)
		code = dynamics->count ? 0 : dynamics_no_observations(dynamics, error);
	if (code < 0)
		dynamics_free(dynamics);
	return code;
}

int
dynamics_read_ids(const struct dynamics *dynamics, struct ids *ids, struct portolan_error *error)
{
	struct store_cursor *cursor = NULL;
	int code = store_cursor_open(dynamics->snapshot, &cursor, error);

	if (code >= 0)
		code = ids_reserve(ids, dynamics->info->id_kind, (size_t)dynamics->info->rows, error);
	for (size_t b = 0; b < store_snapshot_blocks(dynamics->snapshot) && code >= 0; b++) {
		struct store_ids block;

		code = store_cursor_ids(cursor, b, &block, error);
		if (code >= 0)
			code = ids_append(ids, dynamics->info->id_kind, &block, error);
	}
	store_cursor_close(cursor);
	return code;
}

int
dynamics_look_at_ids(const struct dynamics *dynamics, bool *ascending, struct text_extent *extent,
                     struct portolan_error *error)
{
	struct ids blocks[2] = {{0}}; /* the ids of the present block, and of the one before, in turn */
	struct text_extent seen = {0};
	struct store_cursor *cursor = NULL;
	int code = 0;

	*ascending = true;
	if (dynamics->info->declared == 0)
		code = store_cursor_open(dynamics->snapshot, &cursor, error);
	for (size_t b = 0; cursor && b < store_snapshot_blocks(dynamics->snapshot) && code >= 0; b++) {
		struct ids *now = &blocks[b % 2];
		const struct ids *before = &blocks[(b + 1) % 2];
		struct store_ids block;

		now->rows = 0;
		code = store_cursor_ids(cursor, b, &block, error);
		if (code >= 0)
			code = ids_append(now, dynamics->info->id_kind, &block, error);
		if (code < 0)
			break;
		*ascending = *ascending && ids_ascend(before, now);
		if (extent)
			ids_add_extent(now, &seen);
		if (!*ascending && seen.texts == 0)
			break;
	}
	store_cursor_close(cursor);
	ids_free(&blocks[0]);
	ids_free(&blocks[1]);
	if (extent)
		*extent = seen;
	return code;
}

static int
open_store(struct dynamics *dynamics, const struct run_query *query, struct portolan_error *error)
{
	*dynamics = (struct dynamics){0};
	return store_open(query->store, &dynamics->store, error);
}

int
dynamics_open(struct dynamics *dynamics, const struct run_query *query, const char *run,
              const struct dynamics_request *request, struct portolan_error *error)
{
	int code = open_store(dynamics, query, error);

	return code < 0 ? code : open_run(dynamics, query, run, request, error);
}

int
dynamics_load(struct dynamics *dynamics, const struct run_query *query, const char *run,
              const struct dynamics_request *request, struct portolan_error *error)
{
	int code = dynamics_open(dynamics, query, run, request, error);

	return code < 0 ? code : dynamics_hold(dynamics, error);
}

int
dynamics_open_beside(struct dynamics *dynamics, const struct dynamics *first, const struct run_query *query,
                     const char *run, const struct dynamics_request *request, struct portolan_error *error)
{
	*dynamics = (struct dynamics){.store = first->store, .store_borrowed = true};
	return open_run(dynamics, query, run, request, error);
}

int
dynamics_load_beside(struct dynamics *dynamics, const struct dynamics *first, const struct run_query *query,
                     const char *run, const struct dynamics_request *request, struct portolan_error *error)
{
	int code = dynamics_open_beside(dynamics, first, query, run, request, error);

	return code < 0 ? code : dynamics_hold(dynamics, error);
}

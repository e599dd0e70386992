/* store_walk.c: see store_walk.h. Of a run with more blocks than a few, which only damage makes, the first ones. */
#include "store_walk.h"

#include "fuzz.h"

#include <base/arrays.h>
#include <map/map_maker.h>
#include <selection/selection_plan.h>

#define MOST_BLOCKS 4

static void
mix(uint64_t *digest, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		*digest = (*digest ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static bool
is_present(const struct store_values *values, uint32_t row)
{
	return values->present && values->present[row / 64] >> (row % 64) & 1;
}

static void
walk_values(const struct store_values *values, unsigned column, uint32_t rows, uint64_t *digest)
{
	uint32_t ones = 0;

	require((values->values == NULL) == (values->present == NULL));
	if (!values->values)
		return;
	for (uint32_t row = 0; row < rows; row++) {
		uint8_t bit;

		if (!is_present(values, row))
			continue;
		ones++;
		mix(digest, &row, sizeof(row));
		if (column == STORE_CORRECT) {
			bit = ((const uint64_t *)values->values)[row / 64] >> (row % 64) & 1;
			mix(digest, &bit, 1);
		} else {
			mix(digest, (const uint32_t *)values->values + row, 4);
		}
	}
	for (uint32_t row = rows; row < (rows + 63) / 64 * 64; row++)
		require(!is_present(values, row));
	require(ones > 0 && values->complete == (ones == rows));
}

static void
walk_ids(const struct store_ids *ids, uint64_t *digest)
{
	if (ids->integers)
		mix(digest, ids->integers, 8 * (size_t)ids->rows);
	if (!ids->text)
		return;
	require(ids->offsets[0] == 0);
	for (uint32_t row = 0; row < ids->rows; row++)
		require(ids->offsets[row] <= ids->offsets[row + 1]);
	mix(digest, ids->text, ids->offsets[ids->rows]);
}

static int
walk_blocks(struct store_snapshot *snapshot, uint64_t *digest, struct portolan_error *error)
{
	size_t blocks = store_snapshot_blocks(snapshot);
	struct store_cursor *cursor;
	int code = store_cursor_open(snapshot, &cursor, error);

	if (code)
		return code;
	for (size_t index = 0; index < blocks && index < MOST_BLOCKS && code == 0; index++) {
		struct store_block block;
		struct store_ids ids;

		code = store_cursor_block(cursor, index, &block, error);
		if (code)
			break;
		require(block.first == index * STORE_CHUNK && block.rows > 0 && block.rows <= STORE_CHUNK);
		for (size_t epoch = 0; epoch < block.epoch_count; epoch++)
			for (unsigned column = 0; column < STORE_COLUMN_MAX; column++)
				walk_values(store_block_values(&block, epoch, (enum store_column)column), column,
				            block.rows, digest);
		walk_values(&block.gold, STORE_GOLD, block.rows, digest);
		code = store_cursor_ids(cursor, index, &ids, error);
		if (code == 0) {
			require(ids.rows == block.rows && ids.first == block.first);
			walk_ids(&ids, digest);
		}
	}
	store_cursor_close(cursor);
	return code;
}

static void
walk_texts(const struct store_snapshot *snapshot, uint64_t *digest)
{
	const char *text;

	for (uint64_t label = 0; (text = store_snapshot_label(snapshot, label)); label++)
		mix(digest, text, strlen(text));
	for (unsigned column = 0; column < STORE_COLUMN_MAX; column++)
		if ((text = store_snapshot_column_name(snapshot, column)))
			mix(digest, text, strlen(text));
}

static int
walk_run(struct store *store, const char *name, uint64_t *digest, struct portolan_error *error)
{
	const struct store_snapshot_options options = {.epoch_to = UINT32_MAX, .columns = UINT64_MAX};
	struct store_snapshot *snapshot;
	const uint32_t *epochs;
	size_t count;
	int code = store_snapshot_open(store, name, &options, &snapshot, error);

	if (code)
		return code;
	count = store_snapshot_epochs(snapshot, &epochs);
	for (size_t i = 1; i < count; i++)
		require(epochs[i - 1] < epochs[i]);
	mix(digest, epochs, count * sizeof(*epochs));
	walk_texts(snapshot, digest);
	code = walk_blocks(snapshot, digest, error);
	store_snapshot_close(snapshot);
	return code;
}

static void
check_selection(const struct dynamics *dynamics, const struct selection_plan *plan)
{
	struct portolan_error error = {0};
	uint8_t *taken = calloc(dynamics->ids.rows + 1, 1);
	uint32_t *chosen;
	const struct selection_source source = {
	        .dynamics = dynamics, .order = dynamics->order, .count = dynamics->count, .threads = 1};
	struct selection_ranking ranking;
	size_t count, asked;
	int code = selection_plan_check(plan, &source, &error);

	require(taken);
	if (code == 0) {
		selection_plan_rank(plan, &source, NULL, 0, &ranking);
		chosen = selection_plan_take(plan, &source, &ranking, &count, &asked);
		selection_ranking_free(&ranking);
		require(count <= asked && asked <= dynamics->count);
		for (size_t i = 0; i < count; i++) {
			require(chosen[i] < dynamics->ids.rows && !taken[chosen[i]]);
			taken[chosen[i]] = 1;
		}
		array_free(chosen);
	} else {
		require_message(&error, code);
	}
	free(taken);
}

static void
check_map(const struct dynamics *dynamics)
{
	const struct map_options options = {.sample = 50};
	const struct map_input input = {
	        .x = {"variability", dynamics_measure(dynamics, MEASURE_VARIABILITY), MAP_VARIABILITY, 0},
	        .y = {"confidence", dynamics_measure(dynamics, MEASURE_CONFIDENCE), MAP_SHARE, 0},
	        .colour = {"correctness", dynamics_measure(dynamics, MEASURE_CORRECTNESS), MAP_SHARE, 0},
	        .colouring = MAP_BY_CORRECTNESS,
	        .epochs = dynamics->epoch_count,
	        .regions = true,
	        .labelled = true,
	        .order = dynamics->order,
	        .n = dynamics->count,
	        .rows = (uint32_t)dynamics->ids.rows,
	};
	struct map_ranges ranges = MAP_RANGES_EMPTY;
	struct map_sample sample;
	struct map_cuts cuts;
	struct map_maker maker = {.options = &options, .sample = &sample, .cuts = &cuts};
	struct map_axes axes;
	struct map_data map;

	map_ranges_add(&ranges, &input);
	map_axes_make(&axes, &input, &ranges, input.n);
	map_sample_draw(&sample, input.order, NULL, input.n, options.sample, options.seed);
	cuts = map_find_cuts(&input, NULL);
	map_maker_begin(&maker, &input, &axes, &map);
	map_maker_add(&maker, &input);
	map_maker_end(&maker);
	map_sample_free(&sample);
	require(map.shown <= 50 && map.point_count == map.shown);
	map_data_free(&map);
}

static int
analyze(const char *directory, const char *name, struct portolan_error *error)
{
	const struct run_query query = {.store = directory, .epoch_to = UINT32_MAX};
	const struct dynamics_request request = {.measures = MEASURE_ALL, .gold = true, .user = true};
	const struct selection_plan by_class = {
	        .rule = {.kind = SELECT_MEASURE, .measure = "variability", .descending = true},
	        .has_size = true,
	        .fraction = 0.5,
	        .top_share = 0.7,
	        .classes = SELECTION_CLASSES_EACH};
	struct selection_plan stratified = by_class;
	const struct selection_plan mixed = {.rule = {.kind = SELECT_FORGETTABLE},
	                                     .has_size = true,
	                                     .count = 40,
	                                     .top_share = 1,
	                                     .mixes = {{{.kind = SELECT_MEASURE, .measure = "loss"}, 0.3}},
	                                     .mix_count = 1};
	struct dynamics dynamics;
	int code = dynamics_load(&dynamics, &query, name, &request, error);

	if (code)
		return code;
	for (size_t i = 0; i < dynamics.count; i++)
		require(dynamics.order[i] < dynamics.ids.rows);
	stratified.classes = SELECTION_CLASSES_STRATIFIED;
	stratified.rule.kind = SELECT_REGION;
	stratified.top_share = 1;
	check_selection(&dynamics, &by_class);
	check_selection(&dynamics, &stratified);
	check_selection(&dynamics, &mixed);
	check_map(&dynamics);
	dynamics_free(&dynamics);
	return 0;
}

bool
store_walk(const char *directory, uint64_t *digest)
{
	struct portolan_error error = {0};
	struct store *store;
	int code = store_open(directory, &store, &error);
	bool all = true;

	*digest = UINT64_C(0xcbf29ce484222325);
	if (code) {
		require_message(&error, code);
		return false;
	}
	for (int run = 0; run < 2; run++) {
		code = walk_run(store, run ? "other" : "run", digest, &error);
		if (code)
			require_message(&error, code);
		all &= code == 0;
	}
	store_close(store);
	return all;
}

static void
note_damage(void *context, const char *what)
{
	require(what[0] && !strchr(what, '\n'));
	++*(size_t *)context;
}

/* What `portolan check` asks for. */
static void
check_run(struct store *store, const struct store_run_info *run)
{
	size_t damaged = 0, count;
	const struct store_verify options = {.damaged = note_damage, .context = &damaged};
	struct portolan_error error = {0};
	struct store_counters counters;
	struct store_session *sessions;
	struct store_epoch *epochs;
	uint64_t records;
	int code = store_counters(store, run->number, &counters, &error);

	if (code)
		require_message(&error, code);
	code = store_sessions(store, run->number, &sessions, &count, &error);
	if (code)
		require_message(&error, code);
	else
		free(sessions);
	code = store_epochs(store, run->number, &epochs, &count, &error);
	if (code) {
		require_message(&error, code);
	} else {
		for (size_t i = 1; i < count; i++)
			require(epochs[i - 1].epoch < epochs[i].epoch);
		free(epochs);
	}
	code = store_verify(store, run->number, &options, &records, &error);
	if (code)
		require_message(&error, code);
	else
		require(records > 0);
}

void
store_analyze(const char *directory)
{
	struct portolan_error error = {0};
	struct store_run_info *runs;
	struct store *store;
	size_t count;
	int code = store_open(directory, &store, &error);

	if (code == 0) {
		code = store_runs(store, &runs, &count, &error);
		for (size_t i = 0; i < count && code == 0; i++)
			check_run(store, &runs[i]);
		store_close(store);
	}
	if (code) {
		require_message(&error, code);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		require(memchr(runs[i].name, '\0', sizeof(runs[i].name)));
		if (runs[i].rows > MOST_BLOCKS * STORE_CHUNK)
			continue;
		code = analyze(directory, runs[i].name, &error);
		if (code)
			require_message(&error, code);
	}
	free(runs);
}

/*
 * test_random.c: thousands of random operations (appends of every shape, commits, aborts, folds, folds left unfinished,
 * collections, closing and opening again) against a model in plain arrays. The seeds are fixed, so a failure repeats.
 */
#include "store_test.h"

#include "fold.h"

#include <stdlib.h>

#define EXAMPLES (2 * STORE_CHUNK + 77)
#define EPOCHS 3 /* that batches come to in any order */
#define EPOCHS_IN_TURN 24
#define SESSIONS 5
#define OPERATIONS 1500
#define LARGEST 20000

enum { MARGIN, ENTROPY, USER_ONE, USER_TWO, FLOATS };
static const char *const float_name[FLOATS] = {"margin", "entropy", "one", "two"};

struct observation {
	bool there, correct, has[FLOATS], has_predicted;
	float gold_prob, value[FLOATS];
	int32_t predicted;
	uint32_t session;
};

struct logged {
	uint32_t epoch, n, session, good;
	uint64_t *ids;
	float *gold_prob, *value[FLOATS];
	uint8_t *correct;
	int32_t *gold, *predicted;
	bool has[FLOATS], has_gold, has_predicted;
	struct logged *next;
};

struct model {
	uint64_t random;
	struct fixture *fixture;
	uint32_t run, session[SESSIONS];
	uint64_t order[SESSIONS];
	bool declared, strings;
	bool in_turn; /* one epoch after the other, and all batches with the same columns */
	uint32_t epochs, epoch;
	struct observation *observations[EPOCHS_IN_TURN];
	int32_t *gold; /* −1: not known */
	uint32_t *gold_session;
	bool *seen;
	uint64_t rows, kept, met, returned, refused;
	struct logged *first, **last; /* not yet committed */
};

static uint64_t
draw(struct model *model)
{
	uint64_t z = model->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint32_t
below(struct model *model, uint32_t limit)
{
	return (uint32_t)(draw(model) % limit);
}

static void *
room(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	assert_non_null(memory);
	return memory;
}

static void
free_batch(struct logged *batch)
{
	for (int i = 0; i < FLOATS; i++)
		free(batch->value[i]);
	free(batch->ids);
	free(batch->gold_prob);
	free(batch->correct);
	free(batch->gold);
	free(batch->predicted);
	free(batch);
}

static void
forget_pending(struct model *model)
{
	while (model->first) {
		struct logged *batch = model->first;

		model->first = batch->next;
		free_batch(batch);
	}
	model->last = &model->first;
}

/* The model's own winner rule, row by row. */
static void
apply(struct model *model, const struct logged *batch)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		uint64_t id = batch->ids[i];
		struct observation *place;

		if (id >= EXAMPLES || !(batch->gold_prob[i] <= 1.0f)) {
			model->refused++;
			continue;
		}
		place = &model->observations[batch->epoch][id];
		model->kept++;
		model->seen[id] = true;
		if (batch->has_gold &&
		    (model->gold[id] < 0 || model->order[model->gold_session[id]] <= model->order[batch->session])) {
			model->gold[id] = batch->gold[i];
			model->gold_session[id] = batch->session;
		}
		if (place->there) {
			model->met++;
			model->returned += place->session == batch->session;
			if (model->order[place->session] > model->order[batch->session])
				continue;
		}
		*place = (struct observation){.there = true,
		                              .correct = batch->correct[i],
		                              .gold_prob = batch->gold_prob[i],
		                              .session = batch->session,
		                              .has_predicted = batch->has_predicted,
		                              .predicted = batch->has_predicted ? batch->predicted[i] : 0};
		for (int f = 0; f < FLOATS; f++) {
			place->has[f] = batch->has[f];
			place->value[f] = batch->has[f] ? batch->value[f][i] : 0;
		}
	}
}

static void
committed(struct model *model)
{
	for (const struct logged *batch = model->first; batch; batch = batch->next)
		apply(model, batch);
	forget_pending(model);
}

static void
choose_ids(struct model *model, struct logged *batch)
{
	uint32_t shape = below(model, 4), start = below(model, EXAMPLES), last = below(model, 1 + batch->n / 8);

	for (uint32_t i = 0; i < batch->n; i++) {
		if (shape == 0) /* a stretch in order */
			batch->ids[i] = (start + i) % EXAMPLES;
		else if (shape == 1) /* scattered */
			batch->ids[i] = below(model, EXAMPLES);
		else if (shape == 2) /* around a border, with repeats */
			batch->ids[i] = STORE_CHUNK - 20 + below(model, 40);
		else /* the last ones */
			batch->ids[i] = EXAMPLES - 1 - (i % (last + 1));
	}
}

static struct logged *
make_batch(struct model *model)
{
	struct logged *batch = room(1, sizeof(*batch));

	batch->epoch = model->in_turn ? model->epoch : below(model, EPOCHS);
	batch->n = below(model, 8) ? below(model, 300) : below(model, LARGEST);
	batch->session = below(model, SESSIONS);
	batch->ids = room(batch->n, sizeof(*batch->ids));
	batch->gold_prob = room(batch->n, sizeof(float));
	batch->correct = room(batch->n, 1);
	batch->gold = room(batch->n, sizeof(int32_t));
	batch->predicted = room(batch->n, sizeof(int32_t));
	batch->has_gold = below(model, 2);
	batch->has_predicted = below(model, 2);
	for (int f = 0; f < FLOATS; f++) {
		batch->value[f] = room(batch->n, sizeof(float));
		batch->has[f] = below(model, 3) != 0;
		batch->has[f] |= model->in_turn;
	}
	if (model->in_turn)
		batch->has_gold = batch->has_predicted = true;
	choose_ids(model, batch);
	for (uint32_t i = 0; i < batch->n; i++) {
		batch->gold_prob[i] = (float)below(model, 1 << 20) / (float)(1 << 20);
		batch->correct[i] = (uint8_t)below(model, 2);
		batch->gold[i] = (int32_t)((batch->ids[i] * 7 + batch->session) % 5);
		batch->predicted[i] = (int32_t)below(model, 5);
		for (int f = 0; f < FLOATS; f++)
			batch->value[f][i] = (float)below(model, 1 << 20) - 1000.0f;
		if (below(model, 200) == 0)
			batch->gold_prob[i] = 1.5f;
		if (model->declared && below(model, 200) == 0)
			batch->ids[i] = EXAMPLES + below(model, 100);
	}
	return batch;
}

static uint64_t
user_id(uint64_t id)
{
	return id * UINT64_C(0x2545f4914f6cdd1d) + 12345;
}

static void
append(struct model *model)
{
	struct logged *batch = make_batch(model);
	struct fixture_batch given = {.epoch = batch->epoch, .n = batch->n, .gold_prob = batch->gold_prob};
	uint64_t *ids = room(batch->n, sizeof(*ids));
	char(*text)[24] = room(batch->n, sizeof(*text));
	const char **strings = room(batch->n, sizeof(*strings));
	int used = 0;

	for (uint32_t i = 0; i < batch->n; i++) {
		ids[i] = model->declared ? batch->ids[i] : user_id(batch->ids[i]);
		snprintf(text[i], sizeof(text[i]), "%x/%0*d", (unsigned)(batch->ids[i] * 2654435761u),
		         (int)(batch->ids[i] % 7), 0);
		strings[i] = text[i];
	}
	given.ids = ids;
	given.strings = model->strings ? strings : NULL;
	given.correct = batch->correct;
	given.gold = batch->has_gold ? batch->gold : NULL;
	given.predicted = batch->has_predicted ? batch->predicted : NULL;
	for (int f = 0; f < FLOATS; f++)
		if (batch->has[f])
			given.floats[used++] =
			        (struct fixture_column){.name = float_name[f], .values = batch->value[f]};
	fixture_use(model->fixture, model->run, model->session[batch->session]);
	fixture_log(model->fixture, model->run, &given);
	free(ids);
	free(text);
	free(strings);
	*model->last = batch;
	model->last = &batch->next;
}

/* Folds an epoch, or gives up on the way, with or without an abort. */
static void
fold(struct model *model, uint32_t epoch)
{
	struct store_writer *writer = fixture_writer(model->fixture);
	size_t memory = below(model, 2) ? 1 : (size_t)64 << 20; /* 1: one chunk at a time */
	uint32_t steps = below(model, 3) ? UINT32_MAX : below(model, 6);
	struct store_fold *begun;
	bool done = false;

	ok(store_fold_begin(writer, model->run, epoch, memory, &begun, &error));
	for (uint32_t step = 0; step < steps && !done; step++) {
		ok(store_fold_step(begun, &done, &error));
		committed(model);
		if (below(model, 4) == 0)
			append(model);
	}
	store_fold_free(begun);
	if (!done && below(model, 2)) {
		store_writer_abort(writer);
		forget_pending(model);
	}
}

static void
check_row(const struct model *model, const struct store_block *block, size_t place, uint32_t epoch, uint32_t row,
          uint64_t id, const int *user)
{
	const struct observation *expected = &model->observations[epoch][id];
	const unsigned column[FLOATS] = {STORE_MARGIN, STORE_ENTROPY, (unsigned)user[0], (unsigned)user[1]};

	assert_int_equal(has(block, place, STORE_GOLD_PROB, row), expected->there);
	assert_int_equal(has(block, place, STORE_CORRECT, row), expected->there);
	assert_int_equal(has(block, place, STORE_PREDICTED, row), expected->has_predicted);
	if (!expected->there) {
		if (store_block_values(block, place, STORE_CORRECT)->values)
			assert_int_equal(bit_of(block, place, STORE_CORRECT, row), 0);
		return;
	}
	assert_true(float_of(block, place, STORE_GOLD_PROB, row) == expected->gold_prob);
	assert_int_equal(bit_of(block, place, STORE_CORRECT, row), expected->correct);
	assert_int_equal(((const uint32_t *)store_block_values(block, place, STORE_SESSION)->values)[row],
	                 model->session[expected->session]);
	if (expected->has_predicted)
		assert_int_equal(((const int32_t *)store_block_values(block, place, STORE_PREDICTED)->values)[row],
		                 expected->predicted);
	for (int f = 0; f < FLOATS; f++) {
		assert_int_equal(has(block, place, column[f], row), expected->has[f]);
		if (expected->has[f])
			assert_true(float_of(block, place, column[f], row) == expected->value[f]);
	}
}

/* The example a row stands for, found from the user's id. */
static uint64_t
example_of(const struct model *model, const struct store_ids *ids, uint32_t row, const uint64_t *by_order)
{
	char text[24];
	uint64_t id = by_order[ids->first + row];

	if (model->declared) {
		assert_int_equal(ids->integers[row], ids->first + row);
	} else if (!model->strings) {
		assert_true(ids->integers[row] == user_id(id));
	} else {
		snprintf(text, sizeof(text), "%x/%0*d", (unsigned)(id * 2654435761u), (int)(id % 7), 0);
		assert_int_equal(ids->offsets[row + 1] - ids->offsets[row], strlen(text));
		assert_memory_equal(ids->text + ids->offsets[row], text, strlen(text));
	}
	return id;
}

/* Inverts user ids by search: EXAMPLES is small. */
static uint64_t *
examples_by_row(const struct model *model, struct reading *reading)
{
	uint64_t *by_row = room(EXAMPLES, sizeof(*by_row));
	uint64_t inverse = 1;

	for (int i = 0; i < 6; i++) /* Newton: the inverse of an odd number modulo 2^64 */
		inverse *= 2 - UINT64_C(0x2545f4914f6cdd1d) * inverse;
	for (size_t b = 0; b < store_snapshot_blocks(reading->snapshot); b++) {
		struct store_ids ids;

		ok(store_cursor_ids(reading->cursor, b, &ids, &error));
		for (uint32_t row = 0; row < ids.rows; row++) {
			uint64_t id = ids.first + row;

			if (model->strings) {
				uint32_t hash = (uint32_t)strtoul(ids.text + ids.offsets[row], NULL, 16), back = 1;

				for (int i = 0; i < 5; i++)
					back *= 2 - 2654435761u * back;
				id = hash * back;
			} else if (!model->declared) {
				id = (ids.integers[row] - 12345) * inverse;
			}
			assert_true(id < EXAMPLES);
			by_row[ids.first + row] = id;
		}
	}
	return by_row;
}

static void
check(struct model *model)
{
	uint32_t from = below(model, 2) ? 0 : below(model, model->epochs), to = below(model, 2) ? UINT32_MAX : from + 1;
	struct store_snapshot_options options = {.epoch_from = from, .epoch_to = to, .columns = UINT64_MAX};
	struct store *store = fixture_store(model->fixture); /* commits */
	const struct store_run_info *info;
	struct store_run_info *runs;
	struct reading reading;
	const uint32_t *epochs;
	uint64_t *by_row, seen = 0;
	size_t count, count_of_runs;
	int user[2];

	committed(model);
	ok(store_snapshot_open(store, "random", &options, &reading.snapshot, &error));
	ok(store_cursor_open(reading.snapshot, &reading.cursor, &error));
	user[0] = reading_user_column(reading.snapshot, "one");
	user[1] = reading_user_column(reading.snapshot, "two");
	user[0] = user[0] < 0 ? 60 : user[0];
	user[1] = user[1] < 0 ? 61 : user[1];
	count = store_snapshot_epochs(reading.snapshot, &epochs);
	by_row = examples_by_row(model, &reading);
	for (uint64_t id = 0; id < EXAMPLES; id++)
		seen += model->seen[id];
	info = store_snapshot_info(reading.snapshot);
	assert_int_equal(info->examples, seen);
	assert_int_equal(info->refused, model->refused);
	assert_int_equal(info->replaced, model->met);
	assert_int_equal(info->returned, model->returned);
	assert_int_equal(info->observations, model->kept - model->met);
	ok(store_runs(store, &runs, &count_of_runs, &error));
	assert_memory_equal(&runs[0].observations, &info->observations, 4 * sizeof(uint64_t)); /* … changed_labels */
	free(runs);
	for (size_t b = 0; b < store_snapshot_blocks(reading.snapshot); b++) {
		struct store_block block;
		struct store_ids ids;

		reading_block(&reading, b, &block, &ids);
		for (uint32_t row = 0; row < block.rows; row++) {
			uint64_t id = example_of(model, &ids, row, by_row);
			bool known = block.gold.values && block.gold.present[row / 64] >> (row % 64) & 1;

			assert_int_equal(known, model->gold[id] >= 0);
			if (known)
				assert_int_equal(((const int32_t *)block.gold.values)[row], model->gold[id]);
			for (size_t e = 0; e < count; e++)
				check_row(model, &block, e, epochs[e], row, id, user);
		}
	}
	free(by_row);
	reading_close(&reading);
}

/* What is counted before the last folds is what these count; and what was retired can all go. */
static void
check_end(struct model *model)
{
	struct store_run_info info, *unfolded;
	size_t count;
	struct store_counters counters;
	uint64_t distinct = 0, replaced = 0;
	bool more = true;

	check(model);
	ok(store_runs(fixture_store(model->fixture), &unfolded, &count, &error));
	fixture_end(model->fixture, model->run);
	for (uint32_t e = 0; e < model->epochs; e++)
		for (uint64_t id = 0; id < EXAMPLES; id++)
			distinct += model->observations[e][id].there;
	ok(store_writer_run_info(fixture_writer(model->fixture), model->run, &info, &error));
	assert_int_equal(info.observations, distinct);
	assert_int_equal(info.changed_labels, unfolded->changed_labels);
	assert_in_range(info.changed_labels, 1, model->kept);
	free(unfolded);
	assert_int_equal(info.replaced, model->met);
	assert_int_equal(info.observations + info.replaced, model->kept);
	for (int s = 0; s < SESSIONS; s++) {
		struct store_session_info session;

		ok(store_writer_session_info(fixture_writer(model->fixture), model->run, model->session[s], &session,
		                             &error));
		replaced += session.replaced;
	}
	assert_int_equal(replaced, model->met);
	ok(store_counters(fixture_store(model->fixture), model->run, &counters, &error));
	assert_int_equal(counters.returned, model->returned);
	while (more)
		ok(store_writer_collect(fixture_writer(model->fixture), &more, &error));
	check(model);
}

static void
start(struct model *model, uint64_t seed, bool declared, bool strings, bool in_turn)
{
	static const uint64_t started[SESSIONS] = {50, 10, 50, 90, 10};
	static const uint32_t rank[SESSIONS] = {1, 0, 0, 0, 0};

	*model = (struct model){.random = seed, .declared = declared, .strings = strings, .in_turn = in_turn};
	model->epochs = in_turn ? EPOCHS_IN_TURN : EPOCHS;
	model->fixture = fixture_new();
	model->run = fixture_run(model->fixture, "random", declared ? EXAMPLES : 0, NULL, 0);
	for (int s = 0; s < SESSIONS; s++) {
		model->session[s] = fixture_session(model->fixture, model->run, started[s], rank[s]);
		model->order[s] = started[s] * 1000 + rank[s] * 100 + (uint64_t)s; /* ids ascend */
	}
	ok(store_writer_commit(fixture_writer(model->fixture), &error));
	for (uint32_t e = 0; e < model->epochs; e++)
		model->observations[e] = room(EXAMPLES, sizeof(struct observation));
	model->gold = room(EXAMPLES, sizeof(*model->gold));
	memset(model->gold, 0xff, EXAMPLES * sizeof(*model->gold));
	model->gold_session = room(EXAMPLES, sizeof(*model->gold_session));
	model->seen = room(EXAMPLES, sizeof(*model->seen));
	model->last = &model->first;
}

static void
finish(struct model *model)
{
	forget_pending(model);
	for (uint32_t e = 0; e < model->epochs; e++)
		free(model->observations[e]);
	free(model->gold);
	free(model->gold_session);
	free(model->seen);
	fixture_free(model->fixture);
}

static void
operate(uint64_t seed, bool declared, bool strings)
{
	struct model model;

	start(&model, seed, declared, strings, false);
	for (int i = 0; i < OPERATIONS; i++) {
		uint32_t operation = below(&model, 100);
		bool more;

		if (operation < 70) {
			append(&model);
		} else if (operation < 80) {
			ok(store_writer_commit(fixture_writer(model.fixture), &error));
			committed(&model);
		} else if (operation < 84) {
			store_writer_abort(fixture_writer(model.fixture));
			forget_pending(&model);
		} else if (operation < 93) {
			fold(&model, below(&model, EPOCHS));
		} else if (operation < 98) {
			ok(store_writer_collect(fixture_writer(model.fixture), &more, &error));
		} else {
			check(&model);
		}
	}
	check_end(&model);
	finish(&model);
}

/* Epochs one after the other, as they are recorded: some thousand rows, by several sessions, some examples twice; then
 * the epoch is folded, perhaps after a restart or a patch. */
static void
operate_in_turn(uint64_t seed, bool declared, bool strings)
{
	struct model model;
	bool more;

	start(&model, seed, declared, strings, true);
	for (model.epoch = 0; model.epoch < model.epochs; model.epoch++) {
		uint32_t batches = 1 + below(&model, 40);

		for (uint32_t i = 0; i < batches; i++) {
			uint32_t operation = below(&model, 200);

			append(&model);
			if (operation < 60) {
				ok(store_writer_commit(fixture_writer(model.fixture), &error));
				committed(&model);
			} else if (operation < 61) {
				store_writer_abort(fixture_writer(model.fixture));
				forget_pending(&model);
			} else if (operation < 62) {
				fixture_close(model.fixture);
				committed(&model);
			}
		}
		do
			fold(&model, model.epoch);
		while (below(&model, 3) == 0);
		ok(store_writer_collect(fixture_writer(model.fixture), &more, &error));
		if (below(&model, 4) == 0)
			check(&model);
	}
	model.epoch--;
	check_end(&model);
	finish(&model);
}

static void
in_turn_with_declared_ids(void **state)
{
	(void)state;
	operate_in_turn(4, true, false);
}

static void
in_turn_with_integer_ids(void **state)
{
	(void)state;
	operate_in_turn(5, false, false);
}

static void
in_turn_with_string_ids(void **state)
{
	(void)state;
	operate_in_turn(6, false, true);
}

static void
declared_ids(void **state)
{
	(void)state;
	operate(1, true, false);
}

static void
integer_ids(void **state)
{
	(void)state;
	operate(2, false, false);
}

static void
string_ids(void **state)
{
	(void)state;
	operate(3, false, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(declared_ids),
	        cmocka_unit_test(integer_ids),
	        cmocka_unit_test(string_ids),
	        cmocka_unit_test(in_turn_with_declared_ids),
	        cmocka_unit_test(in_turn_with_integer_ids),
	        cmocka_unit_test(in_turn_with_string_ids),
	};

	return cmocka_run_group_tests_name("store random", tests, NULL, NULL);
}

/* test_rules.c: hand-made tables for the winner rule, labels, and what a batch may hold. */
#include "store_test.h"

#include <math.h>
#include <stdlib.h>

/* Three sessions of one run, later ones first: the order of arrival must not matter. */
struct step {
	char session; /* 'a' started first, 'b' the same time at a higher rank, 'c' last; 'f': fold */
	float gold_prob;
	float margin; /* 0: the batch has none */
};

struct winner_case {
	struct step steps[6];
	float gold_prob, margin; /* what must stay; margin 0: none */
	unsigned replaced;
};

static const struct winner_case winner_cases[] = {
        /* the same epoch twice in one session: the later stays */
        {{{'a', .1f, 1}, {'a', .2f, 2}}, .2f, 2, 1},
        {{{'a', .1f, 1}, {'f'}, {'a', .2f, 2}}, .2f, 2, 1},
        {{{'a', .1f, 1}, {'f'}, {'a', .2f, 2}, {'f'}}, .2f, 2, 1},
        /* a run that was resumed: the younger session stays, whichever arrives last */
        {{{'a', .1f, 1}, {'c', .3f, 3}}, .3f, 3, 1},
        {{{'c', .3f, 3}, {'a', .1f, 1}}, .3f, 3, 1},
        {{{'c', .3f, 3}, {'f'}, {'a', .1f, 1}}, .3f, 3, 1},
        {{{'c', .3f, 3}, {'f'}, {'a', .1f, 1}, {'f'}}, .3f, 3, 1},
        /* ranks of one job, padded duplicates: the higher rank stays */
        {{{'b', .4f, 4}, {'a', .1f, 1}}, .4f, 4, 1},
        {{{'a', .1f, 1}, {'f'}, {'b', .4f, 4}, {'f'}}, .4f, 4, 1},
        {{{'b', .4f, 4}, {'a', .1f, 1}, {'b', .5f, 5}, {'c', .6f, 6}, {'b', .7f, 7}}, .6f, 6, 4},
        /* as a whole: a winner without margin takes the loser's away; a loser's margin is not taken */
        {{{'a', .1f, 1}, {'c', .3f}}, .3f, 0, 1},
        {{{'a', .1f, 1}, {'f'}, {'c', .3f}}, .3f, 0, 1},
        {{{'c', .3f}, {'f'}, {'a', .1f, 1}, {'f'}}, .3f, 0, 1},
        {{{'a', .1f}, {'f'}, {'c', .3f, 3}, {'f'}}, .3f, 3, 1},
};

static void
check_winner(const struct winner_case *winner)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 10, NULL, 0), session[3];
	const uint64_t id = 7;
	struct store_run_info info;
	struct reading reading;
	struct store_block block;
	struct store_ids ids;

	session[2] = fixture_session(fixture, run, 900, 0);
	session[0] = fixture_session(fixture, run, 500, 0);
	session[1] = fixture_session(fixture, run, 500, 1);
	for (const struct step *step = winner->steps; step < winner->steps + 6 && step->session; step++) {
		struct fixture_batch batch = {.epoch = 2, .n = 1, .ids = &id, .gold_prob = &step->gold_prob};

		if (step->session == 'f') {
			fixture_fold(fixture, run, 2);
			continue;
		}
		if (step->margin != 0)
			batch.floats[0] = (struct fixture_column){.name = "margin", .values = &step->margin};
		fixture_use(fixture, run, session[step->session - 'a']);
		fixture_log(fixture, run, &batch);
	}
	for (int folded = 0; folded < 2; folded++) {
		reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
		reading_block(&reading, 0, &block, &ids);
		assert_true(float_of(&block, 0, STORE_GOLD_PROB, 7) == winner->gold_prob);
		assert_int_equal(has(&block, 0, STORE_MARGIN, 7), winner->margin != 0);
		if (winner->margin != 0)
			assert_true(float_of(&block, 0, STORE_MARGIN, 7) == winner->margin);
		reading_close(&reading);
		fixture_end(fixture, run);
	}
	ok(store_writer_run_info(fixture_writer(fixture), run, &info, &error));
	assert_int_equal(info.replaced, winner->replaced);
	assert_int_equal(info.observations, 1);
	assert_int_equal(info.examples, 1);
	fixture_free(fixture);
}

static void
winners(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(winner_cases) / sizeof(winner_cases[0]); i++)
		check_winner(&winner_cases[i]);
}

static void
check_listed(struct fixture *fixture, uint64_t examples, uint64_t epochs, uint64_t observations)
{
	struct store_run_info *list;
	size_t count;

	ok(store_runs(fixture_store(fixture), &list, &count, &error));
	assert_int_equal(count, 1);
	assert_int_equal(list[0].examples, examples);
	assert_int_equal(list[0].epochs, epochs);
	assert_int_equal(list[0].observations, observations);
	free(list);
}

/* The list of runs does not count twice what came twice, folded or not. */
static void
repeats_in_the_list(void **state)
{
	const float gold_prob[] = {.1f, .2f, .3f};
	const uint64_t ids[] = {7, 2, 7};
	const uint64_t declared[] = {10, 0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fixture *fixture = fixture_new();
		uint32_t run = fixture_run(fixture, "run", declared[i], NULL, 0);

		for (int again = 0; again < 5; again++)
			fixture_log(fixture, run, &(struct fixture_batch){.n = 3, .ids = ids, .gold_prob = gold_prob});
		check_listed(fixture, 2, 1, 2);
		fixture_log(fixture, run,
		            &(struct fixture_batch){.epoch = 1, .n = 2, .ids = ids + 1, .gold_prob = gold_prob});
		check_listed(fixture, 2, 2, 4);
		fixture_fold(fixture, run, 0);
		check_listed(fixture, 2, 2, 4);
		/* A patch to a folded epoch. */
		fixture_log(fixture, run, &(struct fixture_batch){.n = 1, .ids = ids, .gold_prob = gold_prob});
		check_listed(fixture, 2, 2, 4);
		fixture_end(fixture, run);
		check_listed(fixture, 2, 2, 4);
		fixture_free(fixture);
	}
}

/* Where few observations lie far apart, counting them exactly would take tables over all declared examples, epoch after
 * epoch: the list of runs does not. */
static void
rough_in_the_list(void **state)
{
	const float gold_prob[] = {.1f, .2f, .3f};
	const uint64_t declared = UINT64_C(4000000000), ids[] = {0, declared - 1, 0};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", declared, NULL, 0);

	(void)state;
	for (uint32_t epoch = 0; epoch < 40; epoch++) {
		fixture_log(fixture, run,
		            &(struct fixture_batch){.epoch = epoch, .n = 3, .ids = ids, .gold_prob = gold_prob});
		if (epoch == 0)
			check_listed(fixture, 2, 1, 2);
	}
	check_listed(fixture, 3, 40, 120);
	fixture_free(fixture);
}

/* Duplicates within one batch: the last stays; each meeting counts for the session that brought the second. */
static void
duplicates_in_a_batch(void **state)
{
	const uint64_t ids[] = {3, 1, 3, 3};
	const float gold_prob[] = {.1f, .2f, .3f, .4f};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 5, NULL, 0), other;
	struct store_session_info info;
	struct store_counters counters;
	struct reading reading;
	struct store_block block;
	struct store_ids block_ids;

	(void)state;
	fixture_log(fixture, run, &(struct fixture_batch){.n = 4, .ids = ids, .gold_prob = gold_prob});
	other = fixture_session(fixture, run, 1, 0); /* older, arrives later, loses */
	fixture_log(fixture, run, &(struct fixture_batch){.n = 2, .ids = ids, .gold_prob = gold_prob});
	fixture_end(fixture, run);
	ok(store_writer_session_info(fixture_writer(fixture), run, 0, &info, &error));
	assert_int_equal(info.replaced, 2);
	assert_int_equal(info.observations, 4);
	ok(store_writer_session_info(fixture_writer(fixture), run, other, &info, &error));
	assert_int_equal(info.replaced, 2);
	ok(store_counters(fixture_store(fixture), run, &counters, &error));
	assert_int_equal(counters.returned, 2); /* not those that met another session's */
	reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
	reading_block(&reading, 0, &block, &block_ids);
	assert_true(float_of(&block, 0, STORE_GOLD_PROB, 3) == .4f);
	assert_true(float_of(&block, 0, STORE_GOLD_PROB, 1) == .2f);
	assert_int_equal(block.rows, 5);
	assert_int_equal(store_snapshot_info(reading.snapshot)->observations, 2);
	reading_close(&reading);
	fixture_free(fixture);
}

/* Examples that are new in a log without labels join those with labels, whose labels, and who said them, stay. */
static void
labels_stay_when_others_come(void **state)
{
	const float gold_prob[] = {.1f, .2f, .3f, .4f};
	const int32_t first[] = {7, 8}, late[] = {5, 6, 3, 4}, all[] = {7, 8, 3, 4};

	(void)state;
	for (uint64_t declared = 0; declared <= 100; declared += 100) {
		struct fixture *fixture = fixture_new();
		uint32_t run = fixture_run(fixture, "run", declared, NULL, 0);
		struct reading reading;
		struct store_block block;
		struct store_ids ids;

		fixture_log(fixture, run, &(struct fixture_batch){.n = 2, .gold_prob = gold_prob, .gold = first});
		fixture_fold(fixture, run, 0);
		fixture_log(fixture, run, &(struct fixture_batch){.epoch = 1, .n = 2, .gold_prob = gold_prob});
		fixture_fold(fixture, run, 1); /* none is new */
		fixture_log(fixture, run, &(struct fixture_batch){.epoch = 2, .n = 4, .gold_prob = gold_prob});
		fixture_fold(fixture, run, 2); /* two are */
		reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
		assert_int_equal(store_snapshot_info(reading.snapshot)->examples, 4);
		reading_block(&reading, 0, &block, &ids);
		assert_int_equal(block.gold.present[0], 3);
		assert_memory_equal(block.gold.values, first, sizeof(first));
		reading_close(&reading);
		fixture_session(fixture, run, 5, 0); /* started before: its labels are older than those of the first */
		fixture_log(fixture, run,
		            &(struct fixture_batch){.epoch = 3, .n = 4, .gold_prob = gold_prob, .gold = late});
		fixture_end(fixture, run);
		reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
		reading_block(&reading, 0, &block, &ids);
		assert_int_equal(block.gold.present[0], 15);
		assert_memory_equal(block.gold.values, all, sizeof(all));
		reading_close(&reading);
		fixture_free(fixture);
	}
}

static void
labels_change(void **state)
{
	const float gold_prob[] = {.1f, .2f, .3f, .4f};
	const int32_t first[] = {0, 1, 2, 3}, second[] = {0, 1, 9, 3}, late[] = {5, 1, 2, 3};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	struct store_run_info info;

	(void)state;
	fixture_log(fixture, run, &(struct fixture_batch){.n = 3, .gold_prob = gold_prob, .gold = first});
	fixture_log(fixture, run, &(struct fixture_batch){.epoch = 1, .n = 4, .gold_prob = gold_prob, .gold = second});
	fixture_log(fixture, run, &(struct fixture_batch){.epoch = 2, .n = 4, .gold_prob = gold_prob}); /* no labels */
	fixture_session(fixture, run, 5, 0); /* started before: its labels are older */
	fixture_log(fixture, run, &(struct fixture_batch){.epoch = 1, .n = 4, .gold_prob = gold_prob, .gold = late});
	for (int folded = 0; folded < 2; folded++) {
		struct reading reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
		struct store_block block;
		struct store_ids ids;

		reading_block(&reading, 0, &block, &ids);
		assert_true(block.gold.complete);
		assert_memory_equal(block.gold.values, second, sizeof(second));
		assert_true(store_snapshot_columns(reading.snapshot) & STORE_COLUMN_BIT(STORE_GOLD));
		reading_close(&reading);
		fixture_end(fixture, run);
	}
	/* 2 → 9 by the second epoch; 0 → 5 and 9 → 2 by the late one, which does not stay but differs */
	ok(store_writer_run_info(fixture_writer(fixture), run, &info, &error));
	assert_int_equal(info.changed_labels, 3);
	assert_int_equal(info.replaced, 4);
	assert_int_equal(info.observations, 3 + 4 + 4);
	fixture_free(fixture);
}

static void
refused_rows(void **state)
{
	const uint64_t ids[] = {0, 10, 2, 3, 4, 5, 6, 7, 8, 9};
	const float bad = 0.0f / 0.0f;
	const float gold_prob[] = {.1f, .2f, bad, -.1f, 1.0001f, 0.0f, 1.0f, .7f, .8f, .9f};
	const float margin[] = {1, 2, 3, 4, 5, 6, 7, bad, 1.0f / 0.0f, 10};
	const int32_t gold[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, -1};
	const uint8_t correct[] = {1, 0, 0, 0, 0, 1, 0, 0, 1, 0};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 10, NULL, 0);
	const struct store_append other_ids = {.sequence = 3, .rows = 5, .id_kind = STORE_ID_STR};
	struct store_session_info session;
	struct reading reading;
	struct store_block block;
	struct store_ids block_ids;
	uint32_t refused;

	(void)state;
	assert_int_equal(fixture_log(fixture, run,
	                             &(struct fixture_batch){.n = 10,
	                                                     .ids = ids,
	                                                     .gold_prob = gold_prob,
	                                                     .correct = correct,
	                                                     .gold = gold,
	                                                     .floats = {{"margin", margin}}}),
	                 6);
	/* a batch of which nothing is left uses up its number and leaves no epoch */
	assert_int_equal(fixture_log(fixture, run, &(struct fixture_batch){.epoch = 4, .n = 1, .gold_prob = &bad}), 1);
	assert_int_equal(store_writer_append(fixture_writer(fixture), run, 0, &other_ids, &refused, NULL),
	                 STORE_E_DIFFERS);
	ok(store_writer_session_info(fixture_writer(fixture), run, 0, &session, &error));
	assert_int_equal(session.acknowledged, 3);
	assert_int_equal(session.refused, 12);
	assert_int_equal(session.observations, 4);
	fixture_end(fixture, run);
	reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
	reading_block(&reading, 0, &block, &block_ids);
	assert_int_equal(store_snapshot_info(reading.snapshot)->refused, 12);
	assert_int_equal(store_snapshot_info(reading.snapshot)->epochs, 1);
	assert_int_equal(store_block_values(&block, 0, STORE_GOLD_PROB)->present[0], 1 | 1 << 5 | 1 << 6 | 1 << 8);
	assert_int_equal(((const uint64_t *)store_block_values(&block, 0, STORE_CORRECT)->values)[0],
	                 1 | 1 << 5 | 1 << 8);
	assert_true(float_of(&block, 0, STORE_MARGIN, 8) == 1.0f / 0.0f);
	reading_close(&reading);
	fixture_free(fixture);
}

/* More rows than a chunk, thin epochs, gaps, and columns of the user's own. */
static void
several_chunks(void **state)
{
	enum { N = 2 * STORE_CHUNK + 5 };
	static float gold_prob[N], loss[N];
	const uint64_t thin_ids[] = {STORE_CHUNK - 1, STORE_CHUNK, N - 1};
	const float thin[] = {.25f, .5f, .75f};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", N + 3, NULL, 0);

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		gold_prob[i] = (float)(i % 1000) / 1000;
		loss[i] = (float)i;
	}
	fixture_log(fixture, run,
	            &(struct fixture_batch){.n = N, .gold_prob = gold_prob, .floats = {{"my_loss", loss}}});
	fixture_log(fixture, run, &(struct fixture_batch){.epoch = 9, .n = 3, .ids = thin_ids, .gold_prob = thin});
	for (int folded = 0; folded < 2; folded++) {
		struct reading reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
		int column = reading_user_column(reading.snapshot, "my_loss");
		struct store_block block;
		struct store_ids ids;

		assert_int_equal(column, STORE_COLUMN_USER);
		assert_int_equal(reading_user_column(reading.snapshot, "my_los"), -1);
		assert_int_equal(store_snapshot_blocks(reading.snapshot), 3);
		assert_int_equal(store_snapshot_info(reading.snapshot)->examples, N);
		for (size_t b = 0; b < 3; b++) {
			reading_block(&reading, b, &block, &ids);
			assert_int_equal(block.rows, b < 2 ? STORE_CHUNK : 8);
			assert_int_equal(store_block_values(&block, 0, STORE_GOLD_PROB)->complete, b < 2);
			for (uint32_t row = 0; row < (b < 2 ? block.rows : 5); row++) {
				assert_true(float_of(&block, 0, STORE_GOLD_PROB, row) ==
				            gold_prob[b * STORE_CHUNK + row]);
				assert_true(float_of(&block, 0, (unsigned)column, row) == loss[b * STORE_CHUNK + row]);
			}
			assert_true(float_of(&block, 1, STORE_GOLD_PROB,
			                     b == 0   ? STORE_CHUNK - 1
			                     : b == 1 ? 0
			                              : 4) == thin[b]);
			assert_null(store_block_values(&block, 1, (enum store_column)column)->values);
		}
		reading_close(&reading);
		fixture_end(fixture, run);
	}
	fixture_free(fixture);
}

struct bad_batch {
	const char *column, *second;
	int type;
	enum store_id_kind id_kind;
	const char *message;
};

static const struct bad_batch bad_batches[] = {
        {"gold_prob", "margin", STORE_TYPE_F4, STORE_ID_INT, "needs the columns"},
        {"gold_prob", "correct", STORE_TYPE_F4, STORE_ID_INT, "element type"},
        {"gold_prob", "gold_prob", STORE_TYPE_F4, STORE_ID_INT, "twice"},
        {"gold_prob", "session", STORE_TYPE_F4, STORE_ID_INT, "cannot be named"},
        {"gold_prob", "gold", STORE_TYPE_F4, STORE_ID_INT, "element type"},
        {"gold_prob", "mine", STORE_TYPE_I4, STORE_ID_INT, "element type"},
        {"gold_prob", "correct", STORE_TYPE_BIT, STORE_ID_STR, "integer ids"},
};

static void
wrong_batches(void **state)
{
	const uint8_t bytes[8] = {0};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 5, NULL, 0), refused;
	struct store_session_info session;

	(void)state;
	for (size_t i = 0; i < sizeof(bad_batches) / sizeof(bad_batches[0]); i++) {
		const struct bad_batch *bad = &bad_batches[i];
		struct store_append_column columns[] = {
		        {.name = {bad->column, strlen(bad->column)}, .type = STORE_TYPE_F4, .data = bytes},
		        {.name = {bad->second, strlen(bad->second)}, .type = bad->type, .data = bytes},
		};
		struct store_append append = {.sequence = i + 1,
		                              .rows = 1,
		                              .id_kind = bad->id_kind,
		                              .id_size = 8,
		                              .ids = bytes,
		                              .ids_bytes = 8,
		                              .columns = columns,
		                              .column_count = 2};
		struct portolan_error failure = {0};

		assert_int_equal(store_writer_append(fixture_writer(fixture), run, 0, &append, &refused, &failure),
		                 STORE_E_DIFFERS);
		assert_non_null(strstr(failure.message, bad->message));
		assert_int_equal(refused, 1);
		ok(store_writer_session_info(fixture_writer(fixture), run, 0, &session, &error));
		assert_int_equal(session.acknowledged, i + 1);
		assert_int_equal(session.refused, i + 1);
		assert_int_equal(session.observations, 0);
	}
	fixture_free(fixture);
}

/* Each session counts its own observations that met another, in whatever order the sessions come. */
static void
every_session_counts_what_met(void **state)
{
	enum { SESSIONS = 40, ROWS = 3 };
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0), sessions[SESSIONS] = {0};
	const float gold_prob[ROWS] = {.1f, .2f, .3f};
	struct store_session_info info;

	(void)state;
	for (uint32_t i = 1; i < SESSIONS; i++)
		sessions[i] = fixture_session(fixture, run, i + 1, i);
	for (uint32_t i = 0; i < 2 * SESSIONS; i++) {
		fixture_use(fixture, run, sessions[i * 17 % SESSIONS]);
		fixture_log(fixture, run, &(struct fixture_batch){.n = ROWS, .gold_prob = gold_prob});
	}
	fixture_fold(fixture, run, 0);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		ok(store_writer_session_info(fixture_writer(fixture), run, sessions[i], &info, &error));
		assert_int_equal(info.replaced, i == 0 ? ROWS : 2 * ROWS);
	}
	fixture_free(fixture);
}

/* A run records losses or labels, whatever its first batch had. Losses may be any numbers; they stand for gold_prob. */
static void
losses_are_a_kind_of_run(void **state)
{
	static const float first[] = {2.5f, -1.0f, 0.25f}, later[] = {100.0f}, zeros[3], nan[] = {NAN, INFINITY, 8};
	struct fixture *fixture = fixture_new();
	uint32_t losses = fixture_run(fixture, "losses", 0, NULL, 0),
	         labels = fixture_run(fixture, "labels", 0, NULL, 0);
	struct store_run_info info;
	struct reading reading;
	struct store_block block;
	struct store_ids ids;

	(void)state;
	assert_int_equal(fixture_log(fixture, labels, &(struct fixture_batch){.n = 3, .gold_prob = zeros}), 0);
	assert_int_equal(
	        fixture_log(fixture, losses,
	                    &(struct fixture_batch){.n = 3, .gold_prob = zeros, .floats = {{"task_loss", first}}}),
	        0);
	assert_int_equal(fixture_log(fixture, losses,
	                             &(struct fixture_batch){
	                                     .epoch = 1, .n = 3, .gold_prob = zeros, .floats = {{"task_loss", nan}}}),
	                 2);
	fixture_fold(fixture, losses, 0);
	/* merged into what is folded, and read from the log */
	assert_int_equal(
	        fixture_log(fixture, losses,
	                    &(struct fixture_batch){.n = 1, .gold_prob = zeros, .floats = {{"task_loss", later}}}),
	        0);
	ok(store_writer_run_info(fixture_writer(fixture), losses, &info, &error));
	assert_true(info.of_losses);
	ok(store_writer_run_info(fixture_writer(fixture), labels, &info, &error));
	assert_false(info.of_losses);
	for (int folded = 0; folded < 2; folded++) {
		reading = reading_open(fixture_store(fixture), "losses",
		                       STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT));
		reading_block(&reading, 0, &block, &ids);
		assert_true(float_of(&block, 0, STORE_GOLD_PROB, 0) == 100.0f);
		assert_true(float_of(&block, 0, STORE_GOLD_PROB, 1) == -1.0f);
		assert_true(float_of(&block, 1, STORE_GOLD_PROB, 2) == 8.0f);
		assert_false(has(&block, 1, STORE_GOLD_PROB, 0));
		assert_int_equal(((const uint64_t *)store_block_values(&block, 0, STORE_CORRECT)->values)[0], 0);
		reading_close(&reading);
		fixture_end(fixture, losses);
	}
	fixture_free(fixture);
}

/* Appends "id=text ". */
static int
take_text(void *context, const struct store_example *example, struct portolan_error *problem)
{
	char *all = context;

	(void)problem;
	sprintf(all + strlen(all), "%d=%.*s ", (int)example->integer, (int)example->sizes[0], example->texts[0]);
	return 0;
}

/* Of the texts of sessions that began at the same time those of the higher rank stay, and of one rank those of the greater
 * id; whichever comes first. The fixture's ids ascend. */
static void
texts_of_the_later_session_stay(void **state)
{
	static const struct {
		uint32_t first, second; /* ranks */
		bool first_is_later;
	} cases[] = {{1, 0, true}, {0, 1, false}, {0, 0, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *fixture = fixture_new();
		uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
		uint32_t first = fixture_session(fixture, run, 2000, cases[i].first);
		uint32_t second = fixture_session(fixture, run, 2000, cases[i].second);
		struct store_texts texts;
		char all[64] = "";

		for (int turn = 0; turn < 2; turn++) { /* one example each, in both orders */
			fixture_use(fixture, run, turn ? second : first);
			fixture_texts(fixture, run, 7 + (uint64_t)turn, 1, turn ? "second" : "first");
			fixture_use(fixture, run, turn ? first : second);
			fixture_texts(fixture, run, 7 + (uint64_t)turn, 1, turn ? "first" : "second");
		}
		ok(store_each_text(fixture_store(fixture), run, &texts, take_text, all, &error));
		assert_string_equal(all, cases[i].first_is_later ? "7=first 8=first " : "7=second 8=second ");
		fixture_free(fixture);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(winners),
	        cmocka_unit_test(repeats_in_the_list),
	        cmocka_unit_test(rough_in_the_list),
	        cmocka_unit_test(duplicates_in_a_batch),
	        cmocka_unit_test(labels_stay_when_others_come),
	        cmocka_unit_test(labels_change),
	        cmocka_unit_test(refused_rows),
	        cmocka_unit_test(several_chunks),
	        cmocka_unit_test(every_session_counts_what_met),
	        cmocka_unit_test(wrong_batches),
	        cmocka_unit_test(losses_are_a_kind_of_run),
	        cmocka_unit_test(texts_of_the_later_session_stay),
	};

	return cmocka_run_group_tests_name("store rules", tests, NULL, NULL);
}

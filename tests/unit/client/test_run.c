/* test_run.c: the library against a collector that behaves as told: what arrives, what is repeated, what is counted. */
#include "run_fixture.h"

#include <math.h>

static void
test_arrives(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;
	struct portolan_stats stats;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.config = "{\"lr\": 0.1}", .group = "g", .rank = 2});
	log_rows(run, 0, 0, 5);
	assert_int_equal(portolan_end_epoch(run, 0, NULL), 0);
	log_rows(run, 1, 5, 20000); /* several records and frames */
	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	stats = stats_of(run);
	assert_int_equal(stats.logged, 20005);
	assert_int_equal(stats.acknowledged, 20005);
	assert_int_equal(stats.dropped + stats.refused + stats.reconnects + stats.waits, 0);
	assert_true(stats.bytes_sent > 20005 * 32);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 20005);
	assert_int_equal(fake->ends, 1);
	assert_int_equal(fake->closes, 1);
	assert_int_equal(fake->undecodable + fake->gaps + fake->repeats, 0);
	assert_int_equal(fake->id_type, WIRE_U4);
	assert_string_equal(fake->run, "words/seed1");
	assert_string_equal(fake->config, "{\"lr\": 0.1}");
	assert_string_equal(fake->group, "g");
	assert_int_equal(fake->rank, 2);
	assert_string_equal(fake->column_names, "gold_prob margin other_sq entropy max_prob predicted gold correct ");
	for (uint64_t i = 0; i < fake->rows; i++) {
		assert_int_equal(fake->ids[i], i);
		assert_int_equal(fake->epochs[i], i < 5 ? 0 : 1);
		assert_int_equal(fake->correct[i], i % 2);
		assert_float_equal(fake->gold_prob[i], (i % 2 ? 0.7310586f : 0.2689414f), 1e-6);
	}
}

static void
test_probs_gold_and_strings(void **state)
{
	struct fake *fake = *state;
	const char *ids[] = {"a-1", "é", "x"};
	const float gold_probs[] = {0.25f, 1.0f, 2.0f};
	const uint8_t correct[] = {0, 1, 1};
	struct portolan_batch batch = {
	        .epoch = 3,
	        .n = 3,
	        .classes = 1,
	        .kind = PORTOLAN_GOLD_PROBS,
	        .scores = {gold_probs, PORTOLAN_F32, 4, 4},
	        .string_ids = ids,
	        .correct = {correct, PORTOLAN_U8, 1, 0},
	};
	struct portolan_error error;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.strict = 1});
	assert_int_equal(portolan_log(run, &batch, &error), PORTOLAN_E_ROWS);
	assert_string_equal(error.message, "1 of 3 rows refused; the first, row 2, has a gold probability that is not "
	                                   "within 0 and 1");
	assert_int_equal(portolan_log_gold(run, 3, 1, &(uint64_t){1}, gold_probs, correct, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message, "ids: run words/seed1 has string ids, and these are integers");
	assert_int_equal(stats_of(run).refused, 1);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 2);
	assert_string_equal(fake->first_string, "a-1");
	assert_string_equal(fake->column_names, "gold_prob correct ");
	assert_float_equal(fake->gold_prob[1], 1, 0);
	assert_int_equal(fake->correct[0], 0);
	assert_int_equal(fake->correct[1], 1);
}

/* Columns of the caller's own go with the others; a row in which one is not finite is refused, and the message says
 * which. */
static void
test_own_columns(void **state)
{
	enum { N = 9000 }; /* several frames */
	struct fake *fake = *state;
	float *gold_probs = calloc(N, sizeof(*gold_probs)), *lengths = calloc(N, sizeof(*lengths));
	uint64_t *ids = calloc(N, sizeof(*ids));
	uint8_t *correct = calloc(N, 1);
	const double tokens[2] = {3, 1e300};
	struct portolan_column columns[] = {{"length", {lengths, PORTOLAN_F32, 4, 0}},
	                                    {"tokens", {tokens, PORTOLAN_F64, 8, 0}}};
	struct portolan_batch batch = {
	        .n = N,
	        .classes = 1,
	        .kind = PORTOLAN_GOLD_PROBS,
	        .scores = {gold_probs, PORTOLAN_F32, 4, 4},
	        .ids = {ids, PORTOLAN_U64, 8, 0},
	        .correct = {correct, PORTOLAN_U8, 1, 0},
	        .columns = columns,
	        .column_count = 1,
	};
	struct portolan_error error;
	portolan_run *run;

	for (uint32_t i = 0; i < N; i++)
		ids[i] = i;
	lengths[17] = NAN;
	lengths[8000] = INFINITY;
	gold_probs[18] = 2;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.strict = 1});
	assert_int_equal(portolan_log(run, &batch, &error), PORTOLAN_E_ROWS);
	assert_string_equal(error.message,
	                    "3 of 9000 rows refused; the first, row 17, has a column that is not finite");
	gold_probs[16] = 2;
	assert_int_equal(portolan_log(run, &batch, &error), PORTOLAN_E_ROWS);
	assert_string_equal(error.message,
	                    "4 of 9000 rows refused; the first, row 16, has a gold probability that is not "
	                    "within 0 and 1");
	gold_probs[16] = 0;
	batch.n = batch.column_count = 2;
	assert_int_equal(portolan_log(run, &batch, &error), PORTOLAN_E_ROWS); /* no float32 holds it */
	assert_string_equal(error.message, "1 of 2 rows refused; the first, row 1, has a column that is not finite");
	batch.n = batch.column_count = 1;
	for (unsigned i = 2; i < PORTOLAN_OWN_COLUMNS; i++) {
		columns[0].name = (char[]){'c', (char)('a' + i), '\0'};
		assert_int_equal(portolan_log(run, &batch, &error), 0);
	}
	columns[0].name = "another";
	assert_int_equal(portolan_log(run, &batch, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message, "column 'another' is too many: the run has 16");
	columns[0].name = "length";
	assert_int_equal(portolan_log(run, &batch, &error), 0);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 2 * N - 7 + 1 + 14 + 1);
	assert_int_equal(fake->undecodable, 0);
	assert_string_equal(fake->column_names, "gold_prob correct length ");
	free(gold_probs);
	free(lengths);
	free(ids);
	free(correct);
}

/* Signals that came derived: taken as they are, `correct` from the prediction; what is no number is refused. */
static void
test_signals(void **state)
{
	struct fake *fake = *state;
	const float signals[][6] = {
	        {0.25f, -1, 0.5f, 0.9f, 0.7f, 2},       {0.75f, 3, 0.05f, 0.5f, 0.75f, 70000}, {1.5f, 1, 0, 0, 1, 0},
	        {0.5f, INFINITY, 0.25f, 0.6f, 0.5f, 1}, {0.5f, 0, NAN, 0.6f, 0.5f, 1},         {NAN, 0, 0, 0, 0, 0},
	        {0.5f, 0, 0.25f, 0.6f, 0.5f, 0x1p31f},  {0.5f, 0, 0.25f, 0.6f, 0.5f, -1},
	};
	const uint64_t ids[] = {10, 11, 12, 13, 14, 15, 16, 17};
	const int32_t gold[] = {1, 70000, 0, 0, 0, 0, 0, 0};
	const struct portolan_batch batch = {
	        .n = 8,
	        .classes = 6,
	        .kind = PORTOLAN_SIGNALS,
	        .scores = {signals, PORTOLAN_F32, sizeof(signals[0]), sizeof(float)},
	        .ids = {ids, PORTOLAN_U64, sizeof(ids[0]), 0},
	        .gold = {gold, PORTOLAN_I32, sizeof(gold[0]), 0},
	};
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	assert_int_equal(portolan_log(run, &batch, NULL), 0);
	assert_int_equal(stats_of(run).refused, 6);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 2);
	assert_string_equal(fake->column_names, "gold_prob margin other_sq entropy max_prob predicted gold correct ");
	assert_int_equal(fake->ids[0], 10);
	assert_int_equal(fake->ids[1], 11);
	assert_float_equal(fake->gold_prob[0], 0.25f, 0);
	assert_float_equal(fake->gold_prob[1], 0.75f, 0);
	assert_int_equal(fake->correct[0], 0);
	assert_int_equal(fake->correct[1], 1);
}

static void
test_wide_ids(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, UINT64_MAX - 1, 2);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->id_type, WIRE_U8);
	assert_int_equal(fake->ids[0], UINT64_MAX - 1);
	assert_int_equal(fake->ids[1], UINT64_MAX);
}

static void
test_replay(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake->acknowledges = false;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, 0, 100);
	fake_wait(fake, &fake->rows, 100);
	fake_stop(fake); /* it has stored 1, and told nobody */
	log_rows(run, 0, 100, 100);
	fake->acknowledges = true;
	fake_start(fake); /* knows no session: the ping, or what follows, is answered so */
	assert_int_equal(portolan_flush(run, 20000, NULL), 0);
	assert_int_equal(stats_of(run).acknowledged, 200);
	assert_int_equal(stats_of(run).reconnects, 1);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 200);
	assert_int_equal(fake->gaps, 0);
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(fake->ids[i], i);
}

static void
test_no_session_and_refused(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	pthread_mutex_lock(&fake->mutex);
	fake->next_error = WIRE_E_NO_SESSION;
	pthread_mutex_unlock(&fake->mutex);
	log_rows(run, 0, 0, 10);
	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(fake_get(fake, &fake->rows), 10);
	pthread_mutex_lock(&fake->mutex);
	fake->next_error = WIRE_E_REFUSED;
	pthread_mutex_unlock(&fake->mutex);
	log_rows(run, 0, 10, 10);
	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	log_rows(run, 0, 20, 10);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 20);
	assert_int_equal(fake->ids[10], 20);
	assert_int_equal(fake->opens, 2);
}

static void
test_unavailable(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	pthread_mutex_lock(&fake->mutex);
	fake->next_error = WIRE_E_UNAVAILABLE;
	pthread_mutex_unlock(&fake->mutex);
	log_rows(run, 0, 0, 10);
	assert_int_equal(portolan_flush(run, 0, NULL), PORTOLAN_E_TIMEOUT);
	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 10);
}

/* Labels that do not fit into one frame, which the collector would not take. */
static void
test_labels_beyond_a_frame(void **state)
{
	struct fake *fake = *state;
	static char text[4096][64];
	static const char *labels[4096];
	struct portolan_options options = {.labels = labels, .label_count = 4096};
	struct portolan_error error;
	portolan_run *run;

	for (int i = 0; i < 4096; i++) {
		memset(text[i], 'a' + i % 26, 63);
		labels[i] = text[i];
	}
	fake_start(fake);
	options.endpoint = fake->endpoint;
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_INVALID);
	assert_string_equal(
	        error.message,
	        "labels have 270336 bytes and config 0; both together 261056 at most: leave the labels out");
	for (int i = 0; i < 4096; i++)
		text[i][60] = '\0';
	run = open_with(fake, options);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
}

/* Frames that the collector takes, whatever the ids and the size of the batches: at most 256 KiB. */
static void
test_frames_have_their_limit(void **state)
{
	struct fake *fake = *state;
	enum { ROWS = 20000 };
	static const char *ids[ROWS];
	static float logits[2 * ROWS];
	static int32_t gold[ROWS];
	struct portolan_batch batch = {
	        .n = ROWS,
	        .classes = 2,
	        .kind = PORTOLAN_LOGITS,
	        .scores = {logits, PORTOLAN_F32, 8, 4},
	        .string_ids = ids,
	        .gold = {gold, PORTOLAN_I32, 4, 0},
	};
	static const int lengths[] = {1, 7, 15, 40, 255};
	char id[256];
	portolan_run *run;

	memset(id, 'x', 255);
	id[255] = '\0';
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		for (int i = 0; i < ROWS; i++)
			ids[i] = id + 255 - lengths[l];
		assert_int_equal(portolan_log(run, &batch, NULL), 0);
		batch.epoch++;
	}
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	fake->stored = 0;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, UINT64_MAX - 49999, 50000);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 5 * ROWS + 50000);
	assert_in_range(fake->largest_frame, 48 << 10, 256 << 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_arrives, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_probs_gold_and_strings, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_own_columns, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_wide_ids, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_replay, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_no_session_and_refused, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_unavailable, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_labels_beyond_a_frame, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_frames_have_their_limit, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

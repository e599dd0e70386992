/* test_run.c: the library against a collector that behaves as told: what arrives, what is repeated, what is counted. */
#include "fake_collector.h"
#include "remove_folder.h"
#include "run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

/* In the collector's own directory, so that spool files of one test are not left over for the next. */
static int
setup(void **state)
{
	struct fake *fake = fake_new();
	char directory[sizeof(fake->endpoint)];

	*state = fake;
	snprintf(directory, sizeof(directory), "%s", fake->endpoint + strlen("ipc://"));
	*strrchr(directory, '/') = '\0';
	return chdir(directory);
}

static int
teardown(void **state)
{
	fake_free(*state);
	return 0;
}

static portolan_run *
open_with(struct fake *fake, struct portolan_options options)
{
	struct portolan_error error = {0};
	portolan_run *run = NULL;

	options.endpoint = fake->endpoint;
	if (portolan_open("words/seed1", &options, &run, &error) < 0)
		fail_msg("%s", error.message);
	return run;
}

/* n observations of examples first … first+n−1 with classes 0 and 1: logits (0, 1), gold = id mod 2. */
static void
log_rows(portolan_run *run, uint32_t epoch, uint64_t first, size_t n)
{
	struct portolan_error error = {0};
	uint64_t *ids = malloc(n * sizeof(*ids));
	float *logits = malloc(2 * n * sizeof(*logits));
	int32_t *gold = malloc(n * sizeof(*gold));

	for (size_t i = 0; i < n; i++) {
		ids[i] = first + i;
		logits[2 * i] = 0;
		logits[2 * i + 1] = 1;
		gold[i] = (int32_t)(ids[i] % 2);
	}
	if (portolan_log_logits(run, epoch, n, 2, ids, logits, gold, &error) < 0)
		fail_msg("%s", error.message);
	free(ids);
	free(logits);
	free(gold);
}

static struct portolan_stats
stats_of(const portolan_run *run)
{
	struct portolan_stats stats;

	assert_int_equal(portolan_get_stats(run, &stats), 0);
	return stats;
}

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

static portolan_run *
open_then_refuse(struct fake *fake, enum wire_error_code code, struct portolan_options options)
{
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, options);
	pthread_mutex_lock(&fake->mutex);
	fake->next_error = code;
	pthread_mutex_unlock(&fake->mutex);
	log_rows(run, 0, 0, 10);
	return run;
}

static int
log_three(portolan_run *run, const uint8_t correct[3], struct portolan_error *error)
{
	return portolan_log_gold(run, 0, 3, (uint64_t[3]){0, 1, 2}, (float[3]){0.5f, 0.5f, 0.5f}, correct, error);
}

/* Whatever the collector refuses for good, training goes on; what is wrong with the arguments is an error all the same.
 */
static void
test_ended(void **state)
{
	static const enum wire_error_code codes[] = {WIRE_E_RUN_REMOVED, WIRE_E_RUN_DAMAGED, WIRE_E_RUN_DIFFERS,
	                                             WIRE_E_VERSION,     WIRE_E_MALFORMED,   WIRE_E_OTHER_STORE};
	struct fake *fake = *state;
	struct portolan_error error;
	struct portolan_stats stats;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		portolan_run *run = open_then_refuse(fake, codes[i], (struct portolan_options){0});

		assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, &error), PORTOLAN_E_ENDED);
		assert_memory_equal(error.message, "run words/seed1 has ended: as the test wants it: ", 49);
		error.code = 0;
		assert_int_equal(log_three(run, (uint8_t[3]){0}, &error), 0);
		assert_int_equal(portolan_end_epoch(run, 0, &error), 0);
		assert_int_equal(error.code, 0);
		assert_int_equal(log_three(run, (uint8_t[3]){0, 2, 0}, &error), PORTOLAN_E_INVALID);
		assert_int_equal(portolan_end_epoch(run, UINT32_MAX, &error), PORTOLAN_E_INVALID);
		stats = stats_of(run);
		assert_int_equal(stats.logged, 10);
		assert_int_equal(stats.acknowledged, 0);
		assert_int_equal(stats.dropped, codes[i] == WIRE_E_RUN_REMOVED ? 13 : 3); /* others are in the spool */
		assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, &error), PORTOLAN_E_ENDED);
		if (codes[i] == WIRE_E_RUN_REMOVED)
			assert_string_equal(error.message, "run words/seed1 has ended: as the test wants it: 13 of 13 "
			                                   "observations are lost");
		else
			assert_non_null(strstr(error.message, ": 10 of 13 observations are in a file, and 3 are "
			                                      "lost: portolan import /tmp/"));
		fake_stop(fake);
		fake->stored = 0;
		assert_int_equal(remove_folder("portolan-spool"), 0);
	}
}

static void
test_ended_and_strict(void **state)
{
	struct fake *fake = *state;
	portolan_run *run = open_then_refuse(fake, WIRE_E_RUN_REMOVED, (struct portolan_options){.strict = 1});
	struct portolan_error error;

	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, &error), PORTOLAN_E_ENDED);
	assert_int_equal(log_three(run, (uint8_t[3]){0}, &error), PORTOLAN_E_ENDED);
	assert_string_equal(error.message,
	                    "run words/seed1 has ended: as the test wants it: 13 of 13 observations are lost");
	assert_int_equal(portolan_end_epoch(run, 0, &error), PORTOLAN_E_ENDED);
	assert_int_equal(stats_of(run).dropped, 13);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, &error), PORTOLAN_E_ENDED);
	fake_stop(fake);
}

/* A log call that waits for room when the run ends goes on as well. */
static void
test_ended_while_waiting(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;
	uint64_t logged;

	fake->credit = 1;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.ring_bytes = 1 << 20, .spool_bytes = 1});
	pthread_mutex_lock(&fake->mutex);
	fake->next_error = WIRE_E_RUN_REMOVED;
	pthread_mutex_unlock(&fake->mutex);
	log_rows(run, 0, 0, 300000);
	logged = stats_of(run).logged;
	assert_true(logged < 300000);
	assert_int_equal(stats_of(run).dropped, 300000);
	assert_int_equal(portolan_close(run, 0, NULL), PORTOLAN_E_ENDED);
	fake_stop(fake);
}

static void
test_open_refused(void **state)
{
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint};
	struct portolan_error error;
	portolan_run *run = NULL;

	fake->open_error = WIRE_E_RUN_EXISTS;
	fake_start(fake);
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_REFUSED);
	assert_string_equal(error.message, "as the test wants it");
	assert_null(run);
	fake_stop(fake);
}

/* A collector with too many connections may have fewer soon: opening goes on until its time is up, and says why. */
static void
test_too_many_connections(void **state)
{
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint, .open_timeout_ms = 300};
	struct portolan_error error;
	portolan_run *run = NULL;
	char expected[300];

	fake->zap_status = "500";
	fake_start(fake);
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_NO_COLLECTOR);
	snprintf(expected, sizeof(expected),
	         "the collector at %s has too many connections (its --max-memory sets how many); trying again",
	         fake->endpoint);
	assert_string_equal(error.message, expected);
	pthread_mutex_lock(&fake->mutex);
	fake->zap_status = "400";
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_REFUSED);
	assert_non_null(strstr(error.message, "does not know this client's key"));
	fake_stop(fake);
}

/* A run that is open waits, and goes on when there is room again. */
static void
test_too_many_connections_later(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	fake_stop(fake);
	fake->zap_status = "500";
	fake_start(fake);
	log_rows(run, 0, 0, 10);
	assert_int_equal(portolan_flush(run, 6500, NULL), PORTOLAN_E_TIMEOUT);
	pthread_mutex_lock(&fake->mutex);
	fake->zap_status = "200";
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(portolan_flush(run, 20000, NULL), 0);
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

/* In the place of libzmq's: an option that cannot be set. */
static int refused_option;

int
zmq_setsockopt(void *socket, int option, const void *value, size_t size)
{
	static int (*real)(void *, int, const void *, size_t);

	if (!real)
		*(void **)(&real) = dlsym(RTLD_NEXT, "zmq_setsockopt");
	if (option == refused_option) {
		errno = EINVAL;
		return -1;
	}
	return real(socket, option, value, size);
}

/* Without its heartbeat, or with frames without a limit, a run would seem to work. */
static void
test_options_that_cannot_be_set(void **state)
{
	static const int needed[] = {ZMQ_LINGER,        ZMQ_IMMEDIATE,        ZMQ_SNDHWM,
	                             ZMQ_MAXMSGSIZE,    ZMQ_HEARTBEAT_IVL,    ZMQ_HEARTBEAT_TIMEOUT,
	                             ZMQ_RECONNECT_IVL, ZMQ_RECONNECT_IVL_MAX};
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint, .open_timeout_ms = 100};
	struct portolan_error error;
	portolan_run *run = NULL;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		refused_option = needed[i];
		assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_SYSTEM);
		assert_string_equal(error.message, "cannot make a socket: Invalid argument");
	}
	refused_option = 0;
}

static void
test_nobody_answers(void **state)
{
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint, .open_timeout_ms = 100};
	struct portolan_error error;
	portolan_run *run = NULL;
	char expected[400];

	snprintf(expected, sizeof(expected),
	         "no collector answered at %s within 0.1 s; start one with: portoland --store DIR --listen %s",
	         fake->endpoint, fake->endpoint);
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_NO_COLLECTOR);
	assert_string_equal(error.message, expected);
	options.endpoint = "tcp://nowhere";
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message,
	                    "endpoint \"tcp://nowhere\": Invalid argument; give tcp://HOST:PORT or ipc://PATH");
}

static void
test_timeouts(void **state)
{
	struct fake *fake = *state;
	struct portolan_error error;
	portolan_run *run;

	fake->acknowledges = false;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, 0, 7);
	assert_int_equal(portolan_flush(run, 20, &error), PORTOLAN_E_TIMEOUT);
	assert_string_equal(error.message,
	                    "run words/seed1: 7 of 7 observations are not acknowledged by the collector yet");
	assert_int_equal(portolan_flush(run, -3, &error), PORTOLAN_E_INVALID);
	assert_int_equal(portolan_close(run, 20, &error), PORTOLAN_E_TIMEOUT);
	assert_int_equal(error.code, PORTOLAN_E_TIMEOUT);
	fake_stop(fake);
}

static void
test_credit(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake->credit = 0;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, 0, 50000);
	assert_int_equal(portolan_flush(run, 50, NULL), PORTOLAN_E_TIMEOUT);
	assert_int_equal(fake_get(fake, &fake->batches), 0);
	pthread_mutex_lock(&fake->mutex);
	fake->credit = 1; /* less than any frame: one at a time */
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0); /* the next ping's answer tells */
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_true(fake->largest_under_way < 300000);
	assert_true(fake->batches > 1);
	assert_int_equal(fake->rows, 50000);
}

static void
test_full_ring_drops(void **state)
{
	struct fake *fake = *state;
	struct portolan_stats stats;
	portolan_run *run;

	fake->credit = 0;
	fake_start(fake);
	run = open_with(fake,
	                (struct portolan_options){.ring_bytes = 1 << 20, .when_full = PORTOLAN_DROP, .spool_bytes = 1});
	log_rows(run, 0, 0, 100000);                   /* 37 bytes each: about 28,000 fit into a MiB */
	for (uint32_t epoch = 0; epoch < 300; epoch++) /* it is not waited with these either */
		assert_int_equal(portolan_end_epoch(run, epoch, NULL), 0);
	stats = stats_of(run);
	assert_int_equal(stats.logged + stats.dropped, 100000);
	assert_in_range(stats.logged, 4096 * 5, 1048576 / 37);
	assert_int_equal(stats.waits, 0);
	assert_int_equal(portolan_close(run, 0, NULL), PORTOLAN_E_TIMEOUT);
	fake_stop(fake);
}

static void
test_full_ring_waits(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake->credit = 1;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.ring_bytes = 1 << 20});
	for (uint64_t i = 0; i < 30; i++)
		log_rows(run, 0, i * 10000, 10000);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 300000);
	for (uint64_t i = 0; i < fake->rows; i++)
		assert_int_equal(fake->ids[i], i);
}

static void *
log_many(void *argument)
{
	for (int i = 0; i < 100; i++)
		log_rows(argument, 0, 0, 100);
	return NULL;
}

static void
test_many_threads(void **state)
{
	struct fake *fake = *state;
	pthread_t threads[3];
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, log_many, run), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 30000);
}

static void
test_fork(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;
	pid_t child;
	int status;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, 0, 10);
	child = fork();
	if (child == 0) {
		struct portolan_stats stats;
		float logits[2] = {0};
		int wrong = 0;

		wrong += portolan_log_logits(run, 0, 1, 2, &(uint64_t){1}, logits, &(int32_t){0}, NULL) !=
		         PORTOLAN_E_FORKED;
		wrong += portolan_end_epoch(run, 0, NULL) != PORTOLAN_E_FORKED;
		wrong += portolan_flush(run, 1000, NULL) != PORTOLAN_E_FORKED;
		wrong += portolan_get_stats(run, &stats) != PORTOLAN_E_FORKED;
		wrong += portolan_close(run, 1000, NULL) != PORTOLAN_E_FORKED;
		_exit(wrong);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	log_rows(run, 0, 10, 10);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 20);
}

static volatile sig_atomic_t signalled_thread_is_main;
static pthread_t main_thread;

static void
on_signal(int number)
{
	(void)number;
	signalled_thread_is_main = pthread_equal(pthread_self(), main_thread);
}

static void
test_signals_stay_away(void **state)
{
	struct fake *fake = *state;
	struct sigaction action = {.sa_handler = on_signal}, before;
	sigset_t usr1, mask;
	portolan_run *run;

	fake_start(fake);
	main_thread = pthread_self();
	sigaction(SIGUSR1, &action, &before);
	run = open_with(fake, (struct portolan_options){0});
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	assert_false(sigismember(&mask, SIGUSR1)); /* opening leaves the caller's mask as it was */
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, &mask);
	fake_stop(fake);         /* its thread does not block signals */
	kill(getpid(), SIGUSR1); /* pending, unless one of the library's threads takes it */
	assert_int_equal(portolan_close(run, 0, NULL), 0);
	assert_int_equal(signalled_thread_is_main, 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	assert_int_equal(signalled_thread_is_main, 1);
	sigaction(SIGUSR1, &before, NULL);
}

/* The id of the library's own thread. */
static id_t
find_thread(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *entry;
	id_t found = 0;

	assert_non_null(threads);
	while ((entry = readdir(threads))) {
		char path[300], name[16] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(name, sizeof(name), file) && strcmp(name, "portolan\n") == 0)
			found = (id_t)strtoul(entry->d_name, NULL, 10);
		if (file)
			fclose(file);
	}
	closedir(threads);
	return found;
}

/* Where processors are scarce the training loop goes first; the loop's own priority stays as it was. */
static void
test_the_loop_goes_first(void **state)
{
	struct fake *fake = *state;
	int before = getpriority(PRIO_PROCESS, 0);
	portolan_run *run;
	id_t thread;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	thread = find_thread();
	assert_int_not_equal(thread, 0);
	assert_int_equal(getpriority(PRIO_PROCESS, thread), before < 5 ? 5 : before);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
}

/* A call that began before the run was closed, and gets its turn only then, logs nothing behind the `close` frame. */
static void
test_closed_before_its_turn(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	assert_int_equal(run_finish(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(run_lock(run, NULL), PORTOLAN_E_CLOSED);
	assert_int_equal(pthread_mutex_trylock(&run->log_mutex), 0); /* nobody has it */
	pthread_mutex_unlock(&run->log_mutex);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
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
	        cmocka_unit_test_setup_teardown(test_ended, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_ended_and_strict, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_ended_while_waiting, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_open_refused, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_too_many_connections, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_too_many_connections_later, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_labels_beyond_a_frame, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_frames_have_their_limit, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_options_that_cannot_be_set, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_nobody_answers, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_timeouts, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_credit, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_full_ring_drops, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_full_ring_waits, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_many_threads, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_signals_stay_away, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_the_loop_goes_first, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_closed_before_its_turn, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

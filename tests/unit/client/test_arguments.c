/* test_arguments.c: what portolan_open() and portolan_log() refuse, with the message a user gets; reading of arrays. */
#include "batch.h"
#include "run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float scores[6] = {1, 2, 3, 4, 5, 6};
static const uint64_t ids[2] = {7, 9};
static const int32_t gold[2] = {0, 2};

static struct portolan_batch
good(void)
{
	return (struct portolan_batch){
	        .n = 2,
	        .classes = 3,
	        .kind = PORTOLAN_LOGITS,
	        .scores = {scores, PORTOLAN_F32, 12, 4},
	        .ids = {ids, PORTOLAN_U64, 8, 0},
	        .gold = {gold, PORTOLAN_I32, 4, 0},
	};
}

static void
refused(const struct portolan_batch *batch, uint64_t examples, const char *message)
{
	struct portolan_error error = {0};

	assert_int_equal(batch_check(batch, examples, &error), PORTOLAN_E_INVALID);
	assert_int_equal(error.code, PORTOLAN_E_INVALID);
	assert_string_equal(error.message, message);
}

static void
test_batches(void **state)
{
	struct portolan_batch batch = good();
	const int8_t minus[2] = {1, -3};
	const uint8_t twos[2] = {0, 2};

	(void)state;
	assert_int_equal(batch_check(&batch, 0, NULL), 0);
	assert_int_equal(batch_check(&batch, 10, NULL), 0);
	refused(NULL, 0, "batch is NULL");
	batch.reserved[3] = "later";
	refused(&batch, 0,
	        "something is set that this version does not know (reserved is not NULL): use libportolan of at "
	        "least the version that the program was built for, or set the whole struct to zero first");
	batch = good();
	refused(&batch, 9, "ids: row 1 has 9, which is above 8 (the number of examples declared, less one)");
	batch.classes = 2;
	refused(&batch, 0, "gold: row 1 has 2, which is above 1 (classes)");
	batch.classes = 1;
	refused(&batch, 0, "gold: row 1 has 2, which is above 1 (classes)");
	batch.classes = 0;
	refused(&batch, 0, "classes is 0, not within 1 to 2147483647");
	batch = good();
	batch.gold = (struct portolan_array){minus, PORTOLAN_I8, 1, 0};
	refused(&batch, 0, "gold: row 1 has -3, which is below 0");
	batch.gold.data = NULL;
	refused(&batch, 0, "gold labels are missing");
	batch = good();
	batch.ids = (struct portolan_array){minus, PORTOLAN_I8, 1, 0};
	refused(&batch, 0, "ids: row 1 has -3, which is below 0");
	batch.ids.type = PORTOLAN_F32;
	refused(&batch, 0, "ids: the type must be an integer type");
	batch.ids.data = NULL;
	refused(&batch, 0, "ids: give integers or strings, and not both");
	batch = good();
	batch.scores.type = PORTOLAN_I32;
	refused(&batch, 0, "scores: the type must be a floating-point type");
	batch.scores.data = NULL;
	refused(&batch, 0, "scores are missing");
	batch = good();
	batch.kind = 0;
	refused(&batch, 0, "kind is not one of enum portolan_scores");
	batch.kind = PORTOLAN_LOSSES + 1;
	refused(&batch, 0, "kind is not one of enum portolan_scores");
	batch.kind = PORTOLAN_SIGNALS;
	refused(&batch, 0, "scores: signals are 6 adjacent floats per row");
	batch.classes = 6;
	batch.scores.column_stride = 2 * sizeof(float);
	refused(&batch, 0, "scores: signals are 6 adjacent floats per row");
	batch.scores = (struct portolan_array){batch.scores.data, PORTOLAN_F64, 48, 8};
	refused(&batch, 0, "scores: signals are 6 adjacent floats per row");
	batch = good();
	batch.correct = (struct portolan_array){twos, PORTOLAN_U8, 1, 0};
	refused(&batch, 0, "correct is for gold probabilities only; here it follows from the scores");
	batch.kind = PORTOLAN_GOLD_PROBS;
	refused(&batch, 0, "classes is 3, but gold probabilities are one per row");
	batch.classes = 1;
	refused(&batch, 0, "correct: row 1 has 2, which is above 1");
	batch.correct.type = PORTOLAN_I8;
	refused(&batch, 0, "correct: the type must be PORTOLAN_U8");
	batch.correct.data = NULL;
	refused(&batch, 0, "correct is missing: gold probabilities alone do not tell");
	batch = good();
	batch.epoch = 0xfffffffe;
	refused(&batch, 0, "epoch is 4294967294; the limit is 4294967293");
	batch = (struct portolan_batch){.n = 0};
	assert_int_equal(batch_check(&batch, 0, NULL), 0); /* nothing is looked at */
}

static void
test_own_columns(void **state)
{
	static const char *const bad[] = {"", "Length", "2nd", "a name", "length_of_the_whole_text_in_words_", NULL};
	struct portolan_column columns[] = {{"length", {scores, PORTOLAN_F32, 4, 0}},
	                                    {"share", {scores, PORTOLAN_F64, 8, 0}}};
	struct portolan_batch batch = good();
	char message[200];

	(void)state;
	batch.columns = columns;
	batch.column_count = 2;
	assert_int_equal(batch_check(&batch, 0, NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		columns[1].name = bad[i];
		snprintf(message, sizeof(message), "column '%s': no name (1-32 of a-z, 0-9, _)", bad[i] ? bad[i] : "");
		refused(&batch, 0, message);
	}
	columns[1].name = "margin";
	refused(&batch, 0, "column 'margin': a signal has this name");
	columns[1].name = "share";
	columns[1].values.type = PORTOLAN_I32;
	refused(&batch, 0, "column 'share': the type must be PORTOLAN_F32 or PORTOLAN_F64");
	columns[1].values = (struct portolan_array){.type = PORTOLAN_F32};
	refused(&batch, 0, "column 'share': the type must be PORTOLAN_F32 or PORTOLAN_F64");
}

static void
test_string_ids(void **state)
{
	const char *strings[2] = {"a", ""};
	const size_t lengths[2] = {1, 300};
	struct portolan_batch batch = good();

	(void)state;
	batch.string_ids = strings;
	refused(&batch, 0, "ids: give integers or strings, and not both");
	batch.ids.data = NULL;
	refused(&batch, 0, "ids: row 1 must be 1 to 255 bytes of UTF-8 without control characters");
	strings[1] = "b\n";
	refused(&batch, 0, "ids: row 1 must be 1 to 255 bytes of UTF-8 without control characters");
	strings[1] = NULL;
	refused(&batch, 0, "ids: row 1 must be 1 to 255 bytes of UTF-8 without control characters");
	strings[1] = "Wörter";
	assert_int_equal(batch_check(&batch, 0, NULL), 0);
	assert_int_equal(batch_id_length(&batch, 1), 7);
	refused(&batch, 5, "ids: the run declares its examples, so they must be integers below 5");
	batch.string_lengths = lengths;
	refused(&batch, 0, "ids: row 1 must be 1 to 255 bytes of UTF-8 without control characters");
}

static void
test_arrays(void **state)
{
	/* Every second int16 of a buffer at an odd address, backwards. */
	char buffer[32];
	const int16_t values[] = {5, -1, 6, -1, 7, -1};
	struct portolan_array array = {buffer + 1 + 4 * 2, PORTOLAN_I16, -4, 0};
	uint64_t wide[3];
	int32_t narrow[2];
	size_t row;
	bool negative;
	uint64_t value;

	(void)state;
	memcpy(buffer + 1, values, sizeof(values));
	assert_true(arrays_within(&array, 3, 7, &row, &negative, &value));
	assert_false(arrays_within(&array, 3, 6, &row, &negative, &value));
	assert_int_equal(row, 0);
	assert_int_equal(value, 7);
	assert_false(negative);
	arrays_read_u64(&array, 0, 3, wide);
	assert_int_equal(wide[0], 7);
	assert_int_equal(wide[2], 5);
	arrays_read_i32(&array, 1, 2, narrow);
	assert_int_equal(narrow[0], 6);
	assert_int_equal(narrow[1], 5);
	array = (struct portolan_array){(int64_t[]){3, INT64_MIN}, PORTOLAN_I64, 8, 0};
	assert_false(arrays_within(&array, 2, UINT64_MAX, &row, &negative, &value));
	assert_int_equal(row, 1);
	assert_true(negative);
	array = (struct portolan_array){(uint64_t[]){3, UINT64_MAX}, PORTOLAN_U64, 8, 0};
	assert_true(arrays_within(&array, 2, UINT64_MAX, &row, &negative, &value));
	array = (struct portolan_array){(uint8_t[]){255}, PORTOLAN_U8, 1, 0};
	assert_true(arrays_within(&array, 1, 255, &row, &negative, &value));
}

static void
option_refused(const char *name, struct portolan_options options, const char *message)
{
	struct portolan_error error = {0};

	assert_int_equal(options_check(name, &options, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message, message);
}

static void
test_options(void **state)
{
	const char *labels[] = {"a", "b\tc"};
	struct portolan_options fine = {.endpoint = "tcp://127.0.0.1:5757", .config = " {\"a\": 1}\n", .group = ""};

	(void)state;
	assert_int_equal(options_check("snli/seed1", &fine, NULL), 0);
	option_refused("", fine, "the run's name must be 1 to 255 bytes of UTF-8 without control characters");
	option_refused("a\nb", fine, "the run's name must be 1 to 255 bytes of UTF-8 without control characters");
	option_refused("r", (struct portolan_options){0}, "give store (a directory) or endpoint, and not both");
	option_refused("r", (struct portolan_options){.store = "a", .endpoint = "tcp://b:1"},
	               "give store (a directory) or endpoint, and not both");
	option_refused("r", (struct portolan_options){.store = ""}, "store is empty; give a directory");
	option_refused("r", (struct portolan_options){.endpoint = "localhost:5757"},
	               "endpoint \"localhost:5757\" must be tcp://HOST:PORT or ipc://PATH");
	option_refused("r", (struct portolan_options){.store = "s", .config = "[1]"},
	               "config must be a JSON object, in UTF-8");
	option_refused("r", (struct portolan_options){.store = "s", .config = ""},
	               "config must be a JSON object, in UTF-8");
	option_refused("r", (struct portolan_options){.store = "s", .labels = labels, .label_count = 2},
	               "labels: number 1 must be at most 255 bytes of UTF-8 without control characters");
	option_refused("r", (struct portolan_options){.store = "s", .label_count = 2},
	               "labels is NULL, but label_count is 2");
	option_refused("r", (struct portolan_options){.store = "s", .resume = 1, .overwrite = 1},
	               "give resume or overwrite, and not both");
	option_refused("r", (struct portolan_options){.store = "s", .ring_bytes = 1000},
	               "ring_bytes is 1000; at least 1048576 is needed");
	option_refused("r", (struct portolan_options){.store = "s", .open_timeout_ms = -1},
	               "open_timeout_ms is negative");
	option_refused("r", (struct portolan_options){.store = "s", .mode = 7},
	               "mode must be PORTOLAN_EPOCH_END or PORTOLAN_TRAIN_FORWARD");
	option_refused("r", (struct portolan_options){.store = "s", .when_full = 7},
	               "when_full must be PORTOLAN_WAIT or PORTOLAN_DROP");
	option_refused("r", (struct portolan_options){.store = "s", .reserved = {[7] = "later"}},
	               "something is set that this version does not know (reserved is not NULL): use libportolan of at "
	               "least the version that the program was built for, or set the whole struct to zero first");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_batches), cmocka_unit_test(test_own_columns), cmocka_unit_test(test_string_ids),
	        cmocka_unit_test(test_arrays),  cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

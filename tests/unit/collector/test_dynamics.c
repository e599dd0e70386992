/* test_dynamics.c: lines and files of training dynamics. */
#include "dynamics.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct dynamics_row row;
static struct portolan_error error;

static int
parse(const char *line, uint32_t epoch)
{
	return dynamics_parse(line, strlen(line), epoch, &row, &error);
}

static void
good_lines(void **state)
{
	(void)state;
	assert_int_equal(parse("{\"guid\":4734364254410,\"logits_epoch_2\":[-0.5,1,2.25],\"gold\":2}\n", 2), 0);
	assert_false(row.is_text);
	assert_true(row.integer == UINT64_C(4734364254410));
	assert_int_equal(row.gold, 2);
	assert_int_equal(row.classes, 3);
	assert_true(row.logits[0] == -0.5 && row.logits[1] == 1 && row.logits[2] == 2.25);
	/* one logit: class 1 against class 0 */
	assert_int_equal(parse("{\"gold\": 0, \"guid\": \"7\", \"logits_epoch_0\": [-Infinity]}", 0), 0);
	assert_int_equal(parse("{\"gold\": 1, \"guid\": \"7\", \"logits_epoch_0\": [3], \"more\": {}}", 0), 0);
	assert_true(row.is_text);
	assert_string_equal(row.text, "7");
	assert_int_equal(row.classes, 1);
}

static void
numbers_that_json_has_not(void **state)
{
	(void)state;
	assert_int_equal(parse("{\"guid\":18446744073709551615,\"logits_epoch_0\":[1,2],\"gold\":1}", 0), 0);
	assert_false(row.is_text);
	assert_true(row.integer == UINT64_MAX);
	assert_int_equal(parse("{\"guid\":9223372036854775808,\"logits_epoch_0\":[1,-Infinity, 2],\"gold\":2}", 0), 0);
	assert_true(row.integer == UINT64_C(1) << 63);
	assert_true(row.logits[0] == 1 && row.logits[1] == -INFINITY && row.logits[2] == 2);
	assert_int_equal(parse("{\"guid\":1000000000000000000,\"logits_epoch_0\":[-Infinity,1],\"gold\":1}", 0), 0);
	assert_true(row.integer == UINT64_C(1000000000000000000));
	/* nothing in strings is touched, nor in keys */
	assert_int_equal(parse("{\"guid\":\"a -Infinity \\\"NaN, 18446744073709551615\",\"NaN\":NaN,"
	                       "\"logits_epoch_0\":[18446744073709551615,-36893488147419103232],\"gold\":0}",
	                       0),
	                 0);
	assert_string_equal(row.text, "a -Infinity \"NaN, 18446744073709551615");
	assert_true(row.logits[0] == 0x1p64 && row.logits[1] == -0x1p65);
}

/* The members as jansson reads them. */
static void
is_read_as_by_jansson(const char *line)
{
	json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL), *guid = json_object_get(object, "guid");
	const json_t *logits = json_object_get(object, "logits_epoch_10");

	assert_non_null(object);
	if (parse(line, 10) != 0)
		fail_msg("%s: %s", line, error.message);
	assert_int_equal(row.is_text, json_is_string(guid));
	assert_true(row.is_text ? strcmp(row.text, json_string_value(guid)) == 0
	                        : row.integer == (uint64_t)json_integer_value(guid));
	assert_int_equal(row.gold, json_integer_value(json_object_get(object, "gold")));
	assert_int_equal(row.classes, json_array_size(logits));
	for (size_t c = 0; c < row.classes; c++) {
		double value = json_number_value(json_array_get(logits, c));

		assert_memory_equal(&row.logits[c], &value, sizeof(value));
	}
	json_decref(object);
}

static void
lines_as_jansson_reads_them(void **state)
{
	static const char *const lines[] = {
	        "{\"guid\":0,\"logits_epoch_10\":[0.1,-0.3,2.675],\"gold\":2}\n",
	        " {\t\"gold\" : 1 , \"guid\" : \"a b\" , \"logits_epoch_10\" : [ 1 , -0.0 , 0 ] } \r\n",
	        "{\"guid\":999999999999999999,\"logits_epoch_10\":[9007199254740993,999999999999999999],\"gold\":0}",
	        ("{\"guid\":7,\"logits_epoch_10\":[0.5488135039366247,9007199254740993.0,0.1234567890123456789],"
	         "\"gold\":0}"),
	        "{\"guid\":7,\"logits_epoch_10\":[1e5,1.5E-7,-2.5e+3,1e-400,0.00000000000000000000001],\"gold\":0}",
	        "{\"guid\":7,\"logits_epoch_10\":[0.0000000000000000000012345,123456789012345678.0],\"gold\":0}",
	        "{\"guid\":7,\"logits_epoch_10\":[0.5],\"gold\":1}",
	        "{\"guid\":1000000000000000000,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\\u0041\\/\\\"\\\\\\u00e9\\u20AC\\ud83d\\ude00\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\xc3\xa9\xf0\x9f\x98\x80\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_1\":[2],\"logits_epoch_010\":0,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        ("{\"x\":{\"y\":[[],{},\"\\n\",true,false,null,-1.5e3]},\"guid\":7,\"logits_epoch_10\":[0.5,1],\"gold\":1,"
	         "\"a longer name than any of those that are looked for\":[1]}"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		is_read_as_by_jansson(lines[i]);
}

static void
lines_that_are_no_json(void **state)
{
	static const char *const lines[] = {
	        "{\"guid\":07,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_10\":[.5,1],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_10\":[5.,1],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_10\":[0x1,1],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_10\":[1e,1],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_10\":[1e999,1],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_10\":[0.5,1,],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_10\":[0.5 1],\"gold\":1}",
	        "{\"guid\":7,\"logits_epoch_10\":[0.5,1],\"gold\":1,}",
	        "{\"guid\":7,\"logits_epoch_10\":[0.5,1],\"gold\":1} {}",
	        "{\"guid\":7,\"logits_epoch_10\":[0.5,1],\"gold\":1",
	        "{\"guid\" 7,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{guid:7,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\\x\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\\u0000\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\\u00g0\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\\ud800\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\\udc00\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\xc0\xaf\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\xed\xa0\x80\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\xc3\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"guid\":\"\n\",\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"x\":[1,],\"guid\":7,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"x\":{\"y\"},\"guid\":7,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"x\":tru,\"guid\":7,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	        "{\"x\":1e999,\"guid\":7,\"logits_epoch_10\":[0.5,1],\"gold\":1}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_null(json_loads(lines[i], JSON_REJECT_DUPLICATES, NULL));
		if (parse(lines[i], 10) != PORTOLAN_E_INVALID)
			fail_msg("accepted: %s", lines[i]);
		if (!strstr(error.message, "not JSON"))
			fail_msg("%s: '%s' does not say 'not JSON'", lines[i], error.message);
	}
}

static void
bad_lines(void **state)
{
	static const struct {
		const char *line, *part;
	} cases[] = {
	        {"{\"guid\":1", "not JSON"},
	        {"[1]", "not a JSON object"},
	        {"{\"guid\":1,\"logits_epoch_0\":[NaN,1],\"gold\":0}", "\"logits_epoch_0\" holds NaN"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,Infinity],\"gold\":0}", "\"logits_epoch_0\" holds Infinity"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,+Infinity],\"gold\":0}", "not JSON"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,nan],\"gold\":0}", "not JSON"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,\"-Infinity\"],\"gold\":0}", "not a number"},
	        {"{\"guid\":1,\"logits_epoch_0\":[-Infinity,\"1\"],\"gold\":0}", "not a number"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,\"\\u0001-Infinity\"],\"gold\":0}", "not a number"},
	        {"{\"guid\":\"\\u00011\",\"logits_epoch_0\":[0,1],\"gold\":0}", "control characters"},
	        {"{\"guid\":18446744073709551616,\"logits_epoch_0\":[0,1],\"gold\":0}",
	         "greater than 18446744073709551615"},
	        {"{\"guid\":-9223372036854775809,\"logits_epoch_0\":[0,1],\"gold\":0}", "negative"},
	        {"{\"guid\":-Infinity,\"logits_epoch_0\":[0,1],\"gold\":0}", "neither"},
	        {"{\"guid\":NaN,\"logits_epoch_0\":[0,1],\"gold\":0}", "neither"},
	        {"{\"guid\":018446744073709551615,\"logits_epoch_0\":[0,1],\"gold\":0}", "not JSON"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,1],\"gold\":18446744073709551615}", "not an integer"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,-Infinity],\"gold\":\"", "not JSON"},
	        {"{\"guid\":1,\"guid\":2,\"logits_epoch_0\":[0,1],\"gold\":0}", "not JSON"},
	        {"{\"logits_epoch_0\":[0,1],\"gold\":0}", "no \"guid\""},
	        {"{\"guid\":-1,\"logits_epoch_0\":[0,1],\"gold\":0}", "negative"},
	        {"{\"guid\":1.5,\"logits_epoch_0\":[0,1],\"gold\":0}", "neither"},
	        {"{\"guid\":\"\",\"logits_epoch_0\":[0,1],\"gold\":0}", "\"guid\""},
	        {"{\"guid\":\"a\\tb\",\"logits_epoch_0\":[0,1],\"gold\":0}", "\"guid\""},
	        {"{\"guid\":1,\"logits_epoch_1\":[0,1],\"gold\":0}", "\"logits_epoch_0\" is missing"},
	        {"{\"guid\":1,\"logits_epoch_0\":3,\"gold\":0}", "not an array"},
	        {"{\"guid\":1,\"logits_epoch_0\":[],\"gold\":0}", "0 numbers"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,\"1\"],\"gold\":0}", "not a number"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,1]}", "\"gold\" is missing"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,1],\"gold\":2}", "\"gold\" is 2, not within 0 to 1"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0],\"gold\":2}", "\"gold\" is 2, not within 0 to 1"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,1],\"gold\":-1}", "\"gold\" is -1"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,1],\"gold\":\"0\"}", "not an integer"},
	        {"{\"guid\":1,\"logits_epoch_0\":[0,-Infinity],\"gold\":1}", "-Infinity at the gold label"},
	        {"{\"guid\":1,\"logits_epoch_0\":[-Infinity],\"gold\":1}", "-Infinity at the gold label"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (parse(cases[i].line, 0) != PORTOLAN_E_INVALID)
			fail_msg("accepted: %s", cases[i].line);
		if (!strstr(error.message, cases[i].part))
			fail_msg("%s: '%s' does not say '%s'", cases[i].line, error.message, cases[i].part);
	}
}

struct directory {
	char path[64];
};

static void
touch(const struct directory *directory, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory->path, name);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x\n", 2), 2);
	close(fd);
}

static void
drop(const struct directory *directory, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory->path, name);
	assert_int_equal(unlink(path), 0);
}

static void
files_of_a_model(void **state)
{
	struct directory model = {"/tmp/portolan-test-XXXXXX"}, below = {""};
	struct dynamics_file *files;
	size_t count;

	(void)state;
	assert_non_null(mkdtemp(model.path));
	snprintf(below.path, sizeof(below.path), "%.40s/training_dynamics", model.path);
	assert_int_equal(mkdir(below.path, 0700), 0);
	assert_int_equal(dynamics_files(model.path, &files, &count, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, model.path));
	touch(&below, "dynamics_epoch_1.jsonl");
	touch(&below, "dynamics_epoch_0.jsonl");
	assert_int_equal(dynamics_files(model.path, &files, &count, &error), 0);
	assert_int_equal(count, 2);
	assert_non_null(strstr(files[0].path, "/training_dynamics/dynamics_epoch_0.jsonl"));
	dynamics_files_free(files, count);
	touch(&model, "dynamics_epoch_7.jsonl"); /* what lies in the directory itself comes first */
	assert_int_equal(dynamics_files(model.path, &files, &count, &error), 0);
	assert_int_equal(count, 1);
	assert_int_equal(files[0].epoch, 7);
	dynamics_files_free(files, count);
	drop(&model, "dynamics_epoch_7.jsonl");
	drop(&below, "dynamics_epoch_1.jsonl");
	drop(&below, "dynamics_epoch_0.jsonl");
	rmdir(below.path);
	rmdir(model.path);
}

static void
files_in_numeric_order(void **state)
{
	static const char *const names[] = {"dynamics_epoch_10.jsonl", "dynamics_epoch_2.jsonl",
	                                    "dynamics_epoch_0.jsonl"};
	static const char *const others[] = {"dynamics_epoch_x.jsonl", "dynamics_epoch_3.json", "notes.txt",
	                                     "dynamics_epoch_-1.jsonl", "dynamics_epoch_99999999999.jsonl"};
	struct directory directory = {"/tmp/portolan-test-XXXXXX"};
	struct dynamics_file *files;
	char path[256];
	size_t count;

	(void)state;
	assert_non_null(mkdtemp(directory.path));
	assert_int_equal(dynamics_files(directory.path, &files, &count, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, directory.path));
	for (size_t i = 0; i < 3; i++)
		touch(&directory, names[i]);
	for (size_t i = 0; i < 5; i++)
		touch(&directory, others[i]);
	assert_int_equal(dynamics_files(directory.path, &files, &count, &error), 0);
	assert_int_equal(count, 3);
	assert_int_equal(files[0].epoch, 0);
	assert_int_equal(files[1].epoch, 2);
	assert_int_equal(files[2].epoch, 10);
	assert_int_equal(files[2].bytes, 2);
	dynamics_files_free(files, count);
	snprintf(path, sizeof(path), "%s/%s", directory.path, names[1]);
	assert_int_equal(dynamics_files(path, &files, &count, &error), 0);
	assert_int_equal(count, 1);
	assert_int_equal(files[0].epoch, 2);
	dynamics_files_free(files, count);
	snprintf(path, sizeof(path), "%s/notes.txt", directory.path);
	assert_int_equal(dynamics_files(path, &files, &count, &error), PORTOLAN_E_INVALID);
	touch(&directory, "dynamics_epoch_02.jsonl");
	assert_int_equal(dynamics_files(directory.path, &files, &count, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "same epoch"));
	drop(&directory, "dynamics_epoch_02.jsonl");
	for (size_t i = 0; i < 3; i++)
		drop(&directory, names[i]);
	for (size_t i = 0; i < 5; i++)
		drop(&directory, others[i]);
	rmdir(directory.path);
	assert_int_equal(dynamics_files(directory.path, &files, &count, &error), PORTOLAN_E_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(good_lines),
	        cmocka_unit_test(numbers_that_json_has_not),
	        cmocka_unit_test(lines_as_jansson_reads_them),
	        cmocka_unit_test(lines_that_are_no_json),
	        cmocka_unit_test(bad_lines),
	        cmocka_unit_test(files_in_numeric_order),
	        cmocka_unit_test(files_of_a_model),
	};

	return cmocka_run_group_tests_name("dynamics", tests, NULL, NULL);
}

/* test_attributes.c: columns of users' files: their kinds, what is missing, and what is refused. */
#include "unit.h"

#include "base/arrays.h"
#include "files/attributes.h"

#include <math.h>
#include <unistd.h>

/* A file in memory. */
static struct user_file
file_of(enum table_format format, const char *text)
{
	struct user_file file = {.path = "file", .format = format, .text = text, .size = strlen(text)};

	if (format != TABLE_JSONL) {
		file.header = records_next(format, text, file.size);
		file.begin = file.header.next;
	}
	return file;
}

static const char *const names[] = {"score", "kind"};
static const char *const options[] = {"--x", "--y"};

/* Beside the examples 5, 7, 9 and 11, of which all but 11 are chosen, in the order 9, 5, 7. */
static int
read_beside(enum table_format format, const char *text, struct attributes *attributes, struct portolan_error *error)
{
	static uint64_t integers[] = {5, 7, 9, 11};
	static const uint32_t chosen[] = {2, 0, 1};
	const struct ids ids = {.kind = STORE_ID_INT, .rows = 4, .integers = integers};
	struct user_file file = file_of(format, text);
	struct attributes_request request = {&file, "id", names, options, 2};

	return attributes_read(attributes, &request, &ids, chosen, 3, error);
}

static void
test_kinds(void **state)
{
	struct attributes attributes;
	const struct attribute *score, *kind;
	size_t length;

	(void)state;
	assert_int_equal(read_beside(TABLE_CSV, "id,kind,score\n7,a,1.5\n11,b,x\n5,7,-2e1\n8,z,3\n9,\"a\",\n,q,1\n",
	                             &attributes, NULL),
	                 0);
	assert_int_equal(attributes.count, 2);
	assert_int_equal(attributes.records, 6);
	assert_int_equal(attributes.unknown, 3); /* 11 is not chosen, 8 no example, one has no id */
	assert_int_equal(attributes.unmatched, 0);
	score = &attributes.list[0];
	kind = &attributes.list[1];
	assert_int_equal(score->kind, ATTRIBUTE_NUMBER); /* the x is that of no example chosen */
	assert_true(isnan(score->numbers[0]) && score->numbers[1] == -20 && score->numbers[2] == 1.5);
	assert_int_equal(score->missing, 1);
	assert_int_equal(kind->kind, ATTRIBUTE_CATEGORY);
	assert_null(kind->numbers);
	assert_int_equal(kind->names.count, 2);
	assert_string_equal(names_text(&kind->names, 0, &length), "a");
	assert_string_equal(names_text(&kind->names, 1, &length), "7");
	assert_int_equal(kind->categories[0], 0);
	assert_int_equal(kind->categories[1], 1);
	assert_int_equal(kind->categories[2], 0);
	assert_int_equal(kind->text_line, 2);
	assert_string_equal(kind->text, "a");
	assert_memory_equal(attributes.places[0], "9,\"a\",", 6);
	attributes_free(&attributes);
	attributes_free(&attributes);
}

/* Blanks around a number or a name of the header do not count; those of a text do. */
static void
test_blanks(void **state)
{
	struct attributes attributes;
	size_t length;

	(void)state;
	assert_int_equal(read_beside(TABLE_CSV, "id, kind , score\n7, a, 1.5\n5, a,\t-2 \n 9,b, \n", &attributes, NULL),
	                 0);
	assert_int_equal(attributes.list[0].kind, ATTRIBUTE_NUMBER);
	assert_true(attributes.list[0].numbers[2] == 1.5 && attributes.list[0].numbers[1] == -2);
	assert_true(isnan(attributes.list[0].numbers[0]));
	assert_int_equal(attributes.list[0].missing, 1);
	assert_string_equal(names_text(&attributes.list[1].names, 0, &length), " a");
	assert_int_equal(attributes.list[1].names.count, 2);
	attributes_free(&attributes);
}

/* Records without id, and ragged ones, are counted, and their lines known. */
static void
test_oddities(void **state)
{
	struct attributes attributes;

	(void)state;
	assert_int_equal(read_beside(TABLE_CSV, "id,kind,score\n5,a,1\n7,a\n\n9,a,1,2\n", &attributes, NULL), 0);
	assert_int_equal(attributes.oddities.ragged, 2);
	assert_int_equal(attributes.oddities.first_ragged, 3);
	assert_int_equal(attributes.oddities.without_id, 1);
	assert_int_equal(attributes.oddities.first_without_id, 4);
	attributes_free(&attributes);
	assert_int_equal(read_beside(TABLE_JSONL,
	                             "{\"id\": 5, \"score\": 1, \"kind\": 1}\n{\"Id\": 7}\n{\"id\": true}\n",
	                             &attributes, NULL),
	                 0);
	assert_int_equal(attributes.oddities.without_id, 2);
	assert_int_equal(attributes.oddities.first_without_id, 2);
	attributes_free(&attributes);
}

static void
test_json(void **state)
{
	struct attributes attributes;

	(void)state;
	assert_int_equal(read_beside(TABLE_JSONL,
	                             "{\"id\": 5, \"score\": true, \"kind\": 3}\n\n"
	                             "{\"id\": \"7\", \"score\": null, \"kind\": \"4.5\"}\n"
	                             "{\"id\": 9.0, \"score\": false}\n",
	                             &attributes, NULL),
	                 0);
	assert_true(attributes.list[0].numbers[1] == 1 && isnan(attributes.list[0].numbers[2]) &&
	            attributes.list[0].numbers[0] == 0);
	assert_true(attributes.list[1].numbers[1] == 3 && attributes.list[1].numbers[2] == 4.5);
	assert_int_equal(attributes.list[1].missing, 1);
	assert_memory_equal(attributes.places[2], "{\"id\": \"7\"", 10);
	attributes_free(&attributes);
}

static void
assert_refused(enum table_format format, const char *text, const char *expected)
{
	struct attributes attributes;
	struct portolan_error error;

	assert_true(read_beside(format, text, &attributes, &error) < 0);
	assert_string_equal(error.message, expected);
	assert_int_equal(attributes.count, 0);
}

static void
test_refused(void **state)
{
	(void)state;
	assert_refused(TABLE_TSV, "id\tscore\tkind\n5\t1\t2\n7\t1\t2\n5\t1\t2\n",
	               "file: line 4: field id: '5' stands in line 2 already");
	assert_refused(TABLE_CSV, "id,kind,score\n5,\"a\nb\",1\n\"7,1,2\n",
	               "file: line 4 has a quote that is never closed, and swallows the rest of the file");
	assert_refused(TABLE_CSV, "id,kind,scores\n5,1,2\n", "file has no column 'score'; did you mean --x scores?");
	assert_refused(TABLE_JSONL, "{\"id\": 5, \"score\": 1, \"kind\": {}}\n",
	               "file: line 1: field kind: neither a number nor text");
	assert_refused(TABLE_JSONL, "{\"id\": 5, \"score\": NaN, \"kind\": 1}\n",
	               "file: line 1: field score: neither a number nor text");
	assert_refused(
	        TABLE_JSONL, "{\"id\": 5, \"score\": 1, \"kind\": 1}\n{\"id\": 7, \"sco",
	        "file: line 2 is not well-formed JSON (one object a line): the end of a string expected at byte 15");
	assert_refused(TABLE_JSONL, "{\"id\": 5, \"score\": 1}\n",
	               "file: no line has a value in field 'kind' (see --y)");
}

static void
test_odd_ids(void **state)
{
	struct attributes attributes;

	(void)state;
	assert_int_equal(read_beside(TABLE_CSV, "id,kind,score\ne5,1,2\n", &attributes, NULL), 0);
	assert_int_equal(attributes.unmatched, 3);
	assert_string_equal(attributes.oddities.odd, "e5");
	attributes_free(&attributes);
}

static int
read_table(enum table_format format, const char *text, struct attributes *attributes, struct ids *ids,
           struct portolan_error *error)
{
	struct user_file file = file_of(format, text);
	struct attributes_request request = {&file, "id", names, options, 2};

	return attributes_read_all(attributes, &request, ids, error);
}

/* Ids are strings when one is, wherever it stands; a column of text is found on the way. */
static void
test_table(void **state)
{
	struct attributes attributes;
	struct portolan_error error;
	struct ids ids;
	size_t length;

	(void)state;
	assert_int_equal(read_table(TABLE_CSV, "id,kind,score\n7,1,2\n5,2,3\n", &attributes, &ids, NULL), 0);
	assert_int_equal(ids.kind, STORE_ID_INT);
	assert_int_equal(ids.rows, 2);
	assert_int_equal(ids.integers[1], 5);
	attributes_free(&attributes);
	ids_free(&ids);
	assert_int_equal(read_table(TABLE_CSV, "id,kind,score\n7,1,2\n5,b,3\nx,c,\n", &attributes, &ids, NULL), 0);
	assert_int_equal(ids.kind, STORE_ID_STR);
	assert_int_equal(ids.rows, 3);
	assert_memory_equal(ids_text(&ids, 2, &length), "x", 1);
	assert_int_equal(attributes.list[1].kind, ATTRIBUTE_CATEGORY);
	assert_int_equal(attributes.list[1].names.count, 3);
	assert_string_equal(names_text(&attributes.list[1].names, 2, &length), "c");
	assert_true(attributes.list[0].numbers[1] == 3 && isnan(attributes.list[0].numbers[2]));
	attributes_free(&attributes);
	ids_free(&ids);
	assert_true(read_table(TABLE_CSV, "id,kind,score\n7,1,2\n5,1,2\n7,1,2\n", &attributes, &ids, &error) < 0);
	assert_string_equal(error.message, "file: line 4: field id: this id stands in line 2 already");
	assert_true(read_table(TABLE_CSV, "id,kind,score\n,1,2\n", &attributes, &ids, &error) < 0);
	assert_string_equal(error.message, "file: line 2: field id: no id");
	assert_true(read_table(TABLE_CSV, "id,kind,score\n", &attributes, &ids, &error) < 0);
	assert_string_equal(error.message, "file has no examples");
}

/* More categories than the first table of them has room for. */
static void
test_many_categories(void **state)
{
	char text[8192] = "id,kind,score\n";
	struct attributes attributes;
	struct ids ids;

	(void)state;
	for (int i = 0; i < 400; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d,k%d,1\n", i, i % 200);
	assert_int_equal(read_table(TABLE_CSV, text, &attributes, &ids, NULL), 0);
	assert_int_equal(attributes.list[1].names.count, 200);
	for (int i = 0; i < 400; i++)
		assert_int_equal(attributes.list[1].categories[i], i % 200);
	attributes_free(&attributes);
	ids_free(&ids);
}

#define MANY 100000

/* What grows with the examples counts against --max-memory, and goes to a file beyond it. */
static void
test_beyond_memory(void **state)
{
	static uint64_t integers[MANY];
	static uint32_t chosen[MANY];
	const struct ids ids = {.kind = STORE_ID_INT, .rows = MANY, .integers = integers};
	const size_t room = MANY * 24 + 32;
	char *text = malloc(room), path[] = "/tmp/portolan-test-XXXXXX.tsv";
	size_t used = (size_t)snprintf(text, room, "id\tscore\tkind\n");
	struct user_file file;
	struct attributes_request request = {&file, "id", names, options, 2};
	struct attributes attributes;
	struct join join;
	int fd = mkstemps(path, 4);

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		integers[i] = chosen[i] = i;
		used += (size_t)snprintf(text + used, room - used, "%u\t%u.5\t%c\n", i, i % 100, 'a' + i % 26);
	}
	assert_true(fd >= 0 && write(fd, text, used) == (ssize_t)used && close(fd) == 0);
	arrays_set_limit(0);
	file = file_of(TABLE_TSV, text);
	assert_int_equal(attributes_read(&attributes, &request, &ids, chosen, MANY, NULL), 0);
	assert_int_equal(join_open(&join, path, "id", false, &ids, chosen, MANY, NULL), 0);
	arrays_set_limit(UINT64_MAX);
	unlink(path);
	assert_true(attributes.list[0].numbers[MANY - 1] == (MANY - 1) % 100 + 0.5);
	assert_int_equal(attributes.list[1].categories[27], 1);
	assert_true(is_in_file(attributes.list[0].numbers));
	assert_true(is_in_file(attributes.list[1].categories));
	assert_true(is_in_file(attributes.places));
	assert_int_equal(join.count, MANY);
	assert_int_equal(join.matches[MANY - 1].number, MANY - 1);
	assert_true(is_in_file(join.matches));
	attributes_free(&attributes);
	join_free(&join);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_kinds),         cmocka_unit_test(test_blanks),
	        cmocka_unit_test(test_oddities),      cmocka_unit_test(test_json),
	        cmocka_unit_test(test_refused),       cmocka_unit_test(test_odd_ids),
	        cmocka_unit_test(test_table),         cmocka_unit_test(test_many_categories),
	        cmocka_unit_test(test_beyond_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

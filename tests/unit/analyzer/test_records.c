/* test_records.c: splitting users' files, taking fields out, joining them with ids. */
#include "unit.h"

#include "base/ids.h"
#include "files/join.h"
#include "files/records.h"

#include <unistd.h>

static struct record
whole(enum table_format format, const char *text)
{
	return records_next(format, text, strlen(text));
}

/* The length of the field of this number, copied to `text`; -1: the record has none, -2: a quote is not closed. */
static long
take_field(enum table_format format, const struct record *record, size_t number, char *text)
{
	const char *at = record->at;
	char room[200];
	struct field field;

	for (size_t i = 0; at; i++) {
		if (!records_take_field(format, &at, record->at + record->length, room, &field))
			return -2;
		if (i < number)
			continue;
		memcpy(text, field.at, field.length);
		return (long)field.length;
	}
	return -1;
}

static void
assert_field(enum table_format format, const char *line, size_t number, const char *expected)
{
	struct record record = whole(format, line);
	char text[200];
	long length = take_field(format, &record, number, text);

	assert_int_equal(length, strlen(expected));
	assert_memory_equal(text, expected, (size_t)length);
}

static void
test_split(void **state)
{
	struct record record;

	(void)state;
	record = whole(TABLE_TSV, "a\tb\r\nc");
	assert_int_equal(record.length, 3);
	assert_int_equal(record.next, 5);
	record = whole(TABLE_CSV, "\"a\nb\",c\nd");
	assert_int_equal(record.length, 7);
	assert_int_equal(record.next, 8);
	record = whole(TABLE_JSONL, "{}");
	assert_int_equal(record.length, 2);
	assert_int_equal(record.next, 2);
}

static void
test_csv_and_tsv(void **state)
{
	struct record record = whole(TABLE_CSV, "a,\"b");
	char text[20];

	(void)state;
	assert_field(TABLE_CSV, "a,b,c\n", 1, "b");
	assert_field(TABLE_CSV, "\"a,\"\"x\"\"\",b\n", 0, "a,\"x\"");
	assert_field(TABLE_CSV, "a,,c", 1, "");
	assert_field(TABLE_CSV, "a,", 1, "");
	assert_field(TABLE_TSV, "a\t\"b\tc", 1, "\"b");
	assert_int_equal(take_field(TABLE_CSV, &record, 1, text), -2);
	record = whole(TABLE_CSV, "a,b");
	assert_int_equal(take_field(TABLE_CSV, &record, 2, text), -1);
	record = whole(TABLE_TSV, "a\tb");
	assert_int_equal(take_field(TABLE_TSV, &record, 2, text), -1);
}

/* The length of the text or number of this name, copied to `text`; -1: the line has none, -2: it is not well-formed. */
static long
json_field(const char *line, size_t size, const char *name, char *text)
{
	static const char *const option = "--name";
	struct user_file file = {.path = "file", .format = TABLE_JSONL, .text = line, .size = size};
	struct fields_reader reader = {0};
	struct fields fields;
	long length = -1;

	assert_int_equal(fields_init(&fields, &file, &name, &option, 1, NULL), 0);
	fields_begin(&reader, &fields, user_file_whole(&file));
	if (fields_next(&reader, NULL) < 0) {
		length = -2;
	} else if (reader.found[0].kind == FIELD_TEXT || reader.found[0].kind == FIELD_NUMBER) {
		length = (long)reader.found[0].length;
		memcpy(text, reader.found[0].at, reader.found[0].length);
	}
	fields_end(&reader);
	return length;
}

static void
assert_json(const char *line, const char *name, const char *expected)
{
	char text[200];
	long length = json_field(line, strlen(line), name, text);

	assert_int_equal(length, strlen(expected));
	assert_memory_equal(text, expected, (size_t)length);
}

static long
json_length(const char *line)
{
	char text[200];

	return json_field(line, strlen(line), "id", text);
}

static void
test_json(void **state)
{
	(void)state;
	assert_json("{\"id\": 18446744073709551615}", "id", "18446744073709551615");
	assert_json("{\"a\":{\"id\":1,\"b\":[1,{\"id\":2}]},\"id\" : \"x\\u0041\\n\"}", "id", "xA\n");
	assert_json("{\"t\":\"} \\\" \\\\\",\"id\":-7,\"z\":null}", "id", "-7");
	assert_json("{\"\\u0069d\": 5}", "id", "5");
	assert_int_equal(json_length("{\"ID\":1}"), -1);
	assert_int_equal(json_length("{}"), -1);
	assert_int_equal(json_length("{\"id\":null}"), -1);
	assert_int_equal(json_length("{\"id\":{\"id\":1}}"), -1);
	assert_int_equal(json_length("[1]"), -2);
	assert_int_equal(json_length("{\"a\":1"), -2);
	assert_int_equal(json_length("{\"a\" 1}"), -2);
	assert_int_equal(json_length("{\"a\":\"x}"), -2);
	assert_int_equal(json_length("plain text"), -2);
}

/* A line that was cut short is never taken for a whole one, wherever the cut. */
static void
test_cut_json(void **state)
{
	static const char line[] =
	        "{\"id\": \"7\", \"m\": {\"a\": [1, {\"b\": \"}\"}]}, \"t\": \"hello \\\" you\", \"n\": 1.5} ";
	size_t size = sizeof(line) - 1;
	char text[200];

	(void)state;
	for (size_t cut = 1; cut < size - 2; cut++)
		assert_int_equal(json_field(line, cut, "id", text), -2);
	assert_int_equal(json_length(line), 1);
	assert_int_equal(json_length("{\"id\": 1} x"), -2);
	assert_int_equal(json_length("{\"id\": 1}}"), -2);
	assert_int_equal(json_length("{\"id\": 1,}"), -2);
	assert_int_equal(json_length("{\"id\":1 2 x,,}"), -2);
	assert_json("{\"id\": 1, \"id\": 2, \"x\": 3}\r", "id", "1");
}

/* A quote within a plain field is a character; the two that look at quotes agree. */
static void
test_quotes_in_csv(void **state)
{
	static const char text[] = "1,the 5\" disk\n2,\"a\nb \"\"c\"\"\"\n3,x\"y\"z\n4,\"q\"r\"\n5,\"open\n6,b\n";
	static const char *const first[] = {"1", "2", "3", "4", "5"};
	static const char *const second[] = {"the 5\" disk", "a\nb \"c\"", "x\"y\"z", "qr\""};
	size_t at = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct record record = records_next(TABLE_CSV, text + at, sizeof(text) - 1 - at);
		char field[100];

		assert_int_equal(take_field(TABLE_CSV, &record, 0, field), 1);
		assert_memory_equal(field, first[i], 1);
		assert_int_equal(record.unclosed, i == 4);
		if (i < 4) {
			assert_int_equal(take_field(TABLE_CSV, &record, 1, field), strlen(second[i]));
			assert_memory_equal(field, second[i], strlen(second[i]));
		}
		at += record.next;
	}
	assert_int_equal(at, sizeof(text) - 1);
}

static size_t
fields_of(enum table_format format, const char *line)
{
	struct record record = whole(format, line);

	return records_count_fields(format, &record);
}

static void
test_count_fields(void **state)
{
	(void)state;
	assert_int_equal(fields_of(TABLE_TSV, "a"), 1);
	assert_int_equal(fields_of(TABLE_TSV, "a\t\"b\tc\"\t"), 4);
	assert_int_equal(fields_of(TABLE_CSV, "a,,\"b,c\"\r\n"), 3);
	assert_int_equal(fields_of(TABLE_CSV, "\"a\"\",\"\"b\",5\", c"), 3);
	assert_int_equal(fields_of(TABLE_CSV, "\"a\"b\",c"), 2);
	assert_int_equal(fields_of(TABLE_CSV, "\"\",\"\""), 2);
}

/* Every bracket is closed by one of its kind, however deep; 2,048 within each other at most, the record's own too. */
static void
test_json_brackets(void **state)
{
	static const char *const wrong[] = {"[1}", "{\"a\": 1]", "[[1]}", "[{\"a\": [1}}", "[1]]", "[1}}", "[", "]"};
	char line[8300];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(line, sizeof(line), "{\"id\": 1, \"a\": %s}", wrong[i]);
		assert_int_equal(json_length(line), -2);
	}
	assert_int_equal(json_length("{\"a\": [{\"b\": [[], {}, [{}]]}], \"id\": 1}"), 1);
	for (size_t depth = 2046; depth < 2049; depth++) {
		size_t used = (size_t)snprintf(line, sizeof(line), "{\"id\": 1, \"a\": ");

		memset(line + used, '[', depth);
		memset(line + used + depth, ']', depth);
		memcpy(line + used + 2 * depth, "}", 2);
		assert_int_equal(json_length(line), depth <= 2047 ? 1 : -2);
	}
}

/* Also in members that nobody asks for; but what stands in strings need be neither UTF-8 nor whole characters. */
static void
test_json_values(void **state)
{
	static const char *const wrong[] = {"nan",   "None",  "tru", "01",    ".5",      "5.",   "+1",      "1e",
	                                    "0x1",   "-",     "",    "[1 2]", "[1,]",    "[,1]", "{\"a\"}", "{\"a\":}",
	                                    "{a:1}", "{1:1}", "'a'", "1 1",   "\"a\" 1", "{,}",  "-NaN",    "[1:2]"};
	static const char *const good[] = {"NaN",
	                                   "-Infinity",
	                                   "[Infinity, 1e999]",
	                                   "-0.5e+07",
	                                   "123456789012345678901234567890",
	                                   "true",
	                                   "null",
	                                   "{ }",
	                                   "[ ]",
	                                   "\"\xff\t\"",
	                                   "\"\\ud800\"",
	                                   "\"\\u0000\"",
	                                   "\"\\q\"",
	                                   "[{\"a\": [false, {\"b\": null}], \"c\": \"]\"}]"};
	char line[200];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(line, sizeof(line), "{\"id\": 1, \"a\": %s}", wrong[i]);
		if (json_length(line) != -2)
			fail_msg("accepted: %s", line);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(line, sizeof(line), "{\"id\": 1, \"a\": %s}", good[i]);
		if (json_length(line) != 1)
			fail_msg("refused: %s", line);
	}
	/* asked for, a string must have a meaning */
	assert_int_equal(json_length("{\"id\": \"\\ud800\"}"), -2);
	assert_int_equal(json_length("{\"id\": \"\\q\"}"), -2);
	assert_int_equal(json_length("{\"id\": \"\xff\\n\\u00e9\"}"), 4);
	assert_json("{\"id\": \"\\uD83D\\ude00\\\\u0041\"}", "id", "\xf0\x9f\x98\x80\\u0041");
}

static void
test_format(void **state)
{
	(void)state;
	assert_int_equal(records_format_of("x.JSONL", "", 0), TABLE_JSONL);
	assert_int_equal(records_format_of("x.csv", "{", 1), TABLE_CSV);
	assert_int_equal(records_format_of("x.tsv", "", 0), TABLE_TSV);
	assert_int_equal(records_format_of("x", " {\"a\":1}", 8), TABLE_JSONL);
	assert_int_equal(records_format_of("-", "a\tb\n", 4), TABLE_TSV);
	assert_int_equal(records_format_of("-", "a,b\nc\t", 6), TABLE_CSV);
}

static void
write_file(char *path, const char *text)
{
	int fd = mkstemps(path, 4);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void
test_join(void **state)
{
	char path[] = "/tmp/portolan-test-XXXXXX.csv";
	uint64_t integers[4] = {10, 20, 30, 40};
	struct ids ids = {.kind = STORE_ID_INT, .rows = 4, .integers = integers};
	static const uint32_t chosen[3] = {2, 0, 3}; /* 30, 10, 40 */
	struct portolan_error error;
	struct join join;

	(void)state;
	write_file(path, "\xef\xbb\xbftext,id\r\n\"a, b\",10\r\nc,20\nd,30\ne,10\nbad,x\nf,030");
	assert_int_equal(join_open(&join, path, "id", false, &ids, chosen, 3, &error), 0);
	assert_int_equal(join.count, 4);
	assert_int_equal(join.missing, 1); /* 40 */
	assert_int_equal(join.matches[0].number, 2);
	assert_int_equal(join.matches[1].number, 5);
	assert_int_equal(join.matches[2].number, 0);
	assert_int_equal(join.matches[3].number, 3);
	assert_memory_equal(join.matches[2].record.at, "\"a, b\",10", 9);
	assert_int_equal(join.header.length, 7);
	assert_int_equal(join.first_missing, 2);
	assert_string_equal(join.oddities.odd, "x");
	assert_int_equal(join.oddities.ragged + join.oddities.without_id, 0);
	join_free(&join);
	assert_int_equal(join_open(&join, path, "ids", false, &ids, chosen, 3, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "did you mean --id-field id?"));
	unlink(path);
	assert_int_equal(join_open(&join, path, "id", false, &ids, chosen, 3, &error), PORTOLAN_E_SYSTEM);
}

/* UTF-8 as characters; what is none, byte by byte, as Python's surrogateescape has it. */
static void
test_characters(void **state)
{
	static const struct {
		const char *text;
		size_t bytes;
		uint32_t character;
	} cases[] = {{"a", 1, 'a'},           {"\xc3\xa4", 2, 0xe4}, {"\xf0\x9f\x97\xba", 4, 0x1f5fa},
	             {"\xff", 1, 0xdcff},     {"\xc3", 1, 0xdcc3},   {"\xc3(", 1, 0xdcc3},
	             {"\xe6\x97", 1, 0xdce6}, {"\x80", 1, 0xdc80},   {"\xef\xbf\xbd", 3, 0xfffd}};
	struct text_extent extent = {0};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		uint32_t character;

		assert_int_equal(text_character(cases[c].text, strlen(cases[c].text), &character), cases[c].bytes);
		assert_int_equal(character, cases[c].character);
	}
	text_extent_add(&extent, "\xe6\x97\xa5\xe6\x9c\xac", 6);
	text_extent_add(&extent, "abc", 3);
	text_extent_add(&extent, "", 0);
	assert_int_equal(extent.longest, 3);
	assert_int_equal(extent.texts, 3);
	assert_int_equal(extent.bytes, 9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_split),         cmocka_unit_test(test_csv_and_tsv),
	        cmocka_unit_test(test_json),          cmocka_unit_test(test_cut_json),
	        cmocka_unit_test(test_quotes_in_csv), cmocka_unit_test(test_format),
	        cmocka_unit_test(test_join),          cmocka_unit_test(test_count_fields),
	        cmocka_unit_test(test_json_brackets), cmocka_unit_test(test_characters),
	        cmocka_unit_test(test_json_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

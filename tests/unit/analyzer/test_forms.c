/* test_forms.c: what is written has its form: quoted texts, reports, npy headers. */
#include "unit.h"

#include "output/npy.h"
#include "output/output.h"
#include "output/table.h"
#include "output/text.h"

/* What `write` puts into an output. */
static size_t
written(void (*write_it)(struct output *), char *text, size_t room)
{
	struct output output;
	size_t size;

	assert_int_equal(output_open_memory(&output, room, NULL), 0);
	write_it(&output);
	size = output.used;
	assert_int_equal(output_check(&output, NULL), 0);
	assert_true(size <= room);
	memcpy(text, output.buffer, size);
	output_discard(&output);
	return size;
}

static void
write_texts(struct output *output)
{
	text_csv(output, "plain", 5);
	text_csv(output, "a,\"b\"", 5);
	text_csv(output, "x\ny", 3);
	text_csv_for_spreadsheets(output, "=1,2", 4);
	text_csv_for_spreadsheets(output, "1=", 2);
	text_csv_for_spreadsheets(output, "", 0);
	text_json(output, "q\"\\\n\x01é", 7);
	text_number(output, 0.25);
	text_integer(output, 7);
}

/* The document of test_report(), without its line end. */
static void
add_document(struct report *report)
{
	static const double reals[] = {0.1, 1.0, -2.0 / 3, 1e300};

	report_begin(report, NULL);
	report_begin_list(report, "reals");
	for (size_t i = 0; i < 4; i++)
		report_real(report, NULL, reals[i]);
	report_end(report);
	report_begin(report, "texts");
	report_text(report, "valid", "\xc3\xa9\"");
	report_bytes(report, "Latin-1", "\xe9!", 1);
	report_end(report);
	report_begin_list(report, "none");
	report_end(report);
	report_begin(report, "nothing");
	report_end(report);
	REPORT_WHOLES(report, {"whole", 7}, {"greatest", UINT64_MAX});
	report_flag(report, "flag", true);
	report_text(report, "null", NULL);
	report_real(report, "undefined", NAN);
	report_line(report, "for people\n");
	report_end(report);
}

/* Members whose values are so long that only some find room in a line of 80. */
static void
add_long(struct report *report)
{
	report_begin(report, NULL);
	REPORT_WHOLES(report, {"commits", 12345678901}, {"longest", 12345678901}, {"total", 12345678901},
	              {"half", 12345678901}, {"one_more_of_them", 1});
	report_begin(report, "eighty");
	REPORT_WHOLES(report, {"a23456789012345678901234567890", 7}, {"b345678901234567890", 12345}, {"c", 1});
	report_end(report);
	report_end(report);
}

static void
add_rows(struct report *report)
{
	static const struct {
		const char *name;
		int64_t n;
		double share;
	} rows[] = {{"\xe6\xb5\xb7\xc3\xa9", 1234567, 0.25}, /* two columns wide, and one */
	            {"longer", -1, 12345.6}};
	static const struct table_column columns[] = {
	        {"name", TABLE_TEXT, 0}, {"n", TABLE_I64, 8}, {"share", TABLE_F64, 16}};

	report_begin(report, NULL);
	table_report(report, "rows", &TABLE_OF(columns, rows, 2));
	report_end(report);
}

static void
assert_report(void (*add)(struct report *), struct report report, const char *expected)
{
	struct portolan_error error;
	char text[1000] = "";

	assert_int_equal(output_open_memory(&report.output, 0, &error), 0);
	report.is_first = true;
	add(&report);
	assert_true(report.output.used < sizeof(text));
	memcpy(text, report.output.buffer, report.output.used);
	assert_int_equal(report.output.failure, 0);
	report_discard(&report);
	assert_string_equal(text, expected);
}

/* Numbers with the fewest digits that read back, text of any bytes as UTF-8. */
static void
test_report(void **state)
{
	(void)state;
	assert_report(add_document, (struct report){0},
	              "{\"reals\":[0.1,1.0,-0.6666666666666666,1e+300],\"texts\":{\"valid\":\"\xc3\xa9\\\"\","
	              "\"Latin-1\":\"\xc3\xa9\"},\"none\":[],\"nothing\":{},\"whole\":7,"
	              "\"greatest\":18446744073709551615,\"flag\":true,\"null\":null,\"undefined\":null}");
	assert_report(add_rows, (struct report){.indent = 1},
	              "{\n \"rows\": [\n  {\n   \"name\": \"\xe6\xb5\xb7\xc3\xa9\",\n   \"n\": 1234567,\n"
	              "   \"share\": 0.25\n  },\n  {\n   \"name\": \"longer\",\n   \"n\": null,\n"
	              "   \"share\": 12345.6\n  }\n ]\n}");
}

/* The same calls, for people: a line for each member, what it holds behind commas, columns aligned. */
static void
test_report_text(void **state)
{
	(void)state;
	assert_report(add_document, (struct report){.as_text = true},
	              "  reals            0.100, 1.000, -0.667, 1e+300\n"
	              "  texts            valid \xc3\xa9\", Latin-1 \xe9\n"
	              "  none             \n"
	              "  nothing          \n"
	              "  whole            7, greatest 18,446,744,073,709,551,615\n"
	              "  flag             yes\n"
	              "  null             -\n"
	              "  undefined        -\n"
	              "for people\n");
	assert_report(add_long, (struct report){.as_text = true},
	              "  commits          12,345,678,901, longest 12,345,678,901, total 12,345,678,901,\n"
	              "                   half 12,345,678,901, one more of them 1\n"
	              "  eighty           a23456789012345678901234567890 7, b345678901234567890 12,345,\n"
	              "                   c 1\n");
	assert_report(add_rows, (struct report){.as_text = true},
	              "  name            n   share\n"
	              "  \xe6\xb5\xb7\xc3\xa9     1,234,567   0.250\n"
	              "  longer          -  12,346\n");
}

static void
test_texts(void **state)
{
	static const char expected[] = "plain\"a,\"\"b\"\"\"\"x\ny\"\"'=1,2\"1=\"q\\\"\\\\\\u000a\\u0001é\"0.257";
	char text[200];

	(void)state;
	assert_int_equal(written(write_texts, text, sizeof(text)), sizeof(expected) - 1);
	assert_memory_equal(text, expected, sizeof(expected) - 1);
}

static void
write_records(struct output *output)
{
	static const struct npy_field fields[] = {{"id", "S3"}, {"it's", "<f8"}};

	npy_write_records_header(output, fields, 2, 12);
}

static void
write_unicode(struct output *output)
{
	static const struct npy_field fields[] = {{"é", "<f8"}};

	npy_write_records_header(output, fields, 1, 1);
}

static void
test_npy(void **state)
{
	static const char expected[] =
	        "{'descr': [('id', 'S3'), ('it\\'s', '<f8')], 'fortran_order': False, 'shape': (12,), }";
	char text[400];
	size_t size = written(write_records, text, sizeof(text));

	(void)state;
	assert_int_equal(size % 64, 0);
	assert_memory_equal(text, "\x93NUMPY\x01\x00", 8);
	assert_int_equal((uint8_t)text[8] + 256 * (uint8_t)text[9], size - 10);
	assert_memory_equal(text + 10, expected, sizeof(expected) - 1);
	assert_int_equal(text[size - 1], '\n');
	size = written(write_unicode, text, sizeof(text));
	assert_int_equal(size % 64, 0);
	assert_int_equal(text[6], 3);
	assert_int_equal((uint8_t)text[8] + 256 * (uint8_t)text[9], size - 12);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_texts),
	        cmocka_unit_test(test_report),
	        cmocka_unit_test(test_report_text),
	        cmocka_unit_test(test_npy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

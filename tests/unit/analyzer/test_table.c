/* test_table.c: tables made by hand: every type in every format, empty or not, in the memory's order and in another. */
#include "unit.h"

#include "output/table.h"
#include "output/table_npy.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROOM 65536

/* What a table becomes in a format; the caller's until the next call. */
static size_t
written(const struct table *table, enum table_format format, char text[ROOM])
{
	struct output output;
	struct portolan_error error;
	size_t used;

	assert_int_equal(output_open_memory(&output, 0, &error), 0);
	assert_int_equal(table_write_to(table, &output, format, &error), 0);
	assert_int_equal(output_check(&output, &error), 0);
	assert_true(output.used < ROOM);
	memcpy(text, output.buffer, output.used);
	text[output.used] = '\0';
	used = output.used;
	output_discard(&output);
	return used;
}

static void
assert_written(const struct table *table, enum table_format format, const char *expected)
{
	char text[ROOM];

	written(table, format, text);
	assert_string_equal(text, expected);
}

/* npy: the type of the first column, and the records. */
static const char *
written_npy(const struct table *table, const char *type, size_t *bytes, char text[ROOM])
{
	size_t size = written(table, TABLE_NPY, text), head;
	char wanted[80];

	assert_memory_equal(text, "\x93NUMPY\x01\x00", 8);
	head = 10 + (size_t)((uint8_t)text[8] | (uint8_t)text[9] << 8);
	assert_int_equal(head % 64, 0);
	assert_int_equal(text[head - 1], '\n');
	text[head - 1] = '\0';
	snprintf(wanted, sizeof(wanted), "('v', '%s')", type);
	if (!strstr(text + 10, wanted))
		fail_msg("no %s in %s", wanted, text + 10);
	*bytes = size - head;
	return text + head;
}

/* As a report has it, in one line. */
static void
assert_reported(const struct table *table, const char *expected)
{
	struct report report;
	char text[ROOM];

	assert_int_equal(report_open_memory(&report, NULL), 0);
	table_report(&report, NULL, table);
	assert_true(report.output.used < ROOM);
	memcpy(text, report.output.buffer, report.output.used);
	text[report.output.used] = '\0';
	assert_string_equal(text, expected);
	report_discard(&report);
}

/* Three values of a type in structs of a size that leaves them unaligned. */
struct __attribute__((packed)) holder {
	char before[3];
	union __attribute__((packed)) {
		double f64;
		float f32;
		uint64_t u64;
		uint32_t u32;
		int64_t i64;
		int32_t i32;
		uint8_t flag;
		const char *text;
		char chars[8];
		struct table_bytes bytes;
		struct table_cell cell;
	} v;
};

static const char *const words[] = {"zero", "one", "two"};
static struct ids integers = {.kind = STORE_ID_INT, .rows = 3, .integers = (uint64_t[]){1200, 7, UINT64_MAX}};
static char id_text[] = "abécd,e"; /* "ab", "éc", "d,e" */
static struct ids strings = {.kind = STORE_ID_STR, .rows = 3, .text = id_text, .offsets = (uint64_t[]){0, 2, 5, 8}};

static double
tenth(const void *row)
{
	const struct holder *holder = row;
	double value;

	memcpy(&value, &holder->v.f64, sizeof(value));
	return value / 10;
}

#define EMPTY_F64 NAN
struct type_case {
	struct table_column column;
	struct holder rows[3];
	/* of each row */
	const char *csv[3], *json[3], *people[3];
	const char *report[3];     /* NULL: as json */
	const char *npy;           /* the type; */
	unsigned char bytes[3][8]; /* of the value, as many as the type has; of texts not looked at */
	bool is_text;
};

static const struct type_case cases[] = {
        {{"v", TABLE_F64},
         {{.v.f64 = 0.25}, {.v.f64 = EMPTY_F64}, {.v.f64 = INFINITY}},
         {"0.25", "", ""},
         {"0.25", "null", "null"},
         {"0.250", "-", "-"},
         {"0.25", "null", "null"},
         "<f8",
         {{0, 0, 0, 0, 0, 0, 0xd0, 0x3f}, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}}},
        {{"v", TABLE_F64, .infinite = true},
         {{.v.f64 = -INFINITY}, {.v.f64 = 2}, {.v.f64 = INFINITY}},
         {"-inf", "2", "inf"},
         {"-1e999", "2", "1e999"},
         {"-inf", "2.000", "inf"},
         {"null", "2.0", "null"},
         "<f8",
         {{0, 0, 0, 0, 0, 0, 0xf0, 0xff}, {0, 0, 0, 0, 0, 0, 0, 0x40}, {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}}},
        {{"v", TABLE_F64, .infinite = true, .whole = true, .npy = "<i8"},
         {{.v.f64 = 3}, {.v.f64 = EMPTY_F64}, {.v.f64 = 12000}},
         {"3", "", "12000"},
         {"3", "null", "12000"},
         {"3", "-", "12,000"},
         {"3.0", "null", "12000.0"},
         "<i8",
         {{3}, {255, 255, 255, 255, 255, 255, 255, 255}, {0xe0, 0x2e}}},
        {{"v", TABLE_F64, .infinite = true, .whole = true, .npy = "<u4"},
         {{.v.f64 = 3}, {.v.f64 = 0}, {.v.f64 = 12000}},
         {"3", "0", "12000"},
         {"3", "0", "12000"},
         {"3", "0", "12,000"},
         {"3.0", "0.0", "12000.0"},
         "<u4",
         {{3}, {0}, {0xe0, 0x2e}}},
        {{"v", TABLE_F32},
         {{.v.f32 = 0.5f}, {.v.f32 = NAN}, {.v.f32 = -2}},
         {"0.5", "", "-2"},
         {"0.5", "null", "-2"},
         {"0.500", "-", "-2.000"},
         {"0.5", "null", "-2.0"},
         "<f4",
         {{0, 0, 0, 0x3f}, {0, 0, 0xc0, 0x7f}, {0, 0, 0, 0xc0}}},
        {{"v", TABLE_U64},
         {{.v.u64 = 0}, {.v.u64 = 1234567}, {.v.u64 = UINT64_MAX}},
         {"0", "1234567", "18446744073709551615"},
         {"0", "1234567", "18446744073709551615"},
         {"0", "1,234,567", "18,446,744,073,709,551,615"},
         {0},
         "<u8",
         {{0}, {0x87, 0xd6, 0x12}, {255, 255, 255, 255, 255, 255, 255, 255}}},
        {{"v", TABLE_U32, .npy = "<u4"},
         {{.v.u32 = 0}, {.v.u32 = 7}, {.v.u32 = UINT32_MAX}},
         {"0", "7", "4294967295"},
         {"0", "7", "4294967295"},
         {"0", "7", "4,294,967,295"},
         {0},
         "<u4",
         {{0}, {7}, {255, 255, 255, 255}}},
        {{"v", TABLE_U32},
         {{.v.u32 = 0}, {.v.u32 = 7}, {.v.u32 = 9}},
         {"0", "7", "9"},
         {"0", "7", "9"},
         {"0", "7", "9"},
         {0},
         "<u8",
         {{0}, {7}, {9}}},
        {{"v", TABLE_I64},
         {{.v.i64 = -1}, {.v.i64 = 0}, {.v.i64 = 1000}},
         {"", "0", "1000"},
         {"null", "0", "1000"},
         {"-", "0", "1,000"},
         {0},
         "<i8",
         {{255, 255, 255, 255, 255, 255, 255, 255}, {0}, {0xe8, 3}}},
        {{"v", TABLE_I32},
         {{.v.i32 = 5}, {.v.i32 = 0}, {.v.i32 = 1}},
         {"5", "0", "1"},
         {"5", "0", "1"},
         {"5", "0", "1"},
         {0},
         "<u8", /* none is empty */
         {{5}, {0}, {1}}},
        {{"v", TABLE_I32, .npy = "<i4"},
         {{.v.i32 = 5}, {.v.i32 = -1}, {.v.i32 = 1}},
         {"5", "", "1"},
         {"5", "null", "1"},
         {"5", "-", "1"},
         {0},
         "<i4",
         {{5}, {255, 255, 255, 255}, {1}}},
        {{"v", TABLE_REAL_OF, .real = tenth},
         {{.v.f64 = 5}, {.v.f64 = EMPTY_F64}, {.v.f64 = 10}},
         {"0.5", "", "1"},
         {"0.5", "null", "1"},
         {"0.500", "-", "1.000"},
         {"0.5", "null", "1.0"},
         "<f8",
         {{0, 0, 0, 0, 0, 0, 0xe0, 0x3f}, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}}},
        {{"v", TABLE_FLAG, .npy = "|b1"},
         {{.v.flag = 1}, {.v.flag = 0}, {.v.flag = 1}},
         {"1", "0", "1"},
         {"1", "0", "1"},
         {"1", "0", "1"},
         {0},
         "|b1",
         {{1}, {0}, {1}}},
        {{"v", TABLE_TEXT},
         {{.v.text = "a,\"b"}, {.v.text = NULL}, {.v.text = "é\t1"}},
         {"\"a,\"\"b\"", "", "é\t1"},
         {"\"a,\\\"b\"", "null", "\"é\\u00091\""},
         {"a,\"b", "-", "é\t1"},
         {0},
         "<U4",
         .is_text = true},
        {{"v", TABLE_TEXT},
         {{.v.text = "\xff"}, {.v.text = ""}, {.v.text = "="}}, /* no UTF-8: taken for Latin-1 in JSON */
         {"\xff", "", "="},
         {"\"ÿ\"", "\"\"", "\"=\""},
         {"\xff", "", "="},
         {0},
         "<U1",
         .is_text = true},
        {{"v", TABLE_CHARS, .width = 8},
         {{.v.chars = "12345678"}, {.v.chars = ""}, {.v.chars = "ab"}},
         {"12345678", "", "ab"},
         {"\"12345678\"", "\"\"", "\"ab\""},
         {"12345678", "", "ab"},
         {0},
         "<U8",
         .is_text = true},
        {{"v", TABLE_BYTES},
         {{.v.bytes = {"x\0y", 3}}, {.v.bytes = {NULL, 0}}, {.v.bytes = {"", 0}}},
         {"x\0y", "", ""},
         {"\"x\\u0000y\"", "null", "\"\""},
         {NULL, "-", ""},
         {0},
         "<U3",
         .is_text = true},
        {{"v", TABLE_CELL},
         {{.v.cell = {TABLE_WHOLE, .whole = 5000}},
          {.v.cell = {TABLE_EMPTY}},
          {.v.cell = {TABLE_STRING, .text = "all", .length = 3}}},
         {"5000", "", "all"},
         {"5000", "null", "\"all\""},
         {"5000", "-", "all"},
         {0},
         "<U4",
         .is_text = true},
        {{"v", TABLE_WORD, .of = words},
         {{.v.i32 = 2}, {.v.i32 = -1}, {.v.i32 = 0}},
         {"two", "", "zero"},
         {"\"two\"", "null", "\"zero\""},
         {"two", "-", "zero"},
         {0},
         "<U4",
         .is_text = true},
        {{"v", TABLE_ID, .of = &integers},
         {{{0}}},
         {"1200", "7", "18446744073709551615"},
         {"1200", "7", "18446744073709551615"},
         {"1200", "7", "18446744073709551615"}, /* a name, of which no digits are parted */
         {0},
         "<u8",
         {{0xb0, 4}, {7}, {255, 255, 255, 255, 255, 255, 255, 255}}},
        {{"v", TABLE_ID, .of = &strings},
         {{{0}}},
         {"ab", "éc", "\"d,e\""},
         {"\"ab\"", "\"éc\"", "\"d,e\""},
         {"ab", "éc", "d,e"},
         {0},
         "<U3",
         .is_text = true},
        {{"v", TABLE_ID_AT, .of = &integers},
         {{.v.u32 = 2}, {.v.u32 = 1}, {.v.u32 = 1}},
         {"18446744073709551615", "7", "7"},
         {"18446744073709551615", "7", "7"},
         {"18446744073709551615", "7", "7"},
         {0},
         "<u8",
         {{255, 255, 255, 255, 255, 255, 255, 255}, {7}, {7}}},
        {{"v", TABLE_ID_AT, .of = &strings},
         {{.v.u32 = 2}, {.v.u32 = 0}, {.v.u32 = 0}},
         {"\"d,e\"", "ab", "ab"},
         {"\"d,e\"", "\"ab\"", "\"ab\""},
         {"d,e", "ab", "ab"},
         {0},
         "<U3",
         .is_text = true},
};

static const uint32_t orders[][3] = {{0, 1, 2}, {2, 0, 1}, {1, 1, 0}};

static bool
has_nul(const struct type_case *one)
{
	return one->column.type == TABLE_BYTES; /* its row 0; and people's texts are compared as strings */
}

static void
check_text(const struct type_case *one, const struct table *table, const uint32_t *order)
{
	char csv[200] = "v\n", jsonl[200] = "", report[200] = "[";

	for (size_t i = 0; i < table->rows; i++) {
		const char *of_report = one->report[order[i]] ? one->report[order[i]] : one->json[order[i]];

		snprintf(csv + strlen(csv), 100, "%s\n", one->csv[order[i]]);
		snprintf(jsonl + strlen(jsonl), 100, "{\"v\":%s}\n", one->json[order[i]]);
		snprintf(report + strlen(report), 100, "%s{\"v\":%s}", i ? "," : "", of_report);
	}
	if (!has_nul(one))
		assert_written(table, TABLE_CSV, csv);
	assert_written(table, TABLE_JSONL, jsonl);
	assert_reported(table, strcat(report, "]"));
}

/* Numbers end, and texts begin, below one another. */
static void
check_people(const struct type_case *one, const struct table *table, const uint32_t *order)
{
	bool is_left = one->is_text || one->column.type >= TABLE_TEXT;
	char text[ROOM], *at = text;
	size_t width = 1;

	written(table, TABLE_ALIGNED, text);
	for (size_t i = 0; i < table->rows; i++) {
		size_t own = strlen(one->people[order[i]]) - (strstr(one->people[order[i]], "é") ? 1 : 0);

		width = own > width ? own : width;
	}
	assert_int_equal(strncmp(text, is_left ? "  v\n" : "", is_left ? 4 : 0), 0);
	at = strchr(at, '\n') + 1;
	for (size_t i = 0; i < table->rows; i++) {
		const char *value = one->people[order[i]];
		char wanted[100];
		int blanks = *value == '\0' ? 0 : is_left ? 2 : 2 + (int)(width - strlen(value));

		snprintf(wanted, sizeof(wanted), "%*s%s\n", blanks, "", value);
		assert_int_equal(strncmp(at, wanted, strlen(wanted)), 0);
		at += strlen(wanted);
	}
	assert_int_equal(*at, '\0');
}

static void
check_npy(const struct type_case *one, const struct table *table, const uint32_t *order)
{
	char text[ROOM];
	size_t bytes, size = one->npy[1] == 'U' ? 4 * (size_t)atoi(one->npy + 2) : (size_t)atoi(one->npy + 2);
	const char *records = written_npy(table, one->npy, &bytes, text);

	assert_int_equal(bytes, table->rows * size);
	for (size_t i = 0; i < table->rows && !one->is_text; i++)
		assert_memory_equal(records + i * size, one->bytes[order[i]], size);
}

/* Orders in which the longest text, or the empty value, is among the rows: npy's types depend on it. */
static bool
keeps_type(const uint32_t *order)
{
	return order[0] != order[1];
}

static void
test_types(void **state)
{
	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const struct type_case *one = &cases[c];
		struct table_column member[] = {one->column}, array[] = {one->column};
		struct table table = TABLE_OF(member, one->rows, 3), of_array = TABLE_OF_ARRAYS(array, 3);
		bool is_computed = one->column.type == TABLE_REAL_OF;

		member[0].offset = is_computed ? 0 : offsetof(struct holder, v);
		array[0].values = is_computed ? (const void *)one->rows : &one->rows[0].v;
		array[0].stride = sizeof(one->rows[0]);
		for (size_t o = 0; o < 3; o++) {
			const struct table *tables[] = {&table, &of_array};

			table.order = of_array.order = o > 0 ? orders[o] : NULL;
			for (size_t t = 0; t < 2; t++) {
				check_text(one, tables[t], orders[o]);
				if (!has_nul(one))
					check_people(one, tables[t], orders[o]);
				if (keeps_type(orders[o]))
					check_npy(one, tables[t], orders[o]);
			}
		}
	}
}

static void
test_arrays(void **state)
{
	static const double reals[] = {1.5, 2.5, 3.5};
	static const uint64_t bits[] = {5}, present[] = {6};
	static const uint32_t epoch[] = {9};
	const struct table_column columns[] = {{"v", TABLE_F64, .values = reals, .present = present},
	                                       {"b", TABLE_BITS, .values = bits, .npy = "|b1"},
	                                       {"e", TABLE_U32, .values = epoch, .is_same = true, .npy = "<u4"}};
	struct table table = TABLE_OF_ARRAYS(columns, 3);
	char text[ROOM];
	const char *records;
	size_t bytes;

	(void)state;
	assert_written(&table, TABLE_CSV, "v,b,e\n,1,9\n2.5,0,9\n3.5,1,9\n");
	assert_written(&table, TABLE_TSV, "v\tb\te\n\t1\t9\n2.5\t0\t9\n3.5\t1\t9\n");
	assert_written(&table, TABLE_JSONL,
	               "{\"v\":null,\"b\":1,\"e\":9}\n{\"v\":2.5,\"b\":0,\"e\":9}\n{\"v\":3.5,\"b\":1,\"e\":9}\n");
	records = written_npy(&table, "<f8", &bytes, text);
	assert_int_equal(bytes, 3 * 13);
	assert_memory_equal(records + 8, "\x01\x09\0\0\0", 5);
	assert_memory_equal(records + 13 + 6, "\x04\x40\x00\x09\0\0\0", 7);
	table.order = (const uint32_t[]){2, 0};
	table.rows = 2;
	assert_written(&table, TABLE_ALIGNED, "      v  b  e\n  3.500  1  9\n      -  1  9\n");
}

static void
test_names(void **state)
{
	struct names names = {0};
	const uint32_t values[] = {1, NAMES_NONE, 0};
	const struct table_column columns[] = {{"v", TABLE_NAME, .values = values, .of = &names}};
	const struct table table = TABLE_OF_ARRAYS(columns, 3);

	(void)state;
	assert_int_equal(names_add(&names, "a\tb", 3), 0);
	assert_int_equal(names_add(&names, "c", 1), 1);
	assert_written(&table, TABLE_TSV, "v\nc\n\na b\n");
	assert_written(&table, TABLE_JSONL, "{\"v\":\"c\"}\n{\"v\":null}\n{\"v\":\"a\\u0009b\"}\n");
	names_free(&names);
}

/* No rows: a head, and nothing for people. */
static void
test_no_rows(void **state)
{
	const struct table_column columns[] = {{"v", TABLE_F64}, {"t", TABLE_TEXT, offsetof(struct holder, v)}};
	const struct table table = TABLE_OF(columns, (const struct holder *)NULL, 0);
	char text[ROOM];
	size_t bytes;

	(void)state;
	assert_written(&table, TABLE_CSV, "v,t\n");
	assert_written(&table, TABLE_JSONL, "");
	assert_written(&table, TABLE_ALIGNED, "");
	assert_reported(&table, "[]");
	written_npy(&table, "<f8", &bytes, text);
	assert_int_equal(bytes, 0);
	assert_non_null(strstr(text + 10, "('t', '<U1')")); /* NumPy takes no text of width 0 */
}

static void
test_texts_in_npy(void **state)
{
	const char *const texts[] = {"a\xff", "x𝄞"};
	const struct table_column wide[] = {{"v", TABLE_TEXT, .values = texts, .width = 3}};
	const struct table_column bytes_of[] = {{"v", TABLE_TEXT, .values = texts, .npy = "|S"}};
	const struct table table = TABLE_OF_ARRAYS(wide, 2), of_bytes = TABLE_OF_ARRAYS(bytes_of, 2);
	const uint32_t characters[] = {'a', 0xdcff, 0, 'x', 0x1d11e, 0}; /* as Python's surrogateescape */
	char text[ROOM];
	const char *records;
	size_t bytes;

	(void)state;
	records = written_npy(&table, "<U3", &bytes, text);
	assert_int_equal(bytes, sizeof(characters));
	assert_memory_equal(records, characters, sizeof(characters));
	records = written_npy(&of_bytes, "|S5", &bytes, text);
	assert_int_equal(bytes, 10);
	assert_memory_equal(records, "a\xff\0\0\0x𝄞", 10);
}

/* A record that is wider than an output's buffer gives at once. */
static void
test_wide_record(void **state)
{
	static char longest[40000], text[400000];
	const char *const texts[] = {longest, "b"};
	const struct table_column columns[] = {{"v", TABLE_TEXT, .values = texts}};
	const struct table table = TABLE_OF_ARRAYS(columns, 2);
	struct output output;

	(void)state;
	memset(longest, 'a', sizeof(longest) - 1);
	assert_int_equal(output_open_memory(&output, 0, NULL), 0);
	assert_int_equal(table_write_to(&table, &output, TABLE_NPY, NULL), 0);
	assert_true(output.used < sizeof(text));
	memcpy(text, output.buffer, output.used);
	assert_int_equal(output.used % 64, (2 * 4 * 39999) % 64);
	assert_memory_equal(text + output.used - 4 * 39999, "b\0\0\0\0\0\0\0", 8);
	assert_memory_equal(text + output.used - 4 * 39999 - 4, "a\0\0\0", 4);
	output_discard(&output);
}

/* More rows than a tile, and tiles that rows of a part begin within. */
static void
test_many_rows(void **state)
{
	enum { MANY = 1000 };
	static uint64_t values[MANY];
	static uint32_t order[MANY];
	const struct table_column columns[] = {{"v", TABLE_U64, .values = values}};
	struct table table = TABLE_OF_ARRAYS(columns, MANY);
	struct table_record record;
	struct output output;
	char text[ROOM];
	const char *records;
	size_t bytes;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		values[i] = 3 * i;
		order[i] = MANY - 1 - i;
	}
	records = written_npy(&table, "<u8", &bytes, text);
	assert_memory_equal(records, values, sizeof(values));
	table.order = order;
	records = written_npy(&table, "<u8", &bytes, text);
	for (size_t i = 0; i < MANY; i++)
		assert_memory_equal(records + 8 * i, &values[MANY - 1 - i], 8);
	assert_int_equal(output_open_memory(&output, 0, NULL), 0);
	assert_int_equal(table_record_init(&record, &table, NULL), 0);
	table_record_rows(&record, &table, &output, 900, 100);
	assert_int_equal(output.used, 800);
	assert_memory_equal(output.buffer, &values[99], 8);
	output_clear(&output);
	table_put_rows(&table, &output, TABLE_CSV, 998, 2);
	assert_int_equal(output.used, 4);
	assert_memory_equal(output.buffer, "3\n0\n", 4);
	table_record_free(&record);
	output_discard(&output);
}

/* A terminal of so many columns, and what was written to it. */
static void
written_to_terminal(const struct table *table, unsigned short columns, char text[ROOM])
{
	const struct winsize size = {.ws_col = columns, .ws_row = 24};
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), keep;
	struct output output;
	size_t used = 0;
	ssize_t got;

	assert_true(terminal >= 0);
	assert_int_equal(grantpt(terminal), 0);
	assert_int_equal(unlockpt(terminal), 0);
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
	keep = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_int_equal(output_open(&output, ptsname(terminal), NULL), 0);
	assert_int_equal(table_check_npy(&output, NULL), PORTOLAN_E_INVALID);
	assert_int_equal(table_write_to(table, &output, TABLE_ALIGNED, NULL), 0);
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_int_equal(fcntl(terminal, F_SETFL, O_NONBLOCK), 0);
	while ((got = read(terminal, text + used, ROOM - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	for (char *at = text; (at = strchr(at, '\r'));)
		memmove(at, at + 1, strlen(at));
	close(keep);
	close(terminal);
}

static void
test_excerpt(void **state)
{
	static uint64_t values[24];
	const struct table_column columns[] = {
	        {"id", TABLE_ID, .of = &(struct ids){.kind = STORE_ID_INT, .integers = values}},
	        {"n", TABLE_U64, .values = values}};
	struct table table = TABLE_OF_ARRAYS(columns, 21);
	uint32_t ends[2 * TABLE_ENDS];
	struct table cut;
	char text[ROOM];

	(void)state;
	for (uint64_t i = 0; i < 24; i++)
		values[i] = i;
	table.excerpt = "examples";
	assert_int_equal(table_cut(&table, ends).left_out, 0); /* the row with "…" would take the place of one */
	written_to_terminal(&table, 80, text);
	assert_non_null(strstr(text, "\n  10  10\n"));
	table.rows = 24;
	cut = table_cut(&table, ends);
	assert_int_equal(cut.rows, 20);
	assert_int_equal(cut.left_out, 4);
	assert_int_equal(ends[9], 9);
	assert_int_equal(ends[10], 14);
	written_to_terminal(&table, 80, text);
	assert_non_null(strstr(text, "\n  9    9\n  …\n  14  14\n"));
	assert_non_null(strstr(text, "\n  23  23\n"));
	table.excerpt = NULL;
	written_to_terminal(&table, 80, text);
	assert_null(strstr(text, "…"));
	table.excerpt = "examples";
	written(&table, TABLE_CSV, text); /* only for people */
	assert_non_null(strstr(text, "\n11,11\n"));
}

static void
test_terminal(void **state)
{
	static const struct {
		const char *run, *same;
		uint64_t first, second;
	} rows[] = {{"a-very-long-name-of-a-run-1", "same", 1, 20}, {"a-very-long-name-of-a-run-2", "same", 3, 4}};
	const struct table_column columns[] = {{"run", TABLE_TEXT, 0},
	                                       {"mode", TABLE_TEXT, 8},
	                                       {"first_of_these", TABLE_U64, 16},
	                                       {"second", TABLE_U64, 24}};
	struct table table = TABLE_OF(columns, rows, 2);
	char text[ROOM];

	(void)state;
	written_to_terminal(&table, 80, text);
	assert_string_equal(text, "  run                          mode  first_of_these  second\n"
	                          "  a-very-long-name-of-a-run-1  same               1      20\n"
	                          "  a-very-long-name-of-a-run-2  same               3       4\n");
	written_to_terminal(&table, 50, text);
	assert_string_equal(text, "  mode: same\n"
	                          "                               first\n"
	                          "                                  of\n"
	                          "  run                          these  second\n"
	                          "  a-very-long-name-of-a-run-1      1      20\n"
	                          "  a-very-long-name-of-a-run-2      3       4\n");
	written_to_terminal(&table, 30, text); /* a name loses its middle; a column finds no room */
	assert_string_equal(text, "  mode: same\n"
	                          "                   first\n"
	                          "                      of\n"
	                          "  run              these\n"
	                          "  a-very-…a-run-1      1\n"
	                          "  a-very-…a-run-2      3\n"
	                          "\n"
	                          "  run              second\n"
	                          "  a-very-…a-run-1      20\n"
	                          "  a-very-…a-run-2       4\n");
}

static void
test_continues(void **state)
{
	const double reals[] = {0.5, NAN};
	const struct table_column columns[] = {{"a", TABLE_F64, .values = reals}, {"b", TABLE_F64, .values = reals}};
	struct table table = TABLE_OF_ARRAYS(columns, 2);

	(void)state;
	table.continues = true;
	assert_written(&table, TABLE_CSV, ",a,b,0.5,0.5,,");
	assert_written(&table, TABLE_JSONL, ",\"a\":0.5,\"b\":0.5,\"a\":null,\"b\":null");
}

static void
test_spreadsheets(void **state)
{
	const char *const texts[] = {"=1+1", "a=1", "-2,5"};
	const struct table_column columns[] = {{"v", TABLE_TEXT, .values = texts}};
	struct table table = TABLE_OF_ARRAYS(columns, 3);

	(void)state;
	table.for_spreadsheets = true;
	assert_written(&table, TABLE_CSV, "v\n'=1+1\na=1\n\"'-2,5\"\n");
	assert_written(&table, TABLE_TSV, "v\n=1+1\na=1\n-2,5\n");
}

static void
test_column_names(void **state)
{
	const double reals[] = {1};
	struct table_column columns[] = {{"a\"b", TABLE_F64, .values = reals}, {"a\"b", TABLE_F64, .values = reals}};
	struct table table = TABLE_OF_ARRAYS(columns, 1);
	struct portolan_error error;
	struct output output;

	(void)state;
	assert_int_equal(output_open_memory(&output, 0, NULL), 0);
	assert_written(&table, TABLE_CSV, "\"a\"\"b\",\"a\"\"b\"\n1,1\n");
	assert_int_equal(table_write_to(&table, &output, TABLE_JSONL, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message, "two columns are named 'a\"b', which jsonl cannot tell apart: write csv");
	assert_int_equal(table_write_to(&table, &output, TABLE_NPY, &error), PORTOLAN_E_INVALID);
	columns[1].name = "c\nd";
	assert_written(&table, TABLE_JSONL, "{\"a\\\"b\":1,\"c\\u000ad\":1}\n");
	assert_int_equal(table_write_to(&table, &output, TABLE_NPY, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message, "the column 'c\nd' cannot be a name in npy: write csv");
	assert_int_equal(output.used, 0);
	output_discard(&output);
}

static void
test_write_errors(void **state)
{
	static const enum table_format formats[] = {TABLE_CSV, TABLE_TSV, TABLE_JSONL, TABLE_NPY, TABLE_ALIGNED};
	const double reals[] = {1};
	const struct table_column columns[] = {{"v", TABLE_F64, .values = reals}};
	const struct table table = TABLE_OF_ARRAYS(columns, 1);
	struct portolan_error error;

	(void)state;
	for (size_t f = 0; f < 5; f++) {
		assert_int_equal(table_write(&table, "/dev/full", formats[f], &error), PORTOLAN_E_SYSTEM);
		assert_string_equal(error.message, "cannot write /dev/full: No space left on device");
	}
	assert_int_equal(table_write(&table, "/nowhere/at/all", TABLE_CSV, &error), PORTOLAN_E_SYSTEM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_types),        cmocka_unit_test(test_arrays),
	        cmocka_unit_test(test_names),        cmocka_unit_test(test_no_rows),
	        cmocka_unit_test(test_texts_in_npy), cmocka_unit_test(test_wide_record),
	        cmocka_unit_test(test_many_rows),    cmocka_unit_test(test_excerpt),
	        cmocka_unit_test(test_terminal),     cmocka_unit_test(test_continues),
	        cmocka_unit_test(test_spreadsheets), cmocka_unit_test(test_column_names),
	        cmocka_unit_test(test_write_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * fuzz_lines: a user's file, as records of all three formats, then as the file of `select --join` and as columns of
 * numbers or categories. Records must lie
 * one behind the other in the input, fields must fit into their records, and what is joined must be lines of the file,
 * in order. What is JSON to jansson is JSON here, except for what stands in strings.
 *
 * Byte 0: what the file is called and how the field is named; the rest is the file.
 */
#include "fuzz.h"

#include <files/attributes.h>
#include <files/fields.h>
#include <files/join.h>
#include <jansson.h>

#include <math.h>
#include <sys/mman.h>

#define FIELDS 6

static const char *const names[] = {"id", "", "a\"b", "\xc3\xa4", "guid", "id,x"};
static const char *const endings[] = {"", ".csv", ".tsv", ".jsonl"};

static void
check_fields(enum table_format format, const struct record *record)
{
	const char *at = record->at, *end = at + record->length;
	char *text = malloc(record->length + 1);
	size_t fields = 0;
	struct field field;

	require(text);
	while (at && records_take_field(format, &at, end, text, &field)) {
		fields++;
		require(field.length <= record->length);
		require(format != TABLE_TSV || !memchr(field.at, '\t', field.length));
		touch(field.at, field.length);
	}
	require(record->unclosed || (!at && fields == records_count_fields(format, record)));
	free(text);
}

static struct user_file
file_of(enum table_format format, const char *text, size_t size)
{
	struct user_file file = {.path = "lines", .text = text, .size = size, .format = format};

	if (format != TABLE_JSONL) {
		file.header = records_next(format, text, size);
		file.begin = file.header.next;
	}
	return file;
}

static void
compare_field(const struct field *a, const struct field *b)
{
	require(a->kind == b->kind && !a->at == !b->at);
	require(!a->at || (a->length == b->length && memcmp(a->at, b->at, a->length) == 0));
	if (a->at)
		touch(a->at, a->length);
}

/* The file in parts is the file, and several fields at once are what each is alone. */
static void
check_parts(enum table_format format, const char *text, size_t size)
{
	struct user_file file = file_of(format, text, size);
	struct fields fields = {.file = &file, .count = format == TABLE_JSONL ? FIELDS : 3, .last = 2};
	struct fields single[FIELDS];
	struct fields_reader all = {0}, each[FIELDS] = {{0}};
	struct portolan_error error = {0};
	struct user_parts parts;
	int code = 0;

	for (size_t i = 0; i < fields.count; i++) {
		static const size_t columns[3] = {2, 0, 2};

		fields.names[i] = (struct field_name){names[i], strlen(names[i]), i < 3 ? columns[i] : 0};
		single[i] = (struct fields){.file = &file, .count = 1, .names = {fields.names[i]}};
		single[i].last = fields.names[i].column;
		fields_begin(&each[i], &single[i], user_file_whole(&file));
	}
	require(user_file_cut(&file, &parts, NULL) == 0);
	for (size_t p = 0; p < parts.count && code >= 0; p++) {
		fields_begin(&all, &fields, user_file_part(&file, &parts, p));
		while ((code = fields_next(&all, &error)) > 0) {
			for (size_t i = 0; i < fields.count; i++) {
				require(fields_next(&each[i], &error) == 1);
				require(each[i].part.record.at == all.part.record.at &&
				        each[i].part.record.length == all.part.record.length);
				compare_field(&all.found[i], &each[i].found[0]);
			}
		}
	}
	if (code < 0)
		require_line(&error, code);
	for (size_t i = 0; i < fields.count; i++) {
		require(code < 0 || fields_next(&each[i], NULL) == 0);
		fields_end(&each[i]);
	}
	fields_end(&all);
	user_parts_free(&parts);
}

static void
check_records(enum table_format format, const char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		struct record record = records_next(format, text + at, size - at);

		require(record.at == text + at);
		require(record.next > 0 && record.next <= size - at && record.length <= record.next);
		require(format == TABLE_CSV || !memchr(record.at, '\n', record.length));
		if (format != TABLE_JSONL)
			check_fields(format, &record);
		at += record.next;
	}
}

/* Whether jansson refuses a line for what our reader takes beyond JSON, or does not look at: text in strings. */
static bool
is_taken_beyond_json(const char *line, size_t size, const json_error_t *why)
{
	static const char *const reasons[] = {
	        "too big",        "overflow",        "unable to decode",      "control character",
	        "invalid escape", "invalid Unicode", "NUL byte in object key"};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strstr(why->text, reasons[i]))
			return true;
	return memmem(line, size, "NaN", 3) || memmem(line, size, "Infinity", 8);
}

/* What is an object to jansson is a record, and the other way round. */
static void
check_beside_jansson(const char *text, size_t size)
{
	static const char *const name = "", *const option = "";
	struct user_file file = file_of(TABLE_JSONL, text, size);
	struct fields_reader reader = {0};
	struct portolan_error error = {0};
	struct fields fields;
	int code = 1;

	require(fields_init(&fields, &file, &name, &option, 0, NULL) == 0);
	fields_begin(&reader, &fields, user_file_whole(&file));
	while (code > 0 && (code = fields_next(&reader, &error)) != 0) {
		const struct record *record = &reader.part.record;
		json_error_t why = {0};
		json_t *object = json_loadb(record->at, record->length, JSON_ALLOW_NUL, &why);

		if (code > 0)
			require(json_is_object(object) || is_taken_beyond_json(record->at, record->length, &why));
		else if (!memchr(record->at, '\0', record->length)) /* jansson goes over it behind a number */
			require(!json_is_object(object));
		json_decref(object);
	}
	fields_end(&reader);
}

/* Ids 0 … 7, as integers or as strings, all chosen, the last first. */
static struct ids
make_ids(bool strings)
{
	static uint64_t integers[8] = {0, 1, 2, 3, 4, 5, 6, UINT64_MAX};
	static char text[] = "01a\"bx,y\xc3\xa4  7";
	static uint64_t offsets[9] = {0, 1, 2, 3, 4, 5, 8, 10, 13};

	return (struct ids){.kind = strings ? STORE_ID_STR : STORE_ID_INT,
	                    .rows = 8,
	                    .integers = integers,
	                    .text = text,
	                    .offsets = offsets};
}

static void
check_join(const struct join *join, size_t size)
{
	static const uint32_t all = 8;
	size_t different = 0;

	for (size_t i = 0; i < join->count; i++) {
		const struct join_match *match = &join->matches[i];

		require(match->position < all);
		require(match->record.at >= join->text);
		require(match->record.at + match->record.length <= join->text + size);
		different += i == 0 || match->position != match[-1].position;
		if (i > 0 && match->position == match[-1].position)
			require(match->number > match[-1].number);
		else if (i > 0)
			require(match->position > match[-1].position);
		touch(match->record.at, match->record.length);
	}
	require(different + join->missing == all);
}

/* A file in memory, at a path that ends as its format does: a memfd through a symbolic link. */
static void
join_file(unsigned variant, const char *text, size_t size)
{
	static const uint32_t chosen[8] = {7, 6, 5, 4, 3, 2, 1, 0};
	const char *field = names[variant / 8 % (sizeof(names) / sizeof(names[0]))];
	struct ids ids = make_ids(variant & 1);
	struct portolan_error error = {0};
	char path[96], target[32];
	struct join join;
	int file = memfd_create("lines", MFD_CLOEXEC), code;

	require(file >= 0 && write(file, text, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "%s/f%s", fuzz_folder(), endings[variant / 2 % 4]);
	snprintf(target, sizeof(target), "/proc/self/fd/%d", file);
	require(symlink(target, path) == 0);
	code = join_open(&join, path, field, size % 2 == 1, &ids, chosen, 8,
	                 &error); /* as it stands, or as --glue reads it */
	require(unlink(path) == 0);
	if (code == 0) {
		check_join(&join, size);
		join_free(&join);
	} else {
		require_message(&error, code);
	}
	close(file);
}

static void
check_attributes(const struct attributes *attributes, size_t rows)
{
	require(attributes->rows == rows && attributes->unknown <= attributes->records);
	require(attributes->unmatched <= rows);
	for (size_t a = 0; a < attributes->count; a++) {
		const struct attribute *attribute = &attributes->list[a];
		uint64_t missing = 0;

		require((attribute->numbers != NULL) == (attribute->kind == ATTRIBUTE_NUMBER));
		for (size_t i = 0; i < rows; i++) {
			missing += attribute->numbers ? isnan(attribute->numbers[i]) : attribute->categories[i] < 0;
			require(attribute->numbers || attribute->categories[i] < (int32_t)attribute->names.count);
		}
		require(missing == attribute->missing && missing >= attributes->unmatched);
		for (uint32_t i = 0; i < attribute->names.count; i++) {
			size_t length;
			const char *name = names_text(&attribute->names, i, &length);

			require(strlen(name) == length);
		}
	}
}

/* Columns of the same text: beside given examples, and as examples of their own. */
static void
read_attributes(unsigned variant, const char *text, size_t size)
{
	static const uint32_t chosen[8] = {7, 6, 5, 4, 3, 2, 1, 0};
	const size_t count = sizeof(names) / sizeof(names[0]);
	const char *columns[] = {names[(variant / 8 + 1) % count], names[(variant / 8 + 2) % count]};
	const char *const options[] = {"--x", "--y"};
	struct user_file file = file_of(variant / 2 % 3, text, size);
	struct attributes_request request = {&file, names[variant / 8 % count], columns, options, 2};
	struct ids ids = make_ids(variant & 1);
	struct portolan_error error = {0};
	struct attributes attributes;
	int code;

	code = attributes_read(&attributes, &request, &ids, chosen, 8, &error);
	if (code == 0)
		check_attributes(&attributes, 8);
	else
		require_message(&error, code);
	attributes_free(&attributes);
	code = attributes_read_all(&attributes, &request, &ids, &error);
	if (code == 0) {
		check_attributes(&attributes, ids.rows);
		require(attributes.unmatched == 0 && attributes.records == ids.rows);
		attributes_free(&attributes);
		ids_free(&ids);
	} else {
		require_message(&error, code);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	unsigned variant = input_u8(&input);
	const char *text = (const char *)input.data;

	for (int format = TABLE_CSV; format <= TABLE_JSONL; format++)
		check_records((enum table_format)format, text, input.size);
	for (int format = TABLE_CSV; format <= TABLE_JSONL; format++)
		check_parts((enum table_format)format, text, input.size);
	check_beside_jansson(text, input.size);
	join_file(variant, text, input.size);
	read_attributes(variant, text, input.size);
	return 0;
}

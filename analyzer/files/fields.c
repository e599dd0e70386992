/* fields.c: see fields.h. */
#include "fields.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

int
fields_init(struct fields *fields, const struct user_file *file, const char *const *names, const char *const *options,
            size_t count, struct portolan_error *error)
{
	int code = 0;

	*fields = (struct fields){.file = file, .count = count};
	for (size_t i = 0; i < count && code >= 0; i++) {
		fields->names[i] = (struct records_name){names[i], strlen(names[i])};
		if (file->format != RECORDS_JSONL)
			code = user_file_column(file, options[i], names[i], &fields->columns[i], error);
		if (fields->columns[i] > fields->last)
			fields->last = fields->columns[i];
	}
	return code;
}

void
fields_room_free(struct fields_room *room)
{
	free(room->text);
	*room = (struct fields_room){0};
}

/* Keys, and a copy of every field, fit into it. */
static int
make_room(const struct fields *fields, const struct record *record, struct fields_room *room,
          struct portolan_error *error)
{
	size_t size = 2 * (record->length + 1);

	if (size <= room->size)
		return 0;
	free(room->text);
	*room = (struct fields_room){malloc(2 * size), 2 * size};
	if (room->text)
		return 0;
	room->size = 0;
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a line of %s", fields->file->path);
}

static int
malformed(const struct fields *fields, const struct record *record, struct portolan_error *error)
{
	const struct user_file *file = fields->file;
	struct user_record where = {.record = *record, .line = user_file_line(file, record->at)};

	where.number = where.line - 1; /* an array is told by the file's first record, wherever it is */
	return user_file_malformed(file, &where, error);
}

/* Copies of escaped strings stand one behind the other: as different members they are no longer than the record. */
static bool
take_members(const struct fields *fields, const struct record *record, char *text, struct field *out)
{
	struct records_member found[FIELDS_MAX];

	if (records_json_members(record, fields->names, fields->count, text + record->length + 1, found) < 0)
		return false;
	for (size_t i = 0; i < fields->count; i++) {
		out[i] = (struct field){found[i].at, found[i].size, found[i].kind};
		if (found[i].kind == RECORDS_JSON_NONE)
			out[i].at = NULL;
		if (found[i].kind != RECORDS_JSON_STRING)
			continue;
		out[i].at++;
		out[i].length -= 2;
		if (memchr(out[i].at, '\\', out[i].length)) {
			long length = records_json_decode(found[i].at, found[i].size, text);

			if (length < 0)
				return false;
			out[i].at = text;
			out[i].length = (size_t)length;
			text += length;
		}
	}
	return true;
}

/* The field of CSV that begins at `at`: where it ends, and its text, unless it must be copied (at: NULL). */
static const char *
csv_field_end(const char *at, const char *end, struct field *field)
{
	const char *from = at, *comma;

	if (at < end && *at == '"') {
		bool plain = true;

		for (from = ++at; (at = memchr(at, '"', (size_t)(end - at))) && at + 1 < end && at[1] == '"'; at += 2)
			plain = false;
		if (!at)
			return NULL;
		comma = memchr(at, ',', (size_t)(end - at));
		plain = plain && at + 1 == (comma ? comma : end);
		*field = (struct field){plain ? from : NULL, (size_t)(at - from), RECORDS_JSON_STRING};
	} else {
		comma = memchr(at, ',', (size_t)(end - at));
		*field = (struct field){from, (size_t)((comma ? comma : end) - from), RECORDS_JSON_STRING};
	}
	return comma ? comma : end;
}

static const char *
tsv_field_end(const char *at, const char *end, struct field *field)
{
	const char *tab = memchr(at, '\t', (size_t)(end - at));

	*field = (struct field){at, (size_t)((tab ? tab : end) - at), RECORDS_JSON_STRING};
	return tab ? tab : end;
}

static bool
take_columns(const struct fields *fields, const struct record *record, char *text, struct field *out)
{
	enum records_format format = fields->file->format;
	const char *at = record->at, *end = at + record->length;

	for (size_t column = 0; column <= fields->last && at; column++) {
		struct field field;
		const char *stop =
		        format == RECORDS_CSV ? csv_field_end(at, end, &field) : tsv_field_end(at, end, &field);

		if (!stop)
			return false;
		for (size_t i = 0; i < fields->count; i++) {
			if (fields->columns[i] != column)
				continue;
			if (!field.at) {
				field.length = (size_t)records_field(format, record, column, text);
				field.at = text;
				text += field.length;
			}
			out[i] = field;
		}
		at = stop < end ? stop + 1 : NULL;
	}
	return true;
}

/* Who asks twice gets the same twice. */
static void
repeat_fields(const struct fields *fields, struct field *out)
{
	for (size_t i = 1; i < fields->count; i++)
		for (size_t j = 0; j < i; j++)
			if (fields->names[i].length == fields->names[j].length &&
			    memcmp(fields->names[i].text, fields->names[j].text, fields->names[i].length) == 0)
				out[i] = out[j];
}

int
fields_take(const struct fields *fields, const struct record *record, struct fields_room *room, struct field *out,
            struct portolan_error *error)
{
	int code = make_room(fields, record, room, error);
	bool taken;

	if (code < 0)
		return code;
	for (size_t i = 0; i < fields->count; i++)
		out[i] = (struct field){0};
	taken = fields->file->format == RECORDS_JSONL ? take_members(fields, record, room->text, out)
	                                              : take_columns(fields, record, room->text, out);
	if (!taken)
		return malformed(fields, record, error);
	repeat_fields(fields, out);
	return 0;
}

int
fields_missing(const struct fields *fields, const struct record *record, size_t field, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu has no field '%s'", fields->file->path,
	                 (unsigned long long)user_file_line(fields->file, record->at), fields->names[field].text);
}

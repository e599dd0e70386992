/* fields.c: reads named fields from each record of a user's file, be it CSV, TSV or JSON lines, for join.c and for the
 * commands that read users' data (fields.h). */
#include "fields.h"

#include "glue.h"

#include <json_line.h>
#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

int
fields_init(struct fields *fields, const struct user_file *file, const char *const *names, const char *const *options,
            size_t count, struct portolan_error *error)
{
	int code = 0;

	*fields = (struct fields){.file = file, .count = count};
	if (file->format != TABLE_JSONL)
		fields->width = records_count_fields(file->format, &file->header);
	for (size_t i = 0; i < count && code >= 0; i++) {
		struct field_name *name = &fields->names[i];

		*name = (struct field_name){.text = names[i], .length = strlen(names[i])};
		name->is_glue_id = file->glue_id && strcmp(file->glue_id, names[i]) == 0;
		if (file->format != TABLE_JSONL)
			code = user_file_column(file, options[i], names[i], &name->column, error);
		if (name->column > fields->last)
			fields->last = name->column;
	}
	return code;
}

void
fields_begin(struct fields_reader *reader, const struct fields *fields, struct user_part part)
{
	if (reader->fields != fields)
		memset(reader->keys, 0, sizeof(reader->keys));
	reader->fields = fields;
	reader->part = part;
}

void
fields_end(struct fields_reader *reader)
{
	free(reader->room);
	*reader = (struct fields_reader){0};
}

uint64_t
fields_line(const struct fields_reader *reader)
{
	return user_file_line(reader->fields->file, reader->part.record.at);
}

int
fields_wrong(const struct fields_reader *reader, struct portolan_error *error, const char *format, ...)
{
	char what[sizeof(error->message)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu%s", reader->fields->file->path,
	                 (unsigned long long)fields_line(reader), what);
}

int
fields_shown(const struct field *field)
{
	return field->length < 64 ? (int)field->length : 64;
}

bool
fields_is_ragged(const struct fields_reader *reader)
{
	const struct fields *fields = reader->fields;
	const struct record *record = &reader->part.record;
	size_t width = fields->width, count;

	if (fields->file->format == TABLE_JSONL || record->length == 0)
		return false;
	count = records_count_fields(fields->file->format, record);
	return fields->file->glue_id ? count < width : count != width;
}

/* Makes room for a copy of every field, for a key of JSON, and, at the end, for the number that stands for the id
 * (glue.h). */
static int
make_room(struct fields_reader *reader, struct portolan_error *error)
{
	size_t length = reader->part.record.length + 1;
	size_t size = 2 * length + (reader->fields->file->glue_id ? length + GLUE_NUMBER_MORE : 0);

	if (size <= reader->room_size)
		return 0;
	free(reader->room);
	reader->room_size = 2 * size;
	reader->room = malloc(reader->room_size);
	if (reader->room)
		return 0;
	reader->room_size = 0;
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a line of %s", reader->fields->file->path);
}

/* A record that is being read. Copies of its fields stand one behind the other in `room`: together they are no longer
 * than the record. */
struct taking {
	const struct fields *fields;
	struct field *found;
	size_t left; /* the number of names that have not been found yet */
	char *room;
	struct fields_key *keys; /* of the JSON line before */
};

/* Makes a field of a JSON value. A value with escapes is decoded into `room`. False: an escape is not one of JSON's. */
static bool
field_of(struct json_value *value, char *room, struct field *field)
{
	static const enum field_kind kinds[] = {
	        [JSON_LINE_STRING] = FIELD_TEXT,      [JSON_LINE_NUMBER] = FIELD_NUMBER,
	        [JSON_LINE_NOT_FINITE] = FIELD_OTHER, [JSON_LINE_TRUE] = FIELD_TRUTH,
	        [JSON_LINE_FALSE] = FIELD_TRUTH,      [JSON_LINE_NULL] = FIELD_NULL,
	        [JSON_LINE_OBJECT] = FIELD_OTHER,     [JSON_LINE_ARRAY] = FIELD_OTHER,
	};

	if (!json_line_decode(value, room))
		return false;
	*field = (struct field){value->at, value->size, kinds[value->kind]};
	if (field->kind == FIELD_NULL)
		*field = (struct field){.kind = FIELD_NULL};
	if (field->kind == FIELD_TRUTH)
		*field = (struct field){value->kind == JSON_LINE_TRUE ? "1" : "0", 1, FIELD_TRUTH};
	return true;
}

static bool
name_equals(const struct field_name *name, const struct fields_key *key)
{
	return name->length == key->length && memcmp(name->text, key->at, key->length) == 0;
}

/* Gives the value to each name that equals the key. Of two members with one key the first counts. */
static bool
take_member(struct taking *taking, const struct fields_key *key, struct json_value *value)
{
	struct field meant = {.kind = FIELD_ABSENT};

	for (size_t i = key->first; i < key->end && taking->left > 0; i++) {
		if (taking->found[i].kind != FIELD_ABSENT || !name_equals(&taking->fields->names[i], key))
			continue;
		if (meant.kind == FIELD_ABSENT) {
			if (!field_of(value, taking->room, &meant))
				return false;
			if (meant.at == taking->room)
				taking->room += meant.length;
		}
		taking->found[i] = meant;
		taking->left--;
	}
	return true;
}

/* Finds which names equal the key. */
static void
find_names(const struct fields *fields, struct fields_key *key)
{
	key->first = key->end = 0;
	for (size_t i = 0; i < fields->count; i++)
		if (name_equals(&fields->names[i], key)) {
			key->first = key->end > 0 ? key->first : i;
			key->end = i + 1;
		}
}

/* Takes the next key, which no line before had in this place. `room` is for its text. 1: there is one; 0: the object has
 * ended. */
static int
take_new_key(struct taking *taking, struct json_line *line, bool is_first, char *room, struct fields_key *key)
{
	const char *before = line->at;
	struct json_value value;
	int code = is_first ? json_line_first(line, &value) : json_line_next(line, &value);

	if (code <= 0)
		return code;
	*key = (struct fields_key){.before = before, .size = value.has_escapes ? 0 : (size_t)(line->at - before)};
	if (!json_line_decode(&value, room))
		return -1;
	key->at = value.at;
	key->length = value.size;
	find_names(taking->fields, key);
	return 1;
}

/* Reads the members of a JSON record. It reads on when all names are found, so that a line that was cut short is always
 * noticed. `keys` has room for any key. */
static bool
take_members(struct taking *taking, struct json_line *line, char *keys)
{
	struct json_value value;
	struct fields_key other;
	int code;

	for (size_t member = 0;; member++) {
		struct fields_key *key = member < FIELDS_KEYS ? &taking->keys[member] : &other;

		if (member < FIELDS_KEYS && key->size > 0 && (size_t)(line->end - line->at) > key->size &&
		    memcmp(line->at, key->before, key->size) == 0)
			line->at += key->size;
		else if ((code = take_new_key(taking, line, member == 0, keys, key)) <= 0)
			break;
		if (json_line_value(line, &value) < 0 || !take_member(taking, key, &value))
			return false;
	}
	return code == 0 && json_line_end(line) == 0;
}

static bool
take_columns(struct taking *taking, const struct record *record)
{
	const struct fields *fields = taking->fields;
	const char *at = record->at;

	for (size_t column = 0; column <= fields->last && at; column++) {
		struct field field;

		if (!records_take_field(fields->file->format, &at, record->at + record->length, taking->room, &field))
			return false;
		if (field.at == taking->room)
			taking->room += field.length;
		for (size_t i = 0; i < fields->count; i++)
			if (fields->names[i].column == column)
				taking->found[i] = field;
	}
	return true;
}

/* Takes the record's last field for the header's last column: the record may have more fields than the header
 * (glue.h). */
static bool
take_last(struct taking *taking, const struct record *record)
{
	const struct fields *fields = taking->fields;
	const char *at = records_last_field(fields->file->format, record);
	struct field field;

	if (fields->last + 1 < fields->width)
		return true;
	if (!records_take_field(fields->file->format, &at, record->at + record->length, taking->room, &field))
		return false;
	for (size_t i = 0; i < fields->count; i++)
		if (fields->names[i].column + 1 == fields->width && taking->found[i].kind != FIELD_ABSENT)
			taking->found[i] = field;
	return true;
}

/* Replaces the record's id by its number (glue.h), in each of the fields that asked for it. */
static void
number_ids(struct fields_reader *reader)
{
	const struct fields *fields = reader->fields;
	char *room = reader->room + 2 * (reader->part.record.length + 1);

	for (size_t i = 0; i < fields->count; i++) {
		struct field *id = &reader->found[i];

		if (fields->names[i].is_glue_id && (id->kind == FIELD_TEXT || id->kind == FIELD_NUMBER) &&
		    id->length > 0)
			*id = (struct field){room, glue_number(id->at, id->length, room), FIELD_TEXT};
	}
}

static int
refuse_json(const struct fields_reader *reader, const struct json_line *line, struct portolan_error *error)
{
	const char *path = reader->fields->file->path;

	if (*line->begin == '[' && fields_line(reader) == 1)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s is a JSON array; it must have one object a line: jq -c '.[]' %s", path, path);
	return fields_wrong(reader, error, " is not well-formed JSON (one object a line): %s expected at byte %zu",
	                    line->expected ? line->expected : "an escape", (size_t)(line->at - line->begin) + 1);
}

int
fields_next(struct fields_reader *reader, struct portolan_error *error)
{
	const struct fields *fields = reader->fields;
	struct taking taking = {fields, reader->found, fields->count, NULL, reader->keys};
	const struct record *record = &reader->part.record;
	int code = user_part_next(&reader->part, error);

	if (code <= 0)
		return code;
	if (make_room(reader, error) < 0)
		return PORTOLAN_E_MEMORY;
	taking.room = reader->room;
	memset(reader->found, 0, fields->count * sizeof(*reader->found));
	if (fields->file->format == TABLE_JSONL) {
		struct json_line line = {.begin = record->at, .at = record->at, .end = record->at + record->length};

		if (!take_members(&taking, &line, reader->room + record->length + 1))
			return refuse_json(reader, &line, error);
	} else if (!take_columns(&taking, record) || (fields->file->glue_id && !take_last(&taking, record))) {
		return fields_wrong(reader, error, " is not well-formed CSV");
	}
	if (fields->file->glue_id)
		number_ids(reader);
	return 1;
}

bool
fields_has(const struct user_file *file, const char *name)
{
	static const char *const option = "";
	struct fields_reader reader = {0};
	struct fields fields;
	bool has = fields_init(&fields, file, &name, &option, 1, NULL) >= 0;

	if (has && file->format == TABLE_JSONL) {
		fields_begin(&reader, &fields, user_file_whole(file));
		has = fields_next(&reader, NULL) > 0 && reader.found[0].kind != FIELD_ABSENT;
		fields_end(&reader);
	}
	return has;
}

static bool
fields_add_name(struct names *names, const char *at, size_t length)
{
	return length == 0 || names_add(names, at, length) != NAMES_NONE;
}

/* Adds the names of the header's columns. False: out of memory. `room` is for a name. */
static bool
fields_list_header(const struct user_file *file, char *room, struct names *names)
{
	const struct record *header = &file->header;
	struct field field;

	for (const char *at = header->at; at;) {
		if (!records_take_field(file->format, &at, header->at + header->length, room, &field))
			break;
		field = records_trim(field);
		if (!fields_add_name(names, field.at, field.length))
			return false;
	}
	return true;
}

/* Adds the names of the members of a JSON line, as far as it is well-formed. */
static bool
fields_list_members(const struct record *record, bool only_values, char *room, struct names *names)
{
	struct json_line line = {.begin = record->at, .at = record->at, .end = record->at + record->length};
	struct json_value key, value;

	for (int code = json_line_first(&line, &key); code > 0; code = json_line_next(&line, &key)) {
		bool is_value;

		if (!json_line_decode(&key, room) || json_line_value(&line, &value) < 0)
			break;
		is_value = value.kind != JSON_LINE_OBJECT && value.kind != JSON_LINE_ARRAY &&
		           value.kind != JSON_LINE_NOT_FINITE;
		if ((is_value || !only_values) && !fields_add_name(names, key.at, key.size))
			return false;
	}
	return true;
}

int
fields_list(const struct user_file *file, bool only_values, struct names *names, struct portolan_error *error)
{
	struct user_part part = user_file_whole(file);
	bool has_header = file->format != TABLE_JSONL, listed;
	const struct record *first = has_header ? &file->header : &part.record;
	int code = has_header ? 1 : user_part_next(&part, error);
	char *room;

	if (code <= 0)
		return code;
	room = malloc(first->length + 1);
	listed = room && (has_header ? fields_list_header(file, room, names)
	                             : fields_list_members(first, only_values, room, names));
	free(room);
	return listed ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

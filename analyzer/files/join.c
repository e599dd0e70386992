/*
 * join.c: one pass over the file, then the matches sorted by rank.
 *
 * Lines are printed from where they lie in the file's memory.
 */
#include "join.h"

#include "program/number.h"
#include "program/suggest.h"
#include "statistics/sort.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define GZIP_MAGIC "\x1f\x8b"
#define COLUMNS_MAX 4096

void
join_free(struct join *join)
{
	content_close(&join->content);
	free(join->matches);
	*join = (struct join){0};
}

/* What a header has, for who asked for a column that it has not. */
struct columns {
	char nearest[64]; /* empty: none is near */
	char all[160];    /* "id, text, label"; as many as fit */
};

static void
note_column(struct columns *columns, const char *wanted, const char *name, size_t *least)
{
	size_t distance = suggest_distance(wanted, name), used = strlen(columns->all);

	if (distance < *least && distance <= strlen(name) / 2) {
		*least = distance;
		snprintf(columns->nearest, sizeof(columns->nearest), "%s", name);
	}
	if (used + strlen(name) + 8 < sizeof(columns->all))
		snprintf(columns->all + used, sizeof(columns->all) - used, "%s%s", used ? ", " : "", name);
	else if (used + 6 < sizeof(columns->all) && strcmp(columns->all + used - 3, "...") != 0)
		snprintf(columns->all + used, sizeof(columns->all) - used, ", ...");
}

/* The number of the header's column `name`; -1: none. */
static long
find_column(const struct join *join, const char *name, struct columns *columns, char *text)
{
	size_t least = SIZE_MAX;

	*columns = (struct columns){0};
	for (size_t c = 0; c < COLUMNS_MAX; c++) {
		long length = records_field(join->format, &join->header, c, text);

		if (length < 0)
			break;
		text[length] = '\0';
		if (strcmp(text, name) == 0)
			return (long)c;
		note_column(columns, name, text, &least);
	}
	return -1;
}

static int
read_header(struct join *join, const char *path, const char *id_field, size_t *at, long *column,
            struct portolan_error *error)
{
	struct columns columns;
	char *text;

	if (join->size >= 2 && memcmp(join->text, GZIP_MAGIC, 2) == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is compressed: zcat %s | portolan … --join -", path,
		                 path);
	if (join->size >= 3 && memcmp(join->text, BYTE_ORDER_MARK, 3) == 0)
		join->mark = *at = 3;
	if (join->format == RECORDS_JSONL)
		return 0;
	join->header = records_next(join->format, join->text + *at, join->size - *at);
	*at += join->header.next;
	text = malloc(join->header.length + 1);
	if (!text)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the header of %s", path);
	*column = find_column(join, id_field, &columns, text);
	free(text);
	if (*column >= 0)
		return 0;
	if (columns.nearest[0])
		return error_set(error, PORTOLAN_E_INVALID, "%s has no column '%s'; did you mean --id-field %s?", path,
		                 id_field, columns.nearest);
	return error_set(error, PORTOLAN_E_INVALID, "%s has no column '%s'; it has: %s", path, id_field, columns.all);
}

static int
add_match(struct join *join, size_t *room, const struct join_match *match)
{
	if (join->count == *room) {
		size_t larger = *room ? *room * 2 : 4096;
		struct join_match *grown = realloc(join->matches, larger * sizeof(*grown));

		if (!grown)
			return -1;
		join->matches = grown;
		*room = larger;
	}
	join->matches[join->count++] = *match;
	return 0;
}

/* Room for any field of a record. */
static int
make_room(char **text, size_t *room, const struct record *record)
{
	if (record->length < *room)
		return 0;
	free(*text);
	*room = 2 * record->length + 1;
	*text = malloc(*room);
	return *text ? 0 : -1;
}

/* Blank lines between JSON lines are no records. */
static bool
is_blank(enum records_format format, const struct record *record)
{
	size_t at = 0;

	while (format == RECORDS_JSONL && at < record->length && strchr(" \t\r", record->at[at]) && record->at[at])
		at++;
	return at == record->length;
}

static int
say_malformed(const struct join *join, const char *path, uint64_t number, const struct record *record,
              struct portolan_error *error)
{
	if (join->format == RECORDS_JSONL && number == 0 && record->at[0] == '[')
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s is a JSON array; it must have one object a line: jq -c '.[]' %s", path, path);
	return error_set(error, PORTOLAN_E_INVALID, "%s: record %llu is not well-formed %s", path,
	                 (unsigned long long)number + 1,
	                 join->format == RECORDS_JSONL ? "JSON (one object a line)" : "CSV");
}

/* Keeps the first id that cannot be one of a run's integers: it explains why nothing is found. */
static void
note_odd_id(struct join *join, const struct ids_index *index, const char *text, size_t length)
{
	uint64_t number;

	if (index->ids->kind == STORE_ID_INT && !join->odd[0] && !number_parse_whole(text, length, &number))
		snprintf(join->odd, sizeof(join->odd), "%.*s", (int)(length < 60 ? length : 60), text);
}

static int
find_matches(struct join *join, const char *path, const char *id_field, const struct ids_index *index,
             struct portolan_error *error)
{
	size_t at = 0, room = 0, text_room = 0, fields = 0;
	char *text = NULL;
	long column = 0;
	int code = read_header(join, path, id_field, &at, &column, error);

	for (uint64_t number = 0; code >= 0 && at < join->size; number++) {
		struct join_match match = {.record = records_next(join->format, join->text + at, join->size - at)};
		int64_t position = -1;
		long length;

		at += match.record.next;
		if (is_blank(join->format, &match.record))
			continue;
		if (match.record.unclosed) {
			code = error_set(
			        error, PORTOLAN_E_INVALID,
			        "%s: record %llu has a quote that is never closed, and swallows the rest of the file",
			        path, (unsigned long long)number + 1);
			break;
		}
		if (make_room(&text, &text_room, &match.record) < 0) {
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for a line of %s", path);
			break;
		}
		length = join->format == RECORDS_JSONL
		                 ? records_json_field(&match.record, id_field, text)
		                 : records_field(join->format, &match.record, (size_t)column, text);
		if (length == -2)
			code = say_malformed(join, path, number, &match.record, error);
		if (length >= 0) {
			fields++;
			position = ids_index_find(index, text, (size_t)length);
			if (position < 0)
				note_odd_id(join, index, text, (size_t)length);
		}
		match.number = number;
		match.position = (uint32_t)position;
		if (position >= 0 && add_match(join, &room, &match) < 0)
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the lines of %s", path);
	}
	free(text);
	if (code >= 0 && fields == 0 && join->size > 0 && join->format == RECORDS_JSONL)
		return error_set(error, PORTOLAN_E_INVALID, "%s: no line has a field '%s' (see --id-field)", path,
		                 id_field);
	return code;
}

/* Puts the matches into rank order, and counts the examples that have none. */
static int
order_matches(struct join *join, size_t n, struct portolan_error *error)
{
	struct sort_item *items = malloc((2 * join->count + 1) * sizeof(*items));
	struct join_match *ordered = malloc((join->count + 1) * sizeof(*ordered));
	size_t found = 0;

	if (!items || !ordered) {
		free(items);
		free(ordered);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to order %zu lines", join->count);
	}
	for (size_t i = 0; i < join->count; i++)
		items[i] = (struct sort_item){join->matches[i].position, (uint32_t)i};
	sort_by_key(items, items + join->count, join->count);
	for (size_t i = 0; i < join->count; i++) {
		ordered[i] = join->matches[items[i].value];
		found += i == 0 || ordered[i].position != ordered[i - 1].position;
	}
	free(items);
	free(join->matches);
	join->matches = ordered;
	join->missing = n - found;
	for (size_t i = 0; i < join->count && ordered[i].position <= join->first_missing; i++)
		if (ordered[i].position == join->first_missing)
			join->first_missing++;
	return 0;
}

int
join_open(struct join *join, const char *path, const char *id_field, const struct ids *ids, const uint32_t *chosen,
          size_t n, struct portolan_error *error)
{
	struct ids_index index;
	int code;

	*join = (struct join){0};
	code = content_open(&join->content, path, error);
	if (code < 0)
		return code;
	join->text = join->content.bytes;
	join->size = join->content.size;
	join->format = records_format_of(path, join->text, join->size);
	code = ids_index_init(&index, ids, chosen, n, error);
	if (code >= 0) {
		code = find_matches(join, path, id_field, &index, error);
		ids_index_free(&index);
	}
	if (code >= 0)
		code = order_matches(join, n, error);
	if (code < 0)
		join_free(join);
	return code;
}

/* join.c: one pass over the file, then the matches sorted by rank. Lines are printed from where they lie. */
#include "join.h"

#include "program/number.h"
#include "statistics/sort.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
join_free(struct join *join)
{
	user_file_close(&join->file);
	free(join->matches);
	*join = (struct join){0};
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

/* Keeps the first id that cannot be one of a run's integers: it explains why nothing is found. */
static void
note_odd_id(struct join *join, const struct ids_index *index, const char *text, size_t length)
{
	uint64_t number;

	if (index->ids->kind == STORE_ID_INT && !join->odd[0] && !number_parse_whole(text, length, &number))
		snprintf(join->odd, sizeof(join->odd), "%.*s", (int)(length < 60 ? length : 60), text);
}

/* The length of the id of a record, whose text is then in record->text; -1: it has none, -2: it is not well-formed. */
static long
take_id(const struct join *join, const struct user_record *record, const char *id_field, size_t column)
{
	if (join->format == RECORDS_JSONL)
		return records_json_field(&record->record, id_field, record->text);
	return records_field(join->format, &record->record, column, record->text);
}

static int
find_matches(struct join *join, const char *id_field, const struct ids_index *index, struct portolan_error *error)
{
	size_t room = 0, fields = 0, column = 0;
	struct user_record record = {0};
	int code = 0;

	if (join->format != RECORDS_JSONL)
		code = user_file_column(&join->file, "--id-field", id_field, &column, error);
	while (code >= 0 && (code = user_file_next(&join->file, &record, error)) > 0) {
		struct join_match match = {.record = record.record, .number = record.number};
		long length = take_id(join, &record, id_field, column);
		int64_t position = -1;

		if (length == -2) {
			code = user_file_malformed(&join->file, &record, error);
			break;
		}
		if (length >= 0) {
			fields++;
			position = ids_index_find(index, record.text, (size_t)length);
			if (position < 0)
				note_odd_id(join, index, record.text, (size_t)length);
		}
		match.position = (uint32_t)position;
		if (position >= 0 && add_match(join, &room, &match) < 0)
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the lines of %s",
			                 join->file.path);
	}
	user_record_end(&record);
	if (code >= 0 && fields == 0 && join->file.size > 0 && join->format == RECORDS_JSONL)
		return error_set(error, PORTOLAN_E_INVALID, "%s: no line has a field '%s' (see --id-field)",
		                 join->file.path, id_field);
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
		if (i == 0 || ordered[i].position != ordered[i - 1].position)
			found++;
		else if (join->again++ == 0 || ordered[i].number < join->first_again)
			join->first_again = ordered[i].number;
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
	code = user_file_open(&join->file, "--join", path, error);
	if (code < 0)
		return code;
	join->format = join->file.format;
	join->header = join->file.header;
	join->mark = join->file.mark;
	join->text = join->file.text;
	code = ids_index_init(&index, ids, chosen, n, error);
	if (code >= 0) {
		code = find_matches(join, id_field, &index, error);
		ids_index_free(&index);
	}
	if (code >= 0)
		code = order_matches(join, n, error);
	if (code < 0)
		join_free(join);
	return code;
}

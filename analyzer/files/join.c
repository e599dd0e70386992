/* join.c: finds, in a user's file, the records of chosen examples (join.h), in one pass over the file. The matches are
 * then sorted by the examples' positions in the list. */
#include "join.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/number.h"
#include "base/sort.h"

#include <portolan/error.h>

#include <stdio.h>
#include <string.h>

void
join_free(struct join *join)
{
	user_file_close(&join->file);
	array_free(join->matches);
	*join = (struct join){0};
}

static int
add_match(struct join *join, size_t *room, const struct join_match *match, struct portolan_error *error)
{
	int code =
	        array_reserve((void **)&join->matches, room, join->count + 1, sizeof(*match), "lines of --data", error);

	if (code < 0)
		return code;
	join->matches[join->count++] = *match;
	return 0;
}

/* It also keeps the first id that no example of this run can have, which explains why no id of the file is found. */
int64_t
join_find(const struct ids_index *index, const struct fields_reader *reader, size_t id, struct join_oddities *oddities)
{
	const struct field *field = &reader->found[id];
	int64_t position;

	if (fields_is_ragged(reader) && oddities->ragged++ == 0)
		oddities->first_ragged = fields_line(reader);
	if (!join_is_id(field)) {
		if (oddities->without_id++ == 0)
			oddities->first_without_id = fields_line(reader);
		return -1;
	}
	position = ids_index_find(index, field->at, field->length);
	if (position < 0 && !oddities->odd[0] && !ids_can_have(index->ids, field->at, field->length))
		snprintf(oddities->odd, sizeof(oddities->odd), "%.*s", fields_shown(field), field->at);
	return position;
}

static void
warn_of(const char *path, uint64_t count, uint64_t first, const char *what)
{
	message_warning("%s: %s record%s %s (line %llu%s)", path, NUMBER_GROUPED(count), count == 1 ? " has" : "s have",
	                what, (unsigned long long)first, count == 1 ? "" : " the first");
}

void
join_warn(const struct join_oddities *oddities, const char *path, const char *id_field)
{
	char what[320];

	snprintf(what, sizeof(what), "no id in field '%.256s'", id_field);
	if (oddities->without_id > 0)
		warn_of(path, oddities->without_id, oddities->first_without_id, what);
	if (oddities->ragged > 0)
		warn_of(path, oddities->ragged, oddities->first_ragged, "more or fewer fields than the header");
	if (oddities->again > 0)
		warn_of(path, oddities->again, oddities->first_again,
		        "the id of one before, and count as nothing, as published");
	if (oddities->unlabelled > 0)
		message_note("%s: %s records without a label are passed over, as published", path,
		             NUMBER_GROUPED(oddities->unlabelled));
}

static int
find_matches(struct join *join, const char *id_field, const struct ids_index *index, struct portolan_error *error)
{
	static const char *const option = "--id-field";
	struct fields_reader reader = {0};
	struct fields fields;
	size_t room = 0;
	uint64_t records = 0;
	int code = fields_init(&fields, &join->file, &id_field, &option, 1, error);

	if (code < 0)
		return code;
	fields_begin(&reader, &fields, user_file_whole(&join->file));
	while (code >= 0 && (code = fields_next(&reader, error)) > 0) {
		int64_t position = join_find(index, &reader, 0, &join->oddities);
		struct join_match match = {reader.part.record, reader.part.number, (uint32_t)position};

		records++;
		if (position >= 0)
			code = add_match(join, &room, &match, error);
	}
	join->oddities.unlabelled = reader.part.unlabelled;
	fields_end(&reader);
	if (code >= 0 && records == join->oddities.without_id && join->file.size > 0 && join->format == TABLE_JSONL)
		return error_set(error, PORTOLAN_E_INVALID, "%s: no line has a field '%s' (see --id-field)",
		                 join->file.path, id_field);
	return code;
}

/* Sorts the matches by the examples' positions, and counts the examples without any. */
static int
order_matches(struct join *join, size_t n, struct portolan_error *error)
{
	struct sort_item *items = array_new(2 * join->count, sizeof(*items), "lines to sort", error);
	struct join_match *ordered = items ? array_new(join->count, sizeof(*ordered), "lines of --data", error) : NULL;
	const char *first_again = NULL;
	size_t found = 0, kept = 0;

	if (!ordered) {
		array_free(items);
		return PORTOLAN_E_MEMORY;
	}
	for (size_t i = 0; i < join->count; i++)
		items[i] = (struct sort_item){join->matches[i].position, (uint32_t)i};
	sort_by_key(items, items + join->count, join->count);
	for (size_t i = 0; i < join->count; i++) {
		const struct join_match *match = &join->matches[items[i].value];
		bool again = kept > 0 && match->position == ordered[kept - 1].position;

		if (again && join->file.glue_id) {
			join->oddities.again++;
			first_again = !first_again || match->record.at < first_again ? match->record.at : first_again;
			continue;
		}
		ordered[kept++] = *match;
		found += !again;
		if (again && (join->again++ == 0 || match->number < join->first_again))
			join->first_again = match->number;
	}
	array_free(items);
	array_free(join->matches);
	join->matches = ordered;
	join->count = kept;
	if (first_again)
		join->oddities.first_again = user_file_line(&join->file, first_again);
	join->missing = n - found;
	for (size_t i = 0; i < join->count && ordered[i].position <= join->first_missing; i++)
		if (ordered[i].position == join->first_missing)
			join->first_missing++;
	return 0;
}

int
join_open(struct join *join, const char *path, const char *id_field, bool glue, const struct ids *ids,
          const uint32_t *chosen, size_t n, struct portolan_error *error)
{
	struct ids_index index;
	int code;

	*join = (struct join){0};
	code = user_file_open(&join->file, "--data", path, error);
	if (code < 0)
		return code;
	if (glue)
		user_file_read_as_glue(&join->file, id_field);
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

bool
join_report(const struct join *join, const char *id_field, const struct ids *ids, const uint32_t *chosen, size_t n,
            const char *which)
{
	const char *path = join->file.path;
	char digits[NUMBER_ROOM];
	const char *first;
	size_t length;

	join_warn(&join->oddities, path, id_field);
	if (join->again > 0)
		message_warning("%s: %s record%s of an example that has one before (record %llu%s); all are printed",
		                path, NUMBER_GROUPED(join->again), join->again == 1 ? " is" : "s are",
		                (unsigned long long)join->first_again + 1, join->again == 1 ? "" : " the first");
	if (join->missing == 0)
		return true;
	first = id_print(ids, chosen[join->first_missing], digits, &length);
	message_warning("not in %s: %s of the %s %sids, '%.*s' the first%s%s%s", path, NUMBER_GROUPED(join->missing),
	                NUMBER_GROUPED(n), which, (int)length, first,
	                join->oddities.odd[0] ? "; the run's ids are integers, and in the file there is '" : "",
	                join->oddities.odd, join->oddities.odd[0] ? "'" : "");
	return false;
}

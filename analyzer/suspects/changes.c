/* changes.c: reads the records of a list of changed labels, and finds their examples (changes.h). */
#include "changes.h"

#include "base/arrays.h"

#include <stdio.h>
#include <string.h>

const char *const changes_names[CHANGES_FIELDS] = {"id", "old", "new"};

int
changes_open(struct changes *changes, const char *option, const char *path, struct portolan_error *error)
{
	return user_file_open(&changes->file, option, path, error);
}

int
changes_begin(struct changes *changes, struct portolan_error *error)
{
	static const char *const options[CHANGES_FIELDS] = {"the column", "the column", "the column"};
	const struct dynamics *dynamics = changes->dynamics;
	int code = fields_init(&changes->fields, &changes->file, changes_names, options, CHANGES_FIELDS, error);

	if (code >= 0)
		code = ids_index_init(&changes->index, &dynamics->ids, dynamics->order, dynamics->count, error);
	if (code < 0)
		return code;
	changes->places = array_new(dynamics->count, sizeof(*changes->places), "places of records", error);
	fields_begin(&changes->reader, &changes->fields, user_file_whole(&changes->file));
	return changes->places ? 0 : PORTOLAN_E_MEMORY;
}

/* Finds the example of the record that was read, which may be the first one of an example alone. */
static int
changes_find(struct changes *changes, uint32_t *row, struct portolan_error *error)
{
	const struct field *id = &changes->reader.found[CHANGES_ID];
	int64_t position = id->at ? ids_index_find(&changes->index, id->at, id->length) : -1;
	const char **place = position < 0 ? NULL : &changes->places[position];

	*row = place ? changes->dynamics->order[position] : CHANGES_NONE;
	if (!place && changes->unknown++ == 0)
		snprintf(changes->first_unknown, sizeof(changes->first_unknown), "%.*s", fields_shown(id),
		         id->at ? id->at : "");
	if (place && *place)
		return fields_wrong(&changes->reader, error, ": field id: '%.*s' stands in line %llu already",
		                    fields_shown(id), id->at,
		                    (unsigned long long)user_file_line(&changes->file, *place));
	if (place)
		*place = changes->reader.part.record.at;
	return 1;
}

int
changes_next(struct changes *changes, uint32_t *row, struct portolan_error *error)
{
	const struct record *record = &changes->reader.part.record;
	int code;

	do
		code = fields_next(&changes->reader, error);
	while (code > 0 && record->length == 0);
	if (code <= 0)
		return code;
	if (fields_is_ragged(&changes->reader))
		return fields_wrong(&changes->reader, error,
		                    changes->file.format == TABLE_TSV && changes->fields.width == CHANGES_FIELDS
		                            ? ": not three fields (id, old, new) separated by tabs"
		                            : ": more or fewer fields than the first line");
	if (memchr(record->at, '\0', record->length))
		return fields_wrong(&changes->reader, error, " has a NUL byte");
	return changes_find(changes, row, error);
}

void
changes_close(struct changes *changes)
{
	fields_end(&changes->reader);
	ids_index_free(&changes->index);
	array_free(changes->places);
	user_file_close(&changes->file);
	*changes = (struct changes){.dynamics = changes->dynamics};
}

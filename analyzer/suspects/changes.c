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

/* Finds how the file writes labels (changes.h). A record that is not well-formed ends the search: reading tells of it. */
static void
changes_find_form(struct changes *changes, size_t recorded)
{
	const struct dynamics *dynamics = changes->dynamics;
	struct fields_reader *reader = &changes->reader;
	const char *misfits[] = {NULL, NULL}; /* by form: the first record that does not fit */
	struct portolan_error ignored;
	bool is_number = false;

	while (!(misfits[LABEL_NAMES] && misfits[LABEL_NUMBERS]) && fields_next(reader, &ignored) > 0) {
		const struct field *id = &reader->found[CHANGES_ID], *label = &reader->found[recorded];
		int64_t position = id->at ? ids_index_find(&changes->index, id->at, id->length) : -1;
		int32_t known = position < 0 || !dynamics->gold ? -1 : dynamics->gold[dynamics->order[position]];

		for (enum label_form form = LABEL_NAMES; known >= 0 && label->at && form <= LABEL_NUMBERS; form++)
			if (!misfits[form] && !label_is(dynamics, form, known, label->at, label->length))
				misfits[form] = reader->part.record.at;
		if (misfits[LABEL_NAMES] && misfits[LABEL_NAMES] == misfits[LABEL_NUMBERS])
			is_number = label_find(dynamics, LABEL_NAMES, label->at, label->length) == LABEL_NONE &&
			            label_find(dynamics, LABEL_NUMBERS, label->at, label->length) >= 0;
	}
	changes->is_open = !misfits[LABEL_NAMES] && !misfits[LABEL_NUMBERS];
	if (is_number ||
	    (misfits[LABEL_NAMES] && (!misfits[LABEL_NUMBERS] || misfits[LABEL_NAMES] < misfits[LABEL_NUMBERS])))
		changes->form = LABEL_NUMBERS;
}

int
changes_begin(struct changes *changes, size_t recorded, struct portolan_error *error)
{
	static const char *const options[CHANGES_FIELDS] = {"the column", "the column", "the column"};
	const struct dynamics *dynamics = changes->dynamics;
	int code = fields_init(&changes->fields, &changes->file, changes_names, options, CHANGES_FIELDS, error);

	if (code >= 0)
		code = ids_index_init(&changes->index, &dynamics->ids, dynamics->order, dynamics->count, error);
	if (code < 0)
		return code;
	changes->places = array_new(dynamics->count, sizeof(*changes->places), "places of records", error);
	if (!changes->places)
		return PORTOLAN_E_MEMORY;
	fields_begin(&changes->reader, &changes->fields, user_file_whole(&changes->file));
	if (dynamics->info->label_count > 0)
		changes_find_form(changes, recorded);
	fields_begin(&changes->reader, &changes->fields, user_file_whole(&changes->file));
	return 0;
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

int
changes_label(const struct changes *changes, size_t number, int32_t *label, struct portolan_error *error)
{
	const struct field *field = &changes->reader.found[number];
	const char *text = field->at ? field->at : "";
	int32_t other;

	*label = label_find(changes->dynamics, changes->form, text, field->length);
	other = changes->is_open ? label_find(changes->dynamics, LABEL_NUMBERS, text, field->length) : *label;
	if (*label == LABEL_NONE)
		*label = other;
	if (other == LABEL_NONE || other == *label)
		return 0;
	return fields_wrong(&changes->reader, error,
	                    ": field %s: '%.*s' is the name of one class of run '%s' and the number of another, and no "
	                    "line shows which the file has: add a line of an example with one of these two labels",
	                    changes_names[number], fields_shown(field), text, changes->dynamics->info->name);
}

int
changes_no_label(const struct changes *changes, size_t number, int32_t label, const char *advice,
                 struct portolan_error *error)
{
	const struct field *field = &changes->reader.found[number];
	const char *text = field->at ? field->at : "", *name = changes->dynamics->info->name, *nearest;

	if (label == LABEL_TWICE)
		return fields_wrong(&changes->reader, error, ": field %s: two classes of run '%s' are named '%.*s'",
		                    changes_names[number], name, fields_shown(field), text);
	nearest = label_nearest(changes->dynamics, text, field->length);
	return fields_wrong(&changes->reader, error, ": field %s: '%.*s' is no class of run '%s'%s%s%s%s",
	                    changes_names[number], fields_shown(field), text, name, nearest ? " (did you mean '" : "",
	                    nearest ? nearest : "", nearest ? "'?)" : "", advice);
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

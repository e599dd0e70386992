/*
 * flips.c: the file of flips; see flips.h.
 *
 * A wrong line is an error, not a warning: a flip that is left out would count as a clean example, and spoil the
 * classifier.
 */
#include "flips.h"

#include "base/arrays.h"
#include "base/number.h"
#include "files/join.h"
#include "output/text.h"

#include <portolan/error.h>

#include <string.h>

#define HEADER "id\told\tnew"

void
flips_free(struct flips *flips)
{
	array_free(flips->flips);
	*flips = (struct flips){0};
}

void
flips_write(struct output *output, const struct dynamics *dynamics, const struct flips *flips)
{
	output_text(output, HEADER "\n");
	for (size_t i = 0; i < flips->count; i++) {
		const struct flip *flip = &flips->flips[i];

		text_id(output, &dynamics->ids, flip->row); /* as it is: ids have no control characters */
		output_printf(output, "\t%d\t%d\n", flip->old_label, flip->new_label);
	}
}

enum { ID, OLD, NEW };

static const char *const names[3] = {"id", "old", "new"};

/* One file being read. */
struct reading {
	const struct dynamics *dynamics;
	enum flips_label recorded;
	struct user_file file;
	struct fields_reader reader;
	struct ids_index index;
	const char **places; /* by position in the order: where in the file its record is; NULL: none */
	size_t room;
};

static int
read_label(const struct reading *reading, size_t number, int32_t *label, struct portolan_error *error)
{
	const struct field *field = &reading->reader.found[number];
	uint64_t value;

	if (!number_parse_u64(field->at, field->length, &value) || value > INT32_MAX)
		return fields_wrong(&reading->reader, error, ": field %s: '%.*s' is not a class number", names[number],
		                    fields_shown(field), field->at);
	*label = (int32_t)value;
	return 0;
}

/* The label in the run must be the one in the file with which the run was recorded. */
static int
check_label(const struct reading *reading, const struct flip *flip, struct portolan_error *error)
{
	int32_t expected = reading->recorded == FLIPS_NEW ? flip->new_label : flip->old_label;
	int32_t known = reading->dynamics->gold ? reading->dynamics->gold[flip->row] : -1;
	const struct field *id = &reading->reader.found[ID];

	if (known < 0 || known == expected)
		return 0;
	return fields_wrong(
	        &reading->reader, error, ": field %s: %d is not the label that '%.*s' has in run '%s', which is %d%s",
	        reading->recorded == FLIPS_NEW ? "new" : "old", expected, fields_shown(id), id->at,
	        reading->dynamics->info->name, known,
	        reading->recorded == FLIPS_NEW && known == flip->old_label ? ": was it trained with the flipped labels?"
	                                                                   : "");
}

static int
add_flip(struct reading *reading, const struct flip *flip, struct flips *flips, struct portolan_error *error)
{
	if (flips->count == reading->room) {
		size_t room = reading->room ? 2 * reading->room : 1024;
		struct flip *grown = array_grow(flips->flips, flips->count, room, sizeof(*grown), "flips", error);

		if (!grown)
			return PORTOLAN_E_MEMORY;
		flips->flips = grown;
		reading->room = room;
	}
	flips->flips[flips->count++] = *flip;
	return 0;
}

static int
read_flip(struct reading *reading, struct flips *flips, struct portolan_error *error)
{
	const struct field *id = &reading->reader.found[ID];
	const struct record *record = &reading->reader.part.record;
	const char **place;
	struct flip flip;
	int64_t position;

	if (fields_is_ragged(&reading->reader))
		return fields_wrong(&reading->reader, error, ": not three fields (id, old, new) separated by tabs");
	if (memchr(record->at, '\0', record->length))
		return fields_wrong(&reading->reader, error, " has a NUL byte");
	if (read_label(reading, OLD, &flip.old_label, error) < 0 ||
	    read_label(reading, NEW, &flip.new_label, error) < 0)
		return PORTOLAN_E_INVALID;
	if (flip.old_label == flip.new_label)
		return fields_wrong(&reading->reader, error, ": field new: %d is the old label as well",
		                    flip.new_label);
	position = ids_index_find(&reading->index, id->at, id->length);
	if (position < 0) {
		flips->unknown++;
		return 0;
	}
	place = &reading->places[position];
	if (*place)
		return fields_wrong(&reading->reader, error, ": field id: '%.*s' stands in line %llu already",
		                    fields_shown(id), id->at,
		                    (unsigned long long)user_file_line(&reading->file, *place));
	*place = record->at;
	flip.row = reading->dynamics->order[position];
	if (check_label(reading, &flip, error) < 0)
		return PORTOLAN_E_INVALID;
	return add_flip(reading, &flip, flips, error);
}

static int
check_header(const struct reading *reading, struct portolan_error *error)
{
	const struct record *header = &reading->file.header;
	bool commas = header->length == strlen("id,old,new") && memcmp(header->at, "id,old,new", header->length) == 0;

	if (reading->file.size == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is empty", reading->file.path);
	if (header->length == strlen(HEADER) && memcmp(header->at, HEADER, header->length) == 0)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "%s: line 1 must be id, old and new, separated by tabs%s",
	                 reading->file.path, commas ? ", not by commas" : "");
}

static int
read_records(struct reading *reading, struct flips *flips, struct portolan_error *error)
{
	struct fields fields;
	int code = check_header(reading, error);

	if (code >= 0)
		code = fields_init(&fields, &reading->file, names, names, 3, error);
	fields_begin(&reading->reader, &fields, user_file_whole(&reading->file));
	while (code >= 0 && (code = fields_next(&reading->reader, error)) > 0)
		if (reading->reader.part.record.length > 0)
			code = read_flip(reading, flips, error);
	fields_end(&reading->reader);
	return code;
}

int
flips_read(const char *option, const char *path, const struct dynamics *dynamics, enum flips_label recorded,
           struct flips *flips, struct portolan_error *error)
{
	struct reading reading = {.dynamics = dynamics, .recorded = recorded};
	int code = user_file_open(&reading.file, option, path, error);

	*flips = (struct flips){0};
	if (code < 0)
		return code;
	user_file_set_format(&reading.file, RECORDS_TSV);
	reading.places = array_new(dynamics->count, sizeof(*reading.places), "places of records", error);
	code = reading.places ? ids_index_init(&reading.index, &dynamics->ids, dynamics->order, dynamics->count, error)
	                      : PORTOLAN_E_MEMORY;
	if (code >= 0) {
		code = read_records(&reading, flips, error);
		ids_index_free(&reading.index);
	}
	array_free(reading.places);
	user_file_close(&reading.file);
	if (code < 0)
		flips_free(flips);
	return code;
}

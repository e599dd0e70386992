/*
 * flips.c: reads and writes the file of flips.
 *
 * A wrong line is an error, not a warning: a flip that is left out would count as a clean example, and spoil the
 * classifier.
 */
#include "flips.h"

#include "base/message.h"
#include "base/number.h"
#include "files/join.h"
#include "die/memory.h"
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

uint8_t *
flips_mark(const struct flips *flips, const struct dynamics *dynamics)
{
	uint8_t *marks = memory_array(dynamics->ids.rows, 1, "marks");

	for (size_t i = 0; i < flips->count; i++)
		marks[flips->flips[i].row] = 1;
	return marks;
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

/* The state of flips_read(). */
struct reading {
	const struct dynamics *dynamics;
	enum flips_label recorded;
	struct user_file file;
	struct fields_reader reader;
	struct ids_index index;
	const char **places; /* where in the file the flip of an example is, by place in the order; NULL: it has none */
};

static int
flips_read_label(const struct reading *reading, size_t number, int32_t *label, struct portolan_error *error)
{
	const struct field *field = &reading->reader.found[number];
	uint64_t value;

	if (!number_parse_u64(field->at, field->length, &value) || value > INT32_MAX)
		return fields_wrong(&reading->reader, error, ": field %s: '%.*s' is not a class number", names[number],
		                    fields_shown(field), field->at);
	*label = (int32_t)value;
	return 0;
}

/* Checks that the run has the label with which the file says it was recorded. */
static int
flips_check_label(const struct reading *reading, const struct flip *flip, struct portolan_error *error)
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
flips_read_one(struct reading *reading, struct flips *flips, struct portolan_error *error)
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
	if (flips_read_label(reading, OLD, &flip.old_label, error) < 0 ||
	    flips_read_label(reading, NEW, &flip.new_label, error) < 0)
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
	if (flips_check_label(reading, &flip, error) < 0)
		return PORTOLAN_E_INVALID;
	flips->flips[flips->count++] = flip;
	return 0;
}

static int
flips_check_header(const struct reading *reading, struct portolan_error *error)
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

static void
flips_reading_free(struct reading *reading)
{
	fields_end(&reading->reader);
	ids_index_free(&reading->index);
	array_free(reading->places);
	user_file_close(&reading->file);
}

int
flips_read(const char *option, const char *path, const struct dynamics *dynamics, enum flips_label recorded,
           struct flips *flips, struct portolan_error *error)
{
	CLEANUP(flips_reading_free) struct reading reading = {.dynamics = dynamics, .recorded = recorded};
	CLEANUP(flips_free) struct flips found = {.count = 0};
	struct fields fields;
	int code = user_file_open(&reading.file, option, path, error);

	if (code < 0)
		return code;
	user_file_set_format(&reading.file, RECORDS_TSV);
	reading.places = memory_array(dynamics->count, sizeof(*reading.places), "places of records");
	found.flips = memory_array(dynamics->count, sizeof(*found.flips), "flips"); /* of an example at most one */
	if (ids_index_init(&reading.index, &dynamics->ids, dynamics->order, dynamics->count, error) < 0)
		return PORTOLAN_E_MEMORY;
	if (flips_check_header(&reading, error) < 0)
		return PORTOLAN_E_INVALID;
	code = fields_init(&fields, &reading.file, names, names, 3, error);
	if (code < 0)
		return code;
	fields_begin(&reading.reader, &fields, user_file_whole(&reading.file));
	while ((code = fields_next(&reading.reader, error)) > 0)
		if (reading.reader.part.record.length > 0 && flips_read_one(&reading, &found, error) < 0)
			return PORTOLAN_E_INVALID;
	if (code < 0)
		return code;
	if (found.unknown > 0 && recorded == FLIPS_NEW)
		message_warning("%s: %s ids are not in run '%s'; left out", path, NUMBER_GROUPED(found.unknown),
		                dynamics->info->name);
	*flips = found;
	found = (struct flips){0};
	return 0;
}

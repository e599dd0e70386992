/*
 * flips.c: writes the list of labels that are changed on purpose, for `noise plan`, and reads it for `noise fit` and
 * `noise aum`.
 *
 * A wrong line is an error, not a warning: a flip that is left out would count as a clean example, and spoil the
 * classifier.
 */
#include "flips.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "files/join.h"
#include "output/text.h"

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
flips_write(const char *path, const struct dynamics *dynamics, const struct flips *flips)
{
	struct output output;

	must(output_open(&output, path, &failure));
	output_text(&output, HEADER "\n");
	for (size_t i = 0; i < flips->count; i++) {
		const struct flip *flip = &flips->flips[i];

		text_id(&output, &dynamics->ids, flip->row); /* no escapes: ids have no control characters */
		output_printf(&output, "\t%d\t%d\n", flip->old_label, flip->new_label);
	}
	must(output_finish(&output, &failure));
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
	const char **places; /* by place in the order: the example's line in the file; NULL: it has none */
};

static int32_t
flips_read_label(const struct reading *reading, size_t number)
{
	const struct field *field = &reading->reader.found[number];
	uint64_t value = 0;

	if (!number_parse_u64(field->at, field->length, &value) || value > INT32_MAX)
		must(fields_wrong(&reading->reader, &failure, ": field %s: '%.*s' is not a class number", names[number],
		                  fields_shown(field), field->at));
	return (int32_t)value;
}

/* Checks that the run has for the example the label with which the file says that it was recorded: the old one or the
 * new. */
static void
flips_check_label(const struct reading *reading, const struct flip *flip)
{
	int32_t expected = reading->recorded == FLIPS_NEW ? flip->new_label : flip->old_label;
	int32_t known = reading->dynamics->gold ? reading->dynamics->gold[flip->row] : -1;
	const struct field *id = &reading->reader.found[ID];

	if (known < 0 || known == expected)
		return;
	must(fields_wrong(&reading->reader, &failure,
	                  ": field %s: %d is not the label that '%.*s' has in run '%s', which is %d%s",
	                  reading->recorded == FLIPS_NEW ? "new" : "old", expected, fields_shown(id), id->at,
	                  reading->dynamics->info->name, known,
	                  reading->recorded == FLIPS_NEW && known == flip->old_label
	                          ? ": was it trained with the flipped labels?"
	                          : ""));
}

static void
flips_read_one(struct reading *reading, struct flips *flips)
{
	const struct field *id = &reading->reader.found[ID];
	const struct record *record = &reading->reader.part.record;
	const char **place;
	struct flip flip;
	int64_t position;

	if (fields_is_ragged(&reading->reader))
		must(fields_wrong(&reading->reader, &failure, ": not three fields (id, old, new) separated by tabs"));
	if (memchr(record->at, '\0', record->length))
		must(fields_wrong(&reading->reader, &failure, " has a NUL byte"));
	flip.old_label = flips_read_label(reading, OLD);
	flip.new_label = flips_read_label(reading, NEW);
	if (flip.old_label == flip.new_label)
		must(fields_wrong(&reading->reader, &failure, ": field new: %d is the old label as well",
		                  flip.new_label));
	position = ids_index_find(&reading->index, id->at, id->length);
	if (position < 0) {
		flips->unknown++;
		return;
	}
	place = &reading->places[position];
	if (*place)
		must(fields_wrong(&reading->reader, &failure, ": field id: '%.*s' stands in line %llu already",
		                  fields_shown(id), id->at,
		                  (unsigned long long)user_file_line(&reading->file, *place)));
	*place = record->at;
	flip.row = reading->dynamics->order[position];
	flips_check_label(reading, &flip);
	flips->flips[flips->count++] = flip;
}

static void
flips_check_header(const struct reading *reading)
{
	const struct record *header = &reading->file.header;
	bool commas = header->length == strlen("id,old,new") && memcmp(header->at, "id,old,new", header->length) == 0;

	if (reading->file.size == 0)
		die("%s is empty", reading->file.path);
	if (header->length != strlen(HEADER) || memcmp(header->at, HEADER, header->length) != 0)
		die("%s: line 1 must be id, old and new, separated by tabs%s", reading->file.path,
		    commas ? ", not by commas" : "");
}

static void
flips_reading_free(struct reading *reading)
{
	fields_end(&reading->reader);
	ids_index_free(&reading->index);
	array_free(reading->places);
	user_file_close(&reading->file);
}

struct flips
flips_read(const char *option, const char *path, const struct dynamics *dynamics, enum flips_label recorded)
{
	CLEANUP(flips_reading_free) struct reading reading = {.dynamics = dynamics, .recorded = recorded};
	struct flips flips = {.count = 0};
	struct fields fields;

	must(user_file_open(&reading.file, option, path, &failure));
	user_file_set_format(&reading.file, TABLE_TSV);
	reading.places = memory_array(dynamics->count, sizeof(*reading.places), "places of records");
	flips.flips = memory_array(dynamics->count, sizeof(*flips.flips), "flips"); /* at most one for each example */
	must(ids_index_init(&reading.index, &dynamics->ids, dynamics->order, dynamics->count, &failure));
	flips_check_header(&reading);
	must(fields_init(&fields, &reading.file, names, names, 3, &failure));
	fields_begin(&reading.reader, &fields, user_file_whole(&reading.file));
	while (must(fields_next(&reading.reader, &failure)) > 0)
		if (reading.reader.part.record.length > 0)
			flips_read_one(&reading, &flips);
	if (flips.unknown > 0 && recorded == FLIPS_NEW)
		message_warning("%s: %s ids are not in run '%s'; left out", path, NUMBER_GROUPED(flips.unknown),
		                dynamics->info->name);
	return flips;
}

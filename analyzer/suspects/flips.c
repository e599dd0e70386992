/*
 * flips.c: writes the list of labels that are changed on purpose, for `noise plan`, and reads it for `noise fit`, `noise
 * aum` and `suspects`.
 *
 * A wrong line is an error, not a warning: a flip that is left out would count as a clean example, and spoil the
 * classifier or the calibration.
 */
#include "flips.h"

#include "base/message.h"
#include "base/number.h"
#include "changes.h"
#include "die/die.h"
#include "die/memory.h"
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

static int32_t
flips_read_label(const struct changes *changes, size_t number)
{
	int32_t label;

	must(changes_label(changes, number, &label, &failure));
	if (label < 0)
		must(changes_no_label(changes, number, label, "", &failure));
	return label;
}

/* Checks that the run has for the example the label with which the file says that it was recorded: the old one or the
 * new. */
static void
flips_check_label(const struct changes *changes, const struct flip *flip, enum flips_label recorded)
{
	size_t number = recorded == FLIPS_NEW ? CHANGES_NEW : CHANGES_OLD;
	int32_t expected = recorded == FLIPS_NEW ? flip->new_label : flip->old_label;
	int32_t known = changes->dynamics->gold ? changes->dynamics->gold[flip->row] : -1;
	const struct field *id = &changes->reader.found[CHANGES_ID], *field = &changes->reader.found[number];
	char digits[NUMBER_ROOM];

	if (known < 0 || known == expected)
		return;
	must(fields_wrong(
	        &changes->reader, &failure,
	        ": field %s: %.*s is not the label that '%.*s' has in run '%s', which is %s%s", changes_names[number],
	        fields_shown(field), field->at, fields_shown(id), id->at, changes->dynamics->info->name,
	        label_text(changes->dynamics, known, digits),
	        recorded == FLIPS_NEW && known == flip->old_label ? ": was it trained with the flipped labels?" : ""));
}

static void
flips_check_header(const struct user_file *file)
{
	const struct record *header = &file->header;
	bool commas = header->length == strlen("id,old,new") && memcmp(header->at, "id,old,new", header->length) == 0;

	if (file->size == 0)
		die("%s is empty", file->path);
	if (header->length != strlen(HEADER) || memcmp(header->at, HEADER, header->length) != 0)
		die("%s: line 1 must be id, old and new, separated by tabs%s", file->path,
		    commas ? ", not by commas" : "");
}

struct flips
flips_read(const char *option, const char *path, const struct dynamics *dynamics, enum flips_label recorded)
{
	CLEANUP(changes_close) struct changes changes = {.dynamics = dynamics};
	struct flips flips = {.count = 0};
	uint32_t row;

	must(changes_open(&changes, option, path, &failure));
	user_file_set_format(&changes.file, TABLE_TSV);
	flips_check_header(&changes.file);
	must(changes_begin(&changes, recorded == FLIPS_NEW ? CHANGES_NEW : CHANGES_OLD, &failure));
	flips.flips = memory_array(dynamics->count, sizeof(*flips.flips), "flips"); /* at most one for each example */
	while (must(changes_next(&changes, &row, &failure)) > 0) {
		struct flip flip = {row, flips_read_label(&changes, CHANGES_OLD),
		                    flips_read_label(&changes, CHANGES_NEW)};

		if (flip.old_label == flip.new_label)
			must(fields_wrong(&changes.reader, &failure, ": field new: %.*s is the old label as well",
			                  fields_shown(&changes.reader.found[CHANGES_NEW]),
			                  changes.reader.found[CHANGES_NEW].at));
		if (row == CHANGES_NONE)
			continue;
		flips_check_label(&changes, &flip, recorded);
		flips.flips[flips.count++] = flip;
	}
	flips.unknown = changes.unknown;
	if (flips.unknown > 0 && recorded == FLIPS_NEW)
		message_warning("%s: %s ids are not in run '%s'; left out", path, NUMBER_GROUPED(flips.unknown),
		                dynamics->info->name);
	return flips;
}

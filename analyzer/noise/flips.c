/*
 * flips.c: the file of flips; see flips.h.
 *
 * It is read line by line. A wrong line is an error, not a warning: a flip that is silently left out would count as a
 * clean example, and spoil what is learned from them.
 */
#include "flips.h"

#include "output/table.h"
#include "output/text.h"
#include "program/number.h"

#include <portolan/error.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "id\told\tnew"
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void
flips_free(struct flips *flips)
{
	free(flips->flips);
	*flips = (struct flips){0};
}

void
flips_write(struct output *output, const struct dynamics *dynamics, const struct flips *flips)
{
	output_text(output, HEADER "\n");
	for (size_t i = 0; i < flips->count; i++) {
		const struct flip *flip = &flips->flips[i];

		if (dynamics->ids.kind == STORE_ID_INT) {
			text_integer(output, dynamics->ids.integers[flip->row]);
		} else { /* as it is: ids have no control characters */
			size_t length;
			const char *text = ids_text(&dynamics->ids, flip->row, &length);

			output_bytes(output, text, length);
		}
		output_printf(output, "\t%d\t%d\n", flip->old_label, flip->new_label);
	}
}

/* One file being read. */
struct reading {
	const char *path;
	const struct dynamics *dynamics;
	enum flips_label recorded;
	struct ids_index index;
	uint64_t *line_of; /* by position in the order: the line that had it; 0: none */
	uint64_t line;     /* from 1 */
	size_t room;
};

/* Cuts the line at its tabs, in place; false: not three fields. */
static bool
split(char *line, char *fields[3])
{
	for (int i = 0; i < 3; i++) {
		fields[i] = line;
		line = strchr(line, '\t');
		if ((line == NULL) != (i == 2))
			return false;
		if (line)
			*line++ = '\0';
	}
	return true;
}

static int
read_label(const struct reading *reading, const char *field, const char *text, int32_t *label,
           struct portolan_error *error)
{
	uint64_t value;

	if (!number_parse_u64(text, strlen(text), &value) || value > INT32_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu: field %s: '%.64s' is not a class number",
		                 reading->path, (unsigned long long)reading->line, field, text);
	*label = (int32_t)value;
	return 0;
}

/* The label that the run knows must be the one it was recorded with. */
static int
check_label(const struct reading *reading, const char *id, const struct flip *flip, struct portolan_error *error)
{
	int32_t expected = reading->recorded == FLIPS_NEW ? flip->new_label : flip->old_label;
	int32_t known = reading->dynamics->gold ? reading->dynamics->gold[flip->row] : -1;

	if (known < 0 || known == expected)
		return 0;
	return error_set(
	        error, PORTOLAN_E_INVALID,
	        "%s: line %llu: field %s: %d is not the label that '%.64s' has in run '%s', which is %d%s",
	        reading->path, (unsigned long long)reading->line, reading->recorded == FLIPS_NEW ? "new" : "old",
	        expected, id, reading->dynamics->info->name, known,
	        reading->recorded == FLIPS_NEW && known == flip->old_label ? ": was it trained with the flipped labels?"
	                                                                   : "");
}

static int
add_flip(struct reading *reading, const struct flip *flip, struct flips *flips, struct portolan_error *error)
{
	if (flips->count == reading->room) {
		size_t room = reading->room ? 2 * reading->room : 1024;
		struct flip *grown = realloc(flips->flips, room * sizeof(*grown));

		if (!grown)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the flips of %s", reading->path);
		flips->flips = grown;
		reading->room = room;
	}
	flips->flips[flips->count++] = *flip;
	return 0;
}

static int
read_flip(struct reading *reading, char *line, struct flips *flips, struct portolan_error *error)
{
	struct flip flip;
	char *fields[3];
	int64_t position;

	if (!split(line, fields))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: line %llu: not three fields (id, old, new) separated by tabs", reading->path,
		                 (unsigned long long)reading->line);
	if (read_label(reading, "old", fields[1], &flip.old_label, error) < 0 ||
	    read_label(reading, "new", fields[2], &flip.new_label, error) < 0)
		return PORTOLAN_E_INVALID;
	if (flip.old_label == flip.new_label)
		return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu: field new: %d is the old label as well",
		                 reading->path, (unsigned long long)reading->line, flip.new_label);
	position = ids_index_find(&reading->index, fields[0], strlen(fields[0]));
	if (position < 0) {
		flips->unknown++;
		return 0;
	}
	if (reading->line_of[position] > 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: line %llu: field id: '%.64s' stands in line %llu already", reading->path,
		                 (unsigned long long)reading->line, fields[0],
		                 (unsigned long long)reading->line_of[position]);
	reading->line_of[position] = reading->line;
	flip.row = reading->dynamics->order[position];
	if (check_label(reading, fields[0], &flip, error) < 0)
		return PORTOLAN_E_INVALID;
	return add_flip(reading, &flip, flips, error);
}

static int
check_header(const struct reading *reading, const char *line, struct portolan_error *error)
{
	if (strncmp(line, BYTE_ORDER_MARK, 3) == 0)
		line += 3;
	if (strcmp(line, HEADER) == 0)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "%s: line 1 must be id, old and new, separated by tabs%s",
	                 reading->path, strcmp(line, "id,old,new") == 0 ? ", not by commas" : "");
}

static int
read_lines(struct reading *reading, FILE *stream, struct flips *flips, struct portolan_error *error)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int code = 0;

	while (code >= 0 && (length = getline(&line, &room, stream)) >= 0) {
		reading->line++;
		while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		if (strlen(line) != (size_t)length)
			code = error_set(error, PORTOLAN_E_INVALID, "%s: line %llu has a NUL byte", reading->path,
			                 (unsigned long long)reading->line);
		else if (reading->line == 1)
			code = check_header(reading, line, error);
		else if (length > 0)
			code = read_flip(reading, line, flips, error);
	}
	free(line);
	if (code < 0)
		return code;
	if (ferror(stream))
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", reading->path, strerror(errno));
	if (reading->line == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is empty", reading->path);
	return 0;
}

int
flips_read(const char *path, const struct dynamics *dynamics, enum flips_label recorded, struct flips *flips,
           struct portolan_error *error)
{
	struct reading reading = {.path = path, .dynamics = dynamics, .recorded = recorded};
	FILE *stream = fopen(path, "re");
	int code;

	*flips = (struct flips){0};
	if (!stream)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	reading.line_of = calloc(dynamics->count + 1, sizeof(*reading.line_of));
	code = reading.line_of ? ids_index_init(&reading.index, &dynamics->ids, dynamics->order, dynamics->count, error)
	                       : error_set(error, PORTOLAN_E_MEMORY, "out of memory to read %s", path);
	if (code >= 0) {
		code = read_lines(&reading, stream, flips, error);
		ids_index_free(&reading.index);
	}
	free(reading.line_of);
	fclose(stream);
	if (code < 0)
		flips_free(flips);
	return code;
}

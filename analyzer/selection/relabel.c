/*
 * relabel.c: puts corrected labels into the user's lines (relabel.h). A first pass over the file learns how it writes
 * each label; then the lines of the corrected examples are made anew around the label.
 */
#include "relabel.h"

#include "base/message.h"
#include "die/die.h"
#include "die/memory.h"
#include "regions/classes.h"
#include "suspects/labels.h"

#include <json_line.h>

#include <stdlib.h>
#include <string.h>

struct span {
	const char *at; /* in the file; NULL: there is none */
	size_t length;
};

struct relabelling {
	const struct relabel_request *request;
	struct join *join;
	size_t column; /* CSV and TSV: the label's */
	char *room[2]; /* for a key of JSON, and for labels without quotes and escapes */
	size_t room_sizes[2];
	struct classes classes; /* the labels that the run was recorded with */
	struct span *written;   /* by class: how the file writes it, in the first line that has it */
};

static char *
relabelling_room(struct relabelling *relabelling, size_t which, size_t size)
{
	char **room = &relabelling->room[which];

	*room = memory_grow(*room, &relabelling->room_sizes[which], size + 1, 1);
	return *room;
}

/* What is written, without quotes and escapes; the text stands in the given room. */
static struct span
relabelling_read(struct relabelling *relabelling, const struct span *span, size_t which)
{
	char *text = relabelling_room(relabelling, which, span->length);
	const char *at = span->at;
	struct json_value value = {JSON_LINE_STRING, true, span->at + 1, span->length - 2};
	struct field field;

	if (relabelling->join->format != TABLE_JSONL &&
	    records_take_field(relabelling->join->format, &at, span->at + span->length, text, &field))
		return (struct span){field.at, field.length};
	if (relabelling->join->format == TABLE_JSONL && *span->at == '"' && json_line_decode(&value, text))
		return (struct span){value.at, value.size};
	return *span;
}

/* Is this the same label, maybe with other quotes and escapes? In JSON a number is not the text of its digits. */
static bool
relabelling_is_same(struct relabelling *relabelling, const struct span *a, const struct span *b)
{
	struct span one, two;

	if (!a->at || !b->at)
		return false;
	if (a->length == b->length && memcmp(a->at, b->at, a->length) == 0)
		return true;
	if (relabelling->join->format == TABLE_JSONL && (*a->at != '"' || *b->at != '"'))
		return false;
	one = relabelling_read(relabelling, a, 0);
	two = relabelling_read(relabelling, b, 1);
	return one.length == two.length && memcmp(one.at, two.at, one.length) == 0;
}

/* How many bytes of it a message shows. */
static int
span_shown(const struct span *span)
{
	return span->length < 64 ? (int)span->length : 64;
}

/* Finds the label in a JSON line: its value, a text with its quotes. Programs differ in which of two members with one key
 * they read, so a line that has the label twice is refused. */
static struct span
relabelling_find_member(struct relabelling *relabelling, const struct record *record)
{
	struct json_line line = {.begin = record->at, .at = record->at, .end = record->at + record->length};
	const char *field = relabelling->request->label_field;
	const struct user_file *file = &relabelling->join->file;
	char *keys = relabelling_room(relabelling, 0, record->length);
	struct json_value key, value;
	struct span found = {0};

	for (int code = json_line_first(&line, &key); code > 0; code = json_line_next(&line, &key)) {
		bool is_text;

		if (!json_line_decode(&key, keys) || json_line_value(&line, &value) < 0)
			break;
		is_text = value.kind == JSON_LINE_STRING;
		if (key.size != strlen(field) || memcmp(key.at, field, key.size) != 0)
			continue;
		if (found.at)
			die("%s: line %llu has the field '%s' twice: leave one", file->path,
			    (unsigned long long)user_file_line(file, record->at), field);
		found = (struct span){value.at - is_text, value.size + 2 * is_text};
	}
	return found;
}

/* Finds the label in a record: the bytes between two separators, quotes included. */
static struct span
relabelling_find(struct relabelling *relabelling, const struct record *record)
{
	const char *at = record->at, *end = at + record->length, *begin = at;
	enum table_format format = relabelling->join->format;

	if (format == TABLE_JSONL)
		return relabelling_find_member(relabelling, record);
	for (size_t column = 0; at; column++) {
		begin = at;
		if (!records_take_field(format, &at, end, NULL, NULL))
			break;
		if (column == relabelling->column)
			return (struct span){begin, (size_t)((at ? at - 1 : end) - begin)};
	}
	return (struct span){0};
}

/* How the file writes a label; NULL: no line of an example with this label was found. */
static struct span *
relabelling_written(const struct relabelling *relabelling, int32_t label)
{
	size_t class = classes_find(&relabelling->classes, label);

	return relabelling->classes.labels[class] == label ? &relabelling->written[class] : NULL;
}

static void
relabelling_learn_line(struct relabelling *relabelling, const struct record *record, int32_t label)
{
	const struct relabel_request *request = relabelling->request;
	const struct user_file *file = &relabelling->join->file;
	struct span *written = relabelling_written(relabelling, label);
	struct span found = relabelling_find(relabelling, record);

	if (!found.at)
		die("%s: line %llu has no field '%s', which has the labels, says --label-field", file->path,
		    (unsigned long long)user_file_line(file, record->at), request->label_field);
	if (!written->at)
		*written = found;
	if (!relabelling_is_same(relabelling, written, &found))
		die("%s: field %s is %.*s in line %llu and %.*s in line %llu, and both examples were recorded with one "
		    "label: is --label-field right, and the file the one that the run was recorded with?",
		    file->path, request->label_field, span_shown(written), written->at,
		    (unsigned long long)user_file_line(file, written->at), span_shown(&found), found.at,
		    (unsigned long long)user_file_line(file, found.at));
}

/* Learns how the file writes each label, from the lines of all examples that have one and are not in the file of
 * corrections. */
static void
relabelling_learn(struct relabelling *relabelling)
{
	static const char *const option = "--id-field";
	const struct relabel_request *request = relabelling->request;
	const struct dynamics *dynamics = request->dynamics;
	const struct user_file *file = &relabelling->join->file;
	CLEANUP(fields_end) struct fields_reader reader = {0};
	struct join_oddities oddities = {0};
	struct ids_index index;
	struct fields fields;
	uint64_t others = 0;

	must(fields_init(&fields, file, &request->id_field, &option, 1, &failure));
	must(ids_index_init(&index, &dynamics->ids, dynamics->order, dynamics->count, &failure));
	fields_begin(&reader, &fields, user_file_whole(file));
	while (must(fields_next(&reader, &failure)) > 0) {
		int64_t position = join_find(&index, &reader, 0, &oddities);
		uint32_t row = position < 0 ? 0 : dynamics->order[position];

		others += position < 0;
		if (position >= 0 && request->corrected->recorded[row] >= 0 &&
		    request->corrected->marks[row] == CORRECTED_NOT)
			relabelling_learn_line(relabelling, &reader.part.record, request->corrected->recorded[row]);
	}
	ids_index_free(&index);
	if (others > 0)
		message_note("%s: %s line%s of no example of run '%s', left out", file->path, NUMBER_GROUPED(others),
		             others == 1 ? " is" : "s are", dynamics->info->name);
}

/* Makes the line anew with another label. */
static char *
relabelling_make_line(struct record *record, const struct span *old, const struct span *new_label)
{
	size_t before = (size_t)(old->at - record->at), after = record->next - before - old->length;
	char *line = memory_new(before + new_label->length + after + 1, 1);

	memcpy(line, record->at, before);
	memcpy(line + before, new_label->at, new_label->length);
	memcpy(line + before + new_label->length, old->at + old->length, after);
	record->at = line;
	record->length = record->length - old->length + new_label->length;
	record->next = record->next - old->length + new_label->length;
	return line;
}

/* Checks the label of a line where no other line shows how the file writes it: it must be as the run has it. */
static void
relabelling_check_alone(struct relabelling *relabelling, const struct record *record, const struct span *found,
                        int32_t recorded)
{
	const struct relabel_request *request = relabelling->request;
	const struct user_file *file = &relabelling->join->file;
	struct span text = relabelling_read(relabelling, found, 0);
	char digits[NUMBER_ROOM];
	const char *label = label_text(request->dynamics, recorded, digits);
	uint64_t number;

	if (label_is(request->dynamics, LABEL_NAMES, recorded, text.at, text.length) ||
	    (label_find(request->dynamics, LABEL_NAMES, text.at, text.length) == LABEL_NONE && recorded >= 0 &&
	     number_parse_whole(text.at, text.length, &number) && number == (uint64_t)recorded))
		return;
	die("%s: line %llu: field %s is %.*s, the old label in %s is %s, and no other line shows whether the file writes "
	    "it so: correct the line by hand",
	    file->path, (unsigned long long)user_file_line(file, record->at), request->label_field, span_shown(found),
	    found->at, request->corrections, label ? label : "none");
}

/* Replaces the label in the record of an example, unless it is the new one already. Returns the new line, or NULL. */
static char *
relabelling_replace(struct relabelling *relabelling, struct record *record, uint32_t row)
{
	const struct relabel_request *request = relabelling->request;
	const struct corrected *corrected = request->corrected;
	const struct user_file *file = &relabelling->join->file;
	const struct span *was = relabelling_written(relabelling, corrected->recorded[row]);
	const struct span *becomes = relabelling_written(relabelling, request->dynamics->gold[row]);
	struct span found = relabelling_find(relabelling, record);

	if (!becomes || !becomes->at)
		die("%s: line %llu gets another label by %s, and no other line has that label, which would show how "
		    "field %s has it: correct the line by hand",
		    file->path, (unsigned long long)user_file_line(file, record->at), request->corrections,
		    request->label_field);
	if (relabelling_is_same(relabelling, &found, becomes))
		return NULL;
	if (!found.at || (was && was->at && !relabelling_is_same(relabelling, &found, was)))
		die("%s: line %llu: field %s is %.*s, which is neither the old nor the new label of this example in "
		    "%s: is --label-field right?",
		    file->path, (unsigned long long)user_file_line(file, record->at), request->label_field,
		    span_shown(&found), found.at ? found.at : "", request->corrections);
	if (!was || !was->at)
		relabelling_check_alone(relabelling, record, &found, corrected->recorded[row]);
	return relabelling_make_line(record, &found, becomes);
}

void
relabelled_free(struct relabelled *relabelled)
{
	for (size_t i = 0; i < relabelled->count; i++)
		free(relabelled->lines[i]);
	free(relabelled->lines);
	*relabelled = (struct relabelled){0};
}

void
relabel(struct relabelled *relabelled, const struct relabel_request *request, struct join *join)
{
	const struct dynamics *dynamics = request->dynamics;
	const struct corrected *corrected = request->corrected;
	struct relabelling relabelling = {.request = request, .join = join};
	size_t room = 0;

	if (join->format != TABLE_JSONL)
		must(user_file_column(&join->file, "--label-field", request->label_field, &relabelling.column,
		                      &failure));
	must(classes_make(&relabelling.classes, corrected->recorded, dynamics->order, dynamics->count, &failure));
	relabelling.written = memory_new(relabelling.classes.count, sizeof(*relabelling.written));
	relabelling_learn(&relabelling);
	for (size_t i = 0; i < join->count; i++) {
		uint32_t row = request->chosen[join->matches[i].position];
		char *line = NULL;

		if (corrected->marks[row] == CORRECTED_CHANGED)
			line = relabelling_replace(&relabelling, &join->matches[i].record, row);
		if (!line)
			continue;
		relabelled->lines = memory_grow(relabelled->lines, &room, relabelled->count + 1, sizeof(char *));
		relabelled->lines[relabelled->count++] = line;
	}
	free(relabelling.room[0]);
	free(relabelling.room[1]);
	free(relabelling.written);
	classes_free(&relabelling.classes);
}

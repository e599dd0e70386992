/*
 * relabel.c: puts corrected labels into the user's lines (relabel.h). A first pass over the file learns how it writes
 * each label; then the lines of the corrected examples are made anew around the label.
 */
#include "relabel.h"

#include "base/message.h"
#include "die/die.h"
#include "die/memory.h"
#include "regions/classes.h"

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
	char *keys;    /* room for a key of JSON */
	size_t keys_room;
	struct classes classes; /* the labels that the run was recorded with */
	struct span *written;   /* by class: how the file writes it, in the first line that has it */
};

static bool
span_equals(const struct span *a, const struct span *b)
{
	return a->at && b->at && a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

/* How many bytes of it a message shows. */
static int
span_shown(const struct span *span)
{
	return span->length < 64 ? (int)span->length : 64;
}

/* Finds the label in a JSON line: its value, a text with its quotes. Of two members with one key the first counts. */
static struct span
relabelling_find_member(struct relabelling *relabelling, const struct record *record)
{
	struct json_line line = {.begin = record->at, .at = record->at, .end = record->at + record->length};
	const char *field = relabelling->request->label_field;
	struct json_value key, value;

	relabelling->keys = memory_grow(relabelling->keys, &relabelling->keys_room, record->length + 1, 1);
	for (int code = json_line_first(&line, &key); code > 0; code = json_line_next(&line, &key)) {
		bool is_text;

		if (!json_line_decode(&key, relabelling->keys) || json_line_value(&line, &value) < 0)
			break;
		is_text = value.kind == JSON_LINE_STRING;
		if (key.size == strlen(field) && memcmp(key.at, field, key.size) == 0)
			return (struct span){value.at - is_text, value.size + 2 * is_text};
	}
	return (struct span){0};
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
	if (!span_equals(written, &found))
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
	if (span_equals(&found, becomes))
		return NULL;
	if (!found.at || (was && was->at && !span_equals(&found, was)))
		die("%s: line %llu: field %s is %.*s, which is neither the old nor the new label of this example in "
		    "%s: is --label-field right?",
		    file->path, (unsigned long long)user_file_line(file, record->at), request->label_field,
		    span_shown(&found), found.at ? found.at : "", request->corrections);
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
	free(relabelling.keys);
	free(relabelling.written);
	classes_free(&relabelling.classes);
}

/*
 * source_highlight.c: marks the examples that `map --highlight FILE` draws over all others: those whose ids stand in the
 * file.
 *
 * The file has ids, one a line or as a NumPy array; or records (JSON lines, CSV, TSV) with the ids in a field, such as
 * the flips of `portolan noise plan`.
 */
#include "source.h"

#include "die/die.h"
#include "die/memory.h"
#include "files/list.h"

#include <stdio.h>
#include <string.h>

#define OTHERS 1.0 /* the colour value (level) of examples that are not highlighted; the highlighted ones have 0 */

struct marking {
	struct map_source *source;
	const struct map_source_request *request;
	struct ids_index index;
	const char *unit; /* of the file: "line" or "row" */
	uint64_t ids;     /* ids read so far */
};

/* Marks the example with this id. False: the text is no whole number, as all ids of the source are. */
static bool
marking_add(struct marking *marking, const char *id, size_t length)
{
	struct map_source *source = marking->source;
	int64_t position = ids_index_find(&marking->index, id, length);

	marking->ids++;
	if (position >= 0) {
		source->colour_values[source->order[position]] = 0;
		return true;
	}
	if (source->highlight_unknown++ == 0)
		snprintf(source->first_unknown, sizeof(source->first_unknown), "%.*s", (int)(length < 60 ? length : 60),
		         id);
	return ids_can_have(source->ids, id, length);
}

static int
marking_add_listed(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	struct marking *marking = context;

	(void)error;
	if (!marking_add(marking, id, length))
		die("%s: %s %llu: '%.*s' is no whole number, as the ids of %s are (one id a line; or a file whose name "
		    "ends with .csv, .tsv or .jsonl, with the ids in --id-field)",
		    marking->request->highlight, marking->unit, (unsigned long long)place,
		    (int)(length < 60 ? length : 60), id, marking->source->name);
	return 0;
}

/* Marks the examples whose ids stand in a field of the file's records. */
static void
marking_read_records(struct marking *marking)
{
	static const char *const option = "--id-field";
	CLEANUP(user_file_close) struct user_file file = {0};
	CLEANUP(fields_end) struct fields_reader reader = {0};
	struct fields fields;
	const char *id_field;

	must(user_file_open(&file, "--highlight", marking->request->highlight, &failure));
	id_field = map_source_id_field(&file, marking->request->id_field);
	must(fields_init(&fields, &file, &id_field, &option, 1, &failure));
	fields_begin(&reader, &fields, user_file_whole(&file));
	while (must(fields_next(&reader, &failure)) > 0) {
		const struct field *id = &reader.found[0];

		if (!join_is_id(id))
			must(fields_wrong(&reader, &failure, ": field %s: no id", id_field));
		if (!marking_add(marking, id->at, id->length))
			must(fields_wrong(&reader, &failure,
			                  ": field %s: '%.*s' is no whole number, as the ids of %s are", id_field,
			                  fields_shown(id), id->at, marking->source->name));
	}
}

static bool
marking_has_records(const char *path)
{
	static const char *const endings[] = {".csv", ".tsv", ".jsonl"};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcasecmp(dot, endings[i]) == 0)
			return true;
	return false;
}

/* Makes the two levels. In the key, the highlighted examples have the name of their file. */
static void
marking_make_levels(struct map_source *source, const char *path)
{
	source->levels[0] = (struct map_level){.slot = MAP_SLOT_HIGHLIGHTED};
	source->levels[1] = (struct map_level){.name = "all others", .slot = MAP_SLOT_REST};
	snprintf(source->levels[0].name, sizeof(source->levels[0].name), "%.127s",
	         map_source_file_name(path, "highlighted"));
	source->input.levels = source->levels;
	source->input.level_count = 2;
	source->input.on_top = 1;
	source->input.colouring = MAP_BY_CATEGORY;
	source->input.colour = (struct map_column){.name = "highlighted", .values = source->colour_values};
}

void
map_source_read_highlight(struct map_source *source, const struct map_source_request *request)
{
	struct marking marking = {.source = source, .request = request};
	const char *path = request->highlight;

	source->colour_values = memory_array(source->ids->rows, sizeof(double), "marks");
	for (size_t i = 0; i < source->ids->rows; i++)
		source->colour_values[i] = OTHERS;
	must(ids_index_init(&marking.index, source->ids, source->order, source->count, &failure));
	if (marking_has_records(path))
		marking_read_records(&marking);
	else
		must(list_read(path, LIST_IDS, &marking.unit, marking_add_listed, &marking, &failure));
	ids_index_free(&marking.index);
	if (marking.ids == 0)
		die("--highlight: %s has no ids", path);
	if (marking.ids == source->highlight_unknown)
		die("--highlight: none of the %llu ids of %s is of an example of %s: the first is '%s'",
		    (unsigned long long)marking.ids, path, source->name, source->first_unknown);
	marking_make_levels(source, path);
}

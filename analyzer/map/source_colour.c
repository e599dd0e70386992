/*
 * source_colour.c: for `map --colour`: colours the examples by what is no measure of the run: a column of the user's
 * file, of numbers or of text, or the run's labels. Texts and labels are categories.
 *
 * The categories with the most examples get a colour and a shape each. All other categories share one colour and shape,
 * and the examples without a category share another. Maps side by side have one key, so categories are ranked over the
 * examples of both.
 */
#include "source.h"

#include "die/die.h"
#include "die/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for the category of every row. No row has a category yet. */
static void
map_source_begin_categories(struct map_source *source, const char *name)
{
	size_t rows = source->ids->rows;

	source->category = memory_array(rows, sizeof(*source->category), "categories");
	for (size_t i = 0; i < rows; i++)
		source->category[i] = -1;
	source->colour_name = memory_copy(name, strlen(name));
	source->input.colouring = MAP_BY_CATEGORY;
	source->input.colour = (struct map_column){.name = source->colour_name};
}

void
map_source_take_categories(struct map_source *source, struct attribute *attribute, const uint32_t *order)
{
	map_source_begin_categories(source, attribute->name);
	for (size_t i = 0; i < source->count; i++)
		source->category[order ? order[i] : i] = attribute->categories[i];
	source->categories = attribute->names;
	attribute->names = (struct names){0};
}

/* Finds or adds the category of a label. Its name is the label's, or the label's number if it has no name. */
static int32_t
map_source_add_label(struct map_source *source, int32_t label)
{
	const char *name = store_snapshot_label(source->dynamics.snapshot, (uint64_t)label);
	char number[16];

	if (!name || !*name) {
		snprintf(number, sizeof(number), "%d", label);
		name = number;
	}
	return (int32_t)memory_name(&source->categories, name, strlen(name));
}

void
map_source_take_labels(struct map_source *source)
{
	int32_t last = -1, category = -1; /* neighbouring examples often have the same label */

	map_source_begin_categories(source, "gold");
	for (size_t i = 0; i < source->count; i++) {
		uint32_t row = source->order[i];
		int32_t label = source->dynamics.gold[row];

		if (label < 0)
			continue;
		if (label != last)
			category = map_source_add_label(source, label);
		last = label;
		source->category[row] = category;
	}
	if (source->categories.count == 0)
		die("--colour gold: run '%s' was recorded without gold labels (a file may have them: --data FILE "
		    "--id-field FIELD --colour COLUMN)",
		    source->name);
}

/* Colours the examples by a column of numbers, whose position i is row order[i]. */
static void
map_source_take_numbers(struct map_source *source, const struct attribute *attribute)
{
	size_t rows = source->ids->rows;

	source->colour_values = memory_array(rows, sizeof(double), attribute->name);
	source->colour_name = memory_copy(attribute->name, strlen(attribute->name));
	for (size_t i = 0; i < rows; i++)
		source->colour_values[i] = NAN;
	for (size_t i = 0; i < source->count; i++)
		source->colour_values[source->order[i]] = attribute->numbers[i];
	source->input.colour = (struct map_column){
	        .name = source->colour_name,
	        .values = source->colour_values,
	        .grid = map_source_grid(attribute->numbers, source->count),
	};
}

void
map_source_read_colour(struct map_source *source, const struct map_source_request *request)
{
	static const char *const option = "--colour";
	CLEANUP(user_file_close) struct user_file file = {0};
	CLEANUP(attributes_free) struct attributes attributes = {0};
	struct attributes_request wanted = {.file = &file, .names = &request->colour, .options = &option, .count = 1};

	must(user_file_open(&file, "--data", request->colour_file, &failure));
	wanted.id_field = map_source_id_field(&file, request->id_field);
	if (request->glue)
		user_file_read_as_glue(&file, wanted.id_field);
	must(attributes_read(&attributes, &wanted, source->ids, source->order, source->count, &failure));
	source->colour_unknown = attributes.unknown;
	source->colour_unmatched = attributes.unmatched;
	join_warn(&attributes.oddities, file.path, wanted.id_field);
	if (attributes.unmatched == source->count && attributes.oddities.odd[0])
		die("none of the %llu records of %s is of an example: field %s has '%s', and the ids of %s are whole "
		    "numbers",
		    (unsigned long long)attributes.records, file.path, wanted.id_field, attributes.oddities.odd,
		    source->name);
	if (attributes.unmatched == source->count)
		die("none of the %llu records of %s is of an example of %s (see --id-field)",
		    (unsigned long long)attributes.records, file.path, source->name);
	if (attributes.list[0].kind == ATTRIBUTE_CATEGORY)
		map_source_take_categories(source, &attributes.list[0], source->order);
	else
		map_source_take_numbers(source, &attributes.list[0]);
}

/* A category, and how many examples of all sources have it. */
struct rank {
	const struct names *names;
	uint32_t name;
	uint64_t examples;
};

struct ranking {
	struct names names; /* the categories of all sources */
	struct rank *ranks; /* by category; later sorted by number of examples */
	uint32_t *place;    /* by category: its place in the sorted ranks */
	uint64_t without;   /* examples without a category */
	uint64_t dropped;   /* of these, at most: those that a file of corrections drops */
};

/* The number that a source's category has among those of all sources. */
static uint32_t
ranking_name(const struct ranking *ranking, const struct map_source *source, uint32_t category)
{
	size_t length;
	const char *text = names_text(&source->categories, category, &length);

	return names_find(&ranking->names, text, length);
}

/* Counts the examples of a source by category. They are first counted by the source's own numbers of categories, so a
 * name is looked up for each category, not for each example. */
static void
ranking_count(struct ranking *ranking, const struct map_source *source)
{
	size_t room = (size_t)source->categories.count + 1; /* counts[0] is of examples without a category */
	CLEANUP_FREE uint64_t *counts = memory_new(room, sizeof(*counts));

	for (size_t i = 0; i < source->input.n; i++)
		counts[source->category[source->input.order[i]] + 1]++;
	ranking->without += counts[0];
	ranking->dropped += source->corrected.corrections.dropped;
	for (uint32_t c = 0; c < source->categories.count; c++)
		ranking->ranks[ranking_name(ranking, source, c)].examples += counts[c + 1];
}

/* Sorts by falling number of examples, then by name, where numbers compare as numbers: "9" before "10". */
static int
rank_compare(const void *a, const void *b)
{
	const struct rank *first = a, *second = b;
	size_t length;

	if (first->examples != second->examples)
		return first->examples < second->examples ? 1 : -1;
	return strverscmp(names_text(first->names, first->name, &length),
	                  names_text(second->names, second->name, &length));
}

static void
ranking_make(struct ranking *ranking, const struct map_source *sources, size_t count)
{
	for (size_t s = 0; s < count; s++) {
		for (uint32_t c = 0; c < sources[s].categories.count; c++) {
			size_t length;
			const char *text = names_text(&sources[s].categories, c, &length);

			memory_name(&ranking->names, text, length);
		}
	}
	ranking->ranks = memory_new(ranking->names.count, sizeof(*ranking->ranks));
	ranking->place = memory_new(ranking->names.count, sizeof(*ranking->place));
	for (uint32_t c = 0; c < ranking->names.count; c++)
		ranking->ranks[c] = (struct rank){&ranking->names, c, 0};
	for (size_t s = 0; s < count; s++)
		ranking_count(ranking, &sources[s]);
	qsort(ranking->ranks, ranking->names.count, sizeof(*ranking->ranks), rank_compare);
	for (uint32_t c = 0; c < ranking->names.count; c++)
		ranking->place[ranking->ranks[c].name] = c;
}

/* Makes a level for each of the first categories, one for all others, and one for the examples without a category. */
static void
map_source_make_levels(struct map_source *source, const struct ranking *ranking)
{
	uint32_t shown = ranking->names.count < MAP_CATEGORIES ? ranking->names.count : MAP_CATEGORIES;
	struct map_level *levels = source->levels;
	unsigned count = 0;

	for (size_t length; count < shown; count++) {
		levels[count] = (struct map_level){.slot = MAP_SLOT_CATEGORIES + count};
		snprintf(levels[count].name, sizeof(levels[count].name), "%s",
		         names_text(&ranking->names, ranking->ranks[count].name, &length));
	}
	source->others = ranking->names.count - shown;
	if (source->others > 0) {
		levels[count] = (struct map_level){.slot = MAP_SLOT_OTHERS};
		snprintf(levels[count++].name, sizeof(levels->name), "%u other%s", source->others,
		         source->others == 1 ? "" : "s");
	}
	if (ranking->without > 0) {
		levels[count] = (struct map_level){.slot = MAP_SLOT_NONE};
		if (ranking->without <= ranking->dropped)
			snprintf(levels[count++].name, sizeof(levels->name), "dropped");
		else
			snprintf(levels[count++].name, sizeof(levels->name), "no %.100s", source->colour_name);
	}
	source->input.levels = levels;
	source->input.level_count = count;
}

/* Sets the colour of each row: the number of its level. */
static void
map_source_fill_levels(struct map_source *source, const struct ranking *ranking)
{
	CLEANUP_FREE double *level_of = memory_new(source->categories.count, sizeof(*level_of));
	double none = source->input.level_count - 1;

	for (uint32_t c = 0; c < source->categories.count; c++) {
		uint32_t place = ranking->place[ranking_name(ranking, source, c)];

		level_of[c] = place < MAP_CATEGORIES ? place : MAP_CATEGORIES;
	}
	source->colour_values = memory_array(source->ids->rows, sizeof(double), source->colour_name);
	for (size_t i = 0; i < source->ids->rows; i++)
		source->colour_values[i] = source->category[i] < 0 ? none : level_of[source->category[i]];
	source->input.colour.values = source->colour_values;
}

void
map_source_rank(struct map_source *sources, size_t count)
{
	struct ranking ranking = {0};

	if (sources[0].input.colouring != MAP_BY_CATEGORY || sources[0].input.on_top)
		return;
	ranking_make(&ranking, sources, count);
	for (size_t s = 0; s < count; s++) {
		map_source_make_levels(&sources[s], &ranking);
		map_source_fill_levels(&sources[s], &ranking);
	}
	names_free(&ranking.names);
	free(ranking.ranks);
	free(ranking.place);
}

/*
 * source_category.c: the categories of a map's examples: the run's labels, or a column of text; see source.h.
 *
 * The categories with most examples get a colour and a shape each; the others share one, and so do examples without
 * any. Maps side by side have one key, so categories are ranked over all of them.
 */
#include "source_parts.h"

#include "base/arrays.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
no_memory(const struct map_source *source, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the categories of %s", source->name);
}

/* Room for the category of every row; none has one yet. */
static int
begin(struct map_source *source, const char *name, struct portolan_error *error)
{
	size_t rows = source->ids->rows;

	source->category = array_new(rows, sizeof(*source->category), "categories", error);
	if (!source->category)
		return PORTOLAN_E_MEMORY;
	source->colour_name = strdup(name);
	if (!source->colour_name)
		return no_memory(source, error);
	for (size_t i = 0; i < rows; i++)
		source->category[i] = -1;
	source->input.colouring = MAP_BY_CATEGORY;
	source->input.colour = (struct map_column){.name = source->colour_name};
	return 0;
}

int
map_source_take_categories(struct map_source *source, struct attribute *attribute, const uint32_t *order,
                           struct portolan_error *error)
{
	int code = begin(source, attribute->name, error);

	if (code < 0)
		return code;
	for (size_t i = 0; i < source->count; i++)
		source->category[order ? order[i] : i] = attribute->categories[i];
	source->categories = attribute->names;
	attribute->names = (struct names){0};
	return 0;
}

/* The label's name, or its number where it has none. */
static uint32_t
add_label(struct map_source *source, int32_t label)
{
	const char *name = store_snapshot_label(source->dynamics.snapshot, (uint64_t)label);
	char number[16];

	if (!name || !*name) {
		snprintf(number, sizeof(number), "%d", label);
		name = number;
	}
	return names_add(&source->categories, name, strlen(name));
}

int
map_source_take_labels(struct map_source *source, struct portolan_error *error)
{
	const struct dynamics *dynamics = &source->dynamics;
	int32_t last = -1; /* neighbouring examples often have the same label */
	uint32_t name = NAMES_NONE;
	int code = begin(source, "gold", error);

	for (size_t i = 0; i < source->count && code >= 0; i++) {
		uint32_t row = source->order[i];
		int32_t label = dynamics->gold[row];

		if (label < 0)
			continue;
		if (label != last)
			name = add_label(source, label);
		last = label;
		source->category[row] = (int32_t)name;
		if (name == NAMES_NONE)
			code = no_memory(source, error);
	}
	if (code >= 0 && source->categories.count == 0)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "--colour gold: run '%s' was recorded without gold labels (a file may have them: "
		                 "--data FILE --id-field FIELD --colour COLUMN)",
		                 source->name);
	return code;
}

/* A category of all sources. */
struct rank {
	const struct names *names;
	uint32_t name;
	uint64_t examples;
};

struct ranking {
	struct names names; /* of all sources */
	struct rank *ranks;
	uint32_t *place; /* by name: in `ranks` once it is sorted */
	uint64_t without;
};

static int
add_names(struct ranking *ranking, const struct map_source *source, struct portolan_error *error)
{
	for (uint32_t c = 0; c < source->categories.count; c++) {
		size_t length;
		const char *text = names_text(&source->categories, c, &length);

		if (names_add(&ranking->names, text, length) == NAMES_NONE)
			return no_memory(source, error);
	}
	return 0;
}

/* The number, among the categories of all sources, of a source's category. */
static uint32_t
find_shared_category(const struct ranking *ranking, const struct map_source *source, uint32_t category)
{
	size_t length;
	const char *text = names_text(&source->categories, category, &length);

	return names_find(&ranking->names, text, length);
}

/* Counts by the source's own names first: looking up a name for each example would take longer. */
static int
count_examples(struct ranking *ranking, const struct map_source *source, struct portolan_error *error)
{
	uint64_t *counts = calloc((size_t)source->categories.count + 1, sizeof(*counts)); /* first those without */

	if (!counts)
		return no_memory(source, error);
	for (size_t i = 0; i < source->input.n; i++)
		counts[source->category[source->input.order[i]] + 1]++;
	ranking->without += counts[0];
	for (uint32_t c = 0; c < source->categories.count; c++)
		ranking->ranks[find_shared_category(ranking, source, c)].examples += counts[c + 1];
	free(counts);
	return 0;
}

/* By falling number of examples, then by name, with numbers compared as numbers: "9" before "10". */
static int
compare(const void *a, const void *b)
{
	const struct rank *first = a, *second = b;
	size_t length;

	if (first->examples != second->examples)
		return first->examples < second->examples ? 1 : -1;
	return strverscmp(names_text(first->names, first->name, &length),
	                  names_text(second->names, second->name, &length));
}

static int
make_ranking(struct ranking *ranking, const struct map_source *sources, size_t count, struct portolan_error *error)
{
	int code = 0;

	for (size_t s = 0; s < count && code >= 0; s++)
		code = add_names(ranking, &sources[s], error);
	ranking->ranks = calloc(ranking->names.count + 1, sizeof(*ranking->ranks));
	ranking->place = calloc(ranking->names.count + 1, sizeof(*ranking->place));
	if (code >= 0 && (!ranking->ranks || !ranking->place))
		code = no_memory(sources, error);
	for (uint32_t c = 0; c < ranking->names.count && code >= 0; c++)
		ranking->ranks[c] = (struct rank){&ranking->names, c, 0};
	for (size_t s = 0; s < count && code >= 0; s++)
		code = count_examples(ranking, &sources[s], error);
	if (code < 0)
		return code;
	qsort(ranking->ranks, ranking->names.count, sizeof(*ranking->ranks), compare);
	for (uint32_t c = 0; c < ranking->names.count; c++)
		ranking->place[ranking->ranks[c].name] = c;
	return 0;
}

/* One for each of the first categories, one for the others, one for examples without. */
static void
make_levels(const struct ranking *ranking, struct map_source *source)
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
		snprintf(levels[count++].name, sizeof(levels->name), "no %.100s", source->colour_name);
	}
	source->input.levels = levels;
	source->input.level_count = count;
}

/* The colour of every row: the number of its level. */
static int
fill(struct map_source *source, const struct ranking *ranking, struct portolan_error *error)
{
	size_t rows = source->ids->rows;
	double none = source->input.level_count - 1;
	double *level_of = malloc(((size_t)source->categories.count + 1) * sizeof(*level_of));

	source->colour_values = array_new(rows, sizeof(double), source->colour_name, error);
	if (!source->colour_values || !level_of) {
		free(level_of);
		return no_memory(source, error);
	}
	for (uint32_t c = 0; c < source->categories.count; c++) {
		uint32_t place = ranking->place[find_shared_category(ranking, source, c)];

		level_of[c] = place < MAP_CATEGORIES ? place : MAP_CATEGORIES;
	}
	for (size_t i = 0; i < rows; i++)
		source->colour_values[i] = source->category[i] < 0 ? none : level_of[source->category[i]];
	source->input.colour.values = source->colour_values;
	free(level_of);
	return 0;
}

int
map_source_rank(struct map_source *sources, size_t count, struct portolan_error *error)
{
	struct ranking ranking = {0};
	int code;

	if (sources[0].input.colouring != MAP_BY_CATEGORY || sources[0].input.on_top)
		return 0;
	code = make_ranking(&ranking, sources, count, error);
	for (size_t s = 0; s < count && code >= 0; s++) {
		make_levels(&ranking, &sources[s]);
		code = fill(&sources[s], &ranking, error);
	}
	names_free(&ranking.names);
	free(ranking.ranks);
	free(ranking.place);
	return code;
}

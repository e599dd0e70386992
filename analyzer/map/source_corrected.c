/* source_corrected.c: shows on a map what a file of corrections changes: the examples that get another label, and those
 * that are dropped, over all others; or, where gold colours the examples, the corrected labels. */
#include "source.h"

#include "die/memory.h"

#include <string.h>

enum { LEVEL_CHANGED, LEVEL_DROPPED, LEVEL_OTHERS, LEVELS };

static const struct map_level levels[LEVELS] = {
        {.name = "corrected", .slot = MAP_SLOT_HIGHLIGHTED},
        {.name = "dropped", .slot = MAP_SLOT_DROPPED},
        {.name = "all others", .slot = MAP_SLOT_REST},
};

void
map_source_correct(struct map_source *source, const char *corrections)
{
	corrected_apply(&source->corrected, corrections, &source->dynamics);
	for (size_t i = 0; i < source->count; i++)
		if (source->corrected.marks[source->order[i]] == CORRECTED_DROPPED)
			source->dynamics.gold[source->order[i]] = -1;
}

void
map_source_mark_corrections(struct map_source *source)
{
	source->colour_values = memory_array(source->ids->rows, sizeof(double), "marks");
	for (size_t i = 0; i < source->count; i++) {
		uint8_t mark = source->corrected.marks[source->order[i]];

		source->colour_values[source->order[i]] = mark == CORRECTED_CHANGED   ? LEVEL_CHANGED
		                                          : mark == CORRECTED_DROPPED ? LEVEL_DROPPED
		                                                                      : LEVEL_OTHERS;
	}
	memcpy(source->levels, levels, sizeof(levels));
	source->input.levels = source->levels;
	source->input.level_count = LEVELS;
	source->input.on_top = LEVEL_OTHERS;
	source->input.colouring = MAP_BY_CATEGORY;
	source->input.colour = (struct map_column){.name = "corrections", .values = source->colour_values};
}

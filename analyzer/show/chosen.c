/*
 * chosen.c: reads what portolan show prints of the few examples that it was asked for: their observations, measures,
 * labels and ids. Only the blocks of the store that hold one of them are read; measures/trace.h computes the measures
 * of a block.
 */
#include "chosen.h"

#include "die/die.h"
#include "die/memory.h"
#include "measures/trace.h"

#include <math.h>

void
chosen_free(struct chosen *chosen)
{
	for (size_t c = 0; c < chosen->part.column_count; c++)
		array_free(chosen->part.columns[c].values);
	array_free(chosen->part.gold);
	ids_free(&chosen->part.ids);
	array_free(chosen->found);
	stories_free(&chosen->stories);
	*chosen = (struct chosen){0};
}

static void
chosen_allocate(struct chosen *chosen, const struct dynamics *run, size_t n)
{
	chosen->part = *run;
	chosen->part.ids = (struct ids){0};
	chosen->found = memory_array(n, 1, "marks");
	chosen->part.gold = memory_array(n, sizeof(*chosen->part.gold), "gold labels");
	for (size_t c = 0; c < run->column_count; c++)
		chosen->part.columns[c].values = memory_array(n, sizeof(double), "measures");
	must(stories_new(&chosen->stories, n, run->epoch_count, &failure));
}

bool
chosen_knows_right(const struct chosen *chosen)
{
	return !chosen->part.info->of_losses || !isnan(chosen->part.loss_threshold);
}

/* In a run of losses an example was right where its loss is at most the threshold; nothing is above NaN. */
static void
chosen_mark_right(struct chosen *chosen, size_t place)
{
	const size_t epochs = chosen->stories.epochs;

	for (size_t at = place * epochs; at < (place + 1) * epochs; at++)
		chosen->stories.correct[at] = (double)chosen->stories.gold_prob[at] <= chosen->part.loss_threshold;
}

static void
chosen_take_example(struct chosen *chosen, const struct trace *trace, uint32_t row, size_t place)
{
	const struct store_block *block = &trace->block;

	for (size_t e = 0; e < block->epoch_count; e++)
		chosen->found[place] |= stories_take(&chosen->stories, place, e, block, e, row);
	if (chosen->part.info->of_losses)
		chosen_mark_right(chosen, place);
	chosen->part.gold[place] = stories_bit(block->gold.present, row) && block->gold.values
	                                   ? ((const int32_t *)block->gold.values)[row]
	                                   : -1;
	for (size_t c = 0; c < chosen->part.column_count; c++)
		chosen->part.columns[c].values[place] = trace->values[c][row];
}

/* Takes the chosen examples that are in block `index`, which is read only if there is one. places[]: for each of its
 * `rows` rows the example's place, or PLACES_NONE. */
static void
chosen_take_block(struct chosen *chosen, struct trace *trace, size_t index, const uint32_t *places, size_t rows)
{
	bool is_read = false;

	for (size_t r = 0; r < rows; r++) {
		if (places[r] == PLACES_NONE)
			continue;
		if (!is_read) {
			must(trace_block(trace, index, &failure));
			trace_measure(trace, trace->block.epoch_count, 0);
			is_read = true;
		}
		chosen_take_example(chosen, trace, (uint32_t)r, places[r]);
	}
}

static void
chosen_take_all(struct chosen *chosen, const struct dynamics *run, const uint32_t *places)
{
	CLEANUP(trace_free) struct trace trace = {0};

	must(trace_init(&trace, run, STORE_CHUNK, &failure));
	for (size_t b = 0; b < store_snapshot_blocks(run->snapshot); b++) {
		size_t first = b * STORE_CHUNK, rest = (size_t)run->info->rows - first;

		chosen_take_block(chosen, &trace, b, places + first, rest < STORE_CHUNK ? rest : STORE_CHUNK);
	}
}

static void
chosen_copy_ids(struct ids *ids, const struct places_list *list)
{
	ids->kind = list->ids.kind;
	for (size_t place = 0; place < list->count; place++) {
		char digits[NUMBER_ROOM];
		size_t length;
		const char *id = id_print(&list->ids, list->different[place], digits, &length);

		must(ids_append_text(ids, id, length, &failure));
	}
}

void
chosen_read(struct chosen *chosen, const struct dynamics *run, const struct places_list *list)
{
	CLEANUP_ARRAY uint32_t *places = NULL;

	chosen_allocate(chosen, run, list->count);
	chosen_copy_ids(&chosen->part.ids, list);
	must(places_of_list(list, run, &places, &failure));
	chosen_take_all(chosen, run, places);
}

bool
chosen_is_forgotten(const struct chosen *chosen, size_t place, size_t e)
{
	const float *gold_prob = chosen->stories.gold_prob + place * chosen->stories.epochs;
	const unsigned char *correct = chosen->stories.correct + place * chosen->stories.epochs;

	if (isnan(gold_prob[e]) || correct[e])
		return false;
	while (e > 0)
		if (!isnan(gold_prob[--e]))
			return correct[e];
	return false;
}

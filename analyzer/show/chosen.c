/* chosen.c: see chosen.h. Each block with a chosen example is read, and measured by trace.h. */
#include "chosen.h"

#include "base/arrays.h"
#include "measures/trace.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

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

static int
allocate(struct chosen *chosen, const struct dynamics *run, size_t n, struct portolan_error *error)
{
	bool is_short;

	chosen->part = *run;
	chosen->part.column_count = 0;
	chosen->part.ids = (struct ids){0};
	chosen->stories = (struct stories){.epochs = run->epoch_count,
	                                   .gold_prob = malloc((n * run->epoch_count + 1) * sizeof(float)),
	                                   .correct = calloc(n * run->epoch_count + 1, 1)};
	chosen->found = array_new(n, 1, "marks", error);
	chosen->part.gold = array_new(n, sizeof(*chosen->part.gold), "gold labels", error);
	is_short = !chosen->found || !chosen->part.gold;
	for (size_t c = 0; c < run->column_count && !is_short; c++) {
		double *values = array_new(n, sizeof(*values), "measures", error);

		chosen->part.columns[c].values = values;
		chosen->part.column_count++;
		is_short = !values;
	}
	if (!is_short && (!chosen->stories.gold_prob || !chosen->stories.correct))
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < n * run->epoch_count && !is_short; i++)
		chosen->stories.gold_prob[i] = NAN;
	return is_short ? PORTOLAN_E_MEMORY : 0;
}

static bool
bit(const uint64_t *words, uint32_t row)
{
	return words && (words[row / 64] >> row % 64 & 1);
}

static void
take_story(struct chosen *chosen, const struct store_block *block, uint32_t row, size_t place)
{
	for (size_t e = 0; e < block->epoch_count; e++) {
		const struct store_values *gold_prob = store_block_values(block, e, STORE_GOLD_PROB);
		size_t to = place * block->epoch_count + e;

		if (!gold_prob->values || !bit(gold_prob->present, row))
			continue;
		chosen->found[place] = 1;
		chosen->stories.gold_prob[to] = ((const float *)gold_prob->values)[row];
		chosen->stories.correct[to] = bit(store_block_values(block, e, STORE_CORRECT)->values, row);
	}
}

static void
take_example(struct chosen *chosen, const struct trace *trace, uint32_t row, size_t place)
{
	const struct store_block *block = &trace->block;
	const int32_t *gold = block->gold.values;

	take_story(chosen, block, row, place);
	chosen->part.gold[place] = gold && bit(block->gold.present, row) ? gold[row] : -1;
	for (size_t c = 0; c < chosen->part.column_count; c++)
		chosen->part.columns[c].values[place] = trace->values[c][row];
}

static int
take_block(struct chosen *chosen, struct trace *trace, size_t index, const uint32_t *places, size_t rows,
           struct portolan_error *error)
{
	bool is_read = false;
	int code = 0;

	for (size_t r = 0; r < rows && code >= 0; r++) {
		if (places[r] == PLACES_NONE)
			continue;
		if (!is_read) {
			code = trace_block(trace, index, error);
			is_read = true;
			if (code < 0)
				return code;
			trace_measure(trace, trace->block.epoch_count, 0);
		}
		take_example(chosen, trace, (uint32_t)r, places[r]);
	}
	return code;
}

static int
take_all(struct chosen *chosen, const struct dynamics *run, const uint32_t *places, struct portolan_error *error)
{
	struct trace trace;
	int code = trace_init(&trace, run, STORE_CHUNK, error);

	for (size_t b = 0; code >= 0 && b < store_snapshot_blocks(run->snapshot); b++) {
		size_t first = b * STORE_CHUNK, rest = (size_t)run->info->rows - first;

		code = take_block(chosen, &trace, b, places + first, rest < STORE_CHUNK ? rest : STORE_CHUNK, error);
	}
	trace_free(&trace);
	return code;
}

static int
copy_ids(struct ids *ids, const struct places_list *list, struct portolan_error *error)
{
	int code = 0;

	for (size_t place = 0; place < list->count && code >= 0; place++) {
		uint32_t index = list->different[place], offsets[2] = {0, 0};
		struct store_ids one = {.rows = 1, .offsets = offsets};
		size_t length;

		if (list->ids.kind == STORE_ID_INT) {
			one.integers = &list->ids.integers[index];
		} else {
			one.text = ids_text(&list->ids, index, &length);
			offsets[1] = (uint32_t)length;
		}
		code = ids_append(ids, list->ids.kind, &one, error);
	}
	return code;
}

int
chosen_read(struct chosen *chosen, const struct dynamics *run, const struct places_list *list,
            struct portolan_error *error)
{
	uint32_t *places = NULL;
	int code;

	*chosen = (struct chosen){0};
	code = allocate(chosen, run, list->count, error);
	if (code >= 0)
		code = copy_ids(&chosen->part.ids, list, error);
	if (code >= 0)
		code = places_of_list(list, run, &places, error);
	if (code >= 0)
		code = take_all(chosen, run, places, error);
	array_free(places);
	if (code < 0)
		chosen_free(chosen);
	return code;
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

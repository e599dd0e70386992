/* survey.c: only the column `correct` is read: it is the smallest one, and its presence is that of the observations. */
#include "survey.h"

#include "base/parallel.h"
#include "files/places.h"
#include "die/memory.h"

#include <stdlib.h>
#include <string.h>

struct sums {
	uint64_t count, gaps, observations;
};

struct survey {
	struct dynamics *run;
	const uint32_t *places;
	uint8_t *found;
	struct store_cursor **cursors; /* by thread */
	struct sums *slots, sums;
};

/* For a block: the examples that are counted, that were observed at all, and in all epochs. */
struct bitmaps {
	uint64_t chosen[STORE_CHUNK_WORDS], any[STORE_CHUNK_WORDS], every[STORE_CHUNK_WORDS];
};

static bool
survey_choose(const struct survey *survey, size_t index, struct bitmaps *bitmaps)
{
	uint64_t first = (uint64_t)index * STORE_CHUNK, rows = survey->run->info->rows - first;
	uint64_t some = 0;

	rows = rows < STORE_CHUNK ? rows : STORE_CHUNK;
	memset(bitmaps->chosen, 0, sizeof(bitmaps->chosen));
	for (uint64_t r = 0; r < rows; r++)
		if (!survey->places || survey->places[first + r] != PLACES_NONE)
			bitmaps->chosen[r / 64] |= UINT64_C(1) << r % 64;
	for (size_t w = 0; w < STORE_CHUNK_WORDS; w++)
		some |= bitmaps->chosen[w];
	memset(bitmaps->any, 0, sizeof(bitmaps->any));
	memcpy(bitmaps->every, bitmaps->chosen, sizeof(bitmaps->every));
	return some != 0;
}

static void
survey_add_epoch(struct bitmaps *bitmaps, const struct store_block *block, struct sums *sums)
{
	const struct store_values *correct = store_block_values(block, 0, STORE_CORRECT);

	for (uint32_t w = 0; w < STORE_CHUNK_WORDS; w++) {
		bool is_there = correct->values && w * 64 < block->rows;
		uint64_t present = is_there ? correct->present[w] & bitmaps->chosen[w] : 0;

		bitmaps->any[w] |= present;
		bitmaps->every[w] &= present;
		sums->observations += (uint64_t)__builtin_popcountll(present);
	}
}

static void
survey_add_block(const struct survey *survey, size_t index, const struct bitmaps *bitmaps, struct sums *sums)
{
	for (size_t w = 0; w < STORE_CHUNK_WORDS; w++) {
		sums->count += (uint64_t)__builtin_popcountll(bitmaps->any[w]);
		sums->gaps += (uint64_t)__builtin_popcountll(bitmaps->any[w] & ~bitmaps->every[w]);
		for (uint64_t rest = survey->found ? bitmaps->any[w] : 0; rest; rest &= rest - 1)
			survey->found[survey->places[index * STORE_CHUNK + w * 64 + (size_t)__builtin_ctzll(rest)]] = 1;
	}
}

static int
survey_count_block(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	struct survey *survey = context;
	struct sums *sums = &survey->slots[slot];
	struct bitmaps bitmaps;
	int code = 0;

	*sums = (struct sums){0};
	if (!survey_choose(survey, index, &bitmaps))
		return 0;
	for (size_t e = 0; code >= 0 && e < survey->run->epoch_count; e++) {
		struct store_block block;

		code = store_cursor_epochs(survey->cursors[thread], index, e, 1, STORE_COLUMN_BIT(STORE_CORRECT),
		                           &block, error);
		if (code >= 0)
			survey_add_epoch(&bitmaps, &block, sums);
	}
	if (code >= 0)
		survey_add_block(survey, index, &bitmaps, sums);
	return code;
}

static int
survey_add(void *context, unsigned slot, size_t index, struct portolan_error *error)
{
	struct survey *survey = context;

	(void)index;
	(void)error;
	survey->sums.count += survey->slots[slot].count;
	survey->sums.gaps += survey->slots[slot].gaps;
	survey->sums.observations += survey->slots[slot].observations;
	return 0;
}

int
survey_run(struct dynamics *run, const uint32_t *places, uint8_t *found, uint64_t *observations,
           struct portolan_error *error)
{
	struct survey survey = {.run = run,
	                        .places = places,
	                        .found = found,
	                        .cursors = memory_new(run->threads, sizeof(*survey.cursors)),
	                        .slots = memory_new(parallel_slots(run->threads), sizeof(*survey.slots))};
	struct parallel parallel = {.threads = run->threads,
	                            .count = store_snapshot_blocks(run->snapshot),
	                            .what = "counting",
	                            .context = &survey,
	                            .work = survey_count_block,
	                            .deliver = survey_add};
	int code = 0;

	for (unsigned t = 0; code >= 0 && t < run->threads; t++)
		code = store_cursor_open(run->snapshot, &survey.cursors[t], error);
	if (code >= 0)
		code = parallel_run(&parallel, error);
	for (unsigned t = 0; t < run->threads; t++)
		store_cursor_close(survey.cursors[t]);
	free(survey.cursors);
	free(survey.slots);
	if (code < 0)
		return code;
	run->count = (size_t)survey.sums.count;
	run->gaps = survey.sums.gaps;
	*observations = survey.sums.observations;
	return 0;
}

/*
 * write.c: writes the observations of a run for `portolan dynamics`. All threads make rows; the caller's thread writes
 * them.
 *
 * The observations are counted before any is read: npy's head, and what people get of a long table, depend on their
 * number.
 *
 * If the store's order is that of the ids, a part of the work is a block of the store at one epoch, and its rows follow
 * those of the part before. If not, each example has a place (files/places.h). The records of an epoch are put at their
 * places in an array, and rows are made from there. Where the array cannot hold all places, it holds one range of them
 * after another, and the epoch is read again for each.
 */
#include "write.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"
#include "output/table_stream.h"
#include "tables/run_table.h"

#include <progress.h>

#include <stdlib.h>
#include <string.h>

#define TILE 1024 /* how many records are made at once, before they are put at their places: so many fit into a cache */

struct writing {
	struct dynamics *run;
	const struct observations_request *request;
	struct layout layout;
	struct table_stream stream;
	struct layout_block *blocks; /* by thread */
	uint32_t *places;            /* by dense index: the example's place; NULL: the examples are in order */
	size_t place_count;
	/* If there are places: */
	size_t epoch;           /* the epoch whose records are gathered, as its number among the run's */
	uint32_t first, held;   /* the range of places that the array holds: first … first + held − 1 */
	char *records;          /* by place in the range */
	uint8_t *there;         /* by place in the range: 1 where there is a record */
	struct output *gathers; /* by thread: the records of a tile */
};

/* The presence of observations in a block: bit r is row r. */
struct presence {
	uint64_t chosen[STORE_CHUNK_WORDS]; /* examples that are wanted */
	uint64_t any[STORE_CHUNK_WORDS];    /* of these, examples that were observed at least once, */
	uint64_t every[STORE_CHUNK_WORDS];  /* and in every epoch */
};

struct counts {
	uint64_t examples, gaps, observations; /* gaps: examples that were not observed in every epoch */
};

struct counting {
	struct writing *writing;
	struct store_cursor **cursors; /* by thread */
	struct counts *slots, sums;
};

/* Finds which examples of the block are wanted. False: none is. */
static bool
counting_choose(const struct writing *writing, size_t index, struct presence *presence)
{
	uint64_t first = (uint64_t)index * STORE_CHUNK, rows = writing->run->info->rows - first;
	bool has_any = false;

	rows = rows < STORE_CHUNK ? rows : STORE_CHUNK;
	memset(presence, 0, sizeof(*presence));
	for (uint64_t r = 0; r < rows; r++) {
		if (writing->request->list && writing->places[first + r] == PLACES_NONE)
			continue;
		presence->chosen[r / 64] |= UINT64_C(1) << r % 64;
		has_any = true;
	}
	memcpy(presence->every, presence->chosen, sizeof(presence->every));
	return has_any;
}

static void
counting_add_epoch(struct presence *presence, const struct store_block *block, struct counts *counts)
{
	const struct store_values *correct = store_block_values(block, 0, STORE_CORRECT);

	for (uint32_t w = 0; w < STORE_CHUNK_WORDS; w++) {
		bool is_there = correct->values && w * 64 < block->rows;
		uint64_t observed = is_there ? correct->present[w] & presence->chosen[w] : 0;

		presence->any[w] |= observed;
		presence->every[w] &= observed;
		counts->observations += (uint64_t)__builtin_popcountll(observed);
	}
}

/* Counts the examples of a block, and, where the user listed ids, marks those that were found. */
static void
counting_add_examples(const struct writing *writing, size_t index, const struct presence *presence,
                      struct counts *counts)
{
	for (size_t w = 0; w < STORE_CHUNK_WORDS; w++) {
		size_t first = index * STORE_CHUNK + w * 64;

		counts->examples += (uint64_t)__builtin_popcountll(presence->any[w]);
		counts->gaps += (uint64_t)__builtin_popcountll(presence->any[w] & ~presence->every[w]);
		for (uint64_t rest = writing->request->list ? presence->any[w] : 0; rest; rest &= rest - 1)
			writing->request->found[writing->places[first + (size_t)__builtin_ctzll(rest)]] = 1;
	}
}

/* Reads a block's presence of observations, from `correct`: the smallest of all columns, and every observation has
 * it. */
static int
counting_scan_block(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	struct counting *counting = context;
	struct counts *counts = &counting->slots[slot];
	struct presence presence;

	*counts = (struct counts){0};
	if (!counting_choose(counting->writing, index, &presence))
		return 0;
	for (size_t e = 0; e < counting->writing->run->epoch_count; e++) {
		struct store_block block;
		int code = store_cursor_epochs(counting->cursors[thread], index, e, 1, STORE_COLUMN_BIT(STORE_CORRECT),
		                               &block, error);

		if (code < 0)
			return code;
		counting_add_epoch(&presence, &block, counts);
	}
	counting_add_examples(counting->writing, index, &presence, counts);
	return 0;
}

static int
counting_add(void *context, unsigned slot, size_t index, struct portolan_error *error)
{
	struct counting *counting = context;

	(void)index;
	(void)error;
	counting->sums.examples += counting->slots[slot].examples;
	counting->sums.gaps += counting->slots[slot].gaps;
	counting->sums.observations += counting->slots[slot].observations;
	return 0;
}

/* Counts the observations that are wanted, and returns their number. The run's count and gaps become those of their
 * examples. */
static uint64_t
writing_count(struct writing *writing)
{
	struct dynamics *run = writing->run;
	struct counting counting = {.writing = writing,
	                            .cursors = memory_new(run->threads, sizeof(*counting.cursors)),
	                            .slots = memory_new(parallel_slots(run->threads), sizeof(*counting.slots))};
	struct parallel parallel = {.threads = run->threads,
	                            .count = store_snapshot_blocks(run->snapshot),
	                            .what = "counting",
	                            .context = &counting,
	                            .work = counting_scan_block,
	                            .deliver = counting_add};

	for (unsigned t = 0; t < run->threads; t++)
		must(store_cursor_open(run->snapshot, &counting.cursors[t], &failure));
	must(parallel_run(&parallel, &failure));
	for (unsigned t = 0; t < run->threads; t++)
		store_cursor_close(counting.cursors[t]);
	free(counting.cursors);
	free(counting.slots);
	run->count = (size_t)counting.sums.examples;
	run->gaps = counting.sums.gaps;
	return counting.sums.observations;
}

/* Makes the rows of a part: a block at an epoch. All blocks of the first epoch come first. */
static int
writing_make_block(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	struct writing *writing = context;
	struct layout_block *block = &writing->blocks[thread];
	size_t blocks = store_snapshot_blocks(writing->run->snapshot);
	int code = layout_read_block(block, &writing->layout, writing->run, part % blocks, part / blocks, error);

	if (code < 0)
		return code;
	return table_stream_make(&writing->stream, slot, &block->table, 0, block->table.rows, error);
}

static int
writing_deliver(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	struct writing *writing = context;

	(void)part;
	return table_stream_deliver(&writing->stream, slot, error);
}

static void
writing_in_order(struct writing *writing)
{
	struct parallel parallel = {.threads = writing->run->threads,
	                            .count = writing->run->epoch_count * store_snapshot_blocks(writing->run->snapshot),
	                            .what = "writing",
	                            .context = writing,
	                            .work = writing_make_block,
	                            .deliver = writing_deliver};

	must(parallel_run(&parallel, &failure));
}

/* Is the example's place in the range? PLACES_NONE is beyond every range. */
static bool
writing_holds(const struct writing *writing, uint32_t example)
{
	return writing->places[example] - writing->first < writing->held;
}

static bool
writing_holds_any(const struct writing *writing, size_t index)
{
	size_t first = index * STORE_CHUNK, end = first + STORE_CHUNK;
	uint32_t any = 0;

	end = end < writing->run->info->rows ? end : (size_t)writing->run->info->rows;
	for (size_t i = first; i < end; i++)
		any |= writing_holds(writing, (uint32_t)i);
	return any != 0;
}

/* Puts the records of a block's observations at their places. */
static int
writing_gather_block(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	struct writing *writing = context;
	struct layout_block *block = &writing->blocks[thread];
	struct output *records = &writing->gathers[thread];
	size_t size = writing->stream.record.size, wanted = 0;
	int code;

	(void)slot;
	if (!writing_holds_any(writing, index))
		return 0;
	code = layout_read_block(block, &writing->layout, writing->run, index, writing->epoch, error);
	if (code < 0)
		return code;
	for (size_t i = 0; i < block->table.rows; i++)
		if (writing_holds(writing, block->block.first + block->rows[i]))
			block->rows[wanted++] = block->rows[i];
	for (size_t first = 0; first < wanted; first += TILE) {
		size_t n = wanted - first < TILE ? wanted - first : TILE;

		output_clear(records);
		table_record_rows(&writing->stream.record, &block->table, records, first, n);
		must(output_check(records, &failure));
		for (size_t i = 0; i < n; i++) {
			size_t at = writing->places[block->block.first + block->rows[first + i]] - writing->first;

			memcpy(writing->records + at * size, records->buffer + i * size, size);
			writing->there[at] = 1;
		}
	}
	return 0;
}

/* Makes the rows of a piece: STORE_CHUNK places of the range. Its records are moved together first, over the gaps
 * between them. */
static int
writing_make_piece(void *context, unsigned thread, unsigned slot, size_t piece, struct portolan_error *error)
{
	struct writing *writing = context;
	size_t size = writing->stream.record.size, first = piece * STORE_CHUNK, end = first + STORE_CHUNK, next = first;

	(void)thread;
	end = end < writing->held ? end : writing->held;
	for (size_t at = first; at < end; at++) {
		if (!writing->there[at])
			continue;
		if (next < at)
			memcpy(writing->records + next * size, writing->records + at * size, size);
		next++;
	}
	return table_stream_make_of(&writing->stream, slot, writing->records + first * size, next - first, error);
}

static void
writing_range(struct writing *writing)
{
	struct parallel gathering = {.threads = writing->run->threads,
	                             .count = store_snapshot_blocks(writing->run->snapshot),
	                             .context = writing,
	                             .work = writing_gather_block};
	struct parallel making = {.threads = writing->run->threads,
	                          .count = (writing->held + STORE_CHUNK - 1) / STORE_CHUNK,
	                          .context = writing,
	                          .work = writing_make_piece,
	                          .deliver = writing_deliver};

	memset(writing->there, 0, writing->held);
	must(parallel_run(&gathering, &failure));
	must(parallel_run(&making, &failure));
}

/* The number of places for which there is room at a time. */
static uint32_t
writing_places_at_once(const struct writing *writing)
{
	uint64_t fitting = arrays_room() / (writing->stream.record.size + sizeof(*writing->there));

	fitting = fitting > STORE_CHUNK ? fitting : STORE_CHUNK;
	return fitting < writing->place_count ? (uint32_t)fitting : (uint32_t)writing->place_count;
}

static void
writing_gathered(struct writing *writing)
{
	uint32_t most = writing_places_at_once(writing);
	size_t ranges = (writing->place_count + most - 1) / most, done = 0;
	unsigned threads = writing->run->threads;
	struct progress progress;

	writing->records = memory_array(most, writing->stream.record.size, "observations of an epoch");
	writing->there = memory_array(most, sizeof(*writing->there), "marks");
	writing->gathers = memory_new(threads, sizeof(*writing->gathers));
	for (unsigned t = 0; t < threads; t++)
		must(output_open_memory(&writing->gathers[t], 0, &failure));
	progress_begin(&progress, "writing", writing->run->epoch_count * ranges);
	for (writing->epoch = 0; writing->epoch < writing->run->epoch_count; writing->epoch++)
		for (uint64_t first = 0; first < writing->place_count; first += most) {
			uint64_t rest = writing->place_count - first;

			writing->first = (uint32_t)first;
			writing->held = rest < most ? (uint32_t)rest : most;
			writing_range(writing);
			progress_show(&progress, ++done);
		}
	progress_clear(&progress);
	for (unsigned t = 0; t < threads; t++)
		output_discard(&writing->gathers[t]);
	free(writing->gathers);
	array_free(writing->records);
	array_free(writing->there);
}

/* Finds the columns, and the order of the examples. */
static void
writing_prepare(struct writing *writing, const struct output *output)
{
	const struct observations_request *request = writing->request;
	struct table_column *id = &writing->layout.columns[0];
	struct dynamics *run = writing->run;
	bool has_characters = request->format == TABLE_NPY && !request->id_bytes, ascending;
	struct text_extent extent = {0};

	layout_init(&writing->layout, run, request->names, request->name_count);
	must(dynamics_look_at_ids(run, &ascending, &extent, &failure));
	id->of = &run->ids; /* run->ids has no ids here, and says of what kind they are */
	id->npy = has_characters || extent.texts == 0 ? NULL : "|S";
	id->width = has_characters ? extent.longest : extent.widest;
	if (request->list) {
		writing->place_count = request->list->count;
		must(places_of_list(request->list, run, &writing->places, &failure));
		return;
	}
	if (has_characters && output_can_patch(output)) /* the output is a file, and no program at the end of a pipe */
		run_table_note_wide_ids(&extent);
	if (!ascending)
		must(places_of_all(run, &writing->places, &writing->place_count, &failure));
}

void
observations_write(struct dynamics *run, const struct observations_request *request, struct output *output)
{
	struct writing writing = {.run = run, .request = request};
	unsigned threads = run->threads;
	struct table table;
	uint64_t observations;

	writing_prepare(&writing, output);
	observations = writing_count(&writing);
	table = (struct table){.columns = writing.layout.columns, .column_count = writing.layout.count};
	must(table_stream_init(&writing.stream, &table, output, request->format, parallel_slots(threads), &failure));
	writing.blocks = memory_new(threads, sizeof(*writing.blocks));
	for (unsigned t = 0; t < threads; t++)
		layout_open_block(&writing.blocks[t], &writing.layout, run);
	must(table_stream_begin(&writing.stream, observations, &failure));
	if (writing.places)
		writing_gathered(&writing);
	else
		writing_in_order(&writing);
	must(table_stream_end(&writing.stream, observations, "observations", &failure));
	for (unsigned t = 0; t < threads; t++)
		layout_close_block(&writing.blocks[t]);
	free(writing.blocks);
	table_stream_free(&writing.stream);
	array_free(writing.places);
	layout_free(&writing.layout);
}

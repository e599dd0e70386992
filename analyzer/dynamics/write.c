/*
 * write.c: writes observations by epoch, then by ascending id: all threads make rows, the caller's thread writes them.
 *
 * If the store's order is that of the ids, a part of the work is a block of the store at one epoch, and its rows follow
 * those of the part before. If not, each example has a place (files/places.h). The observations of an epoch are put in
 * the order of these, a range of places at a time (output/ordered.h).
 */
#include "write.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "die/memory.h"
#include "output/ordered.h"
#include "output/table_stream.h"
#include "survey.h"
#include "tables/run_table.h"

#include <portolan/error.h>
#include <progress.h>

#include <stdlib.h>

struct worker {
	struct layout_block block;
	struct output records; /* of a block */
};

struct writing {
	struct dynamics *run;
	const struct observations_request *request;
	struct layout layout;
	struct table_stream stream;
	struct worker *workers; /* by thread */
	/* If the examples are not in order: */
	uint32_t *places;
	size_t place_count;
	struct ordered ordered;
	size_t epoch;         /* the one gathered; its number among the run's */
	uint32_t first, held; /* the range of places: first … first + held − 1 */
};

/* Part: a block at an epoch; all blocks of the first epoch come first. */
static int
writing_make_block(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	struct writing *writing = context;
	struct layout_block *block = &writing->workers[thread].block;
	size_t blocks = store_snapshot_blocks(writing->run->snapshot);
	int code = layout_read_block(block, &writing->layout, writing->run, part % blocks, part / blocks, error);

	return code < 0 ? code : table_stream_make(&writing->stream, slot, &block->table, 0, block->table.rows, error);
}

static int
writing_deliver(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	struct writing *writing = context;

	(void)part;
	return table_stream_deliver(&writing->stream, slot, error);
}

static int
writing_in_order(struct writing *writing, struct portolan_error *error)
{
	struct parallel parallel = {.threads = writing->run->threads,
	                            .count = writing->run->epoch_count * store_snapshot_blocks(writing->run->snapshot),
	                            .what = "writing",
	                            .context = writing,
	                            .work = writing_make_block,
	                            .deliver = writing_deliver};

	return parallel_run(&parallel, error);
}

static bool
writing_has_place(const struct writing *writing, uint32_t example)
{
	return writing->places[example] - writing->first < writing->held; /* PLACES_NONE is beyond every range */
}

static bool
writing_has_any(const struct writing *writing, size_t index)
{
	size_t first = index * STORE_CHUNK, end = first + STORE_CHUNK;
	uint32_t any = 0;

	end = end < writing->run->info->rows ? end : (size_t)writing->run->info->rows;
	for (size_t i = first; i < end; i++)
		any |= writing_has_place(writing, (uint32_t)i);
	return any != 0;
}

/* Puts the records of a block's observations to their places. */
static int
writing_gather_block(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	struct writing *writing = context;
	struct worker *worker = &writing->workers[thread];
	struct layout_block *block = &worker->block;
	size_t size = writing->stream.record.size, wanted = 0;
	int code;

	if (!writing_has_any(writing, index))
		return 0;
	code = layout_read_block(block, &writing->layout, writing->run, index, writing->epoch, error);
	if (code < 0)
		return code;
	for (size_t i = 0; i < block->table.rows; i++)
		if (writing_has_place(writing, block->block.first + block->rows[i]))
			block->rows[wanted++] = block->rows[i];
	output_clear(&worker->records);
	table_record_rows(&writing->stream.record, &block->table, &worker->records, 0, wanted);
	code = output_check(&worker->records, error);
	for (size_t i = 0; i < wanted && code >= 0; i++) {
		uint32_t place = writing->places[block->block.first + block->rows[i]] - writing->first;

		code = ordered_put(&writing->ordered, slot, worker->records.buffer + i * size, place, error);
	}
	return code;
}

static int
writing_make_ordered(void *context, unsigned slot, const char *records, size_t n, struct portolan_error *error)
{
	struct writing *writing = context;

	return table_stream_make_of(&writing->stream, slot, records, n, error);
}

static int
writing_deliver_ordered(void *context, unsigned slot, const char *records, size_t n, struct portolan_error *error)
{
	struct writing *writing = context;

	(void)records;
	(void)n;
	return table_stream_deliver(&writing->stream, slot, error);
}

static int
writing_range(struct writing *writing, struct portolan_error *error)
{
	struct parallel gathering = {.threads = writing->run->threads,
	                             .count = store_snapshot_blocks(writing->run->snapshot),
	                             .context = writing,
	                             .work = writing_gather_block};
	const struct ordered_steps steps = {
	        .context = writing, .work = writing_make_ordered, .deliver = writing_deliver_ordered};
	int code = ordered_begin(&writing->ordered, error);

	if (code >= 0)
		code = parallel_run(&gathering, error);
	return code < 0 ? code : ordered_take(&writing->ordered, writing->run->threads, &steps, error);
}

/* How many places there is room for at a time: for their records, and for what puts these in order. */
static uint32_t
writing_places_at_once(const struct writing *writing)
{
	uint64_t fitting = arrays_room() / 2 / (writing->stream.record.size + sizeof(uint32_t));

	fitting = fitting > STORE_CHUNK ? fitting : STORE_CHUNK;
	return fitting < writing->place_count ? (uint32_t)fitting : (uint32_t)writing->place_count;
}

static int
writing_gathered(struct writing *writing, struct portolan_error *error)
{
	uint32_t most = writing_places_at_once(writing);
	size_t ranges = (writing->place_count + most - 1) / most, done = 0;
	struct progress progress;
	int code = ordered_init(&writing->ordered, writing->stream.record.size, most, writing->run->threads, NULL, 0,
	                        error);

	progress_begin(&progress, "writing", writing->run->epoch_count * ranges);
	for (writing->epoch = 0; writing->epoch < writing->run->epoch_count; writing->epoch++)
		for (uint64_t first = 0; code >= 0 && first < writing->place_count; first += most) {
			uint64_t rest = writing->place_count - first;

			writing->first = (uint32_t)first;
			writing->held = rest < most ? (uint32_t)rest : most;
			code = writing_range(writing, error);
			progress_show(&progress, ++done);
		}
	progress_clear(&progress);
	return code;
}

static int
writing_open(struct writing *writing, struct output *output, uint64_t observations, struct portolan_error *error)
{
	const struct table table = {.columns = writing->layout.columns, .column_count = writing->layout.count};
	unsigned threads = writing->run->threads;
	int code = table_stream_init(&writing->stream, &table, output, writing->request->format,
	                             parallel_slots(threads), error);

	writing->workers = memory_new(threads, sizeof(*writing->workers));
	for (unsigned t = 0; t < threads && code >= 0; t++) {
		struct worker *worker = &writing->workers[t];

		code = layout_open_block(&worker->block, &writing->layout, writing->run, error);
		if (code >= 0)
			code = output_open_memory(&worker->records, 0, error);
	}
	return code < 0 ? code : table_stream_begin(&writing->stream, observations, error);
}

static void
writing_free(struct writing *writing)
{
	for (unsigned t = 0; t < writing->run->threads && writing->workers; t++) {
		layout_close_block(&writing->workers[t].block);
		output_discard(&writing->workers[t].records);
	}
	free(writing->workers);
	table_stream_free(&writing->stream);
	ordered_free(&writing->ordered);
	array_free(writing->places);
	layout_free(&writing->layout);
}

/* Columns, and the order of the examples. */
static int
writing_prepare(struct writing *writing, const struct output *output, struct portolan_error *error)
{
	const struct observations_request *request = writing->request;
	struct table_column *id = &writing->layout.columns[0];
	struct dynamics *run = writing->run;
	bool has_characters = request->format == TABLE_NPY && !request->id_bytes, ascending;
	struct text_extent extent = {0};
	int code = layout_init(&writing->layout, run, request->names, request->name_count, error);

	if (code >= 0)
		code = dynamics_look_at_ids(run, &ascending, &extent, error);
	if (code < 0)
		return code;
	id->of = &run->ids; /* which has no ids, and says of what kind they are */
	id->npy = has_characters || extent.texts == 0 ? NULL : "|S";
	id->width = has_characters ? extent.longest : extent.widest;
	if (request->list) {
		writing->place_count = request->list->count;
		return places_of_list(request->list, run, &writing->places, error);
	}
	if (has_characters && output_can_patch(output)) /* a file, not another program */
		run_table_note_wide_ids(&extent);
	return ascending ? 0 : places_of_all(run, &writing->places, &writing->place_count, error);
}

int
observations_write(struct dynamics *run, const struct observations_request *request, struct output *output,
                   struct portolan_error *error)
{
	struct writing writing = {.run = run, .request = request};
	uint64_t observations;
	int code = writing_prepare(&writing, output, error);

	if (code >= 0)
		code = survey_run(run, request->list ? writing.places : NULL, request->found, &observations, error);
	if (code >= 0)
		code = writing_open(&writing, output, observations, error);
	if (code >= 0)
		code = writing.places ? writing_gathered(&writing, error) : writing_in_order(&writing, error);
	if (code >= 0)
		code = table_stream_end(&writing.stream, observations, "observations", error);
	writing_free(&writing);
	return code;
}

/*
 * write.c: all threads make records; the caller's thread writes them in order.
 *
 * If the store's order is that of the ids, a part of the work is a block of the store at one epoch, and its rows follow
 * those of the part before. If not, each example has a place (places.h). The records of an epoch are put into their
 * places, a range of places at a time, and then written from there.
 *
 * People get the ends of the table. Its columns are as wide as what is shown, so records come to the caller's thread
 * as they are, and it makes rows of those that are shown.
 */
#include "write.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "records.h"
#include "survey.h"
#include "tables/run_table.h"

#include <portolan/error.h>
#include <progress.h>

#include <stdlib.h>
#include <string.h>

struct worker {
	struct store_cursor *cursor;
	uint32_t *rows; /* of a block, those wanted */
	char *records;  /* of a tile, or of a block */
};

struct writing {
	struct dynamics *run;
	const struct observations_request *request;
	struct output *output;
	struct layout layout;
	struct rows_column columns[LAYOUT_FIELDS_MAX];
	uint64_t observations;
	struct rows shown;       /* for people */
	uint64_t at, next_shown; /* of the table's rows: the one that comes next, and the one that is shown next */
	struct worker *workers;  /* by thread */
	struct output *slots;
	unsigned slot_count;
	/* If the examples are not in order: */
	uint32_t *places;
	size_t place_count;
	size_t epoch;         /* the one gathered; its number among the run's */
	uint32_t first, held; /* the range of places: first … first + held − 1 */
	char *records;        /* by place in the range */
	uint8_t *there;       /* 1: it has a record */
};

static void
write_records(const struct writing *writing, struct output *slot, const char *records, size_t n)
{
	const struct layout *layout = &writing->layout;
	struct rows rows;

	if (writing->request->format == ROWS_NPY || writing->request->format == ROWS_ALIGNED) {
		output_bytes(slot, records, n * layout->size);
		return;
	}
	rows = rows_for(slot, writing->request->format, writing->columns, layout->count, false);
	for (size_t i = 0; i < n; i++)
		records_print(layout, records + i * layout->size, &rows);
}

static int
read_block(const struct writing *writing, const struct worker *worker, size_t index, size_t epoch,
           struct store_ids *ids, struct store_block *block, struct portolan_error *error)
{
	int code = store_cursor_ids(worker->cursor, index, ids, error);

	return code < 0 ? code
	                : store_cursor_epochs(worker->cursor, index, epoch, 1, writing->layout.columns, block, error);
}

/* Part: a block at an epoch; all blocks of the first epoch come first. */
static int
write_block(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct writing *writing = context;
	const struct worker *worker = &writing->workers[thread];
	size_t blocks = store_snapshot_blocks(writing->run->snapshot), epoch = part / blocks, n;
	struct store_block block;
	struct store_ids ids;
	struct records_source source = {&writing->layout, &block, &ids, writing->run->epochs[epoch]};
	int code = read_block(writing, worker, part % blocks, epoch, &ids, &block, error);

	output_clear(&writing->slots[slot]);
	if (code < 0)
		return code;
	n = records_observed(&block, worker->rows);
	for (size_t i = 0; i < n; i += RECORDS_TILE) {
		size_t tile = n - i < RECORDS_TILE ? n - i : RECORDS_TILE;

		records_make(&source, worker->rows + i, tile, worker->records);
		write_records(writing, &writing->slots[slot], worker->records, tile);
	}
	return output_check(&writing->slots[slot], error);
}

/* Adds those of the records that are shown to people. */
static void
show_records(struct writing *writing, const struct output *records)
{
	size_t size = writing->layout.size;

	for (size_t used = 0; used < records->used; used += size, writing->at++) {
		if (writing->at < writing->next_shown)
			continue;
		writing->next_shown = rows_skip_middle(&writing->shown, writing->at, writing->observations);
		if (writing->next_shown > writing->at)
			continue;
		records_print(&writing->layout, records->buffer + used, &writing->shown);
		writing->next_shown++;
	}
}

static int
deliver(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	struct writing *writing = context;

	(void)part;
	if (writing->request->format == ROWS_ALIGNED)
		show_records(writing, &writing->slots[slot]);
	else
		output_append(writing->output, &writing->slots[slot]);
	return output_check(writing->output, error);
}

static int
write_in_order(struct writing *writing, struct portolan_error *error)
{
	struct parallel parallel = {.threads = writing->run->threads,
	                            .count = writing->run->epoch_count * store_snapshot_blocks(writing->run->snapshot),
	                            .what = "writing",
	                            .context = writing,
	                            .work = write_block,
	                            .deliver = deliver};

	return parallel_run(&parallel, error);
}

static bool
is_in_range(const struct writing *writing, uint32_t example)
{
	return writing->places[example] - writing->first < writing->held; /* PLACES_NONE is beyond every range */
}

static bool
has_any_in_range(const struct writing *writing, size_t index)
{
	size_t first = index * STORE_CHUNK, end = first + STORE_CHUNK;
	uint32_t any = 0;

	end = end < writing->run->info->rows ? end : (size_t)writing->run->info->rows;
	for (size_t i = first; i < end; i++)
		any |= is_in_range(writing, (uint32_t)i);
	return any != 0;
}

/* Puts a block's records to their places. */
static int
gather_block(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	const struct writing *writing = context;
	const struct worker *worker = &writing->workers[thread];
	size_t size = writing->layout.size, n, wanted = 0;
	struct store_block block;
	struct store_ids ids;
	struct records_source source = {&writing->layout, &block, &ids, writing->run->epochs[writing->epoch]};
	int code;

	(void)slot;
	if (!has_any_in_range(writing, index))
		return 0;
	code = read_block(writing, worker, index, writing->epoch, &ids, &block, error);
	if (code < 0)
		return code;
	n = records_observed(&block, worker->rows);
	for (size_t i = 0; i < n; i++)
		if (is_in_range(writing, block.first + worker->rows[i]))
			worker->rows[wanted++] = worker->rows[i];
	for (size_t i = 0; i < wanted; i += RECORDS_TILE) {
		size_t tile = wanted - i < RECORDS_TILE ? wanted - i : RECORDS_TILE;

		records_make(&source, worker->rows + i, tile, worker->records);
		for (size_t k = 0; k < tile; k++) {
			size_t at = writing->places[block.first + worker->rows[i + k]] - writing->first;

			memcpy(writing->records + at * size, worker->records + k * size, size);
			writing->there[at] = 1;
		}
	}
	return 0;
}

/* Piece: STORE_CHUNK places of the range. */
static int
write_places(void *context, unsigned thread, unsigned slot, size_t piece, struct portolan_error *error)
{
	const struct writing *writing = context;
	size_t size = writing->layout.size, at = piece * STORE_CHUNK, end = at + STORE_CHUNK;

	(void)thread;
	end = end < writing->held ? end : writing->held;
	output_clear(&writing->slots[slot]);
	while (at < end) {
		size_t from = at;

		while (at < end && writing->there[at])
			at++;
		write_records(writing, &writing->slots[slot], writing->records + from * size, at - from);
		while (at < end && !writing->there[at])
			at++;
	}
	return output_check(&writing->slots[slot], error);
}

static int
write_range(struct writing *writing, struct portolan_error *error)
{
	struct parallel gathering = {.threads = writing->run->threads,
	                             .count = store_snapshot_blocks(writing->run->snapshot),
	                             .context = writing,
	                             .work = gather_block};
	struct parallel printing = {.threads = writing->run->threads,
	                            .count = (writing->held + STORE_CHUNK - 1) / STORE_CHUNK,
	                            .context = writing,
	                            .work = write_places,
	                            .deliver = deliver};
	int code;

	memset(writing->there, 0, writing->held);
	code = parallel_run(&gathering, error);
	return code < 0 ? code : parallel_run(&printing, error);
}

/* How many places there is room for at a time. */
static uint32_t
places_at_once(const struct writing *writing)
{
	uint64_t fitting = arrays_room() / (writing->layout.size + 1);

	fitting = fitting > STORE_CHUNK ? fitting : STORE_CHUNK;
	return fitting < writing->place_count ? (uint32_t)fitting : (uint32_t)writing->place_count;
}

static int
write_gathered(struct writing *writing, struct portolan_error *error)
{
	uint32_t most = places_at_once(writing);
	size_t ranges = (writing->place_count + most - 1) / most, done = 0;
	struct progress progress;
	int code = 0;

	writing->records = array_new(most, writing->layout.size, "observations of an epoch", error);
	writing->there = array_new(most, 1, "marks", error);
	if (!writing->records || !writing->there)
		return PORTOLAN_E_MEMORY;
	progress_begin(&progress, "writing", writing->run->epoch_count * ranges);
	for (writing->epoch = 0; writing->epoch < writing->run->epoch_count; writing->epoch++)
		for (uint64_t first = 0; code >= 0 && first < writing->place_count; first += most) {
			uint64_t rest = writing->place_count - first;

			writing->first = (uint32_t)first;
			writing->held = rest < most ? (uint32_t)rest : most;
			code = write_range(writing, error);
			progress_show(&progress, ++done);
		}
	progress_clear(&progress);
	return code;
}

static int
open_workers(struct writing *writing, struct portolan_error *error)
{
	unsigned threads = writing->run->threads, slots = parallel_slots(threads);
	int code = 0;

	writing->workers = calloc(threads, sizeof(*writing->workers));
	writing->slots = calloc(slots, sizeof(*writing->slots));
	if (!writing->workers || !writing->slots)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (unsigned t = 0; t < threads && code >= 0; t++) {
		struct worker *worker = &writing->workers[t];

		worker->rows = malloc(STORE_CHUNK * sizeof(*worker->rows));
		worker->records = malloc(RECORDS_TILE * writing->layout.size);
		code = worker->rows && worker->records
		               ? store_cursor_open(writing->run->snapshot, &worker->cursor, error)
		               : error_set(error, PORTOLAN_E_MEMORY, "out of memory for a block of examples");
	}
	while (code >= 0 && writing->slot_count < slots)
		code = output_open_memory(&writing->slots[writing->slot_count++], 0, error);
	return code;
}

static void
free_writing(struct writing *writing)
{
	for (unsigned t = 0; t < writing->run->threads && writing->workers; t++) {
		store_cursor_close(writing->workers[t].cursor);
		free(writing->workers[t].rows);
		free(writing->workers[t].records);
	}
	for (unsigned s = 0; s < writing->slot_count; s++)
		output_discard(&writing->slots[s]);
	free(writing->workers);
	free(writing->slots);
	array_free(writing->places);
	array_free(writing->records);
	array_free(writing->there);
	layout_free(&writing->layout);
}

static void
write_head(struct writing *writing)
{
	const struct layout *layout = &writing->layout;
	struct npy_field fields[LAYOUT_FIELDS_MAX];
	struct rows rows;

	if (writing->request->format == ROWS_NPY) {
		layout_npy(layout, fields);
		npy_write_records_header(writing->output, fields, layout->count, writing->observations);
		return;
	}
	if (writing->request->format == ROWS_ALIGNED) {
		rows_begin_aligned(&writing->shown, writing->output, writing->columns, layout->count);
		return;
	}
	rows = rows_for(writing->output, writing->request->format, writing->columns, layout->count, false);
	rows_head(&rows);
}

/* Columns, and the order of the examples. */
static int
prepare(struct writing *writing, struct portolan_error *error)
{
	const struct observations_request *request = writing->request;
	struct dynamics *run = writing->run;
	bool is_text = run->info->id_kind == STORE_ID_STR, ascending;
	enum layout_ids ids = !is_text                                            ? LAYOUT_INTEGERS
	                      : request->format == ROWS_NPY && !request->id_bytes ? LAYOUT_CHARACTERS
	                                                                          : LAYOUT_BYTES;
	struct text_extent extent = {0};
	int code = dynamics_look_at_ids(run, &ascending, is_text ? &extent : NULL, error);

	if (code >= 0)
		code = layout_init(&writing->layout, run, request->names, request->name_count, ids, &extent, error);
	if (code < 0)
		return code;
	layout_columns(&writing->layout, writing->columns);
	if (request->format == ROWS_ALIGNED)
		writing->columns[0].kind = ROWS_TEXT; /* an id is a name, of which no digits are parted */
	if (request->list) {
		writing->place_count = request->list->count;
		return places_of_list(request->list, run, &writing->places, error);
	}
	if (ids == LAYOUT_CHARACTERS && output_can_patch(writing->output)) /* a file, not another program */
		run_table_note_wide_ids(&extent);
	return ascending ? 0 : places_of_all(run, &writing->places, &writing->place_count, error);
}

static int
write_rows(struct writing *writing, struct portolan_error *error)
{
	int code;

	write_head(writing);
	code = writing->places ? write_gathered(writing, error) : write_in_order(writing, error);
	if (writing->request->format != ROWS_ALIGNED)
		return code;
	rows_end_aligned(&writing->shown);
	if (code >= 0 && output_flush(writing->output, NULL) >= 0)
		rows_note_excerpt(&writing->shown, writing->observations, "observations");
	return code;
}

int
observations_write(struct dynamics *run, const struct observations_request *request, struct output *output,
                   struct portolan_error *error)
{
	struct writing writing = {.run = run, .request = request, .output = output};
	int code = prepare(&writing, error);

	if (code >= 0)
		code = survey_run(run, request->list ? writing.places : NULL, request->found, &writing.observations,
		                  error);
	if (code >= 0)
		code = open_workers(&writing, error);
	if (code >= 0)
		code = write_rows(&writing, error);
	free_writing(&writing);
	return code;
}

/*
 * scan.c: reads a run block by block in several threads, and hands computed parts of it to the caller of scan_run()
 * (scan.h).
 *
 * Each worker has one cursor and one set of buffers. The buffers are used again for every block, or piece of one, so
 * they stay in the worker's cache, from which the results are read back. Most pieces are complete: every example was
 * observed at every epoch, so they need no check per row. Sums of floating-point numbers over the run are made per
 * block and added in the order of the blocks: they are the same whatever the number of threads.
 *
 * The place of a block's examples in the output depends only on the number of observed examples in the blocks before
 * it. This is known as soon as a block is read, so workers pass the number on in the order of the blocks, and need not
 * wait for any result.
 */
#include "scan.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LANES 16u /* rows that a loop takes at once, which makes vector code of it */

struct scan_sums {
	uint64_t count, gaps;
	struct trend_epoch *trend; /* one for each epoch; NULL: not asked for */
};

struct worker {
	struct store_cursor *cursor;
	struct ids ids; /* the ids of the block */
	struct dynamics part;
	double *values;               /* room for the columns for which the run has no array */
	struct store_values *columns; /* the store's columns, cut to a piece */
	struct block_sums sums;       /* of the block, if some epochs are not read */
};

struct scan {
	struct dynamics *run;
	const struct scan_steps *steps;
	struct worker *workers;
	struct scan_sums *slots;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t moved;
	size_t next;    /* the next block to take its place */
	uint64_t place; /* the number of observed examples before that block */
	bool failed;
};

static int
out_of_memory(struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a block of examples");
}

static uint32_t
part_rows(const struct scan *scan)
{
	return scan->steps->rows ? scan->steps->rows : STORE_CHUNK;
}

static int
worker_init(struct scan *scan, struct worker *worker, struct portolan_error *error)
{
	const struct dynamics *run = scan->run;
	size_t own = 0, views = scan->steps->rows ? run->epoch_count * STORE_COLUMN_MAX : 0;

	worker->part = *run;
	worker->part.ids = (struct ids){0};
	worker->part.trend = NULL;
	worker->part.order = malloc(STORE_CHUNK * sizeof(*worker->part.order));
	worker->part.gold = run->with_gold ? malloc(STORE_CHUNK * sizeof(*worker->part.gold)) : NULL;
	for (size_t c = 0; c < run->column_count; c++)
		own += run->columns[c].values == NULL;
	worker->values = malloc((own + 1) * part_rows(scan) * sizeof(*worker->values));
	worker->columns = calloc(views + 1, sizeof(*worker->columns));
	if (!worker->part.order || (run->with_gold && !worker->part.gold) || !worker->values || !worker->columns)
		return out_of_memory(error);
	if (run->earlier && sums_init(&worker->sums, &run->earlier->kind, error) < 0)
		return PORTOLAN_E_MEMORY;
	return store_cursor_open(run->snapshot, &worker->cursor, error);
}

static void
worker_free(struct worker *worker)
{
	store_cursor_close(worker->cursor);
	ids_free(&worker->ids);
	sums_free(&worker->sums);
	free(worker->part.order);
	free(worker->part.gold);
	free(worker->values);
	free(worker->columns);
}

/* Sets where the values go of the part that begins with example `first`. */
static void
place_values(const struct scan *scan, struct worker *worker, uint32_t first)
{
	double *own = worker->values;

	for (size_t c = 0; c < scan->run->column_count; c++) {
		const struct dynamics_column *whole = &scan->run->columns[c];

		worker->part.columns[c].values = whole->values ? whole->values + first : own;
		if (!whole->values)
			own += part_rows(scan);
	}
}

/* The ids of `rows` examples of the block from `from` on. */
static struct ids
ids_of_piece(const struct ids *block, uint32_t from, uint32_t rows)
{
	struct ids piece = {.kind = block->kind, .rows = rows, .text = block->text};

	piece.integers = block->integers ? block->integers + from : NULL;
	piece.offsets = block->offsets ? block->offsets + from : NULL;
	return piece;
}

/*
 * Waits until the blocks before this one are read; *place becomes the number of observed examples in them. `code` is
 * the result of reading this block. A block that failed takes its turn as well, so the blocks before it are still read.
 */
static int
take_place(struct scan *scan, size_t index, int code, uint32_t observed, uint64_t *place, struct portolan_error *error)
{
	pthread_mutex_lock(&scan->lock);
	while (scan->next != index && !scan->failed)
		pthread_cond_wait(&scan->moved, &scan->lock);
	if (code >= 0 && scan->failed) /* an earlier block has failed, whose error is reported in place of this one */
		code = error_set(error, PORTOLAN_E_CANCELLED, "an earlier block could not be read");
	scan->failed = code < 0;
	*place = scan->place;
	scan->place += observed;
	scan->next++;
	pthread_mutex_unlock(&scan->lock);
	pthread_cond_broadcast(&scan->moved); /* a thread that wakes does not wait for this one's lock */
	return code;
}

/* How many examples of the block were observed. `sums` is NULL, unless some epochs are not read. */
static uint32_t
count_observed(const struct store_block *block, const struct block_sums *sums)
{
	const uint32_t *epochs = sums ? sums_epochs(sums) : NULL;
	uint32_t count = 0;

	for (uint32_t r = 0; epochs && r < block->rows; r++)
		count += epochs[r] > 0;
	if (epochs)
		return count;
	if (measures_are_complete(block))
		return block->rows;
	for (uint32_t word = 0; word * 64 < block->rows; word++) {
		uint32_t rest = block->rows - word * 64;
		uint64_t observed = 0;

		for (size_t e = 0; e < block->epoch_count; e++) {
			const struct store_values *values = store_block_values(block, e, STORE_GOLD_PROB);

			observed |= values->present ? values->present[word] : 0;
		}
		if (rest < 64)
			observed &= (UINT64_C(1) << rest) - 1;
		count += (uint32_t)__builtin_popcountll(observed);
	}
	return count;
}

static struct store_values
cut_values(const struct store_values *values, uint32_t from, bool bits)
{
	if (!values->values)
		return (struct store_values){0};
	return (struct store_values){.values = (const char *)values->values + (bits ? from / 8 : from * sizeof(float)),
	                             .present = values->present + from / 64,
	                             .complete = values->complete};
}

/* Cuts a piece out of a block: `rows` rows from `from` on, a multiple of 64. `columns` has room for as many columns as
 * the block has. Only those in the mask `held` are set, so the others must be zero. */
static struct store_block
cut_piece(const struct store_block *block, uint64_t held, uint32_t from, uint32_t rows, struct store_values *columns)
{
	struct store_block piece = *block;

	for (size_t e = 0; e < block->epoch_count; e++)
		for (uint64_t rest = held; rest != 0; rest &= rest - 1) {
			unsigned c = (unsigned)__builtin_ctzll(rest);

			columns[e * STORE_COLUMN_MAX + c] =
			        cut_values(&block->columns[e * STORE_COLUMN_MAX + c], from, c == STORE_CORRECT);
		}
	piece.first += from;
	piece.rows = rows;
	piece.columns = columns;
	piece.gold = cut_values(&block->gold, from, false);
	return piece;
}

/* Copies the gold labels. An absent one, and one below 0, which no collector stores, becomes −1; code that counts
 * classes relies on no label being below −1. */
static void
take_gold(const struct store_block *block, int32_t *to)
{
	const struct store_values *gold = &block->gold;
	const int32_t *from = gold->values;
	uint32_t r = 0;

	for (; gold->complete && r + LANES <= block->rows; r += LANES)
		for (unsigned k = 0; k < LANES; k++)
			to[r + k] = from[r + k] >= 0 ? from[r + k] : -1;
	for (; r < block->rows; r++)
		to[r] = from && gold->present[r / 64] >> r % 64 & 1 && from[r] >= 0 ? from[r] : -1;
}

/* Lists the examples that were observed, and adds to the sums. */
static void
list_observed(struct dynamics *part, const struct store_block *block, struct scan_sums *sums)
{
	const double *epochs = dynamics_measure_column(part, MEASURE_EPOCHS)->values;
	double all = (double)part->epoch_count;

	part->count = 0;
	if (!part->earlier && measures_are_complete(block)) {
		for (uint32_t r = 0; r < block->rows; r++)
			part->order[r] = r;
		part->count = block->rows;
	}
	for (uint32_t r = (uint32_t)part->count; r < block->rows; r++) {
		part->order[part->count] = r;
		part->count += epochs[r] > 0;
		sums->gaps += epochs[r] > 0 && epochs[r] < all;
	}
	sums->count += part->count;
}

/* Computes a part from a piece, which begins at row `from` of its block: fills its columns, gold, order and count, for
 * which there is room, and adds to the sums. */
static void
compute_part(struct worker *worker, const struct store_block *piece, uint32_t from, struct scan_sums *sums)
{
	struct dynamics *part = &worker->part;

	if (part->earlier)
		dynamics_fill_from(part, &worker->sums, from, piece->rows);
	else
		dynamics_fill(part, piece, NULL);
	if (sums->trend)
		trend_add_block(sums->trend, piece, dynamics_mean(part));
	if (part->gold)
		take_gold(piece, part->gold);
	list_observed(part, piece, sums);
}

static int
work_on_piece(struct scan *scan, struct worker *worker, const struct store_block *piece, uint32_t from, unsigned slot,
              struct portolan_error *error)
{
	struct dynamics *part = &worker->part;

	part->first = piece->first;
	part->ids = ids_of_piece(&worker->ids, from, piece->rows);
	place_values(scan, worker, piece->first);
	compute_part(worker, piece, from, &scan->slots[slot]);
	if (scan->run->gold)
		memcpy(scan->run->gold + piece->first, part->gold, piece->rows * sizeof(*part->gold));
	return scan->steps->work ? scan->steps->work(scan->steps->context, part, slot, error) : 0;
}

static int
work_on_block(struct scan *scan, struct worker *worker, const struct store_block *block, unsigned slot,
              struct portolan_error *error)
{
	uint64_t held = store_snapshot_columns(scan->run->snapshot);
	int code = 0;

	if (!scan->steps->rows)
		return work_on_piece(scan, worker, block, 0, slot, error);
	for (uint32_t from = 0; code >= 0 && from < block->rows; from += part_rows(scan)) {
		uint32_t rest = block->rows - from, rows = rest < part_rows(scan) ? rest : part_rows(scan);
		struct store_block piece = cut_piece(block, held, from, rows, worker->columns);

		code = work_on_piece(scan, worker, &piece, from, slot, error);
		worker->part.place += worker->part.count;
	}
	return code;
}

static int
read_ids(struct worker *worker, size_t index, struct portolan_error *error)
{
	struct store_ids ids;
	int code = store_cursor_ids(worker->cursor, index, &ids, error);

	if (code < 0)
		return code;
	worker->ids.rows = 0;
	worker->part.first = ids.first;
	code = ids_append(&worker->ids, worker->part.info->id_kind, &ids, error);
	worker->part.ids = worker->ids;
	return code;
}

static void
scan_sums_clear(struct scan_sums *sums, size_t epochs)
{
	struct trend_epoch *trend = sums->trend;

	*sums = (struct scan_sums){.trend = trend};
	if (trend)
		memset(trend, 0, epochs * sizeof(*trend));
}

/* Reads the block's epochs: all of them, or those that are not among the run's `earlier`, whose sums are added. */
static int
read_block(const struct scan *scan, struct worker *worker, size_t index, struct store_block *block,
           struct portolan_error *error)
{
	const struct dynamics *run = scan->run;
	const struct dynamics_earlier *earlier = run->earlier;
	size_t from = earlier ? earlier->from : 0;
	int code = store_cursor_epochs(worker->cursor, index, from, run->epoch_count - from, UINT64_MAX, block, error);
	/* the rows of declared examples are numbered by their ids: blocks without observations are left out */
	uint32_t chunk = run->info->declared ? (uint32_t)(worker->ids.integers[0] / STORE_CHUNK) : (uint32_t)index;

	return code < 0 || !earlier ? code : earlier->sum(earlier->context, index, chunk, block, &worker->sums, error);
}

static int
work(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	struct scan *scan = context;
	struct worker *worker = &scan->workers[thread];
	struct store_block block = {0};
	int code = read_ids(worker, index, error);

	scan_sums_clear(&scan->slots[slot], scan->run->epoch_count);
	if (code >= 0)
		code = read_block(scan, worker, index, &block, error);
	if (scan->steps->placed)
		code = take_place(scan, index, code, count_observed(&block, scan->run->earlier ? &worker->sums : NULL),
		                  &worker->part.place, error);
	return code < 0 ? code : work_on_block(scan, worker, &block, slot, error);
}

static int
deliver(void *context, unsigned number, size_t index, struct portolan_error *error)
{
	const struct scan *scan = context;
	const struct scan_sums *slot = &scan->slots[number];
	struct dynamics *run = scan->run;

	(void)index;
	run->count += slot->count;
	run->gaps += slot->gaps;
	if (run->trend)
		trend_add(run->trend, slot->trend, run->epoch_count);
	return scan->steps->deliver ? scan->steps->deliver(scan->steps->context, number, error) : 0;
}

/* Makes the slots; where the trend is asked for, these and the run get sums of it. */
static int
scan_slots_new(struct scan *scan, unsigned slots, struct portolan_error *error)
{
	struct dynamics *run = scan->run;
	struct trend_epoch *trends = NULL;
	bool ready = true;

	if (run->with_trend && dynamics_measure_column(run, MEASURE_VARIABILITY)) {
		free(run->trend);
		run->trend = calloc(run->epoch_count + 1, sizeof(*run->trend));
		trends = calloc(slots * run->epoch_count + 1, sizeof(*trends));
		ready = run->trend && trends;
	}
	scan->slots = ready ? calloc(slots, sizeof(*scan->slots)) : NULL;
	if (!scan->slots) {
		free(trends);
		return out_of_memory(error);
	}
	for (unsigned s = 0; trends && s < slots; s++)
		scan->slots[s].trend = trends + s * run->epoch_count;
	return 0;
}

static int
scan_all(struct scan *scan, struct portolan_error *error)
{
	size_t blocks = store_snapshot_blocks(scan->run->snapshot);
	struct parallel parallel = {.threads = scan->run->threads,
	                            .count = blocks,
	                            .what = "reading",
	                            .context = scan,
	                            .work = work,
	                            .deliver = deliver};
	unsigned ready = 0;
	int code = 0;

	scan->workers = calloc(parallel.threads, sizeof(*scan->workers));
	code = scan->workers ? scan_slots_new(scan, parallel_slots(parallel.threads), error) : out_of_memory(error);
	while (code >= 0 && ready < parallel.threads && ready < blocks)
		code = worker_init(scan, &scan->workers[ready++], error);
	if (code >= 0)
		parallel.threads = ready;
	if (code >= 0)
		code = parallel_run(&parallel, error);
	for (unsigned w = 0; w < ready; w++)
		worker_free(&scan->workers[w]);
	free(scan->workers);
	if (scan->slots)
		free(scan->slots[0].trend);
	free(scan->slots);
	pthread_mutex_destroy(&scan->lock);
	pthread_cond_destroy(&scan->moved);
	return code;
}

int
scan_run(struct dynamics *run, const struct scan_steps *steps, struct portolan_error *error)
{
	struct scan scan = {
	        .run = run, .steps = steps, .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

	run->count = 0;
	run->gaps = 0;
	return scan_all(&scan, error);
}

/*
 * scan.c: one cursor and one set of buffers for each worker.
 *
 * The buffers are used again for every block, so they stay in the worker's cache: what is computed is read back from
 * there, not from memory. Sums of floating-point numbers over the run are made per block and added in the order of the
 * blocks: they are the same whatever the number of threads.
 */
#include "scan.h"

#include "program/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define COLUMN_BYTES ((uint64_t)STORE_CHUNK * sizeof(float) + STORE_CHUNK / 8)
#define FIXED_BYTES (UINT64_C(1) << 20) /* of a worker: ids, LMDB's and the allocator's own */

struct worker {
	struct store_cursor *cursor;
	struct dynamics part;
	double *values; /* of the columns the run has no array for */
};

struct slot {
	uint64_t count, gaps;
	struct measures_first_epoch first_epoch;
};

struct scan {
	struct dynamics *run;
	const struct scan_steps *steps;
	bool ids_only;
	struct worker *workers;
	struct slot *slots;
};

uint64_t
scan_worker_memory(const struct dynamics *run)
{
	uint64_t stored = store_snapshot_columns(run->snapshot);
	uint64_t columns = (uint64_t)__builtin_popcountll(stored) + 1; /* and which session wrote it */

	return FIXED_BYTES + run->epoch_count * columns * COLUMN_BYTES +
	       STORE_CHUNK * (run->column_count * sizeof(double) + sizeof(int32_t) + sizeof(uint32_t));
}

uint64_t
scan_fit(struct dynamics *run, uint64_t memory, uint64_t slot_bytes)
{
	uint64_t each = scan_worker_memory(run);

	while (run->threads > 1 && run->threads * each + parallel_slots(run->threads) * slot_bytes > memory)
		run->threads--;
	return each + slot_bytes > memory ? each + slot_bytes : 0;
}

static int
out_of_memory(struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a block of examples");
}

static int
worker_init(struct scan *scan, struct worker *worker, struct portolan_error *error)
{
	const struct dynamics *run = scan->run;
	size_t own = 0;

	worker->part = *run;
	worker->part.ids = (struct ids){0};
	worker->part.order = malloc(STORE_CHUNK * sizeof(*worker->part.order));
	worker->part.gold = run->with_gold ? malloc(STORE_CHUNK * sizeof(*worker->part.gold)) : NULL;
	for (size_t c = 0; c < run->column_count; c++)
		own += run->columns[c].values == NULL;
	worker->values = malloc((own + 1) * STORE_CHUNK * sizeof(*worker->values));
	if (!worker->part.order || (run->with_gold && !worker->part.gold) || !worker->values)
		return out_of_memory(error);
	return store_cursor_open(run->snapshot, &worker->cursor, error);
}

static void
worker_free(struct worker *worker)
{
	store_cursor_close(worker->cursor);
	ids_free(&worker->part.ids);
	free(worker->part.order);
	free(worker->part.gold);
	free(worker->values);
}

/* Where the values of the block that begins with example `first` go. */
static void
place_values(const struct scan *scan, struct worker *worker, uint32_t first)
{
	double *own = worker->values;

	for (size_t c = 0; c < scan->run->column_count; c++) {
		const struct dynamics_column *whole = &scan->run->columns[c];

		worker->part.columns[c].values = whole->values ? whole->values + first : own;
		if (!whole->values)
			own += STORE_CHUNK;
	}
}

static void
take_gold(const struct store_block *block, int32_t *to)
{
	const struct store_values *gold = &block->gold;

	for (uint32_t r = 0; r < block->rows; r++) {
		to[r] = gold->present && gold->present[r / 64] >> r % 64 & 1 ? ((const int32_t *)gold->values)[r] : -1;
		if (to[r] < -1)
			to[r] = -1; /* no collector stores one; whoever counts classes relies on it */
	}
}

static void
compute(struct dynamics *part, const struct store_block *block, struct measures_first_epoch *first_epoch)
{
	double *out[MEASURE_COUNT] = {0};

	for (size_t c = 0; c < part->column_count; c++) {
		const struct dynamics_column *column = &part->columns[c];

		if (column->measure >= 0)
			out[column->measure] = column->values;
		else
			measures_mean(block, column->stored, column->values);
	}
	measures_block(block, part->epochs, out);
	if (out[MEASURE_VARIABILITY])
		measures_first_epoch(block, out[MEASURE_CONFIDENCE], out[MEASURE_VARIABILITY], first_epoch);
}

static void
list_observed(struct dynamics *part, uint32_t rows, struct slot *slot)
{
	const double *epochs = dynamics_measure_column(part, MEASURE_EPOCHS)->values;
	double all = (double)part->epoch_count;

	part->count = 0;
	for (uint32_t r = 0; r < rows; r++) {
		part->order[part->count] = r;
		part->count += epochs[r] > 0;
		slot->gaps += epochs[r] > 0 && epochs[r] < all;
	}
	slot->count = part->count;
}

static int
read_part(struct scan *scan, struct worker *worker, size_t index, struct slot *slot, struct portolan_error *error)
{
	struct dynamics *part = &worker->part;
	struct store_block block;
	struct store_ids ids;
	int code = store_cursor_ids(worker->cursor, index, &ids, error);

	part->ids.rows = 0;
	if (code >= 0)
		code = ids_append(&part->ids, part->info->id_kind, &ids, error);
	if (code < 0 || scan->ids_only) {
		part->first = code < 0 ? 0 : ids.first;
		return code;
	}
	code = store_cursor_block(worker->cursor, index, &block, error);
	if (code < 0)
		return code;
	part->first = block.first;
	place_values(scan, worker, block.first);
	compute(part, &block, &slot->first_epoch);
	if (part->gold)
		take_gold(&block, part->gold);
	if (scan->run->gold)
		memcpy(scan->run->gold + block.first, part->gold, block.rows * sizeof(*part->gold));
	list_observed(part, block.rows, slot);
	return 0;
}

static int
work(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	struct scan *scan = context;
	struct worker *worker = &scan->workers[thread];
	int code;

	scan->slots[slot] = (struct slot){0};
	code = read_part(scan, worker, index, &scan->slots[slot], error);
	return code < 0 || !scan->steps->work ? code
	                                      : scan->steps->work(scan->steps->context, &worker->part, slot, error);
}

static int
deliver(void *context, unsigned number, size_t index, struct portolan_error *error)
{
	const struct scan *scan = context;
	const struct slot *slot = &scan->slots[number];
	struct dynamics *run = scan->run;

	(void)index;
	run->count += slot->count;
	run->gaps += slot->gaps;
	run->first_epoch.first += slot->first_epoch.first;
	run->first_epoch.total += slot->first_epoch.total;
	run->first_epoch.examples += slot->first_epoch.examples;
	return scan->steps->deliver ? scan->steps->deliver(scan->steps->context, number, error) : 0;
}

static int
scan_all(struct scan *scan, const char *what, struct portolan_error *error)
{
	size_t blocks = store_snapshot_blocks(scan->run->snapshot);
	struct parallel parallel = {.threads = scan->run->threads,
	                            .count = blocks,
	                            .what = what,
	                            .context = scan,
	                            .work = work,
	                            .deliver = deliver};
	unsigned ready = 0;
	int code = 0;

	scan->workers = calloc(parallel.threads, sizeof(*scan->workers));
	scan->slots = calloc(parallel_slots(parallel.threads), sizeof(*scan->slots));
	if (!scan->workers || !scan->slots)
		code = out_of_memory(error);
	while (code >= 0 && ready < parallel.threads && ready < blocks)
		code = worker_init(scan, &scan->workers[ready++], error);
	if (code >= 0)
		parallel.threads = ready;
	if (code >= 0)
		code = parallel_run(&parallel, error);
	for (unsigned w = 0; w < ready; w++)
		worker_free(&scan->workers[w]);
	free(scan->workers);
	free(scan->slots);
	return code;
}

int
scan_run(struct dynamics *run, const struct scan_steps *steps, struct portolan_error *error)
{
	struct scan scan = {.run = run, .steps = steps};

	run->count = 0;
	run->gaps = 0;
	run->first_epoch = (struct measures_first_epoch){0};
	return scan_all(&scan, "reading", error);
}

int
scan_ids(struct dynamics *run, const struct scan_steps *steps, struct portolan_error *error)
{
	struct scan scan = {.run = run, .steps = steps, .ids_only = true};

	return scan_all(&scan, "reading ids", error);
}

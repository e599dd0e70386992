/*
 * export.c: rows are made in the workers and written in order.
 *
 * Each slot holds the finished rows of one part: formatting numbers costs more than computing them, so it is done by
 * all threads, and what is left for the one that delivers is to write. Where the store's order is not that of the ids,
 * slices are sorted first, and cut into parts of the same size.
 *
 * Records of one size go straight to their place in a file: each worker writes its own, a few at a time, from its
 * cache.
 */
#include "export.h"

#include "dynamics/scan.h"
#include "dynamics/slices.h"
#include "program/parallel.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

#define PIECE_BYTES (256u << 10)          /* of records: with the columns they are made from, in a core's own cache */
#define SHARE 4 /* of the memory for slices, what the scan that fills them may take: a quarter */

struct export
{
	struct dynamics *run;
	const struct export_request *request;
	struct output *output;
	struct table table;
	struct slices slices;
	double never; /* instead of forgetting events; NaN: nothing */
	size_t row_bytes;
	bool placed;      /* rows are written where they belong, by whoever made them */
	uint32_t rows;    /* made at once */
	uint64_t head;    /* bytes before the first row */
	uint64_t written; /* examples of the slices before this one */
	struct output *slots;
	unsigned slot_count;
	const struct dynamics *slice; /* being written */
};

static double
never_learned_number(const struct export_request *request, size_t epochs)
{
	switch (request->convention) {
	case NEVER_LEARNED_1000:
		return 1000;
	case NEVER_LEARNED_EPOCHS:
		return (double)epochs;
	case NEVER_LEARNED_INFINITY:
		return INFINITY;
	default:
		return NAN; /* an example that was never right was never forgotten either: 0 */
	}
}

static void
mark_never_learned(const struct export *export, struct dynamics *part)
{
	const struct dynamics_column *never = dynamics_measure_column(part, MEASURE_NEVER_LEARNED);
	const struct dynamics_column *events = dynamics_measure_column(part, MEASURE_FORGETTING_EVENTS);

	if (isnan(export->never))
		return;
	for (size_t i = 0; i < part->ids.rows; i++)
		if (never->values[i] > 0)
			events->values[i] = export->never;
}

/* `place`: how many rows the output has before these. */
static int
format_rows(const struct export *export, struct output *slot, const struct dynamics *part, const uint32_t *rows,
            size_t count, uint64_t place, struct portolan_error *error)
{
	int code;

	output_clear(slot);
	table_write_rows(&export->table, slot, part, rows, count);
	code = output_check(slot, error);
	if (code >= 0 && export->placed)
		code = output_write_at(export->output, slot->buffer, slot->used,
		                       export->head + place * export->row_bytes, error);
	return code;
}

static int
format_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct export *export = context;

	mark_never_learned(export, part);
	return format_rows(export, &export->slots[slot], part, part->order, part->count, part->place, error);
}

static int
write_part(void *context, unsigned slot, struct portolan_error *error)
{
	const struct export *export = context;

	if (export->placed)
		return 0;
	output_append(export->output, &export->slots[slot]);
	return output_check(export->output, error);
}

static int
format_piece(void *context, unsigned thread, unsigned slot, size_t piece, struct portolan_error *error)
{
	const struct export *export = context;
	const struct dynamics *slice = export->slice;
	size_t at = piece * export->rows, rest = slice->count - at;

	(void)thread;
	return format_rows(export, &export->slots[slot], slice, slice->order + at,
	                   rest < export->rows ? rest : export->rows, export->written + at, error);
}

static int
write_piece(void *context, unsigned slot, size_t piece, struct portolan_error *error)
{
	(void)piece;
	return write_part(context, slot, error);
}

static int
write_slice(struct export *export, size_t s, struct portolan_error *error)
{
	struct dynamics slice;
	struct parallel parallel = {.threads = export->run->threads,
	                            .what = "writing",
	                            .context = export,
	                            .work = format_piece,
	                            .deliver = write_piece};
	int code = slices_load(export->run, &export->slices, s, &slice, error);

	if (code < 0)
		return code;
	mark_never_learned(export, &slice);
	export->slice = &slice;
	parallel.count = (slice.count + export->rows - 1) / export->rows;
	code = parallel_run(&parallel, error);
	export->written += slice.count;
	slices_release(&slice);
	return code;
}

static int
write_rows(struct export *export, struct portolan_error *error)
{
	struct scan_steps steps = {.context = export,
	                           .rows = export->placed ? export->rows : 0,
	                           .placed = export->placed,
	                           .work = format_part,
	                           .deliver = write_part};
	int code = 0;

	if (export->slices.ascending)
		return scan_run(export->run, &steps, error);
	for (size_t s = 0; s < export->slices.count && code >= 0; s++)
		code = write_slice(export, s, error);
	return code;
}

/* How many examples are observed, where it must be known before the first is written. */
static int
count_rows(const struct export *export, uint64_t *rows, struct portolan_error *error)
{
	struct dynamics *counted = malloc(sizeof(*counted));
	struct scan_steps steps = {0};
	int code;

	*rows = 0;
	if (export->request->format != TABLE_NPY || export->placed) {
		free(counted);
		return 0;
	}
	if (!counted)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	*counted = *export->run;
	counted->column_count = 1; /* epochs */
	counted->with_gold = false;
	code = scan_run(counted, &steps, error);
	*rows = counted->count;
	free(counted);
	return code;
}

static int
write_head(struct export *export, uint64_t rows, struct portolan_error *error)
{
	struct output head;
	int code = output_open_memory(&head, 0, error);

	if (code < 0)
		return code;
	table_write_head(&export->table, &head, rows);
	export->head = head.used;
	output_append(export->output, &head);
	output_discard(&head);
	return output_check(export->output, error);
}

/* Writes npy's head again, now that the rows are counted. */
static int
correct_head(const struct export *export, uint64_t rows, struct portolan_error *error)
{
	struct output head;
	int code;

	if (export->request->format != TABLE_NPY || export->run->count == rows)
		return 0;
	code = output_open_memory(&head, 0, error);
	if (code < 0)
		return code;
	table_write_head(&export->table, &head, export->run->count);
	output_patch(export->output, head.buffer, head.used);
	output_discard(&head);
	return 0;
}

/* How many rows are made at once: a block's, or, where they are records for a file, whole tiles that a cache holds. */
static uint32_t
rows_at_once(const struct export *export)
{
	uint32_t tiles = (uint32_t)(PIECE_BYTES / export->row_bytes / 64);

	return !export->placed || tiles * 64 > STORE_CHUNK ? STORE_CHUNK : tiles > 0 ? tiles * 64 : 64;
}

/* Cuts the run into slices if it must be, and sees how many threads fit beside them. */
static int
divide_memory(struct export *export, struct portolan_error *error)
{
	struct dynamics *run = export->run;
	uint64_t memory = run->max_memory > DYNAMICS_PROGRAM_BYTES ? run->max_memory - DYNAMICS_PROGRAM_BYTES : 0,
	         share = 1, least;
	int code = slices_plan(run, memory / SHARE * (SHARE - 1), &export->slices, error);

	if (code >= 0)
		code = table_init(&export->table, export->request->format, run, export->slices.longest, error);
	if (code < 0)
		return code;
	export->table.with_ci = export->request->with_ci;
	export->row_bytes = table_row_bytes(&export->table, export->slices.longest);
	export->rows = rows_at_once(export);
	share = export->slices.ascending ? 1 : SHARE;
	least = scan_fit(run, memory / share, export->row_bytes * export->rows);
	if (least > 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' is too long for so little memory: say --max-memory %lluM, or fewer --epochs",
		                 run->info->name,
		                 (unsigned long long)((least * share + DYNAMICS_PROGRAM_BYTES + (1 << 20)) >> 20));
	return 0;
}

static int
open_slots(struct export *export, struct portolan_error *error)
{
	size_t room = export->request->format == TABLE_NPY ? export->row_bytes * export->rows : 0;
	unsigned slots = parallel_slots(export->run->threads);
	int code = 0;

	export->slots = calloc(slots, sizeof(*export->slots));
	if (!export->slots)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	while (code >= 0 && export->slot_count < slots)
		code = output_open_memory(&export->slots[export->slot_count++], room, error);
	return code;
}

static int
write_table(struct export *export, struct portolan_error *error)
{
	uint64_t rows = 0;
	int code = divide_memory(export, error);

	if (code >= 0)
		code = open_slots(export, error);
	if (code >= 0)
		code = count_rows(export, &rows, error);
	if (code < 0)
		return code;
	code = write_head(export, rows, error);
	if (code >= 0)
		code = write_rows(export, error);
	if (code >= 0 && export->run->count == 0)
		code = dynamics_no_observations(export->run, error);
	return code < 0 ? code : correct_head(export, rows, error);
}

int
export_run(struct dynamics *run, const struct export_request *request, struct output *output,
           struct portolan_error *error)
{
	struct export export = {.run = run,
	                        .request = request,
	                        .output = output,
	                        .placed = request->format == TABLE_NPY && output_can_patch(output)};
	int code;

	export.never = never_learned_number(request, run->epoch_count);
	if (isinf(export.never))
		dynamics_measure_column(run, MEASURE_FORGETTING_EVENTS)->integer = false;
	code = write_table(&export, error);
	for (unsigned s = 0; s < export.slot_count; s++)
		output_discard(&export.slots[s]);
	free(export.slots);
	table_free(&export.table);
	slices_free(&export.slices);
	return code;
}

/*
 * export.c: rows are made in the workers and written in order.
 *
 * Each slot holds the finished rows of one part: formatting numbers costs more than computing them, so it is done by
 * all threads, and what is left for the one that delivers is to write. Where the store's order is that of the ids, one
 * scan gives the rows, and nothing is held. Otherwise the run is held, and its rows are taken in order.
 *
 * Records of one size go straight to their place in a file, which is known before they are made: that of their example
 * in the order, or, where the ids are not in order, the one that sorting the ids gives. So one scan is enough for these
 * as well.
 */
#include "export.h"

#include "dynamics/arrays.h"
#include "dynamics/scan.h"
#include "program/parallel.h"
#include "table_format.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (256u << 10) /* of records: with the columns they are made from, in a core's own cache */

struct export
{
	struct dynamics *run;
	const struct export_request *request;
	struct output *output;
	struct table table;
	double never;  /* instead of forgetting events; NaN: nothing */
	uint32_t rows; /* made at once */
	size_t record; /* bytes of one, where they are written to their places by whoever made them; else 0 */
	uint64_t head; /* bytes before the first row */
	struct output *slots;
	unsigned slot_count;
	/* Of records that do not come in the order of their ids: */
	char *mapped;      /* the output, with room for all examples, */
	uint32_t *places;  /* where each one's record is, by dense index, */
	uint64_t *missing; /* and, by place, a bit for who was not observed */
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

static int
format_rows(const struct export *export, struct output *slot, const struct dynamics *part, const uint32_t *rows,
            size_t count, struct portolan_error *error)
{
	output_clear(slot);
	table_write_rows(&export->table, slot, part, rows, count);
	return output_check(slot, error);
}

static int
format_part(void *context, struct dynamics *part, unsigned number, struct portolan_error *error)
{
	const struct export *export = context;
	struct output *slot = &export->slots[number];
	int code;

	mark_never_learned(export, part);
	code = format_rows(export, slot, part, part->order, part->count, error);
	if (code < 0 || !export->record)
		return code;
	return output_write_at(export->output, slot->buffer, slot->used, export->head + part->place * export->record,
	                       error);
}

static int
write_part(void *context, unsigned slot, struct portolan_error *error)
{
	const struct export *export = context;

	output_append(export->output, &export->slots[slot]);
	return output_check(export->output, error);
}

/* Rows that come in order: one scan. */
static int
write_scanned(struct export *export, struct portolan_error *error)
{
	struct scan_steps steps = {.context = export, .work = format_part, .deliver = write_part};

	if (export->record)
		steps = (struct scan_steps){
		        .context = export, .work = format_part, .rows = export->rows, .placed = true};
	return scan_run(export->run, &steps, error);
}

static int
format_piece(void *context, unsigned thread, unsigned slot, size_t piece, struct portolan_error *error)
{
	const struct export *export = context;
	const struct dynamics *run = export->run;
	size_t at = piece * export->rows, rest = run->count - at;

	(void)thread;
	return format_rows(export, &export->slots[slot], run, run->order + at,
	                   rest < export->rows ? rest : export->rows, error);
}

static int
write_piece(void *context, unsigned slot, size_t piece, struct portolan_error *error)
{
	(void)piece;
	return write_part(context, slot, error);
}

/* Rows of a run that is held. */
static int
write_held(struct export *export, struct portolan_error *error)
{
	struct parallel parallel = {.threads = export->run->threads,
	                            .count = (export->run->count + export->rows - 1) / export->rows,
	                            .what = "writing",
	                            .context = export,
	                            .work = format_piece,
	                            .deliver = write_piece};

	mark_never_learned(export, export->run);
	return parallel_run(&parallel, error);
}

/* Copies the records of a piece to their places. */
static int
scatter_part(void *context, struct dynamics *part, unsigned number, struct portolan_error *error)
{
	const struct export *export = context;
	const uint32_t *places = export->places + part->first;
	struct output *slot = &export->slots[number];
	size_t next = 0;
	int code;

	mark_never_learned(export, part);
	code = format_rows(export, slot, part, part->order, part->count, error);
	for (uint32_t row = 0; row < part->ids.rows && code >= 0; row++) {
		if (next < part->count && part->order[next] == row)
			memcpy(export->mapped + export->head + places[row] * export->record,
			       slot->buffer + next++ * export->record, export->record);
		else
			__atomic_fetch_or(&export->missing[places[row] / 64], UINT64_C(1) << places[row] % 64,
			                  __ATOMIC_RELAXED);
	}
	return code;
}

/* Closes the gaps that examples without observations have left. */
static void
close_gaps(const struct export *export, uint64_t examples)
{
	char *records = export->mapped + export->head;
	uint64_t kept = 0;

	for (uint64_t place = 0; place < examples && kept < examples; place++) {
		if (export->missing[place / 64] >> place % 64 & 1)
			continue;
		if (kept < place)
			memcpy(records + kept * export->record, records + place * export->record, export->record);
		kept++;
	}
}

/* Where each example's record goes: its id's place in their order. */
static int
find_places(struct export *export, struct portolan_error *error)
{
	struct ids ids = {0};
	uint32_t *order = NULL;
	int code = dynamics_read_ids(export->run, &ids, error);

	if (code >= 0)
		order = array_new(ids.rows, sizeof(*order), "examples in order", error);
	export->places = array_new(ids.rows, sizeof(*export->places), "places of examples", error);
	export->missing = array_new(ids.rows / 64 + 1, sizeof(*export->missing), "marks", error);
	if (!order || !export->places || !export->missing)
		code = code < 0 ? code : PORTOLAN_E_MEMORY;
	for (size_t i = 0; code >= 0 && i < ids.rows; i++)
		order[i] = (uint32_t)i;
	if (code >= 0)
		code = ids_sort(&ids, order, ids.rows, error);
	for (size_t i = 0; code >= 0 && i < ids.rows; i++)
		export->places[order[i]] = (uint32_t)i;
	array_free(order);
	ids_free(&ids);
	return code;
}

/* Records that do not come in order: one scan, and each goes to its place. */
static int
write_scattered(struct export *export, struct portolan_error *error)
{
	struct scan_steps steps = {.context = export, .work = scatter_part, .rows = export->rows};
	uint64_t examples = export->run->info->rows;
	int code = find_places(export, error);

	if (code >= 0)
		code = output_map(export->output, export->head + examples * export->record, &export->mapped, error);
	if (code < 0)
		return code;
	code = scan_run(export->run, &steps, error);
	if (code >= 0 && export->run->count < examples)
		close_gaps(export, examples);
	output_unmap(export->output, export->mapped, export->head + examples * export->record,
	             export->head + export->run->count * export->record);
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
correct_head(const struct export *export, struct portolan_error *error)
{
	struct output head;
	int code = output_open_memory(&head, 0, error);

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
	uint32_t tiles = export->record ? (uint32_t)(PIECE_BYTES / export->record / 64) : STORE_CHUNK;

	return tiles * 64 > STORE_CHUNK ? STORE_CHUNK : tiles > 0 ? tiles * 64 : 64;
}

static int
open_slots(struct export *export, struct portolan_error *error)
{
	unsigned slots = parallel_slots(export->run->threads);
	int code = 0;

	export->slots = calloc(slots, sizeof(*export->slots));
	if (!export->slots)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	while (code >= 0 && export->slot_count < slots)
		code = output_open_memory(&export->slots[export->slot_count++], export->record * export->rows, error);
	return code;
}

static int
write_table(struct export *export, struct portolan_error *error)
{
	bool is_npy = export->request->format == TABLE_NPY, placed = is_npy && output_can_patch(export->output),
	     ascending;
	struct dynamics *run = export->run;
	struct text_extent extent = {0};
	int code = dynamics_look_at_ids(run, &ascending, is_npy ? &extent : NULL, error);
	bool held = is_npy ? !placed : !ascending; /* npy's head says how many rows there are */

	if (code >= 0 && held)
		code = dynamics_hold(run, error);
	if (code >= 0)
		code = table_init(&export->table, export->request->format, run, &extent, error);
	if (code < 0)
		return code;
	export->table.with_ci = export->request->with_ci;
	if (placed)
		table_note_wide_ids(&extent);
	export->record = placed ? table_record_bytes(export->table.record) : 0;
	export->rows = rows_at_once(export);
	code = open_slots(export, error);
	if (code >= 0)
		code = write_head(export, held ? run->count : 0, error);
	if (code >= 0)
		code = held        ? write_held(export, error)
		       : ascending ? write_scanned(export, error)
		                   : write_scattered(export, error);
	if (code >= 0 && run->count == 0)
		code = dynamics_no_observations(run, error);
	return code >= 0 && placed ? correct_head(export, error) : code;
}

int
export_run(struct dynamics *run, const struct export_request *request, struct output *output,
           struct portolan_error *error)
{
	struct export export = {.run = run, .request = request, .output = output};
	int code;

	export.never = never_learned_number(request, run->epoch_count);
	if (isinf(export.never))
		dynamics_measure_column(run, MEASURE_FORGETTING_EVENTS)->integer = false;
	code = write_table(&export, error);
	for (unsigned s = 0; s < export.slot_count; s++)
		output_discard(&export.slots[s]);
	free(export.slots);
	array_free(export.places);
	array_free(export.missing);
	table_free(&export.table);
	return code;
}

/*
 * export.c: writes a whole run as a table, by ascending id, in bounded memory.
 *
 * Workers make the rows, as formatting numbers costs more than computing them; the delivering thread only writes. If the
 * store's order is that of the ids, one scan gives the rows, and nothing is held. Otherwise the run is held in memory, and
 * its rows are taken in order.
 *
 * Records of one size go straight to their place in a file. The place is known before they are made: that of the
 * example in the order, or, if the ids are not in order, the one that sorting the ids gives (output/ordered.h). So one
 * scan is enough for these as well.
 */
#include "export.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "files/places.h"
#include "measures/scan.h"
#include "output/ordered.h"
#include "output/table_stream.h"

#include <math.h>

#define PIECE_BYTES (256u << 10) /* of records: with the columns they are made from, in a core's own cache */

struct export
{
	struct dynamics *run;
	const struct export_request *request;
	struct output *output;
	struct run_table table;
	struct table_stream stream;
	double never;  /* instead of forgetting events; NaN: nothing */
	uint32_t rows; /* made at once */
	bool placed;   /* the workers write records to their places */
	/* If the ids are not in order: */
	uint32_t *places; /* where each example's record goes, by dense index */
	struct ordered ordered;
	uint64_t written; /* records in order */
};

/* What is not a measure of the run as it was read: "never learned", and the counts of other programs' tables. Returns the
 * number of rows. */
static size_t
export_mark(const struct export *export, struct dynamics *part)
{
	never_learned_mark(part, export->never);
	return published_mark(part, export->request->form);
}

static int
export_make_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	struct export *export = context;
	const struct output *made = &export->stream.slots[slot];
	size_t rows = export_mark(export, part), size = export->stream.record.size;
	struct run_table table;
	int code;

	run_table_part(&table, &export->table, part);
	code = table_stream_make(&export->stream, slot, &table.table, 0, rows, error);
	if (code < 0 || !export->placed)
		return code;
	if (!export->places)
		return output_write_at(export->output, made->buffer, made->used,
		                       export->stream.head + part->place * size, error);
	for (size_t i = 0; i < rows && code >= 0; i++)
		code = ordered_put(&export->ordered, slot, made->buffer + i * size,
		                   export->places[part->first + part->order[i]], error);
	return code;
}

static int
export_deliver(void *context, unsigned slot, struct portolan_error *error)
{
	struct export *export = context;

	return table_stream_deliver(&export->stream, slot, error);
}

/* Rows that come in order: one scan. */
static int
export_scan(struct export *export, struct portolan_error *error)
{
	struct scan_steps steps = {.context = export, .work = export_make_part, .deliver = export_deliver};

	if (export->placed)
		steps = (struct scan_steps){
		        .context = export, .work = export_make_part, .rows = export->rows, .placed = !export->places};
	return scan_run(export->run, &steps, error);
}

static int
export_make_piece(void *context, unsigned thread, unsigned slot, size_t piece, struct portolan_error *error)
{
	struct export *export = context;
	size_t at = piece * export->rows, rest = export->table.table.rows - at;

	(void)thread;
	return table_stream_make(&export->stream, slot, &export->table.table, at,
	                         rest < export->rows ? rest : export->rows, error);
}

static int
export_deliver_piece(void *context, unsigned slot, size_t piece, struct portolan_error *error)
{
	(void)piece;
	return export_deliver(context, slot, error);
}

/* Rows of a run that is held. */
static int
export_held(struct export *export, struct portolan_error *error)
{
	size_t rows = export_mark(export, export->run);
	struct parallel parallel = {.threads = export->run->threads,
	                            .count = (rows + export->rows - 1) / export->rows,
	                            .what = "writing",
	                            .context = export,
	                            .work = export_make_piece,
	                            .deliver = export_deliver_piece};

	run_table_part(&export->table, &export->table, export->run);
	export->table.table.rows = rows;
	return parallel_run(&parallel, error);
}

static int
export_write_bucket(void *context, unsigned slot, const char *records, size_t n, struct portolan_error *error)
{
	struct export *export = context;
	size_t size = export->stream.record.size;
	uint64_t at = export->stream.head + export->written * size;

	(void)slot;
	export->written += n;
	return output_write_at(export->output, records, n * size, at, error);
}

/* Records that do not come in order wait in the file itself. */
static int
export_scattered(struct export *export, struct portolan_error *error)
{
	const struct ordered_steps steps = {.context = export, .what = "writing", .deliver = export_write_bucket};
	size_t size = export->stream.record.size, examples;
	int code = places_of_all(export->run, &export->places, &examples, error);

	if (code >= 0)
		code = ordered_init(&export->ordered, size, examples, export->run->threads, export->output,
		                    export->stream.head, error);
	if (code >= 0)
		code = ordered_begin(&export->ordered, error);
	if (code >= 0)
		code = export_scan(export, error);
	array_free(export->places);
	export->places = NULL;
	if (code >= 0)
		code = ordered_take(&export->ordered, export->run->threads, &steps, error);
	ordered_free(&export->ordered);
	output_cut(export->output, export->stream.head + export->run->count * size);
	return code;
}

/* How many rows are made at once: those of a block, or, for records in a file, whole tiles that fit a cache. */
static uint32_t
export_rows_at_once(const struct export *export)
{
	uint32_t tiles = export->placed ? (uint32_t)(PIECE_BYTES / export->stream.record.size / 64) : STORE_CHUNK;

	return tiles * 64 > STORE_CHUNK ? STORE_CHUNK : tiles > 0 ? tiles * 64 : 64;
}

static int
export_write(struct export *export, struct portolan_error *error)
{
	bool is_npy = export->request->format == TABLE_NPY, ascending, held;
	struct dynamics *run = export->run;
	struct text_extent extent = {0};
	int code = dynamics_look_at_ids(run, &ascending, is_npy ? &extent : NULL, error);

	export->placed = is_npy && output_can_patch(export->output);
	held = is_npy ? !export->placed : !ascending; /* npy's head says how many rows there are */
	if (code >= 0 && held)
		code = dynamics_hold(run, error);
	if (code < 0)
		return code;
	published_describe(&export->table, run, export->request->form);
	export->table.columns[0].width = extent.longest;
	if (export->placed)
		run_table_note_wide_ids(&extent);
	code = table_stream_init(&export->stream, &export->table.table, export->output, export->request->format,
	                         parallel_slots(run->threads), error);
	if (code >= 0)
		code = table_stream_begin(&export->stream, held ? run->count : 0, error);
	if (code < 0)
		return code;
	export->rows = export_rows_at_once(export);
	if (export->placed && !ascending)
		code = export_scattered(export, error);
	else
		code = held ? export_held(export, error) : export_scan(export, error);
	if (code >= 0 && run->count == 0)
		code = dynamics_no_observations(run, error);
	return code < 0 ? code : table_stream_end(&export->stream, run->count, NULL, error);
}

int
export_run(struct dynamics *run, const struct export_request *request, struct output *output,
           struct portolan_error *error)
{
	struct export export = {.run = run, .request = request, .output = output};
	int code;

	export.never = never_learned_number(request->convention, run->epoch_count);
	if (isinf(export.never))
		dynamics_measure_column(run, MEASURE_FORGETTING_EVENTS)->integer = false;
	code = export_write(&export, error);
	table_stream_free(&export.stream);
	return code;
}

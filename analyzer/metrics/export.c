/*
 * export.c: for `portolan metrics`: writes all measures of a run, by ascending id, in bounded memory.
 *
 * Several threads make the rows, as formatting numbers costs more than computing them; the caller's writes them, too.
 * If the store's order is that of the ids, one scan of the run gives the rows, and nothing is held. Otherwise
 * the run is held in memory, and its rows are taken in order. So it is for npy to a pipe, too, whose head must say how
 * many rows follow.
 *
 * For npy in a file, records are written straight to their places in the file. The place is known before a record is
 * made: that of the example in the order, or, if the ids are not in order, the one that sorting the ids gives
 * (ordered.h). So one scan is enough for these as well.
 */
#include "export.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "die/die.h"
#include "files/places.h"
#include "measures/scan.h"
#include "ordered.h"
#include "output/table_stream.h"

#include <math.h>

/* bytes of records that are made at once: with the columns they are made from, they fit a core's own cache */
#define PIECE_BYTES (256u << 10)

struct export
{
	struct dynamics *run;
	const struct export_request *request;
	struct output *output;
	struct run_table table;
	struct table_stream stream;
	double never;  /* stands for "never learned" among forgetting events; NaN: nothing does */
	uint32_t rows; /* how many rows are made at once */
	bool placed;   /* the workers write records to their places */
	/* If the ids are not in order: */
	uint32_t *places; /* where each example's record goes, by dense index; NULL: they are in order */
	struct ordered ordered;
};

/* Turns measures into what the table shows for them: the number that stands for "never learned", and the counts that
 * other programs' tables have. Returns the number of rows. */
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

	(void)error;
	run_table_part(&table, &export->table, part);
	must(table_stream_make(&export->stream, slot, &table.table, 0, rows, &failure));
	if (export->places)
		for (size_t i = 0; i < rows; i++)
			ordered_put(&export->ordered, slot, made->buffer + i * size,
			            export->places[part->first + part->order[i]]);
	else if (export->placed)
		must(output_write_at(export->output, made->buffer, made->used, export->stream.head + part->place * size,
		                     &failure));
	return 0;
}

static int
export_deliver(void *context, unsigned slot, struct portolan_error *error)
{
	struct export *export = context;

	return table_stream_deliver(&export->stream, slot, error);
}

/* Makes the rows part by part, in one scan of the run. */
static void
export_scan(struct export *export)
{
	struct scan_steps steps = {.context = export, .work = export_make_part, .deliver = export_deliver};

	if (export->placed)
		steps = (struct scan_steps){
		        .context = export, .work = export_make_part, .rows = export->rows, .placed = !export->places};
	must(scan_run(export->run, &steps, &failure));
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

/* Makes the rows of a run that is held in memory. */
static void
export_held(struct export *export)
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
	must(parallel_run(&parallel, &failure));
}

/* Makes records whose places are not in the order of the store. */
static void
export_scattered(struct export *export)
{
	size_t size = export->stream.record.size, examples;

	must(places_of_all(export->run, &export->places, &examples, &failure));
	ordered_init(&export->ordered, size, examples, export->run->threads, export->output, export->stream.head);
	export_scan(export);
	array_free(export->places);
	ordered_finish(&export->ordered);
	output_cut(export->output, export->stream.head + export->run->count * size);
}

/* The number of rows that are made at once: those of a block, or, for records in a file, whole tiles that fit a
 * cache. */
static uint32_t
export_rows_at_once(const struct export *export)
{
	uint32_t tiles = export->placed ? (uint32_t)(PIECE_BYTES / export->stream.record.size / 64) : STORE_CHUNK;

	return tiles * 64 > STORE_CHUNK ? STORE_CHUNK : tiles > 0 ? tiles * 64 : 64;
}

void
export_run(struct dynamics *run, const struct export_request *request, struct output *output)
{
	struct export export = {.run = run, .request = request, .output = output};
	bool is_npy = request->format == TABLE_NPY, ascending, held;
	struct text_extent extent = {0};

	export.never = never_learned_number(request->convention, run->epoch_count);
	if (isinf(export.never))
		dynamics_measure_column(run, MEASURE_FORGETTING_EVENTS)->integer = false;
	must(dynamics_look_at_ids(run, &ascending, is_npy ? &extent : NULL, &failure));
	export.placed = is_npy && output_can_patch(output);
	held = is_npy ? !export.placed : !ascending; /* npy's head says how many rows there are */
	if (held)
		must(dynamics_hold(run, &failure));
	published_describe(&export.table, run, request->form);
	export.table.columns[0].width = extent.longest;
	if (export.placed)
		run_table_note_wide_ids(&extent);
	must(table_stream_init(&export.stream, &export.table.table, output, request->format,
	                       parallel_slots(run->threads), &failure));
	must(table_stream_begin(&export.stream, held ? run->count : 0, &failure));
	export.rows = export_rows_at_once(&export);
	if (export.placed && !ascending)
		export_scattered(&export);
	else if (held)
		export_held(&export);
	else
		export_scan(&export);
	if (run->count == 0)
		must(dynamics_no_observations(run, &failure));
	must(table_stream_end(&export.stream, run->count, NULL, &failure));
	table_stream_free(&export.stream);
}

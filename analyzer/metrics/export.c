/*
 * export.c: workers make the rows; the caller's thread writes them in order.
 *
 * Each slot holds the finished rows of one part: formatting numbers costs more than computing them, so all threads do
 * it, and the delivering thread only writes. If the store's order is that of the ids, one scan gives the rows, and
 * nothing is held. Otherwise the run is held in memory, and its rows are taken in order.
 *
 * Records of one size go straight to their place in a file. The place is known before they are made: that of the
 * example in the order, or, if the ids are not in order, the one that sorting the ids gives. So one scan is enough for
 * these as well.
 */
#include "export.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "files/places.h"
#include "measures/scan.h"
#include "output/table_npy.h"
#include "published.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_MOST 256u
#define BUCKET_LEAST 14u /* bits of a place within a bucket */
#define HELD_BYTES (32u << 10)
#define PIECE_BYTES (256u << 10) /* of records: with the columns they are made from, in a core's own cache */

/* A slot's records on their way to the buckets: `held` for each; or those of one bucket, before and after. */
struct heap {
	char *records, *ordered;
	uint32_t *places;
	uint32_t used[BUCKETS_MOST];
};

/*
 * Records that come in any order would have to be written one by one. Instead, the places are divided into buckets.
 * Each bucket has a part of the file, to which records are written as they come, some hundred together. Then each
 * bucket is sorted in memory.
 */
struct buckets {
	unsigned shift; /* bucket b has the places from b << shift on */
	uint32_t count, held;
	uint32_t arrived[BUCKETS_MOST]; /* records of each, so far */
	uint32_t *places;               /* of the records as they lie in the file */
	uint64_t written;               /* records in order */
	struct heap *heaps;             /* by slot */
};

struct export
{
	struct dynamics *run;
	const struct export_request *request;
	struct output *output;
	struct run_table table;
	struct table_record layout; /* of npy's records */
	double never;               /* instead of forgetting events; NaN: nothing */
	uint32_t rows;              /* made at once */
	size_t record;              /* bytes of one, if the workers write them to their places; else 0 */
	uint64_t head;              /* bytes before the first row */
	struct output *slots;
	unsigned slot_count;
	uint32_t *places; /* of examples whose ids are not in order: where each one's record goes, by dense index */
	struct buckets *buckets;
};

/* What is not a measure of the run as it was read: "never learned", and the counts of other programs' tables. */
static void
mark_part(const struct export *export, struct dynamics *part)
{
	never_learned_mark(part, export->never);
	if (export->request->form == PUBLISHED_CARTOGRAPHY || export->request->form == PUBLISHED_CARTOGRAPHY_CI)
		published_count(part);
}

static int
format_rows(const struct export *export, struct output *slot, const struct table *table, size_t first, size_t count,
            struct portolan_error *error)
{
	output_clear(slot);
	if (export->request->format == TABLE_NPY)
		table_record_rows(&export->layout, table, slot, first, count);
	else
		table_put_rows(table, slot, export->request->format, first, count);
	return output_check(slot, error);
}

static int
format_part(const struct export *export, struct dynamics *part, unsigned number, struct portolan_error *error)
{
	struct run_table table;

	mark_part(export, part);
	run_table_part(&table, &export->table, part);
	if (export->request->form == PUBLISHED_AUM)
		table.table.rows = published_with_aum(part);
	return format_rows(export, &export->slots[number], &table.table, 0, table.table.rows, error);
}

static int
work_on_part(void *context, struct dynamics *part, unsigned number, struct portolan_error *error)
{
	const struct export *export = context;
	const struct output *slot = &export->slots[number];
	int code = format_part(export, part, number, error);

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
	struct scan_steps steps = {.context = export, .work = work_on_part, .deliver = write_part};

	if (export->record)
		steps = (struct scan_steps){
		        .context = export, .work = work_on_part, .rows = export->rows, .placed = true};
	return scan_run(export->run, &steps, error);
}

static int
format_piece(void *context, unsigned thread, unsigned slot, size_t piece, struct portolan_error *error)
{
	const struct export *export = context;
	size_t at = piece * export->rows, rest = export->table.table.rows - at;

	(void)thread;
	return format_rows(export, &export->slots[slot], &export->table.table, at,
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
	                            .what = "writing",
	                            .context = export,
	                            .work = format_piece,
	                            .deliver = write_piece};

	mark_part(export, export->run);
	run_table_part(&export->table, &export->table, export->run);
	if (export->request->form == PUBLISHED_AUM)
		export->table.table.rows = published_with_aum(export->run);
	parallel.count = (export->table.table.rows + export->rows - 1) / export->rows;
	return parallel_run(&parallel, error);
}

/* Writes the records of a heap that belong to a bucket after those that the bucket has already. */
static int
flush(const struct export *export, struct heap *heap, uint32_t bucket, struct portolan_error *error)
{
	struct buckets *buckets = export->buckets;
	uint32_t n = heap->used[bucket], before = __atomic_fetch_add(&buckets->arrived[bucket], n, __ATOMIC_RELAXED);
	uint64_t at = ((uint64_t)bucket << buckets->shift) + before;
	size_t held = (size_t)bucket * buckets->held;

	memcpy(buckets->places + at, heap->places + held, n * sizeof(*heap->places));
	heap->used[bucket] = 0;
	return output_write_at(export->output, heap->records + held * export->record, n * export->record,
	                       export->head + at * export->record, error);
}

/* Copies the records of a piece to the slot's heap. */
static int
scatter_part(void *context, struct dynamics *part, unsigned number, struct portolan_error *error)
{
	const struct export *export = context;
	const struct buckets *buckets = export->buckets;
	struct heap *heap = &buckets->heaps[number];
	struct output *slot = &export->slots[number];
	int code;

	code = format_part(export, part, number, error);
	for (size_t i = 0; i < part->count && code >= 0; i++) {
		uint32_t place = export->places[part->first + part->order[i]], bucket = place >> buckets->shift;
		size_t at = (size_t)bucket * buckets->held + heap->used[bucket]++;

		memcpy(heap->records + at * export->record, slot->buffer + i * export->record, export->record);
		heap->places[at] = place;
		if (heap->used[bucket] == buckets->held)
			code = flush(export, heap, bucket, error);
	}
	return code;
}

/* Puts a bucket in order: its records may have gaps, where examples were not observed. */
static int
order_bucket(void *context, unsigned thread, unsigned number, size_t bucket, struct portolan_error *error)
{
	const struct export *export = context;
	const struct buckets *buckets = export->buckets;
	struct heap *heap = &buckets->heaps[number];
	uint64_t first = (uint64_t)bucket << buckets->shift;
	uint32_t n = buckets->arrived[bucket], size = UINT32_C(1) << buckets->shift, taken = 0;
	int code = output_read_at(export->output, heap->records, n * export->record,
	                          export->head + first * export->record, error);

	(void)thread;
	memset(heap->places, 0xff, size * sizeof(*heap->places)); /* UINT32_MAX: no example */
	for (uint32_t i = 0; i < n; i++)
		heap->places[buckets->places[first + i] - first] = i;
	for (uint32_t k = 0; k < size && code >= 0; k++)
		if (heap->places[k] != UINT32_MAX)
			memcpy(heap->ordered + (size_t)taken++ * export->record,
			       heap->records + (size_t)heap->places[k] * export->record, export->record);
	return code;
}

/* The buckets before this one have been read, so their places in the file may be overwritten. */
static int
write_bucket(void *context, unsigned number, size_t bucket, struct portolan_error *error)
{
	struct export *export = context;
	const struct buckets *buckets = export->buckets;
	int code = output_write_at(export->output, buckets->heaps[number].ordered,
	                           buckets->arrived[bucket] * export->record,
	                           export->head + export->buckets->written * export->record, error);

	export->buckets->written += buckets->arrived[bucket];
	return code;
}

/* Room for `records` in each heap. */
static int
allocate_heaps(const struct export *export, size_t records, bool ordered, struct portolan_error *error)
{
	struct buckets *buckets = export->buckets;

	for (unsigned s = 0; s < export->slot_count; s++) {
		struct heap *heap = &buckets->heaps[s];

		array_free(heap->records);
		array_free(heap->places);
		heap->records = array_new(records, export->record, "records", error);
		heap->places = array_new(records, sizeof(*heap->places), "places of records", error);
		heap->ordered = ordered ? array_new(records, export->record, "records", error) : NULL;
		if (!heap->records || !heap->places || (ordered && !heap->ordered))
			return PORTOLAN_E_MEMORY;
	}
	return 0;
}

/* Fills the buckets: one scan. */
static int
fill_buckets(struct export *export, struct portolan_error *error)
{
	struct scan_steps steps = {.context = export, .work = scatter_part, .rows = export->rows};
	struct buckets *buckets = export->buckets;
	int code = allocate_heaps(export, (size_t)buckets->count * buckets->held, false, error);

	if (code >= 0)
		code = scan_run(export->run, &steps, error);
	for (unsigned s = 0; s < export->slot_count; s++)
		for (uint32_t b = 0; b < buckets->count && code >= 0; b++)
			code = flush(export, &buckets->heaps[s], b, error);
	return code;
}

static int
order_buckets(struct export *export, struct portolan_error *error)
{
	struct parallel parallel = {.threads = export->run->threads,
	                            .count = export->buckets->count,
	                            .what = "writing",
	                            .context = export,
	                            .work = order_bucket,
	                            .deliver = write_bucket};
	int code = allocate_heaps(export, (size_t)1 << export->buckets->shift, true, error);

	if (code >= 0)
		code = parallel_run(&parallel, error);
	output_cut(export->output, export->head + export->run->count * export->record);
	return code;
}

static void
free_buckets(const struct export *export)
{
	struct buckets *buckets = export->buckets;

	for (unsigned s = 0; s < export->slot_count && buckets->heaps; s++) {
		array_free(buckets->heaps[s].records);
		array_free(buckets->heaps[s].ordered);
		array_free(buckets->heaps[s].places);
	}
	free(buckets->heaps);
	array_free(buckets->places);
}

/* Records that do not come in order. */
static int
write_scattered(struct export *export, struct portolan_error *error)
{
	struct buckets buckets = {.shift = BUCKET_LEAST, .heaps = calloc(export->slot_count, sizeof(*buckets.heaps))};
	size_t examples;
	int code = places_of_all(export->run, &export->places, &examples, error);

	export->buckets = &buckets;
	if (code >= 0) {
		while ((examples - 1) >> buckets.shift >= BUCKETS_MOST)
			buckets.shift++;
		buckets.count = (uint32_t)((examples - 1) >> buckets.shift) + 1;
		buckets.held = HELD_BYTES / export->record > 0 ? (uint32_t)(HELD_BYTES / export->record) : 1;
		buckets.places = array_new(examples, sizeof(*buckets.places), "places of records", error);
		code = buckets.places ? 0 : PORTOLAN_E_MEMORY;
	}
	if (code >= 0)
		code = buckets.heaps ? fill_buckets(export, error)
		                     : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	array_free(export->places);
	export->places = NULL;
	if (code >= 0)
		code = order_buckets(export, error);
	free_buckets(export);
	return code;
}

static void
put_head(const struct export *export, struct output *head, uint64_t rows)
{
	if (export->request->format == TABLE_NPY)
		table_record_head(&export->layout, head, rows);
	else
		table_put_head(&export->table.table, head, export->request->format);
}

static int
write_head(struct export *export, uint64_t rows, struct portolan_error *error)
{
	struct output head;
	int code = output_open_memory(&head, 0, error);

	if (code < 0)
		return code;
	put_head(export, &head, rows);
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
	put_head(export, &head, export->run->count);
	output_patch(export->output, head.buffer, head.used);
	output_discard(&head);
	return 0;
}

/* How many rows are made at once: those of a block, or, for records in a file, whole tiles that fit a cache. */
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
	if (code < 0)
		return code;
	published_describe(&export->table, run, export->request->form);
	export->table.columns[0].width = extent.longest + (extent.longest == 0);
	if (is_npy)
		code = table_record_init(&export->layout, &export->table.table, error);
	if (code < 0)
		return code;
	if (placed)
		run_table_note_wide_ids(&extent);
	export->record = placed ? export->layout.size : 0;
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

	export.never = never_learned_number(request->convention, run->epoch_count);
	if (isinf(export.never))
		dynamics_measure_column(run, MEASURE_FORGETTING_EVENTS)->integer = false;
	code = write_table(&export, error);
	for (unsigned s = 0; s < export.slot_count; s++)
		output_discard(&export.slots[s]);
	free(export.slots);
	array_free(export.places);
	table_record_free(&export.layout);
	return code;
}

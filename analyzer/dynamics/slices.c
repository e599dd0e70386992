/*
 * slices.c: planning; see slices.h.
 *
 * Between SPLITTERS splitters from a systematic sample lie buckets of nearly the same size; they are counted exactly,
 * and neighbours put together as long as they fit. A bucket that does not fit alone is a slice nevertheless: the limit
 * is then missed, by little, rather than the work refused.
 */
#include "slices.h"

#include "program/parallel.h"
#include "scan.h"

#include <portolan/error.h>

#include <stdlib.h>

#define SPLITTERS 1023u
#define SAMPLE ((SPLITTERS + 1) * 32)
#define SORT_BYTES 32u /* an integer id is sorted as a key with its place, and as much again */

/* What a slot has seen of a block's ids. */
struct look {
	bool ascending;
	size_t longest;
	uint64_t text;
	struct ids ends; /* its first and last */
	struct ids sample;
};

struct planning {
	struct dynamics *run;
	uint64_t step; /* of the sample */
	struct look *looks;
	struct ids last, sample;
	bool ascending, begun;
	size_t longest;
	uint64_t text;

	struct ids splitters;
	size_t *rows_of, *slot_rows; /* by bucket; by slot and bucket */
	uint64_t *text_of, *slot_text;
};

uint64_t
slices_row_bytes(const struct dynamics *run, uint64_t text)
{
	uint64_t id = run->info->id_kind == STORE_ID_STR ? sizeof(uint64_t) + text + sizeof(uint32_t)
	                                                 : sizeof(uint64_t) + SORT_BYTES;

	return id + run->column_count * sizeof(double) + sizeof(int32_t) + 2 * sizeof(uint32_t);
}

static uint64_t
text_bytes(const struct ids *ids, size_t from, size_t to)
{
	return ids->kind == STORE_ID_STR ? ids->offsets[to] - ids->offsets[from] : 0;
}

static size_t
longest_of(const struct ids *ids)
{
	size_t longest = 0;

	for (size_t i = 0; ids->kind == STORE_ID_STR && i < ids->rows; i++)
		if (text_bytes(ids, i, i + 1) > longest)
			longest = (size_t)text_bytes(ids, i, i + 1);
	return longest;
}

static int
look_at(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct planning *planning = context;
	struct look *look = &planning->looks[slot];
	const struct ids *ids = &part->ids;
	uint32_t skip = (uint32_t)((planning->step - part->first % planning->step) % planning->step);
	int code = 0;

	look->ascending = true;
	for (uint32_t i = 1; i < ids->rows && look->ascending; i++)
		look->ascending = ids_compare(ids, i - 1, ids, i) < 0;
	look->longest = longest_of(ids);
	look->text = text_bytes(ids, 0, ids->rows);
	look->ends.rows = look->sample.rows = 0;
	if (ids->rows > 0) {
		code = ids_append_one(&look->ends, ids, 0, error);
		if (code >= 0)
			code = ids_append_one(&look->ends, ids, (uint32_t)ids->rows - 1, error);
	}
	for (uint64_t i = skip; i < ids->rows && code >= 0; i += planning->step)
		code = ids_append_one(&look->sample, ids, (uint32_t)i, error);
	return code;
}

static int
take_look(void *context, unsigned slot, struct portolan_error *error)
{
	struct planning *planning = context;
	const struct look *look = &planning->looks[slot];
	int code;

	if (look->ends.rows == 0)
		return 0;
	if (planning->begun)
		planning->ascending &= ids_compare(&planning->last, 0, &look->ends, 0) < 0;
	planning->ascending &= look->ascending;
	planning->begun = true;
	planning->text += look->text;
	if (look->longest > planning->longest)
		planning->longest = look->longest;
	planning->last.rows = 0;
	code = ids_append_one(&planning->last, &look->ends, 1, error);
	return code < 0 ? code : ids_append_all(&planning->sample, &look->sample, error);
}

static size_t
bucket_of(const struct ids *splitters, const struct ids *ids, uint32_t i)
{
	size_t low = 0, high = splitters->rows; /* the number of splitters at or below the id */

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ids_compare(splitters, (uint32_t)middle, ids, i) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int
count_buckets(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct planning *planning = context;
	size_t *rows = planning->slot_rows + slot * (SPLITTERS + 1);
	uint64_t *text = planning->slot_text + slot * (SPLITTERS + 1);

	(void)error;
	for (size_t b = 0; b <= SPLITTERS; b++)
		rows[b] = text[b] = 0;
	for (uint32_t i = 0; i < part->ids.rows; i++) {
		size_t bucket = bucket_of(&planning->splitters, &part->ids, i);

		rows[bucket]++;
		text[bucket] += text_bytes(&part->ids, i, i + 1);
	}
	return 0;
}

static int
add_buckets(void *context, unsigned slot, struct portolan_error *error)
{
	const struct planning *planning = context;

	(void)error;
	for (size_t b = 0; b <= SPLITTERS; b++) {
		planning->rows_of[b] += planning->slot_rows[slot * (SPLITTERS + 1) + b];
		planning->text_of[b] += planning->slot_text[slot * (SPLITTERS + 1) + b];
	}
	return 0;
}

/* Evenly spaced ids of the sample, ascending. */
static int
choose_splitters(struct planning *planning, struct portolan_error *error)
{
	size_t n = planning->sample.rows, buckets = n < SPLITTERS + 1 ? n : SPLITTERS + 1;
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	int code = 0;

	if (!order)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu ids", n);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	code = ids_sort(&planning->sample, order, n, error);
	for (size_t b = 1; b < buckets && code >= 0; b++)
		code = ids_append_one(&planning->splitters, &planning->sample, order[b * n / buckets], error);
	free(order);
	return code;
}

static int
count(struct planning *planning, struct portolan_error *error)
{
	unsigned slots = parallel_slots(planning->run->threads);
	struct scan_steps steps = {.context = planning, .work = count_buckets, .deliver = add_buckets};
	int code = choose_splitters(planning, error);

	if (code < 0)
		return code;
	planning->rows_of = calloc(SPLITTERS + 1, sizeof(*planning->rows_of));
	planning->text_of = calloc(SPLITTERS + 1, sizeof(*planning->text_of));
	planning->slot_rows = calloc((size_t)slots * (SPLITTERS + 1), sizeof(*planning->slot_rows));
	planning->slot_text = calloc((size_t)slots * (SPLITTERS + 1), sizeof(*planning->slot_text));
	if (!planning->rows_of || !planning->text_of || !planning->slot_rows || !planning->slot_text)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to put ids in order");
	return scan_ids(planning->run, &steps, error);
}

/* Puts neighbouring buckets together while they fit. */
static int
group(const struct planning *planning, uint64_t memory, struct slices *slices, struct portolan_error *error)
{
	uint64_t row_bytes = slices_row_bytes(planning->run, 0), used = 0;
	int code = 0;

	slices->count = 1;
	for (size_t b = 0; b <= planning->splitters.rows && code >= 0; b++) {
		uint64_t bytes = planning->rows_of[b] * row_bytes + planning->text_of[b];

		if (used > 0 && used + bytes > memory) {
			code = ids_append_one(&slices->bounds, &planning->splitters, (uint32_t)b - 1, error);
			slices->count++;
			used = 0;
		}
		used += bytes;
		slices->rows[slices->count - 1] += planning->rows_of[b];
		slices->text[slices->count - 1] += planning->text_of[b];
	}
	return code;
}

static int
cut(struct planning *planning, uint64_t memory, struct slices *slices, struct portolan_error *error)
{
	size_t rows = (size_t)planning->run->info->rows;
	int code;

	slices->rows = calloc(SPLITTERS + 1, sizeof(*slices->rows));
	slices->text = calloc(SPLITTERS + 1, sizeof(*slices->text));
	if (!slices->rows || !slices->text)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to put ids in order");
	if (rows * slices_row_bytes(planning->run, 0) + planning->text <= memory) {
		slices->count = 1;
		slices->rows[0] = rows;
		slices->text[0] = planning->text;
		return 0;
	}
	code = count(planning, error);
	return code < 0 ? code : group(planning, memory, slices, error);
}

static void
planning_free(struct planning *planning, unsigned slots)
{
	for (unsigned s = 0; planning->looks && s < slots; s++) {
		ids_free(&planning->looks[s].ends);
		ids_free(&planning->looks[s].sample);
	}
	free(planning->looks);
	ids_free(&planning->last);
	ids_free(&planning->sample);
	ids_free(&planning->splitters);
	free(planning->rows_of);
	free(planning->text_of);
	free(planning->slot_rows);
	free(planning->slot_text);
}

int
slices_plan(struct dynamics *run, uint64_t memory, struct slices *slices, struct portolan_error *error)
{
	unsigned slots = parallel_slots(run->threads);
	struct planning planning = {.run = run, .ascending = true, .step = run->info->rows / SAMPLE + 1};
	struct scan_steps steps = {.context = &planning, .work = look_at, .deliver = take_look};
	int code;

	*slices = (struct slices){.ascending = run->info->declared > 0};
	if (slices->ascending)
		return 0;
	planning.looks = calloc(slots, sizeof(*planning.looks));
	code = planning.looks ? scan_ids(run, &steps, error) : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	slices->ascending = planning.ascending;
	slices->longest = planning.longest;
	if (code >= 0 && !slices->ascending)
		code = cut(&planning, memory, slices, error);
	planning_free(&planning, slots);
	if (code < 0)
		slices_free(slices);
	return code;
}

void
slices_free(struct slices *slices)
{
	ids_free(&slices->bounds);
	free(slices->rows);
	free(slices->text);
	*slices = (struct slices){0};
}

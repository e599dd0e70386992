/*
 * passes_cut.c: a rule's order cut into buckets of nearly the same size; see passes.h.
 *
 * Splitters are taken from a systematic sample of what the rule can take. Places are all different, since ids are, so
 * however many examples share a value, their bucket is no larger than others.
 */
#include "passes_parts.h"

#include "dynamics/scan.h"
#include "program/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>

#define SPLITTERS 1023u
#define SAMPLE ((SPLITTERS + 1) * 32)

int
places_add(struct places *places, uint64_t key, const struct ids *ids, uint32_t id, struct portolan_error *error)
{
	if (places->ids.rows == places->room) {
		size_t room = places->room ? 2 * places->room : 64;
		uint64_t *grown = realloc(places->keys, room * sizeof(*grown));

		if (!grown)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu ranks", room);
		places->keys = grown;
		places->room = room;
	}
	places->keys[places->ids.rows] = key;
	return ids_append_one(&places->ids, ids, id, error);
}

void
places_free(struct places *places)
{
	free(places->keys);
	ids_free(&places->ids);
	*places = (struct places){0};
}

/* What a slot has seen of a part. */
struct look {
	struct places sample;
	size_t rows[SPLITTERS + 1];
	uint64_t text[SPLITTERS + 1];
};

struct looking {
	const struct taking *taking;
	struct buckets *buckets;
	uint64_t step; /* of the sample */
	struct look *looks;
	struct places sample;
};

static uint64_t
text_of(const struct dynamics *part, uint32_t row)
{
	const struct ids *ids = &part->ids;

	return ids->kind == STORE_ID_STR ? ids->offsets[row + 1] - ids->offsets[row] : 0;
}

static int
take_sample(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct looking *looking = context;
	struct look *look = &looking->looks[slot];
	struct taking_values values = taking_values_of(looking->taking, part);
	int code = 0;

	look->sample.ids.rows = 0;
	look->rows[0] = 0;
	look->text[0] = 0;
	for (size_t i = 0; i < part->count && code >= 0; i++) {
		uint32_t row = part->order[i];
		uint64_t key;

		if (!taking_can(&values, row, &key))
			continue;
		look->rows[0]++;
		look->text[0] += text_of(part, row);
		if (((uint64_t)part->first + row) % looking->step == 0)
			code = places_add(&look->sample, key, &part->ids, row, error);
	}
	return code;
}

static int
add_sample(void *context, unsigned slot, struct portolan_error *error)
{
	struct looking *looking = context;
	const struct look *look = &looking->looks[slot];
	int code = 0;

	looking->buckets->rows[0] += look->rows[0];
	looking->buckets->text[0] += look->text[0];
	for (size_t i = 0; i < look->sample.ids.rows && code >= 0; i++)
		code = places_add(&looking->sample, look->sample.keys[i], &look->sample.ids, (uint32_t)i, error);
	return code;
}

static size_t
bucket_of(const struct places *splitters, uint64_t key, const struct ids *ids, uint32_t id)
{
	size_t low = 0, high = splitters->ids.rows; /* the number of splitters at or before it */

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (places_compare(key, ids, id, splitters, middle) >= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int
count_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct looking *looking = context;
	struct look *look = &looking->looks[slot];
	struct taking_values values = taking_values_of(looking->taking, part);

	(void)error;
	for (size_t b = 0; b < looking->buckets->count; b++)
		look->rows[b] = look->text[b] = 0;
	for (size_t i = 0; i < part->count; i++) {
		uint32_t row = part->order[i];
		uint64_t key;
		size_t bucket;

		if (!taking_can(&values, row, &key))
			continue;
		bucket = bucket_of(&looking->buckets->splitters, key, &part->ids, row);
		look->rows[bucket]++;
		look->text[bucket] += text_of(part, row);
	}
	return 0;
}

static int
add_counts(void *context, unsigned slot, struct portolan_error *error)
{
	const struct looking *looking = context;

	(void)error;
	for (size_t b = 0; b < looking->buckets->count; b++) {
		looking->buckets->rows[b] += looking->looks[slot].rows[b];
		looking->buckets->text[b] += looking->looks[slot].text[b];
	}
	return 0;
}

static int
compare_places(const void *a, const void *b, void *places)
{
	const struct places *all = places;
	uint32_t i = *(const uint32_t *)a;

	return places_compare(all->keys[i], &all->ids, i, all, *(const uint32_t *)b);
}

/* Evenly spaced places of the sample, in order. */
static int
choose_splitters(const struct looking *looking, struct portolan_error *error)
{
	struct buckets *buckets = looking->buckets;
	const struct places *sample = &looking->sample;
	size_t n = sample->ids.rows, count = n < SPLITTERS ? n : SPLITTERS;
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	int code = 0;

	if (!order)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu ranks", n);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), compare_places, (void *)sample);
	for (size_t s = 0; s < count && code >= 0; s++) {
		uint32_t at = order[s * n / count];

		code = places_add(&buckets->splitters, sample->keys[at], &sample->ids, at, error);
	}
	buckets->count = buckets->splitters.ids.rows + 1;
	free(order);
	return code;
}

static int
look_through(struct looking *looking, struct portolan_error *error)
{
	const struct passes *passes = looking->taking->passes;
	struct buckets *buckets = looking->buckets;
	struct scan_steps sample = {.context = looking, .work = take_sample, .deliver = add_sample};
	struct scan_steps count = {.context = looking, .work = count_part, .deliver = add_counts};
	int code = scan_run(passes->run, &sample, error);

	if (code < 0 || buckets->rows[0] * passes_row_bytes(passes->run) + buckets->text[0] <= passes->slice_memory)
		return code; /* one bucket will do */
	code = choose_splitters(looking, error);
	buckets->rows[0] = 0;
	buckets->text[0] = 0;
	return code < 0 ? code : scan_run(passes->run, &count, error);
}

int
buckets_make(struct buckets *buckets, const struct taking *taking, struct portolan_error *error)
{
	struct dynamics *run = taking->passes->run;
	unsigned slots = parallel_slots(run->threads);
	struct looking looking = {.taking = taking, .buckets = buckets, .step = run->info->rows / SAMPLE + 1};
	int code;

	*buckets = (struct buckets){.count = 1,
	                            .rows = calloc(SPLITTERS + 1, sizeof(*buckets->rows)),
	                            .text = calloc(SPLITTERS + 1, sizeof(*buckets->text))};
	looking.looks = calloc(slots, sizeof(*looking.looks));
	code = looking.looks && buckets->rows && buckets->text
	               ? look_through(&looking, error)
	               : error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank examples");
	for (unsigned s = 0; looking.looks && s < slots; s++)
		places_free(&looking.looks[s].sample);
	free(looking.looks);
	places_free(&looking.sample);
	if (code < 0)
		buckets_free(buckets);
	return code;
}

void
buckets_free(struct buckets *buckets)
{
	places_free(&buckets->splitters);
	free(buckets->rows);
	free(buckets->text);
	*buckets = (struct buckets){0};
}

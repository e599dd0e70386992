/*
 * ordered.c: puts records into buckets as they come, and sorts each bucket in memory.
 *
 * A bucket has at least 2^14 places, so that there is something to put down together. There are at most ORDERED_BUCKETS
 * of them, for each of which every heap keeps some records.
 */
#include "ordered.h"

#include "base/arrays.h"
#include "base/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define BUCKET_LEAST 14u /* bits of a place within a bucket */
#define KEPT_BYTES (32u << 10)

/* First the records on their way to the buckets, `kept` for each; then those of one bucket, before and after. */
struct ordered_heap {
	char *records, *sorted;
	uint32_t *places;
	uint32_t used[ORDERED_BUCKETS];
	size_t n; /* sorted */
};

struct ordered_taking {
	struct ordered *ordered;
	const struct ordered_steps *steps;
};

int
ordered_init(struct ordered *ordered, size_t size, size_t places, unsigned threads, const struct output *file,
             uint64_t at, struct portolan_error *error)
{
	*ordered = (struct ordered){.size = size, .file = file, .at = at, .shift = BUCKET_LEAST};
	ordered->heap_count = parallel_slots(threads);
	while (places > 0 && (places - 1) >> ordered->shift >= ORDERED_BUCKETS)
		ordered->shift++;
	ordered->count = places > 0 ? (uint32_t)((places - 1) >> ordered->shift) + 1 : 0;
	ordered->kept = KEPT_BYTES / size > 0 ? (uint32_t)(KEPT_BYTES / size) : 1;
	ordered->places = array_new(places, sizeof(*ordered->places), "places of records", error);
	ordered->array = file ? NULL : array_new(places, size, "records", error);
	if (!ordered->places || (!file && !ordered->array)) {
		ordered_free(ordered);
		return PORTOLAN_E_MEMORY;
	}
	ordered->heaps = calloc(ordered->heap_count, sizeof(*ordered->heaps));
	if (ordered->heaps)
		return 0;
	ordered_free(ordered);
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

static void
ordered_free_heaps(struct ordered *ordered)
{
	for (unsigned h = 0; h < ordered->heap_count && ordered->heaps; h++) {
		array_free(ordered->heaps[h].records);
		array_free(ordered->heaps[h].sorted);
		array_free(ordered->heaps[h].places);
		ordered->heaps[h] = (struct ordered_heap){0};
	}
}

void
ordered_free(struct ordered *ordered)
{
	ordered_free_heaps(ordered);
	free(ordered->heaps);
	array_free(ordered->places);
	array_free(ordered->array);
	*ordered = (struct ordered){0};
}

/* Room for so many records in each heap. */
static int
ordered_make_heaps(struct ordered *ordered, size_t records, bool sorted, struct portolan_error *error)
{
	ordered_free_heaps(ordered);
	for (unsigned h = 0; h < ordered->heap_count; h++) {
		struct ordered_heap *heap = &ordered->heaps[h];

		heap->records = array_new(records, ordered->size, "records", error);
		heap->places = array_new(records, sizeof(*heap->places), "places of records", error);
		heap->sorted = sorted ? array_new(records, ordered->size, "records", error) : NULL;
		if (!heap->records || !heap->places || (sorted && !heap->sorted))
			return PORTOLAN_E_MEMORY;
	}
	return 0;
}

int
ordered_begin(struct ordered *ordered, struct portolan_error *error)
{
	memset(ordered->arrived, 0, sizeof(ordered->arrived));
	return ordered_make_heaps(ordered, (size_t)ordered->count * ordered->kept, false, error);
}

/* Puts the records of a heap that belong to a bucket down after those that the bucket has already. */
static int
ordered_flush(struct ordered *ordered, struct ordered_heap *heap, uint32_t bucket, struct portolan_error *error)
{
	uint32_t n = heap->used[bucket], before = __atomic_fetch_add(&ordered->arrived[bucket], n, __ATOMIC_RELAXED);
	uint64_t at = ((uint64_t)bucket << ordered->shift) + before;
	size_t from = (size_t)bucket * ordered->kept;
	const char *records = heap->records + from * ordered->size;

	heap->used[bucket] = 0;
	memcpy(ordered->places + at, heap->places + from, n * sizeof(*heap->places));
	if (ordered->file)
		return output_write_at(ordered->file, records, n * ordered->size, ordered->at + at * ordered->size,
		                       error);
	memcpy(ordered->array + at * ordered->size, records, n * ordered->size);
	return 0;
}

int
ordered_put(struct ordered *ordered, unsigned number, const void *record, uint32_t place, struct portolan_error *error)
{
	struct ordered_heap *heap = &ordered->heaps[number];
	uint32_t bucket = place >> ordered->shift;
	size_t at = (size_t)bucket * ordered->kept + heap->used[bucket]++;

	memcpy(heap->records + at * ordered->size, record, ordered->size);
	heap->places[at] = place;
	return heap->used[bucket] == ordered->kept ? ordered_flush(ordered, heap, bucket, error) : 0;
}

static int
ordered_read(const struct ordered *ordered, uint64_t first, uint32_t n, char *to, struct portolan_error *error)
{
	if (ordered->file)
		return output_read_at(ordered->file, to, n * ordered->size, ordered->at + first * ordered->size, error);
	memcpy(to, ordered->array + first * ordered->size, n * ordered->size);
	return 0;
}

static int
ordered_sort(void *context, unsigned thread, unsigned slot, size_t bucket, struct portolan_error *error)
{
	const struct ordered_taking *taking = context;
	const struct ordered *ordered = taking->ordered;
	struct ordered_heap *heap = &ordered->heaps[slot];
	uint64_t first = (uint64_t)bucket << ordered->shift;
	uint32_t n = ordered->arrived[bucket], size = UINT32_C(1) << ordered->shift;
	int code = ordered_read(ordered, first, n, heap->records, error);

	(void)thread;
	heap->n = 0;
	memset(heap->places, 0xff, size * sizeof(*heap->places)); /* UINT32_MAX: no record */
	for (uint32_t i = 0; i < n; i++)
		heap->places[ordered->places[first + i] - first] = i;
	for (uint32_t k = 0; k < size && code >= 0; k++)
		if (heap->places[k] != UINT32_MAX)
			memcpy(heap->sorted + heap->n++ * ordered->size,
			       heap->records + (size_t)heap->places[k] * ordered->size, ordered->size);
	if (code < 0 || !taking->steps->work)
		return code;
	return taking->steps->work(taking->steps->context, slot, heap->sorted, heap->n, error);
}

static int
ordered_deliver(void *context, unsigned slot, size_t bucket, struct portolan_error *error)
{
	const struct ordered_taking *taking = context;
	const struct ordered_heap *heap = &taking->ordered->heaps[slot];

	(void)bucket;
	return taking->steps->deliver(taking->steps->context, slot, heap->sorted, heap->n, error);
}

int
ordered_take(struct ordered *ordered, unsigned threads, const struct ordered_steps *steps, struct portolan_error *error)
{
	struct ordered_taking taking = {ordered, steps};
	struct parallel parallel = {.threads = threads,
	                            .count = ordered->count,
	                            .what = steps->what,
	                            .context = &taking,
	                            .work = ordered_sort,
	                            .deliver = ordered_deliver};
	int code = 0;

	for (unsigned h = 0; h < ordered->heap_count; h++)
		for (uint32_t b = 0; b < ordered->count && code >= 0; b++)
			code = ordered_flush(ordered, &ordered->heaps[h], b, error);
	if (code >= 0)
		code = ordered_make_heaps(ordered, (size_t)1 << ordered->shift, true, error);
	return code < 0 ? code : parallel_run(&parallel, error);
}

/*
 * ordered.c: for `portolan metrics`: brings records that threads make in any order into the order of their places in a
 * file (ordered.h), by way of buckets in that file.
 *
 * A bucket has at least 2^14 places, so that there is something to write together. There are at most ORDERED_BUCKETS
 * buckets, as every heap keeps some records of each.
 */
#include "ordered.h"

#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"

#include <stdlib.h>
#include <string.h>

#define BUCKET_LEAST 14u /* the least number of bits that tell places within a bucket apart */
#define KEPT_BYTES (32u << 10)

/* At first a heap holds records on their way to the buckets, `kept` for each. In the end it holds the records of one
 * bucket. */
struct ordered_heap {
	char *records, *sorted;
	uint32_t *places;
	uint32_t used[ORDERED_BUCKETS];
	size_t n; /* how many records are sorted */
};

struct ordered_taking {
	struct ordered *ordered;
	uint64_t written; /* how many records of the file are in order */
};

static void
ordered_free_heaps(struct ordered *ordered)
{
	for (unsigned h = 0; h < ordered->heap_count; h++) {
		array_free(ordered->heaps[h].records);
		array_free(ordered->heaps[h].sorted);
		array_free(ordered->heaps[h].places);
		ordered->heaps[h] = (struct ordered_heap){0};
	}
}

/* Makes room for `records` records in each heap. */
static void
ordered_make_heaps(struct ordered *ordered, size_t records, bool sorted)
{
	ordered_free_heaps(ordered);
	for (unsigned h = 0; h < ordered->heap_count; h++) {
		struct ordered_heap *heap = &ordered->heaps[h];

		heap->records = memory_array(records, ordered->size, "records");
		heap->places = memory_array(records, sizeof(*heap->places), "places of records");
		heap->sorted = sorted ? memory_array(records, ordered->size, "records") : NULL;
	}
}

void
ordered_init(struct ordered *ordered, size_t size, size_t places, unsigned threads, struct output *file, uint64_t at)
{
	*ordered = (struct ordered){.size = size, .file = file, .at = at, .threads = threads, .shift = BUCKET_LEAST};
	ordered->heap_count = parallel_slots(threads);
	while (places > 0 && (places - 1) >> ordered->shift >= ORDERED_BUCKETS)
		ordered->shift++;
	ordered->count = places > 0 ? (uint32_t)((places - 1) >> ordered->shift) + 1 : 0;
	ordered->kept = KEPT_BYTES / size > 0 ? (uint32_t)(KEPT_BYTES / size) : 1;
	ordered->places = memory_array(places, sizeof(*ordered->places), "places of records");
	ordered->heaps = memory_new(ordered->heap_count, sizeof(*ordered->heaps));
	ordered_make_heaps(ordered, (size_t)ordered->count * ordered->kept, false);
}

/* Writes the records of a heap that belong to a bucket after those that the bucket has already. */
static void
ordered_flush(struct ordered *ordered, struct ordered_heap *heap, uint32_t bucket)
{
	uint32_t n = heap->used[bucket], before = __atomic_fetch_add(&ordered->arrived[bucket], n, __ATOMIC_RELAXED);
	uint64_t at = ((uint64_t)bucket << ordered->shift) + before;
	size_t from = (size_t)bucket * ordered->kept;

	heap->used[bucket] = 0;
	memcpy(ordered->places + at, heap->places + from, n * sizeof(*heap->places));
	must(output_write_draft_at(ordered->file, heap->records + from * ordered->size, n * ordered->size,
	                           ordered->at + at * ordered->size, &failure));
}

void
ordered_put(struct ordered *ordered, unsigned number, const void *record, uint32_t place)
{
	struct ordered_heap *heap = &ordered->heaps[number];
	uint32_t bucket = place >> ordered->shift;
	size_t at = (size_t)bucket * ordered->kept + heap->used[bucket]++;

	memcpy(heap->records + at * ordered->size, record, ordered->size);
	heap->places[at] = place;
	if (heap->used[bucket] == ordered->kept)
		ordered_flush(ordered, heap, bucket);
}

static int
ordered_sort(void *context, unsigned thread, unsigned slot, size_t bucket, struct portolan_error *error)
{
	const struct ordered_taking *taking = context;
	const struct ordered *ordered = taking->ordered;
	struct ordered_heap *heap = &ordered->heaps[slot];
	uint64_t first = (uint64_t)bucket << ordered->shift;
	uint32_t n = ordered->arrived[bucket], size = UINT32_C(1) << ordered->shift;

	(void)thread;
	(void)error;
	must(output_read_at(ordered->file, heap->records, n * ordered->size, ordered->at + first * ordered->size,
	                    &failure));
	heap->n = 0;
	memset(heap->places, 0xff, size * sizeof(*heap->places)); /* UINT32_MAX: no record */
	for (uint32_t i = 0; i < n; i++)
		heap->places[ordered->places[first + i] - first] = i;
	for (uint32_t k = 0; k < size; k++)
		if (heap->places[k] != UINT32_MAX)
			memcpy(heap->sorted + heap->n++ * ordered->size,
			       heap->records + (size_t)heap->places[k] * ordered->size, ordered->size);
	return 0;
}

/* Writes a bucket that was sorted. The stretches of the file that this overwrites, the bucket's own and those before
 * it, have been read. */
static int
ordered_write(void *context, unsigned slot, size_t bucket, struct portolan_error *error)
{
	struct ordered_taking *taking = context;
	const struct ordered *ordered = taking->ordered;
	const struct ordered_heap *heap = &ordered->heaps[slot];
	uint64_t at = ordered->at + taking->written * ordered->size;

	(void)bucket;
	taking->written += heap->n;
	return output_write_at(ordered->file, heap->sorted, heap->n * ordered->size, at, error);
}

void
ordered_finish(struct ordered *ordered)
{
	struct ordered_taking taking = {.ordered = ordered};
	struct parallel parallel = {.threads = ordered->threads,
	                            .count = ordered->count,
	                            .what = "writing",
	                            .context = &taking,
	                            .work = ordered_sort,
	                            .deliver = ordered_write};

	for (unsigned h = 0; h < ordered->heap_count; h++)
		for (uint32_t b = 0; b < ordered->count; b++)
			ordered_flush(ordered, &ordered->heaps[h], b);
	ordered_make_heaps(ordered, (size_t)1 << ordered->shift, true);
	must(parallel_run(&parallel, &failure));
	ordered_free_heaps(ordered);
	free(ordered->heaps);
	array_free(ordered->places);
}

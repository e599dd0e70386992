/*
 * ordered.h: for `portolan metrics`, where ids do not ascend: writes records into a file by their places. Threads make
 * the records, all of one size, in any order; in the end they lie in the file in order. Memory is bounded.
 *
 * Until the end, records wait in the file itself. The places are divided into buckets, each with a stretch of the file.
 * Records of a bucket are kept in memory until there are enough of them to be written together. In the end each bucket
 * is sorted in memory.
 */
#ifndef ORDERED_H
#define ORDERED_H

#include "output/output.h"

#include <stddef.h>
#include <stdint.h>

#define ORDERED_BUCKETS 256

struct ordered {
	size_t size;         /* bytes of a record */
	struct output *file; /* the records lie there from `at` on */
	uint64_t at;
	uint32_t *places;                  /* the places of the records, in the order in which these wait in the file */
	struct ordered_heap *heaps;        /* by the `number` of ordered_put() */
	unsigned threads, heap_count;      /* heap_count: parallel_slots(threads) */
	unsigned shift;                    /* bucket b has the places from b << shift on */
	uint32_t count, kept;              /* the number of buckets, and how many records a heap keeps of each */
	uint32_t arrived[ORDERED_BUCKETS]; /* by bucket: how many of its records are in the file */
};

/* Begins with room for `places` places at most, in a file for which output_can_patch() is true and which has been
 * flushed. On success call ordered_finish(). */
void ordered_init(struct ordered *ordered, size_t size, size_t places, unsigned threads, struct output *file,
                  uint64_t at);

/* Copies a record, whose place is `place`; a place gets one record at most. `number`, below parallel_slots(threads),
 * belongs to one thread at a time. */
void ordered_put(struct ordered *ordered, unsigned number, const void *record, uint32_t place);

/* Puts all records in order, one directly after another, even if places between theirs have none. Frees everything. */
void ordered_finish(struct ordered *ordered);

#endif

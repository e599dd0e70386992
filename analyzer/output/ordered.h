/*
 * ordered.h: puts records of one size in order, which come in any order and from several threads, in bounded memory.
 *
 * Records wait in a part of a file, or in an array. The places are divided into buckets, each with a stretch of it. A
 * thread keeps some records for each bucket, and puts them down together; so nothing is written one by one. Then each
 * bucket is sorted in memory. Places may have no record.
 */
#ifndef ORDERED_H
#define ORDERED_H

#include "output.h"

#include <stddef.h>
#include <stdint.h>

#define ORDERED_BUCKETS 256

struct ordered {
	size_t size; /* bytes of a record */
	/* private */
	const struct output *file; /* where the records wait, from `at` on; */
	uint64_t at;
	char *array;                       /* or here */
	uint32_t *places;                  /* of the records as they lie there */
	struct ordered_heap *heaps;        /* by number */
	unsigned heap_count, shift;        /* bucket b has the places from b << shift on */
	uint32_t count, kept;              /* buckets; records that a heap keeps of each */
	uint32_t arrived[ORDERED_BUCKETS]; /* records of each, so far */
};

/* For `places` places at most, and records of parallel_slots(threads) numbers. They wait in `file` (output_can_patch())
 * from its byte `at` on, which must have been flushed, or, for NULL, in an array. On success call ordered_free().
 * PORTOLAN_E_MEMORY. */
int ordered_init(struct ordered *ordered, size_t size, size_t places, unsigned threads, const struct output *file,
                 uint64_t at, struct portolan_error *error);
void ordered_free(struct ordered *ordered); /* of {0}: nothing */

/* Forgets what has come. */
int ordered_begin(struct ordered *ordered, struct portolan_error *error);

/* Copies a record. A number is one thread's at a time. A place gets one record at most. */
int ordered_put(struct ordered *ordered, unsigned number, const void *record, uint32_t place,
                struct portolan_error *error);

/* Takes all records that have come: n at a time, in order, each part in the slot that it has until it is delivered. */
struct ordered_steps {
	void *context;
	const char *what; /* for the progress bar; NULL: none */
	/* In several threads at once; may be NULL. */
	int (*work)(void *context, unsigned slot, const char *records, size_t n, struct portolan_error *error);
	/* In the caller's thread, in order. The stretch of the file that these records came from may be overwritten, and what
	 * is before it. */
	int (*deliver)(void *context, unsigned slot, const char *records, size_t n, struct portolan_error *error);
};
int ordered_take(struct ordered *ordered, unsigned threads, const struct ordered_steps *steps,
                 struct portolan_error *error);

#endif

/*
 * ring.h: a bounded queue of byte records between the threads that log and the one that sends.
 *
 * One producer at a time (the caller holds a lock of its own that the consumer never takes), one consumer. No function
 * makes a system call or waits. Positions count bytes since the beginning and never wrap; "everything committed before
 * position p" is how a flush says what it waits for.
 *
 * Records are contiguous and 8-byte aligned. A record is at most a quarter of the ring, so that one that
 * does not fit before the end of the memory always finds room at its beginning once enough is released.
 */
#ifndef CLIENT_RING_H
#define CLIENT_RING_H

#include <portolan/portolan.h>

#include <stdatomic.h>

struct ring {
	uint8_t *data;
	size_t size; /* a multiple of the page size */
	/* Apart from each other, so that the two sides do not share a cache line. */
	_Alignas(64) _Atomic uint64_t head; /* end of what is committed; written by the producer */
	_Alignas(64) _Atomic uint64_t tail; /* end of what is released; written by the consumer */
	uint64_t read;                      /* the consumer's own: end of what it has read */
};

int ring_init(struct ring *ring, size_t size, struct portolan_error *error);
void ring_deinit(struct ring *ring); /* twice does no harm */

/* Producer: room for a record of 1 … size/4 bytes, of which `keep` bytes must stay free behind it; NULL: full.
 * What is written there becomes visible with ring_commit(), which must follow with the same size. */
void *ring_reserve(struct ring *ring, size_t bytes, size_t keep);
void ring_commit(struct ring *ring, size_t bytes);
uint64_t ring_head(const struct ring *ring); /* any thread */
size_t ring_used(const struct ring *ring);   /* bytes not released; any thread */

/* Consumer: the next record, or NULL; valid until released. */
const void *ring_read(struct ring *ring, size_t *bytes);
void ring_unread(struct ring *ring, uint64_t position); /* goes back to a value ring_position() had */
uint64_t ring_position(const struct ring *ring);        /* end of what was read */
void ring_release(struct ring *ring);                   /* gives back everything read */

#endif

/*
 * shares.h: shares out what --max-memory allows among the parts of the collector: connections, queue, credit, ids,
 * folds and sessions. The shares add up to it, and each is a bound of its own.
 *
 * libzmq allocates a frame when its length is announced, and so before anybody can refuse it. One connection can
 * therefore hold SHARES_RECEIVE_QUEUE frames in its queue (with 1 the acknowledgement of a client's frames takes a
 * quarter longer, 4 is no better than 2), one more that is read in part or finds the queue full, and some buffers. A
 * connection that is not admitted yet can hold one frame and the buffers; there may be a quarter more of these.
 */
#ifndef COLLECTOR_SHARES_H
#define COLLECTOR_SHARES_H

#include <portolan/wire.h>

#include <stddef.h>

#define SHARES_RECEIVE_QUEUE 2               /* messages per connection; ZMQ_RCVHWM */
#define SHARES_CONNECTION ((size_t)96 << 10) /* libzmq's buffers and queues of one connection: measured */
#define SHARES_SPARE 8                       /* connections that are not admitted yet, besides the quarter */

/* The shares, in 32nds of --max-memory. */
enum share {
	SHARES_CONNECTIONS = 12, /* frames that libzmq holds for every connection before the collector sees them */
	SHARES_QUEUE = 8,        /* frames between the two threads: see ledger.h */
	SHARES_CREDIT = 4,       /* … of which this much is given to all clients together as credit */
	SHARES_IDS = 5,          /* the dictionaries of runs that do not declare examples=N */
	SHARES_FOLDS = 4,        /* the columns that folds build at a time, and their notes */
	SHARES_SESSIONS = 2,     /* sessions, on both threads, and a ping of each: sessions_most() */
	SHARES_REST = 1,         /* the process itself, and the pages of the pending transaction */
};

static inline size_t
shares_of(size_t max_memory, enum share share)
{
	return max_memory / 32 * share;
}

/* Pending bytes of the store that are worth a commit of their own: 2 MB, or half of a 32nd part if that is less. With
 * 8 MB, copying them to the page cache took four times as long a byte (tools/bench ingest). */
static inline size_t
shares_commit(size_t max_memory)
{
	const size_t half = shares_of(max_memory, 1) / 2, most = (size_t)2 << 20;

	return half < most ? half : most;
}

/* How many connections may be admitted. */
static inline size_t
shares_connections(size_t max_memory)
{
	const size_t admitted = (SHARES_RECEIVE_QUEUE + 1) * (size_t)WIRE_MAX_FRAME + SHARES_CONNECTION;
	const size_t coming = (size_t)WIRE_MAX_FRAME + SHARES_CONNECTION;

	return (shares_of(max_memory, SHARES_CONNECTIONS) - SHARES_SPARE * coming) / (admitted + coming / 4);
}

/* How many connections there may be, with those that are not admitted yet. */
static inline size_t
shares_connected(size_t admitted)
{
	return admitted + admitted / 4 + SHARES_SPARE;
}

#endif

/*
 * shares.h: how --max-memory is shared out. The shares sum up to it, and each is a bound of its own.
 *
 * libzmq allocates a frame when its length is announced, and so before anybody can refuse it. One connection can
 * therefore hold SHARES_RECEIVE_QUEUE frames in its queue (with 1 a client's frames take a quarter longer until they
 * are acknowledged, 4 is no better than 2), one more that is read in part or finds the queue full, and some buffers.
 * One that is not admitted yet can hold one frame and the buffers: there may be a quarter more of these.
 */
#ifndef COLLECTOR_SHARES_H
#define COLLECTOR_SHARES_H

#include <portolan/wire.h>

#include <stddef.h>

#define SHARES_RECEIVE_QUEUE 2               /* messages per connection; ZMQ_RCVHWM */
#define SHARES_CONNECTION ((size_t)96 << 10) /* libzmq's buffers and queues of one connection: measured */
#define SHARES_SPARE 8                       /* connections that are not admitted yet, besides the quarter */

/* In parts of 32. */
enum share {
	SHARES_CONNECTIONS = 12, /* what libzmq holds of every connection before the collector sees it */
	SHARES_QUEUE = 8,        /* frames between the two threads: see ledger.h */
	SHARES_CREDIT = 4,       /* … of which so much is told to all clients together */
	SHARES_IDS = 5,          /* the dictionaries of runs that do not declare examples=N */
	SHARES_FOLDS = 4,        /* the columns that are built at a time, and what is noted meanwhile */
	SHARES_SESSIONS = 2,     /* who records, on both threads, and a ping of each: sessions_most() */
	SHARES_REST = 1,         /* the process itself, and the pages of the transaction that is pending */
};

static inline size_t
shares_of(size_t max_memory, enum share share)
{
	return max_memory / 32 * share;
}

/* Pending bytes of the store that are worth a commit of their own: up to 8 MB, and half of the rest. */
static inline size_t
shares_commit(size_t max_memory)
{
	const size_t half = shares_of(max_memory, 1) / 2, most = (size_t)8 << 20;

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

/* How many may be connected, with those that are not admitted yet. */
static inline size_t
shares_connected(size_t admitted)
{
	return admitted + admitted / 4 + SHARES_SPARE;
}

#endif

/*
 * shares.h: how --max-memory is shared out. The shares sum up to it, and each is a bound of its own:
 *
 *   12/32  connections  what libzmq holds of every connection before the collector sees it
 *    8/32  queue        frames between the two threads; credit is given out of half of it
 *    5/32  ids          the dictionaries of runs that do not declare examples=N
 *    4/32  folds        the columns that are built at a time
 *    2/32  sessions     who records, on both threads
 *    1/32  the rest     the process itself, and the pages of the transaction that is pending
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

static inline size_t
shares_of(size_t max_memory, unsigned parts)
{
	return max_memory / 32 * parts;
}

static inline size_t
shares_queue(size_t max_memory)
{
	return shares_of(max_memory, 8);
}

/* Of all clients together. The other half of the queue is for frames that are larger than the credit of their session,
 * and for those that were sent before the client knew that it has less credit now. */
static inline size_t
shares_credit(size_t max_memory)
{
	return shares_queue(max_memory) / 2;
}

static inline size_t
shares_ids(size_t max_memory)
{
	return shares_of(max_memory, 5);
}

static inline size_t
shares_folds(size_t max_memory)
{
	return shares_of(max_memory, 4);
}

static inline size_t
shares_sessions(size_t max_memory)
{
	return shares_of(max_memory, 2);
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

	return (shares_of(max_memory, 12) - SHARES_SPARE * coming) / (admitted + coming / 4);
}

/* How many may be connected, with those that are not admitted yet. */
static inline size_t
shares_connected(size_t admitted)
{
	return admitted + admitted / 4 + SHARES_SPARE;
}

#endif

/*
 * guard.h: who is connected, how much of the collector's memory each of them holds, and who has to go.
 *
 * libzmq reads what a peer sends into memory whether the collector keeps up or not: a message in part, a few whole ones
 * in a queue (sockets.c bounds both), for every connection there is. Clients keep to the credit they are given; the
 * guard is for those who do not, and for those who only connect.
 *
 * - Memory: when the process takes more than half of --max-memory, the connections that hold most are closed, until the
 *   others hold no more than all credit together. So nobody who keeps to his credit is closed unless others do not;
 * then he connects again, repeats, and loses nothing. The other half is for what comes in until libzmq has noticed.
 * - Connections: when there are too many, the oldest goes that never sent a frame of a session; without one, the
 * newest.
 * - Rubbish: who sends frames that cannot be read, or many of no session, is hung up on.
 *
 * A thread of its own, because the event loop may be waiting for the disk while memory fills. It reads the monitors of
 * the sockets, and ends a connection through its file descriptor: libzmq then finds the peer gone.
 */
#ifndef COLLECTOR_GUARD_H
#define COLLECTOR_GUARD_H

#include <portolan/portolan.h>

#include <stdbool.h>

#define GUARD_SOCKETS_MAX 4

struct guard;

/* `sockets`: what is watched; nothing is bound to them yet. */
int guard_start(struct guard **guard, void *context, void *const sockets[], size_t count, size_t max_memory,
                struct portolan_error *error);

/* Ends the thread; before the sockets are closed. NULL accepted. */
void guard_stop(struct guard *guard, void *const sockets[], size_t count);

/* For the event loop. `fd`: the connection a message came over (ZMQ_SRCFD); < 0, or one that is not watched: ignored.
 */

/* A message has been taken out of libzmq's memory. false: the connection has been hung up on, and what it sent is to be
 * ignored. */
bool guard_took(struct guard *guard, int fd, size_t bytes);

enum guard_verdict { GUARD_MEMBER /* of a session */, GUARD_STRANGER /* no session */, GUARD_RUBBISH };

/* What that message was. */
void guard_judge(struct guard *guard, int fd, size_t bytes, enum guard_verdict verdict);

/* How much of --max-memory clients are given as credit; pure. */
static inline size_t
guard_credit_for(size_t max_memory)
{
	return max_memory / 4;
}

/* How many connections --max-memory allows; pure. */
size_t guard_connections_for(size_t max_memory, size_t descriptors);

#endif

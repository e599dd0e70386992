/*
 * frontier.h: the live sessions of a run, ordered by the epoch each holds open, so that the least is known at once
 * however many there are (a binary heap in run->live). Used by sessions.c alone.
 */
#ifndef COLLECTOR_FRONTIER_H
#define COLLECTOR_FRONTIER_H

#include "sessions.h"

/* Room for `count` sessions; PORTOLAN_E_MEMORY. Adding never fails where there is room. */
int frontier_reserve(struct run *run, size_t count);
void frontier_add(struct run *run, struct session *session);
void frontier_remove(struct run *run, struct session *session);
/* The session's frontier has become another. */
void frontier_moved(struct run *run, struct session *session);
/* SESSIONS_NO_FRONTIER: nobody is live. */
uint64_t frontier_least(const struct run *run);

#endif

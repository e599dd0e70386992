/*
 * throttle.h: log lines that strangers can cause, at most one per THROTTLE_MS of a kind. Nothing is left out unseen:
 * each line that may be written is told how many events it stands for. Pure.
 */
#ifndef COLLECTOR_THROTTLE_H
#define COLLECTOR_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#define THROTTLE_MS 10000

struct throttle {
	uint64_t total;   /* events so far */
	uint64_t counted; /* of these, in a line already written */
	int64_t silent_until;
};

/* Counts `events`; true: write a line now, for *since events since the last one. With 0 events: for those that are
 * left. */
static inline bool
throttle_count(struct throttle *throttle, uint64_t events, int64_t now, uint64_t *since)
{
	throttle->total += events;
	*since = throttle->total - throttle->counted;
	if (*since == 0 || now < throttle->silent_until)
		return false;
	throttle->counted = throttle->total;
	throttle->silent_until = now + THROTTLE_MS;
	return true;
}

#endif

/*
 * throttle.h: log lines that strangers can cause: a few per THROTTLE_MS of a kind. Nothing is left out unseen: a line
 * says how many events it stands for, if that is more than one.
 */
#ifndef COLLECTOR_THROTTLE_H
#define COLLECTOR_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#define THROTTLE_MS 10000

struct throttle {
	unsigned most;   /* lines per THROTTLE_MS; 0 is 1 */
	unsigned lines;  /* of these, written */
	uint64_t events; /* since the last line */
	int64_t until;   /* when the next THROTTLE_MS begin */
};

/* Counts `events` (0: only those that are left), and writes a line for them if one may be written; whether it was. */
__attribute__((format(printf, 4, 5))) bool throttle_log(struct throttle *throttle, uint64_t events, int64_t now,
                                                        const char *format, ...);

#endif

/*
 * throttle.h: bounds the lines of the log that strangers can cause: a few of each kind per THROTTLE_MS. A line that
 * stands for more than one event says how many.
 */
#ifndef COLLECTOR_THROTTLE_H
#define COLLECTOR_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#define THROTTLE_MS 10000

struct throttle {
	unsigned most;   /* lines per THROTTLE_MS; 0 is 1 */
	unsigned lines;  /* lines written in this THROTTLE_MS */
	uint64_t events; /* events since the last line */
	int64_t until;   /* when the next THROTTLE_MS begin */
};

/* Counts `events` more (0: none), and writes a line for all of them if one may be written now. True: it was written. */
__attribute__((format(printf, 4, 5))) bool throttle_log(struct throttle *throttle, uint64_t events, int64_t now,
                                                        const char *format, ...);

#endif

/* held.h: opens files that this process must not share with its forked children: spool files, whose locks a child would
 * hold. Any thread. */
#ifndef CLIENT_HELD_H
#define CLIENT_HELD_H

#include <stdbool.h>

struct held {
	int file; /* descriptor; < 0: not open */
	struct held *next;
};

/* Opens the file. `held` must not be open yet, and keeps the descriptor. Returns the descriptor; -1: errno says why. */
int held_open(struct held *held, const char *path, int flags);
void held_close(struct held *held); /* not open: does nothing */

/* Does this process hold the file of that name? */
bool held_has(const char *path);

#endif

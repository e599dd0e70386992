/* held.h: files that are this process's alone: its forked children do not have them. Any thread. */
#ifndef CLIENT_HELD_H
#define CLIENT_HELD_H

#include <stdbool.h>

struct held {
	int file; /* descriptor; < 0: not open */
	struct held *next;
};

/* Opens the file; `held` must not be open. The descriptor, which `held` has as well, or -1 with errno. */
int held_open(struct held *held, const char *path, int flags);
void held_close(struct held *held); /* not open: does nothing */

/* Whether this process holds the file of that name. */
bool held_has(const char *path);

#endif

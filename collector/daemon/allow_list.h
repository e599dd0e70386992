/*
 * allow_list.h: whose public keys are let in: DIRECTORY/NAME.pub, one key each.
 *
 * The files are read again at a handshake, a second later at most than that would find a change. One that is malformed,
 * or that others may write, admits nobody; so does a directory that others may write. Not thread-safe.
 */
#ifndef COLLECTOR_ALLOW_LIST_H
#define COLLECTOR_ALLOW_LIST_H

#include <keys.h>

#include <stddef.h>
#include <stdint.h>

#define ALLOW_LIST_NAME 256
#define ALLOW_LIST_LINES 10 /* told at most */

struct allow_list_key {
	char key[KEYS_TEXT_SIZE], name[ALLOW_LIST_NAME];
};

struct allow_list {
	const char *directory; /* the caller's, and outlives the list */
	struct allow_list_key *keys;
	size_t count, room;
	int64_t look_at;               /* when to read them again */
	unsigned reads;                /* how often they were read */
	size_t bad;                    /* files that admit nobody */
	struct portolan_error trouble; /* the first thing that is wrong */
};

/* `tell`: logs a line for each file that admits nobody, for a few at most. */
void allow_list_read(struct allow_list *list, bool tell);
void allow_list_free(struct allow_list *list);

/* The name of the file the key is in, valid until the next call; NULL: it is in none. */
const char *allow_list_find(struct allow_list *list, const char key[KEYS_TEXT_SIZE]);

#endif

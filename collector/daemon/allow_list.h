/*
 * allow_list.h: says which public keys of clients are let in (for admission.c): those in the files DIRECTORY/NAME.pub,
 * one key each.
 *
 * Handshakes read the files again; a change counts a second later at most. A file that is malformed, or that others may
 * write, admits nobody; nor does a directory that others may write. Not thread-safe.
 */
#ifndef COLLECTOR_ALLOW_LIST_H
#define COLLECTOR_ALLOW_LIST_H

#include <keys.h>

#include <stddef.h>
#include <stdint.h>

#define ALLOW_LIST_NAME 256
#define ALLOW_LIST_LINES 10 /* most bad files that are logged */

struct allow_list_key {
	char key[KEYS_TEXT_SIZE], name[ALLOW_LIST_NAME];
};

struct allow_list {
	const char *directory; /* belongs to the caller, and outlives the list */
	struct allow_list_key *keys;
	size_t count, room;
	int64_t look_at;               /* when the files are to be read again */
	unsigned reads;                /* how often the files were read */
	size_t bad;                    /* files that admit nobody */
	struct portolan_error trouble; /* the first error */
};

/* Opens and reads the list. `tell`: logs a line for each bad file, for a few at most. */
void allow_list_read(struct allow_list *list, bool tell);
void allow_list_free(struct allow_list *list);

/* The name of the file that holds the key, valid until the next call; NULL: no file does. */
const char *allow_list_find(struct allow_list *list, const char key[KEYS_TEXT_SIZE]);

#endif

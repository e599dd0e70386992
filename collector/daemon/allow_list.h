/*
 * allow_list.h: says which public keys of clients are let in (for admission.c), and what each may do (rights.h): those
 * in the files DIRECTORY/NAME.pub, one key each.
 *
 * Handshakes, and each `open` or `remove`, read the files again; a change counts a second later at most. A file that is malformed,
 * or that others may write, admits nobody; nor does a directory that others may write. A key that two files give
 * different rights is not let in. Not thread-safe.
 */
#ifndef COLLECTOR_ALLOW_LIST_H
#define COLLECTOR_ALLOW_LIST_H

#include "rights.h"

#include <stddef.h>
#include <stdint.h>

#define ALLOW_LIST_NAME 256
#define ALLOW_LIST_LINES 10 /* most bad files that are logged */

struct allow_list_key {
	char key[KEYS_TEXT_SIZE], name[ALLOW_LIST_NAME]; /* of the file: NAME.pub */
	struct rights rights;
	bool barred; /* its rights are not understood, or another file gives it others */
};

struct allow_list {
	const char *directory; /* belongs to the caller, and outlives the list */
	struct allow_list_key *keys;
	size_t count, room;
	int64_t look_at;               /* when the files are to be read again */
	unsigned reads;                /* how often the files were read */
	size_t bad;                    /* files that admit nobody */
	size_t unknown;                /* of these: files NAME.pub whose keys are not known, as they cannot be read */
	bool unread;                   /* the directory cannot be read, or others may write in it */
	struct portolan_error trouble; /* the first error */
	struct portolan_error unclear; /* the first error in what limits a key; code 0: none */
};

/* Opens and reads the list. `tell`: logs a line for each bad file, for a few at most. */
void allow_list_read(struct allow_list *list, bool tell);
void allow_list_free(struct allow_list *list);

/* The key's entry, valid until the next call; NULL: it is not let in. A change of `unclear` is logged. */
const struct allow_list_key *allow_list_find(struct allow_list *list, const char key[KEYS_TEXT_SIZE]);
/* Of a key that was not found just now: may it be listed all the same, in a file or a directory that cannot be read now?
 * list->trouble says why. */
bool allow_list_is_unsure(const struct allow_list *list, const char key[KEYS_TEXT_SIZE]);

#endif

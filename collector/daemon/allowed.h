/*
 * allowed.h: the list of public keys that are let in, in memory: DIRECTORY/NAME.pub, one key each.
 *
 * What is asked for often must not cost a directory's worth of files each time. So the files are looked at (their
 * status alone) when the last look is old enough, and read when something has changed: allowed_find() knows of a change
 * within a second, sooner where the list is short.
 *
 * A file that is malformed, or that others may write, admits nobody; so does a directory that others may write.
 *
 * Not thread-safe.
 */
#ifndef COLLECTOR_ALLOWED_H
#define COLLECTOR_ALLOWED_H

#include <keys.h>

#include <stddef.h>
#include <stdint.h>

#define ALLOWED_NAME_SIZE 256

struct allowed_key {
	char key[KEYS_TEXT_SIZE], name[ALLOWED_NAME_SIZE];
};

struct allowed {
	const char *directory; /* the caller's, and outlives the list */
	struct allowed_key *keys;
	size_t count, room;
	uint64_t state;                /* of the files as they were read; 0: to be read again in any case */
	int64_t look_at;               /* when to look again, in microseconds of a monotonic clock */
	unsigned reads;                /* how often the files were read */
	struct portolan_error trouble; /* the first thing that is wrong with the list */
};

void allowed_init(struct allowed *allowed, const char *directory);
void allowed_free(struct allowed *allowed);

/* The name of the file the key is in, valid until the next call; NULL: it is in none. */
const char *allowed_find(struct allowed *allowed, const char key[KEYS_TEXT_SIZE]);

#endif

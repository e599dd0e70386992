/*
 * leftover.h: sends the spool files that earlier processes left in a directory, one after the other, each as the
 * session it is. It shares the socket of the run that found them.
 *
 * A file goes to the store it belongs to and to no other: the one that answered its session, or, where none has, the
 * one that a run with the same target is recorded in. Others stay where they are, and a line on stderr says so. A file
 * is gone once the collector has acknowledged all of it. One that the collector refuses for good, or that is damaged,
 * is renamed to ….rejected, and a line on stderr says why. One thread.
 */
#ifndef CLIENT_LEFTOVER_H
#define CLIENT_LEFTOVER_H

#include "session.h"

struct leftover {
	const char *directory;   /* not owned */
	struct dirent **entries; /* found, not yet looked at: from `at` on */
	int count, at;
	char *path;   /* of entries[at], once it is looked at */
	bool sending; /* `session` is in use, for entries[at] */
	struct session session;
	const char *target;   /* of the run that found them; not owned */
	const uint8_t *store; /* its store's id, not owned; NULL: not known */
};

/* Looks for files; there are none if the directory cannot be read. `directory`, `target` and `store` are the run's. */
void leftover_init(struct leftover *leftover, const char *directory, const char *target, const uint8_t *store);
void leftover_deinit(struct leftover *leftover); /* leaves files that are not sent; twice does no harm */

bool leftover_is_done(const struct leftover *leftover);

/* As session_next(), for leftover->session, which is told of what is sent and received while leftover->sending. */
bool leftover_next(struct leftover *leftover, int64_t now, struct wire_bytes *frame);

#endif

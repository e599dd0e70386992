/* content.h: the bytes of a user's file. A regular file is mapped, and so takes no memory; a pipe is read. */
#ifndef CONTENT_H
#define CONTENT_H

#include "mapping.h"

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

struct content {
	const char *bytes; /* not NULL, also where the file is empty */
	size_t size;
	struct mapping *mapping; /* holds the bytes; NULL: they were read, into memory of malloc() */
};

/* "-" is standard input. PORTOLAN_E_SYSTEM: "cannot read PATH: …". `path` stays the caller's until content_close(). */
int content_open(struct content *content, const char *path, struct portolan_error *error);
void content_close(struct content *content); /* may be called twice */

/* If another program cuts the file short after this call, the lost part reads as zeros, and this program goes on.
 * Without this call the program ends, with a message that names the file. */
void content_outlive_cuts(struct content *content);
/* True: the file has not changed since it was opened, so everything that was read is right. */
bool content_is_unchanged(const struct content *content);

#endif

/* content.h: the bytes of a user's file: mapped where it is a regular file, so they need no memory; else (a pipe) read.
 */
#ifndef CONTENT_H
#define CONTENT_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

struct content {
	const char *bytes; /* not NULL, also where the file is empty */
	size_t size;
	bool is_mapped;
};

/* "-" is standard input. PORTOLAN_E_SYSTEM: "cannot read PATH: …". */
int content_open(struct content *content, const char *path, struct portolan_error *error);
void content_close(struct content *content); /* may be called twice */

#endif

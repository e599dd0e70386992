/*
 * tags_file.h: the file in which `portolan serve --tags FILE` keeps what people say of examples: lines that are only
 * ever appended. Opens it for one server alone, reads it, and appends lines that are on disk when they are
 * acknowledged. What a line says is the business of tags.c.
 *
 * One thread.
 */
#ifndef TAGS_FILE_H
#define TAGS_FILE_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

#define TAGS_FILE_MOST ((size_t)64 << 20) /* bytes; some 700,000 changes */

struct tags_file { /* begins as {.fd = -1} */
	const char *path;
	size_t size; /* bytes that it should have: more or fewer are another program's doing; 0: nothing was said yet */
	/* private */
	int fd;
	bool is_ragged; /* it ends without a line end */
};

/* Opens the file, or makes it with mode 0600, and locks it. `path` stays the caller's. `store` is the directory of the
 * store that is served. Refused, with PORTOLAN_E_INVALID: a file in a directory of a store; what is no regular file, or
 * is a symbolic link; a file that another server has. PORTOLAN_E_SYSTEM. */
int tags_file_open(struct tags_file *file, const char *path, const char *store, struct portolan_error *error);

/* Calls take() with each line, without its line end, and with its number from 1. A failure of take() ends the reading,
 * and is returned. */
int tags_file_read(struct tags_file *file,
                   int (*take)(void *context, const char *line, size_t length, size_t number,
                               struct portolan_error *error),
                   void *context, struct portolan_error *error);

/* Appends a line, which comes without its line end. It is on disk afterwards. PORTOLAN_E_SYSTEM: nothing of it is in the
 * file (if the disk allows to take back what it took), and the message says why. */
int tags_file_append(struct tags_file *file, const char *line, size_t length, struct portolan_error *error);

void tags_file_close(struct tags_file *file);

#endif

/*
 * content.h: brings the bytes of a user's file into memory, for the code that reads records or arrays from it. A
 * regular file is mapped, and so takes no memory of its own; a pipe is read.
 *
 * Other programs may change the file meanwhile. If one cuts it short, reading the lost part raises SIGBUS;
 * content_take_bus_error() then finds which file it was. Safe from several threads.
 */
#ifndef CONTENT_H
#define CONTENT_H

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
/* True: the file has the size and the time of change that it had when it was opened, and no part of it was lost; so
 * everything that was read is right. Another file that has taken its name does not matter. */
bool content_is_unchanged(const struct content *content);

/* For store_expect_short_file(). */
bool content_take_bus_error(void *address, const char **path);

#endif

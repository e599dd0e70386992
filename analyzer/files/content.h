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
	const char *bytes; /* never NULL, even if the file is empty */
	size_t size;
	struct mapping *mapping; /* holds the bytes; NULL: they were read, into memory of malloc() */
};

/* Brings the file into memory; "-" is standard input. PORTOLAN_E_SYSTEM: "cannot read PATH: …". `path` stays the
 * caller's until content_close(). */
int content_open(struct content *content, const char *path, struct portolan_error *error);
/* Lets content_open(path) read the open file `file`, which has no name of its own; it is duplicated, and
 * takes the place of what was lent before. No other thread may call this or content_open() at the same time. */
int content_lend(const char *path, int file, struct portolan_error *error);
/* What was lent last is read by this path instead, which stays the caller's. The same rule for threads. */
void content_rename_lent(const char *path);
void content_close(struct content *content); /* may be called twice */

/* If another program cuts the file short after this call, the lost part reads as zeros, and this program goes on.
 * Without this call the program ends, with a message that names the file. */
void content_outlive_cuts(struct content *content);
/* Has the file still the size and the time of change that it had when it was opened, and was no part of it lost? If so,
 * everything that was read is right. Another file that has taken its name does not matter. */
bool content_is_unchanged(const struct content *content);

/* For store_expect_short_file(), after a SIGBUS at an address. If that is in a mapped file, *path becomes the file's
 * name. True: zeros now stand for the lost part, as content_outlive_cuts() asked, and the program can go on. */
bool content_take_bus_error(void *address, const char **path);

#endif

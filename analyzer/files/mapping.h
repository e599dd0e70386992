/* mapping.h: a user's file mapped to be read, which others may change meanwhile. If one cuts it short, reading its end
 * is a SIGBUS: this file knows which mapping it concerns. Safe from several threads. */
#ifndef MAPPING_H
#define MAPPING_H

#include <stdbool.h>
#include <sys/stat.h>

struct mapping;

/* The regular file `fd`, which is not empty and as `status` says; fd and path stay the caller's, path until
 * mapping_free(). NULL: it cannot be mapped, or there are many mappings already. */
struct mapping *mapping_new(int fd, const struct stat *status, const char *path);
void mapping_free(struct mapping *mapping); /* NULL: nothing */

const char *mapping_bytes(const struct mapping *mapping); /* status->st_size of them */

/* From now on the lost part reads as zeros. Otherwise reading it ends the program, with the file's name. */
void mapping_outlive_cuts(struct mapping *mapping);

/* Is the file as it was when it was mapped: its size, the time of its last change, and all of it readable? A file that
 * took its place is another, and does not matter. */
bool mapping_is_unchanged(const struct mapping *mapping);

/* For store_expect_short_file(). */
bool mapping_take_bus_error(void *address, const char **path);

#endif

/* mapping.h: a user's file, mapped for reading while other programs may change it. If one cuts the file short, reading
 * its end raises SIGBUS; this module finds the mapping that is concerned. Safe from several threads. */
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

/* Is the file as it was when it was mapped: its size, the time of its last change, and all of it readable? A new file
 * that took its place does not matter. */
bool mapping_is_unchanged(const struct mapping *mapping);

/* For store_expect_short_file(). */
bool mapping_take_bus_error(void *address, const char **path);

#endif

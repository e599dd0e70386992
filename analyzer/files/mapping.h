/* mapping.h: maps a user's file for reading, while other programs may change it. If another program cuts the file
 * short, reading its end raises SIGBUS; this module finds the mapping that was read. Safe from several threads. */
#ifndef MAPPING_H
#define MAPPING_H

#include <stdbool.h>
#include <sys/stat.h>

struct mapping;

/* Maps the regular file `fd`, of which fstat() has said `status`, and which is not empty. `fd` stays the caller's;
 * `path` must live until mapping_free(). NULL: the file cannot be mapped, or there are too many mappings. */
struct mapping *mapping_new(int fd, const struct stat *status, const char *path);
void mapping_free(struct mapping *mapping); /* NULL: nothing */

const char *mapping_bytes(const struct mapping *mapping); /* status->st_size bytes */

/* After this call a part of the file that is lost reads as zeros. Without it, reading the lost part ends the program,
 * with a message that names the file. */
void mapping_outlive_cuts(struct mapping *mapping);

/* True: the file has the size and the time of change that it had when it was mapped, and no part of it was lost.
 * Another file that has taken its name does not matter. */
bool mapping_is_unchanged(const struct mapping *mapping);

/* For store_expect_short_file(). */
bool mapping_take_bus_error(void *address, const char **path);

#endif

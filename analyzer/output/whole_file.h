/*
 * whole_file.h: a file that appears under its name only when it is complete, for output.c. What is no regular file, a
 * pipe or a device, is written in place. One owner; one thread, but for the functions that say otherwise. All functions
 * that return a failure return 0, or the errno.
 */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct whole_file {
	const char *path; /* as the user gave it; NULL: standard output */
	char *target;     /* what the finished file is renamed to; NULL: written in place */
	char *temporary;
	mode_t mode; /* the mode of the file that is replaced, or as the umask says */
	int fd;
	bool synced;             /* the file is on the disk as it is, but for its mode */
	size_t in_order, placed; /* bytes since the system was last told to write these, or those, to the disk */
	uint64_t placed_from, placed_to; /* the stretch of the file in which the placed ones are */
};

/* Opens the file that is to become `path`, which stays the caller's; only the user may open it until it is finished.
 * −1: as errno says. In any case call whole_file_discard() in the end. */
int whole_file_open(struct whole_file *file, const char *path);
void whole_file_discard(struct whole_file *file);

/* Bytes were written to `fd` in order, and stay: lets the system write them to the disk, when there are enough. */
void whole_file_hurry(struct whole_file *file, size_t size);

/* Both write at a place, from several threads, while none writes in order, and before whole_file_sync(). What the first
 * one writes stays, and the system writes it to the disk soon; the second one is for bytes that will be written over. */
int whole_file_write_at(struct whole_file *file, const void *data, size_t size, uint64_t at);
int whole_file_write_draft_at(struct whole_file *file, const void *data, size_t size, uint64_t at);

/* Reads what was written at places: EIO if the file ends before. */
int whole_file_read_at(const struct whole_file *file, void *data, size_t size, uint64_t at);

/* Syncs the file to the disk as it is, unless that is done. */
int whole_file_sync(struct whole_file *file);

/* Syncs the file, and gives it its name, with the mode of the file that had the name; then syncs the folder, if
 * `with_folder`. The file is closed in any case; call whole_file_discard() then. */
int whole_file_finish(struct whole_file *file, bool with_folder);

/* Are the files, when they have their names, in one folder? False if that is not certain. */
bool whole_file_is_beside(const struct whole_file *one, const struct whole_file *other);

#endif

/*
 * whole_file_places.c: writes at places in a file and reads there, and lets long files reach the disk while they are
 * written.
 */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* After so many bytes the system is told to write them to the disk while the command goes on, so that little is left to
 * wait for when the file is synced in the end. With 1 MB that takes longer, 64 MB are no better (tools/bench measures). */
#define HURRY_BYTES (8u << 20)

/* `size` 0: up to the end of the file. */
static void
start_writing(const struct whole_file *file, uint64_t from, uint64_t size)
{
	/* what fails is found by whole_file_sync() */
	sync_file_range(file->fd, (off64_t)from, (off64_t)size, SYNC_FILE_RANGE_WRITE);
}

void
whole_file_hurry(struct whole_file *file, size_t size)
{
	file->in_order += size;
	if (!file->target || file->in_order < HURRY_BYTES)
		return;
	file->in_order = 0;
	start_writing(file, 0, 0);
}

/* Writes at a place in the file. Returns 0, or the errno. */
static int
write_at(int fd, const char *from, size_t size, uint64_t at)
{
	while (size > 0) {
		ssize_t written = pwrite(fd, from, size, (off_t)at);

		if (written < 0 && errno != EINTR)
			return errno;
		if (written > 0) {
			from += written;
			at += (uint64_t)written;
			size -= (size_t)written;
		}
	}
	return 0;
}

/* The system lets one thread write to a file at a time, and the others wait for it with their processors busy. Here they
 * sleep. */
static pthread_mutex_t one_writes = PTHREAD_MUTEX_INITIALIZER;

/* Adds a stretch that was written to stay. When there are enough, *from and *to become the stretch that holds them all.
 */
static void
add_placed(struct whole_file *file, size_t size, uint64_t at, uint64_t *from, uint64_t *to)
{
	if (file->placed == 0 || at < file->placed_from)
		file->placed_from = at;
	if (file->placed == 0 || at + size > file->placed_to)
		file->placed_to = at + size;
	file->placed += size;
	if (file->placed < HURRY_BYTES)
		return;
	file->placed = 0;
	*from = file->placed_from;
	*to = file->placed_to;
}

int
whole_file_write_at(struct whole_file *file, const void *data, size_t size, uint64_t at)
{
	uint64_t from = 0, to = 0;
	int failure;

	pthread_mutex_lock(&one_writes);
	failure = write_at(file->fd, data, size, at);
	add_placed(file, size, at, &from, &to);
	pthread_mutex_unlock(&one_writes);
	if (to > from)
		start_writing(file, from, to - from);
	return failure;
}

int
whole_file_write_draft_at(struct whole_file *file, const void *data, size_t size, uint64_t at)
{
	int failure;

	pthread_mutex_lock(&one_writes);
	failure = write_at(file->fd, data, size, at);
	pthread_mutex_unlock(&one_writes);
	return failure;
}

int
whole_file_read_at(const struct whole_file *file, void *data, size_t size, uint64_t at)
{
	char *to = data;

	while (size > 0) {
		ssize_t got = pread(file->fd, to, size, (off_t)at);

		if (got == 0 || (got < 0 && errno != EINTR))
			return got == 0 ? EIO : errno;
		if (got > 0) {
			to += got;
			at += (uint64_t)got;
			size -= (size_t)got;
		}
	}
	return 0;
}

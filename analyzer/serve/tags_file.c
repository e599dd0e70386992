/*
 * tags_file.c: opens, reads and appends to the file of --tags (tags_file.h).
 *
 * A line is acknowledged after one write() and fdatasync(). If the server is killed in between, the last line may be
 * broken off. It is left where it is, and the next line begins after a line end: so nothing in the file is ever
 * changed, whatever file the user has named.
 */
#include "tags_file.h"

#include "base/cleanup.h"
#include "base/folder.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void
tags_file_close_folder(const int *folder)
{
	if (*folder >= 0)
		close(*folder);
}

static bool
tags_file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the folder in this directory, or is it the directory itself? */
static bool
tags_file_is_below(int folder, const char *directory)
{
	struct stat wanted, at, above = {0};
	int climbing = dup(folder), parent;
	bool found = false;

	if (stat(directory, &wanted) != 0 || fstat(folder, &at) != 0) {
		close(climbing);
		return false;
	}
	while (climbing >= 0 && !(found = tags_file_is_same(&at, &wanted))) {
		parent = openat(climbing, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(climbing);
		climbing = parent;
		if (parent < 0 || fstat(parent, &above) != 0 || tags_file_is_same(&above, &at))
			break; /* the root is above itself */
		at = above;
	}
	if (climbing >= 0)
		close(climbing);
	return found;
}

/* Tags never come into a store: neither into the one that is served, nor into another one. */
static int
tags_file_check_folder(const char *path, const char *store, struct portolan_error *error)
{
	CLEANUP_FREE char *name = folder_of(path);
	CLEANUP(tags_file_close_folder) int folder = -1;

	if (!name)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot open the folder of %s (--tags): %s", path,
		                 strerror(errno));
	if (faccessat(folder, "data.mdb", F_OK, 0) == 0 || tags_file_is_below(folder, store))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s is in a store, where no tags are kept: name a file beside the store (--tags)",
		                 path);
	return 0;
}

/* Opens the file, without following a link, and without waiting for who opens a pipe's other end. */
static int
tags_file_open_here(struct tags_file *file, struct portolan_error *error)
{
	const int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct stat status;

	file->fd = open(file->path, flags | O_CREAT, 0600);
	if (file->fd < 0 && errno == ELOOP)
		return error_set(error, PORTOLAN_E_INVALID, "%s is a symbolic link: --tags takes the file itself",
		                 file->path);
	if (file->fd < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot open %s (--tags): %s", file->path, strerror(errno));
	/* The files of /proc, which are said to be regular, have no disk. */
	if (fstat(file->fd, &status) != 0 || !S_ISREG(status.st_mode) || fdatasync(file->fd) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is no file that can keep tags (--tags)", file->path);
	if (flock(file->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return error_set(error, PORTOLAN_E_INVALID, "another portolan serve keeps its tags in %s (--tags)",
		                 file->path);
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot lock %s (--tags): %s", file->path, strerror(errno));
}

/* Has the disk the file's name, too? Else a power failure could lose the file with all that it holds. */
static int
tags_file_sync_folder(const char *path, struct portolan_error *error)
{
	CLEANUP_FREE char *name = folder_of(path);
	CLEANUP(tags_file_close_folder) int folder = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	/* A folder that can be searched and not read cannot be synced: it is as it is. */
	if (folder >= 0 && fsync(folder) != 0 && errno != EINVAL)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot write %s (--tags): %s", path, strerror(errno));
	return 0;
}

int
tags_file_open(struct tags_file *file, const char *path, const char *store, struct portolan_error *error)
{
	int code = tags_file_check_folder(path, store, error);

	*file = (struct tags_file){.path = path, .fd = -1};
	if (code >= 0)
		code = tags_file_open_here(file, error);
	if (code >= 0)
		code = tags_file_sync_folder(path, error);
	if (code < 0)
		tags_file_close(file);
	return code;
}

/* Reads all bytes. The array is the caller's to free(). */
static int
tags_file_load(struct tags_file *file, char **bytes, struct portolan_error *error)
{
	struct stat status;
	size_t size = 0;
	ssize_t got = 1;

	if (fstat(file->fd, &status) != 0 || (uint64_t)status.st_size > TAGS_FILE_MOST)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s has more than %zu MiB, and no file of tags is that long (--tags)", file->path,
		                 TAGS_FILE_MOST >> 20);
	*bytes = malloc((size_t)status.st_size + 1);
	if (!*bytes)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	while (size < (size_t)status.st_size && got > 0) {
		got = pread(file->fd, *bytes + size, (size_t)status.st_size - size, (off_t)size);
		size += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s (--tags): %s", file->path, strerror(errno));
	file->size = size;
	return 0;
}

int
tags_file_read(struct tags_file *file,
               int (*take)(void *context, const char *line, size_t length, size_t number, struct portolan_error *error),
               void *context, struct portolan_error *error)
{
	CLEANUP_FREE char *bytes = NULL;
	int code = tags_file_load(file, &bytes, error);
	size_t number = 0;

	for (size_t at = 0; code >= 0 && at < file->size;) {
		const char *end = memchr(bytes + at, '\n', file->size - at);
		size_t length = end ? (size_t)(end - bytes) - at : file->size - at;

		code = take(context, bytes + at, length, ++number, error);
		at += length + 1;
		file->is_ragged = !end;
	}
	return code;
}

/* Takes back what a failed write has left. */
static void
tags_file_take_back(struct tags_file *file)
{
	struct stat status;
	char last = '\n';

	if (ftruncate(file->fd, (off_t)file->size) == 0 || fstat(file->fd, &status) != 0)
		return;
	file->size = (size_t)status.st_size;
	file->is_ragged = file->size > 0 && (pread(file->fd, &last, 1, status.st_size - 1) != 1 || last != '\n');
}

/* Is it still the file of that name, and has nobody else written to it? */
static bool
tags_file_is_ours(const struct tags_file *file)
{
	struct stat own, named;

	return fstat(file->fd, &own) == 0 && lstat(file->path, &named) == 0 && tags_file_is_same(&own, &named) &&
	       (size_t)own.st_size == file->size;
}

int
tags_file_append(struct tags_file *file, const char *line, size_t length, struct portolan_error *error)
{
	CLEANUP_FREE char *bytes = malloc(length + 2);
	size_t begin = file->is_ragged, size = begin + length + 1;
	ssize_t written;

	if (!bytes)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (!tags_file_is_ours(file))
		return error_set(error, PORTOLAN_E_SYSTEM,
		                 "not saved: another program has moved or changed %s: start the server again",
		                 file->path);
	if (file->size + size > TAGS_FILE_MOST)
		return error_set(error, PORTOLAN_E_SYSTEM,
		                 "not saved: %s has come to %zu MiB: start the server with another file (--tags)",
		                 file->path, TAGS_FILE_MOST >> 20);
	bytes[0] = '\n';
	memcpy(bytes + begin, line, length);
	bytes[size - 1] = '\n';
	written = write(file->fd, bytes, size);
	if (written >= 0 && (size_t)written < size)
		errno = ENOSPC; /* which the next write() would say */
	if (written == (ssize_t)size && fdatasync(file->fd) == 0) {
		file->size += size;
		file->is_ragged = false;
		return 0;
	}
	error_set(error, PORTOLAN_E_SYSTEM, "not saved: cannot write %s: %s", file->path, strerror(errno));
	tags_file_take_back(file);
	return PORTOLAN_E_SYSTEM;
}

void
tags_file_close(struct tags_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/*
 * output.c: writes what a command puts out, to standard output or into a file that appears only when it is complete
 * (output.h). It writes through a buffer, and keeps the first error.
 *
 * A file is written without a name (O_TMPFILE) in the folder of its target, gets a temporary name when it is complete,
 * and is renamed when it is on the disk. So a file of the target's name is always complete, even after a power cut; a
 * failed command leaves the old file untouched, and an interrupted one leaves nothing behind. File systems that cannot
 * do that get the temporary name at once, and a signal that ends the program removes it. A symbolic link is followed
 * first: the link stays, the file behind it is replaced. close() is checked too: some file systems report a full disk
 * only there. A closed pipe ends the program as it ends any filter: by SIGPIPE, without a message.
 */
#include "output.h"

#include "claims.h"
#include "unfinished.h"
#include "written.h"

#include "base/folder.h"

#include <portolan/error.h>
#include <visible.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_BUFFER (1u << 20)
/* After so many bytes the system is told to write them to the disk while the command goes on, so that little is left to
 * wait for when the file is synced in the end. With 1 MB that takes longer, 64 MB are no better (tools/bench measures). */
#define HURRY_BYTES (8u << 20)

static const char *
output_name(const struct output *output)
{
	return output->path ? output->path : "standard output";
}

/* The file has its own name by now, or has gone. */
static void
forget_temporary(struct output *output)
{
	unfinished_forget(output->temporary);
	free(output->temporary);
	output->temporary = NULL;
}

void
output_discard(struct output *output)
{
	if (output->fd >= 0 && output->path != NULL)
		close(output->fd);
	if (output->temporary)
		unlink(output->temporary);
	forget_temporary(output);
	free(output->target);
	free(output->buffer);
	*output = (struct output){.fd = -1};
}

/* A file without a name in the folder of output->target; -1: the file system cannot do that. */
static int
open_nameless(const struct output *output)
{
	char *folder = folder_of(output->target);
	int fd = folder && access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	free(folder);
	return fd;
}

/* Opens the file that is to become output->target. */
static int
open_temporary(struct output *output)
{
	output->fd = open_nameless(output);
	if (output->fd >= 0)
		return 0;
	if (asprintf(&output->temporary, "%s.XXXXXX", output->target) < 0) {
		output->temporary = NULL;
		return -1;
	}
	output->fd = mkostemp(output->temporary, O_CLOEXEC);
	if (output->fd < 0) {
		forget_temporary(output);
		return -1;
	}
	unfinished_add(output->temporary);
	return 0;
}

static int
open_path(struct output *output, const char *path)
{
	struct stat status;
	mode_t mask = umask(0);

	umask(mask);
	output->path = path;
	output->mode = 0666 & ~mask;
	if (stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode)) {
			errno = EISDIR;
			return -1;
		}
		if (!S_ISREG(status.st_mode)) {
			output->fd = open(path, O_WRONLY | O_CLOEXEC);
			return output->fd < 0 ? -1 : 0;
		}
		output->mode = status.st_mode & 0777;
		output->target = realpath(path, NULL);
	} else {
		output->target = strdup(path);
	}
	return output->target ? open_temporary(output) : -1;
}

int
output_refused(const char *path, struct portolan_error *error)
{
	const char *slash = strrchr(path, '/'), *why = strerror(errno);
	char folder[4096];

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 0, path);
	if (errno == ENOENT && slash && access(folder, F_OK) < 0)
		why = "its folder does not exist: make it first";
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot write %s: %s", path, why);
}

int
output_open(struct output *output, const char *path, struct portolan_error *error)
{
	int refused = claims_check(path ? path : "-", error);

	*output = (struct output){.fd = -1};
	if (refused < 0)
		return refused;
	*output = (struct output){.fd = STDOUT_FILENO, .room = OUTPUT_BUFFER};
	output->buffer = malloc(OUTPUT_BUFFER);
	if (!output->buffer)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (path && strcmp(path, "-") != 0) {
		output->fd = -1;
		if (open_path(output, path) < 0) {
			int code = output_refused(path, error);

			output_discard(output);
			return code;
		}
	}
	return 0;
}

int
output_open_memory(struct output *output, size_t room, struct portolan_error *error)
{
	room = room > OUTPUT_RESERVE_MAX ? room : OUTPUT_RESERVE_MAX;
	*output = (struct output){.fd = -1, .memory = true, .buffer = malloc(room), .room = room};
	return output->buffer ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

/* Counts bytes that were written to stay. True: it is time to let the system write them to the disk. */
static bool
is_time_to_hurry(struct output *output, size_t size)
{
	output->unhurried += size;
	if (!output->target || output->unhurried < HURRY_BYTES)
		return false;
	output->unhurried = 0;
	return true;
}

/* `size` 0: up to the end of the file. */
static void
hurry(const struct output *output, uint64_t from, uint64_t size)
{
	/* what fails is found by output_sync() */
	sync_file_range(output->fd, (off64_t)from, (off64_t)size, SYNC_FILE_RANGE_WRITE);
}

static void
write_raw(struct output *output, const char *at, size_t size)
{
	output->synced = output->synced && size == 0;
	while (size > 0 && output->failure == 0) {
		ssize_t written = write(output->fd, at, size);

		if (written < 0 && errno != EINTR)
			output->failure = errno;
		if (written > 0) {
			if (output->digest)
				digest_add(output->digest, at, (size_t)written);
			if (is_time_to_hurry(output, (size_t)written))
				hurry(output, 0, 0);
			at += written;
			size -= (size_t)written;
		}
	}
}

/* On a terminal, control characters are made visible; files and other programs get them unchanged. A character that the
 * end of the buffer cuts in two is not looked at. */
static void
write_all(struct output *output, const char *at, size_t size)
{
	char *shown = output_is_terminal(output) ? malloc(size * VISIBLE_GROWTH) : NULL;

	if (shown)
		write_raw(output, shown, visible_copy(shown, at, size));
	else
		write_raw(output, at, size);
	free(shown);
}

static void
flush_buffer(struct output *output)
{
	write_all(output, output->buffer, output->used);
	output->used = 0;
}

/* Makes room for `size` more bytes, which are at most OUTPUT_BUFFER where there is a file. */
static void
make_room(struct output *output, size_t size)
{
	size_t room = output->room;
	char *grown;

	if (output->room - output->used >= size)
		return;
	if (!output->memory) {
		flush_buffer(output);
		return;
	}
	while (room < output->used + size)
		room += room / 2;
	grown = realloc(output->buffer, room);
	if (!grown) {
		output_fail(output);
		output->used = 0;
		return;
	}
	output->buffer = grown;
	output->room = room;
}

void
output_bytes(struct output *output, const void *data, size_t size)
{
	if (size > output->room - output->used) {
		if (!output->memory && size >= OUTPUT_BUFFER) {
			flush_buffer(output);
			write_all(output, data, size);
			return;
		}
		make_room(output, size);
		if (size > output->room - output->used)
			return;
	}
	memcpy(output->buffer + output->used, data, size);
	output->used += size;
}

void
output_clear(struct output *output)
{
	output->used = 0;
}

void
output_append(struct output *output, const struct output *memory)
{
	output_bytes(output, memory->buffer, memory->used);
	if (output->failure == 0)
		output->failure = memory->failure;
}

bool
output_can_patch(const struct output *output)
{
	return output->target != NULL;
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

void
output_patch(struct output *output, const void *data, size_t size)
{
	assert(!output->digest);
	flush_buffer(output);
	output->synced = false;
	if (output->failure == 0)
		output->failure = write_at(output->fd, data, size, 0);
}

static int
failed(const struct output *output, int failure, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot write %s: %s", output_name(output), strerror(failure));
}

/* The system lets one thread write to a file at a time, and the others wait for it with their processors busy. Here they
 * sleep. */
static pthread_mutex_t one_writes = PTHREAD_MUTEX_INITIALIZER;

static int
write_in_turn(struct output *output, const void *data, size_t size, uint64_t at, bool stays,
              struct portolan_error *error)
{
	uint64_t from = 0, to = 0;
	int failure;

	assert(!output->digest && !output->synced);
	pthread_mutex_lock(&one_writes);
	failure = write_at(output->fd, data, size, at);
	if (stays) {
		output->from = output->unhurried == 0 || at < output->from ? at : output->from;
		output->to = output->unhurried == 0 || at + size > output->to ? at + size : output->to;
	}
	if (stays && is_time_to_hurry(output, size)) {
		from = output->from;
		to = output->to;
	}
	pthread_mutex_unlock(&one_writes);
	if (to > from)
		hurry(output, from, to - from);
	return failure ? failed(output, failure, error) : 0;
}

int
output_write_at(struct output *output, const void *data, size_t size, uint64_t at, struct portolan_error *error)
{
	return write_in_turn(output, data, size, at, true, error);
}

int
output_write_draft_at(struct output *output, const void *data, size_t size, uint64_t at, struct portolan_error *error)
{
	return write_in_turn(output, data, size, at, false, error);
}

int
output_flush(struct output *output, struct portolan_error *error)
{
	flush_buffer(output);
	return output_check(output, error);
}

int
output_read_at(const struct output *output, void *data, size_t size, uint64_t at, struct portolan_error *error)
{
	char *to = data;

	while (size > 0) {
		ssize_t got = pread(output->fd, to, size, (off_t)at);

		if (got == 0 || (got < 0 && errno != EINTR))
			return failed(output, got == 0 ? EIO : errno, error);
		if (got > 0) {
			to += got;
			at += (uint64_t)got;
			size -= (size_t)got;
		}
	}
	return 0;
}

void
output_cut(struct output *output, uint64_t bytes)
{
	assert(!output->digest);
	output->synced = false;
	if (ftruncate(output->fd, (off_t)bytes) < 0 && output->failure == 0)
		output->failure = errno;
}

int
output_check(const struct output *output, struct portolan_error *error)
{
	return output->failure ? failed(output, output->failure, error) : 0;
}

void
output_text(struct output *output, const char *text)
{
	output_bytes(output, text, strlen(text));
}

void
output_printf(struct output *output, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		output_fail(output);
		return;
	}
	output_bytes(output, text, (size_t)length);
	free(text);
}

void
output_fail(struct output *output)
{
	if (output->failure == 0)
		output->failure = ENOMEM;
}

char *
output_reserve(struct output *output, size_t size)
{
	assert(size <= OUTPUT_RESERVE_MAX);
	make_room(output, size);
	return output->buffer + output->used;
}

void
output_commit(struct output *output, const char *end)
{
	assert(end >= output->buffer + output->used && end <= output->buffer + output->room);
	output->used = (size_t)(end - output->buffer);
}

/* Gives a nameless file a temporary name beside the target. */
static int
name_temporary(struct output *output)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", output->fd);
	for (unsigned attempt = 0; attempt < 100; attempt++) {
		if (asprintf(&output->temporary, "%s.%d-%u", output->target, (int)getpid(), attempt) < 0) {
			output->temporary = NULL;
			return ENOMEM;
		}
		if (linkat(AT_FDCWD, path, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0) {
			unfinished_add(output->temporary);
			return 0;
		}
		forget_temporary(output);
		if (errno != EEXIST)
			return errno;
	}
	return EEXIST;
}

/* Syncs the file to the disk. Returns 0, or the errno. */
static int
sync_file(int fd)
{
	return fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP ? errno : 0;
}

/* Syncs the folder as well, so that after a power cut the file has its name. The new file is whole in any case. */
static void
sync_folder(char *path)
{
	char *slash = strrchr(path, '/');
	int fd;

	if (slash)
		slash[1] = '\0';
	fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

void
output_sync(struct output *output)
{
	flush_buffer(output);
	if (output->failure != 0 || !output->target || output->synced)
		return;
	output->failure = sync_file(output->fd);
	output->synced = output->failure == 0;
}

/* Are the files, when they have their names, in one folder? False if that is not certain. */
static bool
is_beside(const struct output *one, const struct output *other)
{
	const char *a = one->target, *b = other->target;
	const char *end_a = a ? strrchr(a, '/') : NULL, *end_b = b ? strrchr(b, '/') : NULL;

	if (!a || !b || !end_a || !end_b)
		return a && b && !end_a && !end_b;
	return end_a - a == end_b - b && memcmp(a, b, (size_t)(end_a - a)) == 0;
}

/* A file that was synced early gets its mode now. If a power cut takes that back, only the user may open the file. */
static int
finish(struct output *output, bool with_folder, struct portolan_error *error)
{
	int failure, code = 0;

	flush_buffer(output);
	if (output->failure == 0 && output->target && fchmod(output->fd, output->mode) < 0)
		output->failure = errno;
	output_sync(output);
	failure = output->failure;
	if (failure == 0 && output->target && !output->temporary)
		failure = name_temporary(output);
	if (output->path && close(output->fd) < 0 && failure == 0)
		failure = errno;
	output->fd = -1;
	if (failure == 0 && output->temporary) {
		if (rename(output->temporary, output->target) < 0) {
			failure = errno;
		} else {
			forget_temporary(output);
			if (with_folder)
				sync_folder(output->target);
			written_add(output->path);
		}
	}
	if (failure != 0)
		code = failed(output, failure, error);
	output_discard(output);
	return code;
}

int
output_finish(struct output *output, struct portolan_error *error)
{
	return finish(output, true, error);
}

int
output_finish_before(struct output *output, const struct output *last, struct portolan_error *error)
{
	return finish(output, !is_beside(output, last), error);
}

int
output_end(struct output *output, int code, struct portolan_error *error)
{
	if (code >= 0)
		return output_finish(output, error);
	output_discard(output);
	return code;
}

/* Writes the sequence past the buffer: on a terminal, control characters in the buffer are made visible. */
void
output_style(struct output *output, enum style style_wanted)
{
	const char *sequence = output->path || output->memory ? "" : style(output->fd, style_wanted);

	if (!*sequence)
		return;
	flush_buffer(output);
	if (output->failure == 0 && write(output->fd, sequence, strlen(sequence)) < 0)
		output->failure = errno;
}

bool
output_is_terminal(const struct output *output)
{
	return isatty(output->fd);
}

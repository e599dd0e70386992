/*
 * output.c: writes what a command puts out through a buffer, to standard output or a file (whole_file.h), and keeps the
 * first error. A closed pipe ends the program as it ends any filter: by SIGPIPE, without a message.
 */
#include "output.h"

#include "claims.h"

#include <portolan/error.h>
#include <visible.h>

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_BUFFER (1u << 20)

void
output_discard(struct output *output)
{
	whole_file_discard(&output->file);
	free(output->buffer);
	*output = (struct output){.file.fd = -1};
}

static int
failed(const struct output *output, int failure, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot write %s: %s",
	                 output->file.path ? output->file.path : "standard output", strerror(failure));
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

	*output = (struct output){.file.fd = -1};
	if (refused < 0)
		return refused;
	*output = (struct output){.file.fd = STDOUT_FILENO, .room = OUTPUT_BUFFER};
	output->buffer = malloc(OUTPUT_BUFFER);
	if (!output->buffer)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (path && strcmp(path, "-") != 0) {
		if (whole_file_open(&output->file, path) < 0) {
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
	*output = (struct output){.file.fd = -1, .memory = true, .buffer = malloc(room), .room = room};
	return output->buffer ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

static void
write_raw(struct output *output, const char *at, size_t size)
{
	output->file.synced = output->file.synced && size == 0;
	while (size > 0 && output->failure == 0) {
		ssize_t written = write(output->file.fd, at, size);

		if (written < 0 && errno != EINTR)
			output->failure = errno;
		if (written > 0) {
			if (output->digest)
				digest_add(output->digest, at, (size_t)written);
			whole_file_hurry(&output->file, (size_t)written);
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
	return output->file.target != NULL;
}

void
output_patch(struct output *output, const void *data, size_t size)
{
	assert(!output->digest);
	flush_buffer(output);
	output->file.synced = false;
	if (output->failure == 0)
		output->failure = whole_file_write_at(&output->file, data, size, 0);
}

int
output_write_at(struct output *output, const void *data, size_t size, uint64_t at, struct portolan_error *error)
{
	int failure;

	assert(!output->digest && !output->file.synced);
	failure = whole_file_write_at(&output->file, data, size, at);
	return failure ? failed(output, failure, error) : 0;
}

int
output_write_draft_at(struct output *output, const void *data, size_t size, uint64_t at, struct portolan_error *error)
{
	int failure;

	assert(!output->digest && !output->file.synced);
	failure = whole_file_write_draft_at(&output->file, data, size, at);
	return failure ? failed(output, failure, error) : 0;
}

int
output_read_at(const struct output *output, void *data, size_t size, uint64_t at, struct portolan_error *error)
{
	int failure = whole_file_read_at(&output->file, data, size, at);

	return failure ? failed(output, failure, error) : 0;
}

void
output_cut(struct output *output, uint64_t bytes)
{
	assert(!output->digest);
	output->file.synced = false;
	if (ftruncate(output->file.fd, (off_t)bytes) < 0 && output->failure == 0)
		output->failure = errno;
}

int
output_flush(struct output *output, struct portolan_error *error)
{
	flush_buffer(output);
	return output_check(output, error);
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

void
output_sync(struct output *output)
{
	flush_buffer(output);
	if (output->failure == 0)
		output->failure = whole_file_sync(&output->file);
}

static int
finish(struct output *output, bool with_folder, struct portolan_error *error)
{
	int failure, code = 0;

	flush_buffer(output);
	failure = output->failure ?: whole_file_finish(&output->file, with_folder);
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
	return finish(output, !whole_file_is_beside(&output->file, &last->file), error);
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
	const char *sequence = output->file.path || output->memory ? "" : style(output->file.fd, style_wanted);

	if (!*sequence)
		return;
	flush_buffer(output);
	if (output->failure == 0 && write(output->file.fd, sequence, strlen(sequence)) < 0)
		output->failure = errno;
}

bool
output_is_terminal(const struct output *output)
{
	return isatty(output->file.fd);
}

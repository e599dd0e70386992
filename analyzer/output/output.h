/*
 * output.h: what every command writes its results to: standard output, or a file that appears only when it is complete.
 *
 * Errors are sticky: write everything, then ask output_finish() once. Nothing is lost silently: a full disk or a
 * closed pipe is its error. One owner, one thread.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "base/style.h"

#include <portolan/portolan.h>

#include <stdbool.h>
#include <sys/types.h>

struct output {
	const char *path; /* as the user gave it; NULL: standard output */
	char *target;     /* what the finished file is renamed to; NULL: written in place */
	char *temporary;
	mode_t mode; /* that of the file that is replaced, or as the umask says */
	char *buffer;
	size_t used, room;
	bool memory; /* no file: the buffer grows */
	int fd;
	int failure; /* errno of the first write that failed; 0: none */
};

/* path NULL or "-": standard output. A path that exists and is no regular file (a pipe, a device) is written in place;
 * any other is written to a temporary file beside it, which only the user may open until it is finished. On success
 * call output_finish() or output_discard(). */
int output_open(struct output *output, const char *path, struct portolan_error *error);

/* Says why `path` cannot be written, by errno: PORTOLAN_E_SYSTEM. */
int output_refused(const char *path, struct portolan_error *error);

/* An output that stays in `buffer`, `used` bytes. Reuse it with output_clear(); output_discard() frees it. */
int output_open_memory(struct output *output, size_t room, struct portolan_error *error);
void output_clear(struct output *output);

/* Adds the contents of another output, of memory, and its failure if it had one. */
void output_append(struct output *output, const struct output *memory);

/* Replaces the first bytes of the output. A file can do this, a pipe cannot. */
bool output_can_patch(const struct output *output);
void output_patch(struct output *output, const void *data, size_t size);

/* If output_can_patch(): writes at a place in the file, unbuffered, from any thread. */
int output_write_at(const struct output *output, const void *data, size_t size, uint64_t at,
                    struct portolan_error *error);

/* Writes the buffer, before another program gets `fd`. */
int output_flush(struct output *output, struct portolan_error *error);

/* Reads what output_write_at() has written; cuts the file. */
int output_read_at(const struct output *output, void *data, size_t size, uint64_t at, struct portolan_error *error);
void output_cut(struct output *output, uint64_t bytes);

/* The error that output_finish() would give now, or 0; long writers should ask now and then. */
int output_check(const struct output *output, struct portolan_error *error);

void output_bytes(struct output *output, const void *data, size_t size);
void output_text(struct output *output, const char *text);
__attribute__((format(printf, 2, 3))) void output_printf(struct output *output, const char *format, ...);

/* Text that follows on standard output has this style; does nothing in a file, which programs may read. */
void output_style(struct output *output, enum style style);

/* At least `size` (≤ OUTPUT_RESERVE_MAX) bytes to write at; tell how far with output_commit(). */
#define OUTPUT_RESERVE_MAX 65536u
char *output_reserve(struct output *output, size_t size);
void output_commit(struct output *output, const char *end);

/* Makes output_finish() fail for lack of memory. */
void output_fail(struct output *output);

/* Writes the buffer, syncs the file to the disk, and gives it its name, with the mode of the file that had the name.
 * PORTOLAN_E_SYSTEM: nothing is left of the file. Frees everything. */
int output_finish(struct output *output, struct portolan_error *error);
void output_discard(struct output *output); /* after a failure elsewhere; may be called after output_finish() */

/* Ends an output, of whose writing `code` is the result: a negative code discards it, and is returned; else it is
 * finished. */
int output_end(struct output *output, int code, struct portolan_error *error);

bool output_is_terminal(const struct output *output);

#endif

/*
 * output.h: what every command writes its results to: standard output, or a file that appears only when it is complete.
 *
 * Errors are sticky: write everything, then ask output_finish() once. Nothing is lost silently: a full disk or a
 * closed pipe is its error. One owner, one thread.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "base/style.h"
#include "digest.h"
#include "whole_file.h"

#include <portolan/portolan.h>

#include <stdbool.h>

struct output {
	struct whole_file file;
	char *buffer;
	size_t used, room;
	bool memory; /* no file: the buffer grows */
	int failure; /* errno of the first write that failed; 0: none */
	/* The caller's: what is written in order is added to it; NULL: it is not. Nothing can then be written out of
	 * order: no output_patch(), output_write_at(), output_write_draft_at() or output_cut(). */
	struct digest *digest;
};

/* path NULL or "-": standard output. A path that exists and is no regular file (a pipe, a device) is written in place;
 * any other is written to a temporary file beside it, which only the user may open until it is finished. On success
 * call output_finish() or output_discard(). */
int output_open(struct output *output, const char *path, struct portolan_error *error);

/* Says why `path` cannot be written, by errno: PORTOLAN_E_SYSTEM. */
int output_refused(const char *path, struct portolan_error *error);

/* Opens an output that stays in memory: `used` bytes in `buffer`. Reuse it with output_clear(); output_discard() frees
 * it. */
int output_open_memory(struct output *output, size_t room, struct portolan_error *error);
void output_clear(struct output *output);

/* Appends the contents of `memory`, an output in memory; if that has failed, so has this output. */
void output_append(struct output *output, const struct output *memory);

/* Can the first bytes of the output be replaced (output_patch())? Those of a file can, those of a pipe cannot. */
bool output_can_patch(const struct output *output);
void output_patch(struct output *output, const void *data, size_t size);

/* Both write at a place in the file, past the buffer, from several threads, while none writes in order; only where
 * output_can_patch(), and before output_sync(). What output_write_at() writes stays, and the system writes it to the
 * disk while the command goes on. output_write_draft_at() is for bytes that will be written over. */
int output_write_at(struct output *output, const void *data, size_t size, uint64_t at, struct portolan_error *error);
int output_write_draft_at(struct output *output, const void *data, size_t size, uint64_t at,
                          struct portolan_error *error);

/* Syncs the file to the disk as it is. output_finish() then syncs it again only if this module wrote to it since; no
 * other program may. output_finish() also reports what failed here. */
void output_sync(struct output *output);

/* Writes what is in the buffer, before another program writes to `file.fd`. */
int output_flush(struct output *output, struct portolan_error *error);

/* Reads what output_write_at() or output_write_draft_at() has written. output_cut() cuts the file to so many bytes. */
int output_read_at(const struct output *output, void *data, size_t size, uint64_t at, struct portolan_error *error);
void output_cut(struct output *output, uint64_t bytes);

/* The error that output_finish() would return now, or 0. Code that writes much should ask now and then. */
int output_check(const struct output *output, struct portolan_error *error);

void output_bytes(struct output *output, const void *data, size_t size);
void output_text(struct output *output, const char *text);
__attribute__((format(printf, 2, 3))) void output_printf(struct output *output, const char *format, ...);

/* Gives this style to the text that follows on standard output. In a file, which programs may read, it does nothing. */
void output_style(struct output *output, enum style style);

/* Gives room in the buffer for at least `size` (≤ OUTPUT_RESERVE_MAX) bytes. The caller writes there, and tells
 * output_commit() where the text ends. */
#define OUTPUT_RESERVE_MAX 65536u
char *output_reserve(struct output *output, size_t size);
void output_commit(struct output *output, const char *end);

/* Makes output_finish() fail for lack of memory. */
void output_fail(struct output *output);

/* Writes the buffer, syncs the file to the disk, and gives it its name, with the mode of the file that had the name.
 * PORTOLAN_E_SYSTEM: nothing is left of the file. Frees everything. */
int output_finish(struct output *output, struct portolan_error *error);

/* The same for a file beside `last`, which output_finish() ends later: that syncs their folder, so this does not. (If
 * `last` fails, a power cut may take the name back.) If `last` is in another folder, this is output_finish(). */
int output_finish_before(struct output *output, const struct output *last, struct portolan_error *error);

void output_discard(struct output *output); /* after a failure elsewhere; may be called after output_finish() */

/* Ends an output. A negative `code` (writing it has failed) discards the output, and is returned; else the output is
 * finished. */
int output_end(struct output *output, int code, struct portolan_error *error);

bool output_is_terminal(const struct output *output);

#endif

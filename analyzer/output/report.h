/*
 * report.h: writes the results of a command that are no table, member by member: as JSON for programs (--json), or,
 * from the same calls, as text for people. The server of the live page writes its answers with it, too.
 *
 *     report_open() → report_begin(report, NULL) → members → report_end(report) → report_close()
 *
 * A member's key is NULL in a list and for the document itself. Text has a line for each member of the document, with
 * the member's contents in the same line, and tables (output/table.h) with aligned columns.
 *
 * Any text may be given. JSON is UTF-8: other bytes are taken for Latin-1, from which they can be recovered. Errors are
 * sticky, as those of the output are. One owner, one thread.
 */
#ifndef REPORT_H
#define REPORT_H

#include "output.h"

#include <jansson.h>
#include <stdint.h>

struct report {
	struct output output;
	bool as_text;
	/* private */
	unsigned indent, level; /* indent: blanks for each level of JSON; 0: all in one line */
	uint64_t lists;         /* bit i: a list is open at level i */
	bool is_first;          /* the open list or object is still empty */
	size_t column;          /* of text: the column that the line has reached */
};

/* JSON to a file, or standard output for NULL. On success call report_close() or report_discard(). */
int report_open(struct report *report, const char *path, unsigned indent, struct portolan_error *error);
int report_open_text(struct report *report, const char *path, struct portolan_error *error);
/* Begins a report as JSON in one line, in report->output, an output in memory that the caller passes to
 * output_discard(). */
int report_open_memory(struct report *report, struct portolan_error *error);
int report_close(struct report *report, struct portolan_error *error);
void report_discard(struct report *report);

void report_begin(struct report *report, const char *key); /* an object */
void report_begin_list(struct report *report, const char *key);
void report_end(struct report *report);

void report_text(struct report *report, const char *key, const char *text); /* NULL: null */
void report_bytes(struct report *report, const char *key, const char *text, size_t length);
void report_whole(struct report *report, const char *key, uint64_t value);
void report_real(struct report *report, const char *key, double value); /* not finite: null, as JSON has no NaN */
void report_flag(struct report *report, const char *key, bool value);
void report_null(struct report *report, const char *key);

void report_json(struct report *report, const char *key, const json_t *value); /* a value that was parsed from JSON */

/* Adds several whole numbers; text has them in one line: REPORT_WHOLES(report, {"examples", n}, {"epochs", e}). */
struct report_whole {
	const char *key;
	uint64_t value;
};
void report_wholes(struct report *report, const struct report_whole *list, size_t count);
#define REPORT_WHOLES(report, ...)                                                                                     \
	report_wholes(report, (const struct report_whole[]){__VA_ARGS__},                                              \
	              sizeof((const struct report_whole[]){__VA_ARGS__}) / sizeof(struct report_whole))

/* Writes a JSON string from text of any bytes, for code that writes JSON without a report. */
void report_print_text(struct output *output, const char *text, size_t length);

/* A line that only the text has, unchanged. */
__attribute__((format(printf, 2, 3))) void report_line(struct report *report, const char *format, ...);

#endif

/*
 * rows.h: a table written row by row, in whichever format was asked for, or as a part of a JSON report.
 *
 *     rows_open() → for each row, its values in the order of the columns → rows_close()
 *     rows_begin_list() → the same → rows_end_list()
 *
 * Empty is nothing in CSV and TSV, null in JSON; in npy NaN, -1 or an empty text, as the column's kind says. Errors are
 * sticky, as those of the output are. One owner, one thread.
 */
#ifndef ROWS_H
#define ROWS_H

#include "output.h"

#include <jansson.h>
#include <stdint.h>

/* As rows_format_names; JSON is one array of objects. ROWS_LIST: of a report. */
enum rows_format { ROWS_CSV, ROWS_TSV, ROWS_JSONL, ROWS_NPY, ROWS_JSON, ROWS_LIST };
extern const char *const rows_format_names[]; /* ends with NULL */

enum rows_kind {
	ROWS_TEXT,
	ROWS_WHOLE, /* npy: "<u8", or "<i8" where one is empty */
	ROWS_REAL,
};

struct rows_column {
	const char *name;
	enum rows_kind kind; /* of its values; a column of texts takes whole numbers too */
};

struct rows {
	enum rows_format format;
	const struct rows_column *columns; /* the caller's, until the end */
	size_t column_count;
	struct output output;
	/* private */
	size_t at; /* the column that is next */
	uint64_t count;
	json_t *list, *object; /* of a report */
	uint64_t *cells;       /* of npy: numbers, and where texts begin */
	size_t cell_count, cell_room;
	size_t *widths; /* of npy's texts; of whole numbers: is one empty? */
	struct output texts;
};

/* On success call rows_close(). PORTOLAN_E_INVALID: npy on a terminal. */
int rows_open(struct rows *rows, const char *path, enum rows_format format, const struct rows_column *columns,
              size_t column_count, struct portolan_error *error);
int rows_close(struct rows *rows, struct portolan_error *error);

/* As a list of objects, for a report. A new reference; NULL: out of memory. */
void rows_begin_list(struct rows *rows, const struct rows_column *columns, size_t column_count);
json_t *rows_end_list(struct rows *rows);

void rows_text(struct rows *rows, const char *text);                 /* NULL: empty; in JSON as report_text() has it */
void rows_bytes(struct rows *rows, const char *text, size_t length); /* UTF-8 */
void rows_whole(struct rows *rows, uint64_t value);
void rows_real(struct rows *rows, double value); /* not finite: empty */
void rows_empty(struct rows *rows);

#endif

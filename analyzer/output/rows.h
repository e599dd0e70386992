/*
 * rows.h: a table written row by row: a file in whichever format was asked for, or a part of a report.
 *
 *     rows_open()  → for each row, its values in the order of the columns → rows_close()
 *     rows_begin() → the same                                             → rows_end()
 *
 * Empty is nothing in CSV and TSV, null in JSON, "-" for people; in npy NaN, -1 or an empty text, as the column's kind
 * says. Errors are sticky, as those of the output are. One owner, one thread.
 */
#ifndef ROWS_H
#define ROWS_H

#include "base/ids.h"
#include "table.h"

/* As rows_format_names; up to JSONL, values are written as they come. ROWS_ALIGNED: columns for people. ROWS_REPORT: a
 * list of objects in a JSON report. */
#define rows_format table_format
#define ROWS_CSV TABLE_CSV
#define ROWS_TSV TABLE_TSV
#define ROWS_JSONL TABLE_JSONL
#define ROWS_NPY TABLE_NPY
#define ROWS_ALIGNED TABLE_ALIGNED
#define ROWS_REPORT ((enum table_format)5)
extern const char *const rows_format_names[]; /* as users say them: the first four; ends with NULL */

enum rows_kind {
	ROWS_TEXT,
	ROWS_WHOLE, /* npy: "<u8", or "<i8" where one is empty */
	ROWS_REAL,
};

struct rows_column {
	const char *name;
	enum rows_kind kind; /* of its values; a column of texts takes whole numbers too */
};
#define ROWS_COUNT(columns) (sizeof(columns) / sizeof((columns)[0]))

struct rows {
	enum rows_format format;
	const struct rows_column *columns; /* the caller's, until the end */
	size_t column_count;
	/* private */
	struct output *output; /* where rows go: `file`, or the caller's */
	struct output file;
	struct report *report;
	size_t at;             /* the column that is next */
	bool continues;        /* a line of the caller's */
	bool is_excerpt;       /* rows_skip_middle() left rows out */
	bool for_spreadsheets; /* CSV: see text_csv_for_spreadsheets() */
	uint64_t count;
	struct rows_kept *kept; /* of npy and aligned columns: rows that wait until the head is known */
};

/* On success call rows_close(). PORTOLAN_E_INVALID: npy on a terminal. */
int rows_open(struct rows *rows, const char *path, enum rows_format format, const struct rows_column *columns,
              size_t column_count, struct portolan_error *error);
int rows_close(struct rows *rows, struct portolan_error *error);
/* PORTOLAN_E_INVALID: a terminal, which npy is not for. */
int rows_check_npy(const struct output *output, struct portolan_error *error);

/* Aligned columns, for people, on an output of the caller's. On a terminal that is too narrow for all columns, the
 * others follow below the first ones. If rows are left out, and in very long tables, a last line counts these columns
 * instead. */
void rows_begin_aligned(struct rows *rows, struct output *output, const struct rows_column *columns,
                        size_t column_count);
void rows_end_aligned(struct rows *rows);

/* An excerpt for people: the first and the last ROWS_SHOWN rows of a long table. Call rows_skip_middle() before row
 * `at` of `count`: it returns the row to write next, after a row with "…" if it leaves rows out. If it did,
 * rows_note_excerpt() says on stderr how many rows the table has ("examples"); call it when the table is written. */
#define ROWS_SHOWN 10
size_t rows_skip_middle(struct rows *rows, size_t at, size_t count);
void rows_note_excerpt(const struct rows *rows, size_t count, const char *what);

/* As a list of objects in JSON, as aligned columns in text. */
void rows_begin(struct rows *rows, struct report *report, const char *key, const struct rows_column *columns,
                size_t column_count);
void rows_end(struct rows *rows);

/* Rows for an output of the caller's, in CSV, TSV or JSON lines; no function ends them. With `continues`, the values
 * follow those of a line that the caller begins and ends. */
struct rows rows_for(struct output *output, enum rows_format format, const struct rows_column *columns,
                     size_t column_count, bool continues);
void rows_head(struct rows *rows);

void rows_text(struct rows *rows, const char *text);                 /* NULL: empty; in JSON as report_text() has it */
void rows_bytes(struct rows *rows, const char *text, size_t length); /* UTF-8 */
void rows_whole(struct rows *rows, uint64_t value);
void rows_real(struct rows *rows, double value); /* not finite: empty */
/* Infinity is "inf"; JSON has no infinity, and gets 1e999, which readers take for it. NaN: empty. */
void rows_real_or_infinite(struct rows *rows, double value);
void rows_empty(struct rows *rows);

/* An id, and its column. */
struct rows_column rows_id_column(const struct ids *ids, const char *name);
void rows_id(struct rows *rows, const struct ids *ids, uint32_t index);

#endif

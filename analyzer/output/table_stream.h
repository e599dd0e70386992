/*
 * table_stream.h: writes, part by part, a table that is too long for memory; for `portolan metrics` and `dynamics`.
 * Several threads make parts at the same time; table_stream_deliver() writes the finished parts in the order of their
 * rows.
 *
 * A part is a table with the same columns. It is made in a slot, as bytes of the chosen format. For people it is made
 * as records, of which only the first and the last of the whole table are kept. The head of npy says how many rows
 * follow: if the rows were not counted before, the head is written again at the end.
 */
#ifndef TABLE_STREAM_H
#define TABLE_STREAM_H

#include "table.h"
#include "table_npy.h"

struct table_stream {
	struct output *output;
	enum table_format format;
	struct table_record record; /* the records, for npy and for aligned columns */
	uint64_t head;              /* bytes before the first row */
	/* private */
	const struct table_column *columns;
	struct output *slots;
	unsigned slot_count;
	/* rows: as table_stream_begin() was told; delivered: rows that came, where people read them */
	uint64_t rows, delivered;
	char *ends; /* for people: the records of the first and the last rows of the table */
};

/* `table` only says the columns of all parts, with their types and widths; it needs no rows. `slots`: how many parts
 * may be in the making at once. On success call table_stream_free(). PORTOLAN_E_MEMORY. */
int table_stream_init(struct table_stream *stream, const struct table *table, struct output *output,
                      enum table_format format, unsigned slots, struct portolan_error *error);
void table_stream_free(struct table_stream *stream); /* of {0}: nothing */

/* Writes the head. `rows`: how many rows there will be. */
int table_stream_begin(struct table_stream *stream, uint64_t rows, struct portolan_error *error);

/* Makes a part in a slot: `count` rows of the table `part`, from `first` on. Any thread may call it, each with slots of
 * its own. */
int table_stream_make(struct table_stream *stream, unsigned slot, const struct table *part, size_t first, size_t count,
                      struct portolan_error *error);
/* Makes a part of n records instead. For text formats they are read, so that their texts must be "|S". */
int table_stream_make_of(struct table_stream *stream, unsigned slot, const char *records, size_t n,
                         struct portolan_error *error);

int table_stream_deliver(struct table_stream *stream, unsigned slot, struct portolan_error *error);

/* Ends the table, which had `rows` rows: writes the head of npy again if table_stream_begin() was told another number,
 * or shows people the first and last rows. `what` ("examples") names the rows for people. */
int table_stream_end(struct table_stream *stream, uint64_t rows, const char *what, struct portolan_error *error);

#endif

/*
 * record.h: how a piece of a batch lies in the ring: a header, then one array for each column, each 8-byte aligned.
 *
 * Arrays are laid out for `capacity` rows and filled for `rows` of them: rows that are refused are closed up in place.
 * `correct` is a byte here, and becomes a bit when a frame is made of it. String ids are their lengths and,
 * at the end of the record, their bytes end to end.
 */
#ifndef CLIENT_RECORD_H
#define CLIENT_RECORD_H

#include <portolan/wire.h>

/* Limits of one record, which make one fit into the smallest ring and into one frame. */
#define RECORD_MAX_ROWS 4096u
#define RECORD_MAX_TEXT 65536u /* bytes of string ids; 257 strings always fit */

enum record_kind { RECORD_BATCH = 1, RECORD_END_EPOCH };

/* The columns of a record, in the order of their arrays; a set of them is a mask. */
enum record_column {
	RECORD_GOLD_PROB,
	RECORD_MARGIN,
	RECORD_OTHER_SQ,
	RECORD_ENTROPY,
	RECORD_MAX_PROB,
	RECORD_PREDICTED,
	RECORD_GOLD,
	RECORD_CORRECT, /* the only one that is not four bytes wide */
	RECORD_COLUMNS,
};
#define RECORD_BIT(column) (1u << (column))
#define RECORD_HAS(set, column) (((set)&RECORD_BIT(column)) != 0)

struct record {
	enum record_kind kind;
	enum wire_id_kind id_kind;
	uint32_t columns; /* set */
	uint32_t epoch;
	uint32_t capacity, rows;
	uint32_t text_capacity, text_bytes;
};

/* Bytes of a record with these header fields (kind, id_kind, columns, capacity, text_capacity). */
size_t record_size(const struct record *record);

uint64_t *record_ids(const struct record *record);                           /* WIRE_ID_INT */
uint8_t *record_id_lengths(const struct record *record);                     /* WIRE_ID_STR */
uint8_t *record_id_text(const struct record *record);                        /* WIRE_ID_STR */
void *record_column(const struct record *record, enum record_column column); /* float, int32_t or (correct) uint8_t */

/* Takes out the rows with leave_out[r] != 0, and sets rows and text_bytes accordingly. */
void record_compact(struct record *record, const uint8_t *leave_out);

#endif

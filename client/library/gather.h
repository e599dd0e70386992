/*
 * gather.h: records of the ring become the batch of one frame: records with the same epoch, columns and kind of id are
 * put together until the frame is large enough. The consumer's side; not thread-safe; memory is taken once.
 */
#ifndef CLIENT_GATHER_H
#define CLIENT_GATHER_H

#include "record.h"

#define GATHER_ROWS 4096u
#define GATHER_TEXT RECORD_MAX_TEXT
/* No frame made of a gathered batch is larger: columns of four bytes and ids of eight, strings, names. */
#define GATHER_MAX_FRAME (GATHER_ROWS * (4u * RECORD_COLUMNS + 8u) + GATHER_TEXT + 1024u)

struct gather {
	uint8_t *memory;
	uint32_t rows, text_bytes, columns, epoch;
	enum wire_id_kind id_kind;
	uint64_t id_bits; /* all ids, or-ed: tells whether they fit in four bytes */
	uint64_t *ids;    /* narrowed in place to u4 when all fit */
	uint8_t *lengths; /* of strings; their text follows when the batch is made */
	uint8_t *text;
	uint8_t *column[RECORD_COLUMNS];
	uint8_t *bits; /* `correct`, packed */
};

int gather_init(struct gather *gather, struct portolan_error *error);
void gather_deinit(struct gather *gather);

/* Adds a batch record; false: it does not belong to what is gathered, or there is no room (never so when empty). */
bool gather_add(struct gather *gather, const struct record *record);

/* The gathered rows (at least one) as a batch without a sequence number; it points into `gather` until gather_clear().
 */
void gather_batch(struct gather *gather, struct wire_batch *batch);
void gather_clear(struct gather *gather);

#endif

/*
 * layout.h: one observation as a record of bytes: its columns, their order, and their places in the record.
 *
 * Records have one size. They are what npy holds; the text formats are made of them. Little-endian, unaligned:
 *
 *   id               u8, or text: UTF-8 bytes, or UCS-4 characters, filled up with zeros
 *   epoch            u4
 *   gold_prob        f4
 *   correct          u1: 0 or 1 (npy: bool)
 *   margin, other_sq, entropy, max_prob, the user's columns      f4; NaN: absent
 *   predicted, gold  i4; -1: absent
 *   session_number   u4: of the session in the run's table of sessions
 *   session_started  u8: ns since 1970
 *   rank             u4
 *   session          32 hexadecimal digits of the session's id
 */
#ifndef DYNAMICS_LAYOUT_H
#define DYNAMICS_LAYOUT_H

#include "measures/dynamics.h"
#include "output/npy.h"
#include "output/rows.h"

#define LAYOUT_NAMES_MAX 64
#define LAYOUT_FIELDS_MAX (STORE_COLUMN_MAX + 8)
#define LAYOUT_SESSION_DIGITS 32

enum layout_kind {
	LAYOUT_ID,
	LAYOUT_EPOCH,
	LAYOUT_REAL,
	LAYOUT_CORRECT,
	LAYOUT_CLASS,
	LAYOUT_GOLD,
	LAYOUT_SESSION_NUMBER,
	LAYOUT_SESSION_STARTED,
	LAYOUT_RANK,
	LAYOUT_SESSION,
};

enum layout_ids { LAYOUT_INTEGERS, LAYOUT_BYTES, LAYOUT_CHARACTERS };

struct layout_field {
	char name[80];
	enum layout_kind kind;
	unsigned column; /* of the store: its source */
	size_t at;       /* in the record */
};

struct layout_session {
	uint64_t started;
	uint32_t rank;
	char digits[LAYOUT_SESSION_DIGITS];
};

struct layout {
	struct layout_field fields[LAYOUT_FIELDS_MAX];
	size_t count, size; /* bytes of a record */
	uint64_t columns;   /* mask of the store's columns that are read for it; always with STORE_CORRECT, whose
	                       presence shows which examples were observed */
	enum layout_ids ids;
	size_t id_room; /* of an id that is text: bytes, or characters */
	struct layout_session *sessions;
	size_t session_count;
};

/* All columns of the store that layout_init() may need: for dynamics_open(). */
#define LAYOUT_COLUMNS (~UINT64_C(0))

/* id, epoch, and the columns named; without names every signal that the run has in its epochs. `extent`: of ids that are
 * text. PORTOLAN_E_INVALID: the run has no such column. */
int layout_init(struct layout *layout, const struct dynamics *run, const char *const *names, size_t count,
                enum layout_ids ids, const struct text_extent *extent, struct portolan_error *error);
void layout_free(struct layout *layout);

/* The fields as npy has them, and as columns of rows: room for LAYOUT_FIELDS_MAX. */
void layout_npy(const struct layout *layout, struct npy_field *fields);
void layout_columns(const struct layout *layout, struct rows_column *columns);

#endif

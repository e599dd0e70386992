/*
 * layout.h: the table that `portolan dynamics` prints: which columns it has, and, as its rows, the observations of one
 * block of the store (consecutive examples) at one epoch.
 *
 * Its types in npy:
 *
 *   id               u8, or text: UTF-8 bytes, or UCS-4 characters, filled up with zeros
 *   epoch            u4
 *   gold_prob        f4
 *   correct          bool
 *   margin, other_sq, entropy, max_prob, the user's columns      f4; NaN: absent
 *   predicted, gold  i4; -1: absent
 *   session_number   u4: of the session in the run's table of sessions
 *   session_started  u8: ns since 1970
 *   rank             u4
 *   session          S32: hexadecimal digits of the session's id
 */
#ifndef DYNAMICS_LAYOUT_H
#define DYNAMICS_LAYOUT_H

#include "measures/dynamics.h"
#include "output/table.h"

#define LAYOUT_NAMES_MAX 64
#define LAYOUT_FIELDS_MAX (STORE_COLUMN_MAX + 8)

struct layout_session {
	uint32_t number, rank;
	uint64_t started;
	char digits[32];
};
extern const struct table_column layout_session_columns[4]; /* the columns of struct layout_session */

/* Where a column's values come from. */
enum layout_source { LAYOUT_ID, LAYOUT_EPOCH, LAYOUT_STORED, LAYOUT_GOLD, LAYOUT_SESSION };

struct layout_field {
	char name[80];
	enum layout_source source;
	unsigned stored; /* the column of the store; none for id and epoch */
};

struct layout {
	struct layout_field fields[LAYOUT_FIELDS_MAX];
	struct table_column columns[LAYOUT_FIELDS_MAX]; /* the column of each field; without values */
	size_t count;
	/* the store's columns that are read, as a mask; always with STORE_CORRECT, whose presence shows which examples
	 * were observed */
	uint64_t stored;
	struct layout_session *sessions;
	size_t session_count;
};

/* All columns of the store that layout_init() may need: for dynamics_open(). */
#define LAYOUT_COLUMNS (~UINT64_C(0))

/* Lays out id, epoch, and the columns named; without names, every signal that the run has in its epochs. A name for
 * which the run has no column ends the program. Call layout_free(). */
void layout_init(struct layout *layout, const struct dynamics *run, const char *const *names, size_t count);
void layout_free(struct layout *layout);

/* A block of the store at an epoch. `table` has a row for each observation, in the order of the block. Used by one
 * thread. */
struct layout_block {
	struct table table;
	struct store_block block;
	/* private */
	struct store_cursor *cursor;
	struct table_column columns[LAYOUT_FIELDS_MAX];
	struct ids ids;
	uint32_t epoch, *rows, *sessions;
};
void layout_open_block(struct layout_block *block, const struct layout *layout, const struct dynamics *run);
void layout_close_block(struct layout_block *block);

/* Reads a block at an epoch, by its number among those of the run. The caller may shorten the table's order. A failure is
 * returned, so that of several threads' failures the user is told of the first block's. */
int layout_read_block(struct layout_block *block, const struct layout *layout, const struct dynamics *run, size_t index,
                      size_t epoch, struct portolan_error *error);

/* Lists the rows of the block that were observed, ascending, and returns how many. `rows` has room for STORE_CHUNK. */
size_t layout_list_observed(const struct store_block *block, uint32_t *rows);

#endif

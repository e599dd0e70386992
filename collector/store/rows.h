/*
 * rows.h: chooses, for write_append.c and so for the collector and salvages, which rows of a client's batch will be
 * stored and which are refused, and finds or gives the index of each row's example in the run.
 */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "writer.h"

struct append_columns { /* a batch's columns, found by their names */
	uint64_t columns;
	const uint8_t *data[STORE_COLUMN_MAX];
	uint32_t user_count; /* user columns of the run, new ones included */
	char (*user_names)[USER_COLUMN_NAME];
	bool user_new;
};

/* Sets writer->index to the indices of the *count rows to store, giving new ids an index. Unless these are all rows,
 * sets writer->kept to their numbers. Counts the other rows in refused[], by reason. */
int store_rows_choose(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                      const struct store_append *append, const struct append_columns *columns, uint32_t *count,
                      uint64_t refused[STORE_REFUSALS], struct portolan_error *error);

/* rows_values.c: sets kept[] to the rows without a bad value; returns how many there are. Counts the other rows in
 * refused[], by their first bad value. *all: there are no others, and kept[] is as it was. */
uint32_t store_rows_check(const struct append_columns *columns, uint32_t rows, uint32_t *kept, bool *all,
                          uint64_t *refused);

static inline int
store_column_type(unsigned column)
{
	return column_is_bits(column) ? STORE_TYPE_BIT : column_is_float(column) ? STORE_TYPE_F4 : STORE_TYPE_I4;
}

/* Copies the `count` values of a column that stand in the rows kept[…]; or, if count == rows, the first `rows` values. */
void store_rows_fill(uint8_t *to, const uint8_t *from, unsigned column, const uint32_t *kept, uint32_t count,
                     uint32_t rows);

#endif

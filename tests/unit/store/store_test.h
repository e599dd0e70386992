/* store_test.h: what the store's tests share: reading a block in few lines. */
#ifndef STORE_TEST_H
#define STORE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store_fixture.h"

/* Answers 0, or fails the test with the message. */
#define ok(call)                                                                                                       \
	do {                                                                                                           \
		struct portolan_error error = {0};                                                                     \
		int rc_ = (call);                                                                                      \
		if (rc_)                                                                                               \
			fail_msg("%s: %d: %s", #call, rc_, error.message);                                             \
	} while (0)

struct reading {
	struct store_snapshot *snapshot;
	struct store_cursor *cursor;
};

static inline struct reading
reading_open(struct store *store, const char *run, uint64_t columns)
{
	struct store_snapshot_options options = {.epoch_from = 0, .epoch_to = UINT32_MAX, .columns = columns};
	struct reading reading;

	ok(store_snapshot_open(store, run, &options, &reading.snapshot, &error));
	ok(store_cursor_open(reading.snapshot, &reading.cursor, &error));
	return reading;
}

static inline void
reading_block(struct reading *reading, size_t index, struct store_block *block, struct store_ids *ids)
{
	ok(store_cursor_block(reading->cursor, index, block, &error));
	ok(store_cursor_ids(reading->cursor, index, ids, &error));
}

static inline void
reading_close(struct reading *reading)
{
	store_cursor_close(reading->cursor);
	store_snapshot_close(reading->snapshot);
}

/* The number of a user column, or -1. */
static inline int
reading_user_column(const struct store_snapshot *snapshot, const char *name)
{
	const char *known;

	for (unsigned column = STORE_COLUMN_USER; (known = store_snapshot_column_name(snapshot, column)); column++)
		if (strcmp(known, name) == 0)
			return (int)column;
	return -1;
}

static inline bool
has(const struct store_block *block, size_t epoch, unsigned column, uint32_t row)
{
	const struct store_values *values = store_block_values(block, epoch, (enum store_column)column);

	return values->values && values->present[row / 64] >> (row % 64) & 1;
}

static inline float
float_of(const struct store_block *block, size_t epoch, unsigned column, uint32_t row)
{
	return ((const float *)store_block_values(block, epoch, (enum store_column)column)->values)[row];
}

static inline int
bit_of(const struct store_block *block, size_t epoch, unsigned column, uint32_t row)
{
	const uint64_t *words = store_block_values(block, epoch, (enum store_column)column)->values;

	return (int)(words[row / 64] >> (row % 64) & 1);
}

#endif

/*
 * measures_tdds.c: computes TDDS (measures_tdds.h) for the column of that name.
 *
 * A few rows go through all epochs side by side. The columns of all epochs and classes lie as far from one another as
 * the cache is wide, so row by row, no value would stay in the cache until the next row. Where a window of all of them ends
 * at an epoch, nearly always, their sums are added in vector registers; each has its own order, and so the same bits.
 */
#include "measures_tdds.h"

#include "measures.h"

#include <portolan/widths.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define DECAY 0.9
#define LEAST 1e-8 /* ε */
#define ROWS 16u
/* So many rows further is fetched early: each epoch and class is a stream of memory, and processors follow fewer. */
#define AHEAD 64
#define CLASSES_MAX (STORE_COLUMN_MAX - STORE_COLUMN_USER)

/* The state of ROWS rows after some epochs. */
struct rows {
	double logs[CLASSES_MAX][ROWS];          /* ln(p + ε) of the distribution seen last */
	double moves[MEASURES_WINDOW_MAX][ROWS]; /* the last J − 1 moves, in turn (J: epochs of a window) */
	size_t seen[ROWS];                       /* how many distributions were seen */
	double sums[ROWS];
};

/* Adds the window that ends now to the sums of the rows from `from` to `to` − 1: how much its moves vary. */
INLINE void
add_window(struct rows *rows, unsigned from, unsigned to, size_t count)
{
	double mean[ROWS], squares[ROWS];

	for (unsigned r = from; r < to; r++)
		mean[r] = squares[r] = 0;
	for (size_t i = 0; i < count; i++)
		for (unsigned r = from; r < to; r++)
			mean[r] += rows->moves[i][r];
	for (unsigned r = from; r < to; r++)
		mean[r] /= (double)count;
	for (size_t i = 0; i < count; i++)
		for (unsigned r = from; r < to; r++)
			squares[r] += (rows->moves[i][r] - mean[r]) * (rows->moves[i][r] - mean[r]);
	for (unsigned r = from; r < to; r++)
		rows->sums[r] = (1 - DECAY) * rows->sums[r] + DECAY * sqrt(squares[r]);
}

/* The same for all rows, in vector registers. */
FOR_EACH_WIDTH static void
add_windows(struct rows *rows, size_t count)
{
	add_window(rows, 0, ROWS, count);
}

/* Takes the move of row r to its next distribution, which is row `at` of the block; there is none to the first. True: a
 * window ends with it. */
static bool
take_move(struct rows *rows, unsigned r, const struct store_values *values, const unsigned *columns, size_t classes,
          size_t at, size_t window)
{
	double move = classes == 1 ? (double)((const float *)values[columns[0]].values)[at] : 0;
	size_t seen = rows->seen[r]++;

	for (size_t c = 0; classes > 1 && c < classes; c++) {
		double p = (double)((const float *)values[columns[c]].values)[at], now = log(p + LEAST);

		move += fabs(p * (now - rows->logs[c][r]));
		rows->logs[c][r] = now;
	}
	if (seen > 0)
		rows->moves[(seen - 1) % (window - 1)][r] = move;
	return seen > 0 && seen + 1 >= window;
}

/* Takes the moves of all rows, which have seen equally many distributions before, to their next ones: rows `at` to
 * `at` + ROWS − 1 of the block. True: a window ends with them. */
FOR_EACH_WIDTH static bool
take_moves(struct rows *rows, const struct store_values *values, const unsigned *columns, size_t classes, size_t at,
           size_t window)
{
	double moves[ROWS] = {0}, p[ROWS], now[ROWS];
	const size_t seen = rows->seen[0];

	for (size_t c = 0; c < classes; c++) {
		const float *from = (const float *)values[columns[c]].values + at;
		double *before = rows->logs[c];

		__builtin_prefetch(from + AHEAD);
		for (unsigned r = 0; r < ROWS; r++)
			p[r] = (double)from[r];
		if (classes == 1) {
			memcpy(moves, p, sizeof(moves));
			break;
		}
		for (unsigned r = 0; r < ROWS; r++)
			now[r] = log(p[r] + LEAST);
		for (unsigned r = 0; r < ROWS; r++)
			moves[r] += fabs(p[r] * (now[r] - before[r]));
		memcpy(before, now, sizeof(now));
	}
	for (unsigned r = 0; r < ROWS; r++)
		rows->seen[r] = seen + 1;
	if (seen > 0)
		memcpy(rows->moves[(seen - 1) % (window - 1)], moves, sizeof(moves));
	return seen > 0 && seen + 1 >= window;
}

/* Have all rows seen equally many distributions? */
static bool
are_together(const struct rows *rows)
{
	size_t differ = 0;

	for (unsigned r = 1; r < ROWS; r++)
		differ |= rows->seen[r] ^ rows->seen[0];
	return differ == 0;
}

/* Takes the next distributions of the rows of which `complete` has a bit; the first one is row `at` of the block. */
static void
take_epoch(struct rows *rows, uint64_t complete, const struct store_values *values, const unsigned *columns,
           size_t classes, size_t at, size_t window)
{
	const unsigned all = (1u << ROWS) - 1;
	unsigned ended = 0;

	if (complete == all && are_together(rows)) {
		if (take_moves(rows, values, columns, classes, at, window))
			add_windows(rows, window - 1);
		return;
	}
	for (; complete != 0; complete &= complete - 1) {
		unsigned r = (unsigned)__builtin_ctzll(complete);

		ended |= (unsigned)take_move(rows, r, values, columns, classes, at + r, window) << r;
	}
	if (ended == all) {
		add_windows(rows, window - 1);
		return;
	}
	for (; ended != 0; ended &= ended - 1) {
		unsigned r = (unsigned)__builtin_ctz(ended);

		add_window(rows, r, r + 1, window - 1);
	}
}

/* Finds the rows from `at` on that have every class at the epoch: a bit for each. */
static uint64_t
find_complete(const struct store_values *values, const unsigned *columns, size_t classes, size_t at, uint32_t count)
{
	uint64_t complete = (UINT64_C(1) << count) - 1;

	for (size_t c = 0; c < classes; c++) {
		const uint64_t *present = values[columns[c]].present;

		complete &= present ? present[at / 64] >> at % 64 : 0;
	}
	return complete;
}

void
measures_tdds(const struct store_block *block, const unsigned *columns, size_t classes, size_t window, double *tdds)
{
	for (uint32_t at = 0; at < block->rows; at += ROWS) {
		uint32_t count = block->rows - at < ROWS ? block->rows - at : ROWS;
		struct rows rows;

		for (unsigned r = 0; r < ROWS; r++) {
			rows.seen[r] = 0;
			rows.sums[r] = 0;
			for (size_t c = 0; c < classes; c++)
				rows.logs[c][r] = 0;
		}
		for (size_t e = 0; e < block->epoch_count; e++) {
			const struct store_values *values = &block->columns[e * STORE_COLUMN_MAX];
			uint64_t complete = find_complete(values, columns, classes, at, count);

			take_epoch(&rows, complete, values, columns, classes, at, window);
		}
		for (unsigned r = 0; r < count; r++)
			tdds[at + r] = rows.seen[r] >= window ? rows.sums[r] : (double)NAN;
	}
}

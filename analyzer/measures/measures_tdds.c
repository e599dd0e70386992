/*
 * measures_tdds.c: computes TDDS (measures_tdds.h) for the column of that name.
 *
 * A few rows go through all epochs side by side. The columns of all epochs and classes lie as far from one another as
 * the cache is wide, so row by row, no value would stay in the cache until the next row.
 */
#include "measures_tdds.h"

#include "measures.h"

#include <math.h>

#define DECAY 0.9
#define LEAST 1e-8 /* ε */
#define ROWS 16u
#define CLASSES_MAX (STORE_COLUMN_MAX - STORE_COLUMN_USER)

/* The state of ROWS rows after some epochs. */
struct rows {
	double logs[ROWS][CLASSES_MAX];          /* ln(p + ε) of the distribution seen last */
	double moves[ROWS][MEASURES_WINDOW_MAX]; /* the last J − 1 moves, in turn (J: epochs of a window) */
	size_t seen[ROWS];                       /* how many distributions were seen */
	double sums[ROWS];
};

/* How much the moves of one window vary. */
static double
vary(const double *moves, size_t count)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		mean += moves[i];
	mean /= (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (moves[i] - mean) * (moves[i] - mean);
	return sqrt(squares);
}

/* Takes the move to the next distribution of row r; there is none to the first. */
static void
take_move(struct rows *rows, unsigned r, double move, size_t window)
{
	size_t seen = rows->seen[r]++;

	if (seen == 0)
		return;
	rows->moves[r][(seen - 1) % (window - 1)] = move;
	if (seen + 1 >= window)
		rows->sums[r] = (1 - DECAY) * rows->sums[r] + DECAY * vary(rows->moves[r], window - 1);
}

/* Takes the next distribution of row r, which is row `at` of the block, or the move to it. */
static void
take_distribution(struct rows *rows, unsigned r, const struct store_values *values, const unsigned *columns,
                  size_t classes, size_t at, size_t window)
{
	double move = classes == 1 ? (double)((const float *)values[columns[0]].values)[at] : 0;

	for (size_t c = 0; classes > 1 && c < classes; c++) {
		double p = (double)((const float *)values[columns[c]].values)[at], now = log(p + LEAST);

		move += fabs(p * (now - rows->logs[r][c]));
		rows->logs[r][c] = now;
	}
	take_move(rows, r, move, window);
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

		for (unsigned r = 0; r < count; r++) {
			rows.seen[r] = 0;
			rows.sums[r] = 0;
			for (size_t c = 0; c < classes; c++)
				rows.logs[r][c] = 0;
		}
		for (size_t e = 0; e < block->epoch_count; e++) {
			const struct store_values *values = &block->columns[e * STORE_COLUMN_MAX];
			uint64_t complete = find_complete(values, columns, classes, at, count);

			for (; complete != 0; complete &= complete - 1) {
				unsigned r = (unsigned)__builtin_ctzll(complete);

				take_distribution(&rows, r, values, columns, classes, at + r, window);
			}
		}
		for (unsigned r = 0; r < count; r++)
			tdds[at + r] = rows.seen[r] >= window ? rows.sums[r] : (double)NAN;
	}
}

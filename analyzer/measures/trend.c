/*
 * trend.c: sums up what examples have in common, epoch by epoch, and finds a run's burn-in (trend.h).
 *
 * A block is worked through in tiles, in each from the last epoch back. An example then keeps the mean of the epochs
 * behind it, and each epoch adds its squared distance from that mean, as Welford's method does: exact for nearly equal
 * values too. So one pass serves every first epoch.
 */
#include "trend.h"

#include <portolan/widths.h>

#include <math.h>

#define TILE 256u /* rows */
#define WORDS (TILE / 64)
#define LANES 4u     /* of a vector: GCC makes slow code of longer ones for processors with AVX2 */
#define PARTS 2u     /* vectors that are summed side by side; the pragma says so, too, for -O2 */
#define MOSTLY 0.5   /* of the variance within examples */
#define COMMON 0.5   /* of a step in a burn-in, more than this is common to all examples */
#define SETTLED 0.25 /* of the variance within examples, what the trend may have after it */
#define SETTLED_LEFT 4

static const float *
trend_values(const struct store_block *block, size_t epoch, uint32_t from)
{
	const float *values = store_block_values(block, epoch, STORE_GOLD_PROB)->values;

	return values ? values + from : NULL;
}

/* Which of 64 rows were observed. */
static uint64_t
trend_present(const struct store_block *block, size_t epoch, uint32_t from)
{
	const struct store_values *values = store_block_values(block, epoch, STORE_GOLD_PROB);
	uint32_t rest = block->rows - from;

	return !values->present ? 0 : values->present[from / 64] & (rest < 64 ? (UINT64_C(1) << rest) - 1 : UINT64_MAX);
}

static bool
trend_tile_is_complete(const struct store_block *block, uint32_t from)
{
	if (block->rows - from < TILE)
		return false;
	for (size_t e = 0; e < block->epoch_count; e++)
		for (uint32_t row = from; row < from + TILE; row += 64)
			if (trend_present(block, e, row) != UINT64_MAX)
				return false;
	return true;
}

/* Written out as vectors, as the compiler makes none of these sums. */
typedef double doubles __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef float floats __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

INLINE double
trend_sum(const doubles parts[PARTS])
{
	double sum = 0;

	for (unsigned part = 0; part < PARTS; part++)
		for (unsigned k = 0; k < LANES; k++)
			sum += parts[part][k];
	return sum;
}

#define TREND_WIDEN(values) __builtin_convertvector(*(const floats *)(values), doubles)

/* Adds a tile in which every row was observed at every epoch. */
FOR_EACH_WIDTH static void
trend_add_complete(struct trend_epoch *sums, const struct store_block *block, uint32_t from, const double *confidence)
{
	doubles mean[TILE / LANES] = {0}, means[PARTS] = {0};
	const float *next = NULL;
	double later = 0, all;

	for (unsigned v = 0; v < TILE / LANES; v++)
		means[v % PARTS] += *(const doubles *)(confidence + from + v * LANES);
	all = trend_sum(means);
	for (size_t e = block->epoch_count; e-- > 0;) {
		const float *p = trend_values(block, e, from);
		doubles level[PARTS] = {0}, squares[PARTS] = {0}, within[PARTS] = {0}, changes[PARTS] = {0};
		double part = 1 / (double)(block->epoch_count - e), sum;

		next = next ? next : p;
		for (unsigned v = 0; v < TILE / LANES; v += PARTS) {
#pragma GCC unroll 2
			for (unsigned side = 0; side < PARTS; side++) {
				const unsigned row = (v + side) * LANES;
				const doubles value = TREND_WIDEN(p + row), away = value - mean[v + side];
				const doubles change = TREND_WIDEN(next + row) - value;

				level[side] += value;
				squares[side] += value * value;
				within[side] += away * away;
				changes[side] += change * change;
				mean[v + side] += part * away;
			}
		}
		sum = trend_sum(level);
		sums[e].count += TILE;
		sums[e].level += sum;
		sums[e].squares += trend_sum(squares);
		sums[e].moved += sum - all;
		sums[e].within += (1 - part) * trend_sum(within);
		if (next != p) {
			sums[e].pairs += TILE;
			sums[e].step += later - sum;
			sums[e].step_squares += trend_sum(changes);
		}
		next = p;
		later = sum;
	}
}

void
trend_add(struct trend_epoch *sums, const struct trend_epoch *others, size_t count)
{
	for (size_t e = 0; e < count; e++) {
		sums[e].count += others[e].count;
		sums[e].level += others[e].level;
		sums[e].squares += others[e].squares;
		sums[e].moved += others[e].moved;
		sums[e].within += others[e].within;
		sums[e].pairs += others[e].pairs;
		sums[e].step += others[e].step;
		sums[e].step_squares += others[e].step_squares;
	}
}

/* A tile with gaps: of each row, what the epochs behind it had. */
struct trend_gaps {
	double epochs[TILE], mean[TILE], next[TILE];
	uint64_t present[WORDS]; /* at the next epoch */
};

INLINE void
trend_add_row(struct trend_epoch *sums, struct trend_gaps *gaps, unsigned r, double p, double confidence)
{
	double away = p - gaps->mean[r], part = 1 / ++gaps->epochs[r];

	sums->count++;
	sums->level += p;
	sums->squares += p * p;
	sums->moved += p - confidence;
	sums->within += (1 - part) * away * away;
	gaps->mean[r] += part * away;
	if (gaps->present[r / 64] >> r % 64 & 1) {
		double change = gaps->next[r] - p;

		sums->pairs++;
		sums->step += change;
		sums->step_squares += change * change;
	}
	gaps->next[r] = p;
}

static void
trend_add_gaps(struct trend_epoch *sums, const struct store_block *block, uint32_t from, const double *confidence)
{
	struct trend_gaps gaps = {0};

	for (size_t e = block->epoch_count; e-- > 0;) {
		const float *p = trend_values(block, e, from);

		for (unsigned word = 0; word < WORDS && from + 64 * word < block->rows; word++) {
			uint64_t present = trend_present(block, e, from + 64 * word);
			struct trend_epoch sum = {0};

			for (uint64_t rest = present; rest != 0; rest &= rest - 1) {
				unsigned r = 64 * word + (unsigned)__builtin_ctzll(rest);

				trend_add_row(&sum, &gaps, r, p[r], confidence[from + r]);
			}
			trend_add(&sums[e], &sum, 1);
			gaps.present[word] = present;
		}
	}
}

void
trend_add_block(struct trend_epoch *sums, const struct store_block *block, const double *confidence)
{
	for (uint32_t from = 0; from < block->rows; from += TILE)
		if (trend_tile_is_complete(block, from))
			trend_add_complete(sums, block, from, confidence);
		else
			trend_add_gaps(sums, block, from, confidence);
}

/* Numbers that come in groups: how many, their mean, and the squared distances of the groups' means from it. */
struct trend_groups {
	double count, mean, squares;
};

static void
trend_groups_add(struct trend_groups *groups, double count, double sum)
{
	double away;

	if (count == 0)
		return;
	away = sum / count - groups->mean;
	groups->squares += away * away * count * (groups->count / (groups->count + count));
	groups->count += count;
	groups->mean += away * count / groups->count;
}

/* The sums of squares over some last epochs. */
struct trend_squares {
	struct trend_groups levels, trend;
	double within, total;
};

static void
trend_squares_add(struct trend_squares *squares, const struct trend_epoch *epoch)
{
	trend_groups_add(&squares->levels, epoch->count, epoch->level);
	trend_groups_add(&squares->trend, epoch->count, epoch->moved);
	squares->within += epoch->within;
	if (epoch->count > 0)
		squares->total += fmax(epoch->squares - epoch->level * epoch->level / epoch->count, 0);
}

static double
trend_of_within(const struct trend_squares *squares)
{
	return squares->within > 0 ? fmin(squares->trend.squares / squares->within, 1) : 0;
}

void
trend_shares(const struct trend_epoch *sums, size_t count, struct trend_shares *from)
{
	struct trend_squares squares = {0};

	for (size_t e = count; e-- > 0;) {
		double total, within;

		trend_squares_add(&squares, &sums[e]);
		total = squares.total + squares.levels.squares;
		within = total > 0 ? fmin(squares.within / total, 1) : 0;
		from[e].examples = total > 0 ? 1 - within : 0;
		from[e].trend = within * trend_of_within(&squares);
		from[e].rest = within - from[e].trend;
	}
}

double
trend_within(const struct trend_epoch *sums, size_t count, size_t first)
{
	struct trend_squares squares = {0};

	for (size_t e = count; e-- > first;)
		trend_squares_add(&squares, &sums[e]);
	return trend_of_within(&squares);
}

size_t
trend_settled(const struct trend_epoch *sums, size_t count, size_t first)
{
	struct trend_squares squares = {0};
	size_t settled = count > SETTLED_LEFT ? count - SETTLED_LEFT : 0;

	if (first >= settled)
		return first;
	for (size_t e = count; e-- > first;) {
		trend_squares_add(&squares, &sums[e]);
		if (e < settled && trend_of_within(&squares) <= SETTLED)
			settled = e;
	}
	return settled;
}

/* What a step from an epoch to the next adds to the sum that finds the burn-in. */
static double
trend_evidence(const struct trend_epoch *epoch)
{
	if (epoch->pairs < 2) /* one example has everything in common with itself */
		return 0;
	return (epoch->step_squares > 0 ? epoch->step * epoch->step / (epoch->pairs * epoch->step_squares) : 0) -
	       COMMON;
}

size_t
trend_burn_in(const struct trend_epoch *sums, size_t count)
{
	double sum = 0, highest = 0;
	size_t end = 0;

	for (size_t e = 0; e + TREND_EPOCHS_LEFT < count; e++) {
		sum += trend_evidence(&sums[e]);
		if (sum > highest) {
			highest = sum;
			end = e + 1;
		}
	}
	return end == 0 ? 0 : trend_settled(sums, count, end);
}

struct trend_advice
trend_advise(const struct trend_epoch *sums, size_t count)
{
	struct trend_advice advice = {.first = trend_burn_in(sums, count), .share = trend_within(sums, count, 0)};

	if (advice.first == 0)
		advice.first = trend_settled(sums, count, 0);
	advice.later = trend_within(sums, count, advice.first);
	advice.is_mostly_trend = advice.share > MOSTLY;
	advice.has_mend = advice.later <= MOSTLY;
	return advice;
}

/*
 * k_means.c: clusters points by k-means, for the S2L rule of `portolan select` (k_means.h).
 *
 * The nearest centre is that whose distance, summed in float64, is the least. Nearly always, arithmetic in float32 is
 * enough to know which one that is: it gives |c|² − 2 x·c for each centre c, which is the squared distance of point x
 * less |x|². Products of four points with sixteen centres are summed side by side, in registers; so the centres are
 * transposed first. With D dimensions and the unit u = 2^-24 of float32, the rounding of the centre, of D products and
 * of D sums moves the result by no more than (D + 4) u (|c|² + 2 |x| |c|), to first order, and 2 |x| |c| ≤ |x|² + |c|².
 * Twice that is allowed for here: γ (2 |c|² + |x|²). Where another centre may be as near within these bounds, the
 * distances are summed in float64.
 */
#include "k_means.h"

#include <portolan/widths.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define POINTS 4u   /* points that are worked on side by side */
#define PARTS 2u    /* vectors of centres that are, likewise */
#define WIDTH 8u    /* centres of a vector */
#define LARGE 1e30f /* squares up to this are added and multiplied without reaching infinity */
#define TINY 1e-30  /* more than what is lost where products are too small for float32 */

_Static_assert(PARTS *WIDTH == K_MEANS_LANES, "the centres are padded to what is worked on side by side");

typedef float floats __attribute__((vector_size(WIDTH * sizeof(float)), aligned(sizeof(float))));
typedef int32_t ints __attribute__((vector_size(WIDTH * sizeof(int32_t))));

/* The least and the second least of what the centres of each place in a vector came to so far. */
struct least {
	floats first, second;
	ints nearest; /* the number of the centre of `first` */
};

/* γ */
static double
k_means_error(const struct k_means *means)
{
	return ((double)means->dimensions + 4) * (double)FLT_EPSILON; /* FLT_EPSILON is 2 u */
}

/* Transposes −2 c, and above it puts the least that |c|² can be: (1 − 2 γ) |c|². False: there are centres too far away
 * for float32. */
static bool
k_means_transpose(struct k_means *means)
{
	const size_t width = K_MEANS_PADDED(means->clusters), dimensions = means->dimensions;
	bool fit = true;

	memset(means->turned, 0, (dimensions + 1) * width * sizeof(*means->turned));
	for (size_t k = 0; k < means->clusters; k++) {
		double square = 0;

		for (size_t d = 0; d < dimensions; d++) {
			double centre = means->centres[k * dimensions + d];

			square += centre * centre;
			means->turned[(d + 1) * width + k] = (float)(-2 * centre);
		}
		means->turned[k] = (float)(square * (1 - 2 * k_means_error(means)));
		fit = fit && square < (double)LARGE;
	}
	for (size_t k = means->clusters; k < width; k++)
		means->turned[k] = FLT_MAX;
	return fit;
}

/* The squared distance, in float64; or any number above `limit`, if it is above. */
static double
k_means_distance(const struct k_means *means, const float *point, size_t cluster, double limit)
{
	const double *centre = means->centres + cluster * means->dimensions;
	double sum = 0;

	for (size_t d = 0; d < means->dimensions && sum <= limit; d++) {
		double away = (double)point[d] - centre[d];

		sum += away * away;
	}
	return sum;
}

/* Finds the nearest centre in float64, the first of equal ones. Begins with one that is near, as a sum need not be
 * finished that is larger than the least one already. */
static uint32_t
k_means_find_nearest(const struct k_means *means, const float *point, size_t near)
{
	double best = k_means_distance(means, point, near, DBL_MAX);
	size_t nearest = near;

	for (size_t k = 0; k < means->clusters; k++) {
		double distance = k_means_distance(means, point, k, best);

		if (distance < best || (distance == best && k < nearest)) {
			best = distance;
			nearest = k;
		}
	}
	return (uint32_t)nearest;
}

INLINE floats
k_means_choose(ints mask, floats yes, floats no)
{
	return (floats)(((ints)yes & mask) | ((ints)no & ~mask));
}

INLINE void
k_means_take(struct least *least, floats now, int32_t from)
{
	const ints numbers = {0, 1, 2, 3, 4, 5, 6, 7}, better = now < least->first;

	least->second = k_means_choose(now < least->second, now, least->second);
	least->second = k_means_choose(better, least->first, least->second);
	least->first = k_means_choose(better, now, least->first);
	least->nearest = ((numbers + from) & better) | (least->nearest & ~better);
}

/* Finds what is least over all places; returns the number of the nearest centre. */
INLINE size_t
k_means_join(const struct least *least, float *first, float *second)
{
	size_t nearest = 0;

	*first = *second = FLT_MAX;
	for (unsigned i = 0; i < WIDTH; i++) {
		float larger = least->first[i] < *first ? *first : least->first[i];

		if (least->first[i] < *first)
			nearest = (size_t)least->nearest[i];
		*first = least->first[i] < *first ? least->first[i] : *first;
		*second = larger < *second ? larger : *second;
		*second = least->second[i] < *second ? least->second[i] : *second;
	}
	return nearest;
}

/* Finds what is least of |c|² − 2 x·c for each of POINTS points; squares[] gets their |x|². */
INLINE void
k_means_search(const struct k_means *means, const float *const points[POINTS], struct least least[POINTS],
               float squares[POINTS])
{
	const size_t width = K_MEANS_PADDED(means->clusters), dimensions = means->dimensions;

	for (unsigned p = 0; p < POINTS; p++) {
		least[p] = (struct least){.first = FLT_MAX + (floats){0}, .second = FLT_MAX + (floats){0}};
		squares[p] = 0;
	}
	for (size_t d = 0; d < dimensions; d++)
		for (unsigned p = 0; p < POINTS; p++)
			squares[p] += points[p][d] * points[p][d];
	for (size_t from = 0; from < width; from += K_MEANS_LANES) {
		const float *turned = means->turned + from;
		floats sums[POINTS][PARTS];

		for (unsigned p = 0; p < POINTS; p++)
			for (unsigned part = 0; part < PARTS; part++)
				sums[p][part] = *(const floats *)(turned + part * WIDTH);
		for (size_t d = 0; d < dimensions; d++) {
			turned += width;
			for (unsigned p = 0; p < POINTS; p++)
				for (unsigned part = 0; part < PARTS; part++)
					sums[p][part] += points[p][d] * *(const floats *)(turned + part * WIDTH);
		}
		for (unsigned p = 0; p < POINTS; p++)
			for (unsigned part = 0; part < PARTS; part++)
				k_means_take(&least[p], sums[p][part], (int32_t)(from + part * WIDTH));
	}
}

/* Labels points i … i + POINTS − 1 of the n; past the end, the last one again. */
FOR_EACH_WIDTH static void
k_means_label(const struct k_means *means, const float *matrix, const uint32_t *rows, size_t i, size_t n,
              uint32_t labels[POINTS])
{
	const double error = k_means_error(means);
	const float *points[POINTS];
	struct least least[POINTS];
	float squares[POINTS];

	for (size_t p = 0; p < POINTS; p++)
		points[p] = matrix + rows[i + p < n ? i + p : n - 1] * means->dimensions;
	k_means_search(means, points, least, squares);
	for (unsigned p = 0; p < POINTS; p++) {
		float first, second;
		size_t near = k_means_join(&least[p], &first, &second);
		double margin = error * (4 * (double)means->turned[near] + 2 * (double)squares[p]) + TINY;

		if (squares[p] < LARGE && (double)second - (double)first > margin)
			labels[p] = (uint32_t)near;
		else
			labels[p] = k_means_find_nearest(means, points[p], near);
	}
}

size_t
k_means_assign(struct k_means *means, const float *matrix, const uint32_t *rows, size_t n, uint32_t *labels)
{
	const bool fit = k_means_transpose(means);
	size_t changed = 0;

	for (size_t i = 0; i < n; i += POINTS) {
		uint32_t found[POINTS];

		if (fit)
			k_means_label(means, matrix, rows, i, n, found);
		for (size_t p = 0; p < POINTS && i + p < n; p++) {
			if (!fit)
				found[p] = k_means_find_nearest(means, matrix + rows[i + p] * means->dimensions, 0);
			changed += labels[i + p] != found[p];
			labels[i + p] = found[p];
		}
	}
	return changed;
}

double
k_means_squares(const struct k_means *means, const float *matrix, const uint32_t *rows, size_t n,
                const uint32_t *labels)
{
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t d = 0; d < means->dimensions; d++) {
			double away = (double)matrix[rows[i] * means->dimensions + d] -
			              means->centres[labels[i] * means->dimensions + d];

			squares += away * away;
		}
	return squares;
}

static void
k_means_move(struct k_means *means, const float *matrix, const uint32_t *rows, size_t n, const uint32_t *labels)
{
	size_t dimensions = means->dimensions;

	memset(means->sizes, 0, means->clusters * sizeof(*means->sizes));
	for (size_t i = 0; i < n; i++)
		means->sizes[labels[i]]++;
	for (size_t k = 0; k < means->clusters; k++)
		if (means->sizes[k] > 0)
			memset(means->centres + k * dimensions, 0, dimensions * sizeof(*means->centres));
	for (size_t i = 0; i < n; i++)
		for (size_t d = 0; d < dimensions; d++)
			means->centres[labels[i] * dimensions + d] += (double)matrix[rows[i] * dimensions + d];
	for (size_t k = 0; k < means->clusters; k++)
		for (size_t d = 0; d < dimensions && means->sizes[k] > 0; d++)
			means->centres[k * dimensions + d] /= (double)means->sizes[k];
}

void
k_means_fit(struct k_means *means, const float *matrix, const uint32_t *rows, size_t n, unsigned times,
            uint32_t *labels)
{
	memset(labels, 0xff, n * sizeof(*labels));
	for (unsigned t = 0; t < times && k_means_assign(means, matrix, rows, n, labels) > 0; t++)
		k_means_move(means, matrix, rows, n, labels);
}

/*
 * k_means.c: clusters points by k-means, for the S2L rule of `portolan select` (k_means.h).
 *
 * The nearest centre is that whose distance, summed in float64, is the least. Nearly always, arithmetic in float32 is
 * enough to know which one that is (k_means_search.c). Where it is not, the distances are summed in float64.
 */
#include "k_means.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

/* Transposes −2 c, and above it puts the least that |c|² can be: (1 − 2 γ) |c|². False: there are centres too far away,
 * or too many, for float32. */
static bool
k_means_transpose(struct k_means *means)
{
	const size_t width = K_MEANS_PADDED(means->clusters), dimensions = means->dimensions;
	bool fit = width <= K_MEANS_MOST;

	memset(means->turned, 0, (dimensions + 1) * width * sizeof(*means->turned));
	for (size_t k = 0; k < means->clusters; k++) {
		double square = 0;

		for (size_t d = 0; d < dimensions; d++) {
			double centre = means->centres[k * dimensions + d];

			square += centre * centre;
			means->turned[(d + 1) * width + k] = (float)(-2 * centre);
		}
		means->turned[k] = (float)(square * (1 - 2 * k_means_error(means->dimensions)));
		fit = fit && square < (double)K_MEANS_LARGE;
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

size_t
k_means_assign(struct k_means *means, const float *matrix, const uint32_t *rows, size_t n, uint32_t *labels)
{
	k_means_search *search = k_means_search_by(means->lanes);
	const bool fit = k_means_transpose(means);
	size_t changed = 0;

	for (size_t i = 0; i < n; i += K_MEANS_POINTS) {
		const float *points[K_MEANS_POINTS];
		uint32_t found[K_MEANS_POINTS] = {0};
		unsigned sure = 0;

		for (size_t p = 0; p < K_MEANS_POINTS; p++) /* past the end, the last one again */
			points[p] = matrix + rows[i + p < n ? i + p : n - 1] * means->dimensions;
		if (fit)
			sure = search(means->turned, means->clusters, means->dimensions, points, found);
		for (size_t p = 0; p < K_MEANS_POINTS && i + p < n; p++) {
			if (!(sure >> p & 1))
				found[p] = k_means_find_nearest(means, points[p], found[p]);
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

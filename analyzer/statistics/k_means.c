/*
 * k_means.c: clusters points by k-means, for the S2L rule of `portolan select` (k_means.h).
 *
 * The distances of a point from eight centres are computed side by side, which fills vector registers. So the centres
 * are transposed first: a row for each dimension, padded to a multiple of eight.
 */
#include "k_means.h"

#include "base/widths.h"

#include <float.h>
#include <string.h>

typedef double doubles __attribute__((vector_size(K_MEANS_LANES * sizeof(double))));

static void
k_means_transpose(struct k_means *means)
{
	size_t width = K_MEANS_PADDED(means->clusters);

	memset(means->turned, 0, means->dimensions * width * sizeof(*means->turned));
	for (size_t k = 0; k < means->clusters; k++)
		for (size_t d = 0; d < means->dimensions; d++)
			means->turned[d * width + k] = means->centres[k * means->dimensions + d];
}

FOR_EACH_WIDTH static uint32_t
k_means_find_nearest(const struct k_means *means, const float *point)
{
	size_t width = K_MEANS_PADDED(means->clusters);
	double best = DBL_MAX;
	uint32_t nearest = 0;

	for (size_t from = 0; from < means->clusters; from += K_MEANS_LANES) {
		doubles sums = {0};

		for (size_t d = 0; d < means->dimensions; d++) {
			doubles away;

			memcpy(&away, means->turned + d * width + from, sizeof(away));
			away = (double)point[d] - away;
			sums += away * away;
		}
		for (size_t k = 0; k < K_MEANS_LANES && from + k < means->clusters; k++)
			if (sums[k] < best) {
				best = sums[k];
				nearest = (uint32_t)(from + k);
			}
	}
	return nearest;
}

size_t
k_means_assign(struct k_means *means, const float *matrix, const uint32_t *rows, size_t n, uint32_t *labels)
{
	size_t changed = 0;

	k_means_transpose(means);
	for (size_t i = 0; i < n; i++) {
		uint32_t label = k_means_find_nearest(means, matrix + rows[i] * means->dimensions);

		changed += labels[i] != label;
		labels[i] = label;
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

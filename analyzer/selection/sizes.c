/* sizes.c: computes for `portolan select` how many examples a selection has, and how many of each class (sizes.h). */
#include "sizes.h"

#include <float.h>
#include <math.h>

size_t
selection_size(double fraction, size_t n)
{
	/* The fraction is only the double nearest to the decimal that was meant, and the product is rounded, too. Yet
	 * 0.145 × 100 must give 15, and 0.145 × 50,000,100 must give 7,250,015. */
	double product = fraction * (double)n, size = floor(product + 0.5 + 2 * DBL_EPSILON * product);

	return size < (double)n ? (size_t)size : n;
}

void
selection_share_out(const uint32_t *counts, size_t classes, size_t size, size_t *quotas)
{
	uint64_t all = 0, left = size;

	for (size_t c = 0; c < classes; c++)
		all += counts[c];
	for (size_t c = 0; c < classes; c++) {
		quotas[c] = all > 0 ? (size_t)((uint64_t)size * counts[c] / all) : 0;
		left -= quotas[c];
	}
	for (; left > 0 && all > 0; left--) {
		size_t best = classes;
		uint64_t most = 0;

		for (size_t c = 0; c < classes; c++) {
			uint64_t exact = (uint64_t)size * counts[c], whole = exact / all;

			if (quotas[c] == whole && exact % all > most) {
				most = exact % all;
				best = c;
			}
		}
		quotas[best]++;
	}
}

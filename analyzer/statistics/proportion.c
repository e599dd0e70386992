/* proportion.c: computes the intervals of shares, and of their differences, for `portolan groups --accuracy`. */
#include "proportion.h"

#include <math.h>

double
proportion_deviations(double level)
{
	double low = 0, high = 40; /* a normal distribution has nothing beyond in float64 */

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		*(erfc(middle / sqrt(2)) > 1 - level ? &low : &high) = middle;
	}
	return (low + high) / 2;
}

struct proportion
proportion_of(uint64_t hits, uint64_t n, double deviations)
{
	double z2 = deviations * deviations, all = (double)n, share = (double)hits / all, middle, half;

	if (n == 0)
		return (struct proportion){NAN, NAN, NAN};
	middle = (share + z2 / (2 * all)) / (1 + z2 / all);
	half = deviations / (1 + z2 / all) * sqrt(share * (1 - share) / all + z2 / (4 * all * all));
	/* The ends are exact where all or none are hits; rounding must not cross them. */
	return (struct proportion){share, hits == 0 ? 0 : middle - half, hits == n ? 1 : middle + half};
}

/* The correlation of the two answers, with Newcombe's correction: a positive one is reduced by n/2 in its numerator. */
static double
proportion_correlation(const struct proportion_pair *pair)
{
	double a = (double)pair->counts[1][1], b = (double)pair->counts[1][0], c = (double)pair->counts[0][1],
	       d = (double)pair->counts[0][0], margins = (a + b) * (c + d) * (a + c) * (b + d), above = a * d - b * c;

	if (above > 0)
		above = fmax(above - (a + b + c + d) / 2, 0);
	return margins > 0 ? above / sqrt(margins) : 0;
}

struct proportion
proportion_difference(const struct proportion_pair *pair, double deviations)
{
	uint64_t both = pair->counts[1][1], n = both + pair->counts[1][0] + pair->counts[0][1] + pair->counts[0][0];
	struct proportion first = proportion_of(both + pair->counts[1][0], n, deviations);
	struct proportion second = proportion_of(both + pair->counts[0][1], n, deviations);
	double difference = second.share - first.share, phi = proportion_correlation(pair);
	double down = second.share - second.low, up = first.high - first.share; /* what makes it smaller, */
	double low = difference - sqrt(fmax(down * down - 2 * phi * down * up + up * up, 0));

	up = second.high - second.share; /* and larger */
	down = first.share - first.low;
	return (struct proportion){difference, low,
	                           difference + sqrt(fmax(down * down - 2 * phi * down * up + up * up, 0))};
}

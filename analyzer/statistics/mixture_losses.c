/* mixture_losses.c: fits two groups to losses as DivideMix does (mixture_losses.h). */
#include "mixture_losses.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define STEPS 10         /* max_iter */
#define STILL 1e-2       /* tol: of the mean log likelihood */
#define REGULAR 5e-4     /* reg_covar: is added to each variance */
#define TINY DBL_EPSILON /* scikit-learn adds ten of them to each group's weight */

struct sums {
	double weight, first, second;
};

static int
losses_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Finds where to cut n ascending values in two so that the sum of squares within the parts is the least: what 2-means
 * looks for. Returns how many are in the first part. */
static size_t
losses_split(const double *values, size_t n)
{
	double all = 0, left = 0, best = -INFINITY;
	size_t split = 1;

	for (size_t i = 0; i < n; i++)
		all += values[i];
	for (size_t i = 1; i < n; i++) {
		double between, right = all - (left += values[i - 1]);

		between = left * left / (double)i + right * right / (double)(n - i);
		if (between <= best)
			continue;
		best = between;
		split = i;
	}
	return split;
}

static struct mixture_group
losses_group(const struct sums *sums, double n)
{
	double weight = sums->weight + 10 * TINY, mean = sums->first / weight;

	return (struct mixture_group){
	        .share = weight / n,
	        .mean = mean,
	        .variance = fmax(sums->second / weight - mean * mean, 0) + REGULAR,
	};
}

static void
losses_add(struct sums *sums, double weight, double value)
{
	sums->weight += weight;
	sums->first += weight * value;
	sums->second += weight * value * value;
}

static double
losses_log_density(const struct mixture_group *group, double value)
{
	double distance = value - group->mean;

	return log(group->share) - (distance * distance / group->variance + log(2 * M_PI * group->variance)) / 2;
}

/* Takes one step. Returns the mean log likelihood before it. */
static double
losses_improve(struct mixture *mixture, const double *values, size_t n)
{
	struct sums low = {0}, high = {0};
	double likelihood = 0;

	for (size_t i = 0; i < n; i++) {
		double of_low = losses_log_density(&mixture->low, values[i]);
		double of_high = losses_log_density(&mixture->high, values[i]);
		double p = 1 / (1 + exp(of_high - of_low));

		likelihood += fmax(of_low, of_high) + log1p(exp(-fabs(of_high - of_low)));
		losses_add(&low, p, values[i]);
		losses_add(&high, 1 - p, values[i]);
	}
	mixture->low = losses_group(&low, (double)n);
	mixture->high = losses_group(&high, (double)n);
	return likelihood / (double)n;
}

bool
mixture_fit_losses(double *values, size_t n, struct mixture *mixture)
{
	struct sums low = {0}, high = {0};
	double before = -INFINITY;
	size_t split;

	qsort(values, n, sizeof(*values), losses_compare);
	if (n < 2 || values[0] == values[n - 1])
		return false;
	split = losses_split(values, n);
	for (size_t i = 0; i < n; i++)
		losses_add(i < split ? &low : &high, 1, values[i]);
	*mixture = (struct mixture){
	        .kind = MIXTURE_GAUSSIAN, .low = losses_group(&low, (double)n), .high = losses_group(&high, (double)n)};
	while (mixture->steps < STEPS && !mixture->converged) {
		double likelihood = losses_improve(mixture, values, n);

		mixture->steps++;
		mixture->converged = fabs(likelihood - before) < STILL;
		before = likelihood;
	}
	return true;
}

double
mixture_losses_high_share(const struct mixture *mixture, double value)
{
	bool turned = mixture->low.mean > mixture->high.mean;
	const struct mixture_group *clean = turned ? &mixture->high : &mixture->low;
	const struct mixture_group *wrong = turned ? &mixture->low : &mixture->high;

	return 1 / (1 + exp(losses_log_density(clean, value) - losses_log_density(wrong, value)));
}

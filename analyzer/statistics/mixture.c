/* mixture.c: fits two overlapping groups to a list of numbers, for `portolan noise` (mixture.h). Densities are compared
 * as logarithms, so that none underflows. */
#include "mixture.h"

#include <math.h>

#define EDGE 1e-6
#define STILL 1e-8
#define CELLS 4096

static double
mixture_bring_inside(enum mixture_kind kind, double value)
{
	return kind == MIXTURE_BETA ? fmin(fmax(value, EDGE), 1 - EDGE) : value;
}

/* ln of share times density at a value within [1e-6, 1 − 1e-6] (Beta), or any (Gaussian). log_beta: ln B(α, β) (Beta
 * only). */
static double
mixture_log_density(enum mixture_kind kind, const struct mixture_group *group, double log_beta, double value)
{
	double distance = value - group->mean;

	if (kind == MIXTURE_BETA)
		return log(group->share) + (group->alpha - 1) * log(value) + (group->beta - 1) * log1p(-value) -
		       log_beta;
	return log(group->share) - (distance * distance / group->variance + log(2 * M_PI * group->variance)) / 2;
}

/* ln B(α, β) of a group; 0 for a Gaussian one. */
static double
mixture_log_beta(enum mixture_kind kind, const struct mixture_group *group)
{
	int sign;

	if (kind == MIXTURE_GAUSSIAN)
		return 0;
	return lgamma_r(group->alpha, &sign) + lgamma_r(group->beta, &sign) -
	       lgamma_r(group->alpha + group->beta, &sign);
}

/* Mean and variance of all values. */
struct whole {
	double mean, variance;
};

/* Weighted sums of the values' distances from `origin`, for one group. */
struct sums {
	double weight, first, second;
};

/* Values next to one another, taken as one: their number, their mean, and the sum of their squared distances from
 * it. */
struct cell {
	double count, mean, squares;
};

/* Adds a cell's values with one weight. The sums are as exact as if the values came one by one. */
static void
mixture_add(struct sums *sums, double weight, const struct cell *cell, double origin)
{
	double distance = cell->mean - origin;

	sums->weight += weight * cell->count;
	sums->first += weight * cell->count * distance;
	sums->second += weight * (cell->count * distance * distance + cell->squares);
}

static struct mixture_group
mixture_make_group(enum mixture_kind kind, const struct sums *sums, const struct whole *whole, double n)
{
	double shift = sums->first / sums->weight;
	struct mixture_group group = {
	        .share = sums->weight / n,
	        .mean = whole->mean + shift,
	        .variance = fmax(sums->second / sums->weight - shift * shift, 1e-6 * whole->variance),
	};

	if (kind == MIXTURE_BETA) {
		double most = group.mean * (1 - group.mean), spread;

		group.variance = fmin(group.variance, most * (1 - 1e-6));
		spread = most / group.variance - 1;
		group.alpha = group.mean * spread;
		group.beta = (1 - group.mean) * spread;
	}
	return group;
}

/* How far a group has moved, in shares and in units of `spread`. */
static double
mixture_measure_move(const struct mixture_group *a, const struct mixture_group *b, double spread)
{
	return fmax(fabs(a->share - b->share),
	            fmax(fabs(a->mean - b->mean) / spread, fabs(sqrt(a->variance) - sqrt(b->variance)) / spread));
}

static struct whole
mixture_describe(enum mixture_kind kind, const double *values, size_t n)
{
	struct whole whole = {0, 0};

	for (size_t i = 0; i < n; i++)
		whole.mean += mixture_bring_inside(kind, values[i]);
	whole.mean /= (double)n;
	for (size_t i = 0; i < n; i++) {
		double distance = mixture_bring_inside(kind, values[i]) - whole.mean;

		whole.variance += distance * distance;
	}
	whole.variance /= (double)n;
	return whole;
}

/* Makes a cell of every value. If there are more than CELLS values, makes CELLS equal cells from the least to the
 * greatest, and leaves out the empty ones. Returns the number of cells. */
static size_t
mixture_make_cells(enum mixture_kind kind, const double *values, size_t n, struct cell cells[CELLS])
{
	double least = INFINITY, greatest = -INFINITY;
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		double value = mixture_bring_inside(kind, values[i]);

		least = fmin(least, value);
		greatest = fmax(greatest, value);
		if (n <= CELLS)
			cells[i] = (struct cell){1, value, 0};
	}
	if (n <= CELLS)
		return n;
	for (size_t c = 0; c < CELLS; c++)
		cells[c] = (struct cell){0, 0, 0};
	for (size_t i = 0; i < n; i++) { /* Welford 1962 */
		double value = mixture_bring_inside(kind, values[i]), distance;
		size_t c = (size_t)((value - least) / (greatest - least) * (CELLS - 1) + 0.5);

		distance = value - cells[c].mean;
		cells[c].mean += distance / ++cells[c].count;
		cells[c].squares += distance * (value - cells[c].mean);
	}
	for (size_t c = 0; c < CELLS; c++)
		if (cells[c].count > 0)
			cells[used++] = cells[c];
	return used;
}

/* Starts with the groups on either side of the split. False: one of them is empty. */
static bool
mixture_start(struct mixture *mixture, const struct cell *cells, size_t n, double values, double split,
              const struct whole *whole)
{
	struct sums low = {0}, high = {0};

	for (size_t c = 0; c < n; c++)
		mixture_add(cells[c].mean < split ? &low : &high, 1, &cells[c], whole->mean);
	if (low.weight == 0 || high.weight == 0)
		return false;
	mixture->low = mixture_make_group(mixture->kind, &low, whole, values);
	mixture->high = mixture_make_group(mixture->kind, &high, whole, values);
	return true;
}

/* Takes one step; returns how far the parameters moved. NaN: a group has vanished. */
static double
mixture_improve(struct mixture *mixture, const struct cell *cells, size_t n, double values, const struct whole *whole)
{
	double beta_low = mixture_log_beta(mixture->kind, &mixture->low), spread = sqrt(whole->variance), move;
	double beta_high = mixture_log_beta(mixture->kind, &mixture->high);
	struct sums low = {0}, high = {0};
	struct mixture_group old_low = mixture->low, old_high = mixture->high;

	for (size_t c = 0; c < n; c++) {
		double odds = mixture_log_density(mixture->kind, &mixture->high, beta_high, cells[c].mean) -
		              mixture_log_density(mixture->kind, &mixture->low, beta_low, cells[c].mean);
		double p = 1 / (1 + exp(odds));

		mixture_add(&low, p, &cells[c], whole->mean);
		mixture_add(&high, 1 - p, &cells[c], whole->mean);
	}
	if (!(low.weight >= 0.5) || !(high.weight >= 0.5))
		return NAN;
	mixture->low = mixture_make_group(mixture->kind, &low, whole, values);
	mixture->high = mixture_make_group(mixture->kind, &high, whole, values);
	move = mixture_measure_move(&old_low, &mixture->low, spread);
	return fmax(move, mixture_measure_move(&old_high, &mixture->high, spread));
}

bool
mixture_fit(enum mixture_kind kind, const double *values, size_t n, double split, struct mixture *mixture)
{
	struct whole whole = mixture_describe(kind, values, n);
	struct mixture fitted = {.kind = kind};
	struct cell cells[CELLS];
	size_t used;

	if (n < 4 || !(whole.variance > 1e-12 * (1 + whole.mean * whole.mean)))
		return false;
	used = mixture_make_cells(kind, values, n, cells);
	if (!mixture_start(&fitted, cells, used, (double)n, split, &whole) &&
	    !mixture_start(&fitted, cells, used, (double)n, whole.mean, &whole))
		return false;
	while (fitted.steps < MIXTURE_STEPS_MAX && !fitted.converged) {
		double move = mixture_improve(&fitted, cells, used, (double)n, &whole);

		if (isnan(move))
			return false;
		fitted.steps++;
		fitted.converged = move <= STILL;
	}
	if (fitted.low.mean > fitted.high.mean) {
		struct mixture_group group = fitted.low;

		fitted.low = fitted.high;
		fitted.high = group;
	}
	*mixture = fitted;
	return true;
}

/* The low group's share of the density at a value that was brought into the range of the densities. */
static double
mixture_posterior(const struct mixture *mixture, double value)
{
	double low = mixture_log_density(mixture->kind, &mixture->low, mixture_log_beta(mixture->kind, &mixture->low),
	                                 value);
	double high = mixture_log_density(mixture->kind, &mixture->high,
	                                  mixture_log_beta(mixture->kind, &mixture->high), value);

	return 1 / (1 + exp(high - low));
}

/* The odds of the low group turn round at most once as values grow. Where they rise up to a maximum, a value below it
 * is moved to it; where they fall to a minimum, a value above it is. */
static double
mixture_hold_at_turn(const struct mixture *mixture, double value)
{
	const struct mixture_group *low = &mixture->low, *high = &mixture->high;
	double turn, rise; /* rise > 0: a maximum */

	if (mixture->kind == MIXTURE_BETA) {
		double alpha = low->alpha - high->alpha, beta = low->beta - high->beta;

		if (!(alpha * beta > 0)) /* there is none between 0 and 1 */
			return value;
		turn = alpha / (alpha + beta);
		rise = alpha;
	} else {
		rise = high->variance - low->variance;
		if (rise == 0)
			return value;
		turn = (low->mean * high->variance - high->mean * low->variance) / rise;
	}
	return rise > 0 ? fmax(value, turn) : fmin(value, turn);
}

double
mixture_low_share(const struct mixture *mixture, double value)
{
	return mixture_posterior(mixture, mixture_hold_at_turn(mixture, mixture_bring_inside(mixture->kind, value)));
}

double
mixture_density(const struct mixture *mixture, const struct mixture_group *group, double value)
{
	return exp(mixture_log_density(mixture->kind, group, mixture_log_beta(mixture->kind, group),
	                               mixture_bring_inside(mixture->kind, value)));
}

/*
 * newton.c: a training set's rows are copied column by column, so that a register holds one feature of several rows,
 * and stay in cache until the classifier has converged: some five iterations. Each is done by one thread alone.
 */
#include "newton.h"

#include "program/parallel.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 100
#define HALVINGS 40
#define TOLERANCE 1e-8 /* of the mean objective, promised by a step; the next would promise its square */

typedef double eight __attribute__((vector_size(64), may_alias));
typedef int64_t eight_integers __attribute__((vector_size(64), may_alias));

struct fit {
	const struct problem *problem;
	size_t columns, order, room, rows, padded; /* room ≥ padded ≥ rows: multiples of 8 */
	double *x;                                 /* order × padded */
	double *p;                                 /* columns × padded: probabilities */
	double *share, *loss, *weight;             /* padded */
	uint16_t *slots;                           /* rows */
	double gradient[NEWTON_MOST], at[NEWTON_MOST], step[NEWTON_MOST], tried[NEWTON_MOST];
	double hessian[NEWTON_MOST][NEWTON_MOST];
	const uint8_t *absent;
	unsigned present;
};

struct newton {
	const struct problem *problem;
	const struct training *training;
	float *weights;
	struct fit *slots;
	struct fit_report *reports; /* by set */
};

bool
newton_fits(const struct problem *problem)
{
	return (problem->classes - 1) * (problem->matrix->features + 1) <= NEWTON_MOST;
}

static size_t
fit_doubles(size_t room, size_t columns, size_t order)
{
	return room * (order + columns + 3);
}

size_t
newton_bytes(size_t largest_set, size_t columns, size_t order, unsigned threads)
{
	size_t room = (largest_set + 7) / 8 * 8;

	return parallel_slots(threads) *
	       (fit_doubles(room, columns, order) * sizeof(double) + room * sizeof(uint16_t) + sizeof(struct fit));
}

static eight
larger(eight a, eight b)
{
	eight_integers which = a > b;

	return (eight)((which & (eight_integers)a) | (~which & (eight_integers)b));
}

/* e^x for x ≤ 0, to about 1e-15 of it; 0 from −700 down. */
static eight
exponential(eight x)
{
	static const double factors[] = {
	        1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040, 1. / 720,
	        1. / 120,       1. / 24,       1. / 6,       0.5,         1,          1};
	const double round = 6755399441055744.0; /* 1.5 · 2^52 */
	eight above = larger(x, (eight){0} - 700), shifted = above * 1.4426950408889634 + round, n = shifted - round;
	eight r = above - n * 0.693147180369123816490, p = {0};

	r -= n * 1.90821492927058770002e-10;
	for (unsigned i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		p = p * r + factors[i];
	return (eight)(((eight_integers)p + ((eight_integers)shifted << 52)) & (x > (eight){0} - 700));
}

static void
load_rows(struct fit *fit, const struct training *training, size_t set)
{
	const struct problem *problem = fit->problem;
	const uint64_t *bits = training->bits + set * training->words;
	const uint16_t *slots = training->slots + set * training->classes;
	size_t i = 0;

	fit->rows = training->sizes[set];
	fit->padded = (fit->rows + 7) / 8 * 8;
	fit->present = training->present[set];
	fit->absent = training_lacks_classes(training, set) ? training->absent + set * training->classes : NULL;
	for (size_t f = 0; f < fit->order; f++)
		memset(fit->x + (f + 1) * fit->padded - 8, 0, fit->padded ? 8 * sizeof(double) : 0);
	for (size_t w = 0; w < training->words; w++)
		for (uint64_t word = bits[w]; word; word &= word - 1, i++) {
			size_t row = w * 64 + (size_t)__builtin_ctzll(word);
			const float *values = matrix_row(problem->matrix, row);

			for (size_t f = 0; f < fit->order; f++)
				fit->x[f * fit->padded + i] = values[f];
			fit->slots[i] = fit->absent ? slots[problem->labels[row]] : problem->labels[row];
		}
}

/* Probabilities of all rows at `at`, and the sum of their losses; p becomes p − [gold] only in gradient_at(). */
static double
losses_at(struct fit *fit, const double *at)
{
	double loss = 0;

	for (size_t i = 0; i < fit->padded; i += 8) {
		eight top = {0}, sum;

		for (size_t k = 0; k < fit->columns; k++) {
			eight z = {0};

			for (size_t f = 0; f < fit->order; f++)
				z += at[k * fit->order + f] * *(const eight *)(fit->x + f * fit->padded + i);
			if (fit->absent && fit->absent[k + 1])
				z = (eight){0} - 1e300;
			*(eight *)(fit->p + k * fit->padded + i) = z;
			top = larger(z, top);
		}
		sum = exponential(-top);
		for (size_t k = 0; k < fit->columns; k++)
			sum += exponential(*(eight *)(fit->p + k * fit->padded + i) - top);
		*(eight *)(fit->share + i) = top;
		*(eight *)(fit->loss + i) = sum;
	}
	for (size_t i = 0; i < fit->rows; i++) {
		double gold = fit->slots[i] ? fit->p[(fit->slots[i] - 1u) * fit->padded + i] : 0;

		loss += fit->share[i] - gold + log(fit->loss[i]);
	}
	for (size_t k = 0; k < fit->columns; k++)
		for (size_t i = 0; i < fit->padded; i += 8) {
			eight *p = (eight *)(fit->p + k * fit->padded + i);

			*p = exponential(*p - *(eight *)(fit->share + i)) / *(eight *)(fit->loss + i);
		}
	return loss;
}

static double
total(eight sums)
{
	return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* One block of the Hessian: classes a and b. The rows that fill up a register have no features, so they add nothing. */
static void
hessian_block(struct fit *fit, size_t a, size_t b)
{
	size_t order = fit->order;

	for (size_t i = 0; i < fit->padded; i += 8) {
		eight pa = *(eight *)(fit->p + a * fit->padded + i), pb = *(eight *)(fit->p + b * fit->padded + i);

		*(eight *)(fit->weight + i) = a == b ? pa - pa * pa : -pa * pb;
	}
	for (size_t f = 0; f < order; f++) {
		const double *xf = fit->x + f * fit->padded;

		for (size_t i = 0; i < fit->padded; i += 8)
			*(eight *)(fit->share + i) = *(const eight *)(fit->weight + i) * *(const eight *)(xf + i);
		for (size_t g = f; g < order; g++) {
			const double *xg = fit->x + g * fit->padded;
			eight sum = {0};

			for (size_t i = 0; i < fit->padded; i += 8)
				sum += *(const eight *)(fit->share + i) * *(const eight *)(xg + i);
			fit->hessian[a * order + f][b * order + g] = total(sum);
			fit->hessian[a * order + g][b * order + f] = fit->hessian[a * order + f][b * order + g];
		}
	}
}

/* Gradient and Hessian of the losses and the penalty; answers the penalty. p is what losses_at() left. */
static double
derive(struct fit *fit, const double *at)
{
	size_t order = fit->order, columns = fit->columns;
	double penalty = 0, lambda = fit->problem->lambda, share = fit->present > 2 ? 1 / (double)fit->present : 0;

	for (size_t a = 0; a < columns; a++)
		for (size_t b = a; b < columns; b++)
			hessian_block(fit, a, b);
	for (size_t i = 0; i < fit->rows; i++)
		if (fit->slots[i])
			fit->p[(fit->slots[i] - 1u) * fit->padded + i] -= 1;
	for (size_t k = 0; k < columns; k++)
		for (size_t f = 0; f < order; f++) {
			eight sum = {0};

			for (size_t i = 0; i < fit->padded; i += 8)
				sum += *(eight *)(fit->p + k * fit->padded + i) *
				       *(const eight *)(fit->x + f * fit->padded + i);
			fit->gradient[k * order + f] = total(sum);
		}
	for (size_t f = 0; f + 1 < order; f++)
		for (size_t a = 0; a < columns; a++)
			for (size_t b = 0; b < columns; b++) {
				double between = lambda * ((a == b) - share);

				if (fit->absent && (fit->absent[a + 1] || fit->absent[b + 1]))
					continue;
				fit->gradient[a * order + f] += between * at[b * order + f];
				penalty += 0.5 * between * at[a * order + f] * at[b * order + f];
				if (b >= a)
					fit->hessian[a * order + f][b * order + f] += between;
			}
	return penalty;
}

/* The penalty alone. */
static double
penalty_at(const struct fit *fit, const double *at)
{
	double penalty = 0, lambda = fit->problem->lambda, share = fit->present > 2 ? 1 / (double)fit->present : 0;

	for (size_t f = 0; f + 1 < fit->order; f++) {
		double sum = 0, squares = 0;

		for (size_t k = 0; k < fit->columns; k++) {
			sum += at[k * fit->order + f];
			squares += at[k * fit->order + f] * at[k * fit->order + f];
		}
		penalty += 0.5 * lambda * (squares - share * sum * sum);
	}
	return penalty;
}

/* Solves H step = −gradient by Cholesky's factors; answers ½ gᵀ H⁻¹ g. What has no curvature does not move. */
static double
solve(struct fit *fit)
{
	size_t n = fit->columns * fit->order;
	double(*h)[NEWTON_MOST] = fit->hessian, promised = 0;

	for (size_t j = 0; j < n; j++) {
		double diagonal = h[j][j], root;

		for (size_t k = 0; k < j; k++)
			diagonal -= h[k][j] * h[k][j];
		root = diagonal > 1e-14 * h[j][j] && diagonal > 1e-300 ? sqrt(diagonal) : INFINITY;
		h[j][j] = root;
		for (size_t i = j + 1; i < n; i++) {
			double value = h[j][i];

			for (size_t k = 0; k < j; k++)
				value -= h[k][j] * h[k][i];
			h[j][i] = value / root;
		}
	}
	for (size_t j = 0; j < n; j++) {
		double value = -fit->gradient[j];

		for (size_t k = 0; k < j; k++)
			value -= h[k][j] * fit->step[k];
		fit->step[j] = value / h[j][j];
		promised += 0.5 * fit->step[j] * fit->step[j];
	}
	for (size_t j = n; j-- > 0;) {
		double value = fit->step[j];

		for (size_t k = j + 1; k < n; k++)
			value -= h[j][k] * fit->step[k];
		fit->step[j] = value / h[j][j];
	}
	return promised;
}

/* Moves by the step, or half of it, or …; answers the new sum of losses and penalty. */
static double
move(struct fit *fit, double objective, double promised)
{
	size_t n = fit->columns * fit->order;
	double length = 1, found = objective;

	for (unsigned i = 0; i < HALVINGS; i++, length /= 2) {
		for (size_t j = 0; j < n; j++)
			fit->tried[j] = fit->at[j] + length * fit->step[j];
		found = losses_at(fit, fit->tried) + penalty_at(fit, fit->tried);
		if (found <= objective - 1e-4 * length * promised + 1e-12 * fabs(objective))
			break;
	}
	memcpy(fit->at, fit->tried, n * sizeof(double));
	return found;
}

static void
minimise(struct fit *fit, struct fit_report *report)
{
	size_t n = fit->columns * fit->order;
	double objective = losses_at(fit, fit->at) + penalty_at(fit, fit->at);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		double promised;

		report->evaluations++;
		derive(fit, fit->at);
		promised = solve(fit);
		if (promised <= TOLERANCE * (double)fit->rows) {
			for (size_t j = 0; j < n; j++)
				fit->at[j] += fit->step[j];
			return;
		}
		objective = move(fit, objective, promised);
	}
	report->unfinished = 1;
}

static int
work(void *context, unsigned thread, unsigned slot, size_t set, struct portolan_error *error)
{
	const struct newton *newton = context;
	struct fit *fit = &newton->slots[slot];
	size_t stride = newton->problem->matrix->stride;
	float *weights = newton->weights + set * fit->columns * stride;

	(void)thread;
	(void)error;
	if (newton->training->present[set] < 2)
		return 0;
	load_rows(fit, newton->training, set);
	for (size_t k = 0; k < fit->columns; k++)
		for (size_t f = 0; f < fit->order; f++)
			fit->at[k * fit->order + f] = weights[k * stride + f];
	minimise(fit, &newton->reports[set]);
	for (size_t k = 0; k < fit->columns; k++)
		for (size_t f = 0; f < fit->order; f++)
			weights[k * stride + f] = (float)fit->at[k * fit->order + f];
	return 0;
}

static int
slots_init(struct newton *newton, unsigned slots, size_t room, struct portolan_error *error)
{
	size_t columns = newton->problem->classes - 1, order = newton->problem->matrix->features + 1;
	bool failed = !newton->slots;

	for (unsigned s = 0; !failed && s < slots; s++) {
		struct fit *fit = &newton->slots[s];

		fit->problem = newton->problem;
		fit->columns = columns;
		fit->order = order;
		fit->room = room;
		fit->x = aligned_alloc(64, fit_doubles(room, columns, order) * sizeof(double));
		fit->slots = malloc(room * sizeof(*fit->slots));
		failed |= !fit->x || !fit->slots;
		fit->p = failed ? NULL : fit->x + order * room;
		fit->share = failed ? NULL : fit->p + columns * room;
		fit->loss = failed ? NULL : fit->share + room;
		fit->weight = failed ? NULL : fit->loss + room;
	}
	return failed ? error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu rows of a training set", room) : 0;
}

int
newton_fit(const struct problem *problem, const struct training *training, float *weights, struct fit_report *report,
           struct portolan_error *error)
{
	unsigned slots = parallel_slots(problem->threads);
	struct newton newton = {.problem = problem,
	                        .training = training,
	                        .weights = weights,
	                        .slots = calloc(slots, sizeof(*newton.slots)),
	                        .reports = calloc(training->count, sizeof(*newton.reports))};
	struct parallel parallel = {
	        .threads = problem->threads, .count = training->count, .context = &newton, .work = work};
	size_t largest = 8;
	int code;

	for (size_t set = 0; set < training->count; set++)
		largest = training->sizes[set] > largest ? training->sizes[set] : largest;
	code = newton.reports
	               ? slots_init(&newton, slots, (largest + 7) / 8 * 8, error)
	               : error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classifiers", training->count);
	if (code >= 0)
		code = parallel_run(&parallel, error);
	*report = (struct fit_report){0};
	for (size_t set = 0; code >= 0 && set < training->count; set++) {
		report->evaluations += newton.reports[set].evaluations;
		report->unfinished += newton.reports[set].unfinished;
	}
	for (unsigned s = 0; newton.slots && s < slots; s++) {
		free(newton.slots[s].x);
		free(newton.slots[s].slots);
	}
	free(newton.slots);
	free(newton.reports);
	return code;
}

/*
 * lockstep.c: the searches of all classifiers, each with its own step length and memory, in time with the sweeps.
 *
 * A step is taken when it lowers the objective enough, or, as objectives are convex and near the minimum differences of
 * them drown in rounding, when the slope along it has become small and the objective has not visibly grown. Vectors
 * that are kept are in single precision, sums in double.
 */
#include "lockstep.h"

#include "base/parallel.h"
#include "sweep.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 6      /* steps that are remembered */
#define HALVINGS 30  /* of one step, before its memory is doubted */
#define RELATIVE 2.5 /* of the tolerance: how much of the objective itself counts as much as a row */
#define BLUR 2e-7    /* of an objective in single precision */
#define SETS_MANY 4  /* of many columns, which are searched for at once */

struct search {
	double objective, slope, step; /* at the accepted point, along the direction; the length being tried */
	double promised;               /* by the step before this one */
	double scalars[PAIRS];         /* 1 / s·y */
	unsigned pairs, newest;
	unsigned halvings;
	bool started, turned; /* an accepted point there is; its direction has been asked for */
};

struct searches {
	const struct lockstep *lockstep;
	const struct problem *problem;
	const struct training *training;
	const struct curvature *curvature;
	size_t length, sets;
	float *weights, *tried; /* by set; accepted, and where the sweep looks */
	double *gradient, *tried_gradient, *direction, *losses;
	float *steps, *changes; /* by set and pair: s and y */
	struct search *search;
	bool *active;
	uint32_t *turning; /* sets that want a direction */
	size_t turning_count;
	float *scratch; /* by slot */
	size_t scratch_size;
	size_t unfinished;
};

/* Where columns are many, nothing is won by going over rows together, and what a search keeps would fill the memory. */
static size_t
sets_at_once(size_t sets, size_t columns)
{
	return columns >= PROBLEM_MANY && sets > SETS_MANY ? SETS_MANY : sets;
}

size_t
lockstep_bytes(size_t sets, size_t columns, size_t stride, unsigned threads)
{
	struct curvature curvature = {.columns = columns, .stride = stride};

	sets = sets_at_once(sets, columns);
	return sets * columns * stride * ((1 + 2 * PAIRS) * sizeof(float) + 3 * sizeof(double)) +
	       parallel_slots(threads) * curvature_scratch(&curvature) * sizeof(float);
}

/* Vectors have a multiple of KERNELS_STRIDE numbers: eight sums side by side. */
typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));

static double
total(eight sums)
{
	return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static double
dot(const double *a, const double *b, size_t n)
{
	eight sums = {0};

	for (size_t i = 0; i < n; i += 8)
		sums += *(const eight *)(a + i) * *(const eight *)(b + i);
	return total(sums);
}

static double
dot_mixed(const float *a, const double *b, size_t n)
{
	eight sums = {0};

	for (size_t i = 0; i < n; i += 8)
		sums += __builtin_convertvector(*(const eight_floats *)(a + i), eight) * *(const eight *)(b + i);
	return total(sums);
}

/* to += factor × from */
static void
add(double *to, double factor, const float *from, size_t n)
{
	for (size_t i = 0; i < n; i += 8)
		*(eight *)(to + i) += factor * __builtin_convertvector(*(const eight_floats *)(from + i), eight);
}

double
lockstep_penalise(const struct problem *problem, const struct training *training, size_t set, const float *weights,
                  double *gradient)
{
	size_t columns = problem->classes - 1, stride = problem->matrix->stride, features = problem->matrix->features;
	const uint8_t *absent =
	        training_lacks_classes(training, set) ? training->absent + set * training->classes : NULL;
	unsigned present = training->present[set];
	double value = 0, share = present > 2 ? 1 / (double)present : 0;

	for (size_t f = 0; f < features; f++) {
		double sum = 0;

		for (size_t k = 0; k < columns; k++)
			sum += weights[k * stride + f];
		for (size_t k = 0; k < columns; k++) {
			double of = problem->lambda * (weights[k * stride + f] - share * sum);

			if (absent && absent[k + 1])
				continue;
			value += 0.5 * of * weights[k * stride + f];
			gradient[k * stride + f] += of;
		}
	}
	return value;
}

/* The point that is to be tried: accepted point + step × direction. */
static void
place(struct searches *all, size_t set)
{
	size_t from = set * all->length;
	double step = all->search[set].step;

	for (size_t i = 0; i < all->length; i++)
		all->tried[from + i] = (float)(all->weights[from + i] + step * all->direction[from + i]);
}

/* Remembers the step just taken. Without positive curvature (rounding) it is of no use. */
static void
remember(struct searches *all, size_t set)
{
	struct search *search = &all->search[set];
	unsigned next = search->pairs ? (search->newest + 1) % PAIRS : 0;
	size_t from = set * all->length;
	float *s = all->steps + (set * PAIRS + next) * all->length,
	      *y = all->changes + (set * PAIRS + next) * all->length;
	double curvature = 0, square = 0;

	for (size_t i = 0; i < all->length; i++) {
		s[i] = all->tried[from + i] - all->weights[from + i];
		y[i] = (float)(all->tried_gradient[from + i] - all->gradient[from + i]);
		curvature += (double)s[i] * y[i];
		square += (double)y[i] * y[i];
	}
	if (curvature <= 1e-30 || square <= 0)
		return;
	search->scalars[next] = 1 / curvature;
	search->newest = next;
	search->pairs += search->pairs < PAIRS;
}

static void
accept(struct searches *all, size_t set, double objective)
{
	struct search *search = &all->search[set];
	size_t from = set * all->length;

	if (search->started)
		remember(all, set);
	memcpy(all->weights + from, all->tried + from, all->length * sizeof(float));
	memcpy(all->gradient + from, all->tried_gradient + from, all->length * sizeof(double));
	search->objective = objective;
	search->started = search->turned = true;
	search->halvings = 0;
	all->turning[all->turning_count++] = (uint32_t)set;
}

/* A shorter step: where the slopes at both ends say the minimum is, within limits. */
static void
shorten(struct searches *all, size_t set, double slope)
{
	struct search *search = &all->search[set];
	double share = isfinite(slope) && slope > search->slope ? search->slope / (search->slope - slope) : 0.5;

	search->step *= share < 0.1 ? 0.1 : share > 0.6 ? 0.6 : share;
	if (++search->halvings == HALVINGS) {
		all->active[set] = false;
		all->unfinished++;
		return;
	}
	place(all, set);
}

/* Takes the point that the search of set `set` tried, or shortens its step, by what the sweep found there. */
static void
judge_step(struct searches *all, size_t set)
{
	struct search *search = &all->search[set];
	double *gradient = all->tried_gradient + set * all->length, objective, slope, gain;

	objective = all->losses[set] +
	            lockstep_penalise(all->problem, all->training, set, all->tried + set * all->length, gradient);
	if (!search->started) {
		accept(all, set, objective);
		return;
	}
	slope = dot(all->direction + set * all->length, gradient, all->length);
	gain = search->objective - objective;
	if (gain >= -1e-4 * search->step * search->slope ||
	    (fabs(slope) <= -0.5 * search->slope && gain >= -BLUR * fabs(search->objective)))
		accept(all, set, objective);
	else
		shorten(all, set, slope);
}

/* The two loops of L-BFGS, before and after the first matrix is applied; each changes `q` in place. */
static void
apply_newer_pairs(const struct searches *all, size_t set, double *q, double alpha[PAIRS])
{
	const struct search *search = &all->search[set];

	memcpy(q, all->gradient + set * all->length, all->length * sizeof(double));
	for (unsigned i = 0; i < search->pairs; i++) {
		unsigned pair = (search->newest + PAIRS - i) % PAIRS;
		const float *s = all->steps + (set * PAIRS + pair) * all->length;
		const float *y = all->changes + (set * PAIRS + pair) * all->length;

		alpha[i] = search->scalars[pair] * dot_mixed(s, q, all->length);
		add(q, -alpha[i], y, all->length);
	}
}

static void
apply_older_pairs(const struct searches *all, size_t set, double *q, const double alpha[PAIRS])
{
	const struct search *search = &all->search[set];

	for (unsigned i = search->pairs; i-- > 0;) {
		unsigned pair = (search->newest + PAIRS - i) % PAIRS;
		const float *s = all->steps + (set * PAIRS + pair) * all->length;
		const float *y = all->changes + (set * PAIRS + pair) * all->length;

		add(q, alpha[i] - search->scalars[pair] * dot_mixed(y, q, all->length), s, all->length);
	}
}

/* Classes that a training set lacks have no weights. */
static void
clear_absent(const struct searches *all, size_t set, double *vector)
{
	const uint8_t *absent = all->training->absent + set * all->training->classes;
	size_t stride = all->problem->matrix->stride;

	for (size_t k = 0; training_lacks_classes(all->training, set) && k + 1 < all->training->classes; k++)
		if (absent[k + 1])
			memset(vector + k * stride, 0, stride * sizeof(double));
}

/* Computes a direction for each search of a batch. */
static int
compute_direction(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	struct searches *all = context;
	double alpha[CURVATURE_BATCH][PAIRS], *out[CURVATURE_BATCH] = {NULL};
	size_t batch = curvature_batch(all->curvature), from = part * batch, count = all->turning_count - from;

	(void)thread;
	(void)error;
	count = count < batch ? count : batch;
	for (size_t i = 0; i < count; i++) {
		size_t set = all->turning[from + i];

		out[i] = all->direction + set * all->length;
		apply_newer_pairs(all, set, out[i], alpha[i]);
	}
	curvature_apply(all->curvature, all->problem->kernels, out, count, all->scratch + slot * all->scratch_size);
	for (size_t i = 0; i < count; i++) {
		size_t set = all->turning[from + i];
		struct search *search = &all->search[set];

		apply_older_pairs(all, set, out[i], alpha[i]);
		clear_absent(all, set, out[i]);
		for (size_t f = 0; f < all->length; f++)
			out[i][f] = -out[i][f];
		search->slope = dot(out[i], all->gradient + set * all->length, all->length);
		search->step = 1;
		place(all, set);
	}
	return 0;
}

/*
 * Notes the decrease of the loss that the next step promises. True: it is so small that the search is over, and takes
 * the step without a look at it. What is then still missing is estimated by the ratio of this promise to the one
 * before: it is more if the search converges slowly. If hardly any loss is left (the classes are apart) weights still
 * grow, and the limit is a share of the loss.
 */
static bool
note_promise(struct searches *all, size_t set)
{
	struct search *search = &all->search[set];
	double promised = -0.5 * search->slope, share = search->promised > 0 ? promised / search->promised : 1;
	double enough = all->lockstep->tolerance * fmin(all->training->sizes[set], RELATIVE * fabs(search->objective));

	search->promised = promised;
	return promised * fmin(fmax(share, 0.05), 1) <= enough;
}

/* Computes a direction for each search that accepted a point, and ends the searches that are over. A direction that
 * does not descend comes from rounding, at the minimum. */
static int
compute_directions(struct searches *all, struct portolan_error *error)
{
	size_t batch = curvature_batch(all->curvature);
	struct parallel parallel = {.threads = all->problem->threads,
	                            .count = (all->turning_count + batch - 1) / batch,
	                            .context = all,
	                            .work = compute_direction};
	int code = parallel_run(&parallel, error);

	for (size_t i = 0; code >= 0 && i < all->turning_count; i++) {
		size_t set = all->turning[i];

		if (!note_promise(all, set))
			continue;
		all->active[set] = false;
		if (all->search[set].slope < 0)
			memcpy(all->weights + set * all->length, all->tried + set * all->length,
			       all->length * sizeof(float));
	}
	all->turning_count = 0;
	return code;
}

static size_t
count_active(const struct searches *all)
{
	size_t count = 0;

	for (size_t set = 0; set < all->sets; set++)
		count += all->active[set];
	return count;
}

static int
search_all(struct searches *all, struct fit_report *report, struct portolan_error *error)
{
	struct sweep sweep = {.problem = all->problem,
	                      .training = all->training,
	                      .weights = all->tried,
	                      .active = all->active,
	                      .gradients = all->tried_gradient,
	                      .losses = all->losses};
	int code = sweep_init(&sweep, error);
	size_t active = count_active(all);

	memcpy(all->tried, all->weights, all->sets * all->length * sizeof(float));
	for (size_t i = 0; code >= 0 && active > 0 && i < all->lockstep->iterations_most; i++) {
		code = sweep_run(&sweep, error);
		report->sweeps++;
		report->evaluations += active;
		for (size_t set = 0; code >= 0 && set < all->sets; set++)
			if (all->active[set])
				judge_step(all, set);
		if (code >= 0)
			code = compute_directions(all, error);
		active = count_active(all);
	}
	report->unfinished += all->unfinished + active;
	sweep_free(&sweep);
	return code;
}

static void
searches_free(struct searches *all)
{
	free(all->tried);
	free(all->gradient);
	free(all->tried_gradient);
	free(all->direction);
	free(all->losses);
	free(all->steps);
	free(all->changes);
	free(all->search);
	free(all->active);
	free(all->turning);
	free(all->scratch);
}

static int
searches_init(struct searches *all, struct portolan_error *error)
{
	size_t values = all->sets * all->length;

	all->scratch_size = curvature_scratch(all->curvature);
	all->tried = aligned_alloc(64, values * sizeof(float));
	all->gradient = malloc(values * sizeof(double));
	all->tried_gradient = malloc(values * sizeof(double));
	all->direction = malloc(values * sizeof(double));
	all->losses = malloc(all->sets * sizeof(double));
	all->steps = malloc(PAIRS * values * sizeof(float));
	all->changes = malloc(PAIRS * values * sizeof(float));
	all->search = calloc(all->sets, sizeof(*all->search));
	all->active = malloc(all->sets * sizeof(bool));
	all->turning = malloc(all->sets * sizeof(*all->turning));
	all->scratch = aligned_alloc(64, parallel_slots(all->problem->threads) * all->scratch_size * sizeof(float));
	if (!all->tried || !all->gradient || !all->tried_gradient || !all->direction || !all->losses || !all->steps ||
	    !all->changes || !all->search || !all->active || !all->turning || !all->scratch)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classifiers", all->sets);
	for (size_t set = 0; set < all->sets; set++)
		all->active[set] = all->training->present[set] > 1;
	return 0;
}

int
lockstep_fit(const struct lockstep *lockstep, const struct problem *problem, const struct training *training,
             const struct curvature *curvature, float *weights, struct fit_report *report, struct portolan_error *error)
{
	size_t columns = problem->classes - 1, length = columns * problem->matrix->stride;
	size_t at_once = sets_at_once(training->count, columns);
	int code = 0;

	*report = (struct fit_report){0};
	for (size_t from = 0; code >= 0 && from < training->count; from += at_once) {
		size_t left = training->count - from;
		struct training part = training_part(training, from, left < at_once ? left : at_once);
		struct searches all = {.lockstep = lockstep,
		                       .problem = problem,
		                       .training = &part,
		                       .curvature = curvature,
		                       .length = length,
		                       .sets = part.count,
		                       .weights = weights + from * length};

		code = searches_init(&all, error);
		if (code >= 0)
			code = search_all(&all, report, error);
		searches_free(&all);
	}
	return code;
}

/*
 * lockstep.c: fits all linear classifiers of a phase of AFLite side by side, for filter_fit.c: it searches for the
 * weights of each by L-BFGS. Each search has its own step length and its own history of steps; all searches take their
 * next step after the same sweep over the rows.
 *
 * A step is taken if it lowers the objective enough. Near the minimum, differences of objectives drown in rounding.
 * There, as objectives are convex, a step is also taken if the slope along it has become small and the objective has
 * not visibly grown. Vectors that are kept are in single precision, sums are in double.
 */
#include "lockstep.h"

#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 6      /* steps that a search remembers */
#define HALVINGS 30  /* times that one step is shortened before the search is given up */
#define RELATIVE 2.5 /* a search's limit is tolerance × its rows, or × this × its objective, whichever is less */
#define BLUR 2e-7    /* the relative error of an objective in single precision */
#define SETS_MANY 4  /* searches that run at once where there are many columns */

struct search {
	double objective, slope; /* at the accepted point; the slope along the direction */
	double step;             /* the step's length that is being tried */
	double promised;         /* the decrease that the step before promised */
	double scalars[PAIRS];   /* 1 / s·y */
	unsigned pairs, newest;
	unsigned halvings;
	bool started; /* whether there is an accepted point */
};

struct searches {
	const struct lockstep *lockstep;
	const struct problem *problem;
	const struct training *training;
	const struct curvature *curvature;
	size_t length, sets;
	/* by set: the accepted point, and the point that the next sweep tries */
	float *weights, *tried;
	double *gradient, *tried_gradient, *direction, *losses;
	float *steps, *changes; /* by set and pair: s and y */
	struct search *search;
	bool *active;
	uint32_t *turning; /* the sets that need a direction */
	size_t turning_count;
	float *scratch; /* by slot of the work */
	size_t scratch_size;
	size_t unfinished;
};

/* The number of searches that run at once. With many columns nothing is gained by going over the rows together, and all
 * searches would fill the memory. */
static size_t
lockstep_sets_at_once(size_t sets, size_t columns)
{
	return columns >= PROBLEM_MANY && sets > SETS_MANY ? SETS_MANY : sets;
}

size_t
lockstep_bytes(size_t sets, size_t columns, size_t stride, unsigned threads)
{
	struct curvature curvature = {.columns = columns, .stride = stride};

	sets = lockstep_sets_at_once(sets, columns);
	return sets * columns * stride * ((1 + 2 * PAIRS) * sizeof(float) + 3 * sizeof(double)) +
	       parallel_slots(threads) * curvature_scratch(&curvature) * sizeof(float);
}

/* For sums over vectors: the length of a vector is a multiple of KERNELS_STRIDE, so eight partial sums are added up
 * side by side. */
typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));

static double
lockstep_total(eight sums)
{
	return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static double
lockstep_dot(const double *a, const double *b, size_t n)
{
	eight sums = {0};

	for (size_t i = 0; i < n; i += 8)
		sums += *(const eight *)(a + i) * *(const eight *)(b + i);
	return lockstep_total(sums);
}

static double
lockstep_dot_mixed(const float *a, const double *b, size_t n)
{
	eight sums = {0};

	for (size_t i = 0; i < n; i += 8)
		sums += __builtin_convertvector(*(const eight_floats *)(a + i), eight) * *(const eight *)(b + i);
	return lockstep_total(sums);
}

/* Adds factor × from to `to`. */
static void
lockstep_add(double *to, double factor, const float *from, size_t n)
{
	for (size_t i = 0; i < n; i += 8)
		*(eight *)(to + i) += factor * __builtin_convertvector(*(const eight_floats *)(from + i), eight);
}

double
lockstep_penalise(const struct problem *problem, const struct training *training, size_t set, const float *weights,
                  double *gradient)
{
	size_t columns = problem_columns(problem), stride = problem->matrix->stride,
	       features = problem->matrix->features;
	size_t first = problem_first_slot(problem);
	const uint8_t *absent = training_absent(training, set);
	unsigned present = training->present[set];
	double value = 0, share = present > 2 && !problem->hinge ? 1 / (double)present : 0;

	for (size_t f = 0; f < features; f++) {
		double sum = 0;

		for (size_t k = 0; k < columns; k++)
			sum += weights[k * stride + f];
		for (size_t k = 0; k < columns; k++) {
			double of = problem->lambda * (weights[k * stride + f] - share * sum);

			if (absent && absent[k + first])
				continue;
			value += 0.5 * of * weights[k * stride + f];
			gradient[k * stride + f] += of;
		}
	}
	return value;
}

/* Sets the point that the next sweep tries: accepted point + step × direction. */
static void
search_place(struct searches *all, size_t set)
{
	size_t from = set * all->length;
	double step = all->search[set].step;

	for (size_t i = 0; i < all->length; i++)
		all->tried[from + i] = (float)(all->weights[from + i] + step * all->direction[from + i]);
}

/* Remembers the step that was taken, for L-BFGS. A step without positive curvature, which only rounding can cause, is
 * of no use. */
static void
search_remember(struct searches *all, size_t set)
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
search_accept(struct searches *all, size_t set, double objective)
{
	struct search *search = &all->search[set];
	size_t from = set * all->length;

	if (search->started)
		search_remember(all, set);
	memcpy(all->weights + from, all->tried + from, all->length * sizeof(float));
	memcpy(all->gradient + from, all->tried_gradient + from, all->length * sizeof(double));
	search->objective = objective;
	search->started = true;
	search->halvings = 0;
	all->turning[all->turning_count++] = (uint32_t)set;
}

/* Shortens the step to where, by the slopes at both of its ends, the minimum is; within limits. */
static void
search_shorten(struct searches *all, size_t set, double slope)
{
	struct search *search = &all->search[set];
	double share = isfinite(slope) && slope > search->slope ? search->slope / (search->slope - slope) : 0.5;

	search->step *= share < 0.1 ? 0.1 : share > 0.6 ? 0.6 : share;
	if (++search->halvings == HALVINGS) {
		all->active[set] = false;
		all->unfinished++;
		return;
	}
	search_place(all, set);
}

/* Accepts the point that the search tried, or shortens its step, depending on the loss and gradient that the sweep
 * found there. */
static void
search_judge(struct searches *all, size_t set)
{
	struct search *search = &all->search[set];
	double *gradient = all->tried_gradient + set * all->length, objective, slope, gain;

	objective = all->losses[set] +
	            lockstep_penalise(all->problem, all->training, set, all->tried + set * all->length, gradient);
	if (!search->started) {
		search_accept(all, set, objective);
		return;
	}
	slope = lockstep_dot(all->direction + set * all->length, gradient, all->length);
	gain = search->objective - objective;
	if (gain >= -1e-4 * search->step * search->slope ||
	    (fabs(slope) <= -0.5 * search->slope && gain >= -BLUR * fabs(search->objective)))
		search_accept(all, set, objective);
	else
		search_shorten(all, set, slope);
}

/* The first loop of L-BFGS, before the first matrix is applied: fills q from the gradient, and alpha. */
static void
search_apply_newer_pairs(const struct searches *all, size_t set, double *q, double alpha[PAIRS])
{
	const struct search *search = &all->search[set];

	memcpy(q, all->gradient + set * all->length, all->length * sizeof(double));
	for (unsigned i = 0; i < search->pairs; i++) {
		unsigned pair = (search->newest + PAIRS - i) % PAIRS;
		size_t at = (set * PAIRS + pair) * all->length;

		alpha[i] = search->scalars[pair] * lockstep_dot_mixed(all->steps + at, q, all->length);
		lockstep_add(q, -alpha[i], all->changes + at, all->length);
	}
}

/* The second loop of L-BFGS, after the first matrix was applied: changes q in place. */
static void
search_apply_older_pairs(const struct searches *all, size_t set, double *q, const double alpha[PAIRS])
{
	const struct search *search = &all->search[set];

	for (unsigned i = search->pairs; i-- > 0;) {
		unsigned pair = (search->newest + PAIRS - i) % PAIRS;
		size_t at = (set * PAIRS + pair) * all->length;
		double beta = search->scalars[pair] * lockstep_dot_mixed(all->changes + at, q, all->length);

		lockstep_add(q, alpha[i] - beta, all->steps + at, all->length);
	}
}

/* Sets to zero the elements of classes that the training set lacks: such classes have no weights. */
static void
search_clear_absent(const struct searches *all, size_t set, double *vector)
{
	const uint8_t *absent = training_absent(all->training, set);
	size_t stride = all->problem->matrix->stride, first = problem_first_slot(all->problem);

	for (size_t k = 0; absent && k + first < all->training->classes; k++)
		if (absent[k + first])
			memset(vector + k * stride, 0, stride * sizeof(double));
}

/* Computes a direction for each search of a batch. */
static int
lockstep_turn_batch(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
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
		search_apply_newer_pairs(all, set, out[i], alpha[i]);
	}
	curvature_apply(all->curvature, all->problem->kernels, out, count, all->scratch + slot * all->scratch_size);
	for (size_t i = 0; i < count; i++) {
		size_t set = all->turning[from + i];
		struct search *search = &all->search[set];

		search_apply_older_pairs(all, set, out[i], alpha[i]);
		search_clear_absent(all, set, out[i]);
		for (size_t f = 0; f < all->length; f++)
			out[i][f] = -out[i][f];
		search->slope = lockstep_dot(out[i], all->gradient + set * all->length, all->length);
		search->step = 1;
		search_place(all, set);
	}
	return 0;
}

/*
 * Notes the decrease of the loss that the next step promises. Returns whether the promise is so small that the search is over,
 * and takes the step without looking at it.
 *
 * What would still be missing after that step is estimated by the ratio of this promise to the one before: slow searches miss
 * more. If hardly any loss is left because planes separate the classes, weights go on growing. So the limit is then a share of
 * the loss.
 */
static bool
search_note_promise(struct searches *all, size_t set)
{
	struct search *search = &all->search[set];
	double promised = -0.5 * search->slope, share = search->promised > 0 ? promised / search->promised : 1;
	double enough = all->lockstep->tolerance * fmin(all->training->sizes[set], RELATIVE * fabs(search->objective));

	search->promised = promised;
	return promised * fmin(fmax(share, 0.05), 1) <= enough;
}

/* Computes a direction for each search that accepted a point, and ends the searches that are over. A direction that does not
 * descend comes of rounding, at the minimum. */
static void
lockstep_turn(struct searches *all)
{
	size_t batch = curvature_batch(all->curvature);
	struct parallel parallel = {.threads = all->problem->threads,
	                            .count = (all->turning_count + batch - 1) / batch,
	                            .context = all,
	                            .work = lockstep_turn_batch};

	problem_run(&parallel);
	for (size_t i = 0; i < all->turning_count; i++) {
		size_t set = all->turning[i], from = set * all->length;

		if (!search_note_promise(all, set))
			continue;
		all->active[set] = false;
		if (all->search[set].slope < 0)
			memcpy(all->weights + from, all->tried + from, all->length * sizeof(float));
	}
	all->turning_count = 0;
}

static size_t
lockstep_count_active(const struct searches *all)
{
	size_t count = 0;

	for (size_t set = 0; set < all->sets; set++)
		count += all->active[set];
	return count;
}

static void
lockstep_search(struct searches *all, struct fit_report *report)
{
	struct sweep sweep = {.problem = all->problem,
	                      .training = all->training,
	                      .weights = all->tried,
	                      .active = all->active,
	                      .gradients = all->tried_gradient,
	                      .losses = all->losses};
	size_t active = lockstep_count_active(all);

	memcpy(all->tried, all->weights, all->sets * all->length * sizeof(float));
	for (size_t i = 0; active > 0 && i < all->lockstep->iterations_most; i++) {
		sweep_run(&sweep);
		report->evaluations += active;
		for (size_t set = 0; set < all->sets; set++)
			if (all->active[set])
				search_judge(all, set);
		lockstep_turn(all);
		active = lockstep_count_active(all);
	}
	report->unfinished += all->unfinished + active;
}

static void
searches_init(struct searches *all)
{
	size_t values = all->sets * all->length;

	all->scratch_size = curvature_scratch(all->curvature);
	all->tried = kernels_floats(values);
	all->gradient = memory_new(values, sizeof(double));
	all->tried_gradient = memory_new(values, sizeof(double));
	all->direction = memory_new(values, sizeof(double));
	all->losses = memory_new(all->sets, sizeof(double));
	all->steps = memory_new(PAIRS * values, sizeof(float));
	all->changes = memory_new(PAIRS * values, sizeof(float));
	all->search = memory_new(all->sets, sizeof(*all->search));
	all->active = memory_new(all->sets, sizeof(bool));
	all->turning = memory_new(all->sets, sizeof(*all->turning));
	all->scratch = kernels_floats(parallel_slots(all->problem->threads) * all->scratch_size);
	for (size_t set = 0; set < all->sets; set++)
		all->active[set] = all->training->present[set] > 1;
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

struct fit_report
lockstep_fit(const struct lockstep *lockstep, const struct problem *problem, const struct training *training,
             const struct curvature *curvature, float *weights)
{
	size_t columns = problem_columns(problem), length = columns * problem->matrix->stride;
	size_t at_once = lockstep_sets_at_once(training->count, columns);
	struct fit_report report = {0};

	for (size_t from = 0; from < training->count; from += at_once) {
		size_t left = training->count - from;
		struct training part = training_part(training, from, left < at_once ? left : at_once);
		struct searches all = {.lockstep = lockstep,
		                       .problem = problem,
		                       .training = &part,
		                       .curvature = curvature,
		                       .length = length,
		                       .sets = part.count,
		                       .weights = weights + from * length};

		searches_init(&all);
		lockstep_search(&all, &report);
		searches_free(&all);
	}
	return report;
}

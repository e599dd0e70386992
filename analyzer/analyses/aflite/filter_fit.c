/*
 * filter_fit.c: fits the classifiers of one phase of AFLite, each to its training set, for filter.c.
 *
 * The searches for their weights start at the mean of the last phase's classifiers, which is near their minimum. For
 * the first phase, one classifier is fitted to a few training sets' worth of examples. Each search converges on its own
 * training set, so its result does not show where it started.
 */
#include "filter.h"

#include "lockstep.h"
#include "statistics/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 300
/* Of support vector machines. Where rows are fewer than features, only the penalty holds most directions, and the search
 * is slow; the limit is for the sum over all classes, each of which is a problem of its own. */
#define ITERATIONS_HINGE 3000
#define TOLERANCE_HINGE 1e-8
#define SAMPLE_LEAST 2048 /* the fewest rows that the curvature is computed from */
#define STALE 0.8         /* the curvature is computed again when only this share of its rows is left */

/* Draws `count` rows, from which what all classifiers share is computed. */
static uint32_t *
fit_sample_rows(const struct filter *filter, size_t count)
{
	uint32_t *rows = memory_new(filter->matrix.rows, sizeof(*rows));
	struct random_state random;

	memcpy(rows, filter->by_rank, filter->matrix.rows * sizeof(*rows));
	training_seed(&random, filter->options.seed, filter->phases, TRAINING_EVERYBODY - 1);
	random_sample(&random, rows, filter->matrix.rows, count);
	return rows;
}

/* Sets filter->start to a classifier without weights that fits the shares of the classes best: by its loss, or, of a
 * support vector machine, by its squares. `counts` has room for the
 * classes. */
static void
fit_start_at_shares(struct filter *filter, uint32_t *counts)
{
	size_t stride = filter->matrix.stride;

	memset(counts, 0, filter->classes * sizeof(*counts));
	memset(filter->start, 0, filter_vector(filter) * sizeof(float));
	for (size_t row = 0; row < filter->matrix.rows; row++)
		counts[filter->labels[row]]++;
	for (size_t k = 0; k < filter_columns(filter); k++) {
		uint32_t count = counts[k + filter->classes - filter_columns(filter)];
		double share = count / (double)filter->matrix.rows;

		filter->start[k * stride + filter->matrix.features] =
		        (float)(filter->options.hinge ? 2 * share - 1 : log((count + 0.5) / (counts[0] + 0.5)));
	}
}

/* Fits one classifier to more rows than a training set has, with a penalty that is larger in proportion. So it is near the
 * mean of the training sets' classifiers. */
static int
fit_first(struct filter *filter, const uint32_t *rows, size_t count, struct portolan_error *error)
{
	struct lockstep lockstep = {.tolerance = 1e-5, .iterations_most = 60};
	struct problem problem = filter_problem(filter);
	CLEANUP(training_free) struct training training = {0};
	CLEANUP_FREE uint32_t *counts = memory_new(filter->classes, sizeof(*counts));
	int code;

	training_init(&training, 1, filter->matrix.rows, filter->classes);
	problem.lambda *= (double)count / (double)filter->options.train;
	fit_start_at_shares(filter, counts);
	for (size_t i = 0; i < count; i++)
		training.bits[rows[i] / 64] |= UINT64_C(1) << rows[i] % 64;
	training.sizes[0] = (uint32_t)count;
	training_survey(&training, 0, filter->labels, counts);
	code = curvature_make(&filter->curvature, &problem, filter->start, (double)count, rows,
	                      filter_least(count, 8 * (filter->matrix.features + 1)), error);
	if (code >= 0 && training.present[0] == filter->classes)
		lockstep_fit(&lockstep, &problem, &training, &filter->curvature, filter->start);
	return code;
}

/* The number of rows from which the curvature is computed. With 64 for each feature, sampling adds less error than a
 * training set has itself. But computing it is not to take more time than a few sweeps: a row takes order² operations;
 * in a sweep, a row of a set takes 8 columns order. */
static size_t
fit_count_curvature_rows(const struct filter *filter)
{
	const struct filter_options *options = &filter->options;
	size_t order = filter->matrix.features + 1, columns = filter_columns(filter);
	size_t least = 4 * order > SAMPLE_LEAST ? 4 * order : SAMPLE_LEAST;
	size_t affordable = 32 * options->partitions * options->train / order * columns;
	size_t count = filter_least(64 * order, affordable);

	return filter_least(count > least ? count : least, filter->matrix.rows);
}

/* Computes what all searches share: the curvature, and, if no phase has set it yet, where they start. Does nothing if
 * enough rows are left since the last time. */
static int
fit_prepare(struct filter *filter, struct portolan_error *error)
{
	struct problem problem = filter_problem(filter);
	size_t rows = filter->matrix.rows, count = fit_count_curvature_rows(filter);
	size_t fitted = filter_least(rows, 2 * filter->options.train > count ? 2 * filter->options.train : count);
	CLEANUP_FREE uint32_t *sample = NULL;
	int code = 0;

	if (filter->curved > 0 && (double)rows >= STALE * (double)filter->curved)
		return 0;
	sample = fit_sample_rows(filter, fitted);
	if (!filter->has_start)
		code = fit_first(filter, sample, fitted, error);
	if (code >= 0)
		code = curvature_make(&filter->curvature, &problem, filter->start, (double)filter->options.train,
		                      sample, count, error);
	filter->curved = rows;
	return code;
}

/* Sets where the next phase's searches start: at the mean of the classifiers that know all classes. */
static void
fit_remember_mean(struct filter *filter)
{
	size_t length = filter_vector(filter), complete = 0;

	for (size_t set = 0; set < filter->options.partitions; set++)
		complete += !training_lacks_classes(&filter->training, set);
	if (complete == 0)
		return;
	memset(filter->start, 0, length * sizeof(float));
	for (size_t set = 0; set < filter->options.partitions; set++)
		for (size_t i = 0; !training_lacks_classes(&filter->training, set) && i < length; i++)
			filter->start[i] += filter->weights[set * length + i] / (float)complete;
	filter->has_start = true;
}

/* Subtracts from the weights of each class those of the class in slot 0: only differences decide what is predicted. A
 * classifier whose weights are such differences already stays as it is. */
static void
fit_make_relative(struct filter *filter)
{
	size_t columns = filter_columns(filter), stride = filter->matrix.stride;

	for (size_t set = 0; columns == filter->classes && set < filter->options.partitions; set++) {
		float *weights = filter->weights + set * columns * stride;

		for (size_t i = stride; i < columns * stride; i++)
			weights[i] -= weights[i % stride];
		memset(weights, 0, stride * sizeof(*weights));
	}
}

int
filter_fit(struct filter *filter, struct filter_log *log, struct portolan_error *error)
{
	struct lockstep lockstep = {.tolerance = filter->options.hinge ? TOLERANCE_HINGE : LOCKSTEP_TOLERANCE,
	                            .iterations_most = filter->options.hinge ? ITERATIONS_HINGE : ITERATIONS};
	size_t length = filter_vector(filter);
	struct problem problem = filter_problem(filter);
	struct fit_report report;
	int code = fit_prepare(filter, error);

	if (code < 0)
		return code;
	for (size_t set = 0; set < filter->options.partitions; set++)
		if (training_lacks_classes(&filter->training, set) || filter->options.cold)
			memset(filter->weights + set * length, 0, length * sizeof(float));
		else
			memcpy(filter->weights + set * length, filter->start, length * sizeof(float));
	report = lockstep_fit(&lockstep, &problem, &filter->training, &filter->curvature, filter->weights);
	log->unfinished = report.unfinished;
	log->evaluations = report.evaluations;
	fit_remember_mean(filter);
	fit_make_relative(filter);
	return 0;
}

/*
 * filter_fit.c: the classifiers of a phase. What starts them near their minimum is the mean of the last phase's; the
 * first phase has one classifier fitted to a few training sets' worth of examples for that. Each then converges on its
 * own training set, so where it began shows no more.
 */
#include "filter_parts.h"

#include "lockstep.h"
#include "statistics/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 300
#define SAMPLE_LEAST 2048 /* rows of the curvature */
#define STALE 0.8         /* of the rows there were: the curvature is made anew */

/* Rows drawn for what concerns all classifiers, `count` of them, in order. */
static uint32_t *
sample_rows(const struct filter *filter, size_t count)
{
	uint32_t *rows = malloc(filter->matrix.rows * sizeof(*rows));
	struct random_state random;

	if (!rows)
		return NULL;
	memcpy(rows, filter->by_rank, filter->matrix.rows * sizeof(*rows));
	training_seed(&random, filter->options.seed, filter->phases, TRAINING_EVERYBODY - 1);
	random_sample(&random, rows, filter->matrix.rows, count);
	return rows;
}

/* Intercepts for the classes' shares, and nothing else. `counts`: room for the classes. */
static void
start_at_shares(struct filter *filter, uint32_t *counts)
{
	size_t stride = filter->matrix.stride;

	memset(counts, 0, filter->classes * sizeof(*counts));
	memset(filter->start, 0, filter_vector(filter) * sizeof(float));
	for (size_t row = 0; row < filter->matrix.rows; row++)
		counts[filter->labels[row]]++;
	for (size_t k = 1; k < filter->classes; k++)
		filter->start[(k - 1) * stride + filter->matrix.features] =
		        (float)log((counts[k] + 0.5) / (counts[0] + 0.5));
}

/* One classifier for more rows than a training set has, with a penalty that is as much larger: near what the training
 * sets' will be on average. */
static int
fit_first(struct filter *filter, const uint32_t *rows, size_t count, struct portolan_error *error)
{
	struct lockstep lockstep = {.tolerance = 1e-5, .iterations_most = 60};
	struct problem problem = filter_problem(filter);
	struct training training = {0};
	struct fit_report report;
	uint32_t *counts = malloc(filter->classes * sizeof(*counts));
	int code = counts ? training_init(&training, 1, filter->matrix.rows, filter->classes, error)
	                  : filter_out_of_memory(filter, error);

	problem.lambda *= (double)count / (double)filter->options.train;
	if (code >= 0) {
		start_at_shares(filter, counts);
		memset(training.bits, 0, training.words * sizeof(uint64_t));
		for (size_t i = 0; i < count; i++)
			training.bits[rows[i] / 64] |= UINT64_C(1) << rows[i] % 64;
		training.sizes[0] = (uint32_t)count;
		training_survey(&training, 0, filter->labels, counts);
		code = curvature_make(&filter->curvature, &problem, filter->start, (double)count, rows,
		                      filter_least(count, 8 * (filter->matrix.features + 1)), error);
	}
	if (code >= 0 && training.present[0] == filter->classes)
		code = lockstep_fit(&lockstep, &problem, &training, &filter->curvature, filter->start, &report, error);
	training_free(&training);
	free(counts);
	return code;
}

/*
 * Rows of the curvature's sample: 64 for each feature make its error less than that of a training set; but it is not to
 * take more time than a few sweeps do (order² for each row, and 8 columns order for each row of each set).
 */
static size_t
curvature_rows(const struct filter *filter)
{
	const struct filter_options *options = &filter->options;
	size_t order = filter->matrix.features + 1, columns = filter->classes - 1;
	size_t least = 4 * order > SAMPLE_LEAST ? 4 * order : SAMPLE_LEAST;
	size_t affordable = 32 * options->partitions * options->train / order * columns;
	size_t count = filter_least(64 * order, affordable);

	return filter_least(count > least ? count : least, filter->matrix.rows);
}

/* Where searches begin, and the curvature they go by. */
static int
prepare(struct filter *filter, struct portolan_error *error)
{
	struct problem problem = filter_problem(filter);
	size_t rows = filter->matrix.rows, count = curvature_rows(filter);
	size_t fitted = filter_least(rows, 2 * filter->options.train > count ? 2 * filter->options.train : count);
	bool stale = filter->curved == 0 || (double)rows < STALE * (double)filter->curved;
	uint32_t *sample;
	int code = 0;

	if (!stale)
		return 0;
	sample = sample_rows(filter, fitted);
	if (!sample)
		return filter_out_of_memory(filter, error);
	if (!filter->has_start)
		code = fit_first(filter, sample, fitted, error);
	if (code >= 0)
		code = curvature_make(&filter->curvature, &problem, filter->start, (double)filter->options.train,
		                      sample, count, error);
	filter->curved = rows;
	free(sample);
	return code;
}

/* The mean of the classifiers that know all classes. */
static void
remember(struct filter *filter)
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

int
filter_fit(struct filter *filter, struct filter_log *log, struct portolan_error *error)
{
	struct lockstep lockstep = {.tolerance = LOCKSTEP_TOLERANCE, .iterations_most = ITERATIONS};
	size_t length = filter_vector(filter);
	struct problem problem = filter_problem(filter);
	struct fit_report report = {0};
	int code = prepare(filter, error);

	for (size_t set = 0; set < filter->options.partitions; set++)
		if (training_lacks_classes(&filter->training, set) || filter->options.cold)
			memset(filter->weights + set * length, 0, length * sizeof(float));
		else
			memcpy(filter->weights + set * length, filter->start, length * sizeof(float));
	if (code >= 0)
		code = lockstep_fit(&lockstep, &problem, &filter->training, &filter->curvature, filter->weights,
		                    &report, error);
	log->unfinished = report.unfinished;
	log->evaluations = report.evaluations;
	if (code >= 0)
		remember(filter);
	return code;
}

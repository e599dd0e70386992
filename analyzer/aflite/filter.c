/*
 * filter.c: the phases. What starts a phase's classifiers near their minimum is the mean of the last phase's; the first
 * phase has one classifier fitted to a few training sets' worth of examples for that. Each then converges on its own
 * training set, so where it began shows no more.
 *
 * A row that is removed is filled by the last one that stays: features move little, and the order of rows, which sums
 * follow, is part of what a checkpoint keeps. What is drawn goes by example, not by row.
 */
#include "filter.h"

#include "lockstep.h"
#include "newton.h"
#include "predict.h"
#include "program/parallel.h"
#include "statistics/random.h"
#include "sweep.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 300
#define SAMPLE_LEAST 16384 /* rows of the first classifier and of the curvature, where there are as many */
#define STALE 0.8          /* of the rows there were: the curvature is made anew */

static struct problem
problem_of(const struct filter *filter)
{
	return (struct problem){.matrix = &filter->matrix,
	                        .labels = filter->labels,
	                        .classes = filter->classes,
	                        .lambda = filter->options.lambda,
	                        .kernels = filter->options.kernels,
	                        .threads = filter->options.threads};
}

static size_t
vector_length(const struct filter *filter)
{
	return (filter->classes - 1) * filter->matrix.stride;
}

static size_t
at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

uint64_t
filter_bytes(const struct filter_options *options, size_t rows, size_t features, size_t classes)
{
	size_t stride = matrix_stride(features), columns = classes - 1, sets = options->partitions, scratch;
	uint64_t bytes = (uint64_t)rows * (stride * sizeof(float) + 40), fitting;

	bytes += training_bytes(sets, rows, classes) + (uint64_t)(sets + 1) * columns * stride * sizeof(float);
	if (columns * (features + 1) <= NEWTON_MOST) {
		fitting = newton_bytes(options->train, columns, features + 1, options->threads);
	} else {
		bytes += curvature_bytes(columns, features + 1, options->threads, &scratch);
		fitting = sweep_bytes(sets, columns, stride, options->threads) +
		          lockstep_bytes(sets, columns, stride, options->threads);
		fitting = fitting > scratch ? fitting : scratch;
	}
	scratch = predict_bytes(sets, columns, stride, options->threads);
	fitting = fitting > scratch ? fitting : scratch;
	scratch = rows * 12 + options->slice * 36;
	return bytes + (fitting > scratch ? fitting : scratch);
}

static int
check(const struct filter_options *options, const struct filter_data *data, struct portolan_error *error)
{
	size_t rows = data->rows;

	if (data->classes < 2)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "all examples have the same label: nothing can be predicted");
	if (options->train >= rows)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "--train-size %zu: there are %zu examples, and some must be left to predict",
		                 options->train, rows);
	if (options->train >= options->target)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "--train-size %zu must be below --target-size %zu: towards the end so many are left",
		                 options->train, options->target);
	if (options->target >= rows)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "--target-size %zu: there are %zu examples, nothing to remove", options->target, rows);
	if (data->classes > UINT16_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "%zu labels are more than classes can be: are they ids?",
		                 data->classes);
	return 0;
}

static int
out_of_memory(const struct filter *filter, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples of %zu features", filter->total,
	                 filter->matrix.features);
}

static int
allocate(struct filter *filter, const struct filter_data *data, struct portolan_error *error)
{
	size_t n = filter->total, length = vector_length(filter);
	struct problem problem = problem_of(filter);

	filter->examples = malloc(n * sizeof(uint32_t));
	filter->groups = data->groups ? malloc(n * sizeof(uint32_t)) : NULL;
	filter->labels = malloc(n * sizeof(uint16_t));
	filter->by_rank = malloc(n * sizeof(uint32_t));
	filter->scores.removed = calloc(n, sizeof(uint32_t));
	filter->scores.made = calloc(n, sizeof(uint32_t));
	filter->scores.correct = calloc(n, sizeof(uint32_t));
	filter->scores.margins = calloc(n, sizeof(float));
	filter->weights = aligned_alloc(64, filter->options.partitions * length * sizeof(float));
	filter->start = aligned_alloc(64, length * sizeof(float));
	if (!filter->examples || (data->groups && !filter->groups) || !filter->labels || !filter->by_rank ||
	    !filter->scores.removed || !filter->scores.made || !filter->scores.correct || !filter->scores.margins ||
	    !filter->weights || !filter->start)
		return out_of_memory(filter, error);
	memset(filter->start, 0, length * sizeof(float));
	if (!newton_fits(&problem)) {
		int code = curvature_init(&filter->curvature, filter->classes - 1, filter->matrix.features + 1, error);

		if (code < 0)
			return code;
	}
	return training_init(&filter->training, filter->options.partitions, n, filter->classes, error);
}

int
filter_init(struct filter *filter, const struct filter_options *options, const struct filter_data *data,
            struct portolan_error *error)
{
	int code = check(options, data, error);

	*filter = (struct filter){
	        .options = *options, .total = data->rows, .classes = data->classes, .group_count = data->group_count};
	filter->matrix = (struct matrix){
	        .rows = data->rows, .features = data->features, .stride = matrix_stride(data->features)};
	if (code >= 0)
		code = allocate(filter, data, error);
	if (code < 0) {
		filter_free(filter);
		return code;
	}
	for (size_t i = 0; i < filter->total; i++) {
		filter->examples[i] = (uint32_t)i;
		filter->labels[i] = (uint16_t)data->labels[i];
		if (data->groups)
			filter->groups[i] = data->groups[i];
	}
	return 0;
}

int
filter_load(struct filter *filter, const struct matrix_source *source, struct portolan_error *error)
{
	return matrix_load(&filter->matrix, source, filter->examples, filter->matrix.rows, error);
}

void
filter_free(struct filter *filter)
{
	matrix_free(&filter->matrix);
	training_free(&filter->training);
	curvature_free(&filter->curvature);
	free(filter->examples);
	free(filter->groups);
	free(filter->labels);
	free(filter->by_rank);
	free(filter->scores.removed);
	free(filter->scores.made);
	free(filter->scores.correct);
	free(filter->scores.margins);
	free(filter->log);
	free(filter->weights);
	free(filter->start);
	*filter = (struct filter){0};
}

/* by_rank: through the examples, so that it takes one pass. */
static int
rank(struct filter *filter, struct portolan_error *error)
{
	uint32_t *row_of = malloc(filter->total * sizeof(*row_of));
	size_t rank = 0;

	if (!row_of)
		return out_of_memory(filter, error);
	memset(row_of, 0xff, filter->total * sizeof(*row_of));
	for (size_t row = 0; row < filter->matrix.rows; row++)
		row_of[filter->examples[row]] = (uint32_t)row;
	for (size_t example = 0; example < filter->total; example++)
		if (row_of[example] != UINT32_MAX)
			filter->by_rank[rank++] = row_of[example];
	free(row_of);
	return 0;
}

struct drawing {
	struct filter *filter;
	uint32_t *members; /* of a group; NULL: no groups */
	uint32_t *counts;  /* by slot: classes */
	uint32_t *order;   /* by slot: groups */
	uint8_t *chosen;
};

static int
draw_one(void *context, unsigned thread, unsigned slot, size_t set, struct portolan_error *error)
{
	const struct drawing *drawing = context;
	struct filter *filter = drawing->filter;
	const struct filter_options *options = &filter->options;
	size_t groups = filter->group_count;

	(void)thread;
	if (drawing->members)
		training_draw_groups(&filter->training, set, options->seed, filter->phases, options->train,
		                     filter->groups, drawing->members, filter->group_count,
		                     drawing->order + slot * groups, drawing->chosen + slot * groups);
	else
		training_draw(&filter->training, set, options->seed, filter->phases, options->train, filter->by_rank);
	if (filter->training.sizes[set] == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "no group has %zu examples or fewer: say a larger --train-size", options->train);
	training_survey(&filter->training, set, filter->labels, drawing->counts + slot * filter->classes);
	return 0;
}

static int
draw_all(struct filter *filter, struct portolan_error *error)
{
	unsigned slots = parallel_slots(filter->options.threads);
	struct drawing drawing = {.filter = filter, .counts = malloc(slots * filter->classes * sizeof(uint32_t))};
	struct parallel parallel = {.threads = filter->options.threads,
	                            .count = filter->options.partitions,
	                            .context = &drawing,
	                            .work = draw_one};
	int code = drawing.counts ? rank(filter, error) : out_of_memory(filter, error);

	training_resize(&filter->training, filter->matrix.rows);
	if (code >= 0 && filter->groups) {
		drawing.members = calloc(filter->group_count, sizeof(uint32_t));
		drawing.order = malloc((size_t)slots * filter->group_count * sizeof(uint32_t));
		drawing.chosen = malloc((size_t)slots * filter->group_count);
		if (!drawing.members || !drawing.order || !drawing.chosen)
			code = out_of_memory(filter, error);
		for (size_t row = 0; code >= 0 && row < filter->matrix.rows; row++)
			drawing.members[filter->groups[row]]++;
	}
	if (code >= 0)
		code = parallel_run(&parallel, error);
	free(drawing.members);
	free(drawing.counts);
	free(drawing.order);
	free(drawing.chosen);
	return code;
}

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

/* Intercepts for the classes' shares, and nothing else. */
static void
start_at_shares(struct filter *filter)
{
	size_t stride = filter->matrix.stride, first = 0;

	memset(filter->start, 0, vector_length(filter) * sizeof(float));
	for (size_t row = 0; row < filter->matrix.rows; row++)
		first += filter->labels[row] == 0;
	for (size_t k = 1; k < filter->classes; k++) {
		size_t count = 0;

		for (size_t row = 0; row < filter->matrix.rows; row++)
			count += filter->labels[row] == k;
		filter->start[(k - 1) * stride + filter->matrix.features] =
		        (float)log(((double)count + 0.5) / ((double)first + 0.5));
	}
}

/* One classifier for more rows than a training set has, with a penalty that is as much larger: near what the training
 * sets' will be on average. */
static int
fit_first(struct filter *filter, const uint32_t *rows, size_t count, struct portolan_error *error)
{
	struct lockstep lockstep = {.tolerance = 1e-4, .iterations_most = 60};
	struct problem problem = problem_of(filter);
	struct training training = {0};
	struct lockstep_report report;
	size_t size = filter->options.train, fitted = at_most(count, 4 * size > SAMPLE_LEAST ? 4 * size : SAMPLE_LEAST);
	uint32_t *counts = malloc(filter->classes * sizeof(*counts));
	int code = counts ? training_init(&training, 1, filter->matrix.rows, filter->classes, error)
	                  : out_of_memory(filter, error);

	problem.lambda *= (double)fitted / (double)size;
	start_at_shares(filter);
	if (code >= 0) {
		memset(training.bits, 0, training.words * sizeof(uint64_t));
		for (size_t i = 0; i < fitted; i++)
			training.bits[rows[i] / 64] |= UINT64_C(1) << rows[i] % 64;
		training.sizes[0] = (uint32_t)fitted;
		training_survey(&training, 0, filter->labels, counts);
		code = curvature_make(&filter->curvature, &problem, filter->start, (double)fitted, rows,
		                      at_most(count, SAMPLE_LEAST), error);
	}
	if (code >= 0 && training.present[0] == filter->classes)
		code = lockstep_fit(&lockstep, &problem, &training, &filter->curvature, filter->start, &report, error);
	training_free(&training);
	free(counts);
	return code;
}

/* Where searches begin, and the curvature they go by. */
static int
prepare(struct filter *filter, struct portolan_error *error)
{
	struct problem problem = problem_of(filter);
	size_t rows = filter->matrix.rows, order = filter->matrix.features + 1;
	size_t count = at_most(rows, 16 * order > SAMPLE_LEAST ? 16 * order : SAMPLE_LEAST);
	size_t fitted = at_most(rows, 4 * filter->options.train > count ? 4 * filter->options.train : count);
	bool stale = filter->curved == 0 || (double)rows < STALE * (double)filter->curved;
	uint32_t *sample;
	int code = 0;

	if (!stale)
		return 0;
	sample = sample_rows(filter, fitted);
	if (!sample)
		return out_of_memory(filter, error);
	if (!filter->has_start)
		code = fit_first(filter, sample, fitted, error);
	if (code >= 0)
		code = curvature_make(&filter->curvature, &problem, filter->start, (double)filter->options.train,
		                      sample, count, error);
	filter->curved = rows;
	free(sample);
	return code;
}

static int
fit(struct filter *filter, struct filter_log *log, struct portolan_error *error)
{
	struct lockstep lockstep = {.tolerance = LOCKSTEP_TOLERANCE, .iterations_most = ITERATIONS};
	size_t length = vector_length(filter), unfinished = 0;
	struct problem problem = problem_of(filter);
	struct lockstep_report report = {0};
	bool small = newton_fits(&problem);
	int code = small ? 0 : prepare(filter, error);

	for (size_t set = 0; set < filter->options.partitions; set++)
		if (training_lacks_classes(&filter->training, set) || filter->options.cold)
			memset(filter->weights + set * length, 0, length * sizeof(float));
		else
			memcpy(filter->weights + set * length, filter->start, length * sizeof(float));
	if (code >= 0 && small)
		code = newton_fit(&problem, &filter->training, filter->weights, &unfinished, error);
	else if (code >= 0)
		code = lockstep_fit(&lockstep, &problem, &filter->training, &filter->curvature, filter->weights,
		                    &report, error);
	log->unfinished = small ? unfinished : report.unfinished;
	log->sweeps = report.sweeps;
	return code;
}

/* The mean of the classifiers that know all classes. */
static void
remember(struct filter *filter)
{
	size_t length = vector_length(filter), complete = 0;

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

static int
predict(struct filter *filter, struct portolan_error *error)
{
	struct problem problem = problem_of(filter);
	size_t rows = filter->matrix.rows;
	struct predictions found = {.made = malloc(rows * sizeof(uint32_t)),
	                            .correct = malloc(rows * sizeof(uint32_t)),
	                            .margins = malloc(rows * sizeof(float))};
	int code = found.made && found.correct && found.margins
	                   ? predict_all(&problem, &filter->training, filter->weights, &found, error)
	                   : out_of_memory(filter, error);

	for (size_t row = 0; code >= 0 && row < rows; row++) {
		uint32_t example = filter->examples[row];

		filter->scores.made[example] = found.made[row];
		filter->scores.correct[example] = found.correct[row];
		filter->scores.margins[example] = found.margins[row];
	}
	free(found.made);
	free(found.correct);
	free(found.margins);
	return code;
}

/* Means over the examples, in their order. */
static void
summarise(const struct filter *filter, struct filter_log *log)
{
	const struct filter_scores *scores = &filter->scores;
	uint64_t made = 0, correct = 0, trained = 0;
	double sum = 0;

	log->left = filter->matrix.rows;
	for (size_t rank = 0; rank < filter->matrix.rows; rank++) {
		uint32_t example = filter->examples[filter->by_rank[rank]];

		made += scores->made[example];
		correct += scores->correct[example];
		log->unpredicted += scores->made[example] == 0;
		if (scores->made[example])
			sum += scores->correct[example] / (double)scores->made[example];
	}
	for (size_t set = 0; set < filter->options.partitions; set++) {
		trained += filter->training.sizes[set];
		log->lacking += training_lacks_classes(&filter->training, set);
	}
	log->trained = (trained + filter->options.partitions / 2) / filter->options.partitions;
	log->mean_p = log->left > log->unpredicted ? sum / (double)(log->left - log->unpredicted) : NAN;
	log->accuracy = made ? (double)correct / (double)made : NAN;
}

/* Fills the rows that become free from the end, lowest first, highest first. */
static void
remove_rows(struct filter *filter, const struct slice *slice)
{
	size_t left = filter->matrix.rows - slice->count, last = filter->matrix.rows;

	for (size_t i = 0; i < slice->count; i++)
		filter->scores.removed[filter->examples[slice->rows[i]]] = (uint32_t)filter->phases + 1;
	for (size_t row = 0; row < left; row++) {
		if (!filter->scores.removed[filter->examples[row]])
			continue;
		do
			last--;
		while (filter->scores.removed[filter->examples[last]]);
		memcpy(filter->matrix.values + row * filter->matrix.stride,
		       filter->matrix.values + last * filter->matrix.stride, filter->matrix.stride * sizeof(float));
		filter->examples[row] = filter->examples[last];
		filter->labels[row] = filter->labels[last];
		if (filter->groups)
			filter->groups[row] = filter->groups[last];
	}
	filter->matrix.rows = left;
}

static int
remove_slice(struct filter *filter, struct filter_log *log, struct portolan_error *error)
{
	const struct filter_options *options = &filter->options;
	size_t rows = filter->matrix.rows;
	struct slice slice;
	struct slice_request request = {.made = malloc(3 * rows * sizeof(uint32_t)),
	                                .order = filter->by_rank,
	                                .count = rows,
	                                .size = at_most(options->slice, rows - options->target),
	                                .threshold = options->threshold,
	                                .heuristic = options->heuristic,
	                                .ties = options->ties,
	                                .seed = options->seed,
	                                .phase = filter->phases};
	uint32_t *made = (uint32_t *)request.made, *correct = made + rows;
	float *margins = (float *)(correct + rows);
	int code;

	if (!made)
		return out_of_memory(filter, error);
	request.correct = correct;
	request.margins = margins;
	for (size_t row = 0; row < rows; row++) {
		made[row] = filter->scores.made[filter->examples[row]];
		correct[row] = filter->scores.correct[filter->examples[row]];
		margins[row] = filter->scores.margins[filter->examples[row]];
	}
	code = slice_take(&request, &slice, error);
	free(made);
	if (code < 0)
		return code;
	log->removed = slice.count;
	log->qualified = slice.qualified;
	log->lowest = slice.lowest;
	log->tied = slice.tied;
	log->tied_removed = slice.tied_removed;
	remove_rows(filter, &slice);
	free(slice.rows);
	filter->finished = slice.qualified < options->slice || filter->matrix.rows <= options->target;
	return 0;
}

int
filter_phase(struct filter *filter, struct portolan_error *error)
{
	struct filter_log *log, line = {0};
	int code;

	if (filter->finished)
		return 0;
	log = realloc(filter->log, (filter->phases + 1) * sizeof(*log));
	if (!log)
		return out_of_memory(filter, error);
	filter->log = log;
	code = draw_all(filter, error);
	if (code >= 0)
		code = fit(filter, &line, error);
	if (code >= 0)
		code = predict(filter, error);
	if (code < 0)
		return code;
	summarise(filter, &line);
	remember(filter);
	code = remove_slice(filter, &line, error);
	if (code < 0)
		return code;
	filter->log[filter->phases++] = line;
	return !filter->finished;
}

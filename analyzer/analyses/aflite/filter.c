/*
 * filter.c: the phases, and who is left.
 *
 * A row that is removed is filled by the last one that stays: features move little, and the order of rows, which sums
 * follow, is part of what a checkpoint keeps. What is drawn goes by example, not by row.
 */
#include "filter_parts.h"

#include "base/parallel.h"
#include "lockstep.h"
#include "predict.h"
#include "sweep.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct problem
filter_problem(const struct filter *filter)
{
	return (struct problem){.matrix = &filter->matrix,
	                        .labels = filter->labels,
	                        .classes = filter->classes,
	                        .lambda = filter->options.lambda,
	                        .kernels = filter->options.kernels,
	                        .threads = filter->options.threads};
}

int
filter_out_of_memory(const struct filter *filter, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples of %zu features", filter->total,
	                 filter->matrix.features);
}

uint64_t
filter_bytes(const struct filter_options *options, size_t rows, size_t features, size_t classes, size_t groups)
{
	size_t stride = matrix_stride(features), columns = classes - 1, sets = options->partitions, scratch;
	uint64_t bytes = (uint64_t)rows * (stride * sizeof(float) + 40), fitting;

	bytes += training_bytes(sets, rows, classes) + (uint64_t)(sets + 1) * columns * stride * sizeof(float);
	bytes += curvature_bytes(columns, features + 1, options->threads, &scratch);
	fitting = sweep_bytes(sets, columns, stride, options->threads) +
	          lockstep_bytes(sets, columns, stride, options->threads);
	fitting = fitting > scratch ? fitting : scratch;
	scratch = predict_bytes(sets, columns, stride, options->threads);
	fitting = fitting > scratch ? fitting : scratch;
	scratch = parallel_slots(options->threads) * groups * (sizeof(uint32_t) + 1) + groups * sizeof(uint32_t);
	fitting = fitting > scratch ? fitting : scratch;
	scratch = rows * 24 + filter_least(options->slice, rows) * 36;
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
	if (options->target > rows)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "--target-size %zu: there are %zu examples; with %zu they are measured, and none is removed",
		        options->target, rows, rows);
	if (data->classes > UINT16_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "%zu labels are more than classes can be: are they ids?",
		                 data->classes);
	return 0;
}

static int
allocate(struct filter *filter, const struct filter_data *data, struct portolan_error *error)
{
	size_t n = filter->total, length = filter_vector(filter);
	int code;

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
		return filter_out_of_memory(filter, error);
	memset(filter->start, 0, length * sizeof(float));
	code = curvature_init(&filter->curvature, filter->classes - 1, filter->matrix.features + 1, error);
	return code < 0 ? code
	                : training_init(&filter->training, filter->options.partitions, n, filter->classes, error);
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

/* By row; one piece of memory, whose start is `made`. */
static int
predict(const struct filter *filter, struct predictions *found, struct portolan_error *error)
{
	struct problem problem = filter_problem(filter);
	size_t rows = filter->matrix.rows;

	found->made = malloc(3 * rows * sizeof(uint32_t));
	if (!found->made)
		return filter_out_of_memory(filter, error);
	found->correct = found->made + rows;
	found->margins = (float *)(found->correct + rows);
	return predict_all(&problem, &filter->training, filter->weights, found, error);
}

/* Means over the examples, in their order. */
static void
summarise(const struct filter *filter, const struct predictions *found, struct filter_log *log)
{
	uint64_t made = 0, correct = 0, trained = 0;
	double sum = 0;

	log->left = filter->matrix.rows;
	for (size_t rank = 0; rank < filter->matrix.rows; rank++) {
		uint32_t row = filter->by_rank[rank];

		made += found->made[row];
		correct += found->correct[row];
		log->unpredicted += found->made[row] == 0;
		if (found->made[row])
			sum += found->correct[row] / (double)found->made[row];
	}
	for (size_t set = 0; set < filter->options.partitions; set++) {
		trained += filter->training.sizes[set];
		log->lacking += training_lacks_classes(&filter->training, set);
	}
	log->trained = (trained + filter->options.partitions / 2) / filter->options.partitions;
	log->mean_p = log->left > log->unpredicted ? sum / (double)(log->left - log->unpredicted) : NAN;
	log->accuracy = made ? (double)correct / (double)made : NAN;
}

static void
keep_scores(struct filter *filter, const struct predictions *found)
{
	for (size_t row = 0; row < filter->matrix.rows; row++) {
		uint32_t example = filter->examples[row];

		filter->scores.made[example] = found->made[row];
		filter->scores.correct[example] = found->correct[row];
		filter->scores.margins[example] = found->margins[row];
	}
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

/* Those that a phase would remove, `size` of them at most; slice->rows is the caller's to free(). */
static int
choose_slice(const struct filter *filter, const struct predictions *found, size_t size, struct slice *slice,
             struct filter_log *log, struct portolan_error *error)
{
	const struct filter_options *options = &filter->options;
	const struct slice_request request = {.made = found->made,
	                                      .correct = found->correct,
	                                      .margins = found->margins,
	                                      .order = filter->by_rank,
	                                      .count = filter->matrix.rows,
	                                      .size = size,
	                                      .threshold = options->threshold,
	                                      .heuristic = options->heuristic,
	                                      .ties = options->ties,
	                                      .seed = options->seed,
	                                      .phase = filter->phases};
	int code = slice_take(&request, slice, error);

	if (code < 0)
		return code;
	log->removed = slice->count;
	log->qualified = slice->qualified;
	log->lowest = slice->lowest;
	log->tied = slice->tied;
	log->tied_removed = slice->tied_removed;
	return 0;
}

/* Scores what is left, and removes a slice of this size at most. Of size 0, nothing of the filter's result changes. */
static int
score_and_remove(struct filter *filter, size_t size, bool keep, struct filter_log *log, struct portolan_error *error)
{
	struct predictions found = {0};
	struct slice slice = {0};
	int code = filter_draw(filter, error);

	if (code >= 0)
		code = filter_fit(filter, log, error);
	if (code >= 0)
		code = predict(filter, &found, error);
	if (code >= 0) {
		summarise(filter, &found, log);
		code = choose_slice(filter, &found, size, &slice, log, error);
	}
	if (code >= 0 && keep)
		keep_scores(filter, &found);
	if (code >= 0)
		remove_rows(filter, &slice);
	free(slice.rows);
	free(found.made);
	return code;
}

int
filter_phase(struct filter *filter, struct portolan_error *error)
{
	const struct filter_options *options = &filter->options;
	struct filter_log *log, line = {0};
	int code;

	if (filter->finished)
		return 0;
	log = realloc(filter->log, (filter->phases + 1) * sizeof(*log));
	if (!log)
		return filter_out_of_memory(filter, error);
	filter->log = log;
	code = score_and_remove(filter, filter_least(options->slice, filter->matrix.rows - options->target), true,
	                        &line, error);
	if (code < 0)
		return code;
	filter->finished = line.qualified < options->slice || filter->matrix.rows <= options->target;
	filter->log[filter->phases++] = line;
	return !filter->finished;
}

int
filter_measure(struct filter *filter, struct portolan_error *error)
{
	filter->kept = filter->log[filter->phases - 1];
	if (filter->kept.removed == 0)
		return 0;
	filter->kept = (struct filter_log){0};
	return score_and_remove(filter, 0, false, &filter->kept, error);
}

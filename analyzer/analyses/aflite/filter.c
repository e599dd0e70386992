/*
 * filter.c: runs AFLite, phase by phase, for `portolan aflite` (filter.h). In each phase training.c draws training
 * sets, filter_fit.c fits a classifier to each, predict.c scores the other examples with them, and slice.c chooses
 * which are removed.
 *
 * When a row of features is removed, the last row that stays takes its place, so few features move. Sums follow the
 * order of the rows, so a checkpoint keeps this order. Training sets are drawn by example, and do not depend on it.
 */
#include "filter.h"

#include "die/die.h"
#include "lockstep.h"
#include "predict.h"
#include "sweep.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const filter_model_names[] = {"logistic", "svm", NULL};

uint64_t
filter_bytes(const struct filter_options *options, size_t rows, size_t features, size_t classes, size_t groups)
{
	size_t stride = matrix_stride(features), columns = problem_count_columns(options->hinge, classes);
	size_t sets = options->partitions, scratch;
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

/* Refuses sizes that do not go together. */
static void
filter_check(const struct filter_options *options, const struct filter_data *data)
{
	size_t rows = data->rows;

	if (data->classes < 2 && !data->made)
		die("all examples have the same label: nothing can be predicted");
	if (options->train >= rows)
		die("--train-size %zu: there are %zu examples, and some must be left to predict", options->train, rows);
	if (options->train >= options->target)
		die("--train-size %zu must be below --target-size %zu: towards the end so many are left",
		    options->train, options->target);
	if (options->target > rows)
		die("--target-size %zu: there are %zu examples; with %zu they are measured, and none is removed",
		    options->target, rows, rows);
	if (data->classes > UINT16_MAX && !data->made)
		die("%zu labels are more than classes can be: are they ids?", data->classes);
}

static void
filter_allocate(struct filter *filter, const struct filter_data *data)
{
	size_t n = filter->total, length = data->made ? 0 : filter_vector(filter);

	filter->examples = memory_new(n, sizeof(uint32_t));
	filter->groups = data->groups ? memory_new(n, sizeof(uint32_t)) : NULL;
	filter->labels = memory_new(n, sizeof(uint16_t));
	filter->by_rank = memory_new(n, sizeof(uint32_t));
	filter->scores.removed = memory_new(n, sizeof(uint32_t));
	filter->scores.made = memory_new(n, sizeof(uint32_t));
	filter->scores.correct = memory_new(n, sizeof(uint32_t));
	filter->scores.margins = memory_new(n, sizeof(float));
	if (data->made)
		return;
	filter->weights = kernels_floats(filter->options.partitions * length);
	filter->start = kernels_floats(length);
	curvature_init(&filter->curvature, filter_columns(filter), filter->matrix.features + 1);
	training_init(&filter->training, filter->options.partitions, n, filter->classes);
}

void
filter_init(struct filter *filter, const struct filter_options *options, const struct filter_data *data)
{
	filter_check(options, data);
	*filter = (struct filter){.options = *options,
	                          .total = data->rows,
	                          .classes = data->classes,
	                          .group_count = data->group_count,
	                          .made = data->made,
	                          .correct = data->correct};
	filter->matrix = (struct matrix){
	        .rows = data->rows, .features = data->features, .stride = matrix_stride(data->features)};
	filter_allocate(filter, data);
	for (size_t i = 0; i < filter->total; i++) {
		filter->examples[i] = (uint32_t)i;
		filter->labels[i] = data->made ? 0 : (uint16_t)data->labels[i];
		if (data->groups)
			filter->groups[i] = data->groups[i];
	}
}

void
filter_load(struct filter *filter, const struct matrix_source *source)
{
	matrix_load(&filter->matrix, source, filter->examples, filter->matrix.rows);
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

/* Fills by_rank: the rows, by ascending example. */
static void
filter_rank(struct filter *filter)
{
	CLEANUP_FREE uint32_t *row_of = memory_new(filter->total, sizeof(*row_of));
	size_t rank = 0;

	memset(row_of, 0xff, filter->total * sizeof(*row_of));
	for (size_t row = 0; row < filter->matrix.rows; row++)
		row_of[filter->examples[row]] = (uint32_t)row;
	for (size_t example = 0; example < filter->total; example++)
		if (row_of[example] != UINT32_MAX)
			filter->by_rank[rank++] = row_of[example];
}

struct drawing {
	struct filter *filter;
	uint32_t *members; /* by group: its rows; NULL: there are no groups */
	uint32_t *counts;  /* by slot of the work: scratch, a number for each class */
	uint32_t *order;   /* by slot of the work: scratch, a number for each group */
	uint8_t *chosen;
};

static int
filter_draw_set(void *context, unsigned thread, unsigned slot, size_t set, struct portolan_error *error)
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

/* Draws the training sets of the phase that begins. */
static int
filter_draw(struct filter *filter, struct portolan_error *error)
{
	size_t slots = parallel_slots(filter->options.threads), groups = filter->groups ? filter->group_count : 0;
	CLEANUP_FREE uint32_t *counts = memory_new(slots * filter->classes, sizeof(uint32_t));
	CLEANUP_FREE uint32_t *members = groups ? memory_new(groups, sizeof(uint32_t)) : NULL;
	CLEANUP_FREE uint32_t *order = memory_new(slots * groups, sizeof(uint32_t));
	CLEANUP_FREE uint8_t *chosen = memory_new(slots * groups, 1);
	struct drawing drawing = {filter, members, counts, order, chosen};
	struct parallel parallel = {.threads = filter->options.threads,
	                            .count = filter->options.partitions,
	                            .context = &drawing,
	                            .work = filter_draw_set};

	filter_rank(filter);
	training_resize(&filter->training, filter->matrix.rows);
	for (size_t row = 0; members && row < filter->matrix.rows; row++)
		members[filter->groups[row]]++;
	return parallel_run(&parallel, error);
}

/* Computes the log's means over the examples. They are added in the order of the examples. */
static void
filter_summarise(const struct filter *filter, const struct predictions *found, struct filter_log *log)
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
	log->mean_p = log->left > log->unpredicted ? sum / (double)(log->left - log->unpredicted) : NAN;
	log->accuracy = made ? (double)correct / (double)made : NAN;
	for (size_t set = 0; set < filter->training.count; set++) {
		trained += filter->training.sizes[set];
		log->lacking += training_lacks_classes(&filter->training, set);
	}
	log->trained = (trained + filter->options.partitions / 2) / filter->options.partitions;
}

static void
filter_keep_scores(struct filter *filter, const struct predictions *found)
{
	for (size_t row = 0; row < filter->matrix.rows; row++) {
		uint32_t example = filter->examples[row];

		filter->scores.made[example] = found->made[row];
		filter->scores.correct[example] = found->correct[row];
		filter->scores.margins[example] = found->margins[row];
	}
}

/* Moves the last rows of the matrix, from the highest on, into the rows that become free, from the lowest on. */
static void
filter_remove_rows(struct filter *filter, const struct slice *slice)
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
		if (filter->matrix.values)
			memcpy(filter->matrix.values + row * filter->matrix.stride,
			       filter->matrix.values + last * filter->matrix.stride,
			       filter->matrix.stride * sizeof(float));
		filter->examples[row] = filter->examples[last];
		filter->labels[row] = filter->labels[last];
		if (filter->groups)
			filter->groups[row] = filter->groups[last];
	}
	filter->matrix.rows = left;
}

/* Chooses the examples that a phase would remove, `size` at most. */
static struct slice
filter_choose_slice(const struct filter *filter, const struct predictions *found, size_t size, struct filter_log *log)
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
	struct slice slice = slice_take(&request);

	log->removed = slice.count;
	log->qualified = slice.qualified;
	log->lowest = slice.lowest;
	log->tied = slice.tied;
	log->tied_removed = slice.tied_removed;
	return slice;
}

/* Predicts every example that is left with classifiers that were not trained on it. */
static int
filter_predict(struct filter *filter, struct predictions *found, struct filter_log *log, struct portolan_error *error)
{
	struct problem problem = filter_problem(filter);
	int code = filter_draw(filter, error);

	if (code >= 0)
		code = filter_fit(filter, log, error);
	if (code >= 0)
		predict_all(&problem, &filter->training, filter->weights, found);
	return code;
}

/* Takes the predictions that were given. */
static void
filter_take_given(struct filter *filter, struct predictions *found)
{
	filter_rank(filter);
	for (size_t row = 0; row < filter->matrix.rows; row++) {
		found->made[row] = filter->made[filter->examples[row]];
		found->correct[row] = filter->correct[filter->examples[row]];
	}
}

/* Scores the examples that are left, and removes a slice of at most `size` of them (0: none). `keep`: filter->scores
 * takes the new scores. */
static int
filter_score_and_remove(struct filter *filter, size_t size, bool keep, struct filter_log *log,
                        struct portolan_error *error)
{
	size_t rows = filter->matrix.rows;
	CLEANUP_FREE uint32_t *counts = memory_new(2 * rows, sizeof(*counts));
	CLEANUP_FREE float *margins = memory_new(rows, sizeof(*margins));
	struct predictions found = {counts, counts + rows, margins};
	struct slice slice;
	int code = 0;

	if (filter->made)
		filter_take_given(filter, &found);
	else
		code = filter_predict(filter, &found, log, error);
	if (code < 0)
		return code;
	filter_summarise(filter, &found, log);
	slice = filter_choose_slice(filter, &found, size, log);
	if (keep)
		filter_keep_scores(filter, &found);
	filter_remove_rows(filter, &slice);
	free(slice.rows);
	return 0;
}

int
filter_phase(struct filter *filter, struct portolan_error *error)
{
	const struct filter_options *options = &filter->options;
	size_t size = filter_least(options->slice, filter->matrix.rows - options->target);
	struct filter_log line = {0};
	int code;

	if (filter->finished)
		return 0;
	code = filter_score_and_remove(filter, size, true, &line, error);
	if (code < 0)
		return code;
	filter->finished = filter->made || line.qualified < options->slice || filter->matrix.rows <= options->target;
	filter->log = memory_need(realloc(filter->log, (filter->phases + 1) * sizeof(line)));
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
	return filter_score_and_remove(filter, 0, false, &filter->kept, error);
}

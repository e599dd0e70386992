/*
 * filter.h: runs AFLite for `portolan aflite`: removes the examples of a dataset that are easy to predict from their
 * features (Le Bras et al., "Adversarial Filters of Dataset Biases", ICML 2020, algorithm 1).
 *
 * While more than `target` examples are left, a phase scores each of them: how often are linear classifiers right about
 * it that were not trained on it? Then it removes a slice: at most so many examples, the most predictable ones. The
 * phase in which fewer examples than a slice qualify is the last.
 *
 *     filter_init(&filter, &options, &data); filter_load(&filter, &source)
 *     while ((code = filter_phase(&filter, error)) > 0)
 *             … filter.log[filter.phases − 1] …
 *     filter_measure(&filter, error); … filter.kept …
 *     … filter.scores; the examples that are left: filter.examples[0 … filter_left(&filter) − 1] …
 *     filter_free(&filter)
 */
#ifndef AFLITE_FILTER_H
#define AFLITE_FILTER_H

#include "curvature.h"
#include "matrix.h"
#include "slice.h"
#include "training.h"

extern const char *const filter_model_names[]; /* by `hinge` */

struct filter_options {
	size_t target, partitions, train, slice; /* n, m, t, k */
	double threshold;                        /* τ */
	enum slice_heuristic heuristic;
	enum slice_ties ties;
	uint64_t seed;
	double lambda;
	bool hinge; /* whether classifiers are support vector machines (problem.h); else logistic regression */
	bool cold;  /* every search for weights starts at zero: for tests */
	unsigned threads;
	const struct kernels *kernels;
};

struct filter_data {
	size_t rows, features;
	const uint32_t *labels; /* by example: below `classes` */
	size_t classes;
	const uint32_t *groups; /* by example: below group_count; NULL: each example is a group of its own */
	uint32_t group_count;
	/* by example: how many predictions were made of it, and how many of these are right; NULL: the filter makes its
	 * own predictions. Then there are no features, labels or groups, and one phase is all: a second would rank by
	 * the same predictions. */
	const uint32_t *made, *correct;
};

/* A line of the log: the phase that scored `left` examples. */
struct filter_log {
	uint64_t left, removed, qualified, tied, tied_removed, unpredicted;
	uint64_t trained;     /* the mean size of the training sets, rounded; with groups it differs from t */
	uint64_t lacking;     /* training sets without some class of the examples that are left */
	uint64_t unfinished;  /* classifiers that did not converge */
	uint64_t evaluations; /* how often a classifier was tried on its training set */
	double mean_p;
	double accuracy; /* of all predictions: Eq. 5 of the paper */
	double lowest;   /* the p at the cut */
};

/* By example: the results of the last phase that scored it. */
struct filter_scores {
	uint32_t *removed; /* the phase, from 1; 0: the example is kept */
	uint32_t *made, *correct;
	float *margins;
};

struct filter {
	struct filter_options options;
	struct matrix matrix; /* of the examples that are left */
	size_t total, classes;
	uint32_t group_count;
	/* by row of the matrix, in which the last row replaces one that is removed */
	uint32_t *examples, *groups;
	uint16_t *labels;
	uint32_t *by_rank; /* the rows, by ascending example */
	struct filter_scores scores;
	struct filter_log *log;
	size_t phases;          /* the number of phases that are done */
	struct filter_log kept; /* filter_measure(): the line of the examples that are left in the end */
	bool finished;
	const uint32_t *made, *correct; /* as in filter_data */
	/* private */
	struct training training;
	float *weights, *start; /* sets × columns × stride; columns × stride: where searches start */
	bool has_start;         /* whether `start` is the mean of a phase's classifiers */
	struct curvature curvature;
	size_t curved; /* how many rows were left when the curvature was computed; 0: never */
};

/* filter_init() ends the program if the sizes in `options` do not fit the data. It loads no features: checkpoint_read()
 * may come between, and says which examples are left. filter_load() then loads the features of these alone. */
void filter_init(struct filter *filter, const struct filter_options *options, const struct filter_data *data);
void filter_load(struct filter *filter, const struct matrix_source *source);
void filter_free(struct filter *filter); /* may be called twice */

/* Runs one phase. 1: another has to follow; 0: that was the last. */
int filter_phase(struct filter *filter, struct portolan_error *error);

/* After the last phase: scores the examples that are left, as a phase would, but removes none. If the last phase
 * removed nothing, its line of the log already has the scores. filter->scores stays as the phases left it. No phase and
 * no checkpoint come after it. Given predictions are only averaged over the examples that are left, which were chosen by
 * them: this is no estimate of what new models would get right. */
int filter_measure(struct filter *filter, struct portolan_error *error);

/* Fits a classifier to each training set: filter->weights, as predict_all() takes them. Fills `unfinished` and `evaluations` of the log. For filter.c. */
int filter_fit(struct filter *filter, struct filter_log *log, struct portolan_error *error);

/* The bytes that a filter takes in all; groups: 0 if each example is a group of its own. */
uint64_t filter_bytes(const struct filter_options *options, size_t rows, size_t features, size_t classes,
                      size_t groups);

static inline struct problem
filter_problem(const struct filter *filter)
{
	return (struct problem){.matrix = &filter->matrix,
	                        .labels = filter->labels,
	                        .classes = filter->classes,
	                        .lambda = filter->options.lambda,
	                        .hinge = filter->options.hinge,
	                        .kernels = filter->options.kernels,
	                        .threads = filter->options.threads};
}

static inline size_t
filter_columns(const struct filter *filter)
{
	return problem_count_columns(filter->options.hinge, filter->classes);
}

/* The floats of a classifier's weights. */
static inline size_t
filter_vector(const struct filter *filter)
{
	return filter_columns(filter) * filter->matrix.stride;
}

static inline size_t
filter_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many lines the log has. The last is that of the kept examples (removed = 0): the last phase's, or
 * filter->kept. */
static inline size_t
filter_lines(const struct filter *filter)
{
	return filter->phases + (filter->log[filter->phases - 1].removed > 0);
}

static inline const struct filter_log *
filter_line(const struct filter *filter, size_t line)
{
	return line < filter->phases ? &filter->log[line] : &filter->kept;
}

/* The line of the phase that removed the last slice; if none was removed, the only line. */
static inline const struct filter_log *
filter_last_cut(const struct filter *filter)
{
	size_t lines = filter_lines(filter);

	return filter_line(filter, lines > 1 ? lines - 2 : 0);
}

static inline size_t
filter_left(const struct filter *filter)
{
	return filter->matrix.rows;
}

#endif

/*
 * filter.h: Adversarial Filters of Dataset Biases (Le Bras et al., ICML 2020, algorithm 1): while more than `target`
 * examples are left, every phase scores each of them by how often linear classifiers that were not trained on it are
 * right about it, and removes the most predictable slice. A phase in which fewer than a slice qualify is the last.
 *
 *     filter_init(&filter, &options, &data, error); filter_load(&filter, &source, error)
 *     while ((code = filter_phase(&filter, error)) > 0)
 *             … filter.log[filter.phases − 1] …
 *     filter_measure(&filter, error); … filter.kept …
 *     … filter.scores, filter.rows left: filter.examples[0 … rows − 1] …
 *     filter_free(&filter)
 */
#ifndef AFLITE_FILTER_H
#define AFLITE_FILTER_H

#include "curvature.h"
#include "slice.h"
#include "training.h"

struct filter_options {
	size_t target, partitions, train, slice; /* n, m, t, k */
	double threshold;                        /* τ */
	enum slice_heuristic heuristic;
	enum slice_ties ties;
	uint64_t seed;
	double lambda;
	bool cold; /* every classifier starts at zero: for tests */
	unsigned threads;
	const struct kernels *kernels;
};

struct filter_data {
	size_t rows, features;
	const uint32_t *labels; /* by example, below classes */
	size_t classes;
	const uint32_t *groups; /* by example, below group_count; NULL: each is its own */
	uint32_t group_count;
};

/* One line of the log: the phase that scored `left` examples. */
struct filter_log {
	uint64_t left, removed, qualified, tied, tied_removed, unpredicted;
	uint64_t trained;     /* mean size of the training sets, rounded; differs from t with groups */
	uint64_t lacking;     /* training sets that lacked a class of those that are left */
	uint64_t unfinished;  /* classifiers that did not converge */
	uint64_t evaluations; /* times a classifier was tried on its training set */
	double mean_p, accuracy,
	        lowest; /* accuracy: of all predictions, Eq. 5 of the paper; lowest: the p at the cut */
};

/* By example, of the last phase that scored it. */
struct filter_scores {
	uint32_t *removed; /* phase, from 1; 0: kept */
	uint32_t *made, *correct;
	float *margins;
};

struct filter {
	struct filter_options options;
	struct matrix matrix;
	size_t total, classes;
	uint32_t group_count;
	/* by row of what is left; a row that becomes free is filled from the end */
	uint32_t *examples, *groups;
	uint16_t *labels;
	uint32_t *by_rank; /* rows by ascending example */
	struct filter_scores scores;
	struct filter_log *log;
	size_t phases;          /* done */
	struct filter_log kept; /* filter_measure(): the set that is left in the end; nothing removed */
	bool finished;
	/* private */
	struct training training;
	float *weights, *start; /* sets × columns × stride; the mean of the last phase's */
	bool has_start;
	struct curvature curvature;
	size_t curved; /* rows that were left when it was made; 0: never */
};

/* PORTOLAN_E_INVALID: sizes that do not go together. After a failure nothing is left. The features are not there yet:
 * before they are loaded, checkpoint_read() may say which are still needed. */
int filter_init(struct filter *filter, const struct filter_options *options, const struct filter_data *data,
                struct portolan_error *error);
int filter_load(struct filter *filter, const struct matrix_source *source, struct portolan_error *error);
void filter_free(struct filter *filter); /* may be called twice */

/* 1: one phase done, and more to do; 0: that was the last. */
int filter_phase(struct filter *filter, struct portolan_error *error);

/* After the last phase: scores what is left as one phase more would, and removes nothing; where the last phase removed
 * nothing, its line is the measurement. The scores by example stay those of the phases. No phase, or checkpoint, after
 * it. */
int filter_measure(struct filter *filter, struct portolan_error *error);

/* Bytes it takes, all in all; groups: 0 where each example is its own. */
uint64_t filter_bytes(const struct filter_options *options, size_t rows, size_t features, size_t classes,
                      size_t groups);

/* The log's lines, the kept set's the last, which has removed = 0: phases, and one more unless the last is that one. */
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

/* That of the phase that removed the last slice; where none was removed, the only one. */
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

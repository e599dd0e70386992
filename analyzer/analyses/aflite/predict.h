/* predict.h: lets the classifiers of a phase of AFLite predict the examples that they were not trained on, for
 * filter.c: from how often they are right it sees which examples are easy. */
#ifndef AFLITE_PREDICT_H
#define AFLITE_PREDICT_H

#include "training.h"

struct predictions {
	uint32_t *made, *correct; /* by row: the predictions made of it, and how many of them are right */
	float *margins; /* by row: the mean of z_gold − max other z over these predictions; 0 if there are none */
};

/* Fills `predictions`. `weights` is sets × problem_columns() × stride, relative to the
 * class in slot 0; where that has a column, it is 0. The bits do not depend
 * on the number of threads. */
void predict_all(const struct problem *problem, const struct training *training, const float *weights,
                 const struct predictions *predictions);

/* The bytes that predict_all() takes. */
size_t predict_bytes(size_t sets, size_t columns, size_t stride, unsigned threads);

#endif

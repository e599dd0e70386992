/*
 * margins.h: finds for each example the class that the model would give it. For runs without margins of logits, which
 * are those recorded as probabilities, it also computes the mean margin: how much surer the model was of the label than
 * of the next best class. For suspects.c.
 *
 * In an epoch that predicted another class the margin is ln p(label) − ln p(that class), which is the margin of the
 * logits. In an epoch that predicted the label the next best class was not recorded. Its probability is no greater than
 * p(label), than 1 − p(label), and than the root of the sum of squares of all others (other_sq): the least of these
 * stands in for it. Of two named classes the other one has 1 − p(label).
 * Probabilities below 1e-6 count as 1e-6: those of a forest may be 0.
 */
#ifndef SUSPECTS_MARGINS_H
#define SUSPECTS_MARGINS_H

#include "measures/dynamics.h"

/* The columns of the store that are read, beside those that every run has, as far as the run has them. */
#define MARGINS_SIGNALS                                                                                                \
	(STORE_COLUMN_BIT(STORE_MAX_PROB) | STORE_COLUMN_BIT(STORE_PREDICTED) | STORE_COLUMN_BIT(STORE_OTHER_SQ))

struct margins { /* begins as {0} */
	/* by dense index; NaN: no epoch of the example tells; NULL: they were not asked for */
	double *means;
	size_t count; /* how many have a mean */
	/* By dense index: the class other than the label that had most probability in the epochs that predicted it; of
	 * equals the lower one; -1: the model predicted no other class. */
	int32_t *others;
};

/* Reads a run that was loaded with gold labels and MARGINS_SIGNALS; the means only if they are wanted. */
void margins_read(struct margins *margins, const struct dynamics *dynamics, bool with_means);
void margins_free(struct margins *margins); /* may be called twice */

#endif

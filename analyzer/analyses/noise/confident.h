/*
 * confident.h: which labels confident learning calls wrong, as far as a record determines it.
 *
 * Source: Northcutt, Jiang and Chuang 2021, "Confident learning: estimating uncertainty in dataset labels",
 * section 3.1, equation 2; which examples are called, of those counted off the diagonal, as the published cleanlab has
 * it (filter_by="confident_learning").
 *
 * p_k is an example's probability of class k, the mean over its observed epochs, and t_k, the threshold of class k, the
 * mean of p_k over the examples labelled k. A label is called wrong where another class has p_k ≥ t_k, and the class
 * with the highest p_k is another one. (Both within 1e-6, cleanlab's tolerance. A class without label has no
 * threshold.)
 *
 * A record holds, of each epoch, p of the label and of the predicted class. So thresholds are exact, and of every other
 * class p_k lies between two bounds: the mean of max_prob over the epochs that predicted it, others counting 0; and the
 * same, others counting the most that one class can have of the rest: all of it, no more than max_prob, and no more
 * than the root of the rest's sum of squares (other_sq). Of K named classes, what K − 1 of them leave is the last
 * one's. Where both bounds give the same answer, it is exact. With one epoch that is nearly always so, with two named
 * classes always.
 */
#ifndef CONFIDENT_H
#define CONFIDENT_H

#include "measures/dynamics.h"

/* What confident_judge() reads beside confidence and gold. */
#define CONFIDENT_SIGNALS                                                                                              \
	(STORE_COLUMN_BIT(STORE_MAX_PROB) | STORE_COLUMN_BIT(STORE_PREDICTED) | STORE_COLUMN_BIT(STORE_OTHER_SQ))

struct confident_summary {
	size_t classes;          /* with a threshold */
	double least, greatest;  /* of the thresholds */
	size_t labelled, called; /* examples: with a label; of them, certainly called wrong */
	size_t open;             /* and those that the record leaves open */
};

/* called[], by dense index: 1 where the label is certainly called wrong. Needs confidence and gold, and the run opened
 * with CONFIDENT_SIGNALS. PORTOLAN_E_INVALID: the run has no labels, or was recorded without these signals. */
int confident_judge(const struct dynamics *dynamics, uint8_t *called, struct confident_summary *summary,
                    struct portolan_error *error);

#endif

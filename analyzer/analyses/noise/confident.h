/*
 * confident.h: which labels confident learning calls wrong, as far as a record determines it.
 *
 * Source: Northcutt, Jiang and Chuang 2021, "Confident learning: estimating uncertainty in dataset labels",
 * section 3.1, equation 2. Of the examples counted off the diagonal, those are called that the published cleanlab calls
 * with filter_by="confident_learning".
 *
 * p_k is an example's probability of class k, the mean over its observed epochs, and t_k, the threshold of class k, the
 * mean of p_k over the examples labelled k. A label is called wrong where another class has p_k ≥ t_k, and the class
 * with the highest p_k is another one. (Both within 1e-6, cleanlab's tolerance. A class without label has no
 * threshold.)
 *
 * A record holds, of each epoch, p of the label and of the predicted class. So thresholds are exact. p_k of another
 * class lies between two bounds. Both are a mean over the epochs, to which an epoch that predicted the class adds its
 * max_prob. To the lower bound the other epochs add 0. To the upper bound they add the most that one class can have of
 * the probability that the label and the predicted class leave: no more than max_prob, and no more than the root of the
 * sum of squares (other_sq). If K − 1 of K named classes are known, the last one has what they leave. Where both bounds
 * give the same answer, it is exact. With one epoch that is nearly always so, with two named classes always.
 */
#ifndef CONFIDENT_H
#define CONFIDENT_H

#include "measures/dynamics.h"

/* What confident_judge() reads beside confidence and gold. */
#define CONFIDENT_SIGNALS                                                                                              \
	(STORE_COLUMN_BIT(STORE_MAX_PROB) | STORE_COLUMN_BIT(STORE_PREDICTED) | STORE_COLUMN_BIT(STORE_OTHER_SQ))

struct confident_summary {
	size_t classes;          /* with a threshold */
	double least, greatest;  /* threshold */
	size_t labelled, called; /* examples with a label, and those of them that are certainly called wrong */
	size_t open;             /* examples with a label of which the record leaves it open */
};

/* called[], by dense index: 1 where the label is certainly called wrong. Needs confidence and gold, and the run opened
 * with CONFIDENT_SIGNALS. PORTOLAN_E_INVALID: the run has no labels, or was recorded without these signals. */
int confident_judge(const struct dynamics *dynamics, uint8_t *called, struct confident_summary *summary,
                    struct portolan_error *error);

#endif

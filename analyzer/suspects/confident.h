/*
 * confident.h: judges the label of every example of a run by the rule of confident learning, and says which class the
 * model would give instead. For `portolan suspects` and `noise confident`.
 */
#ifndef CONFIDENT_H
#define CONFIDENT_H

#include "measures/dynamics.h"

/* What a run must be loaded with, beside its gold labels. The columns in the mask may be missing in the run. */
#define CONFIDENT_MEASURES MEASURE_BIT(MEASURE_CONFIDENCE)
#define CONFIDENT_SIGNALS                                                                                              \
	(STORE_COLUMN_BIT(STORE_MAX_PROB) | STORE_COLUMN_BIT(STORE_PREDICTED) | STORE_COLUMN_BIT(STORE_OTHER_SQ))

struct confident {       /* begins as {0} */
	uint8_t *called; /* by dense index; 1: the label is certainly called wrong */
	/* By dense index: of the classes that are not the label, the one that had most of the probability in the epochs
	 * that predicted it; -1: no other class was predicted. Of two named classes it is always the other one. */
	int32_t *suggested;
	size_t classes;         /* classes with a threshold */
	double least, greatest; /* of the thresholds */
	size_t labelled;        /* examples with a label */
	size_t open; /* labelled examples for which the record leaves it open whether the label is called wrong */
};

/* Was the run recorded with the predicted classes, without which (nearly) every answer is open? */
bool confident_is_possible(const struct dynamics *dynamics);

/* Judges the labels of a run, of which one at least must be known. */
void confident_judge(struct confident *confident, const struct dynamics *dynamics);
void confident_free(struct confident *confident); /* may be called twice */

#endif

/*
 * sides.h: tells whether a model leans on a token, for artifacts --run. It compares the model's answers on the records that
 * hold the token and have its leading label (the majority side) with those on the records that hold it and have another
 * label (the minority side). Han Chen, Figures 2 and 4, Table 1.
 */
#ifndef SIDES_H
#define SIDES_H

#include "holders.h"
#include "measures/dynamics.h"

#include <math.h>

enum { SIDE_MAJORITY, SIDE_MINORITY, SIDES };

struct side {
	uint64_t n;        /* the number of records whose example the run observed */
	uint64_t *seen;    /* by epoch of dynamics->epochs: the number observed in the epoch */
	uint64_t *correct; /* by epoch: the number that the model classified correctly */
	double *means;     /* the mean of each of the dynamics' columns; NaN: there is no value */
};

struct sides {
	struct side (*tokens)[SIDES];
	struct side overall; /* all examples of the run; without means */
	struct side touched; /* examples with a record that holds one of the tokens; without means */
	size_t token_count, epoch_count;
	uint64_t unmatched; /* the number of records that hold a token and whose example was not observed */
	/* private */
	uint64_t *numbers;
	double *values;
};

/* `dynamics` has the measure correctness. The holders' examples are positions in dynamics->order. */
void sides_make(struct sides *sides, const struct holders *holders, const struct ranked_token *tokens,
                size_t token_count, const struct dynamics *dynamics);
void sides_free(struct sides *sides);

/* The accuracy at an epoch; NaN: nothing was observed in it. */
static inline double
side_accuracy(const struct side *side, size_t epoch)
{
	return side->seen[epoch] ? (double)side->correct[epoch] / (double)side->seen[epoch] : (double)NAN;
}

#endif

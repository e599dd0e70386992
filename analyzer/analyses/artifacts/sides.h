/*
 * sides.h: does a model lean on a token? How it did on the records that hold the token and have its leading label (the
 * majority side), beside those that hold it and have another (the minority side); Han Chen, Figures 2 and 4, Table 1.
 */
#ifndef SIDES_H
#define SIDES_H

#include "holders.h"
#include "measures/dynamics.h"

#include <math.h>

enum { SIDE_MAJORITY, SIDE_MINORITY, SIDES };

struct side {
	uint64_t n;        /* records whose example the run observed */
	uint64_t *seen;    /* by epoch of dynamics->epochs: of these, observed in it, */
	uint64_t *correct; /* and classified correctly */
	double *means;     /* of the dynamics' columns; NaN: of nothing. Those of a token's next side follow */
};

struct sides {
	struct side (*tokens)[SIDES];
	struct side overall,
	        touched; /* all examples of the run; those with a record that holds a token. Without means */
	size_t token_count, epoch_count;
	uint64_t unmatched; /* records that hold one of the tokens, and whose example was not observed */
	/* private */
	uint64_t *numbers;
	double *values;
};

/* `dynamics` were loaded with correctness; the holders' examples are positions in dynamics->order. */
int sides_make(struct sides *sides, const struct holders *holders, const struct ranked_token *tokens,
               size_t token_count, const struct dynamics *dynamics, struct portolan_error *error);
void sides_free(struct sides *sides); /* may be called twice */

/* NaN: nothing was observed. */
static inline double
side_accuracy(const struct side *side, size_t epoch)
{
	return side->seen[epoch] ? (double)side->correct[epoch] / (double)side->seen[epoch] : (double)NAN;
}

#endif

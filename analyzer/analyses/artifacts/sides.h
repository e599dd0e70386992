/*
 * sides.h: shows whether a model leans on a token, for `portolan artifacts --run`. It compares the model's answers on
 * the records that hold the token and have its leading label (the majority side) with those on the records that hold it
 * and have another label (the minority side). Han Chen, Figures 2 and 4, Table 1.
 */
#ifndef SIDES_H
#define SIDES_H

#include "holders.h"
#include "measures/dynamics.h"

#include <math.h>

enum { SIDE_MAJORITY, SIDE_MINORITY, SIDES };

/* How many records, or examples, were observed, and how many of these the model classified correctly. */
struct answers {
	uint64_t seen, correct;
};

struct side {
	uint64_t n;             /* the number of records whose example the run observed */
	struct answers *epochs; /* by epoch of dynamics->epochs: the answers in it */
	double *means;          /* the mean of each of the dynamics' columns; NaN: there is no value */
};

struct sides {
	struct side (*tokens)[SIDES];
	struct side overall; /* all examples of the run; without means */
	struct side touched; /* examples with a record that holds one of the tokens; without means */
	size_t token_count, epoch_count;
	uint64_t unmatched; /* the number of records that hold a token and whose example was not observed */
	/* private */
	struct answers *answers;
	double *values;
};

/* `dynamics` has the measure correctness. The holders' examples are positions in dynamics->order. */
void sides_make(struct sides *sides, const struct holders *holders, const struct ranked_token *tokens,
                size_t token_count, const struct dynamics *dynamics);
void sides_free(struct sides *sides);

/* The share of correct answers; NaN: nothing was observed. */
static inline double
answers_accuracy(struct answers answers)
{
	return answers.seen ? (double)answers.correct / (double)answers.seen : (double)NAN;
}

#endif

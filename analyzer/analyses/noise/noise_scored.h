/* noise_scored.h: a run whose examples have scores of suspicion: the higher the score, the more suspect is the label.
 * For the actions of `portolan noise` that print examples, the most suspect first. */
#ifndef NOISE_SCORED_H
#define NOISE_SCORED_H

#include "measures/dynamics.h"
#include "noise.h"

struct noise_scored { /* begins as {0} */
	struct dynamics dynamics;
	double *scores;   /* by dense index; NaN: none */
	uint8_t *called;  /* by dense index; 1: the method itself calls the label wrong */
	size_t set_aside; /* examples that are not to be scored */
};

/* Loads the run, as `wanted` says, and makes room for its scores. */
void noise_scored_load(const struct noise_request *request, const struct dynamics_request *wanted,
                       struct noise_scored *scored);
void noise_scored_free(struct noise_scored *scored); /* may be called twice */

struct noise_scored_counts {
	size_t called, scored; /* how many examples are called mislabelled, and how many have a score */
	size_t left_out;       /* how many examples have no score, and were not set aside */
};

/* Prints id and score of the examples that were asked for. Those that are called mislabelled come first. Within either
 * part the order is by descending score; then ascending `measure` (descending where it is a loss), from which the scores were computed (many scores are
 * 1 to the last digit); then ascending id. Aligned columns have only the first and the last examples, unless a number
 * was asked for. */
struct noise_scored_counts noise_scored_print(const struct noise_request *request, const struct noise_scored *scored,
                                              enum measure measure);

/* Warns of examples without a score (`why` says why they have none), and of what is incomplete in the run. Returns an
 * exit status. */
int noise_scored_end(const struct noise_request *request, const struct noise_scored *scored,
                     const struct noise_scored_counts *counts, const char *why);

#endif

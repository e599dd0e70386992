/* noise_scored.h: a run whose examples are scored, and printed by noise's actions the most suspect first. */
#ifndef NOISE_SCORED_H
#define NOISE_SCORED_H

#include "noise.h"

struct noise_scored {
	struct dynamics dynamics;
	double *scores;   /* by dense index; NaN: none */
	uint8_t *called;  /* by dense index; 1: the method itself calls the label wrong */
	size_t set_aside; /* examples that are not to be scored */
};

/* Loads the run with what is wanted, and room for scores. On success end with noise_scored_free(). */
int noise_scored_load(const struct noise_request *request, const struct dynamics_request *wanted,
                      struct noise_scored *scored, struct portolan_error *error);
void noise_scored_free(struct noise_scored *scored);

/* Calls those that have a score above 0.5. */
void noise_scored_call_above_half(struct noise_scored *scored);

/* How many were called, of how many. */
struct noise_scored_counts {
	size_t called, scored, left_out; /* left_out: without score, beyond those set aside */
};

/* Prints the suspects, of equal scores the lower `measure` first. */
int noise_scored_print(const struct noise_request *request, const struct noise_scored *scored, enum measure measure,
                       struct noise_scored_counts *counts, struct portolan_error *error);

/* Warns of those left out, where there are any: `why`; and of what is incomplete. An exit status. */
int noise_scored_end(const struct noise_request *request, const struct noise_scored *scored,
                     const struct noise_scored_counts *counts, const char *why);

#endif

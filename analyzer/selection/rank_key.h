/*
 * rank_key.h: the place of an example in a rule's order as a number, so that parts of a run can be ranked apart.
 *
 * Keys ascend in rank order; equal ones go by ascending id. Pure; safe from any thread.
 */
#ifndef RANK_KEY_H
#define RANK_KEY_H

#include "selection.h"

struct rank_key {
	struct selection_rule rule;     /* not SELECT_K_CENTER */
	const struct region_cuts *cuts; /* SELECT_REGION */
	const double *threshold;        /* NULL: none */
	const uint32_t *ranks;          /* SELECT_RANDOM: by dense index; RANK_KEY_NONE: not drawn */
};
#define RANK_KEY_NONE UINT32_MAX

/* Where the numbers of a part of the run are. */
struct rank_values {
	const struct rank_key *key;
	const struct dynamics *part;
	const double *values, *never, *variability, *confidence;
};

/* The part must have the columns that the rule requests. */
struct rank_values rank_values_of(const struct rank_key *key, const struct dynamics *part);

/* False: the rule's set, or the threshold, leaves this example out. */
bool rank_key_of(const struct rank_values *values, uint32_t row, uint64_t *key);

#endif

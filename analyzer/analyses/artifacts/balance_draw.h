/* balance_draw.h: draws records for one token and label after another, for balance.c. */
#ifndef BALANCE_DRAW_H
#define BALANCE_DRAW_H

#include "balance.h"
#include "statistics/random.h"

struct balance_pools {
	size_t *starts;   /* tokens × labels, and the end: where the groups of a token and label begin in `groups` */
	uint32_t *groups; /* the groups that hold a token with a label */
};

/* The counts and repeats at the moment when ΣD was lowest. */
struct balance_lowest {
	unsigned iterations;
	uint64_t imbalance, added;
	uint64_t *counts;
	uint32_t *repeats;
};

struct balance_work {
	const struct balance_request *request;
	struct balance *balance;
	struct balance_pools pools;
	size_t *leaders;     /* by token: the leading label */
	uint32_t *available; /* by group: the number of members that are below their limit */
	uint32_t *members;   /* by group: its members, those below their limit first */
	uint64_t *tree;      /* sums of the records in `choice`; begins at index 1 */
	uint32_t *choice;    /* the groups from which a draw has the fewest conflicts */
	size_t chosen;       /* the number of groups in `choice` */
	uint64_t total;      /* the number of records that these groups may give */
	struct balance_lowest lowest;
	struct random_state random;
};

static inline uint64_t *
balance_count(const struct balance_work *work, size_t token, size_t label)
{
	return &work->balance->after[token * work->request->label_count + label];
}

/* D(s,l) of the current counts. */
static inline uint64_t
balance_lack_now(const struct balance_work *work, size_t token, size_t label)
{
	return balance_lack(balance_count(work, token, 0), work->request->shares, work->leaders[token], label);
}

/* Finds the groups that hold each token with each label. */
void balance_make_pools(struct balance_work *work);

/* Draws what one iteration draws for this token and label. False: there would be more than 2^31 repeats. */
bool balance_visit(struct balance_work *work, size_t token, size_t label);

#endif

/* balance_draw.h: the draws of balance.c, for one token and label after another. */
#ifndef BALANCE_DRAW_H
#define BALANCE_DRAW_H

#include "balance.h"
#include "statistics/random.h"

struct balance_pools {
	size_t *starts; /* of token × label, and the end */
	uint32_t *groups;
};

/* What stood when ΣD was lowest. */
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
	size_t *leaders;     /* the leading label, by token */
	uint32_t *available; /* by group: so many of its members are not at their limit, */
	uint32_t *members;   /* and these stand first */
	uint64_t *tree;      /* of the choice; from 1 */
	uint32_t *choice;    /* groups, a draw from any of which is as good */
	size_t chosen;
	uint64_t total; /* records of the choice */
	struct balance_lowest lowest;
	struct random_state random;
};

static inline uint64_t *
balance_count(const struct balance_work *work, size_t token, size_t label)
{
	return &work->balance->after[token * work->request->label_count + label];
}

/* D(s,l) now. */
static inline uint64_t
balance_lack_now(const struct balance_work *work, size_t token, size_t label)
{
	return balance_lack(balance_count(work, token, 0), work->request->shares, work->leaders[token], label);
}

/* The groups that hold each token with each label, from the request's holders. */
void balance_make_pools(struct balance_work *work);

/* Draws for token and label what one iteration draws; false: there would be more repeats than may be. */
bool balance_visit(struct balance_work *work, size_t token, size_t label);

#endif

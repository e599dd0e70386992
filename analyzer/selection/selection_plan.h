/* selection_plan.h: a whole selection: a rule, a size, by class or mixed with other rules. */
#ifndef SELECTION_PLAN_H
#define SELECTION_PLAN_H

#include "selection.h"

#define SELECTION_MIXES_MAX 8

struct selection_mix {
	struct selection_rule rule;
	double fraction; /* of the selection */
};

struct selection_plan {
	struct selection_rule rule;
	bool has_size;   /* otherwise: all that the rule ranks */
	double fraction; /* of the examples observed, when count is 0 */
	uint64_t count;
	bool per_class;  /* the size is each class's; not together with mixes */
	struct selection_mix mixes[SELECTION_MIXES_MAX];
	size_t mix_count;
	uint64_t seed;
};

/* What must be loaded for it. */
void selection_plan_request(const struct selection_plan *plan, struct dynamics_request *request);

/* *chosen (the caller's to free) lists *count dense indices in rank order; those of mixes after those of the rule. */
int selection_plan_choose(const struct selection_plan *plan, const struct dynamics *dynamics, uint32_t **chosen,
                          size_t *count, struct portolan_error *error);

#endif

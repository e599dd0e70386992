/*
 * passes.h: a selection made in passes over an opened run, for a run too long to be held in memory.
 *
 * What it takes is what selection_plan_take() takes, in the same order, without a number for each example: a pass takes
 * a sample of the ranks, a second counts what lies between them, and then slices of the order that fit into memory are
 * read one after another, until enough are taken. Random selections keep 4 bytes for each example, and need ids that
 * ascend in the order of the store.
 */
#ifndef PASSES_H
#define PASSES_H

#include "census.h"
#include "selection_plan.h"

struct passes_request {
	const struct region_cuts *cuts; /* NULL: regions_default_cuts() of the run's examples */
	const double *threshold;        /* NULL: none */
	uint64_t seed;
};

struct passes {
	struct dynamics *run;
	struct passes_request request;
	struct census census;
	struct region_cuts cuts;
	uint64_t slice_memory;
};

/* Can the plan be made in passes at all? k-center cannot. */
bool passes_can(const struct selection_plan *plan);

/*
 * Counts the run, and finds the regions' cuts where the plan needs them. Keeps the run, and lowers its threads to what
 * max_memory has room for. PORTOLAN_E_INVALID: that is too little; random, where ids do not ascend.
 */
int passes_open(struct passes *passes, struct dynamics *run, const struct selection_plan *plan,
                const struct passes_request *request, struct portolan_error *error);
void passes_close(struct passes *passes); /* may be called twice */

/* Calls `take` with the examples chosen, in their order, some at a time: rows of a part of the run. *asked is the size
 * meant, *count how many were taken. */
int passes_take(const struct passes *passes, const struct selection_plan *plan,
                int (*take)(void *context, const struct dynamics *part, const uint32_t *rows, size_t count,
                            struct portolan_error *error),
                void *context, size_t *count, size_t *asked, struct portolan_error *error);

#endif

/* selection_plan.h: the plan of a whole selection, and its result, for `portolan select`: a rule and a size, and
 * perhaps both ends of the ranking, a share of each class, or other rules mixed in. */
#ifndef SELECTION_PLAN_H
#define SELECTION_PLAN_H

#include "selection.h"

#define SELECTION_MIXES_MAX 8
#define SELECTION_PARTS_MAX (SELECTION_MIXES_MAX + 2) /* the rule, its other end, the mixes */

struct selection_mix {
	struct selection_rule rule;
	double fraction; /* what share of the selection comes from it */
};

enum selection_classes {
	SELECTION_CLASSES_ANY,
	SELECTION_CLASSES_EACH,       /* each class gets the size */
	SELECTION_CLASSES_STRATIFIED, /* the size is shared out in proportion to the classes */
};

struct selection_plan {
	struct selection_rule rule;
	bool has_size;   /* otherwise: all that the rule ranks */
	double fraction; /* the size as a share of the source's examples, when count is 0 */
	bool published;  /* fractions are cut as the code published with Swayamdipta et al. 2020 cuts them */
	uint64_t count;
	bool smallest;         /* in place of a count, with EACH: the size is that of the smallest class */
	double offset;         /* how many of the first in the ranking are skipped: a share of the source's examples, */
	uint64_t offset_count; /* or this number, unless it is 0; EACH: in each class; STRATIFIED: in proportion */
	/* the share of the rule's own examples that comes from its top; the rest comes from its other end */
	double top_share;
	enum selection_classes classes;                  /* not ANY: needs a size. Examples without label are a class */
	struct selection_mix mixes[SELECTION_MIXES_MAX]; /* need a size */
	size_t mix_count;
};

/* Adds to the request what must be loaded for the plan. */
void selection_plan_request(const struct selection_plan *plan, struct dynamics_request *request);

/* Lists the rules of the plan's parts: its own rule, that turned round, the mixes. Returns how many there are. */
size_t selection_plan_parts(const struct selection_plan *plan, struct selection_rule rules[SELECTION_PARTS_MAX]);

/* The ranking of each part of a plan: computed once, for selections of several sizes. */
struct selection_ranking {
	uint32_t *lists[SELECTION_PARTS_MAX];
	size_t counts[SELECTION_PARTS_MAX];
};

/* Can the plan be carried out? PORTOLAN_E_INVALID: the run lacks the signals for a measure, or the plan needs classes,
 * and the run has no gold labels. */
int selection_plan_check(const struct selection_plan *plan, const struct selection_source *source,
                         struct portolan_error *error);

/* Ranks as many examples as the plan, which was checked, can take with its own size and with each of `fractions`. */
void selection_plan_rank(const struct selection_plan *plan, const struct selection_source *source,
                         const double *fractions, size_t fraction_count, struct selection_ranking *ranking);
void selection_ranking_free(struct selection_ranking *ranking); /* may be called twice */

/*
 * Lists the selected examples, *count different dense indices, which the caller passes to array_free(): those of the
 * rule in rank order, those of its other end in the order from that end, those of the mixes in their own order. A part
 * skips the examples of the parts before it. *asked is the size asked for, which a rule that is a set may not reach.
 */
uint32_t *selection_plan_take(const struct selection_plan *plan, const struct selection_source *source,
                              const struct selection_ranking *ranking, size_t *count, size_t *asked);

#endif

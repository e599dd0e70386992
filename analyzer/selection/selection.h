/*
 * selection.h: ranks examples by a selection rule such as "ambiguous" or "confidence:asc". For `portolan select`,
 * `noise`, `compare` and `groups`.
 *
 * A rule is a measure with a direction, or a set with an order within it, or one of the baselines that have neither.
 * Ties are in the order of ascending ids, and examples without a value of the measure come last.
 */
#ifndef SELECTION_H
#define SELECTION_H

#include "base/sort.h"
#include "features.h"
#include "measures/dynamics.h"
#include "regions/regions.h"
#include "sizes.h"

enum selection_kind {
	SELECT_MEASURE,
	SELECT_FORGETTABLE, /* the set: forgotten, or never learned; ranked as SELECT_FORGETTING */
	SELECT_FORGETTING, /* by forgetting events as dynamics->never_learned counts them (Toneva et al. 2019); of FLAG the
	                     * never learned first */
	SELECT_REGION,     /* a region; ranked as the rule of the same name */
	SELECT_GROUP,      /* a group of Data-IQ; ranked by the measure that puts an example into it */
	SELECT_RANDOM,
	SELECT_K_CENTER,  /* needs features */
	SELECT_DUAL_BETA, /* drawn as beta.h says; depends on the size */
	SELECT_S2L,       /* by clusters of losses: see trajectories.h */
	SELECT_BY_ID,     /* all there is, by ascending id; has no name */
};

struct selection_rule {
	enum selection_kind kind;
	char measure[256]; /* SELECT_MEASURE, SELECT_REGION, SELECT_GROUP: a measure's name, or a user column's */
	bool descending;
	enum region region; /* SELECT_REGION; SELECT_GROUP: see data_iq.h */
	size_t strata;      /* of SELECT_MEASURE: see strata.h; 0: by rank */
	double cut;         /* with strata: the share that is left out first */
};

/* The names of rules: ambiguous, hard-to-learn, …, region:ambiguous, …. */
extern const char *const selection_names[];
#define SELECTION_NAMES 21

/* "ambiguous", "confidence:asc", …; false: neither a name nor MEASURE:asc or MEASURE:desc. */
bool selection_rule_parse(const char *text, struct selection_rule *rule);

/* "variability:desc", "never learned, then forgetting_events:desc", …: the rule in words, for manifests. */
void selection_rule_describe(const struct selection_rule *rule, char *text, size_t room);

/* Is the rule a set, which can be taken whole without a size? */
bool selection_rule_is_set(const struct selection_rule *rule);

/* Ranks from the other end: the same measure in the opposite direction. False: the rule has no other end. */
bool selection_rule_reverse(struct selection_rule *rule);

/* Adds what the rule needs to be loaded. */
void selection_rule_request(const struct selection_rule *rule, struct dynamics_request *request);

/* False: neither a measure of ours nor a column of the run. */
bool selection_rule_is_known(const struct selection_rule *rule, const struct dynamics *dynamics);

/* The examples to choose from, and parameters beside the rule. */
struct selection_source {
	const struct dynamics *dynamics;
	const uint32_t *order; /* dense indices by ascending id */
	size_t count;
	const struct region_cuts *cuts;  /* NULL: regions_default_cuts() of the run's examples */
	const double *threshold;         /* NULL: none; else only values from here on (ascending: up to here) */
	const struct features *features; /* NULL: SELECT_K_CENTER cannot be */
	double beta_c;                   /* of SELECT_DUAL_BETA */
	size_t clusters;                 /* of SELECT_S2L, at least 1 */
	unsigned threads;                /* at least 1 */
	uint64_t seed;
};

/* Can the run be ranked by the rule, which it knows? PORTOLAN_E_INVALID: it has not the signals for the measure. */
int selection_rule_check(const struct selection_rule *rule, const struct dynamics *dynamics,
                         struct portolan_error *error);

/* The first `limit` at most that the rule ranks: fills ranked[] (room for limit, ≤ count) with dense indices in rank
 * order, and returns how many, fewer than limit where the rule's set, or what the threshold leaves, is smaller. Memory
 * grows with limit. Where selection_rule_check() fails, or an example has no features, the program ends. */
size_t selection_rank_first(const struct selection_source *source, const struct selection_rule *rule, size_t limit,
                            uint32_t *ranked);

/* The same for all observed examples: room for dynamics->count. */
size_t selection_rank(const struct dynamics *dynamics, const struct selection_rule *rule, uint64_t seed,
                      uint32_t *ranked);

/* The pure functions. `order` lists n examples by ascending id; `items` has room for 2 n. */
void selection_by_values(const double *values, bool descending, const uint32_t *order, size_t n,
                         struct sort_item *items, uint32_t *ranked);

/* +∞ for the never learned, else the forgetting events; over `rows` dense indices. */
void selection_forgetting_values(const double *events, const double *never_learned, size_t rows, double *values);

/* Lists those of `order` whose value is at least `from` and at most `to`; returns how many. kept may be order. */
size_t selection_keep_within(const double *values, double from, double to, const uint32_t *order, size_t n,
                             uint32_t *kept);

#endif

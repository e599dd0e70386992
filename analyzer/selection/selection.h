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
	SELECT_FORGETTABLE, /* the set of examples that were forgotten or never learned; ranked as SELECT_FORGETTING */
	/* by forgetting events, counted as dynamics->never_learned says (Toneva et al. 2019); with FLAG, examples that
	 * were never learned come first */
	SELECT_FORGETTING,
	SELECT_REGION, /* a region; ranked as the rule of the same name */
	SELECT_GROUP,  /* a group of Data-IQ; ranked by the measure that puts an example into it */
	SELECT_RANDOM,
	SELECT_K_CENTER,  /* needs features */
	SELECT_DUAL_BETA, /* drawn as beta.h says; depends on the size */
	SELECT_S2L,       /* by clusters of losses: see trajectories.h */
	SELECT_BY_ID,     /* all examples by ascending id */
};

struct selection_rule {
	enum selection_kind kind;
	char measure[256]; /* SELECT_MEASURE, SELECT_REGION, SELECT_GROUP: a measure's name, or a user column's */
	bool descending;
	enum region region; /* SELECT_REGION; SELECT_GROUP: see data_iq.h */
	/* for SELECT_MEASURE: the number of strata, see strata.h; 0: the examples are taken by rank */
	size_t strata;
	double cut; /* with strata: the share of examples that is left out first */
};

/* The names of rules: ambiguous, hard-to-learn, …, region:ambiguous, …. */
extern const char *const selection_names[];
#define SELECTION_NAMES 22

/* Parses a rule: "ambiguous", "confidence:asc", …. False: the text is neither a name nor MEASURE:asc or
 * MEASURE:desc. */
bool selection_rule_parse(const char *text, struct selection_rule *rule);

/* Puts the rule into words, for manifests: "variability:desc", "never learned, then forgetting_events:desc", …. */
void selection_rule_describe(const struct selection_rule *rule, char *text, size_t room);

/* Is the rule a set, which can be taken whole without a size? */
bool selection_rule_is_set(const struct selection_rule *rule);

/* Turns the rule round, to rank from the other end: the same measure in the opposite direction. False: the rule has no
 * other end. */
bool selection_rule_reverse(struct selection_rule *rule);

/* Makes the rules hard-to-learn and easy-to-learn those of a run of losses, once it is known that the run is one: they
 * go by task_loss then, from the other end. */
void selection_rule_settle(struct selection_rule *rule, const struct dynamics *dynamics);

/* Adds to the request what must be loaded for the rule. */
void selection_rule_request(const struct selection_rule *rule, struct dynamics_request *request);

/* Does the rule name a measure of ours, or a column of the run? */
bool selection_rule_is_known(const struct selection_rule *rule, const struct dynamics *dynamics);

/* The examples to choose from, and parameters beside the rule. */
struct selection_source {
	const struct dynamics *dynamics;
	const uint32_t *order; /* dense indices by ascending id */
	size_t count;
	const struct region_cuts *cuts; /* NULL: regions_default_cuts() of the run's examples */
	/* NULL: none; else only examples whose value is at least this (ascending: at most this) are taken */
	const double *threshold;
	const struct features *features; /* NULL: there are none, so SELECT_K_CENTER cannot rank */
	double beta_c;                   /* for SELECT_DUAL_BETA */
	size_t clusters, starts;         /* for SELECT_S2L, at least 1 */
	const uint32_t *sources;         /* for SELECT_S2L: see sources.h; NULL: there is one */
	size_t source_count;
	unsigned threads; /* at least 1 */
	uint64_t seed;
};

/* Can the run be ranked by the rule? The run must know the rule's measure. PORTOLAN_E_INVALID: it lacks the signals for
 * that. */
int selection_rule_check(const struct selection_rule *rule, const struct dynamics *dynamics,
                         struct portolan_error *error);

/* Ranks, and keeps the first `limit`: fills ranked[] (room for limit, ≤ count) with dense indices in rank order.
 * Returns how many: fewer than limit where the rule's set, or what the threshold leaves, is smaller. Memory grows with
 * limit. The program ends where selection_rule_check() fails, or an example has no features. */
size_t selection_rank_first(const struct selection_source *source, const struct selection_rule *rule, size_t limit,
                            uint32_t *ranked);

/* Ranks all observed examples; ranked[] has room for dynamics->count. */
size_t selection_rank(const struct dynamics *dynamics, const struct selection_rule *rule, uint64_t seed,
                      uint32_t *ranked);

/* Pure functions, of which rankings are made. `order` lists n examples by ascending id; `items` has room for 2 n. */
void selection_by_values(const double *values, bool descending, const uint32_t *order, size_t n,
                         struct sort_item *items, uint32_t *ranked);

/* Fills `values`, over `rows` dense indices, with the forgetting events; +∞ for examples that were never learned. */
void selection_forgetting_values(const double *events, const double *never_learned, size_t rows, double *values);

/* Lists those examples of `order` whose value is at least `from` and at most `to`, and returns how many. kept may be
 * order. */
size_t selection_keep_within(const double *values, double from, double to, const uint32_t *order, size_t n,
                             uint32_t *kept);

#endif

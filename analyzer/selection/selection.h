/* selection.h: ranking examples by a rule, and how many to take. */
#ifndef SELECTION_H
#define SELECTION_H

#include "dynamics/dynamics.h"
#include "statistics/sort.h"

enum selection_kind { SELECT_MEASURE, SELECT_FORGETTABLE, SELECT_RANDOM };

struct selection_rule {
	enum selection_kind kind;
	char measure[256]; /* SELECT_MEASURE: a measure's name, or a user column's */
	bool descending;
};

/* Names that stand for a rule: ambiguous, hard-to-learn, easy-to-learn, forgettable, random. */
extern const char *const selection_names[];
#define SELECTION_NAMES 5

/* "ambiguous", "confidence:asc", …; false: neither a name nor MEASURE:asc or MEASURE:desc. */
bool selection_rule_parse(const char *text, struct selection_rule *rule);

/* Adds what the rule needs to be loaded. */
void selection_rule_request(const struct selection_rule *rule, struct dynamics_request *request);

/* False: neither a measure of ours nor a column of the run. */
bool selection_rule_is_known(const struct selection_rule *rule, const struct dynamics *dynamics);

/* Fills ranked[] (room for dynamics->count) with dense indices in rank order, ties by ascending id. Examples without the
 * measure come last. *ranked_count is less than all for forgettable only. PORTOLAN_E_INVALID: the run has
 * not the signals for the measure, which must be known. */
int selection_rank(const struct dynamics *dynamics, const struct selection_rule *rule, uint64_t seed, uint32_t *ranked,
                   size_t *ranked_count, struct portolan_error *error);

/* fraction × n, rounded half up; fraction in [0, 1]. */
size_t selection_size(double fraction, size_t n);

/* The pure parts. `order` lists n examples by ascending id; `items` has room for 2 n. */
void selection_by_values(const double *values, bool descending, const uint32_t *order, size_t n, struct sort_item *items,
                         uint32_t *ranked);
size_t selection_forgettable(const double *events, const double *never_learned, const uint32_t *order, size_t n,
                             struct sort_item *items, uint32_t *ranked);

/* Keeps of each class the first `count` (or, count 0, fraction of its examples, rounded half up), in rank order; returns how
 * many are left. class_sizes[gold + 1] counts the examples of each class, those without label first; `taken` is as long, zeroed. */
size_t selection_per_class(uint32_t *ranked, size_t n, const int32_t *gold, const uint32_t *class_sizes, uint32_t *taken,
                           double fraction, size_t count);

#endif

/* groups.h: what the user asked of `portolan groups`, and the loaded run, for the files of its three answers: a
 * selection of examples beside the whole (groups_summary.c), how often examples were forgotten (forgetting.c), and how
 * each class was learned (by_class.c). */
#ifndef GROUPS_H
#define GROUPS_H

#include "columns.h"
#include "options/options.h"
#include "plot/picture.h"
#include "selection/selection.h"

struct groups {
	struct common_options common;
	struct columns_request columns;
	struct selection_rule rule;
	const char *rule_text;
	double fraction, level; /* fraction NaN: not given */
	uint64_t count, seed, replicates;
	int format;        /* of the table; see common.json */
	int never_learned; /* enum never_learned; -1: not given */
	bool forgetting, classes;
	const char *plot;
	struct picture picture;
	/* the results */
	struct dynamics dynamics;
	size_t selected_count;
};

/* Prints how the selection differs from the whole run, which has been loaded. Returns an exit status. */
int groups_summarise(struct groups *groups);

/* Prints how many examples of the loaded run were forgotten how often. */
void groups_count_forgetting(const struct groups *groups);

/* Prints how the examples of each class were learned. The loaded run has the measures groups_class_measures(). */
void groups_count_classes(const struct groups *groups);
uint32_t groups_class_measures(void);

#endif

/* groups.h: the request of portolan groups, and its two answers, each in a file of its own. */
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
	bool forgetting;
	const char *plot;
	struct picture picture;
	/* the results */
	struct dynamics dynamics;
	size_t selected_count;
};

/* Each prints an answer on the loaded run. An exit status, or a negative code. */
int groups_summarise(struct groups *groups, struct portolan_error *error);
int groups_count_forgetting(const struct groups *groups, struct portolan_error *error);

#endif

/* groups.h: the request of portolan groups. Each of its two answers has a file of its own. */
#ifndef GROUPS_H
#define GROUPS_H

#include "columns.h"
#include "forgetting.h"
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
	bool *selected;
	int32_t *gold;
	size_t selected_count;
};

/* Print one answer of the loaded run; STATUS_DONE, STATUS_INCOMPLETE, or a negative code. */
int groups_summarise(struct groups *groups, struct portolan_error *error);
int groups_count_forgetting(const struct groups *groups, struct portolan_error *error);

/* groups_report.c: the table, or with --json the report. */
int groups_write(const struct groups *groups, const struct columns *attributes, const struct summary_row *list,
                 size_t count, struct portolan_error *error);
int groups_write_forgetting(const struct groups *groups, const struct forgetting *forgetting,
                            struct portolan_error *error);

#endif

/* groups.h: what the user asked of `portolan groups`, and the loaded run, for the files of its four answers: a
 * selection of examples beside the whole (groups_summary.c), how often examples were forgotten (forgetting.c), how each
 * class was learned (by_class.c), and how accurate the model is by class and attribute (accuracy.c). */
#ifndef GROUPS_H
#define GROUPS_H

#include "columns.h"
#include "options/options.h"
#include "output/table.h"
#include "plot/picture.h"
#include "selection/selection.h"

/* Where --cut says that the numbers of an attribute become high. */
struct accuracy_cut {
	const char *attribute;
	double at;
};

struct groups {
	struct common_options common;
	struct columns_request columns;
	struct selection_rule rule;
	const char *rule_text;
	double fraction, level; /* fraction NaN: not given */
	uint64_t count, seed, replicates;
	int format;        /* of the table; see common.json */
	int never_learned; /* enum never_learned; -1: not given */
	bool forgetting, classes, accuracy;
	struct accuracy_cut cuts[COLUMNS_MAX]; /* of --cut */
	size_t cut_count;
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

/* Loads the run, at its last epoch, and prints how accurate the model is by class and attribute; beside it a second
 * run, if there is one. Returns an exit status. */
int groups_measure_accuracy(struct groups *groups);

/* What the tables with attributes share: */
static inline bool
groups_is_for_people(const struct groups *groups)
{
	return !groups->common.json && groups->format == TABLE_ALIGNED;
}

/* The gold label of a row: "all" of SUMMARY_ALL; for people, its name. */
struct table_cell groups_gold_cell(const struct groups *groups, int32_t gold);

void groups_report_file(const struct groups *groups, const struct columns *columns, struct report *report);

/* Warns of examples without a record in the file of attributes, and of records that were not used. Returns
 * STATUS_INCOMPLETE under --strict if an example has no record. */
int groups_warn_of_file(const struct groups *groups, const struct columns *columns);

#endif

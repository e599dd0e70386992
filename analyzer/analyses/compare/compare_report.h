/* compare_report.h: holds what `portolan compare` found about its runs (struct compare_result), and prints it as a
 * table or as JSON. */
#ifndef COMPARE_REPORT_H
#define COMPARE_REPORT_H

#include "early_stopping.h"
#include "options/options.h"
#include "output/table.h"
#include "pairs.h"

struct compare_pair {
	const char *run_a, *run_b;
	uint64_t examples, only_a, only_b; /* examples observed in both runs, in a alone, in b alone */
	uint64_t moves[REGION_COUNT][REGION_COUNT];
	struct pair_overlap overlap;
};

struct compare_result {
	struct compare_pair *pairs;
	size_t pair_count;
	struct pair_correlation *correlations; /* of all pairs; then, for each measure, the means over the pairs */
	size_t correlation_count, mean_count;
	const char *rule;           /* the rule by which examples were selected */
	struct early_epoch *epochs; /* by epoch (--early-stopping); NULL: not asked for */
	size_t epoch_count;
	const char *epochs_of;
	bool of_losses; /* the runs record losses: there are no regions */
};

enum compare_table {
	COMPARE_CORRELATIONS, /* if there are several pairs, followed by their means */
	COMPARE_REGIONS,
	COMPARE_SELECTIONS,
	COMPARE_EPOCHS,
};

/* Prints the table that `table` names, or with --json all tables. */
void compare_write(const struct common_options *common, enum table_format format, enum compare_table table,
                   const struct compare_result *result);

#endif

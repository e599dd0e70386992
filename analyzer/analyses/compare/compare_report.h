/* compare_report.h: writes the results of portolan compare, as a table or as JSON. */
#ifndef COMPARE_REPORT_H
#define COMPARE_REPORT_H

#include "early_stopping.h"
#include "options/options.h"
#include "output/table.h"
#include "pairs.h"

struct compare_pair {
	const char *run_a, *run_b;
	uint64_t examples, only_a, only_b; /* observed in both runs, and in one alone */
	struct pair_correlation correlations[DYNAMICS_COLUMNS_MAX];
	size_t correlation_count;
	uint64_t moves[REGION_COUNT][REGION_COUNT];
	struct pair_overlap overlap;
};

struct compare_result {
	struct compare_pair *pairs;
	size_t pair_count;
	const char *rule;           /* of the selection */
	struct early_epoch *epochs; /* NULL: not asked for */
	size_t epoch_count;
	const char *epochs_of;
};

enum compare_table {
	/* With several pairs, rows without runs follow: the means over the pairs for which the correlation is defined.
	 * Their number of examples is that of the pair that shares fewest. */
	COMPARE_CORRELATIONS,
	COMPARE_REGIONS,
	COMPARE_SELECTIONS,
	COMPARE_EPOCHS,
};

/* Writes the table, or with --json the report of all tables. */
int compare_write(const struct common_options *common, enum table_format format, enum compare_table table,
                  const struct compare_result *result, struct portolan_error *error);

#endif

/* compare_report.h: what portolan compare found, as tables for programs and as JSON. */
#ifndef COMPARE_REPORT_H
#define COMPARE_REPORT_H

#include "compare/early_stopping.h"
#include "compare/pairs.h"
#include "output/output.h"

#include <jansson.h>

struct compare_pair {
	const char *run_a, *run_b;
	uint64_t examples, only_a, only_b; /* observed ones */
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

/* measure,run_a,run_b,examples,pearson,spearman; with several pairs also the means over those where they are defined,
 * which have no runs and the number of examples of the pair that shares fewest. */
void compare_write_correlations(struct output *output, const struct compare_result *result);
/* run_a,run_b,from,to,examples */
void compare_write_regions(struct output *output, const struct compare_result *result);
/* run_a,run_b,rule,examples,selected_a,selected_b,both,overlap,jaccard,by_chance */
void compare_write_selections(struct output *output, const struct compare_result *result);
/* epoch,examples,confidence_pearson,confidence_spearman,variability_pearson,variability_spearman */
void compare_write_epochs(struct output *output, const struct compare_result *result);

json_t *compare_json(const struct compare_result *result); /* NULL: no memory */

#endif

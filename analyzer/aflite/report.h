/* report.h: what aflite writes beside the examples that are kept: log, scores, a chart, a random subset. */
#ifndef AFLITE_REPORT_H
#define AFLITE_REPORT_H

#include "filter.h"
#include "labels.h"
#include "output/output.h"

struct picture;

/* Who the examples are: rows of a file, or examples of a run. */
struct report_names {
	const struct dynamics *dynamics; /* NULL: row numbers */
	const uint32_t *examples;        /* dense indices, by example */
};

/* One per line. */
void report_ids(struct output *output, const struct report_names *names, const uint32_t *examples, size_t count);

/* phase,examples,train_size,mean_p,accuracy,qualified,removed,lowest_p,tied,tied_removed,never_predicted,class_missing,
 * not_converged,evaluations */
void report_log(struct output *output, const struct filter *filter);

/* row (or id),label,phase_removed,p,margin,predictions: of the last phase that scored the example */
void report_scores(struct output *output, const struct filter *filter, const struct report_names *names,
                   const struct labels *labels);

/* As many as are kept, drawn from all, ascending; the caller's to free(). NULL: out of memory. */
uint32_t *report_baseline(const struct filter *filter);

/* The examples that are left, ascending; the caller's to free(). NULL: out of memory. */
uint32_t *report_kept(const struct filter *filter);

int report_chart(const struct filter *filter, const struct picture *picture, struct portolan_error *error);

#endif

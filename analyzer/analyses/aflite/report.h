/* report.h: what aflite writes beside the examples that are kept: log, scores, a chart, a random subset. */
#ifndef AFLITE_REPORT_H
#define AFLITE_REPORT_H

#include "base/ids.h"
#include "files/join.h"
#include "filter.h"
#include "labels.h"
#include "output/rows.h"

struct picture;

/* Who the examples are. */
struct report_names {
	const struct ids *ids;    /* of a run, or of the rows */
	const uint32_t *examples; /* by example: which of these */
	const char *column;       /* "id", or "row" */
	const struct join *join;  /* the user's lines, by example; NULL: ids are printed */
};

/* The examples, ascending: an id per line, or their lines of the user's file. */
int report_examples(const char *path, const struct report_names *names, const uint32_t *examples, size_t count,
                    struct portolan_error *error);

/* Of each phase, and of the kept set. */
int report_log(const char *path, enum rows_format format, const struct filter *filter, struct portolan_error *error);

/* Of each example: as the last phase that scored it has it. */
int report_scores(const char *path, enum rows_format format, const struct filter *filter,
                  const struct report_names *names, const struct labels *labels, struct portolan_error *error);

/* As many as are kept, drawn from all, ascending; the caller's to free(). NULL: out of memory. */
uint32_t *report_baseline(const struct filter *filter);

/* The examples that are left, or those that were removed, ascending; the caller's to free(). NULL: out of memory. */
uint32_t *report_kept(const struct filter *filter, bool removed);

int report_chart(const struct filter *filter, const struct picture *picture, struct portolan_error *error);

#endif

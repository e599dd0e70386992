/* aflite.h: the state of one command `portolan aflite`, for the files that make up the command: what the user asked
 * for, the examples, the filter, the status line; and the functions that write the results. */
#ifndef AFLITE_H
#define AFLITE_H

#include "filter.h"
#include "input.h"
#include "similarity.h"
#include "options/options.h"
#include "plot/picture.h"

struct aflite_request {
	struct common_options common;
	struct input_request input; /* its query, kernels and threads are set when it is opened */
	const char *removed, *baseline, *checkpoint, *scores, *log, *plot;
	uint64_t target, partitions, train, slice; /* 0: not given */
	double threshold, ridge;
	int model;                     /* an index of filter_model_names */
	int heuristic, ties;           /* ties −1: not given */
	int log_format, scores_format; /* enum table_format */
	uint64_t seed;
	uint64_t max_memory; /* 0: what is free */
	bool without_manifest;
	struct picture picture; /* of --plot */
};

struct aflite {
	const struct aflite_request *request;
	struct input input;
	struct filter filter;
	struct similarity similarity; /* of the features of kept and of removed examples; only if there are features */
	char *parameters;             /* checkpoint_parameters(): a checkpoint with others is refused */
};

/* Writes every file that was asked for, and removes the checkpoint. */
void aflite_write(const struct aflite *aflite);

/* Draws the picture of --plot. The filter has run one phase or more. */
void aflite_draw_chart(const struct filter *filter, const struct picture *picture);

extern const struct option_spec aflite_option_table[];

/* command.check: refuses options that do not go together. */
int aflite_check(void *request, struct portolan_error *error);

/* The options of a filter for this many examples, and for the predictions of this many models (--scores-of-models). */
struct filter_options aflite_filter_options(const struct aflite_request *request, size_t examples, size_t models);

/* How far the phases are: one line on stderr, in a terminal only, redrawn after each phase. */
struct status {
	bool enabled;
	double last; /* when the last phase ended: monotonic seconds */
};

void status_begin(struct status *status, const struct filter *filter);
void status_update(struct status *status, const struct filter *filter);
void status_end(struct status *status); /* wipes the line */

#endif

/* input.h: what aflite works on: features, labels and groups of the examples, from files or by the ids of a run. */
#ifndef AFLITE_INPUT_H
#define AFLITE_INPUT_H

#include "files/join.h"
#include "labels.h"
#include "matrix.h"
#include "selection/features.h"
#include "selection/pool.h"

struct input_request {
	const struct run_query *query;
	const char *features, *labels, *label_field, *groups, *group_field;
	const char *run, *feature_ids; /* run NULL: labels from the file */
	const char *exclude;           /* NULL: nobody is left out */
	const char *data, *id_field;   /* the user's own file, or NULL */
	bool glue;                     /* which is read as files/glue.h says */
	const struct kernels *kernels;
	unsigned threads;
	bool standardise;
};

struct input {
	struct features features; /* its array; with a run, whose row is whose */
	struct labels labels, groups;
	bool has_groups;
	size_t count;
	const struct ids *ids;     /* the run's, or the rows' */
	uint32_t *examples, *rows; /* by example: which of the ids, and row of the array */
	struct pool_list exclude;  /* what was found in the list */
	size_t excluded;           /* examples that it leaves out */
	/* with a run */
	struct dynamics dynamics;
	bool has_run;
	size_t without_row, without_label; /* examples of the run that are left out */
	/* without */
	struct ids row_ids;
	/* with the user's own file: the records of the examples, which are the chosen ones */
	struct join join;
	bool has_join;
	struct matrix_source source;
};

/* Reads labels and groups and looks at all features. PORTOLAN_E_INVALID: they are not as many, or not finite. */
int input_open(struct input *input, const struct input_request *request, struct portolan_error *error);
void input_close(struct input *input); /* may be called twice */

#endif

/* input.h: the examples that `portolan aflite` filters, with the features, label and group of each: from the user's
 * files, or, with --run, by the ids and gold labels of a recorded run. */
#ifndef AFLITE_INPUT_H
#define AFLITE_INPUT_H

#include "files/join.h"
#include "labels.h"
#include "matrix_source.h"
#include "models.h"
#include "selection/features.h"
#include "selection/pool.h"

struct input_request {
	const struct run_query *query;
	const char *features; /* NULL: there is only `models` */
	const char *models;   /* --scores-of-models, or NULL */
	const char *labels, *label_field, *groups, *group_field;
	const char *run; /* NULL: labels come from the file, or, with models, there are none */
	const char *feature_ids;
	const char *exclude;         /* NULL: no example is left out */
	const char *data, *id_field; /* the user's own file, or NULL */
	bool glue;                   /* whether that file is read as files/glue.h says */
	const struct kernels *kernels;
	unsigned threads;
	bool standardise;
};

struct input {
	struct features features; /* the array; with a run, also which row is which example's */
	struct models models;     /* with predictions of the user's own: a column of theirs is a row here */
	struct labels labels, groups;
	bool has_groups, has_labels, has_models, has_features; /* whether the user gave them */
	size_t count;                                          /* of examples */
	const struct ids *ids;                                 /* of the run, or of the rows */
	uint32_t *examples, *rows; /* by example: its place in `ids`, and its row of the array */
	struct pool_list exclude;  /* the list of --exclude, and what was found in it */
	size_t excluded;           /* examples that the list leaves out */
	/* with a run */
	struct dynamics dynamics;
	bool has_run;
	size_t without_row, without_label; /* examples of the run that are left out */
	/* without a run */
	struct ids row_ids;
	/* with the user's own file: the records of the examples */
	struct join join;
	bool has_join;
	struct matrix_source source; /* with features */
};

/* Reads labels and groups, and surveys all features. Ends the program where there are more or fewer labels or groups
 * than rows, or a feature is not finite. */
void input_open(struct input *input, const struct input_request *request);
void input_close(struct input *input); /* may be called twice */

#endif

/* features.h: opens the feature vectors that a user gives for the examples of a run (a NumPy matrix), and says which
 * row belongs to which example. For `portolan select` (k-center) and `aflite`. */
#ifndef FEATURES_H
#define FEATURES_H

#include "files/npy_read.h"
#include "measures/dynamics.h"

#define FEATURES_NO_ROW UINT32_MAX

struct features {
	struct npy_array array; /* the matrix, rows × features; finite */
	size_t count;           /* of rows, each of which has an id */
	const char *path;       /* the file of the rows, for messages; the caller's */
	const char *unit;       /* what a row is called there: "row" or "column" */
	uint32_t *rows;         /* by dense index: the example's row; FEATURES_NO_ROW: it has none */
};

/* Opens the matrix in the file `path`. `ids_path` lists the ids of its rows, see list.h; NULL: the row's number, from
 * 0, is the id. Rows of examples that the run does not have are ignored. The program ends if the file is no such matrix, if the list
 * has more or fewer ids than the matrix has rows, or if an id is listed twice. */
void features_open(struct features *features, const char *path, const char *ids_path, const struct dynamics *dynamics);
/* Finds out which row belongs to which example, as features_open() does, but opens no matrix: count, path and unit are
 * set by the caller. */
void features_assign(struct features *features, const char *ids_path, const struct dynamics *dynamics);
void features_close(struct features *features); /* may be called twice */

#endif

/* features.h: opens the feature vectors that a user gives for the examples of a run (a NumPy matrix), and says which
 * row belongs to which example. For `portolan select` (k-center) and `aflite`. */
#ifndef FEATURES_H
#define FEATURES_H

#include "files/npy_read.h"
#include "measures/dynamics.h"

#define FEATURES_NO_ROW UINT32_MAX

struct features {
	struct npy_array array; /* the matrix, rows × features; finite, unless it was opened with `any` */
	uint32_t *rows;         /* by dense index: the example's row; FEATURES_NO_ROW: it has none */
};

/* Opens the matrix in the file `path`. `ids_path` lists the ids of its rows, see list.h; NULL: the row's number, from
 * 0, is the id. Rows of examples that the run does not have are ignored. `any`: the matrix may be as for
 * npy_check_matrix_any(), and its values are not looked at. The program ends if the file is no such matrix, if the list
 * has more or fewer ids than the matrix has rows, or if an id is listed twice. */
void features_open(struct features *features, const char *path, const char *ids_path, const struct dynamics *dynamics,
                   bool any);
void features_close(struct features *features); /* may be called twice */

#endif

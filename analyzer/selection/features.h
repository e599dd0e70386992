/* features.h: opens the feature vectors that a user gives for the examples of a run (a NumPy matrix), and says which
 * row belongs to which example. For `portolan select` (k-center) and `aflite`. */
#ifndef FEATURES_H
#define FEATURES_H

#include "files/npy_read.h"
#include "measures/dynamics.h"

#define FEATURES_NO_ROW UINT32_MAX

struct features {
	struct npy_array array; /* rows × features, finite unless `any` was said */
	uint32_t *rows;         /* by dense index; FEATURES_NO_ROW: none */
};

/* `ids_path` lists the ids of the rows, see list.h; NULL: the row's number, from 0, is the id. Rows of examples that
 * the run does not have are let pass. `any`: as npy_check_matrix_any(), and the values are not looked at. A file that is no
 * such matrix ends the program, and so do another number of ids than rows, and an id that stands there twice. */
void features_open(struct features *features, const char *path, const char *ids_path, const struct dynamics *dynamics,
                   bool any);
void features_close(struct features *features); /* may be called twice */

#endif

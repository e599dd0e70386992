/* models.h: reads which of the user's own models were right about which examples (`aflite --scores-of-models`), for
 * input.c: a NumPy array, models × examples, with 1 where a model's prediction is right, 0 where it is wrong, and NaN
 * where the model was trained on the example. So any kind of model can filter (Le Bras et al. 2020, section 2, whose
 * family M may be any). */
#ifndef AFLITE_MODELS_H
#define AFLITE_MODELS_H

#include "files/npy_read.h"

struct models {
	struct npy_array array;
	size_t count; /* of models: the array's rows */
	uint32_t *made,
	        *correct; /* by example: |E(i)|, the predictions of it, and how many of these are right (Eq. 4) */
};

/* Opens the array. Ends the program where it is no matrix of truth values, whole numbers or floats. Its columns are
 * models->array.header.shape[1]; its values are not read yet. */
void models_open(struct models *models, const char *path);

/* Fills made and correct for `count` examples, of which example i is column columns[i]. Ends the program where a value is not 0, 1 or NaN, or a model predicts nothing. */
void models_count(struct models *models, const uint32_t *columns, size_t count);
void models_free(struct models *models); /* may be called twice */

#endif

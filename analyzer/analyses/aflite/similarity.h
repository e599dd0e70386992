/* similarity.h: measures how alike the examples are that `portolan aflite` keeps, and those that it removes: by the
 * cosine of the angle between the features of two examples (Le Bras et al. 2020, Figure 1, for pictures of one class).
 * Features are those of the file, neither centred nor scaled. */
#ifndef AFLITE_SIMILARITY_H
#define AFLITE_SIMILARITY_H

#include "labels.h"
#include "matrix_source.h"

/* The cosines of pairs of examples. The mean is of all pairs; the standard deviation of the pairs among at most
 * SIMILARITY_SAMPLE examples, drawn at random. NaN: there is no pair. */
#define SIMILARITY_SAMPLE 1000
struct cosines {
	uint64_t pairs;
	double mean, deviation;
};

enum similarity_side { SIMILARITY_KEPT, SIMILARITY_REMOVED, SIMILARITY_SIDES };

struct similarity {
	struct cosines any[SIMILARITY_SIDES];    /* pairs of examples on one side */
	struct cosines within[SIMILARITY_SIDES]; /* of these, the pairs of one label */
	double *by_class[SIMILARITY_SIDES];      /* by class: the mean of its pairs; NaN: it has none */
	size_t without_direction;                /* examples whose features are all 0: no pair has them */
};

/* removed[example] is 0 if the example is kept. labels->class_count is 0 where there are no labels: then there are no
 * pairs of one label. `seed` seeds the drawing. */
void similarity_measure(struct similarity *similarity, const struct matrix_source *source, const uint32_t *removed,
                        const struct labels *labels, uint64_t seed);
void similarity_free(struct similarity *similarity); /* may be called twice */

/* The bytes that similarity_measure() takes. */
uint64_t similarity_bytes(size_t examples, size_t features, size_t classes);

#endif

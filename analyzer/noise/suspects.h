/* suspects.h: scored examples in order of suspicion, and how many of them to show. */
#ifndef SUSPECTS_H
#define SUSPECTS_H

#include "dynamics/dynamics.h"
#include "output/rows.h"

/* At most one is given; none: all. */
struct suspects_size {
	bool has_fraction, has_count, has_threshold;
	double fraction; /* of the scored examples, rounded half up */
	uint64_t count;
	double threshold; /* scores of so much or more */
};

struct suspects {
	uint32_t *ranked; /* dense indices: by descending score, then by ascending value, then by ascending id */
	size_t scored, shown;
	size_t above_half; /* scores above 0.5 */
};

/* Ranks the examples by scores[], by dense index; those whose score is NaN have none, and are left out. values[] are
 * what the scores were made from: many a probability is 1 to the last digit, and of these the lowest value comes first.
 */
int suspects_rank(const struct dynamics *dynamics, const double *scores, const double *values,
                  const struct suspects_size *size, struct suspects *suspects, struct portolan_error *error);
void suspects_free(struct suspects *suspects);

/* Those shown: id,score. */
int suspects_write(const struct suspects *suspects, const struct dynamics *dynamics, const double *scores,
                   const char *path, enum rows_format format, struct portolan_error *error);

#endif

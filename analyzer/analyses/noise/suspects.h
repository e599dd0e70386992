/* suspects.h: scored examples in order of suspicion, and how many of them to show. */
#ifndef SUSPECTS_H
#define SUSPECTS_H

#include "measures/dynamics.h"
#include "output/rows.h"

/* At most one of them is given, or has_count and only_called; without any, all are shown. */
struct suspects_size {
	bool has_fraction, has_count, has_threshold, only_called;
	double fraction; /* of the scored examples, rounded half up */
	uint64_t count;
	double threshold; /* scores of so much or more */
};

struct suspects {
	uint32_t *ranked; /* dense indices: those called first; by descending score, ascending value, ascending id */
	size_t scored, shown;
	size_t called;
	bool counted; /* their number was given */
};

/* Ranks the examples by scores[], by dense index; a score of NaN means none, and the example is left out. values[] are
 * the values from which the scores were made: many scores are 1 to the last digit, and of these the lowest value comes
 * first. called[] is 1 where the method itself calls the label wrong, and 0 where there is no score. */
int suspects_rank(const struct dynamics *dynamics, const double *scores, const double *values, const uint8_t *called,
                  const struct suspects_size *size, struct suspects *suspects, struct portolan_error *error);
void suspects_free(struct suspects *suspects);

/* Those shown: id,score. In aligned columns, the first and the last of them, unless their number was given. */
int suspects_write(const struct suspects *suspects, const struct dynamics *dynamics, const double *scores,
                   const char *path, enum rows_format format, struct portolan_error *error);

#endif

/*
 * signals_fixture.h: the signals of some rows as one value, for the tests of what is derived from scores.
 */
#ifndef SIGNALS_FIXTURE_H
#define SIGNALS_FIXTURE_H

#include "signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 200

struct output {
	float gold_prob[ROWS], margin[ROWS], other_sq[ROWS], entropy[ROWS], max_prob[ROWS];
	int32_t predicted[ROWS];
	uint8_t correct[ROWS], refused[ROWS];
	size_t refused_count;
};

typedef size_t derive(const struct portolan_array *, size_t, size_t, const int32_t *, const struct signals_columns *,
                      uint8_t *);

static inline struct signals_columns
columns_of(struct output *out)
{
	return (struct signals_columns){out->gold_prob, out->margin,    out->other_sq, out->entropy,
	                                out->max_prob,  out->predicted, out->correct};
}

static inline struct output
run(derive *from, struct portolan_array scores, size_t n, size_t classes, const int32_t *gold)
{
	struct output out = {0};
	struct signals_columns columns = columns_of(&out);

	out.refused_count = from(&scores, n, classes, gold, &columns, out.refused);
	return out;
}

#endif

/* classes.c: finds which gold labels occur among some examples, and numbers them (classes.h). Labels may be large
 * numbers, so they are noted in a bitmap: nothing else is as long as the largest label. */
#include "classes.h"

#include <portolan/error.h>

#include <stdlib.h>

int
classes_make(struct classes *classes, const int32_t *gold, const uint32_t *order, size_t n,
             struct portolan_error *error)
{
	int32_t most = -1;
	uint64_t *seen;
	size_t words, count = 0;

	for (size_t i = 0; i < n; i++)
		most = gold[order[i]] > most ? gold[order[i]] : most;
	words = (size_t)((int64_t)most + 1) / 64 + 1;
	seen = calloc(words, sizeof(*seen));
	*classes = (struct classes){0};
	for (size_t i = 0; seen && i < n; i++) {
		size_t bit = (size_t)((int64_t)gold[order[i]] + 1);

		count += !(seen[bit / 64] >> bit % 64 & 1);
		seen[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	if (seen)
		classes->labels = malloc(count * sizeof(*classes->labels));
	for (size_t w = 0; classes->labels && w < words; w++)
		for (uint64_t bits = seen[w]; bits; bits &= bits - 1)
			classes->labels[classes->count++] = (int32_t)((int64_t)(64 * w) + __builtin_ctzll(bits) - 1);
	free(seen);
	return classes->labels
	               ? 0
	               : error_set(error, PORTOLAN_E_MEMORY, "out of memory for the classes of %zu examples", n);
}

void
classes_free(struct classes *classes)
{
	free(classes->labels);
	*classes = (struct classes){0};
}

/* forgetting.c: see forgetting.h. */
#include "forgetting.h"

#include <portolan/error.h>

#include <stdlib.h>

int
forgetting_count(const double *events, const double *never_learned, const uint32_t *order, size_t n,
                 struct forgetting *result, struct portolan_error *error)
{
	double most = 0;

	*result = (struct forgetting){.examples = n};
	for (size_t i = 0; i < n; i++)
		most = events[order[i]] > most ? events[order[i]] : most;
	result->bins = (size_t)most + 1;
	result->histogram = calloc(result->bins, sizeof(*result->histogram));
	if (!result->histogram)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu counts", result->bins);
	for (size_t i = 0; i < n; i++) {
		size_t count = (size_t)events[order[i]];

		result->histogram[count]++;
		result->events += count;
		result->forgotten += count > 0;
		result->never_learned += never_learned[order[i]] > 0;
	}
	return 0;
}

void
forgetting_free(struct forgetting *result)
{
	free(result->histogram);
	*result = (struct forgetting){0};
}

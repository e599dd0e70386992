/* census.c: the workers hand over labels, and the caller's thread counts them: there are few classes, seldom a new one.
 */
#include "census.h"

#include "dynamics/scan.h"
#include "program/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

struct counting {
	struct census *census;
	int32_t *labels; /* STORE_CHUNK for each slot */
	size_t *counts;  /* by slot */
};

static int
list_labels(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct counting *counting = context;
	int32_t *labels = counting->labels + (size_t)slot * STORE_CHUNK;

	(void)error;
	counting->counts[slot] = part->count;
	for (size_t i = 0; i < part->count; i++)
		labels[i] = part->gold ? part->gold[part->order[i]] : -1;
	return 0;
}

/* The class of a label, added where it is new; −1: out of memory. */
static int64_t
class_of(struct census *census, int32_t label)
{
	struct classes *classes = &census->classes;
	size_t at = classes->count > 0 ? classes_find(classes, label) : 0, rest;
	int32_t *labels;
	uint32_t *sizes;

	if (at < classes->count && classes->labels[at] == label)
		return (int64_t)at;
	at += at < classes->count && classes->labels[at] < label;
	rest = classes->count - at;
	labels = realloc(classes->labels, (classes->count + 1) * sizeof(*labels));
	classes->labels = labels ? labels : classes->labels;
	sizes = realloc(census->sizes, (classes->count + 1) * sizeof(*sizes));
	census->sizes = sizes ? sizes : census->sizes;
	if (!labels || !sizes)
		return -1;
	memmove(labels + at + 1, labels + at, rest * sizeof(*labels));
	memmove(sizes + at + 1, sizes + at, rest * sizeof(*sizes));
	labels[at] = label;
	sizes[at] = 0;
	classes->count++;
	return (int64_t)at;
}

static int
count_labels(void *context, unsigned slot, struct portolan_error *error)
{
	const struct counting *counting = context;
	struct census *census = counting->census;
	const int32_t *labels = counting->labels + (size_t)slot * STORE_CHUNK;

	for (size_t i = 0; i < counting->counts[slot]; i++) {
		int64_t class = class_of(census, labels[i]);

		if (class < 0)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classes",
			                 census->classes.count);
		census->sizes[class]++;
	}
	return 0;
}

int
census_make(struct census *census, struct dynamics *run, struct portolan_error *error)
{
	unsigned slots = parallel_slots(run->threads);
	struct counting counting = {.census = census};
	struct scan_steps steps = {.context = &counting, .work = list_labels, .deliver = count_labels};
	int code;

	*census = (struct census){0};
	counting.labels = malloc((size_t)slots * STORE_CHUNK * sizeof(*counting.labels));
	counting.counts = calloc(slots, sizeof(*counting.counts));
	code = counting.labels && counting.counts ? scan_run(run, &steps, error)
	                                          : error_set(error, PORTOLAN_E_MEMORY, "out of memory for labels");
	free(counting.labels);
	free(counting.counts);
	if (code >= 0 && run->count == 0)
		code = dynamics_no_observations(run, error);
	if (code < 0)
		census_free(census);
	return code;
}

void
census_free(struct census *census)
{
	classes_free(&census->classes);
	free(census->sizes);
	*census = (struct census){0};
}

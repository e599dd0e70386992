/* filter_draw.c: a phase's training sets, each drawn by itself, from the examples in their order. */
#include "filter_parts.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* by_rank: through the examples, so that it takes one pass. */
static int
rank(struct filter *filter, struct portolan_error *error)
{
	uint32_t *row_of = malloc(filter->total * sizeof(*row_of));
	size_t rank = 0;

	if (!row_of)
		return filter_out_of_memory(filter, error);
	memset(row_of, 0xff, filter->total * sizeof(*row_of));
	for (size_t row = 0; row < filter->matrix.rows; row++)
		row_of[filter->examples[row]] = (uint32_t)row;
	for (size_t example = 0; example < filter->total; example++)
		if (row_of[example] != UINT32_MAX)
			filter->by_rank[rank++] = row_of[example];
	free(row_of);
	return 0;
}

struct drawing {
	struct filter *filter;
	uint32_t *members; /* of a group; NULL: no groups */
	uint32_t *counts;  /* by slot: classes */
	uint32_t *order;   /* by slot: groups */
	uint8_t *chosen;
};

static int
draw_one(void *context, unsigned thread, unsigned slot, size_t set, struct portolan_error *error)
{
	const struct drawing *drawing = context;
	struct filter *filter = drawing->filter;
	const struct filter_options *options = &filter->options;
	size_t groups = filter->group_count;

	(void)thread;
	if (drawing->members)
		training_draw_groups(&filter->training, set, options->seed, filter->phases, options->train,
		                     filter->groups, drawing->members, filter->group_count,
		                     drawing->order + slot * groups, drawing->chosen + slot * groups);
	else
		training_draw(&filter->training, set, options->seed, filter->phases, options->train, filter->by_rank);
	if (filter->training.sizes[set] == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "no group has %zu examples or fewer: say a larger --train-size", options->train);
	training_survey(&filter->training, set, filter->labels, drawing->counts + slot * filter->classes);
	return 0;
}

int
filter_draw(struct filter *filter, struct portolan_error *error)
{
	unsigned slots = parallel_slots(filter->options.threads);
	struct drawing drawing = {.filter = filter, .counts = malloc(slots * filter->classes * sizeof(uint32_t))};
	struct parallel parallel = {.threads = filter->options.threads,
	                            .count = filter->options.partitions,
	                            .context = &drawing,
	                            .work = draw_one};
	int code = drawing.counts ? rank(filter, error) : filter_out_of_memory(filter, error);

	training_resize(&filter->training, filter->matrix.rows);
	if (code >= 0 && filter->groups) {
		drawing.members = calloc(filter->group_count, sizeof(uint32_t));
		drawing.order = malloc((size_t)slots * filter->group_count * sizeof(uint32_t));
		drawing.chosen = malloc((size_t)slots * filter->group_count);
		if (!drawing.members || !drawing.order || !drawing.chosen)
			code = filter_out_of_memory(filter, error);
		for (size_t row = 0; code >= 0 && row < filter->matrix.rows; row++)
			drawing.members[filter->groups[row]]++;
	}
	if (code >= 0)
		code = parallel_run(&parallel, error);
	free(drawing.members);
	free(drawing.counts);
	free(drawing.order);
	free(drawing.chosen);
	return code;
}

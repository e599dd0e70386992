/*
 * selection_plan.c: from ranks to a selection.
 *
 * A mix replaces the end of the selection: of a selection of S examples, round(S·fraction) come from its rule, those
 * that it ranks first and that are not in yet, as Swayamdipta et al. 2020 (section 5) add easy-to-learn examples to
 * ambiguous ones.
 */
#include "selection_plan.h"

#include <portolan/error.h>

#include <stdlib.h>

void
selection_plan_request(const struct selection_plan *plan, struct dynamics_request *request)
{
	selection_rule_request(&plan->rule, request);
	for (size_t i = 0; i < plan->mix_count; i++)
		selection_rule_request(&plan->mixes[i].rule, request);
	request->gold = request->gold || plan->per_class;
}

/* Counts the examples of each class; sizes[gold + 1]. */
static uint32_t *
class_sizes(const struct dynamics *dynamics, size_t *classes)
{
	int32_t most = -1;
	uint32_t *sizes;

	for (size_t i = 0; i < dynamics->count; i++)
		most = dynamics->gold[dynamics->order[i]] > most ? dynamics->gold[dynamics->order[i]] : most;
	*classes = (size_t)((int64_t)most + 2);
	sizes = calloc(*classes, sizeof(*sizes));
	for (size_t i = 0; sizes && i < dynamics->count; i++)
		sizes[(int64_t)dynamics->gold[dynamics->order[i]] + 1]++;
	return sizes;
}

static int
keep_per_class(const struct selection_plan *plan, const struct dynamics *dynamics, uint32_t *chosen, size_t *count,
               struct portolan_error *error)
{
	size_t classes;
	uint32_t *sizes = class_sizes(dynamics, &classes), *taken = calloc(classes, sizeof(*taken));
	int code = 0;

	if (!sizes || !taken)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classes", classes);
	else if (classes == 1)
		code = error_set(error, PORTOLAN_E_INVALID, "run '%s' has no gold labels, which --per-class needs",
		                 dynamics->info->name);
	else
		*count = selection_per_class(chosen, *count, dynamics->gold, sizes, taken, plan->fraction,
		                             (size_t)plan->count);
	free(sizes);
	free(taken);
	return code;
}

/* Adds up to `quota` of the examples that `ranked` lists and `taken` does not have. */
static size_t
add_ranked(const uint32_t *ranked, size_t n, size_t quota, uint8_t *taken, uint32_t *chosen, size_t used)
{
	for (size_t r = 0; r < n && quota > 0; r++) {
		if (taken[ranked[r]])
			continue;
		taken[ranked[r]] = 1;
		chosen[used++] = ranked[r];
		quota--;
	}
	return used;
}

static int
mix(const struct selection_plan *plan, const struct dynamics *dynamics, size_t size, uint32_t *chosen, size_t *count,
    struct portolan_error *error)
{
	uint32_t *ranked = malloc(dynamics->count * sizeof(*ranked));
	uint8_t *taken = calloc(dynamics->ids.rows, 1);
	size_t quota[SELECTION_MIXES_MAX], used = size;
	int code = 0;

	if (!ranked || !taken)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory to mix %zu examples", dynamics->count);
	for (size_t i = 0; i < plan->mix_count; i++) {
		quota[i] = selection_size(plan->mixes[i].fraction, size);
		quota[i] = quota[i] < used ? quota[i] : used;
		used -= quota[i];
	}
	used = used < *count ? used : *count;
	for (size_t i = 0; code >= 0 && i < used; i++)
		taken[chosen[i]] = 1;
	for (size_t i = 0; code >= 0 && i < plan->mix_count; i++) {
		size_t n;

		code = selection_rank(dynamics, &plan->mixes[i].rule, plan->seed, ranked, &n, error);
		if (code >= 0)
			used = add_ranked(ranked, n, quota[i], taken, chosen, used);
	}
	*count = used;
	free(ranked);
	free(taken);
	return code;
}

static int
choose(const struct selection_plan *plan, const struct dynamics *dynamics, uint32_t *chosen, size_t *count,
       struct portolan_error *error)
{
	size_t size = selection_size(plan->fraction, dynamics->count);
	int code = selection_rank(dynamics, &plan->rule, plan->seed, chosen, count, error);

	if (code < 0 || !plan->has_size)
		return code;
	if (plan->per_class)
		return keep_per_class(plan, dynamics, chosen, count, error);
	if (plan->count > 0)
		size = plan->count < dynamics->count ? (size_t)plan->count : dynamics->count;
	if (plan->mix_count > 0)
		return mix(plan, dynamics, size, chosen, count, error);
	*count = size < *count ? size : *count;
	return 0;
}

int
selection_plan_choose(const struct selection_plan *plan, const struct dynamics *dynamics, uint32_t **chosen,
                      size_t *count, struct portolan_error *error)
{
	uint32_t *list = malloc(dynamics->count * sizeof(*list));
	size_t n;
	int code;

	if (!list)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank %zu examples", dynamics->count);
	code = choose(plan, dynamics, list, &n, error);
	if (code < 0) {
		free(list);
		return code;
	}
	*chosen = list;
	*count = n;
	return 0;
}

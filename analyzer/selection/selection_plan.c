/*
 * selection_plan.c: computes which examples a whole selection of `portolan select` takes (selection_plan.h), from the
 * rankings of its rules.
 *
 * A selection has parts (the rule, its other end, the mixes) and groups (the classes, or all examples as one). Each
 * part has a quota in each group. The parts take their examples one after the other, in rank order, and pass over
 * examples that are taken. A mix thus replaces the end of the selection: of S examples round(S·fraction) come from its
 * rule, as Swayamdipta et al. 2020 (section 4) replace ambiguous examples by easy-to-learn ones.
 */
#include "selection_plan.h"

#include "die/die.h"
#include "die/memory.h"
#include "regions/classes.h"

#include <portolan/error.h>

#include <stdlib.h>

struct taking {
	const struct selection_plan *plan;
	const struct selection_source *source;
	size_t part_count, groups;
	struct classes classes; /* the classes; not with ANY */
	uint32_t *sizes;        /* by group: the number of its examples */
	size_t *quotas;         /* the quotas of each part in each group, one part after the other */
	size_t *passed;         /* by group: how many of its first-ranked examples are still to be skipped */
	uint8_t *taken;         /* by dense index: whether the example is taken */
};

void
selection_plan_request(const struct selection_plan *plan, struct dynamics_request *request)
{
	selection_rule_request(&plan->rule, request);
	for (size_t i = 0; i < plan->mix_count; i++)
		selection_rule_request(&plan->mixes[i].rule, request);
	request->gold = request->gold || plan->classes != SELECTION_CLASSES_ANY;
}

size_t
selection_plan_parts(const struct selection_plan *plan, struct selection_rule rules[SELECTION_PARTS_MAX])
{
	size_t count = 0;

	rules[count++] = plan->rule;
	if (plan->top_share < 1) {
		rules[count] = plan->rule;
		selection_rule_reverse(&rules[count++]);
	}
	for (size_t i = 0; i < plan->mix_count; i++)
		rules[count++] = plan->mixes[i].rule;
	return count;
}

/* allenai/cartography writes int(f · n) + 1 examples of a ranking, and int(f · n) of two ends (selection/
 * train_dy_filtering.py) and at random (selection/random_filtering.py). */
static size_t
plan_size_of_fraction(const struct selection_plan *plan, double fraction, size_t n)
{
	bool one_more = plan->top_share == 1 && plan->rule.kind != SELECT_RANDOM;
	size_t size;

	if (!plan->published)
		return selection_size(fraction, n);
	size = (size_t)(fraction * (double)n) + one_more;
	return size < n ? size : n;
}

static size_t
plan_size(const struct selection_plan *plan, size_t n)
{
	if (!plan->has_size)
		return n;
	if (plan->count > 0)
		return plan->count < n ? (size_t)plan->count : n;
	return plan_size_of_fraction(plan, plan->fraction, n);
}

static size_t
plan_offset(const struct selection_plan *plan, size_t n)
{
	if (plan->offset_count > 0)
		return plan->offset_count < n ? (size_t)plan->offset_count : n;
	return selection_size(plan->offset, n);
}

/* The most examples that a part can need, as it skips those that the others have. */
static size_t
plan_limit(const struct selection_plan *plan, size_t n, const double *fractions, size_t fraction_count)
{
	size_t most = fraction_count > 0 ? 0 : plan_size(plan, n);

	if (plan->classes != SELECTION_CLASSES_ANY)
		return n;
	for (size_t i = 0; i < fraction_count; i++) {
		size_t size = plan_size_of_fraction(plan, fractions[i], n);

		most = size > most ? size : most;
	}
	most += plan_offset(plan, n);
	return most < n ? most : n;
}

int
selection_plan_check(const struct selection_plan *plan, const struct selection_source *source,
                     struct portolan_error *error)
{
	const struct dynamics *dynamics = source->dynamics;
	struct selection_rule rules[SELECTION_PARTS_MAX];
	size_t part_count = selection_plan_parts(plan, rules);
	bool has_labels = plan->classes == SELECTION_CLASSES_ANY || source->count == 0;

	for (size_t p = 0; p < part_count; p++) {
		int code = selection_rule_check(&rules[p], dynamics, error);

		if (code < 0)
			return code;
	}
	for (size_t i = 0; i < source->count && !has_labels; i++)
		has_labels = dynamics->gold[source->order[i]] >= 0;
	if (has_labels)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no gold labels, which %s needs", dynamics->info->name,
	                 plan->classes == SELECTION_CLASSES_EACH ? "--per-class" : "--stratified");
}

void
selection_plan_rank(const struct selection_plan *plan, const struct selection_source *source, const double *fractions,
                    size_t fraction_count, struct selection_ranking *ranking)
{
	size_t limit = plan_limit(plan, source->count, fractions, fraction_count);
	struct selection_rule rules[SELECTION_PARTS_MAX];
	size_t part_count = selection_plan_parts(plan, rules);

	*ranking = (struct selection_ranking){0};
	for (size_t p = 0; p < part_count; p++) {
		ranking->lists[p] = memory_array(limit, sizeof(*ranking->lists[p]), "ranked examples");
		ranking->counts[p] = selection_rank_first(source, &rules[p], limit, ranking->lists[p]);
	}
}

void
selection_ranking_free(struct selection_ranking *ranking)
{
	for (size_t p = 0; p < SELECTION_PARTS_MAX; p++)
		array_free(ranking->lists[p]);
	*ranking = (struct selection_ranking){0};
}

static size_t
taking_group_of(const struct taking *taking, uint32_t index)
{
	if (taking->plan->classes == SELECTION_CLASSES_ANY)
		return 0;
	return classes_find(&taking->classes, taking->source->dynamics->gold[index]);
}

/* Counts each group's examples, and makes room for quotas. */
static void
taking_make_groups(struct taking *taking)
{
	const struct selection_source *source = taking->source;
	const struct dynamics *dynamics = source->dynamics;

	taking->groups = 1;
	if (taking->plan->classes != SELECTION_CLASSES_ANY) {
		must(classes_make(&taking->classes, dynamics->gold, source->order, source->count, &failure));
		taking->groups = taking->classes.count;
	}
	taking->sizes = memory_new(taking->groups, sizeof(*taking->sizes));
	taking->quotas = memory_new(taking->groups * taking->part_count, sizeof(*taking->quotas));
	taking->passed = memory_new(taking->groups, sizeof(*taking->passed));
	taking->taken = memory_array(dynamics->ids.rows, 1, "marks");
	for (size_t i = 0; i < source->count; i++)
		taking->sizes[taking_group_of(taking, source->order[i])]++;
}

/* Divides a group's `size` among the parts, whose quotas lie `step` apart. */
static void
plan_divide(const struct selection_plan *plan, size_t size, size_t *quotas, size_t step)
{
	size_t own = size, first_mix = plan->top_share < 1 ? 2 : 1;

	for (size_t i = 0; i < plan->mix_count; i++) {
		size_t quota = selection_size(plan->mixes[i].fraction, size);

		quota = quota < own ? quota : own;
		quotas[(first_mix + i) * step] = quota;
		own -= quota;
	}
	quotas[0] = plan->published ? (size_t)(plan->top_share * (double)own) : selection_size(plan->top_share, own);
	if (first_mix > 1)
		quotas[step] = own - quotas[0];
}

static size_t
plan_smallest(const uint32_t *sizes, size_t groups)
{
	size_t least = SIZE_MAX;

	for (size_t g = 0; g < groups; g++)
		least = sizes[g] < least ? sizes[g] : least;
	return least;
}

/* Sets the quota of each part in each group (the classes, or all examples as one), and how many the rule skips there.
 * Returns the number of examples that is asked for. */
static size_t
taking_share_out(struct taking *taking)
{
	const struct selection_plan *plan = taking->plan;
	const uint32_t *sizes = taking->sizes;
	size_t groups = taking->groups, smallest = plan_smallest(sizes, groups), all = 0, asked = 0;
	CLEANUP_FREE size_t *shares = memory_new(groups, sizeof(*shares));

	for (size_t g = 0; g < groups; g++) {
		shares[g] = plan->smallest ? smallest : plan_size(plan, sizes[g]);
		taking->passed[g] = plan_offset(plan, sizes[g]);
		all += sizes[g];
	}
	if (plan->classes == SELECTION_CLASSES_STRATIFIED) {
		selection_share_out(sizes, groups, plan_size(plan, all), shares);
		selection_share_out(sizes, groups, plan_offset(plan, all), taking->passed);
	}
	for (size_t g = 0; g < groups; g++) {
		plan_divide(plan, shares[g], taking->quotas + g, groups);
		asked += shares[g];
	}
	return asked;
}

static size_t
taking_take_part(struct taking *taking, size_t part, const uint32_t *ranked, size_t n, uint32_t *chosen, size_t used)
{
	size_t *quotas = taking->quotas + part * taking->groups;

	for (size_t r = 0; r < n; r++) {
		size_t group = taking_group_of(taking, ranked[r]);

		if (part == 0 && taking->passed[group] > 0) {
			taking->passed[group]--;
			continue;
		}
		if (quotas[group] == 0 || taking->taken[ranked[r]])
			continue;
		taking->taken[ranked[r]] = 1;
		chosen[used++] = ranked[r];
		quotas[group]--;
	}
	return used;
}

uint32_t *
selection_plan_take(const struct selection_plan *plan, const struct selection_source *source,
                    const struct selection_ranking *ranking, size_t *count, size_t *asked)
{
	struct taking taking = {.plan = plan, .source = source};
	struct selection_rule rules[SELECTION_PARTS_MAX];
	uint32_t *chosen;

	taking.part_count = selection_plan_parts(plan, rules);
	taking_make_groups(&taking);
	*asked = taking_share_out(&taking);
	chosen = memory_array(*asked, sizeof(*chosen), "chosen examples");
	*count = 0;
	for (size_t p = 0; p < taking.part_count; p++)
		*count = taking_take_part(&taking, p, ranking->lists[p], ranking->counts[p], chosen, *count);
	free(taking.sizes);
	free(taking.quotas);
	free(taking.passed);
	array_free(taking.taken);
	classes_free(&taking.classes);
	return chosen;
}

/*
 * selection.c: rules as orders over examples.
 *
 * Every order is a stable sort of a list that is ascending by id, so ties need no second look; random permutes
 * that same list, so it does not depend on the order in which examples were recorded.
 */
#include "selection.h"

#include "statistics/random.h"

#include <portolan/error.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const selection_names[] = {"ambiguous", "hard-to-learn", "easy-to-learn", "forgettable", "random"};

static const struct selection_rule named_rules[SELECTION_NAMES] = {
        {SELECT_MEASURE, "variability", true},
        {SELECT_MEASURE, "confidence", false},
        {SELECT_MEASURE, "confidence", true},
        {SELECT_FORGETTABLE, "", true},
        {SELECT_RANDOM, "", false},
};

bool
selection_rule_parse(const char *text, struct selection_rule *rule)
{
	const char *colon = strrchr(text, ':');
	size_t length;

	for (size_t i = 0; i < SELECTION_NAMES; i++) {
		if (strcmp(text, selection_names[i]) == 0) {
			*rule = named_rules[i];
			return true;
		}
	}
	if (!colon || (strcmp(colon, ":asc") != 0 && strcmp(colon, ":desc") != 0))
		return false;
	length = (size_t)(colon - text);
	if (length == 0 || length >= sizeof(rule->measure))
		return false;
	*rule = (struct selection_rule){.kind = SELECT_MEASURE, .descending = strcmp(colon, ":desc") == 0};
	memcpy(rule->measure, text, length);
	return true;
}

static bool
is_measure(const char *name)
{
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(name, measure_infos[m].name) == 0)
			return true;
	return false;
}

void
selection_rule_request(const struct selection_rule *rule, struct dynamics_request *request)
{
	if (rule->kind == SELECT_FORGETTABLE)
		request->measures |= MEASURE_BIT(MEASURE_FORGETTING_EVENTS) | MEASURE_BIT(MEASURE_NEVER_LEARNED);
	if (rule->kind != SELECT_MEASURE)
		return;
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(rule->measure, measure_infos[m].name) == 0)
			request->measures |= MEASURE_BIT(m);
	request->user = request->user || !is_measure(rule->measure);
}

size_t
selection_size(double fraction, size_t n)
{
	/* The fraction is the double next to the decimal that was meant, and the product is rounded again: 0.145 × 100
	 * must still come to 15, and 0.145 × 50,000,100 to 7,250,015. */
	double product = fraction * (double)n, size = floor(product + 0.5 + 2 * DBL_EPSILON * product);

	return size < (double)n ? (size_t)size : n;
}

void
selection_by_values(const double *values, bool descending, const uint32_t *order, size_t n, struct sort_item *items,
                    uint32_t *ranked)
{
	for (size_t i = 0; i < n; i++) {
		double value = values[order[i]];

		items[i].key = descending ? sort_key_descending(value) : sort_key_ascending(value);
		items[i].value = order[i];
	}
	sort_by_key(items, items + n, n);
	for (size_t i = 0; i < n; i++)
		ranked[i] = items[i].value;
}

size_t
selection_forgettable(const double *events, const double *never_learned, const uint32_t *order, size_t n,
                      struct sort_item *items, uint32_t *ranked)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		bool never = never_learned[order[i]] > 0;

		if (!never && !(events[order[i]] > 0))
			continue;
		items[count].key = sort_key_descending(never ? INFINITY : events[order[i]]);
		items[count++].value = order[i];
	}
	sort_by_key(items, items + n, count);
	for (size_t i = 0; i < count; i++)
		ranked[i] = items[i].value;
	return count;
}

size_t
selection_per_class(uint32_t *ranked, size_t n, const int32_t *gold, const uint32_t *class_sizes, uint32_t *taken,
                    double fraction, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t class = (size_t)((int64_t)gold[ranked[i]] + 1); /* INT32_MAX is a label too */
		size_t quota = count > 0 ? count : selection_size(fraction, class_sizes[class]);

		if (taken[class] < quota) {
			taken[class]++;
			ranked[kept++] = ranked[i];
		}
	}
	return kept;
}

bool
selection_rule_is_known(const struct selection_rule *rule, const struct dynamics *dynamics)
{
	return rule->kind != SELECT_MEASURE || is_measure(rule->measure) || dynamics_column(dynamics, rule->measure);
}

static int
rank_by_measure(const struct dynamics *dynamics, const struct selection_rule *rule, struct sort_item *items,
                uint32_t *ranked, struct portolan_error *error)
{
	const struct dynamics_column *column = dynamics_column(dynamics, rule->measure);

	if (!column)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' was recorded without the signal that %s needs: log %s", dynamics->info->name,
		                 rule->measure,
		                 strcmp(rule->measure, "aum") == 0 ? "logits" : "logits or probabilities");
	selection_by_values(column->values, rule->descending, dynamics->order, dynamics->count, items, ranked);
	return 0;
}

int
selection_rank(const struct dynamics *dynamics, const struct selection_rule *rule, uint64_t seed, uint32_t *ranked,
               size_t *ranked_count, struct portolan_error *error)
{
	struct sort_item *items = NULL;
	struct random_state random;
	int code = 0;

	*ranked_count = dynamics->count;
	if (rule->kind == SELECT_RANDOM) {
		memcpy(ranked, dynamics->order, dynamics->count * sizeof(*ranked));
		random_seed(&random, seed);
		random_sample(&random, ranked, dynamics->count, dynamics->count);
		return 0;
	}
	items = malloc(2 * dynamics->count * sizeof(*items));
	if (!items)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank %zu examples", dynamics->count);
	if (rule->kind == SELECT_FORGETTABLE)
		*ranked_count = selection_forgettable(dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS),
		                                      dynamics_measure(dynamics, MEASURE_NEVER_LEARNED),
		                                      dynamics->order, dynamics->count, items, ranked);
	else
		code = rank_by_measure(dynamics, rule, items, ranked, error);
	free(items);
	return code;
}

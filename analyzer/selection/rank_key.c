/* rank_key.c: the same sets and orders as in selection.c, example by example. */
#include "rank_key.h"

#include <math.h>

struct rank_values
rank_values_of(const struct rank_key *key, const struct dynamics *part)
{
	const struct selection_rule *rule = &key->rule;
	struct rank_values values = {.key = key, .part = part};
	const struct dynamics_column *column;

	if (rule->kind == SELECT_FORGETTABLE || rule->kind == SELECT_FORGETTING) {
		values.values = dynamics_measure(part, MEASURE_FORGETTING_EVENTS);
		values.never = dynamics_measure(part, MEASURE_NEVER_LEARNED);
	} else if (rule->kind != SELECT_RANDOM) {
		column = dynamics_column(part, rule->measure);
		values.values = column ? column->values : NULL;
	}
	if (rule->kind == SELECT_REGION) {
		values.variability = dynamics_measure(part, MEASURE_VARIABILITY);
		values.confidence = dynamics_measure(part, MEASURE_CONFIDENCE);
	}
	return values;
}

static bool
random_key_of(const struct rank_values *values, uint32_t row, uint64_t *key)
{
	const struct dynamics *part = values->part;
	uint32_t rank = values->key->ranks[part->indices ? part->indices[row] : part->first + row];

	*key = rank;
	return rank != RANK_KEY_NONE;
}

bool
rank_key_of(const struct rank_values *values, uint32_t row, uint64_t *key)
{
	const struct selection_rule *rule = &values->key->rule;
	const double *threshold = values->key->threshold;
	double value;

	if (rule->kind == SELECT_RANDOM)
		return random_key_of(values, row, key);
	value = values->never && values->never[row] > 0 ? INFINITY : values->values[row];
	*key = rule->descending ? sort_key_descending(value) : sort_key_ascending(value);
	if (rule->kind == SELECT_REGION)
		return region_of(values->variability[row], values->confidence[row], values->key->cuts) == rule->region;
	if (rule->kind == SELECT_FORGETTABLE)
		return value >= 1;
	return !threshold || (rule->descending ? value >= *threshold : value <= *threshold);
}

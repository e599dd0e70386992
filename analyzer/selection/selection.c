/*
 * selection.c: rules as orders over examples.
 *
 * A rule first keeps the examples of the list that are in its set, then takes the first by value. Every order is stable
 * over a list that ascends by id, so ties need no further comparison; random permutes that same list, so it does not
 * depend on the order in which examples were recorded.
 */
#include "selection.h"

#include "base/arrays.h"
#include "beta.h"
#include "data_iq.h"
#include "regions/regions.h"
#include "statistics/k_center.h"
#include "statistics/random.h"
#include "statistics/top.h"
#include "strata.h"
#include "trajectories.h"

#include <portolan/error.h>
#include <progress.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t
selection_size(double fraction, size_t n)
{
	/* The fraction is the double next to the decimal that was meant, and the product is rounded too. Still, 0.145 ×
	 * 100 must give 15, and 0.145 × 50,000,100 must give 7,250,015. */
	double product = fraction * (double)n, size = floor(product + 0.5 + 2 * DBL_EPSILON * product);

	return size < (double)n ? (size_t)size : n;
}

void
selection_by_values(const double *values, bool descending, const uint32_t *order, size_t n, struct sort_item *items,
                    uint32_t *ranked)
{
	top_of_values(values, descending, order, n, n, items);
	for (size_t i = 0; i < n; i++)
		ranked[i] = items[i].value;
}

void
selection_forgetting_values(const double *events, const double *never_learned, size_t rows, double *values)
{
	for (size_t i = 0; i < rows; i++)
		values[i] = never_learned[i] > 0 ? INFINITY : events[i];
}

size_t
selection_keep_within(const double *values, double from, double to, const uint32_t *order, size_t n, uint32_t *kept)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (values[order[i]] >= from && values[order[i]] <= to)
			kept[count++] = order[i];
	return count;
}

void
selection_share_out(const uint32_t *counts, size_t classes, size_t size, size_t *quotas)
{
	uint64_t all = 0, left = size;

	for (size_t c = 0; c < classes; c++)
		all += counts[c];
	for (size_t c = 0; c < classes; c++) {
		quotas[c] = all > 0 ? (size_t)((uint64_t)size * counts[c] / all) : 0;
		left -= quotas[c];
	}
	for (; left > 0 && all > 0; left--) {
		size_t best = classes;
		uint64_t most = 0;

		for (size_t c = 0; c < classes; c++) {
			uint64_t exact = (uint64_t)size * counts[c], whole = exact / all;

			if (quotas[c] == whole && exact % all > most) {
				most = exact % all;
				best = c;
			}
		}
		quotas[best]++;
	}
}

/* The values that a rule ranks by; `list` has the remaining examples of the source. */
struct ranking {
	const double *values;
	double *own_values;
	const uint32_t *list;
	uint32_t *own_list;
	size_t count;
};

static bool
ranks_by_forgetting(const struct selection_rule *rule)
{
	return rule->kind == SELECT_FORGETTABLE || rule->kind == SELECT_FORGETTING;
}

static int
find_values(const struct selection_source *source, const struct selection_rule *rule, struct ranking *ranking,
            struct portolan_error *error)
{
	const struct dynamics *dynamics = source->dynamics;
	const struct dynamics_column *column;

	if (ranks_by_forgetting(rule) && dynamics->never_learned != NEVER_LEARNED_FLAG) {
		ranking->values = dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS);
		return 0;
	}
	if (ranks_by_forgetting(rule)) {
		ranking->own_values = array_new(dynamics->ids.rows, sizeof(double), "values to rank by", error);
		if (!ranking->own_values)
			return PORTOLAN_E_MEMORY;
		selection_forgetting_values(dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS),
		                            dynamics_measure(dynamics, MEASURE_NEVER_LEARNED), dynamics->ids.rows,
		                            ranking->own_values);
		ranking->values = ranking->own_values;
		return 0;
	}
	column = dynamics_column(dynamics, rule->measure);
	if (!column)
		return dynamics_no_measure(dynamics, NULL, rule->measure, error);
	ranking->values = column->values;
	return 0;
}

static int
keep_region(const struct selection_source *source, const struct selection_rule *rule, struct ranking *ranking,
            struct portolan_error *error)
{
	uint8_t *regions;
	size_t count = 0;
	int code = rule->kind == SELECT_GROUP ? data_iq_list(source->dynamics, &regions, error)
	                                      : region_list(source->dynamics, source->cuts, &regions, error);

	if (code < 0)
		return code;
	for (size_t i = 0; i < source->count; i++)
		if (regions[source->order[i]] == rule->region)
			ranking->own_list[count++] = source->order[i];
	ranking->count = count;
	array_free(regions);
	return 0;
}

static void
keep_forgettable(const struct selection_source *source, struct ranking *ranking)
{
	const double *events = dynamics_measure(source->dynamics, MEASURE_FORGETTING_EVENTS);
	const double *never_learned = dynamics_measure(source->dynamics, MEASURE_NEVER_LEARNED);
	size_t count = 0;

	for (size_t i = 0; i < source->count; i++)
		if (events[source->order[i]] > 0 || never_learned[source->order[i]] > 0)
			ranking->own_list[count++] = source->order[i];
	ranking->count = count;
}

/* Keeps the examples of the list that are in the rule's set and pass the threshold. */
static int
keep_set(const struct selection_source *source, const struct selection_rule *rule, struct ranking *ranking,
         struct portolan_error *error)
{
	double from = -INFINITY, to = INFINITY;

	ranking->list = source->order;
	ranking->count = source->count;
	if (!source->threshold && !selection_rule_is_set(rule))
		return 0;
	ranking->own_list = array_new(source->count, sizeof(*ranking->own_list), "examples to rank", error);
	if (!ranking->own_list)
		return PORTOLAN_E_MEMORY;
	ranking->list = ranking->own_list;
	if (rule->kind == SELECT_REGION || rule->kind == SELECT_GROUP)
		return keep_region(source, rule, ranking, error);
	if (rule->kind == SELECT_FORGETTABLE) {
		keep_forgettable(source, ranking);
		return 0;
	}
	if (rule->descending)
		from = *source->threshold;
	else
		to = *source->threshold;
	ranking->count =
	        selection_keep_within(ranking->values, from, to, source->order, source->count, ranking->own_list);
	return 0;
}

static int
take_top(const struct ranking *ranking, bool descending, size_t limit, uint32_t *ranked, size_t *ranked_count,
         struct portolan_error *error)
{
	size_t k = limit < ranking->count ? limit : ranking->count;
	struct sort_item *items = array_new(2 * k, sizeof(*items), "examples to rank", error);

	if (!items)
		return PORTOLAN_E_MEMORY;
	top_of_values(ranking->values, descending, ranking->list, ranking->count, k, items);
	for (size_t i = 0; i < k; i++)
		ranked[i] = items[i].value;
	*ranked_count = k;
	array_free(items);
	return 0;
}

static int
rank_by_values(const struct selection_source *source, const struct selection_rule *rule, size_t limit, uint32_t *ranked,
               size_t *ranked_count, struct portolan_error *error)
{
	struct ranking ranking = {0};
	int code = find_values(source, rule, &ranking, error);

	if (code >= 0)
		code = keep_set(source, rule, &ranking, error);
	if (code >= 0 && rule->strata > 0) {
		const struct strata strata = {
		        .values = ranking.values,
		        .descending = rule->descending,
		        .list = ranking.list,
		        .n = ranking.count,
		        .count = rule->strata,
		        .cut = rule->cut,
		        .seed = source->seed,
		};

		code = strata_rank(&strata, limit, ranked, ranked_count, error);
	} else if (code >= 0) {
		code = take_top(&ranking, rule->descending, limit, ranked, ranked_count, error);
	}
	array_free(ranking.own_values);
	array_free(ranking.own_list);
	return code;
}

static int
rank_randomly(const struct selection_source *source, size_t limit, uint32_t *ranked, size_t *ranked_count,
              struct portolan_error *error)
{
	uint32_t *list = array_new(source->count, sizeof(*list), "examples to draw from", error);
	struct random_state random;

	if (!list)
		return PORTOLAN_E_MEMORY;
	memcpy(list, source->order, source->count * sizeof(*list));
	random_seed(&random, source->seed);
	*ranked_count = limit < source->count ? limit : source->count;
	random_sample(&random, list, source->count, *ranked_count);
	memcpy(ranked, list, *ranked_count * sizeof(*list));
	array_free(list);
	return 0;
}

/* The kept share is that of `limit` in the list. */
static int
rank_by_beta(const struct selection_source *source, size_t limit, uint32_t *ranked, size_t *ranked_count,
             struct portolan_error *error)
{
	const struct dynamics *dynamics = source->dynamics;
	const struct dynamics_column *dual = dynamics_column(dynamics, measure_infos[MEASURE_DUAL].name);
	struct ranking ranking = {.list = source->order, .count = source->count};
	double kept = (double)limit / (double)source->count;
	int code;

	if (!dual)
		return dynamics_no_measure(dynamics, NULL, measure_infos[MEASURE_DUAL].name, error);
	ranking.own_values = array_new(dynamics->ids.rows, sizeof(double), "weights to draw by", error);
	if (!ranking.own_values)
		return PORTOLAN_E_MEMORY;
	ranking.values = ranking.own_values;
	beta_log_weights(dynamics_measure(dynamics, MEASURE_CONFIDENCE), dual->values, source->order, source->count,
	                 kept < 1 ? kept : 1, source->beta_c, ranking.own_values);
	beta_draw(source->order, source->count, source->seed, ranking.own_values);
	code = take_top(&ranking, true, limit, ranked, ranked_count, error);
	array_free(ranking.own_values);
	return code;
}

static int
find_rows(const struct selection_source *source, uint32_t *rows, struct portolan_error *error)
{
	const struct ids *ids = &source->dynamics->ids;

	for (size_t i = 0; i < source->count; i++) {
		const char *text, *path = source->features->array.path;
		size_t length;

		rows[i] = source->features->rows[source->order[i]];
		if (rows[i] != FEATURES_NO_ROW)
			continue;
		if (ids->kind == STORE_ID_INT)
			return error_set(error, PORTOLAN_E_INVALID, "%s has no row for example %llu", path,
			                 (unsigned long long)ids->integers[source->order[i]]);
		text = ids_text(ids, source->order[i], &length);
		return error_set(error, PORTOLAN_E_INVALID, "%s has no row for example '%.*s'", path, (int)length,
		                 text);
	}
	return 0;
}

static void
show_step(void *context, size_t done)
{
	progress_show(context, done);
}

static int
rank_by_cover(const struct selection_source *source, size_t limit, uint32_t *ranked, size_t *ranked_count,
              struct portolan_error *error)
{
	uint32_t *rows = array_new(source->count, sizeof(*rows), "rows of features", error);
	double *nearest = array_new(source->count, sizeof(*nearest), "distances", error);
	size_t k = limit < source->count ? limit : source->count;
	struct progress progress;
	int code = 0;

	if (!rows || !nearest)
		code = PORTOLAN_E_MEMORY;
	else if (!source->features)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "k-center needs features: a NumPy matrix, one row an example");
	else
		code = find_rows(source, rows, error);
	if (code >= 0 && k > 0) {
		const struct npy_array *array = &source->features->array;
		struct k_center_points points = {
		        .features = array->data,
		        .is_float32 = array->header.item_size == 4,
		        .dimensions = (size_t)array->header.shape[1],
		        .rows = rows,
		        .count = source->count,
		};

		progress_begin(&progress, "covering", k);
		k_center_greedy(&points, k, source->threads, ranked, nearest, show_step, &progress);
		progress_clear(&progress);
		for (size_t i = 0; i < k; i++)
			ranked[i] = source->order[ranked[i]];
	}
	*ranked_count = k;
	array_free(nearest);
	array_free(rows);
	return code;
}

int
selection_rank_first(const struct selection_source *source, const struct selection_rule *rule, size_t limit,
                     uint32_t *ranked, size_t *ranked_count, struct portolan_error *error)
{
	if (rule->kind == SELECT_RANDOM)
		return rank_randomly(source, limit, ranked, ranked_count, error);
	if (rule->kind == SELECT_K_CENTER)
		return rank_by_cover(source, limit, ranked, ranked_count, error);
	if (rule->kind == SELECT_DUAL_BETA)
		return rank_by_beta(source, limit, ranked, ranked_count, error);
	if (rule->kind == SELECT_S2L)
		return trajectories_rank(source, limit, ranked, ranked_count, error);
	if (rule->kind == SELECT_BY_ID) {
		*ranked_count = limit < source->count ? limit : source->count;
		memcpy(ranked, source->order, *ranked_count * sizeof(*ranked));
		return 0;
	}
	return rank_by_values(source, rule, limit, ranked, ranked_count, error);
}

int
selection_rank(const struct dynamics *dynamics, const struct selection_rule *rule, uint64_t seed, uint32_t *ranked,
               size_t *ranked_count, struct portolan_error *error)
{
	struct selection_source source = {
	        .dynamics = dynamics,
	        .order = dynamics->order,
	        .count = dynamics->count,
	        .threads = 1,
	        .seed = seed,
	};

	return selection_rank_first(&source, rule, dynamics->count, ranked, ranked_count, error);
}

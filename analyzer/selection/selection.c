/*
 * selection.c: ranks examples by a selection rule, for `portolan select` and other commands that rank (selection.h).
 *
 * A rule that is a set first keeps the examples that are in the set. Then the examples are taken in the order of the
 * rule's values. Every order is stable over a list that ascends by id, so ties need no further comparison. A random
 * order permutes that same list, so it does not depend on the order in which examples were recorded.
 */
#include "selection.h"

#include "beta.h"
#include "data_iq.h"
#include "die/die.h"
#include "die/memory.h"
#include "statistics/k_center.h"
#include "statistics/random.h"
#include "statistics/top.h"
#include "strata.h"
#include "trajectories.h"

#include <progress.h>

#include <math.h>
#include <string.h>

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

/* The values by which a rule ranks; `list` has those examples of the source that remain. */
struct ranking {
	const double *values;
	double *own_values;
	const uint32_t *list;
	uint32_t *own_list;
	size_t count;
};

static bool
selection_ranks_by_forgetting(const struct selection_rule *rule)
{
	return rule->kind == SELECT_FORGETTABLE || rule->kind == SELECT_FORGETTING;
}

int
selection_rule_check(const struct selection_rule *rule, const struct dynamics *dynamics, struct portolan_error *error)
{
	if (rule->measure[0] && !dynamics_column(dynamics, rule->measure))
		return dynamics_no_measure(dynamics, NULL, rule->measure, error);
	return 0;
}

static void
selection_find_values(const struct selection_source *source, const struct selection_rule *rule, struct ranking *ranking)
{
	const struct dynamics *dynamics = source->dynamics;

	if (selection_ranks_by_forgetting(rule) && dynamics->never_learned != NEVER_LEARNED_FLAG) {
		ranking->values = dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS);
	} else if (selection_ranks_by_forgetting(rule)) {
		ranking->own_values = memory_array(dynamics->ids.rows, sizeof(double), "values to rank by");
		selection_forgetting_values(dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS),
		                            dynamics_measure(dynamics, MEASURE_NEVER_LEARNED), dynamics->ids.rows,
		                            ranking->own_values);
		ranking->values = ranking->own_values;
	} else {
		must(selection_rule_check(rule, dynamics, &failure));
		ranking->values = dynamics_column(dynamics, rule->measure)->values;
	}
}

static void
selection_keep_region(const struct selection_source *source, const struct selection_rule *rule, struct ranking *ranking)
{
	CLEANUP_ARRAY uint8_t *regions = NULL;
	size_t count = 0;

	if (rule->kind == SELECT_GROUP)
		regions = data_iq_list(source->dynamics);
	else
		must(region_list(source->dynamics, source->cuts, &regions, &failure));
	for (size_t i = 0; i < source->count; i++)
		if (regions[source->order[i]] == rule->region)
			ranking->own_list[count++] = source->order[i];
	ranking->count = count;
}

static void
selection_keep_forgettable(const struct selection_source *source, struct ranking *ranking)
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
static void
selection_keep_set(const struct selection_source *source, const struct selection_rule *rule, struct ranking *ranking)
{
	double from = -INFINITY, to = INFINITY;

	ranking->list = source->order;
	ranking->count = source->count;
	if (!source->threshold && !selection_rule_is_set(rule))
		return;
	ranking->own_list = memory_array(source->count, sizeof(*ranking->own_list), "examples to rank");
	ranking->list = ranking->own_list;
	if (rule->kind == SELECT_REGION || rule->kind == SELECT_GROUP) {
		selection_keep_region(source, rule, ranking);
		return;
	}
	if (rule->kind == SELECT_FORGETTABLE) {
		selection_keep_forgettable(source, ranking);
		return;
	}
	if (rule->descending)
		from = *source->threshold;
	else
		to = *source->threshold;
	ranking->count =
	        selection_keep_within(ranking->values, from, to, source->order, source->count, ranking->own_list);
}

static size_t
selection_take_top(const struct ranking *ranking, bool descending, size_t limit, uint32_t *ranked)
{
	size_t k = limit < ranking->count ? limit : ranking->count;
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * k, sizeof(*items), "examples to rank");

	top_of_values(ranking->values, descending, ranking->list, ranking->count, k, items);
	for (size_t i = 0; i < k; i++)
		ranked[i] = items[i].value;
	return k;
}

static size_t
selection_rank_by_values(const struct selection_source *source, const struct selection_rule *rule, size_t limit,
                         uint32_t *ranked)
{
	struct ranking ranking = {0};
	size_t count;

	selection_find_values(source, rule, &ranking);
	selection_keep_set(source, rule, &ranking);
	if (rule->strata > 0) {
		const struct strata strata = {
		        .values = ranking.values,
		        .descending = rule->descending,
		        .list = ranking.list,
		        .n = ranking.count,
		        .count = rule->strata,
		        .cut = rule->cut,
		        .seed = source->seed,
		};

		count = strata_rank(&strata, limit, ranked);
	} else {
		count = selection_take_top(&ranking, rule->descending, limit, ranked);
	}
	array_free(ranking.own_values);
	array_free(ranking.own_list);
	return count;
}

static size_t
selection_rank_randomly(const struct selection_source *source, size_t limit, uint32_t *ranked)
{
	CLEANUP_ARRAY uint32_t *list = memory_array(source->count, sizeof(*list), "examples to draw from");
	size_t count = limit < source->count ? limit : source->count;
	struct random_state random;

	memcpy(list, source->order, source->count * sizeof(*list));
	random_seed(&random, source->seed);
	random_sample(&random, list, source->count, count);
	memcpy(ranked, list, count * sizeof(*list));
	return count;
}

/* Ranks by Beta sampling (beta.h). The share that is kept is `limit` of the list. */
static size_t
selection_rank_by_beta(const struct selection_source *source, const struct selection_rule *rule, size_t limit,
                       uint32_t *ranked)
{
	const struct dynamics *dynamics = source->dynamics;
	double kept = (double)limit / (double)source->count;
	CLEANUP_ARRAY double *weights = NULL;

	must(selection_rule_check(rule, dynamics, &failure));
	weights = memory_array(dynamics->ids.rows, sizeof(*weights), "weights to draw by");
	beta_log_weights(dynamics_measure(dynamics, MEASURE_CONFIDENCE), dynamics_measure(dynamics, MEASURE_DUAL),
	                 source->order, source->count, kept < 1 ? kept : 1, source->beta_c, weights);
	beta_draw(source->order, source->count, source->seed, weights);
	return selection_take_top(&(struct ranking){.values = weights, .list = source->order, .count = source->count},
	                          true, limit, ranked);
}

/* Fills `rows` with the row of each example's features. */
static void
selection_find_rows(const struct selection_source *source, uint32_t *rows)
{
	const struct ids *ids = &source->dynamics->ids;

	for (size_t i = 0; i < source->count; i++) {
		const char *quote = ids->kind == STORE_ID_INT ? "" : "'", *text;
		char digits[NUMBER_ROOM];
		size_t length;

		rows[i] = source->features->rows[source->order[i]];
		if (rows[i] != FEATURES_NO_ROW)
			continue;
		text = id_print(ids, source->order[i], digits, &length);
		die("%s has no row for example %s%.*s%s", source->features->array.path, quote, (int)length, text,
		    quote);
	}
}

static void
selection_show_step(void *context, size_t done)
{
	progress_show(context, done);
}

static size_t
selection_rank_by_cover(const struct selection_source *source, size_t limit, uint32_t *ranked)
{
	const struct npy_array *array = &source->features->array;
	CLEANUP_ARRAY uint32_t *rows = memory_array(source->count, sizeof(*rows), "rows of features");
	CLEANUP_ARRAY double *nearest = memory_array(source->count, sizeof(*nearest), "distances");
	size_t k = limit < source->count ? limit : source->count;
	struct k_center_points points = {
	        .features = array->data,
	        .is_float32 = array->header.item_size == 4,
	        .dimensions = (size_t)array->header.shape[1],
	        .rows = rows,
	        .count = source->count,
	};
	struct progress progress;

	selection_find_rows(source, rows);
	if (k == 0)
		return 0;
	progress_begin(&progress, "covering", k);
	k_center_greedy(&points, k, source->threads, ranked, nearest, selection_show_step, &progress);
	progress_clear(&progress);
	for (size_t i = 0; i < k; i++)
		ranked[i] = source->order[ranked[i]];
	return k;
}

size_t
selection_rank_first(const struct selection_source *source, const struct selection_rule *rule, size_t limit,
                     uint32_t *ranked)
{
	const struct trajectories trajectories = {
	        .dynamics = source->dynamics,
	        .list = source->order,
	        .n = source->count,
	        .clusters = source->clusters,
	        .starts = source->starts,
	        .seed = source->seed,
	        .sources = source->sources,
	        .source_count = source->source_count,
	};

	if (rule->kind == SELECT_RANDOM)
		return selection_rank_randomly(source, limit, ranked);
	if (rule->kind == SELECT_K_CENTER)
		return selection_rank_by_cover(source, limit, ranked);
	if (rule->kind == SELECT_DUAL_BETA)
		return selection_rank_by_beta(source, rule, limit, ranked);
	if (rule->kind == SELECT_S2L)
		return trajectories_rank(&trajectories, limit, ranked);
	if (rule->kind == SELECT_BY_ID) {
		limit = limit < source->count ? limit : source->count;
		memcpy(ranked, source->order, limit * sizeof(*ranked));
		return limit;
	}
	return selection_rank_by_values(source, rule, limit, ranked);
}

size_t
selection_rank(const struct dynamics *dynamics, const struct selection_rule *rule, uint64_t seed, uint32_t *ranked)
{
	struct selection_source source = {
	        .dynamics = dynamics,
	        .order = dynamics->order,
	        .count = dynamics->count,
	        .threads = 1,
	        .seed = seed,
	};

	return selection_rank_first(&source, rule, dynamics->count, ranked);
}

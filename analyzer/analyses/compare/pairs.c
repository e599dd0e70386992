/*
 * pairs.c: compares two runs over the examples that both have, for `portolan compare` (pairs.h).
 *
 * Selections too are made among the shared examples alone: examples that only one run has say nothing about how stable
 * the ranking is.
 */
#include "pairs.h"

#include "die/die.h"
#include "die/memory.h"
#include "measures/aggregate.h"
#include "statistics/proportion.h"

#include <math.h>
#include <string.h>

void
pair_init(struct pair *pair, const struct dynamics *a, const struct dynamics *b)
{
	size_t room = (a->count < b->count ? a->count : b->count);

	*pair = (struct pair){.a = a, .b = b};
	must(dynamics_check_alike(a, b, &failure));
	pair->rows_a = memory_array(room, sizeof(*pair->rows_a), "examples to match");
	pair->rows_b = memory_array(room, sizeof(*pair->rows_b), "examples to match");
	pair->shared = dynamics_match(a, b, pair->rows_a, pair->rows_b);
	if (pair->shared == 0)
		die("runs '%s' and '%s' share no example: their ids differ", a->info->name, b->info->name);
}

void
pair_free(struct pair *pair)
{
	array_free(pair->rows_a);
	array_free(pair->rows_b);
	*pair = (struct pair){0};
}

size_t
pair_values(const struct pair *pair, const struct dynamics_column *a, const struct dynamics_column *b, double *x,
            double *y)
{
	size_t n = 0;

	for (size_t i = 0; i < pair->shared; i++) {
		x[n] = a->values[pair->rows_a[i]];
		y[n] = b->values[pair->rows_b[i]];
		n += isfinite(x[n]) && isfinite(y[n]);
	}
	return n;
}

size_t
pair_correlate(const struct pair *pair, struct pair_correlation *rows)
{
	static const char what[] = "values to compare";
	CLEANUP_ARRAY double *x = memory_array(pair->shared, sizeof(*x), what);
	CLEANUP_ARRAY double *y = memory_array(pair->shared, sizeof(*y), what);
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * pair->shared, sizeof(*items), what);
	const double deviations = proportion_deviations(PAIR_LEVEL);
	size_t count = 0;

	for (size_t c = 0; c < pair->a->column_count; c++) {
		const struct dynamics_column *a = &pair->a->columns[c], *b = dynamics_column(pair->b, a->name);
		struct pair_correlation *row = &rows[count];

		if (!b || strcmp(a->name, measure_infos[MEASURE_EPOCHS].name) == 0)
			continue;
		*row = (struct pair_correlation){
		        .measure = a->name, .run_a = pair->a->info->name, .run_b = pair->b->info->name};
		row->examples = pair_values(pair, a, b, x, y);
		row->pearson = correlation_pearson(x, y, row->examples);
		row->interval = correlation_interval(row->pearson, row->examples, deviations);
		correlation_ranks(x, row->examples, items, x);
		correlation_ranks(y, row->examples, items, y);
		row->spearman = correlation_pearson(x, y, row->examples);
		count++;
	}
	return count;
}

void
pair_moves(const struct pair *pair, const uint8_t *regions_a, const uint8_t *regions_b,
           uint64_t moves[REGION_COUNT][REGION_COUNT])
{
	memset(moves, 0, REGION_COUNT * sizeof(moves[0]));
	for (size_t i = 0; i < pair->shared; i++)
		moves[regions_a[pair->rows_a[i]]][regions_b[pair->rows_b[i]]]++;
}

/* Marks in marks[], by dense index, the first `size` of the examples in rows[] as the rule ranks them. Returns how many
 * it marked: fewer if the rule ranks fewer. */
static size_t
pair_mark_selected(const struct dynamics *dynamics, uint32_t *rows, size_t shared, const struct selection_rule *rule,
                   const struct region_cuts *cuts, size_t size, uint64_t seed, uint8_t *marks)
{
	struct dynamics part = *dynamics;
	struct selection_source source = {
	        .dynamics = &part, .order = rows, .count = shared, .cuts = cuts, .threads = 1, .seed = seed};
	CLEANUP_ARRAY uint32_t *ranked = memory_array(shared, sizeof(*ranked), "ranked examples");
	size_t n;

	part.order = rows;
	part.count = shared;
	n = selection_rank_first(&source, rule, size, ranked);
	for (size_t i = 0; i < n; i++)
		marks[ranked[i]] = 1;
	return n;
}

struct pair_overlap
pair_select(const struct pair *pair, const struct selection_rule *rule, const struct region_cuts *cuts, double fraction,
            uint64_t seed)
{
	size_t size = selection_size(fraction, pair->shared);
	CLEANUP_ARRAY uint8_t *marks_a = memory_array(pair->a->ids.rows, 1, "marks");
	CLEANUP_ARRAY uint8_t *marks_b = memory_array(pair->b->ids.rows, 1, "marks");
	struct pair_overlap overlap = {
	        .in_a = pair_mark_selected(pair->a, pair->rows_a, pair->shared, rule, cuts, size, seed, marks_a),
	        .in_b = pair_mark_selected(pair->b, pair->rows_b, pair->shared, rule, cuts, size, seed, marks_b)};

	for (size_t i = 0; i < pair->shared; i++)
		overlap.both += marks_a[pair->rows_a[i]] && marks_b[pair->rows_b[i]];
	return overlap;
}

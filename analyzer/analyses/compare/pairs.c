/*
 * pairs.c: see pairs.h.
 *
 * Selections are compared among the shared examples alone: examples that only one run has say nothing about how stable
 * the ranking is.
 */
#include "pairs.h"

#include "base/arrays.h"
#include "measures/aggregate.h"
#include "statistics/correlation.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
pair_init(struct pair *pair, const struct dynamics *a, const struct dynamics *b, struct portolan_error *error)
{
	size_t room = (a->count < b->count ? a->count : b->count);

	*pair = (struct pair){.a = a, .b = b};
	if (dynamics_check_ids(a, b, error) < 0)
		return PORTOLAN_E_INVALID;
	pair->rows_a = array_new(room, sizeof(*pair->rows_a), "examples to match", error);
	pair->rows_b = array_new(room, sizeof(*pair->rows_b), "examples to match", error);
	if (!pair->rows_a || !pair->rows_b) {
		pair_free(pair);
		return PORTOLAN_E_MEMORY;
	}
	pair->shared = dynamics_match(a, b, pair->rows_a, pair->rows_b);
	if (pair->shared > 0)
		return 0;
	pair_free(pair);
	return error_set(error, PORTOLAN_E_INVALID, "runs '%s' and '%s' share no example: their ids differ",
	                 a->info->name, b->info->name);
}

void
pair_free(struct pair *pair)
{
	array_free(pair->rows_a);
	array_free(pair->rows_b);
	*pair = (struct pair){0};
}

/* Room for one measure of the shared examples, in both runs. */
struct room {
	double *x, *y, *ranks_x, *ranks_y;
	struct sort_item *items;
};

static void
room_free(struct room *room)
{
	array_free(room->x);
	array_free(room->y);
	array_free(room->ranks_x);
	array_free(room->ranks_y);
	array_free(room->items);
}

static int
room_init(struct room *room, size_t n, struct portolan_error *error)
{
	*room = (struct room){
	        .x = array_new(n, sizeof(double), "values to compare", error),
	        .y = array_new(n, sizeof(double), "values to compare", error),
	        .ranks_x = array_new(n, sizeof(double), "values to compare", error),
	        .ranks_y = array_new(n, sizeof(double), "values to compare", error),
	        .items = array_new(2 * n, sizeof(*room->items), "values to compare", error),
	};
	if (room->x && room->y && room->ranks_x && room->ranks_y && room->items)
		return 0;
	room_free(room);
	return PORTOLAN_E_MEMORY;
}

static void
correlate(const struct pair *pair, const double *a, const double *b, struct room *room, struct pair_correlation *row)
{
	size_t n = 0;

	for (size_t i = 0; i < pair->shared; i++) {
		double x = a[pair->rows_a[i]], y = b[pair->rows_b[i]];

		if (!isfinite(x) || !isfinite(y))
			continue;
		room->x[n] = x;
		room->y[n++] = y;
	}
	row->examples = n;
	row->pearson = correlation_pearson(room->x, room->y, n);
	correlation_ranks(room->x, n, room->items, room->ranks_x);
	correlation_ranks(room->y, n, room->items, room->ranks_y);
	row->spearman = correlation_pearson(room->ranks_x, room->ranks_y, n);
}

int
pair_correlate(const struct pair *pair, struct pair_correlation *rows, size_t *count, struct portolan_error *error)
{
	struct room room;
	size_t n = 0;

	if (room_init(&room, pair->shared, error) < 0)
		return PORTOLAN_E_MEMORY;
	for (size_t c = 0; c < pair->a->column_count; c++) {
		const struct dynamics_column *a = &pair->a->columns[c], *b = dynamics_column(pair->b, a->name);

		if (!b || strcmp(a->name, measure_infos[MEASURE_EPOCHS].name) == 0)
			continue;
		rows[n].measure = a->name;
		correlate(pair, a->values, b->values, &room, &rows[n++]);
	}
	room_free(&room);
	*count = n;
	return 0;
}

void
pair_moves(const struct pair *pair, const uint8_t *regions_a, const uint8_t *regions_b,
           uint64_t moves[REGION_COUNT][REGION_COUNT])
{
	memset(moves, 0, REGION_COUNT * sizeof(moves[0]));
	for (size_t i = 0; i < pair->shared; i++)
		moves[regions_a[pair->rows_a[i]]][regions_b[pair->rows_b[i]]]++;
}

/* Marks, by dense index, the examples in rows[] that the rule selects; *count: how many. */
static int
mark_selected(const struct dynamics *dynamics, uint32_t *rows, size_t shared, const struct selection_rule *rule,
              const struct region_cuts *cuts, size_t size, uint64_t seed, uint8_t **marks, uint64_t *count,
              struct portolan_error *error)
{
	struct dynamics part = *dynamics;
	struct selection_source source = {
	        .dynamics = &part, .order = rows, .count = shared, .cuts = cuts, .threads = 1, .seed = seed};
	uint32_t *ranked = array_new(shared, sizeof(*ranked), "ranked examples", error);
	uint8_t *list = array_new(dynamics->ids.rows, 1, "marks", error);
	size_t n;
	int code;

	part.order = rows;
	part.count = shared;
	if (!ranked || !list)
		code = PORTOLAN_E_MEMORY;
	else
		code = selection_rank_first(&source, rule, size, ranked, &n, error);
	if (code < 0) {
		array_free(ranked);
		array_free(list);
		return code;
	}
	for (size_t i = 0; i < n; i++)
		list[ranked[i]] = 1;
	array_free(ranked);
	*marks = list;
	*count = n;
	return 0;
}

int
pair_select(const struct pair *pair, const struct selection_rule *rule, const struct region_cuts *cuts, double fraction,
            uint64_t seed, struct pair_overlap *overlap, struct portolan_error *error)
{
	size_t size = selection_size(fraction, pair->shared);
	uint8_t *marks_a = NULL, *marks_b = NULL;
	int code;

	*overlap = (struct pair_overlap){0};
	code = mark_selected(pair->a, pair->rows_a, pair->shared, rule, cuts, size, seed, &marks_a, &overlap->in_a,
	                     error);
	if (code >= 0)
		code = mark_selected(pair->b, pair->rows_b, pair->shared, rule, cuts, size, seed, &marks_b,
		                     &overlap->in_b, error);
	for (size_t i = 0; code >= 0 && i < pair->shared; i++)
		overlap->both += marks_a[pair->rows_a[i]] && marks_b[pair->rows_b[i]];
	array_free(marks_a);
	array_free(marks_b);
	return code;
}

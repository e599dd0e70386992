/* test_selection.c: rules, ranks, sizes and regions. */
#include "unit.h"

#include "base/arrays.h"
#include "regions/orientation.h"
#include "regions/regions.h"
#include "selection/selection_plan.h"
#include "statistics/random.h"
#include "statistics/top.h"

#include <float.h>

static void
test_parse(void **state)
{
	struct selection_rule rule;

	(void)state;
	assert_true(selection_rule_parse("ambiguous", &rule));
	assert_true(rule.kind == SELECT_MEASURE && rule.descending);
	assert_string_equal(rule.measure, "variability");
	assert_true(selection_rule_parse("hard-to-learn", &rule) && !rule.descending);
	assert_string_equal(rule.measure, "confidence");
	assert_true(selection_rule_parse("easy-to-learn", &rule) && rule.descending);
	assert_true(selection_rule_parse("forgettable", &rule) && rule.kind == SELECT_FORGETTABLE);
	assert_true(selection_rule_parse("random", &rule) && rule.kind == SELECT_RANDOM);
	assert_true(selection_rule_parse("my:loss:asc", &rule) && !rule.descending);
	assert_string_equal(rule.measure, "my:loss");
	assert_true(selection_rule_parse("region:ambiguous", &rule) && rule.kind == SELECT_REGION);
	assert_true(rule.region == REGION_AMBIGUOUS && rule.descending);
	assert_true(selection_rule_parse("forgetting", &rule) && rule.kind == SELECT_FORGETTING);
	for (size_t i = 0; i < SELECTION_NAMES; i++)
		assert_true(selection_rule_parse(selection_names[i], &rule));
	assert_false(selection_rule_parse("region:easy", &rule));
	assert_false(selection_rule_parse("confidence", &rule));
	assert_false(selection_rule_parse("confidence:up", &rule));
	assert_false(selection_rule_parse(":asc", &rule));
	assert_false(selection_rule_parse("ambigous", &rule));
}

static void
test_size(void **state)
{
	(void)state;
	assert_int_equal(selection_size(0.5, 3), 2); /* 1.5 */
	assert_int_equal(selection_size(0.5, 1), 1);
	assert_int_equal(selection_size(0.33, 10), 3);
	assert_int_equal(selection_size(0.145, 100), 15); /* 14.5, though 0.145 × 100 is less in doubles */
	assert_int_equal(selection_size(0.1449, 100), 14);
	assert_int_equal(selection_size(0.145, 50000100), 7250015);
	assert_int_equal(selection_size(0.29, 50000050), 14500015);
	assert_int_equal(selection_size(0.57, 4000000050u), 2280000029u); /* .5 */
	assert_int_equal(selection_size(0.1449999, 50000100), 7250009);
	assert_int_equal(selection_size(0, 100), 0);
	assert_int_equal(selection_size(1, 7), 7);
}

static void
test_ranks(void **state)
{
	static const double values[5] = {0.3, 0.1, NAN, 0.3, 0.2};
	static const uint32_t order[5] = {3, 0, 2, 4, 1}; /* by ascending id: 3 before 0 */
	struct sort_item items[10];
	uint32_t ranked[5];

	(void)state;
	selection_by_values(values, true, order, 5, items, ranked);
	assert_memory_equal(ranked, ((uint32_t[]){3, 0, 4, 1, 2}), sizeof(ranked));
	selection_by_values(values, false, order, 5, items, ranked);
	assert_memory_equal(ranked, ((uint32_t[]){1, 4, 3, 0, 2}), sizeof(ranked));
}

static void
test_forgetting(void **state)
{
	static const double events[6] = {0, 2, 0, 1, 0, 2}, never[6] = {0, 0, 1, 0, 1, 0};
	static const uint32_t order[6] = {0, 1, 2, 3, 4, 5};
	struct sort_item items[12];
	uint32_t kept[6], ranked[6];
	double values[6];

	(void)state;
	selection_forgetting_values(events, never, 6, values);
	assert_int_equal(selection_keep_within(values, 1, INFINITY, order, 6, kept), 5);
	assert_memory_equal(kept, ((uint32_t[]){1, 2, 3, 4, 5}), 5 * sizeof(*kept));
	selection_by_values(values, true, kept, 5, items, ranked);
	assert_memory_equal(ranked, ((uint32_t[]){2, 4, 1, 5, 3}), 5 * sizeof(*ranked));
}

static void
test_keep_within(void **state)
{
	static const double values[5] = {0.5, NAN, 0.25, 0.75, -INFINITY};
	static const uint32_t order[5] = {4, 3, 2, 1, 0};
	uint32_t kept[5];

	(void)state;
	assert_int_equal(selection_keep_within(values, 0.5, INFINITY, order, 5, kept), 2);
	assert_memory_equal(kept, ((uint32_t[]){3, 0}), 2 * sizeof(*kept));
	assert_int_equal(selection_keep_within(values, -INFINITY, 0.5, order, 5, kept), 3); /* NaN is nowhere */
	assert_memory_equal(kept, ((uint32_t[]){4, 2, 0}), 3 * sizeof(*kept));
}

static void
test_top(void **state)
{
	static const double values[8] = {0.5, 2, NAN, 0.5, -1, 0.5, 1e300, -0.0};
	static const uint32_t order[8] = {7, 6, 5, 4, 3, 2, 1, 0}, descending[8] = {6, 1, 5, 3, 0, 7, 4, 2},
	                      ascending[8] = {4, 7, 5, 3, 0, 1, 6, 2};
	struct sort_item items[16];

	(void)state;
	for (size_t k = 0; k <= 8; k++) {
		top_of_values(values, true, order, 8, k, items);
		for (size_t i = 0; i < k; i++)
			assert_int_equal(items[i].value, descending[i]);
		top_of_values(values, false, order, 8, k, items);
		for (size_t i = 0; i < k; i++)
			assert_int_equal(items[i].value, ascending[i]);
	}
	for (size_t k = 0; k < 8; k++)
		for (int way = 0; way < 2; way++) {
			double last = values[(way ? descending : ascending)[k]];
			double found = top_value(values, way, order, 8, k + 1);

			assert_true(found == last || (isnan(found) && isnan(last)));
		}
}

/* Of more values than are put aside at once: the first k are those of a stable sort of all, with few ties and with
 * many. */
static void
test_top_of_many(void **state)
{
	enum { MANY = 20000 };
	static const uint64_t kinds[] = {UINT64_C(1) << 40, 3000, 5, 1}; /* at most so many different values */
	double *values = calloc(MANY, sizeof(*values));
	uint32_t *order = calloc(MANY, sizeof(*order));
	struct sort_item *all = calloc(MANY, sizeof(*all)), *items = calloc(2 * MANY, sizeof(*items));
	struct random_state random;

	(void)state;
	random_seed(&random, 7);
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		for (uint32_t i = 0; i < MANY; i++) {
			order[i] = MANY - 1 - i;
			values[i] = 0.25 + (double)random_below(&random, kinds[kind]) / (double)kinds[kind] / 4;
			values[i] = i % 1000 == 7 ? NAN : i % 3 ? values[i] : -values[i];
		}
		for (int way = 0; way < 2; way++) {
			for (uint32_t i = 0; i < MANY; i++)
				all[i] = (struct sort_item){sort_key(values[order[i]], way), order[i]};
			sort_by_key(all, items, MANY);
			for (size_t k = 1; k <= MANY; k += 1999) {
				uint64_t found = sort_key(top_value(values, way, order, MANY, k), way);

				assert_true(found == all[k - 1].key);
				top_of_values(values, way, order, MANY, k, items);
				for (size_t i = 0; i < k; i++)
					assert_true(items[i].value == all[i].value);
			}
		}
	}
	free(values);
	free(order);
	free(all);
	free(items);
}

static void
test_share_out(void **state)
{
	size_t quotas[4];

	(void)state;
	selection_share_out((uint32_t[]){0, 5, 3, 2}, 4, 5, quotas); /* 0, 2½, 1½, 1 */
	assert_memory_equal(quotas, ((size_t[]){0, 3, 1, 1}), sizeof(quotas));
	selection_share_out((uint32_t[]){1, 1, 1, 7}, 4, 2, quotas); /* 0.2, 0.2, 0.2, 1.4 */
	assert_memory_equal(quotas, ((size_t[]){0, 0, 0, 2}), sizeof(quotas));
	selection_share_out((uint32_t[]){2, 2, 2, 1}, 4, 2, quotas); /* 4/7, 4/7, 4/7, 2/7 */
	assert_memory_equal(quotas, ((size_t[]){1, 1, 0, 0}), sizeof(quotas));
	selection_share_out((uint32_t[]){4000000000u, 1, 0, 294967294u}, 4, 4294967295u, quotas);
	assert_memory_equal(quotas, ((size_t[]){4000000000u, 1, 0, 294967294u}), sizeof(quotas));
	selection_share_out((uint32_t[]){0, 0, 0, 0}, 4, 0, quotas);
	assert_memory_equal(quotas, ((size_t[]){0, 0, 0, 0}), sizeof(quotas));
}

/* Six examples, their ids their indices; classes a, a, a, b, b, none; confidence 0.1 … 0.6. */
static size_t
take(const struct selection_plan *plan, uint32_t *chosen, size_t *asked)
{
	static double confidence[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
	static uint32_t order[6] = {0, 1, 2, 3, 4, 5};
	static int32_t gold[6] = {0, 0, 0, 1, 1, -1};
	static struct dynamics dynamics = {
	        .ids = {.kind = STORE_ID_INT, .rows = 6},
	        .order = order,
	        .count = 6,
	        .gold = gold,
	        .columns = {{.name = "confidence", .values = confidence}},
	        .column_count = 1,
	};
	struct selection_source source = {.dynamics = &dynamics, .order = order, .count = 6, .threads = 1};
	struct selection_ranking ranking;
	struct portolan_error error;
	uint32_t *list;
	size_t count;

	assert_int_equal(selection_plan_check(plan, &source, &error), 0);
	selection_plan_rank(plan, &source, NULL, 0, &ranking);
	list = selection_plan_take(plan, &source, &ranking, &count, asked);
	memcpy(chosen, list, count * sizeof(*list));
	array_free(list);
	selection_ranking_free(&ranking);
	return count;
}

#define assert_taken(plan, ...)                                                                                        \
	do {                                                                                                           \
		static const uint32_t expected[] = {__VA_ARGS__};                                                      \
		uint32_t chosen[6];                                                                                    \
		size_t asked;                                                                                          \
                                                                                                                       \
		assert_int_equal(take(plan, chosen, &asked), sizeof(expected) / 4);                                    \
		assert_memory_equal(chosen, expected, sizeof(expected));                                               \
		assert_int_equal(asked, sizeof(expected) / 4);                                                         \
	} while (0)

static void
test_plan(void **state)
{
	struct selection_plan plan = {.fraction = 1, .top_share = 1};

	(void)state;
	assert_true(selection_rule_parse("easy-to-learn", &plan.rule));
	assert_taken(&plan, 5, 4, 3, 2, 1, 0);
	plan.has_size = true;
	plan.count = 4;
	assert_taken(&plan, 5, 4, 3, 2);
	plan.top_share = 0.7; /* 2.8 → 3, and 1 */
	assert_taken(&plan, 5, 4, 3, 0);
	plan.mix_count = 1;
	plan.mixes[0].fraction = 0.5;
	assert_true(selection_rule_parse("hard-to-learn", &plan.mixes[0].rule));
	assert_taken(&plan, 5, 0, 1, 2); /* 2 of 4 mixed; of the others 1.4 → 1, and 1 */
	plan.top_share = 1;
	assert_taken(&plan, 5, 4, 0, 1);
	plan.count = 6;
	assert_taken(&plan, 5, 4, 3, 0, 1, 2); /* nobody twice */
}

static void
test_plan_classes(void **state)
{
	struct selection_plan plan = {
	        .has_size = true, .fraction = 0.5, .top_share = 1, .classes = SELECTION_CLASSES_EACH};

	(void)state;
	assert_true(selection_rule_parse("easy-to-learn", &plan.rule));
	assert_taken(&plan, 5, 4, 2, 1); /* ½ → 1 without label, 1 of 2, 1½ → 2 of 3 */
	plan.classes = SELECTION_CLASSES_STRATIFIED;
	assert_taken(&plan, 5, 4, 2); /* 3: ½, 1½ and 1: the first of equal remainders is the one without label */
	plan.count = 1;
	plan.classes = SELECTION_CLASSES_EACH;
	assert_taken(&plan, 5, 4, 2);
	plan.count = 2;
	plan.top_share = 0.5;
	assert_taken(&plan, 5, 4, 2, 0, 3); /* the one without label: ½ → 1 from the top */
}

static void
test_regions(void **state)
{
	static const double values[6] = {0.2, 0.3, 0.1, 0, 0.4, 0.2};
	static const uint32_t order[6] = {0, 1, 2, 3, 4, 5};
	struct region_cuts cuts = regions_default_cuts(values, order, 6);

	(void)state;
	assert_true(cuts.variability == 0.3);
	assert_int_equal(region_of(0.3, 0.9, &cuts), REGION_AMBIGUOUS);
	assert_int_equal(region_of(0.29, 0.5, &cuts), REGION_EASY);
	assert_int_equal(region_of(0.29, 0.49, &cuts), REGION_HARD);
	cuts = regions_default_cuts(values, order, 2);
	assert_int_equal(region_of(0.4, 0.9, &cuts), REGION_EASY);
	cuts = regions_default_cuts((const double[]){0, 0, 0}, order, 3);
	assert_int_equal(region_of(0, 0.1, &cuts), REGION_HARD);
}

/* Whole numbers times 2^`exponent`, near one line: as whole numbers have it. */
static void
assert_exact(struct random_state *random, int exponent)
{
	int64_t v[6];
	double d[6];
	__int128 side;

	for (int i = 0; i < 4; i++)
		v[i] = (int64_t)(random_next(random) >> 11) - (1LL << 52);
	for (int i = 4; i < 6; i++) /* the middle, or one rounding beside it */
		v[i] = (v[i - 4] + v[i - 2]) / 2 + (int64_t)(random_next(random) % 3) - 1;
	for (int i = 0; i < 6; i++)
		d[i] = ldexp((double)v[i], exponent);
	side = (__int128)(v[2] - v[0]) * (v[5] - v[1]) - (__int128)(v[4] - v[0]) * (v[3] - v[1]);
	assert_int_equal(orientation(d[0], d[1], d[2], d[3], d[4], d[5]), (side > 0) - (side < 0));
}

static void
test_orientation(void **state)
{
	const double least = DBL_TRUE_MIN, most = DBL_MAX;
	struct random_state random;

	(void)state;
	random_seed(&random, 3);
	for (int i = 0; i < 30000; i++)
		assert_exact(&random, i % 3 == 0 ? -1074 : i % 3 == 1 ? -53 : 971); /* from subnormal to largest */
	assert_int_equal(orientation(0, 0, 3, 1, 1, 1.0 / 3), -1); /* a third is a little less in float64 */
	assert_int_equal(orientation(0, 0, 3, 1, 3, 1), 0);
	assert_int_equal(orientation(0, 0, 2 * least, least, least, least), 1);
	assert_int_equal(orientation(0, 0, 2 * least, 4 * least, least, 2 * least), 0);
	assert_int_equal(orientation(-most, -most, most, most, 1, 1 + DBL_EPSILON), 1);
	assert_int_equal(orientation(-most, -most, most, most, -1, -1), 0);
	assert_int_equal(orientation(-most, least, most, -least, 0, -least), -1);
	assert_int_equal(orientation(-most, least, most, -least, 0, 0), 0);
	assert_int_equal(orientation(least, most, least, -most, least, 1), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_parse),       cmocka_unit_test(test_size),
	        cmocka_unit_test(test_ranks),       cmocka_unit_test(test_forgetting),
	        cmocka_unit_test(test_keep_within), cmocka_unit_test(test_top),
	        cmocka_unit_test(test_top_of_many), cmocka_unit_test(test_share_out),
	        cmocka_unit_test(test_plan),        cmocka_unit_test(test_plan_classes),
	        cmocka_unit_test(test_regions),     cmocka_unit_test(test_orientation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_selection.c: rules, ranks, sizes and regions. */
#include "unit.h"

#include "selection/regions.h"
#include "selection/selection.h"

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
test_forgettable(void **state)
{
	static const double events[6] = {0, 2, 0, 1, 0, 2}, never[6] = {0, 0, 1, 0, 1, 0};
	static const uint32_t order[6] = {0, 1, 2, 3, 4, 5};
	struct sort_item items[12];
	uint32_t ranked[6];

	(void)state;
	assert_int_equal(selection_forgettable(events, never, order, 6, items, ranked), 5);
	assert_memory_equal(ranked, ((uint32_t[]){2, 4, 1, 5, 3}), 5 * sizeof(*ranked));
}

static void
test_per_class(void **state)
{
	static const int32_t gold[6] = {0, 0, 0, 1, 1, -1};
	static const uint32_t sizes[3] = {1, 3, 2};
	uint32_t ranked[6] = {5, 4, 3, 2, 1, 0}, taken[3] = {0};

	(void)state;
	assert_int_equal(selection_per_class(ranked, 6, gold, sizes, taken, 0.5, 0), 4); /* ½→1, 1½→2, 1 */
	assert_memory_equal(ranked, ((uint32_t[]){5, 4, 2, 1}), 4 * sizeof(*ranked));
	memcpy(ranked, ((uint32_t[]){5, 4, 3, 2, 1, 0}), sizeof(ranked));
	memset(taken, 0, sizeof(taken));
	assert_int_equal(selection_per_class(ranked, 6, gold, sizes, taken, 1, 1), 3);
	assert_memory_equal(ranked, ((uint32_t[]){5, 4, 2}), 3 * sizeof(*ranked));
}

static void
test_regions(void **state)
{
	static const double descending[6] = {0.4, 0.3, 0.2, 0.2, 0.1, 0};
	struct region_cuts cuts = regions_default_cuts(descending, 6);

	(void)state;
	assert_true(cuts.variability == 0.3);
	assert_int_equal(region_of(0.3, 0.9, &cuts), REGION_AMBIGUOUS);
	assert_int_equal(region_of(0.29, 0.5, &cuts), REGION_EASY);
	assert_int_equal(region_of(0.29, 0.49, &cuts), REGION_HARD);
	cuts = regions_default_cuts(descending, 2);
	assert_int_equal(region_of(0.4, 0.9, &cuts), REGION_EASY);
	cuts = regions_default_cuts((const double[]){0, 0, 0}, 3);
	assert_int_equal(region_of(0, 0.1, &cuts), REGION_HARD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_parse),       cmocka_unit_test(test_size),      cmocka_unit_test(test_ranks),
	        cmocka_unit_test(test_forgettable), cmocka_unit_test(test_per_class), cmocka_unit_test(test_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

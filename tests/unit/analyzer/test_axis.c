/* test_axis.c: the ranges, tics and bins of a map's axes. */
#include "unit.h"

#include "axis_of.h"
#include "statistics/random.h"

#include <math.h>

static void
assert_axis(const struct map_axis *axis, double low, double high, double step, double panel_step, unsigned bins)
{
	assert_true(fabs(axis->low - low) <= 1e-12 * fabs(low));
	assert_true(fabs(axis->high - high) <= 1e-12 * fabs(high));
	assert_true(fabs(axis->step - step) <= 1e-12 * step);
	assert_true(fabs(axis->panel_step - panel_step) <= 1e-12 * panel_step);
	assert_int_equal(axis->bins, bins);
	assert_true(axis->bin_width * bins >= (axis->high - axis->low) * (1 - 1e-12));
}

static void
test_axes(void **state)
{
	struct map_axis axis;

	(void)state;
	axis = axis_of(MAP_SHARE, 0, 0.7, 0.8, 0.03);
	assert_axis(&axis, 0, 1, 0.2, 0.5, 20);
	assert_true(axis.from == -0.03 && axis.to == 1.03);
	assert_int_equal(map_axis_decimals(&axis, axis.step), 1);
	axis = axis_of(MAP_VARIABILITY, 0, 0, 0.3, 0.024);
	assert_axis(&axis, 0, 0.5, 0.1, 0.25, 20);
	axis = axis_of(MAP_VARIABILITY, 0, 0, 0.11, 0.024);
	assert_axis(&axis, 0, 0.15, 0.05, 0.05, 20);
	axis = axis_of(MAP_VARIABILITY, 0, 0, 0, 0.024);
	assert_axis(&axis, 0, 0.05, 0.01, 0.025, 20);
	axis = axis_of(MAP_SHARE, 1.0 / 6, 0.5, 1, 0.03); /* correctness of six epochs: a bin for each of its steps */
	assert_axis(&axis, -1.0 / 12, 13.0 / 12, 0.2, 0.5, 7);
	assert_true(axis.from == axis.low && axis.to == axis.high);
	axis = axis_of(MAP_ANY, 1, 0, 5, 0.03);
	assert_axis(&axis, -0.5, 5.5, 1, 2, 6);
	axis = axis_of(MAP_ANY, 1, 3, 3, 0.03);
	assert_axis(&axis, 2.5, 3.5, 1, 1, 1);
	axis = axis_of(MAP_ANY, 1, 0, 99, 0.03); /* a hundred counts, five to a bin */
	assert_axis(&axis, -0.5, 99.5, 20, 20, 20);
	assert_true(axis.bin_width == 5);
	axis = axis_of(MAP_ANY, 1, 0, 40397, 0.03); /* too many */
	assert_axis(&axis, 0, 42000, 10000, 20000, 20);
	assert_true(axis.grid == 0 && axis.from < 0);
	axis = axis_of(MAP_ANY, 0, -3.3, 8.1, 0.03);
	assert_axis(&axis, -3.5, 8.5, 5, 5, 20);
	axis = axis_of(MAP_ANY, 0, 2, 40, 0.03); /* from zero: it costs little */
	assert_axis(&axis, 0, 40, 10, 20, 20);
	axis = axis_of(MAP_ANY, 0, 1e7, 1e7, 0.03); /* equal values */
	assert_true(axis.low < 1e7 && axis.high > 1e7);
	assert_int_equal(map_axis_decimals(&axis, axis.step), -1);
	axis = axis_of(MAP_ANY, 0, 0, 0, 0.03);
	assert_true(axis.low <= -0.5 && axis.high >= 0.5);
	axis = axis_of(MAP_ANY, 0, INFINITY, -INFINITY, 0.03); /* no values */
	assert_true(axis.low < axis.high);
	assert_int_equal(map_bin(0.5, 0, 1, 10), 5);
	assert_int_equal(map_bin(-7, 0, 1, 10), 0);
	assert_int_equal(map_bin(1, 0, 1, 10), 9);
	assert_int_equal(map_bin(NAN, 0, 1, 10), 0);
}

/* The range of some numbers, in any order, is that of the finite ones, wherever the others stand. */
static void
test_range(void **state)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308};
	double values[40];
	uint32_t order[40];
	struct random_state random;

	(void)state;
	random_seed(&random, 1);
	for (int turn = 0; turn < 5000; turn++) {
		const size_t n = (size_t)random_below(&random, 41);
		const struct map_column column = {.values = values};
		struct map_range range = MAP_RANGE_EMPTY, expected = MAP_RANGE_EMPTY;
		bool finite = true;

		for (uint32_t i = 0; i < 40; i++) {
			values[i] = (double)random_below(&random, 1000) - 500;
			if (random_below(&random, 60) == 0)
				values[i] = odd[random_below(&random, 5)];
		}
		for (size_t i = 0; i < n; i++) {
			order[i] = (uint32_t)random_below(&random, 40);
			map_range_widen(&expected, values[order[i]]);
			finite = finite && isfinite(values[order[i]]);
		}
		assert_int_equal(map_range_add(&range, &column, order, n), finite);
		assert_true(range.least == expected.least && range.most == expected.most);
	}
}

/* Many numbers fall into the bins that each would fall into, at the edges of bins and outside too. */
static void
test_bins(void **state)
{
	double values[1003];
	uint32_t numbers[1003];

	(void)state;
	for (int i = 0; i < 1000; i++)
		values[i] = -0.2 + 1.4 * i / 999;
	values[1000] = INFINITY;
	values[1001] = -INFINITY;
	values[1002] = NAN;
	for (int i = 0; i < 11; i++)
		values[90 * i] = 0.1 * i;
	for (unsigned bins = 1; bins <= 400; bins += 19) {
		map_bins(values, 1003, 0, 1, bins, numbers);
		for (int i = 0; i < 1003; i++)
			assert_int_equal(numbers[i], map_bin(values[i], 0, 1, bins));
	}
	map_bins(values, 1003, 0.5, 0.5, 20, numbers); /* no range */
	for (int i = 0; i < 1003; i++)
		assert_int_equal(numbers[i], map_bin(values[i], 0.5, 0.5, 20));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_axes),
	        cmocka_unit_test(test_range),
	        cmocka_unit_test(test_bins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

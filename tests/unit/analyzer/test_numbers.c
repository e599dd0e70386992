/* test_numbers.c: printing, parsing, sorting, chance, and names that are near. */
#include "unit.h"

#include "base/number.h"
#include "base/sort.h"
#include "base/suggest.h"
#include "statistics/random.h"

static void
assert_prints(double value, const char *expected)
{
	char text[NUMBER_ROOM];

	assert_int_equal(number_print(value, text), strlen(expected));
	assert_string_equal(text, expected);
}

static void
test_print(void **state)
{
	(void)state;
	assert_prints(0, "0");
	assert_prints(-0.0, "0");
	assert_prints(1, "1");
	assert_prints(0.5, "0.5");
	assert_prints(0.1, "0.1");
	assert_prints(1.0 / 3, "0.3333333333333333");
	assert_prints(2.0 / 3, "0.6666666666666666");
	assert_prints(0.1 + 0.2, "0.30000000000000004");
	assert_prints(0.001, "0.001");
	assert_prints(0.0001, "0.0001");
	assert_prints(0.00001, "1e-05");
	assert_prints(-2.5, "-2.5");
	assert_prints(9999.75, "9999.75");
	assert_prints(10000, "10000");
	assert_prints(123456789, "123456789");
	assert_prints(999999999999999, "999999999999999");
	assert_prints(100000000000000, "100000000000000");
	assert_prints(1e15, "1e+15");
	assert_prints(1e300, "1e+300");
	assert_prints(0.9999999999999999, "0.9999999999999999");
	assert_prints(1.0000000000000002, "1.0000000000000002");
}

/* Every double reads back, and no shorter text would. */
static void
test_print_reads_back(void **state)
{
	struct random_state random;

	(void)state;
	random_seed(&random, 7);
	for (int i = 0; i < 200000; i++) {
		double value = ldexp((double)(random_next(&random) >> 11), -53 - (int)random_below(&random, 14) + 4);
		char text[NUMBER_ROOM], shorter[400];
		const char *digit;
		int digits = 0, leading = 1;

		number_print(value, text);
		assert_true(strtod(text, NULL) == value);
		for (digit = text; *digit && *digit != 'e'; digit++) {
			leading = leading && (*digit == '0' || *digit == '.');
			digits += *digit != '.' && !leading;
		}
		if (digits > 15) { /* one digit less does not read back */
			snprintf(shorter, sizeof(shorter), "%.*g", digits - 1, value);
			assert_true(strtod(shorter, NULL) != value);
		}
	}
}

static void
test_parse_whole(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} whole[] = {
	        {"0", 0},
	        {"007", 7},
	        {"4.0", 4},
	        {" 3", 3},
	        {"5 \r", 5},
	        {"3.", 3},
	        {"12.000000000000000000000000000000", 12},
	        {"0.0", 0},
	        {"1e3", 1000},
	        {"1.50e1", 15},
	        {"250E-1", 25},
	        {"1.000000000000000000e+00", 1},
	        {"0e999", 0},
	        {"18446744073709551615.0", UINT64_MAX},
	        {"9007199254740993.0", 9007199254740993}, /* no double holds it */
	        {"1844674407370955161500e-2", UINT64_MAX},
	};
	static const char *const others[] = {
	        "",        " ",   ".",  "-1",  "+1",  "4.5",   "1e-1", "1 2",
	        "1.0.0",   "e3",  "1e", "1e+", "0x1", "1,000", "1e20", "18446744073709551616",
	        "1e99999", "nan", "x"};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		value = 99;
		assert_true(number_parse_whole(whole[i].text, strlen(whole[i].text), &value));
		assert_int_equal(value, whole[i].value);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(number_parse_whole(others[i], strlen(others[i]), &value));
}

static void
test_parse(void **state)
{
	uint64_t integer = 5;
	double number = 5;
	char text[NUMBER_ROOM];

	(void)state;
	assert_true(number_parse_u64("18446744073709551615", 20, &integer) && integer == UINT64_MAX);
	assert_false(number_parse_u64("18446744073709551616", 20, &integer));
	assert_false(number_parse_u64("", 0, &integer));
	assert_false(number_parse_u64("-1", 2, &integer));
	assert_false(number_parse_u64("1x", 2, &integer));
	assert_true(number_parse("0.25", &number) && number == 0.25);
	assert_true(number_parse(".5", &number) && number == 0.5);
	assert_false(number_parse("nan", &number));
	assert_false(number_parse("0x10", &number));
	assert_false(number_parse("", &number));
	assert_false(number_parse("1e999", &number));
	assert_false(number_parse("0.5%", &number));
	number_print_grouped(550000, text);
	assert_string_equal(text, "550,000");
	number_print_grouped(999, text);
	assert_string_equal(text, "999");
}

static void
test_sort(void **state)
{
	struct sort_item items[6] = {{5, 0}, {1, 1}, {5, 2}, {UINT64_C(1) << 40, 3}, {1, 4}, {0, 5}}, scratch[6];
	static const uint32_t expected[6] = {5, 1, 4, 0, 2, 3};

	(void)state;
	sort_by_key(items, scratch, 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(items[i].value, expected[i]);
	assert_true(sort_key(-1, false) < sort_key(0, false) && sort_key(0, false) < sort_key(1e-300, false));
	assert_true(sort_key(-0.0, false) == sort_key(0.0, false));
	assert_true(sort_key(2, true) < sort_key(1, true) && sort_key(1, true) < sort_key(-1, true));
	assert_true(sort_key(-INFINITY, true) < sort_key(NAN, true));
	assert_true(sort_key(INFINITY, false) < sort_key(NAN, false));
}

/* The first outputs for the state 1, 2, 3, 4, worked out from the definition. */
static void
test_random(void **state)
{
	struct random_state random = {{1, 2, 3, 4}}, again;
	uint32_t items[5] = {0, 1, 2, 3, 4};
	unsigned seen = 0;

	(void)state;
	assert_true(random_next(&random) == 11520); /* rotl(2·5, 7)·9 */
	assert_true(random_next(&random) == 0);     /* s1 = 2 ^ (3 ^ 1) = 0 */
	assert_true(random_next(&random) == UINT64_C(1509978240));
	random_seed(&random, 42);
	random_seed(&again, 42);
	assert_true(random_next(&random) == random_next(&again));
	for (int i = 0; i < 1000; i++)
		assert_true(random_below(&random, 3) < 3);
	random_sample(&random, items, 5, 3);
	for (int i = 0; i < 5; i++)
		seen |= 1u << items[i];
	assert_int_equal(seen, 31);
}

static void
test_suggest(void **state)
{
	static const char *const names[] = {"metrics", "map", "select", "runs"};

	(void)state;
	assert_int_equal(suggest_distance("map", "map"), 0);
	assert_int_equal(suggest_distance("mpa", "map"), 1);
	assert_int_equal(suggest_distance("", "map"), 3);
	assert_int_equal(suggest_distance("kitten", "sitting"), 3);
	assert_string_equal(suggest_nearest("metrcs", names, 4), "metrics");
	assert_string_equal(suggest_nearest("slect", names, 4), "select");
	assert_string_equal(suggest_nearest("sel", names, 4), "select");
	assert_null(suggest_nearest("xyzzy", names, 4));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_print),   cmocka_unit_test(test_print_reads_back),
	        cmocka_unit_test(test_parse),   cmocka_unit_test(test_parse_whole),
	        cmocka_unit_test(test_sort),    cmocka_unit_test(test_random),
	        cmocka_unit_test(test_suggest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

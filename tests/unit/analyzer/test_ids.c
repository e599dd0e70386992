/* test_ids.c: ids of three kinds, texts, integers and those of declared examples: read, sorted, found and appended. */
#include "unit.h"

#include "base/arrays.h"
#include "base/ids.h"

static void
test_texts(void **state)
{
	struct store_ids block = {.rows = 3, .text = "bababc", .offsets = (const uint32_t[]){0, 1, 3, 6}};
	uint32_t order[3] = {0, 1, 2};
	struct ids ids = {0};
	struct ids_index index;
	size_t length;

	(void)state;
	assert_int_equal(ids_append(&ids, STORE_ID_STR, &block, NULL), 0); /* b, ab, abc */
	assert_int_equal(ids_append(&ids, STORE_ID_STR,
	                            &(struct store_ids){.rows = 0, .text = "", .offsets = (const uint32_t[]){0}}, NULL),
	                 0);
	assert_memory_equal(ids_text(&ids, 2, &length), "abc", 3);
	assert_int_equal(length, 3);
	assert_int_equal(ids_sort(&ids, order, 3, NULL), 0);
	assert_memory_equal(order, ((uint32_t[]){1, 2, 0}), sizeof(order));
	assert_int_equal(ids_index_init(&index, &ids, order, 3, NULL), 0);
	assert_int_equal(ids_index_find(&index, "b", 1), 2);
	assert_int_equal(ids_index_find(&index, "ab", 2), 0);
	assert_int_equal(ids_index_find(&index, "a", 1), -1);
	ids_index_free(&index);
	ids_free(&ids);
}

/* Two chunks of declared examples, of which the second is the run's third; and the same ids as an array. */
#define DECLARED (STORE_CHUNK + 10)

static void
make_declared(struct ids *declared, struct ids *array)
{
	*declared = *array = (struct ids){.rows = 0};
	assert_int_equal(ids_reserve_declared(declared, DECLARED, NULL), 0);
	declared->chunks[0] = 0;
	declared->chunks[1] = 2 * STORE_CHUNK;
	declared->rows = DECLARED;
	for (uint64_t i = 0; i < DECLARED; i++) {
		const uint64_t id = i < STORE_CHUNK ? i : i + STORE_CHUNK;

		assert_int_equal(ids_append(array, STORE_ID_INT, &(struct store_ids){.rows = 1, .integers = &id}, NULL),
		                 0);
	}
}

static void
test_declared(void **state)
{
	struct ids declared, array;
	struct ids_index index;
	uint32_t *order, some[3] = {STORE_CHUNK + 1, STORE_CHUNK - 1, 5};
	char digits[NUMBER_ROOM];
	size_t length;

	(void)state;
	make_declared(&declared, &array);
	for (uint32_t i = 0; i < DECLARED; i++) {
		assert_true(ids_integer(&declared, i) == array.integers[i]);
		assert_int_equal(ids_compare(&declared, i, &array, i), 0);
	}
	assert_true(ids_compare(&declared, STORE_CHUNK, &declared, STORE_CHUNK - 1) > 0);
	assert_true(ids_ascend(&(struct ids){.kind = STORE_ID_INT}, &declared));
	assert_memory_equal(id_print(&declared, STORE_CHUNK + 2, digits, &length), "32642", 5);
	assert_int_equal(length, 5);
	order = ids_in_order(&declared, NULL);
	assert_non_null(order);
	assert_true(ids_are_in_order(&declared, order, DECLARED));
	assert_int_equal(ids_index_init(&index, &declared, order, DECLARED, NULL), 0);
	assert_int_equal(ids_index_find(&index, "32640", 5), STORE_CHUNK);
	assert_int_equal(ids_index_find(&index, "016319", 6), STORE_CHUNK - 1);
	assert_int_equal(ids_index_find(&index, "16320", 5), -1);
	ids_index_free(&index);
	array_free(order);
	assert_false(ids_are_in_order(&declared, some, 3));
	assert_int_equal(ids_sort(&declared, some, 3, NULL), 0);
	assert_memory_equal(some, ((uint32_t[]){5, STORE_CHUNK - 1, STORE_CHUNK + 1}), sizeof(some));
	ids_free(&declared);
	ids_free(&array);
}

/* The ids in this order, sorted, are at these indices. */
static void
check_sorted(const uint64_t *integers, size_t n, const uint32_t *expected)
{
	struct ids ids = {0};
	uint32_t *order;

	assert_int_equal(
	        ids_append(&ids, STORE_ID_INT, &(struct store_ids){.rows = (uint32_t)n, .integers = integers}, NULL),
	        0);
	order = ids_in_order(&ids, NULL);
	assert_non_null(order);
	assert_memory_equal(order, expected, n * sizeof(*order));
	array_free(order);
	ids_free(&ids);
}

/* Integers are sorted by place where they are close together, else by radix: also if two are equal, as in a file, and
 * then the first one stays first. */
static void
test_integers_are_sorted(void **state)
{
	(void)state;
	check_sorted((const uint64_t[]){2, 0, 1}, 3, (const uint32_t[]){1, 2, 0});
	for (uint64_t highest = 4; highest < 20; highest++) /* with places for all ids up to it, and without */
		check_sorted((const uint64_t[]){highest, 0, 3}, 3, (const uint32_t[]){1, 2, 0});
	check_sorted((const uint64_t[]){1, 3, 1, 0}, 4, (const uint32_t[]){3, 0, 2, 1});
	check_sorted((const uint64_t[]){7, 7}, 2, (const uint32_t[]){0, 1});
	check_sorted((const uint64_t[]){UINT64_MAX, 0, 1}, 3, (const uint32_t[]){1, 2, 0});
	check_sorted((const uint64_t[]){UINT64_MAX, UINT64_C(1) << 56, 0xff}, 3, (const uint32_t[]){2, 1, 0});
	check_sorted((const uint64_t[]){4, 4 + (UINT64_C(3) << 40), 4 + (UINT64_C(1) << 40)}, 3,
	             (const uint32_t[]){0, 2, 1});
}

/* Where examples of another run come behind the declared ones, all keep their ids. */
static void
test_appending_to_declared(void **state)
{
	struct ids declared, array, none = {.kind = STORE_ID_INT};

	(void)state;
	make_declared(&declared, &array);
	assert_int_equal(ids_append_text(&declared, "77777", 5, NULL), 0);
	assert_int_equal(ids_append_all(&declared, &array, NULL), 0);
	assert_int_equal(declared.rows, 2 * DECLARED + 1);
	assert_true(ids_integer(&declared, DECLARED) == 77777);
	for (size_t i = 0; i < DECLARED; i++) {
		assert_true(ids_integer(&declared, i) == array.integers[i]);
		assert_true(ids_integer(&declared, DECLARED + 1 + i) == array.integers[i]);
	}
	ids_free(&declared);
	ids_free(&array);
	make_declared(&declared, &array);
	assert_int_equal(ids_append_all(&none, &declared, NULL), 0);
	for (size_t i = 0; i < DECLARED; i++)
		assert_true(none.integers[i] == array.integers[i]);
	ids_free(&none);
	ids_free(&declared);
	ids_free(&array);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_texts),
	        cmocka_unit_test(test_declared),
	        cmocka_unit_test(test_integers_are_sorted),
	        cmocka_unit_test(test_appending_to_declared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

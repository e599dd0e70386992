/* test_features.c: reading NumPy arrays and lists of ids, and covering points greedily. */
#include "unit.h"

#include "files/list.h"
#include "files/npy_read.h"
#include "statistics/k_center.h"

#include <sys/mman.h>
#include <unistd.h>

/* Bytes of a file of format 1.0; returns how many. */
static size_t
make_file(uint8_t *bytes, const char *dictionary, const void *data, size_t size)
{
	size_t length = strlen(dictionary);

	memcpy(bytes, "\x93NUMPY\x01\x00", 8);
	bytes[8] = (uint8_t)length;
	bytes[9] = (uint8_t)(length >> 8);
	memcpy(bytes + 10, dictionary, length);
	if (size)
		memcpy(bytes + 10 + length, data, size);
	return 10 + length + size;
}

static int
parse(const char *dictionary, struct npy_header *header, struct portolan_error *error)
{
	uint8_t bytes[1024];
	size_t size = make_file(bytes, dictionary, NULL, 0);

	return npy_parse_header(bytes, size, "X.npy", header, error);
}

static void
test_header(void **state)
{
	struct npy_header header;
	struct portolan_error error;

	(void)state;
	assert_int_equal(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n", &header, &error), 0);
	assert_true(header.kind == 'f' && header.item_size == 4 && !header.is_swapped && !header.is_fortran);
	assert_true(header.dimensions == 2 && header.shape[0] == 3 && header.shape[1] == 4 && header.count == 12);
	assert_int_equal(header.offset, 10 + 63);
	assert_int_equal(parse("{\"shape\":(7L,),\"fortran_order\":True,\"descr\":\">u8\"}", &header, &error), 0);
	assert_true(header.is_swapped && header.is_fortran && header.dimensions == 1 && header.shape[0] == 7);
	assert_int_equal(parse("{'descr': '|S5', 'fortran_order': False, 'shape': ()}", &header, &error), 0);
	assert_true(header.kind == 'S' && header.item_size == 5 && header.dimensions == 0 && header.count == 1);
	assert_int_equal(
	        parse("{'descr': '<U3', 'fortran_order': False, 'shape': (0, 18446744073709551615)}", &header, &error),
	        0);
	assert_true(header.item_size == 12 && header.count == 0);
}

static void
test_wrong_headers(void **state)
{
	static const struct {
		const char *dictionary, *field;
	} cases[] = {
	        {"", "dictionary"},
	        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)", "dictionary"},
	        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)} x", "dictionary"},
	        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'x': 1}", "dictionary"},
	        {"{'descr': '<f4', 'fortran_order': False}", "shape is missing"},
	        {"{'descr': '<f4', 'shape': (3, 4)}", "fortran_order is missing"},
	        {"{'fortran_order': False, 'shape': (3, 4)}", "descr is missing"},
	        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "descr stands there twice"},
	        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4)}", "fortran_order"},
	        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4)}", "shape"},
	        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3 4)}", "shape"},
	        {"{'descr': '<f4', 'fortran_order': False, 'shape': 3}", "shape"},
	        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", "shape is too large"},
	        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "shape is too large"},
	        {"{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551616,)}", "shape"},
	        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", "Python objects"},
	        {"{'descr': '|S0', 'fortran_order': False, 'shape': (3,)}", "descr"},
	        {"{'descr': '|O8', 'fortran_order': False, 'shape': (3,)}", "Python objects"},
	        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", "records"},
	        {"{'descr': '<f3', 'fortran_order': False, 'shape': (3,)}", "descr"},
	        {"{'descr': '<f0', 'fortran_order': False, 'shape': (3,)}", "descr"},
	        {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", "descr"},
	        {"{'descr': 'f4', 'fortran_order': False, 'shape': (3,)}", "descr"},
	        {"{'descr': '<f4x', 'fortran_order': False, 'shape': (3,)}", "descr"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct npy_header header = {.count = 77};
		struct portolan_error error;

		assert_int_equal(parse(cases[i].dictionary, &header, &error), PORTOLAN_E_INVALID);
		assert_non_null(strstr(error.message, cases[i].field));
		assert_int_equal(strncmp(error.message, "X.npy: ", 7), 0);
		assert_int_equal(header.count, 77); /* written only on success */
	}
}

/* A file that lies in memory; close() it. */
static int
open_memory(const void *bytes, size_t size, char path[32])
{
	int file = memfd_create("features", MFD_CLOEXEC);

	assert_true(file >= 0 && write(file, bytes, size) == (ssize_t)size);
	snprintf(path, 32, "/proc/self/fd/%d", file);
	return file;
}

static void
test_matrix(void **state)
{
	static const char dictionary[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}"; /* not aligned */
	float values[4] = {1, 2, 3, 4.5F};
	struct portolan_error error;
	struct npy_array array;
	uint8_t bytes[256];
	size_t size = make_file(bytes, dictionary, values, sizeof(values));
	char path[32];
	int file = open_memory(bytes, size, path);

	(void)state;
	assert_int_equal(npy_open(&array, path, &error), 0);
	assert_memory_equal(array.data, values, sizeof(values));
	assert_int_equal(npy_check_matrix(&array, &error), 0);
	assert_int_equal(npy_check_finite(&array, &error), 0);
	npy_close(&array);
	npy_close(&array);
	assert_int_equal(ftruncate(file, (off_t)size - 1), 0);
	assert_int_equal(npy_open(&array, path, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "cut short"));
	assert_int_equal(ftruncate(file, (off_t)size + 1), 0);
	assert_int_equal(npy_open(&array, path, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "too long"));
	close(file);
	values[2] = -INFINITY;
	file = open_memory(bytes, make_file(bytes, dictionary, values, sizeof(values)), path);
	assert_int_equal(npy_open(&array, path, &error), 0);
	assert_int_equal(npy_check_finite(&array, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "row 1, column 0"));
	npy_close(&array);
	close(file);
}

static int
collect(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	char *text = context;

	(void)error;
	snprintf(text + strlen(text), 256 - strlen(text), "%llu=%.*s;", (unsigned long long)place, (int)length, id);
	return 0;
}

static void
assert_ids(const void *bytes, size_t size, const char *expected)
{
	struct portolan_error error;
	char path[32], text[256] = "";
	const char *unit;
	int file = open_memory(bytes, size, path);

	assert_int_equal(list_read(path, LIST_IDS, &unit, collect, text, &error), 0);
	assert_string_equal(text, expected);
	close(file);
}

static void
test_ids(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
	                           "7\r\n\n a b \n8";
	static const uint32_t unicode[6] = {0xe4, 0x20ac, 0, 0x1f600, 'x', 0};
	uint8_t bytes[256];

	(void)state;
	assert_ids(text, sizeof(text) - 1, "1=7;3= a b ;4=8;");
	assert_ids("", 0, "");
	assert_ids(bytes,
	           make_file(bytes, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}", "\x07\x00\xff\x7f", 4),
	           "0=7;1=32767;");
	assert_ids(bytes, make_file(bytes, "{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}", "a\0\0bcd", 6),
	           "0=a;1=bcd;");
	assert_ids(bytes, make_file(bytes, "{'descr': '<U3', 'fortran_order': False, 'shape': (2,)}", unicode, 24),
	           "0=ä€;1=😀x;");
}

/* 0 at the origin; 1 and 2 at distance 5 from it, 10 from each other; 3 with 1; 4 at 1. */
static const float plane[] = {0, 0, 3, 4, -3, -4, 3, 4, 1, 0};

static void
test_cover(void **state)
{
	struct k_center_points points = {.features = plane, .is_float32 = true, .dimensions = 2, .count = 5};
	uint32_t chosen[5], rows[3] = {4, 2, 3};
	double nearest[5];

	(void)state;
	k_center_greedy(&points, 1, 1, chosen, nearest, NULL, NULL);
	assert_true(chosen[0] == 0 && nearest[0] == -1 && nearest[1] == 25 && nearest[4] == 1);
	k_center_greedy(&points, 5, 4, chosen, nearest, NULL, NULL);
	assert_memory_equal(chosen, ((uint32_t[]){0, 1, 2, 4, 3}), sizeof(chosen)); /* of equal ones the lowest */
	points.rows = rows;
	points.count = 3;
	k_center_greedy(&points, 3, 1, chosen, nearest, NULL, NULL);
	assert_memory_equal(chosen, ((uint32_t[]){0, 1, 2}), 3 * sizeof(*chosen)); /* 32 and 20 from (1, 0) */
}

/* Whatever the number of threads, and in float64, unaligned: the same. */
static void
test_cover_threads(void **state)
{
	enum { COUNT = 30000, DIMENSIONS = 19, K = 40 };
	float *small = malloc(COUNT * DIMENSIONS * sizeof(*small));
	char *large = malloc(COUNT * DIMENSIONS * sizeof(double) + 1);
	double *nearest = malloc(COUNT * sizeof(*nearest));
	uint32_t one[K], many[K];
	uint64_t x = 1;

	(void)state;
	for (size_t i = 0; i < COUNT * DIMENSIONS; i++) {
		double value;

		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		value = small[i] = (float)(x >> 40) / 1000;
		memcpy(large + 1 + i * sizeof(double), &value, sizeof(value));
	}
	for (unsigned threads = 1; threads <= 5; threads += 2) {
		struct k_center_points points = {
		        .features = small, .is_float32 = true, .dimensions = DIMENSIONS, .count = COUNT};

		k_center_greedy(&points, K, threads, threads == 1 ? one : many, nearest, NULL, NULL);
		if (threads > 1)
			assert_memory_equal(one, many, sizeof(one));
		points.features = large + 1;
		points.is_float32 = false;
		k_center_greedy(&points, K, threads, many, nearest, NULL, NULL);
		assert_memory_equal(one, many, sizeof(one));
	}
	free(nearest);
	free(large);
	free(small);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_header), cmocka_unit_test(test_wrong_headers),
	        cmocka_unit_test(test_matrix), cmocka_unit_test(test_ids),
	        cmocka_unit_test(test_cover),  cmocka_unit_test(test_cover_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

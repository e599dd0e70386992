/* test_signals_bits.c: signals are the same bits on every processor: sums over all bits of signals of made-up rows, beside those that x86-64 found. */
#include "signals_fixture.h"

#include <stdio.h>

#define CLASSES_MOST 1000

/* What both kinds of derivation, all widths of rows and three types of scores gave on x86-64, with registers of 4, 8 and 16 floats. */
#define LOGITS_SUM UINT64_C(0xa5bb12c582364e1e)
#define PROBS_SUM UINT64_C(0x422314b067ccd287)

static float values_f32[ROWS * CLASSES_MOST];
static double values_f64[ROWS * CLASSES_MOST];
static uint16_t values_bf16[ROWS * CLASSES_MOST];

/* Adds bytes to a sum in which each bit counts: FNV-1a. */
static uint64_t
sum_add(uint64_t sum, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* Fills the arrays with multiples of 2^-20 within −8 and 8, the same everywhere. As probabilities rows of powers of two, which add up to 1. */
static void
fill_values(size_t classes, bool probs)
{
	uint64_t state = classes;

	for (size_t i = 0; i < ROWS * classes; i++) {
		uint32_t bits;

		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		values_f64[i] = (double)((int64_t)(state >> 40) - (1 << 23)) * 0x1p-20;
		if (probs)
			values_f64[i] = i % classes + 1 < classes ? ldexp(1, -(int)(i % classes) - 1)
			                                          : ldexp(1, 1 - (int)classes);
		values_f32[i] = (float)values_f64[i];
		memcpy(&bits, &values_f32[i], sizeof(bits));
		values_bf16[i] = (uint16_t)(bits >> 16);
	}
}

static uint64_t
sum_of_rows(derive *from, bool probs)
{
	static const size_t widths[] = {1, 2, 3, 10, 128, 129, CLASSES_MOST};
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++) {
		size_t classes = widths[w];
		const struct portolan_array arrays[] = {
		        {values_f32, PORTOLAN_F32, (ptrdiff_t)classes * 4, 4},
		        {values_f64, PORTOLAN_F64, (ptrdiff_t)classes * 8, 8},
		        {values_bf16, PORTOLAN_BF16, (ptrdiff_t)classes * 2, 2},
		};
		int32_t gold[ROWS];

		fill_values(classes, probs);
		for (size_t r = 0; r < ROWS; r++)
			gold[r] = (int32_t)(r % (classes > 1 ? classes : 2));
		for (size_t a = 0; a < sizeof(arrays) / sizeof(*arrays); a++) {
			struct output out = run(from, arrays[a], ROWS, classes, gold);

			assert_int_equal(out.refused_count, 0);
			if (probs) /* which have no margin */
				memset(out.margin, 0, sizeof(out.margin));
			sum = sum_add(sum, &out, offsetof(struct output, refused));
		}
	}
	return sum;
}

static void
test_logits(void **state)
{
	(void)state;
	assert_int_equal(sum_of_rows(signals_from_logits, false), LOGITS_SUM);
}

static void
test_probs(void **state)
{
	(void)state;
	assert_int_equal(sum_of_rows(signals_from_probs, true), PROBS_SUM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_logits),
	        cmocka_unit_test(test_probs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

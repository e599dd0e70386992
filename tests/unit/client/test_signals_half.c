/* test_signals_half.c: scores of float16 and bfloat16: every number of them, by every kind of processor. */
#include "half_reference.h"
#include "signals_fixture.h"

static const char *const names[] = {"plain", "avx2", "avx512"};

/* Every number of half precision, by every kind of processor: of one logit the margin of class 1 is the logit. */
static void
test_every_half(void **state)
{
	int32_t gold[64];
	uint16_t some[64];

	(void)state;
	for (size_t i = 0; i < 64; i++)
		gold[i] = 1;
	for (size_t name = 0; name < 3; name++)
		for (uint32_t first = 0; first < 0x20000 && signals_kernels_named(names[name]); first += 64) {
			enum portolan_type type = first & 0x10000 ? PORTOLAN_BF16 : PORTOLAN_F16;
			struct portolan_array scores = {some, type, 2, 2};
			struct output out = {0};
			struct signals_columns to = columns_of(&out);

			for (size_t i = 0; i < 64; i++)
				some[i] = (uint16_t)(first + i);
			signals_derive(signals_kernels_named(names[name]), &scores, false, 64, 1, gold, &to,
			               out.refused);
			for (size_t i = 0; i < 64; i++) {
				double expected = half_reference(some[i], type);
				double found = signals_score(&scores, i);

				assert_true(found == expected || (isnan(found) && isnan(expected)));
				assert_int_equal(out.refused[i], !isfinite(expected));
				if (isfinite(expected))
					assert_true(out.margin[i] == (float)expected);
			}
		}
}

#ifdef __SSE__
/* As torch.set_flush_denormal(True) has it: subnormal numbers are taken for 0. Those of a float16 are none of a
 * float32.
 */
static void
test_small_halves_where_subnormals_are_flushed(void **state)
{
	const unsigned usual = __builtin_ia32_stmxcsr(), flushing = usual | 0x8040;
	const int32_t gold[64] = {0};
	uint16_t some[64];
	double found[64];

	(void)state;
	for (size_t name = 0; name < 3; name++)
		for (uint32_t first = 0; first < 0x800 && signals_kernels_named(names[name]); first += 64) {
			struct portolan_array scores = {some, PORTOLAN_F16, 2, 2};
			struct output out = {0};
			struct signals_columns to = columns_of(&out);

			for (size_t i = 0; i < 64; i++) /* one more exponent than the subnormal ones, of either sign */
				some[i] = (uint16_t)((first + i) | (i % 2 ? 0x8000 : 0));
			__builtin_ia32_ldmxcsr(flushing);
			signals_derive(signals_kernels_named(names[name]), &scores, false, 64, 1, gold, &to,
			               out.refused);
			for (size_t i = 0; i < 64; i++)
				found[i] = signals_score(&scores, i);
			__builtin_ia32_ldmxcsr(usual);
			for (size_t i = 0; i < 64; i++) {
				assert_true(found[i] == half_reference(some[i], PORTOLAN_F16));
				assert_true(out.margin[i] == (float)-half_reference(some[i], PORTOLAN_F16));
			}
		}
}
#endif

/* Half precision gives the bits of the same numbers as float32 that are not read in place, however it lies there. */
static void
test_halves_are_widened(void **state)
{
	static const size_t classes[] = {1, 2, 3, 17, 128, 129, 300, 2048, 2049, 5000};
	enum { N = 21, APART = 3 };
	uint16_t *half = malloc(N * 5000 * APART * sizeof(*half));
	float *wide = malloc(N * 5000 * 2 * sizeof(*wide));
	int32_t gold[N];

	(void)state;
	srand48(5);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		for (int turn = 0; turn < 8; turn++) {
			size_t n = classes[i], apart = turn & 2 ? APART : 1;
			enum portolan_type type = turn & 1 ? PORTOLAN_BF16 : PORTOLAN_F16;
			derive *from = turn & 4 && n < 100 ? signals_from_probs : signals_from_logits;
			ptrdiff_t width = (ptrdiff_t)(apart * sizeof(*half));
			struct output out, expected;

			for (size_t r = 0; r < N; r++) {
				gold[r] = (int32_t)(lrand48() % (long)(n == 1 ? 2 : n));
				for (size_t k = 0; k < n; k++) {
					/* Of probabilities 1/2 and 0; of logits any sign, any digits. */
					uint16_t bits = (uint16_t)(k > 1 ? 0 : type == PORTOLAN_BF16 ? 0x3f00 : 0x3800);

					if (from == signals_from_logits)
						bits = (uint16_t)((lrand48() & 0x87ff) |
						                  (type == PORTOLAN_BF16 ? 0x3e00 : 0x3800));
					half[(r * n + k) * apart] = bits;
					wide[(r * n + k) * 2] = (float)half_reference(bits, type);
				}
			}
			if (from == signals_from_logits)
				half[n / 2 * apart] = 0x7fff, wide[n / 2 * 2] = NAN; /* NaN of both kinds */
			out = run(from, (struct portolan_array){half, type, (ptrdiff_t)n * width, width}, N, n, gold);
			expected =
			        run(from, (struct portolan_array){wide, PORTOLAN_F32, (ptrdiff_t)n * 8, 8}, N, n, gold);
			assert_int_equal(out.refused_count, expected.refused_count);
			assert_int_equal(out.refused_count, from == signals_from_logits);
			for (size_t r = out.refused[0]; r < N; r++) {
				assert_memory_equal(&out.gold_prob[r], &expected.gold_prob[r], 4);
				assert_memory_equal(&out.margin[r], &expected.margin[r], 4);
				assert_memory_equal(&out.other_sq[r], &expected.other_sq[r], 4);
				assert_memory_equal(&out.entropy[r], &expected.entropy[r], 4);
				assert_memory_equal(&out.max_prob[r], &expected.max_prob[r], 4);
				assert_int_equal(out.predicted[r], expected.predicted[r]);
				assert_int_equal(out.correct[r], expected.correct[r]);
			}
		}
	free(half);
	free(wide);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_half),
	        cmocka_unit_test(test_halves_are_widened),
#ifdef __SSE__
	        cmocka_unit_test(test_small_halves_where_subnormals_are_flushed),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_signals.c: the signal table of the design on hand-computed rows, and against long double on many random ones. */
#include "signals_fixture.h"

static struct output
one_row(derive *from, size_t classes, const float *row, int32_t gold)
{
	struct portolan_array scores = {row, PORTOLAN_F32, (ptrdiff_t)classes * 4, 4};

	return run(from, scores, 1, classes, &gold);
}

static void
test_by_hand(void **state)
{
	const float third[3] = {0, 0, 0}, two[2] = {0, 1.0986123f}, logit[1] = {1.0986123f}, none[1] = {0};
	struct output out;

	(void)state;
	out = one_row(signals_from_logits, 3, third, 1);
	assert_float_equal(out.gold_prob[0], 1 / 3.0, 1e-7);
	assert_float_equal(out.other_sq[0], 2 / 9.0, 1e-7);
	assert_float_equal(out.entropy[0], 1.0986123, 2e-7);
	assert_float_equal(out.max_prob[0], 1 / 3.0, 1e-7);
	assert_int_equal(out.predicted[0], 0); /* ties: the lowest */
	assert_int_equal(out.correct[0], 0);
	assert_float_equal(out.margin[0], 0, 0);
	out = one_row(signals_from_logits, 2, two, 0); /* odds 1 : 3 */
	assert_float_equal(out.gold_prob[0], 0.25, 1e-7);
	assert_float_equal(out.other_sq[0], 0.5625, 2e-7);
	assert_float_equal(out.margin[0], -1.0986123, 0);
	assert_float_equal(out.entropy[0], 0.5623351, 2e-7);
	assert_int_equal(out.predicted[0], 1);
	assert_int_equal(out.correct[0], 0);
	/* One logit is that of class 1 against 0. */
	out = one_row(signals_from_logits, 1, logit, 1);
	assert_float_equal(out.gold_prob[0], 0.75, 1e-7);
	assert_float_equal(out.other_sq[0], 0.0625, 1e-7);
	assert_float_equal(out.margin[0], 1.0986123, 0);
	assert_int_equal(out.correct[0], 1);
	out = one_row(signals_from_logits, 1, none, 0);
	assert_int_equal(out.predicted[0], 0);
	assert_int_equal(out.correct[0], 1);
	assert_float_equal(out.gold_prob[0], 0.5, 0);
}

static void
test_probs_by_hand(void **state)
{
	const float row[3] = {0.25f, 0.25f, 0.5f}, one[1] = {0.75f}, half[1] = {0.5f}, sure[3] = {0, 1, 0};
	const float near[3] = {-5e-7f, 1.0000005f, 0};
	struct output out;

	(void)state;
	out = one_row(signals_from_probs, 3, row, 1);
	assert_float_equal(out.gold_prob[0], 0.25, 0);
	assert_float_equal(out.other_sq[0], 0.0625 + 0.25, 0);
	assert_float_equal(out.entropy[0], 1.0397208, 2e-7);
	assert_float_equal(out.max_prob[0], 0.5, 0);
	assert_int_equal(out.predicted[0], 2);
	assert_int_equal(out.correct[0], 0);
	out = one_row(signals_from_probs, 1, one, 0);
	assert_float_equal(out.gold_prob[0], 0.25, 0);
	assert_float_equal(out.other_sq[0], 0.5625, 0);
	assert_int_equal(out.predicted[0], 1);
	out = one_row(signals_from_probs, 1, half, 0);
	assert_int_equal(out.predicted[0], 0);
	out = one_row(signals_from_probs, 3, sure, 1);
	assert_float_equal(out.gold_prob[0], 1, 0);
	assert_float_equal(out.entropy[0], 0, 0);
	assert_float_equal(out.other_sq[0], 0, 0);
	out = one_row(signals_from_probs, 3, near, 1); /* cut to [0, 1] */
	assert_int_equal(out.refused[0], 0);
	assert_float_equal(out.gold_prob[0], 1, 0);
	assert_float_equal(out.max_prob[0], 1, 0);
	assert_float_equal(out.other_sq[0], 0, 0);
}

static void
refuses(derive *from, size_t classes, const float *row, int32_t gold, bool expected)
{
	struct output out = one_row(from, classes, row, gold);

	assert_int_equal(out.refused[0], expected);
	assert_int_equal(out.refused_count, expected);
}

static void
test_refused(void **state)
{
	static const size_t many[] = {1,   14,  128,
	                              129, 144, 300}; /* rows side by side, and alone with and without a rest */
	float row[300] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		size_t classes = many[i];
		int32_t gold = classes == 1 ? 1 : 0, last = (int32_t)classes - 1;

		row[last] = NAN;
		refuses(signals_from_logits, classes, row, gold, true);
		row[last] = INFINITY;
		refuses(signals_from_logits, classes, row, gold, true);
		row[last] = -INFINITY;
		refuses(signals_from_logits, classes, row, classes == 1 ? 1 : last, true);
		refuses(signals_from_logits, classes, row, 0, false);
		row[last] = 0;
		refuses(signals_from_logits, classes, row, gold, false);
	}
	for (size_t classes = 2; classes <= 300; classes += 298) {
		memset(row, 0, sizeof(row));
		row[0] = 1;
		refuses(signals_from_probs, classes, row, 0, false);
		row[1] = -2e-6f;
		refuses(signals_from_probs, classes, row, 0, true);
		row[1] = NAN;
		refuses(signals_from_probs, classes, row, 0, true);
		row[1] = 0.009f;
		refuses(signals_from_probs, classes, row, 0, false);
		row[1] = 0.011f;
		refuses(signals_from_probs, classes, row, 0, true);
		row[1] = 0;
		row[0] = 0.9895f;
		refuses(signals_from_probs, classes, row, 0, true);
		row[0] = 1.000003f;
		refuses(signals_from_probs, classes, row, 0, true);
	}
	row[0] = 1.1f;
	refuses(signals_from_probs, 1, row, 1, true);
	row[0] = -0.1f;
	refuses(signals_from_probs, 1, row, 1, true);
	row[0] = NAN;
	refuses(signals_from_probs, 1, row, 0, true);
}

/* Equal scores: the lowest class, wherever the two are, and whichever type. */
static void
test_ties(void **state)
{
	static const size_t many[] = {40, 128, 129, 300, 5000};
	static float single[5000];
	static double wide[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		for (size_t apart = 1; apart < many[i]; apart = apart * 3 + 1) {
			size_t classes = many[i], first = (classes - apart) / 2;
			int32_t gold = (int32_t)(first + apart);
			struct output out;

			for (size_t k = 0; k < classes; k++)
				wide[k] = single[k] = k == first || k == first + apart ? 1 : -3;
			out = run(signals_from_logits, (struct portolan_array){single, PORTOLAN_F32, 0, 4}, 1, classes,
			          &gold);
			assert_int_equal(out.predicted[0], first);
			assert_float_equal(out.margin[0], 0, 0);
			assert_float_equal(out.gold_prob[0], out.max_prob[0], 0);
			out = run(signals_from_logits, (struct portolan_array){wide, PORTOLAN_F64, 0, 8}, 1, classes,
			          &gold);
			assert_int_equal(out.predicted[0], first);
			assert_float_equal(out.gold_prob[0], out.max_prob[0], 0);
		}
}

static void
test_extremes(void **state)
{
	const float huge[3] = {3e38f, -3e38f, 3e38f}, masked[3] = {1, -INFINITY, -INFINITY}, far[2] = {0, -80};
	const float sure[3] = {1e4f, -1e4f, 0};
	struct output out;

	(void)state;
	out = one_row(signals_from_logits, 3, huge, 2);
	assert_float_equal(out.gold_prob[0], 0.5, 0);
	assert_int_equal(out.predicted[0], 0);
	assert_float_equal(out.margin[0], 0, 0);
	out = one_row(signals_from_logits, 3, huge, 1);
	assert_true(out.margin[0] == -FLT_MAX); /* −6e38 */
	assert_float_equal(out.gold_prob[0], 0, 0);
	assert_float_equal(out.other_sq[0], 0.5, 0);
	assert_float_equal(out.entropy[0], 0.6931472, 1e-7);
	out = one_row(signals_from_logits, 3, masked, 0);
	assert_float_equal(out.gold_prob[0], 1, 0);
	assert_float_equal(out.entropy[0], 0, 0);
	assert_true(out.margin[0] == FLT_MAX);
	out = one_row(signals_from_logits, 3, sure, 0);
	assert_float_equal(out.gold_prob[0], 1, 0);
	assert_float_equal(out.other_sq[0], 0, 0);
	assert_float_equal(out.margin[0], 1e4, 0);
	/* What is tiny keeps its digits: nothing is one minus something near one. */
	out = one_row(signals_from_logits, 2, far, 1);
	assert_float_equal(out.gold_prob[0] / expf(-80), 1, 2e-7);
	assert_float_equal(out.entropy[0] / (81 * expf(-80)), 1, 1e-6);
	out = one_row(signals_from_logits, 2, (float[]){0, -15}, 0);
	assert_float_equal(out.other_sq[0] / expf(-30), 1, 1e-6);
}

struct reference {
	long double gold_prob, margin, other_sq, entropy, max_prob;
	int32_t predicted;
};

static struct reference
logits_reference(const double *z, size_t classes, int32_t gold)
{
	struct reference r = {0};
	long double top = -INFINITY, other = -INFINITY, sum, rest = 0;

	for (size_t k = 0; k < classes; k++) {
		if (z[k] > top) {
			top = z[k];
			r.predicted = (int32_t)k;
		}
		if ((int32_t)k != gold && z[k] > other)
			other = z[k];
	}
	for (size_t k = 0; k < classes; k++)
		rest += (int32_t)k == r.predicted ? 0 : expl(z[k] - top);
	sum = 1 + rest;
	r.entropy = log1pl(rest); /* ln of a sum near 1 would lose it, even here */
	for (size_t k = 0; k < classes; k++) {
		long double p = expl(z[k] - top) / sum;

		if ((int32_t)k != gold)
			r.other_sq += p * p;
		if (p > 0)
			r.entropy += p * (top - z[k]);
	}
	r.gold_prob = expl(z[gold] - top) / sum;
	r.max_prob = 1 / sum;
	r.margin = z[gold] - other;
	return r;
}

static void
close_to_(int line, float got, long double expected, double tolerance)
{
	if (!(fabsl(got - expected) <= tolerance * fabsl(expected) + 100 * FLT_MIN))
		fail_msg("%d: %.9g instead of %.9Lg", line, got, expected);
}

#define close_to(got, expected, tolerance) close_to_(__LINE__, got, expected, tolerance)

static double
random_normal(void)
{
	return sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48());
}

/* `plain`: contiguous, which is read in place. Else rows at odd addresses, columns backwards: a layout as bad as any.
 */
static void
compare_random_in(bool plain, size_t classes, enum portolan_type type, double scale, size_t n)
{
	size_t width = type == PORTOLAN_F32 ? 4 : 8, odd = plain ? 0 : 1;
	ptrdiff_t row_stride = (ptrdiff_t)(classes * width) + (plain ? 0 : 3);
	ptrdiff_t column_stride = plain ? (ptrdiff_t)width : -(ptrdiff_t)width;
	size_t first = odd + (plain ? 0 : (classes - 1) * width);
	char *memory = malloc((size_t)row_stride * n + 1);
	double *z = malloc(n * classes * sizeof(*z));
	int32_t gold[ROWS];
	struct output out;

	for (size_t r = 0; r < n; r++) {
		gold[r] = (int32_t)(lrand48() % (long)classes);
		for (size_t k = 0; k < classes; k++) {
			float single = (float)(scale * random_normal());
			double value = type == PORTOLAN_F32 ? (double)single : scale * random_normal();
			bool masked = lrand48() % 10 == 0 && (int32_t)k != gold[r];
			char *at = memory + first + (ptrdiff_t)r * row_stride + (ptrdiff_t)k * column_stride;

			z[r * classes + k] = value = masked ? -INFINITY : value;
			single = (float)value;
			memcpy(at, width == 4 ? (void *)&single : (void *)&value, width);
		}
	}
	out = run(signals_from_logits, (struct portolan_array){memory + first, type, row_stride, column_stride}, n,
	          classes, gold);
	assert_int_equal(out.refused_count, 0);
	for (size_t r = 0; r < n; r++) {
		struct reference expected = logits_reference(z + r * classes, classes, gold[r]);

		assert_int_equal(out.predicted[r], expected.predicted);
		assert_int_equal(out.correct[r], expected.predicted == gold[r]);
		/* z − max is rounded to float32 before the exponential: half an ulp of it is a relative error there. */
		close_to(out.gold_prob[r], expected.gold_prob, 5e-7 + 1e-7 * fmin(scale * 10, 88));
		close_to(out.other_sq[r], expected.other_sq, 1e-6 + 2e-7 * fmin(scale * 10, 88));
		close_to(out.entropy[r], expected.entropy, 1e-6 + 1e-7 * fmin(scale * 10, 88));
		close_to(out.max_prob[r], expected.max_prob, 5e-7);
		if (isfinite(expected.margin))
			close_to(out.margin[r], expected.margin, 6e-8);
	}
	free(memory);
	free(z);
}

static void
compare_random(size_t classes, enum portolan_type type, double scale, size_t n)
{
	compare_random_in(false, classes, type, scale, n);
	compare_random_in(true, classes, type, scale, n);
}

static void
test_random_logits(void **state)
{
	static const size_t classes[] = {2, 3, 10, 32, 33, 64, 65, 128, 129, 144, 1000, 2048, 2049};

	(void)state;
	srand48(1);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		compare_random(classes[i], PORTOLAN_F32, 2, 150);
		compare_random(classes[i], PORTOLAN_F64, 2, 150);
		compare_random(classes[i], PORTOLAN_F32, 1e4, 70);
		compare_random(classes[i], PORTOLAN_F64, 1e30, 64);
		compare_random(classes[i], PORTOLAN_F64, 1e-3, 1);
	}
	compare_random(100000, PORTOLAN_F32, 1, 2);
	compare_random(100000, PORTOLAN_F64, 3, 2);
}

static void
test_random_probs(void **state)
{
	(void)state;
	srand48(2);
	for (size_t classes = 2; classes <= 80; classes += 13) {
		double *p = malloc(classes * sizeof(*p));
		int32_t gold = (int32_t)(classes / 2);
		long double entropy = 0, other_sq = 0;
		int32_t predicted = 0;
		struct output out;
		double sum = 0;

		for (size_t k = 0; k < classes; k++)
			sum += p[k] = exp(3 * random_normal());
		for (size_t k = 0; k < classes; k++) {
			p[k] /= sum;
			entropy -= p[k] * logl(p[k]);
			other_sq += (int32_t)k == gold ? 0 : (long double)p[k] * p[k];
			predicted = p[k] > p[predicted] ? (int32_t)k : predicted;
		}
		out = run(signals_from_probs, (struct portolan_array){p, PORTOLAN_F64, 0, 8}, 1, classes, &gold);
		assert_int_equal(out.refused_count, 0);
		close_to(out.gold_prob[0], p[gold], 6e-8);
		close_to(out.entropy[0], entropy, 1e-6);
		close_to(out.other_sq[0], other_sq, 1e-6);
		close_to(out.max_prob[0], p[predicted], 6e-8);
		assert_int_equal(out.predicted[0], predicted);
		free(p);
	}
}

/* The result does not depend on how many rows are derived at once, nor on their neighbours. */
static void
test_rows_are_independent(void **state)
{
	float z[ROWS][3];
	int32_t gold[ROWS];
	struct output all;

	(void)state;
	srand48(3);
	for (size_t r = 0; r < ROWS; r++) {
		gold[r] = (int32_t)(r % 3);
		for (size_t k = 0; k < 3; k++)
			z[r][k] = r % 7 == 6 && k == 1 ? NAN : (float)random_normal();
	}
	all = run(signals_from_logits, (struct portolan_array){z, PORTOLAN_F32, 12, 4}, ROWS, 3, gold);
	assert_int_equal(all.refused_count, ROWS / 7);
	for (size_t r = 0; r < ROWS; r++) {
		struct output one = one_row(signals_from_logits, 3, z[r], gold[r]);

		assert_int_equal(one.refused[0], all.refused[r]);
		assert_int_equal(all.refused[r], r % 7 == 6);
		if (all.refused[r])
			continue;
		assert_memory_equal(&one.gold_prob[0], &all.gold_prob[r], 4);
		assert_memory_equal(&one.entropy[0], &all.entropy[r], 4);
		assert_int_equal(one.predicted[0], all.predicted[r]);
	}
}

/* The bits of what `kernels` derives from some rows, of which one has a NaN. */
static struct output
derive_with(const struct signals_kernels *kernels, const void *memory, bool probs, bool single, bool reversed,
            size_t classes, const int32_t *gold)
{
	ptrdiff_t width = single ? 4 : 8, columns = (ptrdiff_t)classes;
	struct portolan_array scores = {memory, single ? PORTOLAN_F32 : PORTOLAN_F64, columns * width, width};
	struct output out = {0};
	struct signals_columns to = columns_of(&out);

	if (reversed) {
		scores.data = (const char *)memory + (columns - 1) * width;
		scores.column_stride = -width;
	}
	out.refused_count = signals_derive(kernels, &scores, probs, 37, classes, gold, &to, out.refused);
	for (size_t r = 0; r < 37; r++)
		if (out.refused[r]) /* unspecified */
			out.gold_prob[r] = out.margin[r] = out.other_sq[r] = out.entropy[r] = out.max_prob[r] =
			        (float)(out.predicted[r] = out.correct[r] = 0);
	return out;
}

/* Every kind of processor gives the same bits. */
static void
test_kinds_agree(void **state)
{
	static const char *const names[] = {"avx2", "avx512"};
	static const size_t classes[] = {1, 2, 3, 17, 128, 129, 300, 5000};
	double *wide = malloc(37 * 5000 * sizeof(*wide));
	float *narrow = malloc(37 * 5000 * sizeof(*narrow));
	int32_t gold[37];

	(void)state;
	srand48(4);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		for (int turn = 0; turn < 8; turn++) {
			bool probs = turn & 1, single = turn & 2, reversed = turn & 4;
			size_t n = classes[i];

			for (size_t r = 0; r < 37; r++) {
				double sum = 0;

				gold[r] = (int32_t)(lrand48() % (long)(n == 1 ? 2 : n));
				for (size_t k = 0; k < n; k++)
					sum += wide[r * n + k] = probs ? exp(3 * random_normal()) : 3 * random_normal();
				for (size_t k = 0; k < n; k++)
					wide[r * n + k] /= probs ? sum : 1;
			}
			wide[5 * n + n / 2] = (double)NAN;
			for (size_t k = 0; k < 37 * n; k++)
				narrow[k] = (float)wide[k];
			for (size_t j = 0; j < 2; j++) {
				const struct signals_kernels *kernels = signals_kernels_named(names[j]);
				const void *memory = single ? (void *)narrow : (void *)wide;
				struct output expected, got;

				if (!kernels)
					continue;
				expected = derive_with(signals_kernels_named("plain"), memory, probs, single, reversed,
				                       n, gold);
				got = derive_with(kernels, memory, probs, single, reversed, n, gold);
				assert_int_equal(expected.refused_count, 1);
				assert_memory_equal(&got, &expected, sizeof(got));
			}
		}
	free(narrow);
	free(wide);
}

static double
ulps(float got, double expected)
{
	float nearest = fabsf((float)expected);

	return fabs(got - expected) / (nextafterf(nearest, INFINITY) - nearest);
}

static void
test_elementary_functions(void **state)
{
	const uint32_t step = 1009; /* of 2^31 floats, every thousandth */

	(void)state;
	for (uint32_t bits = 0x80800000; bits < 0xc2b00000; bits += step) {
		double expected;
		float x;

		memcpy(&x, &bits, sizeof(x));
		expected = exp((double)x);
		if (expected < FLT_MIN * 1.000001)
			break;
		if (ulps(signals_exp(x), expected) > 1.5)
			fail_msg("exp(%a) is %a", x, signals_exp(x));
	}
	assert_true(signals_exp(0.0f) == 1.0f);
	assert_true(signals_exp(-0.0f) == 1.0f);
	assert_true(signals_exp(-88) == 0);
	assert_true(signals_exp(-FLT_MAX) == 0);
	for (uint32_t bits = 0x00800000; bits < 0x7f800000; bits += step) {
		float x;

		memcpy(&x, &bits, sizeof(x));
		if (ulps(signals_log(x), log((double)x)) > 1.5)
			fail_msg("log(%a) is %a", x, signals_log(x));
		if (x < 0x1p60f && ulps(signals_log1p(x), log1p((double)x)) > 1.5)
			fail_msg("log1p(%a) is %a", x, signals_log1p(x));
	}
	assert_true(signals_log(1.0f) == 0);
	assert_true(signals_log1p(0.0f) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_by_hand),      cmocka_unit_test(test_probs_by_hand),
	        cmocka_unit_test(test_refused),      cmocka_unit_test(test_ties),
	        cmocka_unit_test(test_extremes),     cmocka_unit_test(test_random_logits),
	        cmocka_unit_test(test_random_probs), cmocka_unit_test(test_rows_are_independent),
	        cmocka_unit_test(test_kinds_agree),  cmocka_unit_test(test_elementary_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_aflite_kernels.c: every kind of kernel beside loops in double precision. */
#include "unit.h"

#include "aflite/kernels.h"
#include "statistics/random.h"

static const char *const kinds[] = {"plain", "avx2", "avx512"};
#define KINDS 3
#define STRIDE 80
#define ROWS 70
#define COLUMNS_MOST 10

static float *
draw(struct random_state *random, size_t count)
{
	float *values = aligned_alloc(64, (count + 15) / 16 * 64);

	assert_non_null(values);
	for (size_t i = 0; i < count; i++)
		values[i] = (float)((double)random_next(random) * 0x1p-63 - 1);
	return values;
}

struct made {
	float *x, *weights, *gradient, *scratch;
	const float *rows[ROWS + KERNELS_PAD];
	int32_t slots[ROWS + KERNELS_TILE];
	size_t count, columns;
};

/* Rows in no order, some of them twice. */
static struct made
make(size_t columns, size_t count, uint64_t seed)
{
	struct made made = {.count = count, .columns = columns};
	struct random_state random;

	random_seed(&random, seed);
	made.x = draw(&random, ROWS * STRIDE);
	made.weights = draw(&random, columns * STRIDE);
	made.gradient = draw(&random, columns * STRIDE);
	made.scratch = draw(&random, (columns + 2) * KERNELS_TILE);
	for (size_t i = 0; i < ROWS + KERNELS_PAD; i++)
		made.rows[i] = made.x + random_below(&random, ROWS) * STRIDE;
	for (size_t i = 0; i < count; i++)
		made.slots[i] = (int32_t)random_below(&random, columns + 1);
	for (size_t i = count; i < ROWS + KERNELS_TILE; i++)
		made.slots[i] = 0;
	return made;
}

static void
unmake(struct made *made)
{
	free(made->x);
	free(made->weights);
	free(made->gradient);
	free(made->scratch);
}

/* The sum of losses; the gradient is added to `gradient`. */
static double
reference(const struct made *made, const uint8_t *absent, double *gradient)
{
	double loss = 0;

	for (size_t i = 0; i < made->count; i++) {
		double z[COLUMNS_MOST + 1] = {0}, sum = 0;

		for (size_t k = 0; k < made->columns; k++)
			for (size_t f = 0; f < STRIDE; f++)
				z[k + 1] += (double)made->rows[i][f] * made->weights[k * STRIDE + f];
		for (size_t k = 0; k <= made->columns; k++)
			sum += absent && absent[k] ? 0 : exp(z[k]);
		loss += log(sum) - z[made->slots[i]];
		for (size_t k = 1; k <= made->columns; k++) {
			double p = absent && absent[k] ? 0 : exp(z[k]) / sum;

			for (size_t f = 0; f < STRIDE; f++)
				gradient[(k - 1) * STRIDE + f] +=
				        (p - (made->slots[i] == (int32_t)k)) * made->rows[i][f];
		}
	}
	return loss;
}

static void
check_fit(const struct kernels *kernels, size_t columns, size_t count, bool with_absent)
{
	struct made made = make(columns, count, columns * 1000 + count);
	uint8_t absent[COLUMNS_MOST + 1] = {0};
	double gradient[COLUMNS_MOST * STRIDE], expected;
	struct kernels_fit fit = {.stride = STRIDE,
	                          .columns = columns,
	                          .weights = made.weights,
	                          .gradient = made.gradient,
	                          .scratch = made.scratch,
	                          .absent = with_absent ? absent : NULL};

	absent[columns] = with_absent;
	for (size_t i = 0; with_absent && i < count; i++)
		made.slots[i] = made.slots[i] == (int32_t)columns ? 0 : made.slots[i];
	for (size_t f = 0; f < columns * STRIDE; f++)
		gradient[f] = made.gradient[f];
	expected = reference(&made, fit.absent, gradient);
	assert_close(kernels->fit(&fit, made.rows, made.slots, count), expected, 2e-5 * (double)count);
	for (size_t f = 0; f < columns * STRIDE; f++)
		assert_close(made.gradient[f], gradient[f], 1e-5 * (double)(count + 1));
	unmake(&made);
}

static void
test_fit(void **state)
{
	static const size_t columns[] = {1, 2, 3, 4, 5, 9}, counts[] = {1, 2, 4, 5, 7, 8, 9, 16, 31, 64, 70};

	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kernels *kernels = kernels_named(kinds[kind]);

		for (size_t c = 0; kernels && c < sizeof(columns) / sizeof(columns[0]); c++)
			for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
				check_fit(kernels, columns[c], counts[n], false);
				check_fit(kernels, columns[c], counts[n], true);
			}
	}
}

/* Distances of hundreds: probabilities of 0 and 1, and losses that are the distance. */
static void
test_far(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kernels *kernels = kernels_named(kinds[kind]);
		struct made made = make(2, 3, 7);
		struct kernels_fit fit = {.stride = STRIDE,
		                          .columns = 2,
		                          .weights = made.weights,
		                          .gradient = made.gradient,
		                          .scratch = made.scratch};

		if (kernels) {
			memset(made.x, 0, ROWS * STRIDE * sizeof(float));
			memset(made.weights, 0, 2 * STRIDE * sizeof(float));
			memset(made.gradient, 0, 2 * STRIDE * sizeof(float));
			made.x[0] = 1;
			made.weights[0] = 300;
			made.weights[STRIDE] = -200;
			for (size_t i = 0; i < 3; i++) {
				made.rows[i] = made.x;
				made.slots[i] = (int32_t)i;
			}
			/* z = 0, 300, −200: losses 300, 0, 500 */
			assert_close(kernels->fit(&fit, made.rows, made.slots, 3), 800, 1e-3);
			assert_close(made.gradient[0], 3 - 1, 1e-6);
			assert_close(made.gradient[STRIDE], 0 - 1, 1e-6);
		}
		unmake(&made);
	}
}

/* By rows: what fit() makes of its own distances, residuals() makes of given ones; and who is judged right. */
static void
test_rows(void **state)
{
	enum { TILE = 32, COUNT = 21, COLUMNS = 7 };

	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kernels *kernels = kernels_named(kinds[kind]);
		struct random_state random;
		float *z, *sums, *over, *margins;
		int32_t golds[TILE] = {0}, made[TILE] __attribute__((aligned(64))) = {0},
		        correct[TILE] __attribute__((aligned(64))) = {0};
		uint64_t trained = UINT64_C(1) << 11;
		uint8_t absent[COLUMNS + 1] = {0};
		double before[COLUMNS + 1][COUNT], loss = 0;

		if (!kernels)
			continue;
		random_seed(&random, 3);
		z = draw(&random, COLUMNS * TILE);
		sums = draw(&random, TILE);
		over = draw(&random, TILE);
		margins = draw(&random, TILE);
		absent[4] = 1;
		for (size_t i = 0; i < COUNT; i++) {
			golds[i] = (int32_t)(i % (COLUMNS + 1));
			z[2 * TILE + i] = i % 5 ? z[2 * TILE + i] : z[5 * TILE + i]; /* ties */
			before[0][i] = 0;
			for (size_t k = 0; k < COLUMNS; k++)
				before[k + 1][i] = z[k * TILE + i];
		}
		memset(margins, 0, TILE * sizeof(float));
		kernels->judge(
		        &(struct kernels_judged){z, TILE, COLUMNS, COUNT, golds, &trained, made, correct, margins});
		for (size_t i = 0; i < COUNT; i++) {
			size_t best = 0, gold = (size_t)golds[i];
			double other = -INFINITY;

			for (size_t k = 0; k <= COLUMNS; k++) {
				best = before[k][i] > before[best][i] ? k : best;
				other = k == gold ? other : fmax(other, before[k][i]);
			}
			assert_int_equal(made[i], i != 11);
			assert_int_equal(correct[i], best == gold && i != 11);
			assert_close(margins[i], i != 11 ? before[gold][i] - other : 0, 1e-6);
		}
		for (size_t i = 0; i < COUNT; i++)
			golds[i] = golds[i] == 4 ? 0 : golds[i];
		for (size_t i = 0; i < COUNT; i++) {
			double sum = 0;

			for (size_t k = 0; k <= COLUMNS; k++)
				sum += absent[k] ? 0 : exp(before[k][i]);
			loss += log(sum) - before[golds[i]][i];
			for (size_t k = 0; k <= COLUMNS; k++)
				before[k][i] = (absent[k] ? 0 : exp(before[k][i]) / sum) - (golds[i] == (int32_t)k);
		}
		assert_close(kernels->residuals(z, TILE, COLUMNS, absent, golds, COUNT, sums, over), loss, 1e-4);
		for (size_t i = 0; i < COUNT; i++)
			for (size_t k = 0; k < COLUMNS; k++)
				assert_close(z[k * TILE + i], before[k + 1][i], 1e-6);
		free(z);
		free(sums);
		free(over);
		free(margins);
	}
}

/* The squared hinge and its derivative, for each kind of processor; a class that is absent has neither. */
static void
test_shortfalls(void **state)
{
	enum { TILE = 32, COUNT = 21, COLUMNS = 5 };

	(void)state;
	for (size_t kind = 0; kind < 2 * KINDS; kind++) {
		const struct kernels *kernels = kernels_named(kinds[kind / 2]);
		size_t first = kind % 2;
		uint8_t absent[COLUMNS + 1] = {[3] = 1};
		double loss = 0, expected[COLUMNS][COUNT];
		int32_t golds[TILE] = {0};
		struct random_state random;
		float *z, *sums;

		if (!kernels)
			continue;
		random_seed(&random, 5 + kind);
		z = draw(&random, COLUMNS * TILE);
		sums = draw(&random, TILE);
		for (size_t i = 0; i < COUNT; i++) {
			golds[i] = (int32_t)(i % (COLUMNS + first));
			for (size_t k = 0; k < COLUMNS; k++) {
				double sign = (size_t)golds[i] == k + first ? 1 : -1,
				       short_of = 1 - sign * z[k * TILE + i];

				expected[k][i] = short_of > 0 && k + first != 3 ? -2 * sign * short_of : 0;
				loss += expected[k][i] * expected[k][i] / 4;
			}
		}
		assert_close(kernels->shortfalls(z, TILE, COLUMNS, first, absent, golds, COUNT, sums), loss, 1e-4);
		for (size_t i = 0; i < COUNT; i++)
			for (size_t k = 0; k < COLUMNS; k++)
				assert_close(z[k * TILE + i], expected[k][i], 1e-6);
		free(z);
		free(sums);
	}
}

static void
test_judge(void **state)
{
	/* Rows 0 … 5: z of slots 1 and 2; slot 0 has 0. */
	static const float first[6] = {1, -1, 0, 2, 0, -3}, second[6] = {0, 2, 0, 2, 1, -1};
	/* gold's slot: margins by row; ties go to the lowest class */
	static const float margins[3][6] = {{-1, -2, 0, -2, -1, 1}, {1, -3, 0, 0, -1, -3}, {-1, 2, 0, 0, 1, -1}};
	static const unsigned right[3] = {1u << 2 | 1u << 5, 1u << 0 | 1u << 3, 1u << 1 | 1u << 4};

	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kernels *kernels = kernels_named(kinds[kind]);
		float *z = aligned_alloc(64, 3 * 16 * sizeof(float)), *found = z + 2 * 16;

		assert_non_null(z);
		memset(z, 0, 3 * 16 * sizeof(float));
		memcpy(z, first, sizeof(first));
		memcpy(z + 16, second, sizeof(second));
		for (int32_t gold = 0; kernels && gold < 3; gold++)
			for (uint64_t held = 0; held < 64; held++) {
				int32_t golds[16] = {gold, gold, gold, gold, gold, gold};
				int32_t made[16] __attribute__((aligned(64))) = {0};
				int32_t correct[16] __attribute__((aligned(64))) = {0};
				uint64_t trained = ~held;

				memset(found, 0, 16 * sizeof(float));
				kernels->judge(
				        &(struct kernels_judged){z, 16, 2, 6, golds, &trained, made, correct, found});
				for (unsigned row = 0; row < 6; row++) {
					bool is_held = held >> row & 1;

					assert_int_equal(made[row], is_held);
					assert_int_equal(correct[row], is_held && right[gold] >> row & 1);
					assert_close(found[row], is_held ? margins[gold][row] : 0, 1e-6);
				}
			}
		free(z);
	}
}

static void
check_product(const struct kernels *kernels, size_t rows, size_t depth, size_t columns, bool add)
{
	struct random_state random;
	float *a, *b, *c, *before;
	struct kernels_product product;

	random_seed(&random, rows + 100 * depth + columns);
	a = draw(&random, rows * (depth + 3));
	b = draw(&random, depth * (columns + 16));
	c = draw(&random, rows * (columns + 32));
	before = malloc(rows * (columns + 32) * sizeof(float));
	assert_non_null(before);
	memcpy(before, c, rows * (columns + 32) * sizeof(float));
	product = (struct kernels_product){.a = a,
	                                   .b = b,
	                                   .c = c,
	                                   .a_stride = depth + 3,
	                                   .b_stride = columns + 16,
	                                   .c_stride = columns + 32,
	                                   .rows = rows,
	                                   .depth = depth,
	                                   .columns = columns,
	                                   .add = add};
	kernels->multiply(&product);
	for (size_t r = 0; r < rows; r++)
		for (size_t j = 0; j < columns + 32; j++) {
			double sum = j >= columns || add ? before[r * (columns + 32) + j] : 0;

			for (size_t k = 0; j < columns && k < depth; k++)
				sum += (double)a[r * (depth + 3) + k] * b[k * (columns + 16) + j];
			assert_close(c[r * (columns + 32) + j], sum, 1e-5);
		}
	free(a);
	free(b);
	free(c);
	free(before);
}

static void
test_multiply(void **state)
{
	static const size_t rows[] = {1, 3, 4, 5, 11, 12, 13, 30}, columns[] = {16, 32, 48, 80};

	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kernels *kernels = kernels_named(kinds[kind]);

		for (size_t r = 0; kernels && r < sizeof(rows) / sizeof(rows[0]); r++)
			for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
				check_product(kernels, rows[r], 17, columns[c], false);
				check_product(kernels, rows[r], 1, columns[c], true);
			}
	}
}

/* All numbers of half precision, beside their definition; from an odd address. */
static void
test_widen(void **state)
{
	uint8_t *bytes = malloc(2 * 65536 + 1);
	float *values = malloc(65536 * sizeof(float));

	(void)state;
	assert_true(bytes && values);
	for (unsigned half = 0; half < 65536; half++) {
		bytes[1 + 2 * half] = (uint8_t)half;
		bytes[2 + 2 * half] = (uint8_t)(half >> 8);
	}
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kernels *kernels = kernels_named(kinds[kind]);

		if (!kernels)
			continue;
		kernels->widen(bytes + 1, values, 65536);
		for (unsigned half = 0; half < 65536; half++) {
			int exponent = half >> 10 & 31, mantissa = half & 1023;
			double expected = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);

			if (exponent == 31 && mantissa)
				assert_true(isnan(values[half]));
			else if (exponent == 31)
				assert_true(isinf(values[half]) && !signbit(values[half]) == !(half & 0x8000));
			else
				assert_true(values[half] == (half & 0x8000 ? -expected : expected) &&
				            !signbit(values[half]) == !(half & 0x8000));
		}
	}
	free(bytes);
	free(values);
}

static void
test_survey(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kernels *kernels = kernels_named(kinds[kind]);
		float *row = aligned_alloc(64, 4 * 32 * sizeof(float)), *sums = row + 32, *low = sums + 32,
		      *high = low + 32;

		assert_non_null(row);
		for (size_t f = 0; f < 32; f++) {
			row[f] = (float)f - 5;
			sums[f] = 1;
			low[f] = 0;
			high[f] = 3;
		}
		if (kernels) {
			assert_true(kernels->survey(row, 32, sums, low, high));
			for (size_t f = 0; f < 32; f++) {
				assert_true(sums[f] == (float)f - 4);
				assert_true(low[f] == fminf(0, (float)f - 5) && high[f] == fmaxf(3, (float)f - 5));
			}
			row[31] = NAN;
			assert_false(kernels->survey(row, 32, sums, low, high));
			row[31] = 0;
			row[3] = -INFINITY;
			assert_false(kernels->survey(row, 32, sums, low, high));
		}
		free(row);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_fit),    cmocka_unit_test(test_far),        cmocka_unit_test(test_rows),
	        cmocka_unit_test(test_judge),  cmocka_unit_test(test_multiply),   cmocka_unit_test(test_widen),
	        cmocka_unit_test(test_survey), cmocka_unit_test(test_shortfalls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

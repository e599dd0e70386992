/* test_measures.c: the formulas against tables worked out by hand. */
#include "unit.h"

#include "measures/measures.h"
#include "measures/measures_tdds.h"

#define EPOCHS_MAX 20
#define ROWS_MAX 200
#define WORDS ((ROWS_MAX + 63) / 64)

/* A block made by hand: p[e][r] < 0 means not observed. */
struct table {
	float p[EPOCHS_MAX][ROWS_MAX], extra[EPOCHS_MAX][ROWS_MAX];
	uint64_t present[EPOCHS_MAX][WORDS], correct[EPOCHS_MAX][WORDS];
	struct store_values columns[EPOCHS_MAX * STORE_COLUMN_MAX];
	struct store_block block;
	size_t window;
	double out[MEASURE_COUNT][ROWS_MAX];
};

static struct table *
table_new(uint32_t rows, size_t epochs)
{
	struct table *table = calloc(1, sizeof(*table));

	assert_non_null(table);
	table->block = (struct store_block){.rows = rows, .epoch_count = epochs, .columns = table->columns};
	table->window = 3;
	for (size_t e = 0; e < epochs; e++) {
		table->columns[e * STORE_COLUMN_MAX + STORE_GOLD_PROB] =
		        (struct store_values){table->p[e], table->present[e], false};
		table->columns[e * STORE_COLUMN_MAX + STORE_CORRECT] =
		        (struct store_values){table->correct[e], table->present[e], false};
		for (uint32_t r = 0; r < rows; r++)
			table->p[e][r] = NAN; /* what is absent must not be read */
	}
	return table;
}

static void
observe(struct table *table, size_t epoch, uint32_t row, float p, bool correct)
{
	table->p[epoch][row] = p;
	table->present[epoch][row / 64] |= UINT64_C(1) << row % 64;
	if (correct)
		table->correct[epoch][row / 64] |= UINT64_C(1) << row % 64;
}

/* Gives every observation a value of a further column. */
static void
add_column(struct table *table, unsigned column)
{
	for (size_t e = 0; e < table->block.epoch_count; e++)
		table->columns[e * STORE_COLUMN_MAX + column] =
		        (struct store_values){table->extra[e], table->present[e], false};
}

static void
compute(struct table *table, uint32_t measures)
{
	static const uint32_t epochs[EPOCHS_MAX] = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29,
	                                            31, 37, 41, 43, 47, 53, 59, 61, 67, 71};
	double *out[MEASURE_COUNT];

	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		out[m] = measures & UINT32_C(1) << m ? table->out[m] : NULL;
	measures_block(&table->block, epochs, table->window, NAN, out);
}

#define WITHOUT_SIGNALS                                                                                                \
	(MEASURE_ALL & ~(MEASURE_BIT(MEASURE_AUM) | MEASURE_BIT(MEASURE_EL2N) | MEASURE_BIT(MEASURE_ENTROPY) |         \
	                 MEASURE_BIT(MEASURE_MAX_PROB) | MEASURE_BIT(MEASURE_PROB_MARGIN)))

static void
test_hand_table(void **state)
{
	struct table *table = table_new(3, 4);

	(void)state;
	/* row 0: 0.2 0.8 0.4 0.6, wrong right wrong right: mean 0.5, squares .09 .09 .01 .01, variance 0.05 */
	observe(table, 0, 0, 0.2f, false);
	observe(table, 1, 0, 0.8f, true);
	observe(table, 2, 0, 0.4f, false);
	observe(table, 3, 0, 0.6f, true);
	/* row 1: never correct, and constant */
	for (size_t e = 0; e < 4; e++)
		observe(table, e, 1, 0.25f, false);
	/* row 2: seen at the first and the third epoch: right, then forgotten across the gap */
	observe(table, 0, 2, 0.75f, true);
	observe(table, 2, 2, 0.25f, false);
	compute(table, WITHOUT_SIGNALS);

	assert_true(table->out[MEASURE_EPOCHS][0] == 4 && table->out[MEASURE_EPOCHS][1] == 4 &&
	            table->out[MEASURE_EPOCHS][2] == 2);
	assert_close(table->out[MEASURE_CONFIDENCE][0], 0.5, 1e-7);
	assert_close(table->out[MEASURE_VARIABILITY][0], sqrt(0.05), 1e-7);
	assert_close(table->out[MEASURE_VARIABILITY_CI][0], sqrt(0.05 + 0.05 * 0.05 / 3), 1e-7);
	assert_close(table->out[MEASURE_THRESHOLD_CLOSENESS][0], 0.25, 1e-7);
	assert_close(table->out[MEASURE_ALEATORIC][0], (0.16 + 0.16 + 0.24 + 0.24) / 4, 1e-7);
	assert_close(table->out[MEASURE_LOSS][0], -log(0.2 * 0.8 * 0.4 * 0.6) / 4, 1e-7);
	assert_true(table->out[MEASURE_LOSS][1] == -log(0.25));
	assert_true(table->out[MEASURE_CORRECTNESS][0] == 0.5);
	assert_true(table->out[MEASURE_FORGETTING_EVENTS][0] == 1);
	assert_true(table->out[MEASURE_NEVER_LEARNED][0] == 0);
	assert_true(table->out[MEASURE_FIRST_LEARNED][0] == 3);
	assert_true(table->out[MEASURE_ALWAYS_RIGHT_AFTER][0] == 7);
	assert_true(isnan(table->out[MEASURE_ALWAYS_WRONG_AFTER][0]));

	assert_true(table->out[MEASURE_CONFIDENCE][1] == 0.25 && table->out[MEASURE_VARIABILITY][1] == 0);
	assert_true(table->out[MEASURE_NEVER_LEARNED][1] == 1 && isnan(table->out[MEASURE_FIRST_LEARNED][1]));
	assert_true(table->out[MEASURE_ALWAYS_WRONG_AFTER][1] == 2 && isnan(table->out[MEASURE_ALWAYS_RIGHT_AFTER][1]));
	assert_true(table->out[MEASURE_FORGETTING_EVENTS][1] == 0);

	assert_true(table->out[MEASURE_CONFIDENCE][2] == 0.5 && table->out[MEASURE_VARIABILITY][2] == 0.25);
	assert_true(table->out[MEASURE_FORGETTING_EVENTS][2] == 1 && table->out[MEASURE_CORRECTNESS][2] == 0.5);
	assert_true(table->out[MEASURE_FIRST_LEARNED][2] == 2 && table->out[MEASURE_ALWAYS_WRONG_AFTER][2] == 5);
	free(table);
}

static void
test_one_epoch_and_none(void **state)
{
	struct table *table = table_new(2, 1);

	(void)state;
	observe(table, 0, 0, 0.75f, true);
	compute(table, WITHOUT_SIGNALS);
	assert_true(table->out[MEASURE_EPOCHS][0] == 1 && table->out[MEASURE_CONFIDENCE][0] == 0.75);
	assert_true(table->out[MEASURE_VARIABILITY][0] == 0 && isnan(table->out[MEASURE_VARIABILITY_CI][0]));
	assert_true(table->out[MEASURE_ALWAYS_RIGHT_AFTER][0] == 2 && table->out[MEASURE_FIRST_LEARNED][0] == 2);
	assert_true(table->out[MEASURE_EPOCHS][1] == 0 && isnan(table->out[MEASURE_CONFIDENCE][1]));
	assert_true(isnan(table->out[MEASURE_ALWAYS_WRONG_AFTER][1]) && isnan(table->out[MEASURE_CORRECTNESS][1]));
	free(table);
}

/* Nearly equal values: a one-pass formula loses all digits of their variance. */
static void
test_nearly_equal(void **state)
{
	struct table *table = table_new(1, 3);
	float values[3] = {0.9999998807907104f, 0.9999999403953552f, 1.0f};
	double mean = ((double)values[0] + (double)values[1] + (double)values[2]) / 3, variance = 0;

	(void)state;
	for (size_t e = 0; e < 3; e++) {
		observe(table, e, 0, values[e], true);
		variance += ((double)values[e] - mean) * ((double)values[e] - mean) / 3;
	}
	compute(table, WITHOUT_SIGNALS);
	assert_true(variance > 0);
	assert_close(table->out[MEASURE_VARIABILITY][0] / sqrt(variance), 1, 1e-12);
	free(table);
}

/* Losses of more epochs than a product of doubles could hold; of probabilities that float32 has as 0; and next to 1, where the
 * logarithm of the product must keep its digits. */
static void
test_loss(void **state)
{
	struct table *table = table_new(4, EPOCHS_MAX);
	double near = 0;

	(void)state;
	for (size_t e = 0; e < EPOCHS_MAX; e++) {
		float p = 1 - (float)(e + 1) * 0x1p-23f;

		observe(table, e, 0, 1e-38f, false);
		observe(table, e, 1, 0, false);
		observe(table, e, 2, p, true);
		observe(table, e, 3, 1, true);
		near -= log((double)p);
	}
	compute(table, WITHOUT_SIGNALS);
	assert_close(table->out[MEASURE_LOSS][0] / -log((double)1e-38f), 1, 1e-15);
	assert_close(table->out[MEASURE_LOSS][1], 150 * log(2), 1e-12);
	assert_close(table->out[MEASURE_LOSS][2] / (near / EPOCHS_MAX), 1, 1e-9);
	assert_true(table->out[MEASURE_LOSS][3] == 0 && !signbit(table->out[MEASURE_LOSS][3]));
	free(table);
}

/* Whole tiles take another way than partial ones; both must agree with arithmetic row by row. */
static void
test_tiles(void **state)
{
	const uint32_t rows = 150;
	struct table *table = table_new(rows, 5);

	(void)state;
	for (size_t e = 0; e < 5; e++)
		for (uint32_t r = 0; r < rows; r++)
			if (r < 64 || (r + e) % 3 != 0)
				observe(table, e, r, (float)((r * 7 + e * 13) % 101) / 100.0f, (r + e) % 2 == 0);
	compute(table, WITHOUT_SIGNALS);
	for (uint32_t r = 0; r < rows; r++) {
		double sum = 0, squares = 0, losses = 0, mean;
		unsigned n = 0, right = 0;

		for (size_t e = 0; e < 5; e++) {
			if (table->present[e][r / 64] >> r % 64 & 1) {
				sum += (double)table->p[e][r];
				losses -= log(fmax((double)table->p[e][r], 0x1p-150));
				right += (r + e) % 2 == 0;
				n++;
			}
		}
		mean = sum / n;
		for (size_t e = 0; e < 5; e++)
			if (table->present[e][r / 64] >> r % 64 & 1)
				squares += ((double)table->p[e][r] - mean) * ((double)table->p[e][r] - mean);
		assert_true(table->out[MEASURE_EPOCHS][r] == n);
		assert_close(table->out[MEASURE_CONFIDENCE][r], mean, 1e-15);
		assert_close(table->out[MEASURE_LOSS][r], losses / n, 1e-14);
		assert_close(table->out[MEASURE_VARIABILITY][r], sqrt(squares / n), 1e-15);
		assert_true(table->out[MEASURE_CORRECTNESS][r] == (double)right / n);
	}
	free(table);
}

/* A block without gaps takes a way of its own, to the very same bits; 15 epochs are counted in four bits, 16 in more.
 */
static void
test_complete(void **state)
{
	static const size_t lengths[] = {1, 2, 3, 15, 16, 20};
	const uint32_t rows = 190;

	(void)state;
	for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
		struct table *table = table_new(rows, lengths[l]), *complete = table_new(rows, lengths[l]);

		for (size_t e = 0; e < lengths[l]; e++)
			for (uint32_t r = 0; r < rows; r++) {
				float p = (float)((r * r * 31 + e * 17 * (r % 5)) % 997) / 996.0f;
				bool correct = r % 7 == 0 ? false : r % 7 == 1 ? true : (r * 5 + e * e * r) % 3 > 0;

				observe(table, e, r, p, correct);
				observe(complete, e, r, p, correct);
				complete->columns[e * STORE_COLUMN_MAX + STORE_GOLD_PROB].complete = true;
				complete->columns[e * STORE_COLUMN_MAX + STORE_CORRECT].complete = true;
			}
		compute(table, WITHOUT_SIGNALS);
		compute(complete, WITHOUT_SIGNALS);
		for (unsigned m = 0; m < MEASURE_COUNT; m++)
			for (uint32_t r = 0; r < rows && WITHOUT_SIGNALS & MEASURE_BIT(m); r++)
				assert_memory_equal(&table->out[m][r], &complete->out[m][r], sizeof(double));
		/* rows 5 and 10 have the same value at every epoch: (r * r * 31) % 997 */
		assert_true(complete->out[MEASURE_VARIABILITY][5] == 0 && complete->out[MEASURE_VARIABILITY][10] == 0);
		assert_true(complete->out[MEASURE_CONFIDENCE][5] == (double)(float)(775 / 996.0f));
		free(table);
		free(complete);
	}
}

/* Of two values the sample standard deviation is their difference by √2. */
static void
test_windows(void **state)
{
	static const float p[4] = {0.2f, 0.8f, 0.4f, 0.6f};
	const uint32_t measures = MEASURE_BIT(MEASURE_DYN_UNC) | MEASURE_BIT(MEASURE_DUAL);
	struct table *table = table_new(3, 4);
	const double *dyn_unc = table->out[MEASURE_DYN_UNC], *dual = table->out[MEASURE_DUAL];

	(void)state;
	for (size_t e = 0; e < 4; e++) {
		observe(table, e, 0, p[e], false);
		if (e != 1) /* what was not observed is in no window */
			observe(table, e, 1, p[e], false);
	}
	observe(table, 2, 2, 0.5f, true);
	table->window = 2;
	compute(table, measures);
	assert_close(dyn_unc[0], (0.6 + 0.4 + 0.2) / sqrt(2) / 3, 1e-7);
	assert_close(dual[0], (0.5 * 0.6 + 0.4 * 0.4 + 0.5 * 0.2) / sqrt(2) / 3, 1e-7);
	assert_close(dyn_unc[1], (0.2 + 0.2) / sqrt(2) / 2, 1e-7);
	assert_close(dual[1], (0.7 * 0.2 + 0.5 * 0.2) / sqrt(2) / 2, 1e-7);
	assert_true(isnan(dyn_unc[2]) && isnan(dual[2]));
	table->window = 3; /* one window: √((0.2² + 0 + 0.2²) / 2) about 0.4 */
	compute(table, measures);
	assert_close(dyn_unc[1], 0.2, 1e-7);
	assert_close(dual[1], 0.6 * 0.2, 1e-7);
	table->window = 5; /* longer than the run */
	compute(table, measures);
	assert_true(isnan(dyn_unc[0]) && isnan(dual[0]) && isnan(dyn_unc[1]));
	free(table);
}

/* Two classes, by hand: three moves of the first example, of which the last two are a window of three epochs; the second
 * is without a distribution at one epoch. */
static void
test_tdds(void **state)
{
	static const float p[2][4] = {{0.5f, 0.5f, 0.25f, 0.25f}, {0.5f, 0.5f, 0.75f, 0.75f}};
	static const unsigned columns[2] = {STORE_COLUMN_USER + 3, STORE_COLUMN_USER};
	struct table *table = table_new(2, 4), *other = table_new(2, 4);
	double moved = 0.25 * log(2) + 0.75 * log(1.5), tdds[2];

	(void)state;
	for (size_t e = 0; e < 4; e++) {
		table->extra[e][0] = table->extra[e][1] = p[0][e];
		other->extra[e][0] = other->extra[e][1] = p[1][e];
		observe(table, e, 0, p[0][e], true);
		observe(other, e, 0, p[1][e], true);
		if (e != 2)
			observe(table, e, 1, p[0][e], true);
		observe(other, e, 1, p[1][e], true);
		table->columns[e * STORE_COLUMN_MAX + columns[0]] =
		        (struct store_values){table->extra[e], table->present[e], false};
		table->columns[e * STORE_COLUMN_MAX + columns[1]] =
		        (struct store_values){other->extra[e], other->present[e], false};
	}
	/* moves 0, m, 0: both windows have mean m/2, and √(2 (m/2)²) = m/√2 */
	measures_tdds(&table->block, columns, 2, 3, tdds);
	assert_close(tdds[0], 0.99 * moved / sqrt(2), 1e-7);
	assert_close(tdds[1], 0.9 * moved / sqrt(2), 1e-7); /* moves 0, m: one window */
	measures_tdds(&table->block, columns, 2, 5, tdds);
	assert_true(isnan(tdds[0]) && isnan(tdds[1]));
	free(table);
	free(other);
}

/* Sixteen rows that saw the same epochs are worked on side by side; any row has what it has alone, gaps or not. */
static void
test_tdds_side_by_side(void **state)
{
	enum { ROWS = 40, EPOCHS = 8 };
	static const unsigned columns[2] = {STORE_COLUMN_USER, STORE_COLUMN_USER + 1};
	static float p[2][EPOCHS][ROWS];
	static uint64_t present[EPOCHS][STORE_CHUNK_WORDS];
	struct store_values *values = calloc((size_t)EPOCHS * STORE_COLUMN_MAX, sizeof(*values));
	struct store_block block = {.rows = ROWS, .epoch_count = EPOCHS, .columns = values};
	double together[ROWS], alone;

	(void)state;
	for (size_t e = 0; e < EPOCHS; e++) {
		for (size_t r = 0; r < ROWS; r++) {
			p[0][e][r] = (float)((e * 7 + r * 13) % 97 + 1) / 100;
			p[1][e][r] = 1 - p[0][e][r];
			if (r < 16 || (r != 20 && (r + e) % 11)) /* the first sixteen have no gap, and row 20 nothing */
				present[e][0] |= UINT64_C(1) << r;
		}
		for (size_t c = 0; c < 2; c++)
			values[e * STORE_COLUMN_MAX + columns[c]] = (struct store_values){p[c][e], present[e], false};
	}
	measures_tdds(&block, columns, 2, 3, together);
	for (size_t r = 0; r < ROWS; r++) {
		uint64_t one[EPOCHS][STORE_CHUNK_WORDS] = {{0}};

		for (size_t e = 0; e < EPOCHS; e++) {
			one[e][0] = present[e][0] >> r & 1;
			for (size_t c = 0; c < 2; c++)
				values[e * STORE_COLUMN_MAX + columns[c]] =
				        (struct store_values){p[c][e] + r, one[e], false};
		}
		block.rows = 1;
		measures_tdds(&block, columns, 2, 3, &alone);
		assert_memory_equal(&alone, &together[r], sizeof(alone));
	}
	assert_true(isnan(together[20]) && together[0] > 0);
	free(values);
}

static void
test_signals(void **state)
{
	struct table *table = table_new(2, 2);

	(void)state;
	observe(table, 0, 0, 0.4f, true);
	observe(table, 1, 0, 0.8f, true);
	table->extra[0][0] = 0.64f;
	table->extra[1][0] = 0.0f;
	add_column(table, STORE_OTHER_SQ);
	add_column(table, STORE_MARGIN);
	add_column(table, STORE_ENTROPY);
	add_column(table, STORE_MAX_PROB);
	compute(table, MEASURE_ALL);
	assert_close(table->out[MEASURE_EL2N][0], (1.0 + 0.2) / 2, 1e-6); /* √(0.36 + 0.64), √0.04 */
	assert_close(table->out[MEASURE_AUM][0], 0.32, 1e-7);
	assert_close(table->out[MEASURE_ENTROPY][0], 0.32, 1e-7);
	assert_close(table->out[MEASURE_MAX_PROB][0], 0.32, 1e-7);
	assert_true(isnan(table->out[MEASURE_EL2N][1]) && isnan(table->out[MEASURE_AUM][1]));
	free(table);
}

/* Gives every observation of an epoch a value of a further column. */
static void
add_values(struct table *table, unsigned column, float values[][ROWS_MAX])
{
	for (size_t e = 0; e < table->block.epoch_count; e++)
		table->columns[e * STORE_COLUMN_MAX + column] =
		        (struct store_values){values[e], table->present[e], false};
}

/* Computed by hand, at both sides of a tie, and where p is 0, or 1, as float32. */
static void
test_prob_margin(void **state)
{
	static float margin[2][ROWS_MAX], max_prob[2][ROWS_MAX];
	struct table *table = table_new(6, 2);

	(void)state;
	/* row 0: 0.5 0.3 0.2 and then 0.3 0.6 0.1, gold first: margins 0.2 and -0.3 */
	observe(table, 0, 0, 0.5f, true);
	margin[0][0] = logf(0.5f / 0.3f), max_prob[0][0] = 0.5f;
	observe(table, 1, 0, 0.3f, false);
	margin[1][0] = logf(0.3f / 0.6f), max_prob[1][0] = 0.6f;
	/* row 1: a tie */
	observe(table, 0, 1, 0.4f, true);
	margin[0][1] = 0, max_prob[0][1] = 0.4f;
	/* row 2: p underflows, the margin is without bound */
	observe(table, 0, 2, 0, false);
	margin[0][2] = -INFINITY, max_prob[0][2] = 0.75f;
	/* row 3: the others underflow */
	observe(table, 0, 3, 1, true);
	margin[0][3] = INFINITY, max_prob[0][3] = 1;
	/* row 4: both near one half, where the difference of two float32 has lost all but a digit */
	observe(table, 0, 4, 0.5f, true);
	margin[0][4] = 2e-7f, max_prob[0][4] = 0.5f;
	add_values(table, STORE_MARGIN, margin);
	add_values(table, STORE_MAX_PROB, max_prob);
	compute(table, MEASURE_BIT(MEASURE_PROB_MARGIN));
	assert_close(table->out[MEASURE_PROB_MARGIN][0], (0.2 - 0.3) / 2, 1e-7);
	assert_true(table->out[MEASURE_PROB_MARGIN][1] == 0);
	assert_true(table->out[MEASURE_PROB_MARGIN][2] == -0.75);
	assert_true(table->out[MEASURE_PROB_MARGIN][3] == 1);
	assert_close(table->out[MEASURE_PROB_MARGIN][4], 1e-7, 1e-13);
	assert_true(isnan(table->out[MEASURE_PROB_MARGIN][5]));

	/* an observation without one of the two counts nothing */
	table->columns[STORE_COLUMN_MAX + STORE_MAX_PROB] = (struct store_values){0};
	compute(table, MEASURE_BIT(MEASURE_PROB_MARGIN));
	assert_close(table->out[MEASURE_PROB_MARGIN][0], 0.2, 1e-7);
	free(table);
}

/* Finds "| `NAME` | MEANING |" in WORDS.md. The meaning, without the marks of code, becomes a text that ends with '\0'. */
static char *
find_meaning(char *words, const char *name)
{
	char key[64], *meaning, *end, *to;

	snprintf(key, sizeof(key), "\n| `%s` | ", name);
	meaning = strstr(words, key);
	if (!meaning)
		fail_msg("WORDS.md does not explain %s", name);
	meaning = to = strdup(meaning + strlen(key));
	end = strstr(meaning, " |\n");
	assert_non_null(end);
	*end = '\0';
	for (const char *from = meaning; (*to = *from); from++)
		to += *from != '`';
	return meaning;
}

/* The page for users says of each measure what the live page says. */
static void
test_words(void **state)
{
	FILE *file = fopen(WORDS_FILE, "r");
	char *words = calloc(1, 1 << 20);

	(void)state;
	assert_non_null(file);
	assert_true(fread(words, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	for (int m = 0; m < MEASURE_COUNT; m++) {
		char *meaning = find_meaning(words, measure_infos[m].name);

		assert_string_equal(measure_abouts[m], meaning);
		free(meaning);
	}
	free(words);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_hand_table),   cmocka_unit_test(test_one_epoch_and_none),
	        cmocka_unit_test(test_nearly_equal), cmocka_unit_test(test_loss),
	        cmocka_unit_test(test_tiles),        cmocka_unit_test(test_complete),
	        cmocka_unit_test(test_signals),      cmocka_unit_test(test_windows),
	        cmocka_unit_test(test_tdds),         cmocka_unit_test(test_tdds_side_by_side),
	        cmocka_unit_test(test_prob_margin),  cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

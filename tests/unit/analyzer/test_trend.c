/* test_trend.c: the common trend and the burn-in, beside plain double loops; with gaps, in any number of threads. */
#include "unit.h"

#include "measures/dynamics.h"
#include "measures/scan.h"

#include "store_fixture.h"

#define ROWS 1100u /* tiles without a gap, and a last one that is not full */
#define EPOCHS 12u
#define RUN_ROWS 40000u /* three blocks of the store */

static float p[EPOCHS][RUN_ROWS]; /* below 0: not observed */
static double confidence[RUN_ROWS];
static uint64_t state = 1;

/* From −1 to 1, about like a normal deviate. */
static double
noise(void)
{
	double sum = 0;

	for (unsigned i = 0; i < 4; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		sum += (double)(state >> 40) / (1 << 24) - 0.5;
	}
	return sum / 2;
}

/* Each example has its level; all follow `curve`; and each moves on its own. */
static void
make(const double curve[EPOCHS], double own, bool gaps)
{
	for (uint32_t r = 0; r < RUN_ROWS; r++) {
		double level = 0.5 + 0.2 * noise();

		for (uint32_t e = 0; e < EPOCHS; e++)
			p[e][r] = (float)(level + curve[e] + own * noise());
		for (uint32_t e = 0; gaps && e < EPOCHS; e++)
			if ((r * 7 + e * 13) % 11 == 3 || (r > 300 && r < 400 && e < 4) || r == 5)
				p[e][r] = -1;
	}
}

static double
mean_of(uint32_t row, size_t first)
{
	double sum = 0, n = 0;

	for (size_t e = first; e < EPOCHS; e++)
		if (p[e][row] >= 0) {
			sum += p[e][row];
			n++;
		}
	return n > 0 ? sum / n : NAN;
}

/* The sums of the first ROWS rows, in pieces of `size` rows. */
static void
sum_up(struct trend_epoch sums[EPOCHS], uint32_t size)
{
	static uint64_t present[EPOCHS][ROWS / 64 + 1];
	static struct store_values columns[EPOCHS * STORE_COLUMN_MAX];

	memset(present, 0, sizeof(present));
	memset(sums, 0, EPOCHS * sizeof(*sums));
	for (uint32_t r = 0; r < ROWS; r++) {
		confidence[r] = mean_of(r, 0);
		for (uint32_t e = 0; e < EPOCHS; e++)
			present[e][r / 64] |= (uint64_t)(p[e][r] >= 0) << r % 64;
	}
	for (uint32_t from = 0; from < ROWS; from += size) {
		struct store_block block = {
		        .rows = ROWS - from < size ? ROWS - from : size, .epoch_count = EPOCHS, .columns = columns};

		for (uint32_t e = 0; e < EPOCHS; e++)
			columns[e * STORE_COLUMN_MAX + STORE_GOLD_PROB] =
			        (struct store_values){&p[e][from], &present[e][from / 64], false};
		trend_add_block(sums, &block, confidence + from);
	}
}

/* The squared distances over the epochs from `first` on: of observations from their mean and from their example's, and
 * of the epochs' mean movements. */
static void
plain_squares(size_t first, double *total, double *within, double *trend)
{
	double sum = 0, n = 0, moved[EPOCHS] = {0}, seen[EPOCHS] = {0}, all = 0;

	*total = *within = *trend = 0;
	for (size_t e = first; e < EPOCHS; e++)
		for (uint32_t r = 0; r < ROWS; r++)
			if (p[e][r] >= 0) {
				sum += p[e][r];
				n++;
				moved[e] += p[e][r] - mean_of(r, 0);
				seen[e]++;
			}
	for (size_t e = first; e < EPOCHS; e++)
		all += moved[e] / n;
	for (size_t e = first; e < EPOCHS; e++) {
		*trend += seen[e] * pow(moved[e] / seen[e] - all, 2);
		for (uint32_t r = 0; r < ROWS; r++)
			if (p[e][r] >= 0) {
				*total += pow(p[e][r] - sum / n, 2);
				*within += pow(p[e][r] - mean_of(r, first), 2);
			}
	}
}

static void
check_shares(const struct trend_epoch sums[EPOCHS])
{
	struct trend_shares from[EPOCHS];

	trend_shares(sums, EPOCHS, from);
	for (size_t first = 0; first < EPOCHS - 1; first++) {
		struct trend_shares shares = from[first];
		double total, within, trend;

		plain_squares(first, &total, &within, &trend);
		assert_close(shares.examples, 1 - within / total, 1e-9);
		assert_close(shares.trend, trend / total, 1e-9);
		assert_close(shares.examples + shares.trend + shares.rest, 1, 1e-12);
		assert_close(trend_within(sums, EPOCHS, first), trend / within, 1e-9);
	}
}

static void
check_steps(const struct trend_epoch sums[EPOCHS])
{
	for (size_t e = 0; e < EPOCHS; e++) {
		double pairs = 0, step = 0, squares = 0;

		for (uint32_t r = 0; r < ROWS && e + 1 < EPOCHS; r++)
			if (p[e][r] >= 0 && p[e + 1][r] >= 0) {
				pairs++;
				step += (double)p[e + 1][r] - p[e][r];
				squares += pow((double)p[e + 1][r] - p[e][r], 2);
			}
		assert_true(sums[e].pairs == pairs);
		assert_close(sums[e].step, step, 1e-9);
		assert_close(sums[e].step_squares, squares, 1e-9);
	}
}

static void
test_sums(void **context)
{
	static const double curve[EPOCHS] = {-0.3, -0.1, 0, 0.02, 0.05, 0.05, 0.06, 0.04, 0.05, 0.07, 0.05, 0.06};
	struct trend_epoch sums[EPOCHS], pieces[EPOCHS];

	(void)context;
	for (unsigned gaps = 0; gaps < 2; gaps++) {
		make(curve, 0.1, gaps);
		sum_up(sums, ROWS);
		check_shares(sums);
		check_steps(sums);
		sum_up(pieces, 320);
		check_shares(pieces);
		check_steps(pieces);
	}
}

static size_t
burn_in(const double curve[EPOCHS], double own)
{
	struct trend_epoch sums[EPOCHS];

	make(curve, own, false);
	sum_up(sums, ROWS);
	return trend_burn_in(sums, EPOCHS);
}

static void
test_burn_in(void **context)
{
	/* from scratch: it learns for three epochs, and then hardly */
	static const double scratch[EPOCHS] = {-0.4, -0.2, -0.05, 0, 0, 0.01, 0, 0.01, 0.01, 0, 0.01, 0.01};
	/* from good weights: each epoch brings a little */
	static const double tuned[EPOCHS] = {0, 0.01, 0.02, 0.02, 0.03, 0.03, 0.03, 0.04, 0.04, 0.04, 0.04, 0.04};
	/* one that never stops: the fewest epochs are left */
	static const double endless[EPOCHS] = {-0.4,  -0.36, -0.32, -0.28, -0.24, -0.2,
	                                       -0.16, -0.12, -0.08, -0.04, 0,     0.04};
	/* it learns at once, and slowly goes on: steps with little in common, and a trend that is left out none the less */
	static const double slow[EPOCHS] = {-0.4, -0.1, -0.05, 0, 0.03, 0.06, 0.09, 0.1, 0.1, 0.1, 0.1, 0.1};
	static const double still[EPOCHS] = {0};

	(void)context;
	assert_int_equal(burn_in(scratch, 0.1), 3);
	assert_int_equal(burn_in(tuned, 0.1), 0);
	assert_int_equal(burn_in(still, 0.1), 0);
	assert_int_equal(burn_in(still, 0), 0); /* nothing moves at all */
	assert_int_equal(burn_in(endless, 0.01), EPOCHS - 3);
	assert_in_range(burn_in(slow, 0.15), 4, 6);
}

static void
test_few(void **context)
{
	struct trend_epoch sums[EPOCHS] = {0};
	struct trend_shares from[EPOCHS];

	(void)context;
	for (size_t e = 0; e < EPOCHS; e++) /* a step with all in common, between any two epochs */
		sums[e] = (struct trend_epoch){
		        .count = 9, .moved = 9.0 * (double)e, .pairs = 9, .step = 9, .step_squares = 9, .within = 1};
	for (size_t count = 0; count <= 3; count++)
		assert_int_equal(trend_burn_in(sums, count), 0);
	for (size_t count = 4; count <= EPOCHS; count++)
		assert_int_equal(trend_burn_in(sums, count), count - 3);
	assert_int_equal(trend_settled(sums, EPOCHS, 1), EPOCHS - 4);
	for (size_t e = 0; e < EPOCHS; e++)
		sums[e].pairs = 1; /* one example has everything in common with itself */
	assert_int_equal(trend_burn_in(sums, EPOCHS), 0);
	memset(sums, 0, sizeof(sums));
	assert_int_equal(trend_burn_in(sums, EPOCHS), 0);
	trend_shares(sums, EPOCHS, from);
	assert_true(trend_within(sums, EPOCHS, 0) == 0 && from[0].trend == 0 && from[0].examples == 0);
}

/* A run in the store, with gaps: its sums are the same to the last bit. */
static void
test_threads(void **context)
{
	static const double curve[EPOCHS] = {-0.3, -0.1};
	static uint64_t ids[RUN_ROWS];
	static float values[RUN_ROWS];
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", RUN_ROWS, NULL, 0);
	struct trend_epoch first[EPOCHS];

	(void)context;
	make(curve, 0.1, true);
	for (uint32_t e = 0; e < EPOCHS; e++) {
		struct fixture_batch batch = {.epoch = e, .ids = ids, .gold_prob = values};

		for (uint32_t r = 0; r < RUN_ROWS; r++)
			if (p[e][r] >= 0) {
				ids[batch.n] = r;
				values[batch.n++] = fminf(p[e][r], 1);
			}
		fixture_log(fixture, run, &batch);
	}
	fixture_end(fixture, run);
	fixture_close(fixture);
	for (unsigned threads = 1; threads <= 5; threads++) {
		struct run_query query = {
		        .store = fixture_directory(fixture), .epoch_to = UINT32_MAX, .threads = threads};
		struct dynamics_request request = {.measures = MEASURE_BIT(MEASURE_VARIABILITY), .trend = true};
		struct dynamics dynamics;

		assert_int_equal(dynamics_load(&dynamics, &query, "run", &request, NULL), 0);
		if (threads == 1)
			memcpy(first, dynamics.trend, sizeof(first));
		assert_memory_equal(dynamics.trend, first, sizeof(first));
		assert_int_equal(trend_burn_in(dynamics.trend, EPOCHS), 2);
		dynamics_free(&dynamics);
	}
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_sums),
	        cmocka_unit_test(test_burn_in),
	        cmocka_unit_test(test_few),
	        cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

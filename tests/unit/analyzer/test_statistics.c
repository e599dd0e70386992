/* test_statistics.c: correlations, logistic regression, mixtures, intervals of shares, and association. */
#include "unit.h"

#include "statistics/association.h"
#include "statistics/beta.h"
#include "statistics/correlation.h"
#include "statistics/logistic.h"
#include "statistics/mixture.h"
#include "statistics/proportion.h"
#include "statistics/regression.h"

static void
test_pearson(void **state)
{
	static const double x[4] = {1, 2, 3, 4}, y[4] = {2, 1, 4, 3}, down[4] = {8, 6, 4, 2};
	static const double tenths[3] = {0.1, 0.1, 0.1}, large[3] = {1e100, 2e100, 4e100};

	(void)state;
	assert_close(correlation_pearson(x, y, 4), 0.6, 1e-15); /* 3 / 5 */
	assert_true(correlation_pearson(x, x, 4) == 1);
	assert_true(correlation_pearson(x, down, 4) == -1);
	assert_true(isnan(correlation_pearson(tenths, x, 3))); /* though their mean is not quite 0.1 */
	assert_true(isnan(correlation_pearson(x, y, 1)));
	assert_true(isnan(correlation_pearson(x, y, 0)));
	assert_close(correlation_pearson(large, (const double[]){1e100, 2e100, 5e100}, 3),
	             correlation_pearson((const double[]){1, 2, 4}, (const double[]){1, 2, 5}, 3), 1e-15);
}

static void
test_correlation_interval(void **state)
{
	const double deviations = proportion_deviations(0.95);

	(void)state;
	assert_close(correlation_interval(0.6, 28, deviations).low, tanh(atanh(0.6) - 1.959963984540054 / 5), 1e-12);
	assert_close(correlation_interval(0.6, 28, deviations).high, tanh(atanh(0.6) + 1.959963984540054 / 5), 1e-12);
	assert_true(correlation_interval(0.6, 3, deviations).low == -1 &&
	            correlation_interval(0.6, 3, deviations).high == 1);
	assert_true(correlation_interval(-1, 9, deviations).low == -1 &&
	            correlation_interval(-1, 9, deviations).high == -1);
	assert_true(isnan(correlation_interval(NAN, 9, deviations).low) &&
	            isnan(correlation_interval(NAN, 2, deviations).high));
}

/* Three points by hand: x̄ = 1, ȳ = 2, Σ(x − x̄)² = 2, b = 3/2, residuals −½, 1, −½, so s² = 3/2. */
static void
test_regression(void **state)
{
	static const double x[3] = {0, 1, 2}, y[3] = {0, 3, 3}, same[3] = {0.1, 0.1, 0.1};
	struct regression fit = regression_of(x, y, 3);

	(void)state;
	assert_close(fit.slope, 1.5, 1e-15);
	assert_close(regression_line(&fit, 4), 6.5, 1e-15);
	assert_close(fit.error, sqrt(1.5), 1e-15);
	assert_close(regression_half_band(&fit, 1, 2), 2 * sqrt(0.5), 1e-15);
	assert_close(regression_half_band(&fit, 2, 1), sqrt(1.5 * (1.0 / 3 + 0.5)), 1e-15);
	assert_true(isnan(regression_of(x, y, 2).error) && regression_of(x, y, 2).slope == 3);
	assert_true(isnan(regression_of(same, y, 3).slope) && isnan(regression_of(x, y, 1).slope));
	assert_true(isnan(regression_of(x, y, 0).slope));
}

/* Student 1908; tables of the t distribution. With one degree of freedom it is Cauchy's, with two it has a formula. */
static void
test_student(void **state)
{
	(void)state;
	assert_close(student_deviations(0.95, 1), tan(0.475 * M_PI), 1e-9);
	assert_close(student_deviations(0.95, 2), 0.95 * sqrt(2 / (1 - 0.95 * 0.95)), 1e-9);
	assert_close(student_deviations(0.95, 10), 2.228138852, 1e-8);
	assert_close(student_deviations(0.99, 30), 2.749995654, 1e-8);
	assert_close(student_deviations(0.95, 1e6), proportion_deviations(0.95), 5e-6);
	assert_close(beta_incomplete(2, 3, 0.5), 0.6875, 1e-14); /* 11/16 */
	assert_true(beta_incomplete(2, 3, 0) == 0 && beta_incomplete(2, 3, 1) == 1);
}

static void
test_ranks(void **state)
{
	static const double values[6] = {0.5, -1, 0.5, 7, -0.0, 0};
	static const double expected[6] = {4.5, 1, 4.5, 6, 2.5, 2.5};
	struct sort_item items[12];
	double ranks[6];

	(void)state;
	correlation_ranks(values, 6, items, ranks);
	for (int i = 0; i < 6; i++)
		assert_true(ranks[i] == expected[i]);
	memcpy(ranks, values, sizeof(ranks));
	correlation_ranks(ranks, 6, items, ranks); /* in place */
	for (int i = 0; i < 6; i++)
		assert_true(ranks[i] == expected[i]);
	correlation_ranks(values, 0, items, ranks);
}

static void
test_logistic(void **state)
{
	static const double x[2] = {-1, 1};
	static const bool positive[2] = {false, true};
	static const double six[6] = {0.1, 0.2, 0.8, 0.3, 0.9, 0.95};
	static const bool low[6] = {true, true, true, false, false, false}, all[2] = {true, true};
	struct logistic model;

	(void)state;
	assert_true(logistic_fit(x, positive, 2, &model));
	/* By symmetry no intercept; the derivative w − 2/(1 + e^w) is 0 at w = 0.6748… */
	assert_close(model.intercept, 0, 1e-12);
	assert_close(model.weight, 2 / (1 + exp(model.weight)), 1e-12);
	assert_close(logistic_probability(&model, 1) + logistic_probability(&model, -1), 1, 1e-15);
	assert_true(logistic_fit(six, low, 6, &model));
	assert_close(model.weight, -0.44393866, 1e-6); /* scikit-learn 1.2.1, tol=1e-12 */
	assert_close(model.intercept, 0.24047746, 1e-6);
	assert_false(logistic_fit(x, all, 2, &model));
	assert_false(logistic_fit((const double[]){NAN, 1}, positive, 2, &model));
	assert_true(logistic_probability(&(struct logistic){1000, 0}, 10) == 1);
	assert_true(logistic_probability(&(struct logistic){1000, 0}, -10) == 0);
}

/* Far apart, the groups are what they look like. */
static void
test_mixture(void **state)
{
	static const double values[10] = {-5.1, -5, -4.9, 1, 2, 3, 1.5, 2.5, 2, 2};
	static const double probabilities[8] = {0.05, 0.1, 0.15, 0.1, 0.9, 0.8, 0.85, 0.95};
	struct mixture mixture;

	(void)state;
	assert_true(mixture_fit(MIXTURE_GAUSSIAN, values, 10, 0, &mixture));
	assert_true(mixture.converged);
	assert_close(mixture.low.share, 0.3, 1e-6);
	assert_close(mixture.low.mean, -5, 1e-6);
	assert_close(mixture.low.variance, 0.02 / 3, 1e-6);
	assert_close(mixture.high.mean, 2, 1e-6);
	assert_close(mixture.high.variance, 2.5 / 7, 1e-6);
	assert_close(mixture_low_share(&mixture, -5), 1, 1e-9);
	assert_close(mixture_low_share(&mixture, -100), 1, 1e-9); /* the wider group does not take over */
	assert_close(mixture_low_share(&mixture, 2), 0, 1e-9);
	assert_true(mixture_fit(MIXTURE_BETA, probabilities, 8, 0.5, &mixture));
	assert_close(mixture.low.share, 0.5, 1e-3);
	assert_close(mixture.low.mean, 0.1, 1e-3);
	assert_close(mixture.low.alpha / (mixture.low.alpha + mixture.low.beta), mixture.low.mean, 1e-12);
	assert_true(mixture_low_share(&mixture, 0) > 0.99 && mixture_low_share(&mixture, 1) < 0.01);
}

static void
test_no_mixture(void **state)
{
	double values[6] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
	struct mixture mixture;

	(void)state;
	assert_false(mixture_fit(MIXTURE_BETA, values, 6, 0.5, &mixture));
	assert_false(mixture_fit(MIXTURE_GAUSSIAN, values, 6, 0, &mixture));
	assert_false(mixture_fit(MIXTURE_GAUSSIAN, (const double[]){1, 2, 3}, 3, 0, &mixture));
	values[0] = 0; /* a group of one value does not close around it */
	values[1] = 0.4;
	if (mixture_fit(MIXTURE_BETA, values, 6, 0.3, &mixture))
		assert_true(mixture.low.variance > 0 && isfinite(mixture_low_share(&mixture, 0)));
}

static void
test_proportion(void **state)
{
	static const struct proportion_pair pair = {{{0, 2}, {12, 36}}}, never = {{{7, 0}, {0, 0}}},
	                                    none = {{{0, 0}, {0, 0}}};
	double deviations = proportion_deviations(0.95);
	struct proportion difference = proportion_difference(&pair, deviations);

	(void)state;
	assert_close(deviations, 1.959963984540054, 1e-12);
	assert_close(difference.share, -0.2, 1e-15);
	assert_close(difference.low, -0.3404, 5e-5); /* Newcombe 1998, Table II, method 10 (there first less second) */
	assert_close(difference.high, -0.0569, 5e-5);
	assert_close(proportion_of(15, 148, deviations).low, 0.0624, 5e-5); /* Newcombe 1998, one proportion, Wilson */
	assert_close(proportion_of(15, 148, deviations).high, 0.1605, 5e-5);
	assert_true(proportion_of(0, 7, deviations).low == 0 && proportion_of(7, 7, deviations).high == 1);
	difference = proportion_difference(&never, deviations);
	assert_true(difference.share == 0 && difference.low < 0 && difference.high == -difference.low);
	assert_true(isnan(proportion_difference(&none, deviations).low) &&
	            isnan(proportion_of(0, 0, deviations).share));
}

/* Adds what association_measure() says of each order of b[from..n) to the sums: how often, and of both statistics. */
static void
add_orders(const uint64_t *a, uint64_t *b, size_t from, size_t n, double sums[5])
{
	if (from == n) {
		struct association_pair pairs[8];
		uint64_t scratch[16];
		struct association found;

		for (size_t i = 0; i < n; i++)
			pairs[i] = (struct association_pair){a[i], b[i]};
		found = association_measure(pairs, n, scratch);
		sums[0]++;
		sums[1] += found.agree.value;
		sums[2] += found.agree.value * found.agree.value;
		sums[3] += found.chi_square.value;
		sums[4] += found.chi_square.value * found.chi_square.value;
	}
	for (size_t i = from; i < n; i++) {
		uint64_t kept = b[from];

		b[from] = b[i];
		b[i] = kept;
		add_orders(a, b, from + 1, n, sums);
		b[i] = b[from];
		b[from] = kept;
	}
}

/* Mean and variance are those over all orders, of 8 examples 40,320. */
static void
test_association_by_chance(void **state)
{
	static const uint64_t a[2][8] = {{0, 0, 1, 1, 2, 2, 3, 3}, {7, 7, 7, 7, 7, 7, 2, UINT64_MAX}};
	static const uint64_t b[2][8] = {{0, 0, 0, 1, 1, 1, 2, 0}, {7, 7, 7, 2, UINT64_MAX, UINT64_MAX, 5, 5}};

	(void)state;
	for (int t = 0; t < 2; t++) {
		struct association_pair pairs[8];
		uint64_t order[8], scratch[16];
		struct association found;
		double sums[5] = {0};

		for (size_t i = 0; i < 8; i++)
			pairs[i] = (struct association_pair){a[t][i], order[i] = b[t][i]};
		found = association_measure(pairs, 8, scratch);
		add_orders(a[t], order, 0, 8, sums);
		assert_true(sums[0] == 40320);
		assert_close(found.agree.mean, sums[1] / sums[0], 1e-9);
		assert_close(found.agree.variance, sums[2] / sums[0] - sums[1] / sums[0] * sums[1] / sums[0], 1e-9);
		assert_close(found.chi_square.mean, sums[3] / sums[0], 1e-9);
		assert_close(found.chi_square.variance, sums[4] / sums[0] - sums[3] / sums[0] * sums[3] / sums[0],
		             1e-9);
	}
}

static void
test_association(void **state)
{
	struct association_pair turned[8], one_class[4] = {{0, 0}, {1, 0}, {0, 0}, {2, 0}};
	uint64_t scratch[16];
	struct association found;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		turned[i] = (struct association_pair){i % 2, 1 - i % 2};
	found = association_measure(turned, 8, scratch);
	assert_true(found.agree.value == 0 && found.agree.mean == 4 && found.agree_most == 8);
	assert_close(found.chi_square.value, 8, 1e-12);
	assert_close(found.v, 1, 1e-12);
	assert_close(association_deviations(&found.agree, 0), -sqrt(7), 1e-12); /* variance: 4² · 4² / (8² · 7) · 4 */
	found = association_measure(one_class, 4, scratch);
	assert_true(found.v == 0 && found.chi_square.value == 0 && found.agree_most == 0);
	assert_true(association_deviations(&found.agree, found.agree_most) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_pearson),
	        cmocka_unit_test(test_correlation_interval),
	        cmocka_unit_test(test_regression),
	        cmocka_unit_test(test_student),
	        cmocka_unit_test(test_ranks),
	        cmocka_unit_test(test_logistic),
	        cmocka_unit_test(test_proportion),
	        cmocka_unit_test(test_mixture),
	        cmocka_unit_test(test_no_mixture),
	        cmocka_unit_test(test_association),
	        cmocka_unit_test(test_association_by_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

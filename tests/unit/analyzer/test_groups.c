/* test_groups.c: bootstrap intervals, summaries of groups, words of texts, and counts of forgetting. */
#include "unit.h"

#include "groups/forgetting.h"
#include "groups/summary.h"
#include "groups/words.h"
#include "statistics/bootstrap.h"

#include <portolan/portolan.h>

static void
test_interval(void **state)
{
	double values[5] = {5, 1, 4, 2, 3}, low, high;

	(void)state;
	bootstrap_interval(values, 5, 0.5, &low, &high);
	assert_true(low == 2 && high == 4);
	bootstrap_interval(values, 5, 0.95, &low, &high); /* 4 · 0.025 = 0.1 of the way from 1 to 2 */
	assert_close(low, 1.1, 1e-12);
	assert_close(high, 4.9, 1e-12);
	bootstrap_interval(values, 1, 0.95, &low, &high);
	assert_true(low == 1 && high == 1);
}

/* The replicates' mean is the sample's, their variance 1/n of the sample's. */
static void
test_bootstrap(void **state)
{
	enum { REPLICATES = 20000 };
	static const double values[4] = {0, 1, 2, 7}; /* mean 2.5, variance 7.25 */
	static const int32_t categories[5] = {0, 2, 2, 1, 2};
	static double means[REPLICATES], shares[3 * REPLICATES], again[REPLICATES];
	struct random_state random;
	double sum = 0, squares = 0, share = 0;

	(void)state;
	random_seed(&random, 1);
	bootstrap_means(&random, values, 4, means, REPLICATES);
	for (int r = 0; r < REPLICATES; r++) {
		sum += means[r] / REPLICATES;
		squares += (means[r] - 2.5) * (means[r] - 2.5) / REPLICATES;
	}
	assert_close(sum, 2.5, 0.05);
	assert_close(squares, 7.25 / 4, 0.1);
	random_seed(&random, 1);
	bootstrap_means(&random, values, 4, again, REPLICATES);
	assert_memory_equal(means, again, sizeof(means));
	bootstrap_shares(&random, categories, 5, 3, shares, REPLICATES);
	for (int r = 0; r < REPLICATES; r++) {
		share += shares[2 * REPLICATES + r] / REPLICATES;
		assert_close(shares[r] + shares[REPLICATES + r] + shares[2 * REPLICATES + r], 1, 1e-12);
	}
	assert_close(share, 0.6, 0.01);
	bootstrap_means(&random, values + 3, 1, means, 10); /* one value: nothing else can be drawn */
	assert_true(means[0] == 7 && means[9] == 7);
}

static void
test_summary(void **state)
{
	static const double length[8] = {1, 2, 3, 4, 5, NAN, 7, 8};
	static const int32_t source[8] = {0, 1, 0, 1, -1, 0, 0, 0}, gold[8] = {1, 1, 1, 1, 0, 0, -1, -1};
	static const bool selected[8] = {true, false, true, false, false, true, false, true};
	struct names names = {0};
	const struct summary_column columns[2] = {{.name = "length", .numbers = length},
	                                          {.name = "source", .categories = source, .names = &names}};
	struct summary_request request = {.columns = columns,
	                                  .column_count = 2,
	                                  .selected = selected,
	                                  .gold = gold,
	                                  .n = 8,
	                                  .replicates = 200,
	                                  .level = 0.9};
	struct summary_row *rows, *again;
	size_t count;

	(void)state;
	names_add(&names, "web", 3);
	names_add(&names, "book", 4);
	rows = summary_make(&request, &count);
	assert_int_equal(count, 4 + 8); /* labels all, 0, 1, none; two categories each */
	assert_int_equal(rows[0].gold, SUMMARY_ALL);
	assert_int_equal(rows[0].n, 7);
	assert_int_equal(rows[0].selected_n, 3);
	assert_close(rows[0].all, 30 / 7.0, 1e-15);
	assert_close(rows[0].selected, 4, 1e-15);
	assert_close(rows[0].difference, 4 - 30 / 7.0, 1e-15);
	assert_true(rows[0].low < rows[0].difference && rows[0].difference < rows[0].high);
	assert_int_equal(rows[1].gold, 0);
	assert_int_equal(rows[1].n, 1); /* the selected one has no length */
	assert_int_equal(rows[1].selected_n, 0);
	assert_true(rows[1].all == 5 && isnan(rows[1].selected) && isnan(rows[1].difference) && isnan(rows[1].low));
	assert_int_equal(rows[2].gold, 1);
	assert_true(rows[2].all == 2.5 && rows[2].selected == 2);
	assert_int_equal(rows[3].gold, -1);
	assert_true(rows[3].all == 7.5 && rows[3].selected == 8);
	assert_true(rows[3].low == 0.5 && rows[3].high == 0.5); /* one on either side: 1/2 · (8 − 7) */
	assert_int_equal(rows[4].n, 7);
	assert_close(rows[4].all, 5 / 7.0, 1e-15);
	assert_close(rows[4].selected, 1, 1e-15);
	assert_int_equal(rows[5].category, 1);
	assert_close(rows[5].all, 2 / 7.0, 1e-15);
	assert_close(rows[5].selected, 0, 1e-15);
	assert_close(rows[5].high, -rows[4].low, 1e-12); /* of two categories what one gains the other loses */
	assert_true(rows[6].gold == 0 && rows[6].all == 1 && rows[6].selected == 1 && rows[6].low == 0);
	again = summary_make(&request, &count);
	for (size_t i = 0; i < count; i++)
		assert_true(rows[i].low == again[i].low || isnan(rows[i].low));
	free(again);
	request.column_count = 1; /* a row does not depend on the others */
	request.seed = 5;
	again = summary_make(&request, &count);
	assert_int_equal(count, 4);
	assert_true(again[0].low != rows[0].low);
	free(again);
	free(rows);
	request.n = 4; /* one label: as if there were none */
	rows = summary_make(&request, &count);
	assert_int_equal(count, 1);
	free(rows);
	names_free(&names);
}

static void
test_words(void **state)
{
	struct words a = {0}, b = {0};

	(void)state;
	words_take(&a, "The man, the dog: isn't here. THE END!");
	assert_int_equal(a.count, 6); /* dog end here isn't man the */
	words_take(&b, "the end (dog)   \xc3\xa9t\xc3\xa9");
	assert_int_equal(b.count, 4);
	assert_close(words_overlap(&a, &b), 3 / 7.0, 1e-15);
	assert_close(words_overlap(&b, &a), 3 / 7.0, 1e-15);
	assert_true(words_overlap(&a, &a) == 1);
	assert_true(words_share(&a, &b));
	words_take(&b, "then do");
	assert_false(words_share(&a, &b)); /* the beginning of a word is not the word */
	assert_true(words_overlap(&a, &b) == 0);
	words_take(&b, " .,;");
	assert_int_equal(b.count, 0);
	assert_true(words_overlap(&a, &b) == 0);
	assert_true(isnan(words_overlap(&b, &b)));
	words_free(&a);
	words_free(&b);
}

static void
test_forgetting(void **state)
{
	static const double events[6] = {0, 2, 9, 0, 2, 1}, never[6] = {1, 0, 0, 0, 0, 0};
	static const uint32_t order[5] = {0, 1, 3, 4, 5}; /* 2 was not observed */
	struct forgetting result;

	(void)state;
	forgetting_count(events, never, order, 5, &result);
	assert_int_equal(result.bins, 3);
	assert_int_equal(result.histogram[0], 2);
	assert_int_equal(result.histogram[1], 1);
	assert_int_equal(result.histogram[2], 2);
	assert_int_equal(result.examples, 5);
	assert_int_equal(result.events, 5);
	assert_int_equal(result.forgotten, 3);
	assert_int_equal(result.never_learned, 1);
	forgetting_free(&result);
	forgetting_free(&result);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_interval), cmocka_unit_test(test_bootstrap),  cmocka_unit_test(test_summary),
	        cmocka_unit_test(test_words),    cmocka_unit_test(test_forgetting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

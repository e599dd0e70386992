/* test_pruning.c: the ways of choosing that pruning papers have published: groups that give evenly, strata, weights,
 * clusters. Numbers of the authors' code are in tests/cli/published_pruning.json too, with where they are from. */
#include "unit.h"

#include "selection/balanced.h"
#include "selection/beta.h"
#include "selection/strata.h"
#include "statistics/k_means.h"
#include "statistics/random.h"

#define GROUPS 7
#define N 1201

/* Draws `limit`, and counts what each group gave; no example may be there twice. */
static void
draw(const uint32_t *sizes, size_t least, uint64_t seed, size_t limit, uint32_t *ranked, uint32_t counts[GROUPS])
{
	static uint32_t list[N], groups[N];
	bool seen[N] = {false};
	struct random_state random;
	size_t n = 0;

	for (uint32_t g = 0; g < GROUPS; g++)
		for (uint32_t i = 0; i < sizes[g]; i++) {
			groups[n] = g;
			list[n] = (uint32_t)(N - 1 - n); /* not its place in the list */
			n++;
		}
	random_seed(&random, seed);
	balanced_order(list, groups, n, GROUPS, least, &random, limit, ranked);
	memset(counts, 0, GROUPS * sizeof(*counts));
	for (size_t i = 0; i < limit; i++) {
		assert_true(ranked[i] < N && !seen[ranked[i]]);
		seen[ranked[i]] = true;
		counts[groups[N - 1 - ranked[i]]]++;
	}
}

/* What the code published with S2L draws from clusters of these sizes (commit 2bc84dd): those of one or two come last. */
static void
test_clusters_give_evenly(void **state)
{
	static const uint32_t sizes[GROUPS] = {600, 300, 180, 100, 18, 2, 1};
	static const struct {
		size_t size;
		uint32_t counts[GROUPS];
	} published[] = {{5, {1, 1, 1, 1, 1, 0, 0}},
	                 {61, {13, 12, 12, 12, 12, 0, 0}},
	                 {500, {128, 127, 127, 100, 18, 0, 0}},
	                 {1190, {592, 300, 180, 100, 18, 0, 0}},
	                 {1198, {600, 300, 180, 100, 18, 0, 0}},
	                 {1200, {600, 300, 180, 100, 18, 1, 1}}};
	uint32_t ranked[N], whole[N], counts[GROUPS];

	(void)state;
	draw(sizes, 3, 5, N, whole, counts);
	assert_memory_equal(counts, sizes, sizeof(sizes));
	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++) {
		draw(sizes, 3, 5, published[i].size, ranked, counts);
		assert_memory_equal(ranked, whole, published[i].size * sizeof(*ranked));
		for (size_t g = 0; g + 2 < GROUPS; g++)
			assert_int_equal(counts[g], published[i].counts[g]);
		assert_int_equal(counts[5] + counts[6], published[i].counts[5] + published[i].counts[6]);
	}
}

/* Within a group all are drawn alike: each of the 18 in about a third of the draws of six. */
static void
test_members_are_drawn_alike(void **state)
{
	static const uint32_t sizes[GROUPS] = {0, 0, 0, 0, 18, 0, 0};
	uint32_t ranked[N], counts[GROUPS], times[N] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 3000; seed++) {
		draw(sizes, 1, seed, 6, ranked, counts);
		assert_int_equal(counts[4], 6);
		for (size_t i = 0; i < 6; i++)
			times[ranked[i]]++;
	}
	for (size_t i = 0; i < 18; i++) /* 1000 ± 26, five times */
		assert_in_range(times[N - 1 - i], 870, 1130);
}

static void
test_strata(void **state)
{
	static const double values[6] = {0, 0.25, 0.5, 1, -1, INFINITY};
	static const uint32_t list[6] = {3, 0, 5, 1, 4, 2};
	struct strata strata = {.values = values, .list = list, .n = 6, .count = 4, .seed = 1};
	uint32_t ranked[6];

	(void)state;
	assert_int_equal(strata_find(-1, -1, 1, 4), 0);
	assert_int_equal(strata_find(-0.5, -1, 1, 4), 1);
	assert_int_equal(strata_find(0.49, -1, 1, 4), 2);
	assert_int_equal(strata_find(1, -1, 1, 4), 3); /* the highest is in the last */
	assert_int_equal(strata_find(2, 2, 2, 4), 0);
	assert_int_equal(strata_rank(&strata, 6, ranked), 6);
	assert_int_equal(ranked[5], 5);                        /* is in no stratum */
	assert_int_equal(ranked[0] == 2 || ranked[0] == 3, 1); /* [0.5, 1] has two, as has [0, 0.5), which is earlier */
	strata.cut = 0.34;                                     /* the two lowest: −1 and 0 */
	assert_int_equal(strata_rank(&strata, 6, ranked), 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(ranked[i] != 4 && ranked[i] != 0);
	strata.descending = true; /* ∞ and 1 */
	assert_int_equal(strata_rank(&strata, 3, ranked), 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(ranked[i] != 5 && ranked[i] != 3);
	strata.n = 0;
	assert_int_equal(strata_rank(&strata, 3, ranked), 0);
}

/* b = 15 (1 − μ) (1 − r^c), a = 16 − b, by hand: μ = 0.5 of the two that have a score; r = 0.5, c = 1: b = 3.75. */
static void
test_beta_weights(void **state)
{
	static const double confidence[4] = {0.25, 0.75, 0.5, 1}, dual[4] = {0.2, 0.1, NAN, NAN};
	static const uint32_t order[4] = {2, 0, 3, 1};
	double weights[4];

	(void)state;
	beta_log_weights(confidence, dual, order, 4, 0.5, 1, weights);
	assert_close(weights[0], 11.25 * log(0.25) + 2.75 * log(0.75) + log(0.2), 1e-12);
	assert_close(weights[1], 11.25 * log(0.75) + 2.75 * log(0.25) + log(0.1), 1e-12);
	assert_true(isinf(weights[2]) && weights[2] < 0 && isinf(weights[3]) && weights[3] < 0);
	beta_draw(order, 4, 7, weights);
	assert_true(isfinite(weights[0]) && isfinite(weights[1]) && isinf(weights[2]));
}

/* Drawn first with a probability in proportion to the weight: 1 to 3. */
static void
test_beta_draws(void **state)
{
	static const uint32_t order[2] = {0, 1};
	unsigned first = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		double weights[2] = {log(1), log(3)};

		beta_draw(order, 2, seed, weights);
		first += weights[1] > weights[0];
	}
	assert_in_range(first, 2860, 3140); /* 3000 ± 27, five times */
}

/* Two groups on a line, and a centre that nothing is near to. */
static void
test_k_means(void **state)
{
	static const float points[6][2] = {{0, 0}, {10, 0}, {0, 1}, {11, 0}, {0, 2}, {12, 0}};
	static const uint32_t rows[6] = {0, 1, 2, 3, 4, 5}, turned[2] = {5, 0};
	double centres[3][2] = {{1, 0}, {100, 100}, {10, 0}};
	float room[3 * K_MEANS_PADDED(3)];
	size_t sizes[3];
	struct k_means means = {2, 3, &centres[0][0], room, sizes, 0};
	uint32_t labels[6];

	(void)state;
	k_means_fit(&means, &points[0][0], rows, 6, 20, labels);
	assert_close(centres[0][0], 0, 0);
	assert_close(centres[0][1], 1, 0);
	assert_close(centres[1][0], 100, 0); /* stays */
	assert_close(centres[2][0], 11, 0);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(labels[i], i % 2 ? 2 : 0);
	k_means_assign(&means, &points[0][0], turned, 2, labels);
	assert_true(labels[0] == 2 && labels[1] == 0);
	assert_int_equal(k_means_assign(&means, &points[0][0], turned, 2, labels), 0);
}

/* More centres than stand side by side. */
static void
test_many_centres(void **state)
{
	enum { CENTRES = 37 };
	float points[CENTRES], room[2 * K_MEANS_PADDED(CENTRES)];
	double centres[CENTRES];
	size_t sizes[CENTRES];
	struct k_means means = {1, CENTRES, centres, room, sizes, 0};
	uint32_t rows[CENTRES], labels[CENTRES];

	(void)state;
	for (uint32_t k = 0; k < CENTRES; k++) {
		centres[k] = k;
		points[k] = (float)((k * 5) % CENTRES) + 0.25f;
		rows[k] = k;
	}
	k_means_assign(&means, points, rows, CENTRES, labels);
	for (uint32_t k = 0; k < CENTRES; k++)
		assert_int_equal(labels[k], k * 5 % CENTRES);
	points[0] = 2.5f; /* as far from 2 as from 3 */
	k_means_assign(&means, points, rows, 1, labels);
	assert_int_equal(labels[0], 2);
}

/* The nearest centre as the header defines it: one sum after another, in float64. */
static uint32_t
nearest_centre(const struct k_means *means, const float *point)
{
	uint32_t nearest = 0;
	double best = INFINITY;

	for (uint32_t k = 0; k < means->clusters; k++) {
		double sum = 0;

		for (size_t d = 0; d < means->dimensions; d++) {
			double away = (double)point[d] - means->centres[k * means->dimensions + d];

			sum += away * away;
		}
		if (sum < best) {
			best = sum;
			nearest = k;
		}
	}
	return nearest;
}

/* Points near to, upon and far from centres, some of which are the same or nearly so; of common sizes, and of those that
 * float32 has no squares for. Those far away have three coordinates each. */
static void
check_nearest_centres(unsigned lanes, size_t dimensions, double size, bool far, uint64_t seed)
{
	enum { POINTS = 503, CENTRES = 53, DIMENSIONS = 47 };
	static const double nearly[] = {0, 1e-12, 1e-8, 1e-7, 1e-5};
	static float points[POINTS * DIMENSIONS], room[(DIMENSIONS + 1) * K_MEANS_PADDED(CENTRES)];
	static double centres[CENTRES * DIMENSIONS];
	size_t sizes[CENTRES];
	struct k_means means = {dimensions, CENTRES, centres, room, sizes, lanes};
	uint32_t rows[POINTS], labels[POINTS];
	struct random_state random;

	random_seed(&random, seed);
	for (uint32_t i = 0; i < POINTS; i++)
		for (size_t d = 0; d < dimensions; d++)
			points[i * dimensions + d] = (float)(size * (double)(random_below(&random, 5) + (i % 3 > 0)) *
			                                     (i % 2 ? 1 : 1 + 1e-7 * (double)random_below(&random, 4)));
	for (uint32_t k = 0; k < CENTRES; k++)
		for (size_t d = 0; d < dimensions; d++) /* each third one is nearly or quite as the one before */
			centres[k * dimensions + d] =
			        k % 3 == 2 ? centres[(k - 1) * dimensions + d] * (1 + nearly[random_below(&random, 5)])
			                   : (double)points[k * 9 * dimensions + d];
	for (uint32_t i = 0; i < POINTS && far && size < 1e33; i++) /* to be finite yet */
		for (size_t d = 0; d < dimensions; d++)
			points[i * dimensions + d] *=
			        (d + i) % dimensions < 3 ? 1e5f + (float)random_below(&random, 99991) : 0;
	for (uint32_t i = 0; i < POINTS; i++)
		rows[i] = (i * 5) % POINTS;
	k_means_assign(&means, points, rows, POINTS, labels);
	for (uint32_t i = 0; i < POINTS; i++)
		assert_int_equal(labels[i], nearest_centre(&means, points + rows[i] * dimensions));
}

/* Where one centre is clearly nearer than all others, float32 is certain of it: else the search would be of no use. */
static void
check_certainty(unsigned lanes)
{
	enum { CENTRES = 37 };
	static float room[2 * K_MEANS_PADDED(CENTRES)];
	double centres[CENTRES];
	size_t sizes[CENTRES];
	struct k_means means = {1, CENTRES, centres, room, sizes, lanes};
	const uint32_t rows[K_MEANS_POINTS] = {0, 1, 2, 3, 4, 5};
	const float points[K_MEANS_POINTS] = {0.25f, 35.75f, 16.25f, 18.75f, 3.5f, 30.25f};
	const float *each[K_MEANS_POINTS];
	uint32_t labels[K_MEANS_POINTS], found[K_MEANS_POINTS];

	for (uint32_t k = 0; k < CENTRES; k++)
		centres[k] = k;
	for (uint32_t p = 0; p < K_MEANS_POINTS; p++)
		each[p] = points + p;
	k_means_assign(&means, points, rows, K_MEANS_POINTS, labels);                    /* turns the centres */
	assert_int_equal(k_means_search_by(lanes)(room, CENTRES, 1, each, found), 0x2f); /* 3.5 is between two */
	for (uint32_t p = 0; p < K_MEANS_POINTS; p++)
		assert_true(p == 4 || found[p] == labels[p]);
}

/* Of points and centres of very different sizes, float32 gives infinities and no numbers, of either sign: it is certain of
 * nothing then, and names a centre that there is. In the first turn, one half of the centres gives no number, and then the
 * other half infinity; in the second, one centre gives −infinity, and another one is nearer. */
static void
check_infinities(unsigned lanes)
{
	enum { CENTRES = 33, POINTS = 200 };
	static const double large[] = {0, 5, -5, 1e19, 1.5e19, -3e14}, huge[] = {0, 3e38, -3e38, 1.2e19, -1e25, 1};
	static float room[3 * K_MEANS_PADDED(CENTRES)], points[2 * POINTS];
	double centres[2 * CENTRES];
	size_t sizes[CENTRES];
	struct k_means means = {2, CENTRES, centres, room, sizes, lanes};
	const float *each[K_MEANS_POINTS];
	uint32_t rows[POINTS], labels[POINTS], found[K_MEANS_POINTS];
	struct random_state random;

	random_seed(&random, 2);
	for (unsigned turn = 0; turn < 22; turn++) {
		for (uint32_t k = 0; k < 2 * CENTRES; k++)
			centres[k] = turn == 0   ? (k % 2 || k < CENTRES ? 5 : 0)
			             : turn == 1 ? (k % 2   ? 0
			                            : k > 0 ? 1e19
			                                    : 1.5e19)
			                         : large[random_below(&random, 6)];
		for (uint32_t i = 0; i < 2 * POINTS; i++)
			points[i] = (float)(turn == 0   ? (i % 2 ? -3e38 : 3e38)
			                    : turn == 1 ? (i % 2 ? 0 : 1.2e19)
			                                : huge[random_below(&random, 6)]);
		for (uint32_t i = 0; i < POINTS; i++)
			rows[i] = i;
		k_means_assign(&means, points, rows, POINTS, labels);
		for (uint32_t i = 0; i < POINTS; i++)
			assert_int_equal(labels[i], nearest_centre(&means, points + 2 * i));
		for (uint32_t i = 0; i + K_MEANS_POINTS <= POINTS; i += K_MEANS_POINTS) {
			for (uint32_t p = 0; p < K_MEANS_POINTS; p++)
				each[p] = points + 2 * (i + p);
			k_means_search_by(lanes)(room, CENTRES, 2, each, found);
			for (uint32_t p = 0; p < K_MEANS_POINTS; p++)
				assert_true(found[p] < CENTRES);
		}
	}
}

/* In registers of every width that this processor has. */
static void
test_nearest_centres(void **state)
{
	static const unsigned lanes[] = {0, 4, 8, 16};
	static const double sizes[] = {1, 1e-3, 90, 1e-25, 1e-22, 1e15, 1e25, 1e32, 1e37};

	(void)state;
	assert_non_null(k_means_search_by(0));
	assert_non_null(k_means_search_by(4));
	assert_null(k_means_search_by(5));
	for (size_t i = 0; i < sizeof(lanes) / sizeof(*lanes); i++)
		if (k_means_search_by(lanes[i])) {
			for (unsigned which = 0; which < 8 * sizeof(sizes) / sizeof(*sizes); which++) {
				check_nearest_centres(lanes[i], 7, sizes[which / 8], which % 2, which);
				check_nearest_centres(lanes[i], 47, sizes[which / 8], which % 2, which);
			}
			check_certainty(lanes[i]);
			check_infinities(lanes[i]);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_clusters_give_evenly),
	        cmocka_unit_test(test_members_are_drawn_alike),
	        cmocka_unit_test(test_strata),
	        cmocka_unit_test(test_beta_weights),
	        cmocka_unit_test(test_beta_draws),
	        cmocka_unit_test(test_k_means),
	        cmocka_unit_test(test_many_centres),
	        cmocka_unit_test(test_nearest_centres),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

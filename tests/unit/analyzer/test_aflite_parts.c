/* test_aflite_parts.c: drawing training sets, taking slices, factors, labels: the parts of aflite by hand. */
#include "unit.h"

#include "aflite/factor.h"
#include "aflite/labels.h"
#include "aflite/slice.h"
#include "aflite/training.h"
#include "base/status.h"
#include "statistics/random.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t *
identity(size_t n)
{
	uint32_t *rows = malloc((n + 1) * sizeof(*rows));

	assert_non_null(rows);
	for (size_t i = 0; i < n; i++)
		rows[i] = (uint32_t)i;
	return rows;
}

static size_t
count_bits(const struct training *training, size_t set)
{
	size_t count = 0;

	for (size_t w = 0; w < training->words; w++)
		count += (size_t)__builtin_popcountll(training->bits[set * training->words + w]);
	return count;
}

static bool
has(const struct training *training, size_t set, size_t row)
{
	return training->bits[set * training->words + row / 64] >> row % 64 & 1;
}

/* Exactly so many, whatever the share; another set for another seed, phase or number; the same for the same. */
static void
test_draw(void **state)
{
	static const size_t sizes[] = {1, 2, 50, 63, 64, 65, 99, 100, 129};
	uint32_t *rows = identity(130);
	struct training training;

	(void)state;
	training_init(&training, 4, 130, 2);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		training_draw(&training, 0, 1, 0, sizes[s], rows);
		training_draw(&training, 1, 1, 0, sizes[s], rows);
		assert_int_equal(count_bits(&training, 0), sizes[s]);
		assert_int_equal(training.sizes[0], sizes[s]);
		assert_int_equal(training.bits[2] >> 2, 0); /* nothing beyond row 129 */
	}
	training_draw(&training, 0, 1, 0, 60, rows);
	memcpy(training.bits + training.words, training.bits, training.words * sizeof(uint64_t));
	training_draw(&training, 0, 1, 0, 60, rows);
	assert_memory_equal(training.bits, training.bits + training.words, training.words * sizeof(uint64_t));
	training_draw(&training, 0, 1, 1, 60, rows);
	assert_memory_not_equal(training.bits, training.bits + training.words, training.words * sizeof(uint64_t));
	training_draw(&training, 0, 2, 0, 60, rows);
	assert_memory_not_equal(training.bits, training.bits + training.words, training.words * sizeof(uint64_t));
	training_free(&training);
	free(rows);
}

/* Every example is drawn about as often: 2,000 sets of 30 of 130; standard deviation of a count: 18.8. */
static void
test_draw_evenly(void **state)
{
	uint32_t *rows = identity(130), counts[130] = {0};
	struct training training;

	(void)state;
	training_init(&training, 1, 130, 2);
	for (uint64_t phase = 0; phase < 2000; phase++) {
		training_draw(&training, 0, 5, phase, 30, rows);
		for (size_t row = 0; row < 130; row++)
			counts[row] += has(&training, 0, row);
	}
	for (size_t row = 0; row < 130; row++)
		assert_true(counts[row] > 461 - 85 && counts[row] < 461 + 85);
	training_free(&training);
	free(rows);
}

static void
test_draw_groups(void **state)
{
	uint32_t group[90], members[30] = {0}, order[30];
	uint8_t chosen[30];
	struct training training;

	(void)state;
	for (size_t row = 0; row < 90; row++)
		members[group[row] = (uint32_t)(row * 7 % 30)]++;
	training_init(&training, 1, 90, 2);
	for (uint64_t phase = 0; phase < 50; phase++) {
		training_draw_groups(&training, 0, 3, phase, 40, group, members, 30, order, chosen);
		assert_int_equal(training.sizes[0], 39); /* groups of three */
		assert_int_equal(count_bits(&training, 0), 39);
		for (size_t a = 0; a < 90; a++)
			for (size_t b = 0; b < a; b++)
				assert_true(group[a] != group[b] || has(&training, 0, a) == has(&training, 0, b));
	}
	training_draw_groups(&training, 0, 3, 0, 2, group, members, 30, order, chosen);
	assert_int_equal(training.sizes[0], 0); /* none fits */
	training_free(&training);
}

/* However many groups are too large, the one that is not is found. */
static void
test_draw_the_small_group(void **state)
{
	enum { GROUPS = 400, ROWS = 3 * GROUPS - 2 };
	uint32_t group[ROWS], members[GROUPS] = {0}, order[GROUPS];
	uint8_t chosen[GROUPS];
	struct training training;

	(void)state;
	for (size_t row = 0; row < ROWS; row++)
		members[group[row] = (uint32_t)(row / 3)]++;
	assert_int_equal(members[GROUPS - 1], 1);
	training_init(&training, 1, ROWS, 2);
	for (uint64_t phase = 0; phase < 20; phase++) {
		training_draw_groups(&training, 0, 3, phase, 2, group, members, GROUPS, order, chosen);
		assert_int_equal(training.sizes[0], 1);
		assert_true(has(&training, 0, ROWS - 1));
	}
	training_free(&training);
}

static void
test_survey_classes(void **state)
{
	static const uint16_t labels[70] = {[0] = 1, [1] = 3, [2] = 1, [69] = 3, [5] = 2};
	uint32_t counts[4];
	struct training training;

	(void)state;
	training_init(&training, 1, 70, 4);
	memset(training.bits, 0, training.words * sizeof(uint64_t));
	training.bits[0] = 1 | 2 | 4;
	training.bits[1] = 1u << 5;
	training_survey(&training, 0, labels, counts);
	assert_int_equal(training.present[0], 2);
	assert_true(training_lacks_classes(&training, 0));
	/* class 1 is the first there is: it is the reference, and class 0 has its slot */
	assert_int_equal(training.slots[1], 0);
	assert_int_equal(training.slots[0], 1);
	assert_int_equal(training.slots[2], 2);
	assert_int_equal(training.slots[3], 3);
	assert_true(!training.absent[0] && training.absent[1] && training.absent[2] && !training.absent[3]);
	training_free(&training);
}

/* p: 1, 1, 0.75, 1, never, 0.5, 0.75, 1; margins beside them. */
static const uint32_t made[8] = {4, 2, 4, 3, 0, 2, 8, 1}, correct[8] = {4, 2, 3, 3, 0, 1, 6, 1};
static const float margins[8] = {1, 3, 9, 2, 9, 9, 8, 3};

static struct slice
take(size_t size, double threshold, enum slice_heuristic heuristic, enum slice_ties ties, uint64_t seed)
{
	uint32_t *order = identity(8);
	struct slice_request request = {.made = made,
	                                .correct = correct,
	                                .margins = margins,
	                                .order = order,
	                                .count = 8,
	                                .size = size,
	                                .threshold = threshold,
	                                .heuristic = heuristic,
	                                .ties = ties,
	                                .seed = seed};
	struct slice slice;

	slice = slice_take(&request);
	free(order);
	return slice;
}

static unsigned
mask_of(struct slice *slice)
{
	unsigned mask = 0;

	for (size_t i = 0; i < slice->count; i++)
		mask |= 1u << slice->rows[i];
	free(slice->rows);
	return mask;
}

static void
test_slice(void **state)
{
	struct slice slice;

	(void)state;
	slice = take(2, 0.75, SLICE_BEST, SLICE_TIES_MARGIN, 0);
	assert_true(slice.count == 2 && slice.qualified == 6 && slice.lowest == 1 && slice.tied == 4 &&
	            slice.tied_removed == 2);
	assert_int_equal(mask_of(&slice), 1u << 1 | 1u << 7);
	slice = take(3, 0.75, SLICE_BEST, SLICE_TIES_MARGIN, 0);
	assert_int_equal(mask_of(&slice), 1u << 1 | 1u << 7 | 1u << 3);
	slice = take(2, 0.75, SLICE_BEST, SLICE_TIES_INDEX, 0);
	assert_int_equal(mask_of(&slice), 1u << 0 | 1u << 1);
	slice = take(5, 0.75, SLICE_BEST, SLICE_TIES_MARGIN, 0); /* all with p = 1, then the larger margin of 0.75 */
	assert_true(slice.lowest == 0.75 && slice.tied == 2 && slice.tied_removed == 1);
	assert_int_equal(mask_of(&slice), 1u << 0 | 1u << 1 | 1u << 3 | 1u << 7 | 1u << 2);
	slice = take(8, 0.75, SLICE_BEST, SLICE_TIES_HASH, 0);
	assert_true(slice.count == 6 && slice.qualified == 6);
	assert_int_equal(mask_of(&slice), 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 6 | 1u << 7);
	slice = take(8, 0, SLICE_BEST, SLICE_TIES_MARGIN, 0); /* who was never predicted stays */
	assert_int_equal(mask_of(&slice), 0xff & ~(1u << 4));
	slice = take(3, 1, SLICE_BEST, SLICE_TIES_MARGIN, 0);
	assert_int_equal(mask_of(&slice) & ~(1u << 0 | 1u << 1 | 1u << 3 | 1u << 7), 0);
}

/* Ties by chance: each of the four with p = 1 about as often, 2 of 4 in 4,000 draws. */
static void
test_slice_hash(void **state)
{
	unsigned counts[8] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct slice slice = take(2, 0.75, SLICE_BEST, SLICE_TIES_HASH, seed);
		unsigned mask = mask_of(&slice);

		for (unsigned i = 0; i < 8; i++)
			counts[i] += mask >> i & 1;
	}
	assert_int_equal(counts[0] + counts[1] + counts[3] + counts[7], 8000);
	for (unsigned i = 0; i < 8; i++)
		assert_true(counts[i] == 0 || (counts[i] > 1870 && counts[i] < 2130));
}

/* One drawn with probability p / Σ p: 1 of 6 for p = 1 (of 4 · 1 + 2 · 0.75 + 0.5), 0.125 for 0.75, 0.0833 for 0.5. */
static void
test_slice_sample(void **state)
{
	unsigned counts[8] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 6000; seed++) {
		struct slice slice = take(1, 0, SLICE_SAMPLE, SLICE_TIES_MARGIN, seed);
		unsigned mask = mask_of(&slice);

		for (unsigned i = 0; i < 8; i++)
			counts[i] += mask >> i & 1;
	}
	assert_int_equal(counts[4], 0);
	for (unsigned i = 0; i < 8; i++) {
		double p = made[i] ? correct[i] / (double)made[i] / 6 : 0;

		assert_close(counts[i], 6000 * p, 4.5 * sqrt(6000 * p * (1 - p)));
	}
}

#define ORDER 101
#define WIDE 112

/* A = B Bᵀ + I: L Lᵀ gives it back, and L⁻¹ L is 1. Sizes around the blocks. */
static void
test_factors(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 47, 48, 49, 96, ORDER};
	double *a = malloc(2 * ORDER * ORDER * sizeof(*a)), *l = a + ORDER * ORDER;
	float *m = aligned_alloc(64, (ORDER + FACTOR_BLOCK) * WIDE * sizeof(*m));
	struct random_state random;

	(void)state;
	assert_true(a && m);
	random_seed(&random, 1);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		size_t n = sizes[s];

		for (size_t i = 0; i < n * n; i++)
			l[i] = (double)random_next(&random) * 0x1p-63 - 1;
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++) {
				a[i * n + j] = i == j;
				for (size_t k = 0; k < n; k++)
					a[i * n + j] += l[i * n + k] * l[j * n + k];
			}
		memcpy(l, a, n * n * sizeof(*a));
		assert_true(factor_cholesky(l, n));
		factor_invert(l, n, kernels_best(), m, WIDE, m + ORDER * WIDE);
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++) {
				double product = 0, identity_value = 0;

				for (size_t k = 0; k <= (i < j ? i : j); k++)
					product += l[i * n + k] * l[j * n + k];
				for (size_t k = j; k <= i; k++)
					identity_value += m[i * WIDE + k] * l[k * n + j];
				assert_close(product, a[i * n + j], 1e-10);
				assert_close(identity_value, i == j, 1e-4);
			}
	}
	a[0] = a[3] = 1;
	a[1] = a[2] = 2;
	assert_false(factor_cholesky(a, 2));
	free(a);
	free(m);
}

static void
test_eigen(void **state)
{
	double a[9] = {2, 1, 0, 1, 2, 0, 0, 0, 5}, v[9]; /* 1, 3 and 5 */

	(void)state;
	factor_eigen(a, v, 3);
	assert_close(a[0] + a[4] + a[8], 9, 1e-12);
	assert_close(a[0] * a[4] * a[8], 15, 1e-12);
	assert_close(a[8], 5, 1e-12);
	for (size_t k = 0; k < 3; k++) { /* A v = λ v */
		assert_close(2 * v[k] + v[3 + k], a[k * 3 + k] * v[k], 1e-12);
		assert_close(v[k] + 2 * v[3 + k], a[k * 3 + k] * v[3 + k], 1e-12);
		assert_close(5 * v[6 + k], a[k * 3 + k] * v[6 + k], 1e-12);
	}
}

static struct labels
read_text(const char *text, const char *field, const char *ending)
{
	struct labels labels;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "labels-%d%s", (int)getpid(), ending);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	labels_read(&labels, "--labels", path, "--label-field", field, NULL);
	unlink(path);
	return labels;
}

/* Whether the program ends with a message that has `expected` in it, in a child of this one. */
static bool
is_refused(const char *text, const char *field, const char *ending, const char *expected)
{
	char message[256] = "", path[64];
	int pipes[2], status;
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	fflush(stdout); /* which die() writes, too */
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(pipes[1], STDERR_FILENO);
		read_text(text, field, ending);
		_exit(0);
	}
	close(pipes[1]);
	assert_true(read(pipes[0], message, sizeof(message) - 1) >= 0);
	close(pipes[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	snprintf(path, sizeof(path), "labels-%d%s", (int)child, ending);
	unlink(path);
	return WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FAILED && strstr(message, expected);
}

static void
test_labels(void **state)
{
	struct labels labels = read_text("10\n9\n-1\n10\n", NULL, ".txt");

	(void)state;
	assert_true(labels.count == 4 && labels.class_count == 3); /* as numbers: −1, 9, 10 */
	assert_true(labels.values[0] == 2 && labels.values[1] == 1 && labels.values[2] == 0 && labels.values[3] == 2);
	assert_string_equal(labels.names[0], "-1");
	assert_true(labels.examples[2] == 2);
	assert_true(labels_gap(&labels) == -1); /* does not begin at 0 or 1 */
	labels_free(&labels);
	labels = read_text("10\nb\n9\r\n", NULL, ".txt"); /* as texts */
	assert_true(labels.values[0] == 0 && labels.values[1] == 2 && labels.values[2] == 1);
	assert_true(labels_gap(&labels) == -1);
	labels_free(&labels);
	labels = read_text("0\n2\n3\n", NULL, ".txt");
	assert_true(labels_gap(&labels) == 1);
	labels_free(&labels);
	labels = read_text("{\"y\": \"no\"}\n{\"y\": \"yes\", \"x\": 1}\n", "y", ".jsonl");
	assert_true(labels.count == 2 && labels.class_count == 2 && labels.values[1] == 1);
	labels_free(&labels);
	labels = read_text("id,y\n7,1\n8,0\n", "y", ".csv");
	assert_true(labels.count == 2 && labels.values[0] == 1);
	labels_free(&labels);
	assert_true(is_refused("{\"y\": 1}\n{\"z\": 1}\n", "y", ".jsonl", "has no field 'y', or it is empty"));
	assert_true(is_refused("{\"y\": 1}\n{\"y\": [1]}\n", "y", ".jsonl", "is neither text, number nor truth value"));
	assert_true(is_refused("id,y\n7,1\n8,\n", "y", ".csv", "has no field 'y', or it is empty"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_draw),           cmocka_unit_test(test_draw_evenly),
	        cmocka_unit_test(test_draw_groups),    cmocka_unit_test(test_draw_the_small_group),
	        cmocka_unit_test(test_survey_classes), cmocka_unit_test(test_slice),
	        cmocka_unit_test(test_slice_hash),     cmocka_unit_test(test_slice_sample),
	        cmocka_unit_test(test_factors),        cmocka_unit_test(test_eigen),
	        cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

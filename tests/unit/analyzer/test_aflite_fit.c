/* test_aflite_fit.c: classifiers: gradients beside differences, the search beside plain descent and scikit-learn. */
#include "unit.h"

#include "aflite/checkpoint.h"
#include "aflite/lockstep.h"
#include "aflite/predict.h"
#include "aflite/sweep.h"
#include "statistics/random.h"

struct made {
	struct matrix matrix;
	uint16_t *labels;
	uint32_t *counts;
	struct problem problem;
	struct training training;
	float *weights;
	size_t length;
};

static double
gauss(struct random_state *random)
{
	double sum = 0;

	for (unsigned i = 0; i < 12; i++)
		sum += (double)random_next(random) * 0x1p-64;
	return sum - 6;
}

static void
allocate(struct made *made, size_t rows, size_t features, size_t classes, size_t sets)
{
	made->matrix = (struct matrix){.rows = rows, .features = features, .stride = matrix_stride(features)};
	made->matrix.values = aligned_alloc(64, rows * made->matrix.stride * sizeof(float));
	made->labels = calloc(rows, sizeof(*made->labels));
	made->counts = calloc(classes, sizeof(*made->counts));
	made->length = (classes - 1) * made->matrix.stride;
	made->weights = aligned_alloc(64, sets * made->length * sizeof(float));
	assert_true(made->matrix.values && made->labels && made->counts && made->weights);
	memset(made->matrix.values, 0, rows * made->matrix.stride * sizeof(float));
	memset(made->weights, 0, sets * made->length * sizeof(float));
	for (size_t row = 0; row < rows; row++)
		made->matrix.values[row * made->matrix.stride + features] = 1;
	made->problem = (struct problem){.matrix = &made->matrix,
	                                 .labels = made->labels,
	                                 .classes = classes,
	                                 .lambda = 1,
	                                 .kernels = kernels_best(),
	                                 .threads = 1};
	training_init(&made->training, sets, rows, classes);
}

/* Clouds around the classes' centres. */
static void
make(struct made *made, size_t rows, size_t features, size_t classes, size_t sets, size_t size)
{
	double *centres = malloc(classes * features * sizeof(*centres));
	uint32_t *by_rank = malloc(rows * sizeof(*by_rank));
	struct random_state random;

	allocate(made, rows, features, classes, sets);
	assert_true(centres && by_rank);
	random_seed(&random, rows + features);
	for (size_t i = 0; i < classes * features; i++)
		centres[i] = 1.5 * gauss(&random) / sqrt((double)features);
	for (size_t row = 0; row < rows; row++) {
		made->labels[row] = (uint16_t)random_below(&random, classes);
		by_rank[row] = (uint32_t)row;
		for (size_t f = 0; f < features; f++)
			made->matrix.values[row * made->matrix.stride + f] =
			        (float)(centres[made->labels[row] * features + f] + gauss(&random));
	}
	for (size_t set = 0; set < sets; set++) {
		training_draw(&made->training, set, 1, 0, size, by_rank);
		training_survey(&made->training, set, made->labels, made->counts);
	}
	free(centres);
	free(by_rank);
}

static void
unmake(struct made *made)
{
	free(made->matrix.values);
	free(made->labels);
	free(made->counts);
	free(made->weights);
	training_free(&made->training);
}

/* Objective of the set, and its gradient. */
static double
objective(const struct made *made, const float *weights, size_t set, double *gradient)
{
	size_t sets = made->training.count;
	bool *active = malloc(sets);
	double *gradients = malloc(sets * made->length * sizeof(double)), *losses = malloc(sets * sizeof(double)),
	       value;
	struct sweep sweep = {.problem = &made->problem,
	                      .training = &made->training,
	                      .weights = weights,
	                      .active = active,
	                      .gradients = gradients,
	                      .losses = losses};

	assert_true(active && gradients && losses);
	memset(active, 1, sets);
	sweep_run(&sweep);
	memcpy(gradient, gradients + set * made->length, made->length * sizeof(double));
	value = losses[set] +
	        lockstep_penalise(&made->problem, &made->training, set, weights + set * made->length, gradient);
	free(active);
	free(gradients);
	free(losses);
	return value;
}

static void
test_gradient(void **state)
{
	struct made made;
	double *gradient, *other;

	(void)state;
	make(&made, 700, 20, 4, 3, 150);
	gradient = malloc(2 * made.length * sizeof(double));
	assert_non_null(gradient);
	other = gradient + made.length;
	for (size_t i = 0; i < 3 * made.length; i++)
		made.weights[i] = i % 32 <= 20 ? (float)((double)(i * 37 % 101) / 200 - 0.25) : 0;
	objective(&made, made.weights, 1, gradient);
	for (size_t i = 0; i < made.length; i += 7) {
		float *at = made.weights + made.length + i, before = *at;
		double up, down;

		if (i % 32 > 20)
			continue;
		*at = before + 0x1p-6f;
		up = objective(&made, made.weights, 1, other);
		*at = before - 0x1p-6f;
		down = objective(&made, made.weights, 1, other);
		*at = before;
		assert_close(gradient[i], (up - down) / 0x1p-5, 0.03);
	}
	free(gradient);
	unmake(&made);
}

static float *
fit_lockstep(const struct made *made, double tolerance, bool warm)
{
	struct lockstep lockstep = {.tolerance = tolerance, .iterations_most = 500};
	size_t rows = made->matrix.rows, floats = made->training.count * made->length;
	float *weights = aligned_alloc(64, floats * sizeof(float));
	uint32_t *sample = malloc(rows * sizeof(*sample));
	struct fit_report report;
	struct curvature curvature;
	struct portolan_error error;

	assert_true(weights && sample);
	for (size_t row = 0; row < rows; row++)
		sample[row] = (uint32_t)row;
	if (warm)
		memcpy(weights, made->weights, floats * sizeof(float));
	else
		memset(weights, 0, floats * sizeof(float));
	curvature_init(&curvature, made->problem.classes - 1, made->matrix.features + 1);
	assert_int_equal(
	        curvature_make(&curvature, &made->problem, weights, made->training.sizes[0], sample, rows, &error), 0);
	report = lockstep_fit(&lockstep, &made->problem, &made->training, &curvature, weights);
	assert_int_equal(report.unfinished, 0);
	curvature_free(&curvature);
	free(sample);
	return weights;
}

static double
largest_difference(const float *a, const float *b, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs((double)a[i] - b[i]));
	return most;
}

#define DESCENT_CLASSES 5
#define DESCENT_ORDER 16

/* p[c] of a row, of the classes that are there: softmax(w x). */
static void
probabilities(const struct made *made, size_t set, size_t row, double (*w)[DESCENT_ORDER], double *p)
{
	size_t classes = made->problem.classes, order = made->matrix.features + 1;
	const uint16_t *slots = made->training.slots + set * classes;
	const uint8_t *absent = made->training.absent + set * classes;
	double sum = 0;

	for (size_t c = 0; c < classes; c++) {
		p[c] = 0;
		for (size_t f = 0; f < order; f++)
			p[c] += w[c][f] * matrix_row(&made->matrix, row)[f];
		p[c] = absent[slots[c]] ? 0 : exp(p[c]);
		sum += p[c];
	}
	for (size_t c = 0; c < classes; c++)
		p[c] /= sum;
}

/*
 * The set's classifier as scikit-learn defines it, by accelerated descent in double precision: weights of each class,
 * all penalised; of two classes the first has none. Into `weights` as the search has them: relative to slot 0.
 */
static void
descend(const struct made *made, size_t set, float *weights)
{
	size_t classes = made->problem.classes, features = made->matrix.features;
	const uint16_t *slots = made->training.slots + set * classes;
	const uint8_t *absent = made->training.absent + set * classes;
	const uint64_t *bits = made->training.bits + set * made->training.words;
	double w[DESCENT_CLASSES][DESCENT_ORDER] = {0}, ahead[DESCENT_CLASSES][DESCENT_ORDER] = {0}, steepest = 1;
	size_t reference = 0;

	assert_true(classes <= DESCENT_CLASSES && features < DESCENT_ORDER);
	while (slots[reference] != 0)
		reference++;
	for (size_t row = 0; row < made->matrix.rows; row++)
		for (size_t f = 0; f <= features && bits[row / 64] >> row % 64 & 1; f++)
			steepest += pow(matrix_row(&made->matrix, row)[f], 2);
	for (unsigned step = 0; step < 4000; step++) {
		double slope[DESCENT_CLASSES][DESCENT_ORDER], p[DESCENT_CLASSES], uphill = 0;

		memcpy(slope, ahead, sizeof(slope));
		for (size_t c = 0; c < classes; c++)
			slope[c][features] = 0;
		for (size_t row = 0; row < made->matrix.rows; row++) {
			if (!(bits[row / 64] >> row % 64 & 1))
				continue;
			probabilities(made, set, row, ahead, p);
			p[made->labels[row]] -= 1;
			for (size_t c = 0; c < classes; c++)
				for (size_t f = 0; f <= features; f++)
					slope[c][f] += p[c] * matrix_row(&made->matrix, row)[f];
		}
		if (made->training.present[set] == 2)
			memset(slope[reference], 0, sizeof(slope[reference]));
		for (size_t c = 0; c < classes; c++)
			for (size_t f = 0; f <= features; f++) {
				double next = ahead[c][f] - slope[c][f] / steepest;

				uphill += slope[c][f] * (next - w[c][f]);
				ahead[c][f] = next + step / (step + 3.0) * (next - w[c][f]);
				w[c][f] = next;
			}
		if (uphill > 0) /* without what it gained by then */
			memcpy(ahead, w, sizeof(w));
	}
	for (size_t c = 0; c < classes; c++)
		for (size_t f = 0; f <= features && slots[c] > 0 && !absent[slots[c]]; f++)
			weights[(slots[c] - 1u) * made->matrix.stride + f] = (float)(w[c][f] - w[reference][f]);
}

/* scikit-learn 1.2.1, LogisticRegression(tol=1e-12) of eight points; one sigmoid, and three classes relative to the
 * first. */
static const float points[8][2] = {{0, 1}, {1, 0}, {2, 2}, {3, 1}, {1, 3}, {0, 0}, {4, 0}, {2, -1}};
static const uint16_t two_classes[8] = {0, 0, 1, 1, 1, 0, 1, 0}, three_classes[8] = {0, 0, 1, 2, 1, 0, 2, 2};
static const double two[1][3] = {{1.034810, 1.008721, -2.469546}};
static const double three[3][3] = {
        {-0.890921, -0.349865, 1.888109}, {0.037157, 0.918196, -1.080994}, {0.853764, -0.568331, -0.807115}};

static void
check_golden(const uint16_t *labels, size_t classes, const double (*expected)[3], bool relative)
{
	struct made made;
	float *weights;

	allocate(&made, 8, 2, classes, 1);
	for (size_t row = 0; row < 8; row++) {
		made.labels[row] = labels[row];
		memcpy(made.matrix.values + row * made.matrix.stride, points[row], sizeof(points[row]));
	}
	made.training.bits[0] = 0xff;
	made.training.sizes[0] = 8;
	training_survey(&made.training, 0, made.labels, made.counts);
	descend(&made, 0, made.weights);
	weights = fit_lockstep(&made, 1e-12, false);
	for (size_t k = 0; k + 1 < classes; k++)
		for (size_t f = 0; f < 3; f++) {
			double golden = relative ? expected[k + 1][f] - expected[0][f] : expected[k][f];

			assert_close(made.weights[k * made.matrix.stride + f], golden, 1e-5);
			assert_close(weights[k * made.matrix.stride + f], golden, 1e-5);
		}
	free(weights);
	unmake(&made);
}

static void
test_golden(void **state)
{
	(void)state;
	check_golden(two_classes, 2, two, false);
	check_golden(three_classes, 3, three, true);
}

/* Two ways to one minimum, which is unique; with classes missing as well. */
static void
check_solvers(size_t rows, size_t features, size_t classes, size_t size)
{
	struct made made;
	float *weights;

	make(&made, rows, features, classes, 9, size);
	weights = fit_lockstep(&made, 1e-9, false);
	for (size_t set = 0; set < 9; set++)
		if (made.training.present[set] > 1)
			descend(&made, set, made.weights + set * made.length);
	assert_true(largest_difference(weights, made.weights, 9 * made.length) < 2e-3);
	free(weights);
	unmake(&made);
}

static void
test_solvers(void **state)
{
	(void)state;
	check_solvers(900, 7, 2, 200);
	check_solvers(900, 7, 3, 200);
	check_solvers(600, 4, 5, 8);  /* training sets of 8 mostly lack one of 5 classes */
	check_solvers(600, 10, 3, 5); /* more features than examples; some lack a class */
}

/* At the minimum the gradient is nothing beside what single examples pull: with many features, too. */
static void
test_converged(void **state)
{
	struct made made;
	double *gradient, square = 0;
	float *cold, *warm;

	(void)state;
	make(&made, 2000, 50, 3, 5, 400);
	gradient = malloc(made.length * sizeof(double));
	assert_non_null(gradient);
	cold = fit_lockstep(&made, 1e-8, false);
	objective(&made, cold, 2, gradient);
	for (size_t i = 0; i < made.length; i++)
		square += gradient[i] * gradient[i];
	assert_true(sqrt(square) < 0.05);
	for (size_t i = 0; i < 5 * made.length; i++) /* from elsewhere to the same place */
		made.weights[i] = cold[i] + (i % made.matrix.stride <= 50 ? (float)(i % 11) / 20 - 0.25f : 0);
	warm = fit_lockstep(&made, 1e-8, true);
	assert_true(largest_difference(cold, warm, 5 * made.length) < 5e-3);
	free(gradient);
	free(cold);
	free(warm);
	unmake(&made);
}

/* The bits are the same for any number of threads, and predictions are those of the weights. */
static void
test_threads_and_predictions(void **state)
{
	uint32_t numbers[3][2][3000];
	float margins[3][3000], *weights[3];
	static const unsigned threads[] = {1, 2, 5};
	struct made made;

	(void)state;
	make(&made, 3000, 40, 3, 70, 300);
	for (size_t i = 0; i < 3; i++) {
		struct predictions predictions = {numbers[i][0], numbers[i][1], margins[i]};

		made.problem.threads = threads[i];
		weights[i] = fit_lockstep(&made, LOCKSTEP_TOLERANCE, false);
		predict_all(&made.problem, &made.training, weights[i], &predictions);
		assert_memory_equal(weights[0], weights[i], 70 * made.length * sizeof(float));
		assert_memory_equal(numbers[0], numbers[i], sizeof(numbers[0]));
		assert_memory_equal(margins[0], margins[i], sizeof(margins[0]));
	}
	for (size_t row = 0; row < 3000; row += 97) {
		unsigned made_here = 0, correct = 0, label = made.labels[row];
		double sum = 0;

		for (size_t set = 0; set < 70; set++) {
			double z[3] = {0}, other = -INFINITY;

			if (made.training.bits[set * made.training.words + row / 64] >> row % 64 & 1)
				continue;
			for (size_t k = 0; k < 2; k++)
				for (size_t f = 0; f < made.matrix.stride; f++)
					z[k + 1] += (double)matrix_row(&made.matrix, row)[f] *
					            weights[0][(set * 2 + k) * made.matrix.stride + f];
			for (unsigned c = 0; c < 3; c++)
				other = c == label ? other : fmax(other, z[c]);
			made_here++;
			correct += z[label] > other;
			sum += z[label] - other;
		}
		assert_int_equal(numbers[0][0][row], made_here);
		assert_int_equal(numbers[0][1][row], correct);
		assert_close(margins[0][row], sum / made_here, 1e-4);
	}
	for (size_t i = 0; i < 3; i++)
		free(weights[i]);
	unmake(&made);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_gradient),
	        cmocka_unit_test(test_golden),
	        cmocka_unit_test(test_solvers),
	        cmocka_unit_test(test_converged),
	        cmocka_unit_test(test_threads_and_predictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * curvature.c: computes the approximate inverse Hessian that curvature.h describes, and multiplies vectors by it, for
 * lockstep.c, which fits the classifiers of AFLite.
 *
 * It factors the weighted products of rows (gram.h). Factors are computed in double precision, as features may be
 * nearly dependent on one another. They are kept and applied in single precision, as M and not as the inverse MᵀM.
 * Rounded, M still stands for a positive definite matrix, and its entries span only the root of the range of the
 * inverse's. If a matrix cannot be factored in spite of the penalty, its diagonal is raised until it can: it only has
 * to be near.
 */
#include "curvature.h"

#include "factor.h"
#include "gram.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACTORS_MOST (UINT64_C(1) << 28) /* bytes of all pairs of factors, where there are several */

/* The floats of a pair of factors. */
static size_t
curvature_pair_length(size_t order)
{
	return 2 * order * kernels_round(order);
}

/* The number of pairs of factors: one for each column; or one for all columns, where more would take too much memory or
 * time. */
static size_t
curvature_count_factors(size_t columns, size_t order)
{
	bool many = columns >= PROBLEM_MANY || columns * curvature_pair_length(order) * sizeof(float) > FACTORS_MOST;

	return many ? 1 : columns;
}

/* How many threads factor matrices: two at most, as each needs room for a matrix of its own. */
static unsigned
curvature_threads(size_t columns, size_t order, unsigned threads)
{
	return curvature_count_factors(columns, order) > 1 && threads > 1 ? 2 : 1;
}

size_t
curvature_bytes(size_t columns, size_t order, unsigned threads, size_t *scratch)
{
	unsigned slots = parallel_slots(curvature_threads(columns, order, threads));

	/* order²: the product, and the matrices factored at once; columns²: the covariance, and three matrices for T */
	*scratch = (1 + slots) * order * order * sizeof(double) + 4 * columns * columns * sizeof(double) +
	           gram_bytes(columns, order, kernels_round(order), threads);
	return curvature_count_factors(columns, order) * curvature_pair_length(order) * sizeof(float) +
	       columns * columns * sizeof(double);
}

size_t
curvature_length(const struct curvature *curvature)
{
	return curvature->factor_count * curvature_pair_length(curvature->order);
}

void
curvature_init(struct curvature *curvature, size_t columns, size_t order)
{
	*curvature = (struct curvature){.columns = columns,
	                                .order = order,
	                                .stride = kernels_round(order),
	                                .factor_count = curvature_count_factors(columns, order)};
	curvature->factors = kernels_floats(curvature_length(curvature));
	curvature->transform = memory_new(columns * columns, sizeof(double));
}

void
curvature_free(struct curvature *curvature)
{
	free(curvature->factors);
	free(curvature->transform);
	*curvature = (struct curvature){0};
}

/* Fills A and P (curvature.h). They have a row for each class but the reference. */
static void
curvature_fill_classes(const struct gram *gram, double *a, double *p)
{
	size_t n = gram->columns;
	double trace = 0;

	for (size_t i = 0; i < n; i++)
		trace += gram->covariance[i * n + i] / (double)gram->count;
	for (size_t i = 0; i < n * n; i++) {
		bool diagonal = i / n == i % n;

		p[i] = n == 1 || gram->problem->hinge ? diagonal : diagonal - 1 / (double)(n + 1);
		a[i] = gram->covariance[i] / (double)gram->count + (diagonal ? 1e-6 * trace + 1e-12 : 0);
	}
}

/* x becomes R⁻¹ x. R is lower triangular, n × n; x is n × n. */
static void
curvature_solve_lower(const double *lower, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			for (size_t j = 0; j < n; j++)
				x[i * n + j] -= lower[i * n + k] * x[k * n + j];
		for (size_t j = 0; j < n; j++)
			x[i * n + j] /= lower[i * n + i];
	}
}

/* a becomes aᵀ, n × n. */
static void
curvature_transpose(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			double value = a[i * n + j];

			a[i * n + j] = a[j * n + i];
			a[j * n + i] = value;
		}
}

/* Fills `values` with the diagonal of R⁻¹ P R⁻ᵀ, where P is the unit matrix less the constant `less`. */
static void
curvature_fill_diagonal(const double *inverse, size_t n, double less, double *values)
{
	for (size_t k = 0; k < n; k++) {
		double sum = 0, squares = 0;

		for (size_t i = 0; i <= k; i++) {
			sum += inverse[k * n + i];
			squares += inverse[k * n + i] * inverse[k * n + i];
		}
		values[k] = squares - sum * sum * less;
	}
}

/*
 * Computes T and σ: with A = R Rᵀ and R⁻¹ P R⁻ᵀ = U diag(σ) Uᵀ, T is R⁻ᵀ U. If one factor serves all columns, T = R⁻ᵀ will do;
 * the diagonal of R⁻¹ P R⁻ᵀ then stands for σ.
 */
static int
curvature_diagonalise(struct curvature *curvature, const struct gram *gram, double *values,
                      struct portolan_error *error)
{
	size_t n = curvature->columns;
	CLEANUP_FREE double *a = memory_new(3 * n * n, sizeof(double));
	double *p = a + n * n, *u = p + n * n, *t = curvature->transform;

	curvature_fill_classes(gram, a, p);
	if (!factor_cholesky(a, n))
		return error_set(error, PORTOLAN_E_INVALID, "the classes' probabilities are no numbers");
	for (size_t i = 0; i < n * n; i++)
		t[i] = i / n == i % n;
	curvature_solve_lower(a, t, n); /* R⁻¹ */
	curvature_fill_diagonal(t, n, n == 1 || gram->problem->hinge ? 0 : 1 / (double)(n + 1), values);
	curvature_transpose(t, n); /* R⁻ᵀ */
	if (curvature->factor_count > 1) {
		curvature_solve_lower(a, p, n);
		curvature_transpose(p, n);
		curvature_solve_lower(a, p, n);
		factor_eigen(p, u, n);
		memcpy(a, t, n * n * sizeof(double));
		memset(t, 0, n * n * sizeof(double));
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++)
				for (size_t j = 0; j < n; j++)
					t[i * n + k] += a[i * n + j] * u[j * n + k];
		for (size_t k = 0; k < n; k++)
			values[k] = p[k * n + k];
	}
	for (size_t k = 0; k < n; k++)
		values[k] = fmax(values[k], 1e-12);
	return 0;
}

struct factoring {
	struct curvature *curvature;
	const struct gram *gram;
	double scale;
	const double *values; /* σ */
	double *work;         /* by slot: order × order */
	float *scratch;       /* by slot: FACTOR_BLOCK × stride */
};

/* Computes M and Mᵀ of (scale G + ridge D)⁻¹ = Mᵀ M. */
static void
curvature_factor(const struct factoring *factoring, double ridge, double *work, float *scratch, float *m)
{
	const struct gram *gram = factoring->gram;
	size_t order = gram->order, stride = gram->stride;
	double largest = 0, more = 0, scale = factoring->scale;
	bool good = false;

	for (size_t f = 0; f < order; f++)
		largest = fmax(largest, scale * gram->product[f * order + f]);
	while (!good && more <= 1) {
		for (size_t f = 0; f < order; f++) {
			for (size_t g = 0; g <= f; g++)
				work[f * order + g] = scale * gram->product[g * order + f];
			work[f * order + f] += (f + 1 < order ? ridge : 0) + more * largest;
		}
		good = factor_cholesky(work, order);
		more = more == 0 ? 1e-9 : 10 * more;
	}
	for (size_t f = 0; !good && f < order; f++) {
		memset(work + f * order, 0, order * sizeof(*work));
		work[f * order + f] = sqrt(largest + 1);
	}
	factor_invert(work, order, gram->problem->kernels, m, stride, scratch);
	for (size_t f = 0; f < order; f++)
		for (size_t g = 0; g < stride; g++)
			m[(order + f) * stride + g] = g < order ? m[g * stride + f] : 0;
}

static int
curvature_factor_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct factoring *factoring = context;
	const struct gram *gram = factoring->gram;

	(void)thread;
	(void)error;
	curvature_factor(factoring, gram->problem->lambda * factoring->values[part],
	                 factoring->work + slot * gram->order * gram->order,
	                 factoring->scratch + slot * FACTOR_BLOCK * gram->stride,
	                 factoring->curvature->factors + part * curvature_pair_length(gram->order));
	return 0;
}

static int
curvature_factor_all(struct curvature *curvature, const struct gram *gram, double size, struct portolan_error *error)
{
	size_t columns = curvature->columns, order = gram->order;
	unsigned threads = curvature_threads(columns, order, gram->problem->threads), slots = parallel_slots(threads);
	CLEANUP_FREE double *values = memory_new(columns, sizeof(double));
	CLEANUP_FREE double *work = memory_new(slots * order * order, sizeof(double));
	CLEANUP_FREE float *scratch = kernels_floats(slots * FACTOR_BLOCK * gram->stride);
	struct factoring factoring = {.curvature = curvature,
	                              .gram = gram,
	                              .scale = gram->weight > 0 ? size / gram->weight : 1,
	                              .values = values,
	                              .work = work,
	                              .scratch = scratch};
	struct parallel parallel = {.threads = threads,
	                            .count = curvature->factor_count,
	                            .context = &factoring,
	                            .work = curvature_factor_part};
	double middle = 0;
	int code = curvature_diagonalise(curvature, gram, values, error);

	if (code < 0)
		return code;
	for (size_t k = 0; k < columns; k++)
		middle += log(values[k]) / (double)columns;
	if (curvature->factor_count == 1)
		values[0] = exp(middle);
	problem_run(&parallel);
	return 0;
}

int
curvature_make(struct curvature *curvature, const struct problem *problem, const float *weights, double size,
               const uint32_t *rows, size_t count, struct portolan_error *error)
{
	size_t columns = curvature->columns, order = curvature->order;
	CLEANUP_FREE double *product = memory_new(order * order, sizeof(double));
	CLEANUP_FREE double *covariance = memory_new(columns * columns, sizeof(double));
	struct gram gram = {.problem = problem,
	                    .weights = weights,
	                    .rows = rows,
	                    .count = count,
	                    .columns = columns,
	                    .order = order,
	                    .stride = curvature->stride,
	                    .product = product,
	                    .covariance = covariance};

	gram_make(&gram);
	return curvature_factor_all(curvature, &gram, size, error);
}

size_t
curvature_batch(const struct curvature *curvature)
{
	return curvature->columns >= PROBLEM_MANY ? 1 : CURVATURE_BATCH;
}

size_t
curvature_scratch(const struct curvature *curvature)
{
	return curvature->columns *
	       (2 * curvature_batch(curvature) * curvature->stride + kernels_round(curvature->columns));
}

/* rows = rows Mᵀ M, for `count` of them. `between` has room for as many. */
static void
curvature_apply_factor(const struct curvature *curvature, const struct kernels *kernels, const float *m, float *rows,
                       size_t count, float *between)
{
	size_t order = curvature->order, stride = curvature->stride;
	struct kernels_product across = {rows,   stride, m + order * stride, stride, between, stride, count, order,
	                                 stride, false};
	struct kernels_product back = {between, stride, m, stride, rows, stride, count, order, stride, false};

	kernels->multiply(&across);
	kernels->multiply(&back);
}

/* to = T from, or Tᵀ from if `across`; both are columns × width. `turn` has room for T in single precision. */
static void
curvature_apply_transform(const struct curvature *curvature, const struct kernels *kernels, bool across,
                          const float *from, float *to, size_t width, float *turn)
{
	size_t n = curvature->columns, stride = kernels_round(n);
	struct kernels_product product = {turn, stride, from, width, to, width, n, n, width, false};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			turn[(across ? k : i) * stride + (across ? i : k)] = (float)curvature->transform[i * n + k];
	kernels->multiply(&product);
}

/* Large products in single precision, as the result only has to be near. Rows lie by column, then by vector. */
void
curvature_apply(const struct curvature *curvature, const struct kernels *kernels, double *const *vectors, size_t count,
                float *scratch)
{
	size_t columns = curvature->columns, stride = curvature->stride, width = count * stride;
	size_t at_once = curvature->factor_count > 1 ? 1 : columns;
	float *one = scratch, *other = one + columns * width, *turn = other + columns * width;

	for (size_t k = 0; k < columns; k++)
		for (size_t v = 0; v < count; v++)
			for (size_t f = 0; f < stride; f++)
				one[k * width + v * stride + f] = (float)vectors[v][k * stride + f];
	curvature_apply_transform(curvature, kernels, true, one, other, width, turn);
	for (size_t k = 0; k < columns; k += at_once)
		curvature_apply_factor(curvature, kernels,
		                       curvature->factors + k * curvature_pair_length(curvature->order),
		                       other + k * width, at_once * count, one);
	curvature_apply_transform(curvature, kernels, false, other, one, width, turn);
	for (size_t k = 0; k < columns; k++)
		for (size_t v = 0; v < count; v++)
			for (size_t f = 0; f < stride; f++)
				vectors[v][k * stride + f] = f < curvature->order ? one[k * width + v * stride + f] : 0;
}

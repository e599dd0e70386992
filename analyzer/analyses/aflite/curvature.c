/*
 * curvature.c: weighted products by the kernels, factors by factor.h.
 *
 * Factors are found in double precision: features may be nearly dependent on one another. They are kept and applied in
 * single precision, as M and not as the inverse MᵀM: what rounding makes of that is still positive definite, and its
 * entries span the root of what the inverse's span. A matrix that cannot be factored in spite of the penalty gets a
 * larger diagonal until it can: it only has to be near.
 */
#include "curvature.h"

#include "base/parallel.h"
#include "factor.h"
#include "gram.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACTORS_MOST (UINT64_C(1) << 28) /* bytes of several pairs of factors */

static size_t
stride_of(size_t order)
{
	return (order + KERNELS_STRIDE - 1) / KERNELS_STRIDE * KERNELS_STRIDE;
}

/* One for each column; one for all where that would take too much memory, or time. */
static size_t
factors_of(size_t columns, size_t order)
{
	size_t one = 2 * order * stride_of(order) * sizeof(float);

	return columns >= PROBLEM_MANY || columns * one > FACTORS_MOST ? 1 : columns;
}

/* Each works on a matrix of its own. */
static unsigned
factoring_threads(size_t columns, size_t order, unsigned threads)
{
	return factors_of(columns, order) > 1 && threads > 1 ? 2 : 1;
}

size_t
curvature_bytes(size_t columns, size_t order, unsigned threads, size_t *scratch)
{
	size_t one = 2 * order * stride_of(order) * sizeof(float);

	/* gram's product and what is factored at once; covariance, and what diagonalise() works on */
	*scratch = (1 + parallel_slots(factoring_threads(columns, order, threads))) * order * order * sizeof(double) +
	           4 * columns * columns * sizeof(double) + gram_bytes(columns, order, stride_of(order), threads);
	return factors_of(columns, order) * one + columns * columns * sizeof(double);
}

size_t
curvature_length(const struct curvature *curvature)
{
	return curvature->factor_count * 2 * curvature->order * curvature->stride;
}

int
curvature_init(struct curvature *curvature, size_t columns, size_t order, struct portolan_error *error)
{
	*curvature = (struct curvature){.columns = columns,
	                                .order = order,
	                                .stride = stride_of(order),
	                                .factor_count = factors_of(columns, order)};
	curvature->factors = aligned_alloc(64, curvature_length(curvature) * sizeof(float));
	curvature->transform = calloc(columns * columns, sizeof(double));
	if (curvature->factors && curvature->transform) {
		memset(curvature->factors, 0, curvature_length(curvature) * sizeof(float));
		return 0;
	}
	curvature_free(curvature);
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for matrices of %zu features", order);
}

void
curvature_free(struct curvature *curvature)
{
	free(curvature->factors);
	free(curvature->transform);
	*curvature = (struct curvature){0};
}

/* A and P of the classes but the reference. */
static void
fill_classes(const struct gram *gram, double *a, double *p)
{
	size_t n = gram->columns;
	double trace = 0;

	for (size_t i = 0; i < n; i++)
		trace += gram->covariance[i * n + i] / (double)gram->count;
	for (size_t i = 0; i < n * n; i++) {
		bool diagonal = i / n == i % n;

		p[i] = n == 1 ? 1 : diagonal - 1 / (double)(n + 1);
		a[i] = gram->covariance[i] / (double)gram->count + (diagonal ? 1e-6 * trace + 1e-12 : 0);
	}
}

/* x = R⁻¹ x for the columns of x, n × n, and lower R. */
static void
solve_lower(const double *lower, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			for (size_t j = 0; j < n; j++)
				x[i * n + j] -= lower[i * n + k] * x[k * n + j];
		for (size_t j = 0; j < n; j++)
			x[i * n + j] /= lower[i * n + i];
	}
}

static void
transpose(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			double value = a[i * n + j];

			a[i * n + j] = a[j * n + i];
			a[j * n + i] = value;
		}
}

/* The diagonal of R⁻¹ P R⁻ᵀ: P is the unit matrix less a constant. */
static void
fill_diagonal(const double *inverse, size_t n, double *values)
{
	for (size_t k = 0; k < n; k++) {
		double sum = 0, squares = 0;

		for (size_t i = 0; i <= k; i++) {
			sum += inverse[k * n + i];
			squares += inverse[k * n + i] * inverse[k * n + i];
		}
		values[k] = n == 1 ? squares : squares - sum * sum / (double)(n + 1);
	}
}

/*
 * T and σ: with A = R Rᵀ and R⁻¹ P R⁻ᵀ = U diag(σ) Uᵀ, T is R⁻ᵀ U. Where all columns share one factor, T = R⁻ᵀ will do,
 * and the middle of what then stands for σ.
 */
static int
diagonalise(struct curvature *curvature, const struct gram *gram, double *values, struct portolan_error *error)
{
	size_t n = curvature->columns;
	double *a = malloc(3 * n * n * sizeof(double)), *p = a + n * n, *u = p + n * n, *t = curvature->transform;

	if (!a)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classes", n + 1);
	fill_classes(gram, a, p);
	if (!factor_cholesky(a, n, n)) {
		free(a);
		return error_set(error, PORTOLAN_E_INVALID, "the classes' probabilities are no numbers");
	}
	for (size_t i = 0; i < n * n; i++)
		t[i] = i / n == i % n;
	solve_lower(a, t, n); /* R⁻¹ */
	fill_diagonal(t, n, values);
	transpose(t, n); /* R⁻ᵀ */
	if (curvature->factor_count > 1) {
		solve_lower(a, p, n);
		transpose(p, n);
		solve_lower(a, p, n);
		factor_eigen(p, u, n);
		memcpy(a, t, n * n * sizeof(double));
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++) {
				t[i * n + k] = 0;
				for (size_t j = 0; j < n; j++)
					t[i * n + k] += a[i * n + j] * u[j * n + k];
			}
		for (size_t k = 0; k < n; k++)
			values[k] = p[k * n + k];
	}
	for (size_t k = 0; k < n; k++)
		values[k] = fmax(values[k], 1e-12);
	free(a);
	return 0;
}

/* M and Mᵀ of (G + ridge D)⁻¹ = Mᵀ M. `work`: order × order; `scratch`: FACTOR_BLOCK × stride. */
static void
factor(const struct gram *gram, double scale, double ridge, double *work, float *scratch, float *m)
{
	size_t order = gram->order, stride = gram->stride;
	double largest = 0, more = 0;
	bool good = false;

	for (size_t f = 0; f < order; f++)
		largest = fmax(largest, scale * gram->product[f * order + f]);
	while (!good && more <= 1) {
		for (size_t f = 0; f < order; f++) {
			for (size_t g = 0; g <= f; g++)
				work[f * order + g] = scale * gram->product[g * order + f];
			work[f * order + f] += (f + 1 < order ? ridge : 0) + more * largest;
		}
		good = factor_cholesky(work, order, order);
		more = more == 0 ? 1e-9 : 10 * more;
	}
	for (size_t f = 0; !good && f < order; f++) {
		memset(work + f * order, 0, order * sizeof(*work));
		work[f * order + f] = sqrt(largest + 1);
	}
	factor_invert(work, order, order, gram->problem->kernels, m, stride, scratch);
	for (size_t f = 0; f < order; f++)
		for (size_t g = 0; g < stride; g++)
			m[(order + f) * stride + g] = g < order ? m[g * stride + f] : 0;
}

struct factoring {
	struct curvature *curvature;
	const struct gram *gram;
	double scale;
	const double *values;
	double *work; /* by slot */
	float *scratch;
};

static int
factor_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct factoring *factoring = context;
	const struct curvature *curvature = factoring->curvature;
	const struct gram *gram = factoring->gram;

	(void)thread;
	(void)error;
	factor(gram, factoring->scale, gram->problem->lambda * factoring->values[part],
	       factoring->work + slot * gram->order * gram->order,
	       factoring->scratch + slot * FACTOR_BLOCK * gram->stride,
	       curvature->factors + part * 2 * gram->order * gram->stride);
	return 0;
}

static int
factor_parts(struct curvature *curvature, const struct gram *gram, double size, struct portolan_error *error)
{
	size_t columns = curvature->columns;
	double *values = malloc(columns * sizeof(double)), middle = 0;
	struct factoring factoring = {.curvature = curvature,
	                              .gram = gram,
	                              .scale = gram->weight > 0 ? size / gram->weight : 1,
	                              .values = values};
	struct parallel parallel = {.threads = factoring_threads(columns, gram->order, gram->problem->threads),
	                            .count = curvature->factor_count,
	                            .context = &factoring,
	                            .work = factor_part};
	int code;

	factoring.work = malloc(parallel_slots(parallel.threads) * gram->order * gram->order * sizeof(double));
	factoring.scratch =
	        aligned_alloc(64, parallel_slots(parallel.threads) * FACTOR_BLOCK * gram->stride * sizeof(float));
	code = values && factoring.work && factoring.scratch
	               ? diagonalise(curvature, gram, values, error)
	               : error_set(error, PORTOLAN_E_MEMORY, "out of memory for matrices of %zu features", gram->order);
	if (code >= 0 && curvature->factor_count == 1) {
		for (size_t k = 0; k < columns; k++)
			middle += log(values[k]) / (double)columns;
		values[0] = exp(middle);
	}
	if (code >= 0)
		code = parallel_run(&parallel, error);
	free(factoring.work);
	free(factoring.scratch);
	free(values);
	return code;
}

int
curvature_make(struct curvature *curvature, const struct problem *problem, const float *weights, double size,
               const uint32_t *rows, size_t count, struct portolan_error *error)
{
	struct gram gram = {.problem = problem,
	                    .weights = weights,
	                    .rows = rows,
	                    .count = count,
	                    .columns = curvature->columns,
	                    .order = curvature->order,
	                    .stride = curvature->stride};
	int code;

	gram.product = calloc(gram.order * gram.order, sizeof(double));
	gram.covariance = calloc(gram.columns * gram.columns, sizeof(double));
	code = gram.product && gram.covariance
	               ? gram_make(&gram, error)
	               : error_set(error, PORTOLAN_E_MEMORY, "out of memory for matrices of %zu features", gram.order);
	if (code >= 0)
		code = factor_parts(curvature, &gram, size, error);
	free(gram.product);
	free(gram.covariance);
	return code;
}

size_t
curvature_batch(const struct curvature *curvature)
{
	return curvature->columns >= PROBLEM_MANY ? 1 : CURVATURE_BATCH;
}

size_t
curvature_scratch(const struct curvature *curvature)
{
	if (curvature->columns >= PROBLEM_MANY)
		return curvature->columns * (2 * curvature->stride + stride_of(curvature->columns));
	return (1 + curvature->columns) * CURVATURE_BATCH * curvature->stride;
}

/* Of one column: rows of `vectors` times Mᵀ, then M. */
static void
apply_factor(const struct curvature *curvature, const struct kernels *kernels, size_t k, float *vectors, size_t count,
             float *between)
{
	const float *m =
	        curvature->factors + (curvature->factor_count > 1 ? k : 0) * 2 * curvature->order * curvature->stride;
	struct kernels_product product = {.a = vectors,
	                                  .b = m + curvature->order * curvature->stride,
	                                  .c = between,
	                                  .a_stride = curvature->stride,
	                                  .b_stride = curvature->stride,
	                                  .c_stride = curvature->stride,
	                                  .rows = count,
	                                  .depth = curvature->order,
	                                  .columns = curvature->stride};

	kernels->multiply(&product);
	product.a = between;
	product.b = m;
	product.c = vectors;
	kernels->multiply(&product);
}

static void
apply_few(const struct curvature *curvature, const struct kernels *kernels, double *const *vectors, size_t count,
          float *scratch)
{
	size_t columns = curvature->columns, stride = curvature->stride;
	float *turned = scratch + CURVATURE_BATCH * stride; /* by column, then vector */

	for (size_t k = 0; k < columns; k++)
		for (size_t v = 0; v < count; v++) {
			float *to = turned + (k * CURVATURE_BATCH + v) * stride;

			memset(to, 0, stride * sizeof(float));
			for (size_t i = 0; i < columns; i++)
				for (size_t f = 0; f < stride; f++)
					to[f] += (float)(curvature->transform[i * columns + k] *
					                 vectors[v][i * stride + f]);
		}
	for (size_t k = 0; k < columns; k++)
		apply_factor(curvature, kernels, k, turned + k * CURVATURE_BATCH * stride, count, scratch);
	for (size_t v = 0; v < count; v++)
		for (size_t i = 0; i < columns; i++) {
			double *to = vectors[v] + i * stride;

			memset(to, 0, stride * sizeof(double));
			for (size_t k = 0; k < columns; k++)
				for (size_t f = 0; f < curvature->order; f++)
					to[f] += curvature->transform[i * columns + k] *
					         turned[(k * CURVATURE_BATCH + v) * stride + f];
		}
}

/* to = T from, or Tᵀ from, of columns × stride. `turn`: room for T in single precision. */
static void
apply_transform(const struct curvature *curvature, const struct kernels *kernels, bool across, const float *from,
                float *to, float *turn)
{
	size_t n = curvature->columns;
	struct kernels_product product = {.a = turn,
	                                  .b = from,
	                                  .c = to,
	                                  .a_stride = stride_of(n),
	                                  .b_stride = curvature->stride,
	                                  .c_stride = curvature->stride,
	                                  .rows = n,
	                                  .depth = n,
	                                  .columns = curvature->stride};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			turn[(across ? k : i) * product.a_stride + (across ? i : k)] =
			        (float)curvature->transform[i * n + k];
	kernels->multiply(&product);
}

/* One vector of many columns: four large products, in single precision, as the result only has to be near. */
static void
apply_many(const struct curvature *curvature, const struct kernels *kernels, double *vector, float *scratch)
{
	size_t columns = curvature->columns, stride = curvature->stride, length = columns * stride;
	float *one = scratch, *other = one + length, *turn = other + length;
	struct kernels_product product = {.a = other,
	                                  .b = curvature->factors + curvature->order * stride,
	                                  .c = one,
	                                  .a_stride = stride,
	                                  .b_stride = stride,
	                                  .c_stride = stride,
	                                  .rows = columns,
	                                  .depth = curvature->order,
	                                  .columns = stride};

	for (size_t i = 0; i < length; i++)
		one[i] = (float)vector[i];
	apply_transform(curvature, kernels, true, one, other, turn);
	kernels->multiply(&product);
	product.a = one;
	product.b = curvature->factors;
	product.c = other;
	kernels->multiply(&product);
	apply_transform(curvature, kernels, false, other, one, turn);
	for (size_t k = 0; k < columns; k++)
		for (size_t f = 0; f < stride; f++)
			vector[k * stride + f] = f < curvature->order ? one[k * stride + f] : 0;
}

void
curvature_apply(const struct curvature *curvature, const struct kernels *kernels, double *const *vectors, size_t count,
                float *scratch)
{
	if (curvature->columns < PROBLEM_MANY)
		apply_few(curvature, kernels, vectors, count, scratch);
	for (size_t v = 0; v < count && curvature->columns >= PROBLEM_MANY; v++)
		apply_many(curvature, kernels, vectors[v], scratch);
}

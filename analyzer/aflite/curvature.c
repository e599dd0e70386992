/*
 * curvature.c: weighted products by the kernels, factors by factor.h.
 *
 * Factors are found in double precision: features may be nearly dependent on one another. They are kept and applied in
 * single precision, as M and not as the inverse MᵀM: what rounding makes of that is still positive definite, and its
 * entries span the root of what the inverse's span. A matrix that cannot be factored in spite of the penalty gets a
 * larger diagonal until it can: it only has to be near.
 */
#include "curvature.h"

#include "factor.h"
#include "program/parallel.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART 1024                        /* rows of a weighted product; */
#define BLOCK 256                        /* of these at a time, */
#define STRIP 48                         /* and so many of its rows */
#define FACTORS_MOST (UINT64_C(1) << 28) /* bytes of several pairs of factors */
#define COLUMNS_MOST 64
#define SLOTS_MOST (UINT64_C(1) << 28) /* bytes of what threads add up in */

/* Rows are a multiple of KERNELS_STRIDE floats: eight sums side by side. */
typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

struct making {
	const struct problem *problem;
	const float *weights;
	const uint32_t *rows;
	size_t count, columns, order, stride;
	struct making_slot {
		float *rows, *across, *product; /* BLOCK × stride, its transpose, order × stride */
		double *covariance, *p, weight;
	} * slots;
	double *gram; /* order × order; the upper triangle */
	double *covariance, weight;
};

/* So many that what they add up in stays within limits. */
static unsigned
threads_of(size_t order, unsigned threads)
{
	size_t one = 2 * order * order * sizeof(float) + 1, most = SLOTS_MOST / one;

	return most < 1 ? 1 : most < threads ? (unsigned)most : threads;
}

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

	return columns > COLUMNS_MOST || columns * one > FACTORS_MOST ? 1 : columns;
}

size_t
curvature_bytes(size_t columns, size_t order, unsigned threads, size_t *scratch)
{
	size_t one = 2 * order * stride_of(order) * sizeof(float);

	*scratch =
	        2 * order * order * sizeof(double) +
	        parallel_slots(threads_of(order, threads)) * (one / 2 + 2 * BLOCK * stride_of(order) * sizeof(float));
	return factors_of(columns, order) * one;
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

/* Probabilities p of the classes but the reference; returns 1 − Σ p² over all. */
static double
probabilities(const struct making *making, const float *row, double *p)
{
	double top = 0, sum, squares;

	for (size_t k = 0; k < making->columns; k++) {
		const float *weights = making->weights + k * making->stride;
		eight sums = {0};

		for (size_t f = 0; f < making->stride; f += 8)
			sums += *(const eight *)(row + f) * *(const eight *)(weights + f);
		p[k] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
		top = p[k] > top ? p[k] : top;
	}
	sum = exp(-top);
	for (size_t k = 0; k < making->columns; k++)
		sum += p[k] = exp(p[k] - top);
	squares = exp(-top) / sum * (exp(-top) / sum);
	for (size_t k = 0; k < making->columns; k++) {
		p[k] /= sum;
		squares += p[k] * p[k];
	}
	return 1 - squares;
}

/* Takes the row's part of A, and puts it down, times the root of its weight, both ways. */
static void
weigh_row(const struct making *making, struct making_slot *slot, const float *row, size_t i)
{
	size_t columns = making->columns;
	double weight = probabilities(making, row, slot->p);
	float root = (float)sqrt(weight > 0 ? weight : 0);

	slot->weight += weight;
	for (size_t a = 0; a < columns; a++)
		for (size_t b = 0; b < columns; b++)
			slot->covariance[a * columns + b] += slot->p[a] * ((a == b) - slot->p[b]);
	for (size_t f = 0; f < making->stride; f++)
		slot->rows[i * making->stride + f] = root * row[f];
	for (size_t f = 0; f < making->order; f++)
		slot->across[f * BLOCK + i] = root * row[f];
}

/* The upper triangle of the block's product with itself, in strips. */
static void
multiply_block(const struct making *making, struct making_slot *slot, size_t n)
{
	for (size_t first = 0; first < making->order; first += STRIP) {
		struct kernels_product product = {.a = slot->across + first * BLOCK,
		                                  .a_stride = BLOCK,
		                                  .b = slot->rows + first,
		                                  .b_stride = making->stride,
		                                  .c = slot->product + first * making->stride + first,
		                                  .c_stride = making->stride,
		                                  .rows = making->order - first,
		                                  .depth = n,
		                                  .columns = making->stride - first,
		                                  .add = true};

		product.rows = product.rows < STRIP ? product.rows : STRIP;
		making->problem->kernels->multiply(&product);
	}
}

static int
weigh_part(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct making *making = context;
	struct making_slot *slot = &making->slots[slot_number];
	size_t end = (part + 1) * PART < making->count ? (part + 1) * PART : making->count;

	(void)thread;
	(void)error;
	slot->weight = 0;
	memset(slot->covariance, 0, making->columns * making->columns * sizeof(double));
	memset(slot->product, 0, making->order * making->stride * sizeof(float));
	for (size_t from = part * PART; from < end; from += BLOCK) {
		size_t n = end - from < BLOCK ? end - from : BLOCK;

		for (size_t i = 0; i < n; i++)
			weigh_row(making, slot, matrix_row(making->problem->matrix, making->rows[from + i]), i);
		multiply_block(making, slot, n);
	}
	return 0;
}

static int
weigh_deliver(void *context, unsigned slot_number, size_t part, struct portolan_error *error)
{
	struct making *making = context;
	const struct making_slot *slot = &making->slots[slot_number];

	(void)part;
	(void)error;
	making->weight += slot->weight;
	for (size_t i = 0; i < making->columns * making->columns; i++)
		making->covariance[i] += slot->covariance[i];
	for (size_t row = 0; row < making->order; row++)
		for (size_t f = row; f < making->order; f++)
			making->gram[row * making->order + f] += slot->product[row * making->stride + f];
	return 0;
}

static int
weigh(struct making *making, struct portolan_error *error)
{
	unsigned threads = threads_of(making->order, making->problem->threads), slots = parallel_slots(threads);
	struct parallel parallel = {.threads = threads,
	                            .count = (making->count + PART - 1) / PART,
	                            .context = making,
	                            .work = weigh_part,
	                            .deliver = weigh_deliver};
	int code = 0;

	making->slots = calloc(slots, sizeof(*making->slots));
	for (unsigned s = 0; making->slots && s < slots; s++) {
		struct making_slot *slot = &making->slots[s];

		slot->rows = aligned_alloc(64, BLOCK * making->stride * sizeof(float));
		slot->across = aligned_alloc(64, BLOCK * making->stride * sizeof(float));
		slot->product = aligned_alloc(64, making->order * making->stride * sizeof(float));
		slot->covariance = malloc(making->columns * making->columns * sizeof(double));
		slot->p = malloc(making->columns * sizeof(double));
		if (!slot->rows || !slot->across || !slot->product || !slot->covariance || !slot->p)
			code = PORTOLAN_E_MEMORY;
	}
	if (!making->slots || code < 0)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for matrices of %zu features", making->order);
	else
		code = parallel_run(&parallel, error);
	for (unsigned s = 0; making->slots && s < slots; s++) {
		free(making->slots[s].rows);
		free(making->slots[s].across);
		free(making->slots[s].product);
		free(making->slots[s].covariance);
		free(making->slots[s].p);
	}
	free(making->slots);
	return code;
}

/* A and P of the classes but the reference. */
static void
fill_classes(const struct making *making, double *a, double *p)
{
	size_t n = making->columns;
	double trace = 0;

	for (size_t i = 0; i < n; i++)
		trace += making->covariance[i * n + i] / (double)making->count;
	for (size_t i = 0; i < n * n; i++) {
		bool diagonal = i / n == i % n;

		p[i] = n == 1 ? 1 : diagonal - 1 / (double)(n + 1);
		a[i] = making->covariance[i] / (double)making->count + (diagonal ? 1e-6 * trace + 1e-12 : 0);
	}
}

/* x = R⁻¹ x for the columns of x, n × n, and lower R. */
static void
solve_lower(const double *lower, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			for (size_t k = 0; k < i; k++)
				x[i * n + j] -= lower[i * n + k] * x[k * n + j];
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

/*
 * T and σ: with A = R Rᵀ and R⁻¹ P R⁻ᵀ = U diag(σ) Uᵀ, T is R⁻ᵀ U. Where all columns share one factor, T = R⁻ᵀ will do,
 * and the middle of what then stands for σ.
 */
static int
diagonalise(struct curvature *curvature, const struct making *making, double *values, struct portolan_error *error)
{
	size_t n = curvature->columns;
	double *a = malloc(3 * n * n * sizeof(double)), *p = a + n * n, *u = p + n * n, *t = curvature->transform;

	if (!a)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classes", n + 1);
	fill_classes(making, a, p);
	if (!factor_cholesky(a, n, n)) {
		free(a);
		return error_set(error, PORTOLAN_E_INVALID, "the classes' probabilities are no numbers");
	}
	for (size_t i = 0; i < n * n; i++)
		t[i] = i / n == i % n;
	solve_lower(a, t, n); /* R⁻¹ */
	solve_lower(a, p, n);
	transpose(p, n);
	solve_lower(a, p, n);
	transpose(t, n); /* R⁻ᵀ */
	if (curvature->factor_count > 1) {
		factor_eigen(p, u, n);
		memcpy(a, t, n * n * sizeof(double));
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++) {
				t[i * n + k] = 0;
				for (size_t j = 0; j < n; j++)
					t[i * n + k] += a[i * n + j] * u[j * n + k];
			}
	}
	for (size_t k = 0; k < n; k++)
		values[k] = fmax(p[k * n + k], 1e-12);
	free(a);
	return 0;
}

/* M and Mᵀ of (G + ridge D)⁻¹ = Mᵀ M. `work`: order × order; `scratch`: FACTOR_BLOCK × stride. */
static void
factor(const struct making *making, double scale, double ridge, double *work, float *scratch, float *m)
{
	size_t order = making->order, stride = making->stride;
	double largest = 0, more = 0;
	bool good = false;

	for (size_t f = 0; f < order; f++)
		largest = fmax(largest, scale * making->gram[f * order + f]);
	while (!good && more <= 1) {
		for (size_t f = 0; f < order; f++) {
			for (size_t g = 0; g <= f; g++)
				work[f * order + g] = scale * making->gram[g * order + f];
			work[f * order + f] += (f + 1 < order ? ridge : 0) + more * largest;
		}
		good = factor_cholesky(work, order, order);
		more = more == 0 ? 1e-9 : 10 * more;
	}
	for (size_t f = 0; !good && f < order; f++) {
		memset(work + f * order, 0, order * sizeof(*work));
		work[f * order + f] = sqrt(largest + 1);
	}
	factor_invert(work, order, order, making->problem->kernels, m, stride, scratch);
	for (size_t f = 0; f < order; f++)
		for (size_t g = 0; g < stride; g++)
			m[(order + f) * stride + g] = g < order ? m[g * stride + f] : 0;
}

struct factoring {
	struct curvature *curvature;
	const struct making *making;
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
	const struct making *making = factoring->making;

	(void)thread;
	(void)error;
	factor(making, factoring->scale, making->problem->lambda * factoring->values[part],
	       factoring->work + slot * making->order * making->order,
	       factoring->scratch + slot * FACTOR_BLOCK * making->stride,
	       curvature->factors + part * 2 * making->order * making->stride);
	return 0;
}

static int
conclude(struct curvature *curvature, const struct making *making, double size, struct portolan_error *error)
{
	size_t columns = curvature->columns;
	double *values = malloc(columns * sizeof(double)), middle = 0;
	struct factoring factoring = {.curvature = curvature,
	                              .making = making,
	                              .scale = making->weight > 0 ? size / making->weight : 1,
	                              .values = values};
	struct parallel parallel = {.threads = curvature->factor_count > 1 && making->problem->threads > 1 ? 2 : 1,
	                            .count = curvature->factor_count,
	                            .context = &factoring,
	                            .work = factor_part};
	int code;

	factoring.work = malloc(parallel_slots(parallel.threads) * making->order * making->order * sizeof(double));
	factoring.scratch =
	        aligned_alloc(64, parallel_slots(parallel.threads) * FACTOR_BLOCK * making->stride * sizeof(float));
	code = values && factoring.work && factoring.scratch
	               ? diagonalise(curvature, making, values, error)
	               : error_set(error, PORTOLAN_E_MEMORY, "out of memory for matrices of %zu features",
	                           making->order);
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
	struct making making = {.problem = problem,
	                        .weights = weights,
	                        .rows = rows,
	                        .count = count,
	                        .columns = curvature->columns,
	                        .order = curvature->order,
	                        .stride = curvature->stride};
	int code;

	making.gram = calloc(making.order * making.order, sizeof(double));
	making.covariance = calloc(making.columns * making.columns, sizeof(double));
	code = making.gram && making.covariance ? weigh(&making, error)
	                                        : error_set(error, PORTOLAN_E_MEMORY,
	                                                    "out of memory for matrices of %zu features", making.order);
	if (code >= 0)
		code = conclude(curvature, &making, size, error);
	free(making.gram);
	free(making.covariance);
	return code;
}

size_t
curvature_scratch(const struct curvature *curvature)
{
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

void
curvature_apply(const struct curvature *curvature, const struct kernels *kernels, double *const *vectors, size_t count,
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

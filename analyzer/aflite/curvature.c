/*
 * curvature.c: products by our own kernels, factors by LAPACK (OpenBLAS, which is asked for one thread: its own would
 * add up in another order).
 *
 * Factors are found in double precision: features may be nearly dependent on one another. They are kept and applied in
 * single precision, as M and not as the inverse MᵀM: what rounding makes of that is still positive definite, and its
 * entries span the root of what the inverse's span. A matrix that cannot be factored in spite of the penalty gets a
 * larger diagonal until it can: it only has to be near.
 */
#include "curvature.h"

#include "program/parallel.h"

#include <portolan/error.h>

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART 1024                        /* rows of a weighted product; */
#define BLOCK 256                        /* of these at a time, */
#define STRIP 48                         /* and so many of its rows */
#define FACTORS_MOST (UINT64_C(1) << 28) /* bytes of several pairs of factors */
#define SLOTS_MOST (UINT64_C(1) << 28)   /* bytes of what threads add up in */

/* LAPACK, of OpenBLAS: Fortran's calling convention, column by column. */
void dpotrf_(const char *triangle, const int *n, double *a, const int *lda, int *info);
void dtrtri_(const char *triangle, const char *diagonal, const int *n, double *a, const int *lda, int *info);
void dsygv_(const int *type, const char *vectors, const char *triangle, const int *n, double *a, const int *lda,
            double *b, const int *ldb, double *values, double *work, const int *work_size, int *info);

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

size_t
curvature_bytes(size_t columns, size_t order, unsigned threads, size_t *scratch)
{
	size_t one = 2 * order * stride_of(order) * sizeof(float);

	*scratch =
	        2 * order * order * sizeof(double) +
	        parallel_slots(threads_of(order, threads)) * (one / 2 + 2 * BLOCK * stride_of(order) * sizeof(float));
	return columns * one > FACTORS_MOST ? one : columns * one;
}

size_t
curvature_length(const struct curvature *curvature)
{
	return curvature->factor_count * 2 * curvature->order * curvature->stride;
}

int
curvature_init(struct curvature *curvature, size_t columns, size_t order, struct portolan_error *error)
{
	size_t one = 2 * order * stride_of(order) * sizeof(float);

	openblas_set_num_threads(1);
	*curvature = (struct curvature){
	        .columns = columns, .order = order, .stride = stride_of(order), .factor_count = columns};
	if (columns * one > FACTORS_MOST)
		curvature->factor_count = 1;
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

/* T and σ of P x = σ A x, xᵀ A x = 1; `a` and `values` get σ. */
static int
diagonalise(struct curvature *curvature, const struct making *making, double *values, struct portolan_error *error)
{
	size_t columns = curvature->columns, n = columns;
	double *a = malloc(2 * n * n * sizeof(double)), *p = a + n * n, *work = malloc(8 * n * sizeof(double)),
	       trace = 0;
	int order = (int)n, size = (int)(8 * n), type = 1, info = -1;

	if (!a || !work) {
		free(a);
		free(work);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classes", n + 1);
	}
	for (size_t i = 0; i < n; i++)
		trace += making->covariance[i * n + i] / (double)making->count;
	for (size_t i = 0; i < n * n; i++) {
		bool diagonal = i / n == i % n;

		p[i] = n == 1 ? 1 : diagonal - 1 / (double)(n + 1);
		a[i] = making->covariance[i] / (double)making->count + (diagonal ? 1e-6 * trace + 1e-12 : 0);
	}
	dsygv_(&type, "V", "U", &order, p, &order, a, &order, values, work, &size, &info);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) /* eigenvectors lie column by column */
			curvature->transform[i * n + k] = p[k * n + i];
	free(a);
	free(work);
	return info == 0 ? 0 : error_set(error, PORTOLAN_E_INVALID, "the classes' probabilities cannot be told apart");
}

/* M and Mᵀ of (G + ridge D)⁻¹ = Mᵀ M. `work`: order × order. */
static void
factor(const struct making *making, double scale, double ridge, double *work, float *m)
{
	size_t order = making->order, stride = making->stride;
	float *across = m + order * stride;
	double largest = 0, more = 0;
	int n = (int)order, info = 1;

	for (size_t f = 0; f < order; f++)
		largest = fmax(largest, scale * making->gram[f * order + f]);
	while (info != 0 && more <= 1) {
		for (size_t f = 0; f < order; f++) {
			for (size_t g = f; g < order; g++)
				work[f * order + g] = scale * making->gram[f * order + g];
			work[f * order + f] += (f + 1 < order ? ridge : 0) + more * largest + 1e-300;
		}
		dpotrf_("L", &n, work, &n, &info); /* row by row upper is column by column lower */
		if (info == 0)
			dtrtri_("L", "N", &n, work, &n, &info);
		more = more == 0 ? 1e-9 : 10 * more;
	}
	for (size_t f = 0; f < order; f++)
		for (size_t g = f; g < order; g++) {
			float value = info == 0 ? (float)work[f * order + g]
			              : f == g  ? 1 / sqrtf((float)largest + 1)
			                        : 0;

			across[f * stride + g] = value;
			m[g * stride + f] = value;
		}
}

struct factoring {
	struct curvature *curvature;
	const struct making *making;
	double scale;
	const double *values;
	double *work; /* by slot */
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
	code = values && factoring.work ? diagonalise(curvature, making, values, error)
	                                : error_set(error, PORTOLAN_E_MEMORY,
	                                            "out of memory for matrices of %zu features", making->order);
	if (code >= 0 && curvature->factor_count == 1) {
		for (size_t k = 0; k < columns; k++)
			middle += log(values[k]) / (double)columns;
		values[0] = exp(middle);
	}
	if (code >= 0)
		code = parallel_run(&parallel, error);
	free(factoring.work);
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

/*
 * gram.c: rows are weighted and put down twice, as they are and transposed, a block at a time, for the large product of
 * the kernels; only the upper triangle is multiplied. Parts are added up in double precision, in their order.
 */
#include "gram.h"

#include "base/parallel.h"
#include "sweep.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART 1024                      /* rows of a weighted product; */
#define BLOCK 256                      /* of these at a time, */
#define STRIP 48                       /* and so many of its rows */
#define SLOTS_MOST (UINT64_C(1) << 28) /* bytes of what threads add up in */

/* Rows are a multiple of KERNELS_STRIDE floats: eight sums side by side. */
typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

struct gram_slot {
	float *rows, *across, *product; /* BLOCK × stride, its transpose, order × stride */
	double *covariance, *p, weight;
	/* where columns are many: of a block p and its transpose, Σ p pᵀ, and what residuals() fills */
	float *z, *z_across, *pairs, *sums, *over;
	int32_t *golds; /* the reference */
};

/* Floats in whole registers. */
static size_t
whole_of(size_t count)
{
	return (count + KERNELS_STRIDE - 1) / KERNELS_STRIDE * KERNELS_STRIDE;
}

/* So many that what they add up in stays within limits. */
static unsigned
threads_of(size_t order, unsigned threads)
{
	size_t one = 2 * order * order * sizeof(float) + 1, most = SLOTS_MOST / one;

	return most < 1 ? 1 : most < threads ? (unsigned)most : threads;
}

size_t
gram_bytes(size_t columns, size_t order, size_t stride, unsigned threads)
{
	size_t floats = (order + 2 * BLOCK) * stride, width = whole_of(columns);

	if (columns >= PROBLEM_MANY)
		floats += (columns + BLOCK) * width + BLOCK * columns;
	return parallel_slots(threads_of(order, threads)) *
	       (floats * sizeof(float) + columns * columns * sizeof(double));
}

/* Probabilities p of the classes but the reference; returns 1 − Σ p² over all. */
static double
probabilities(const struct gram *gram, const float *row, double *p)
{
	double top = 0, sum, squares;

	for (size_t k = 0; k < gram->columns; k++) {
		const float *weights = gram->weights + k * gram->stride;
		eight sums = {0};

		for (size_t f = 0; f < gram->stride; f += 8)
			sums += *(const eight *)(row + f) * *(const eight *)(weights + f);
		p[k] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
		top = p[k] > top ? p[k] : top;
	}
	sum = exp(-top);
	for (size_t k = 0; k < gram->columns; k++)
		sum += p[k] = exp(p[k] - top);
	squares = exp(-top) / sum * (exp(-top) / sum);
	for (size_t k = 0; k < gram->columns; k++) {
		p[k] /= sum;
		squares += p[k] * p[k];
	}
	return 1 - squares;
}

/* Takes the row's part of A, and puts it down, times the root of its weight. */
static void
weigh_row(const struct gram *gram, struct gram_slot *slot, const float *row, size_t i)
{
	size_t columns = gram->columns;
	double weight = probabilities(gram, row, slot->p);
	float root = (float)sqrt(weight > 0 ? weight : 0);

	slot->weight += weight;
	for (size_t a = 0; a < columns; a++)
		for (size_t b = 0; b < columns; b++)
			slot->covariance[a * columns + b] += slot->p[a] * ((a == b) - slot->p[b]);
	for (size_t f = 0; f < gram->stride; f++)
		slot->rows[i * gram->stride + f] = root * row[f];
}

/* The upper triangle of Σ p pᵀ, of p of a block, in strips; and Σ p. */
static void
pair_block(const struct gram *gram, struct gram_slot *slot, size_t n)
{
	size_t columns = gram->columns, width = whole_of(columns);

	for (size_t k = 0; k < columns; k++)
		for (size_t i = 0; i < n; i++) {
			slot->covariance[k * columns + k] += slot->z[k * BLOCK + i];
			slot->z_across[i * width + k] = slot->z[k * BLOCK + i];
		}
	for (size_t first = 0; first < columns; first += STRIP) {
		struct kernels_product product = {.a = slot->z + first * BLOCK,
		                                  .a_stride = BLOCK,
		                                  .b = slot->z_across + first,
		                                  .b_stride = width,
		                                  .c = slot->pairs + first * width + first,
		                                  .c_stride = width,
		                                  .rows = columns - first < STRIP ? columns - first : STRIP,
		                                  .depth = n,
		                                  .columns = width - first,
		                                  .add = true};

		gram->problem->kernels->multiply(&product);
	}
}

/* As weigh_row() does of each row, of a block that is put down. */
static void
weigh_block(const struct gram *gram, struct gram_slot *slot, size_t n)
{
	size_t columns = gram->columns;
	struct kernels_product product = {.a = gram->weights,
	                                  .a_stride = gram->stride,
	                                  .b = slot->across,
	                                  .b_stride = BLOCK,
	                                  .c = slot->z,
	                                  .c_stride = BLOCK,
	                                  .rows = columns,
	                                  .depth = gram->order,
	                                  .columns = whole_of(n)};

	sweep_transpose(slot->rows, gram->stride, whole_of(n), slot->across, BLOCK);
	gram->problem->kernels->multiply(&product);
	gram->problem->kernels->residuals(slot->z, BLOCK, columns, NULL, slot->golds, n, slot->sums, slot->over);
	for (size_t i = 0; i < n; i++) {
		double reference = exp(-(double)slot->over[i]) / slot->sums[i];

		slot->p[i] = reference * reference;
	}
	for (size_t k = 0; k < columns; k++)
		for (size_t i = 0; i < n; i++)
			slot->p[i] += slot->z[k * BLOCK + i] * slot->z[k * BLOCK + i];
	for (size_t i = 0; i < n; i++) {
		float root = (float)sqrt(fmax(1 - slot->p[i], 0));

		slot->weight += fmax(1 - slot->p[i], 0);
		for (size_t f = 0; f < gram->stride; f++)
			slot->rows[i * gram->stride + f] *= root;
	}
	pair_block(gram, slot, n);
}

/* The upper triangle of the block's product with itself, in strips. */
static void
multiply_block(const struct gram *gram, struct gram_slot *slot, size_t n)
{
	for (size_t first = 0; first < gram->order; first += STRIP) {
		struct kernels_product product = {.a = slot->across + first * BLOCK,
		                                  .a_stride = BLOCK,
		                                  .b = slot->rows + first,
		                                  .b_stride = gram->stride,
		                                  .c = slot->product + first * gram->stride + first,
		                                  .c_stride = gram->stride,
		                                  .rows = gram->order - first,
		                                  .depth = n,
		                                  .columns = gram->stride - first,
		                                  .add = true};

		product.rows = product.rows < STRIP ? product.rows : STRIP;
		gram->problem->kernels->multiply(&product);
	}
}

static int
weigh_part(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct gram *gram = context;
	struct gram_slot *slot = &gram->slots[slot_number];
	size_t end = (part + 1) * PART < gram->count ? (part + 1) * PART : gram->count;

	(void)thread;
	(void)error;
	slot->weight = 0;
	memset(slot->covariance, 0, gram->columns * gram->columns * sizeof(double));
	memset(slot->product, 0, gram->order * gram->stride * sizeof(float));
	if (slot->pairs)
		memset(slot->pairs, 0, gram->columns * whole_of(gram->columns) * sizeof(float));
	for (size_t from = part * PART; from < end; from += BLOCK) {
		size_t n = end - from < BLOCK ? end - from : BLOCK;

		for (size_t i = 0; i < n; i++) {
			const float *row = matrix_row(gram->problem->matrix, gram->rows[from + i]);

			matrix_fetch_row(gram->problem->matrix, gram->rows[from + i + (i + 1 < n)]);
			if (slot->pairs)
				memcpy(slot->rows + i * gram->stride, row, gram->stride * sizeof(float));
			else
				weigh_row(gram, slot, row, i);
		}
		if (slot->pairs)
			weigh_block(gram, slot, n);
		sweep_transpose(slot->rows, gram->stride, whole_of(n), slot->across, BLOCK);
		multiply_block(gram, slot, n);
	}
	return 0;
}

static int
weigh_deliver(void *context, unsigned slot_number, size_t part, struct portolan_error *error)
{
	struct gram *gram = context;
	const struct gram_slot *slot = &gram->slots[slot_number];

	(void)part;
	(void)error;
	gram->weight += slot->weight;
	for (size_t i = 0; i < gram->columns * gram->columns; i++)
		gram->covariance[i] += slot->covariance[i];
	for (size_t a = 0; slot->pairs && a < gram->columns; a++)
		for (size_t b = a; b < gram->columns; b++) {
			double pair = slot->pairs[a * whole_of(gram->columns) + b];

			gram->covariance[a * gram->columns + b] -= pair;
			gram->covariance[b * gram->columns + a] -= a == b ? 0 : pair;
		}
	for (size_t row = 0; row < gram->order; row++)
		for (size_t f = row; f < gram->order; f++)
			gram->product[row * gram->order + f] += slot->product[row * gram->stride + f];
	return 0;
}

static bool
slot_init(struct gram_slot *slot, const struct gram *gram)
{
	size_t columns = gram->columns, width = whole_of(columns), ps = columns > BLOCK ? columns : BLOCK;
	bool many = columns >= PROBLEM_MANY;

	slot->rows = aligned_alloc(64, BLOCK * gram->stride * sizeof(float));
	slot->across = aligned_alloc(64, BLOCK * gram->stride * sizeof(float));
	slot->product = aligned_alloc(64, gram->order * gram->stride * sizeof(float));
	slot->covariance = malloc(columns * columns * sizeof(double));
	slot->p = malloc(ps * sizeof(double));
	if (many) {
		slot->z = aligned_alloc(64, columns * BLOCK * sizeof(float));
		slot->z_across = aligned_alloc(64, BLOCK * width * sizeof(float));
		slot->pairs = aligned_alloc(64, columns * width * sizeof(float));
		slot->sums = aligned_alloc(64, 2 * BLOCK * sizeof(float));
		slot->over = slot->sums + BLOCK;
		slot->golds = calloc(BLOCK, sizeof(int32_t));
	}
	if (slot->z_across)
		memset(slot->z_across, 0, BLOCK * width * sizeof(float));
	if (slot->rows)
		memset(slot->rows, 0, BLOCK * gram->stride * sizeof(float));
	return slot->rows && slot->across && slot->product && slot->covariance && slot->p &&
	       (!many || (slot->z && slot->z_across && slot->pairs && slot->sums && slot->golds));
}

int
gram_make(struct gram *gram, struct portolan_error *error)
{
	unsigned threads = threads_of(gram->order, gram->problem->threads), slots = parallel_slots(threads);
	struct parallel parallel = {.threads = threads,
	                            .count = (gram->count + PART - 1) / PART,
	                            .context = gram,
	                            .work = weigh_part,
	                            .deliver = weigh_deliver};
	int code = 0;

	gram->slots = calloc(slots, sizeof(*gram->slots));
	for (unsigned s = 0; gram->slots && s < slots; s++) {
		if (!slot_init(&gram->slots[s], gram))
			code = PORTOLAN_E_MEMORY;
	}
	if (!gram->slots || code < 0)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for matrices of %zu features", gram->order);
	else
		code = parallel_run(&parallel, error);
	for (unsigned s = 0; gram->slots && s < slots; s++) {
		free(gram->slots[s].rows);
		free(gram->slots[s].across);
		free(gram->slots[s].product);
		free(gram->slots[s].covariance);
		free(gram->slots[s].p);
		free(gram->slots[s].z);
		free(gram->slots[s].z_across);
		free(gram->slots[s].pairs);
		free(gram->slots[s].sums);
		free(gram->slots[s].golds);
	}
	free(gram->slots);
	return code;
}

/*
 * gram.c: weighs rows, and adds up their products. A block of weighted rows is there twice, as it is and transposed, for the
 * large product of the kernels. Only the upper triangle is multiplied.
 *
 * The sum of a part of the rows is in single precision. The parts are added in double precision, in their order.
 */
#include "gram.h"

#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART 1024                      /* rows whose products are added up in single precision */
#define BLOCK 256                      /* rows of a product */
#define STRIP 48                       /* rows of the result that are computed at once */
#define SLOTS_MOST (UINT64_C(1) << 28) /* bytes of all sums of parts */

/* Rows are a multiple of KERNELS_STRIDE floats: eight sums side by side. */
typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

struct gram_slot {
	float *rows, *across, *product; /* BLOCK × stride, its transpose, order × stride */
	double *covariance, *p, weight;
	/* Of many columns: the block's probabilities, their transpose, Σ p pᵀ, and what residuals() fills. */
	float *z, *z_across, *pairs, *sums, *over;
	int32_t *golds; /* zeroes: the reference class */
};

struct gramming {
	struct gram *gram;
	struct gram_slot *slots;
};

/* Fewer threads than asked for, where their sums would take too many bytes. */
static unsigned
gram_threads(size_t order, unsigned threads)
{
	size_t most = SLOTS_MOST / (2 * order * order * sizeof(float) + 1);

	return most < 1 ? 1 : most < threads ? (unsigned)most : threads;
}

size_t
gram_bytes(size_t columns, size_t order, size_t stride, unsigned threads)
{
	size_t floats = (order + 2 * BLOCK) * stride;

	if (columns >= PROBLEM_MANY)
		floats += (columns + BLOCK) * kernels_round(columns) + BLOCK * columns;
	return parallel_slots(gram_threads(order, threads)) *
	       (floats * sizeof(float) + columns * columns * sizeof(double));
}

/* Fills p with the probabilities of the classes, without the reference; returns 1 − Σ p² over all classes. */
static double
gram_find_probabilities(const struct gram *gram, const float *row, double *p)
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

/* Adds the row's part of the covariance, and writes the row, times the root of its weight, as row i of the block. */
static void
gram_weigh_row(const struct gram *gram, struct gram_slot *slot, const float *row, size_t i)
{
	size_t columns = gram->columns;
	double weight = gram_find_probabilities(gram, row, slot->p);
	float root = (float)sqrt(weight > 0 ? weight : 0);

	slot->weight += weight;
	for (size_t a = 0; a < columns; a++)
		for (size_t b = 0; b < columns; b++)
			slot->covariance[a * columns + b] += slot->p[a] * ((a == b) - slot->p[b]);
	for (size_t f = 0; f < gram->stride; f++)
		slot->rows[i * gram->stride + f] = root * row[f];
}

/* Adds the upper triangle of a b to that of c, `order` × `stride`, in strips; both have `depth` ≤ BLOCK examples. */
static void
gram_multiply(const struct gram *gram, const float *a, const float *b, float *c, size_t order, size_t stride,
              size_t depth)
{
	for (size_t first = 0; first < order; first += STRIP) {
		size_t rows = order - first < STRIP ? order - first : STRIP;
		struct kernels_product product = {
		        a + first * BLOCK, BLOCK, b + first, stride, c + first * stride + first, stride, rows, depth,
		        stride - first,    true};

		gram->problem->kernels->multiply(&product);
	}
}

/* Of many columns, weighs the n rows of a block as gram_weigh_row() weighs one. */
static void
gram_weigh_block(const struct gram *gram, struct gram_slot *slot, size_t n)
{
	size_t columns = gram->columns, stride = gram->stride, width = kernels_round(columns);
	struct kernels_product product = {gram->weights, stride,      slot->across,     BLOCK, slot->z, BLOCK,
	                                  columns,       gram->order, kernels_round(n), false};

	sweep_transpose(slot->rows, stride, kernels_round(n), slot->across, BLOCK);
	gram->problem->kernels->multiply(&product);
	gram->problem->kernels->residuals(slot->z, BLOCK, columns, NULL, slot->golds, n, slot->sums, slot->over);
	for (size_t i = 0; i < n; i++) {
		double reference = exp(-(double)slot->over[i]) / slot->sums[i];

		slot->p[i] = reference * reference;
	}
	for (size_t k = 0; k < columns; k++)
		for (size_t i = 0; i < n; i++) {
			float p = slot->z[k * BLOCK + i];

			slot->p[i] += p * p;
			slot->covariance[k * columns + k] += p;
			slot->z_across[i * width + k] = p;
		}
	for (size_t i = 0; i < n; i++) {
		double weight = fmax(1 - slot->p[i], 0);
		float root = (float)sqrt(weight);

		slot->weight += weight;
		for (size_t f = 0; f < stride; f++)
			slot->rows[i * stride + f] *= root;
	}
	gram_multiply(gram, slot->z, slot->z_across, slot->pairs, columns, width, n);
}

static int
gram_weigh_part(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct gramming *gramming = context;
	const struct gram *gram = gramming->gram;
	struct gram_slot *slot = &gramming->slots[slot_number];
	size_t end = (part + 1) * PART < gram->count ? (part + 1) * PART : gram->count, stride = gram->stride;

	(void)thread;
	(void)error;
	slot->weight = 0;
	memset(slot->covariance, 0, gram->columns * gram->columns * sizeof(double));
	memset(slot->product, 0, gram->order * stride * sizeof(float));
	if (slot->pairs)
		memset(slot->pairs, 0, gram->columns * kernels_round(gram->columns) * sizeof(float));
	for (size_t from = part * PART; from < end; from += BLOCK) {
		size_t n = end - from < BLOCK ? end - from : BLOCK;

		for (size_t i = 0; i < n; i++) {
			const float *row = matrix_row(gram->problem->matrix, gram->rows[from + i]);

			matrix_fetch_row(gram->problem->matrix, gram->rows[from + i + (i + 1 < n)]);
			if (slot->pairs)
				memcpy(slot->rows + i * stride, row, stride * sizeof(float));
			else
				gram_weigh_row(gram, slot, row, i);
		}
		if (slot->pairs)
			gram_weigh_block(gram, slot, n);
		sweep_transpose(slot->rows, stride, kernels_round(n), slot->across, BLOCK);
		gram_multiply(gram, slot->across, slot->rows, slot->product, gram->order, stride, n);
	}
	return 0;
}

static int
gram_add_part(void *context, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct gramming *gramming = context;
	struct gram *gram = gramming->gram;
	const struct gram_slot *slot = &gramming->slots[slot_number];

	(void)part;
	(void)error;
	gram->weight += slot->weight;
	for (size_t i = 0; i < gram->columns * gram->columns; i++)
		gram->covariance[i] += slot->covariance[i];
	for (size_t a = 0; slot->pairs && a < gram->columns; a++)
		for (size_t b = a; b < gram->columns; b++) {
			double pair = slot->pairs[a * kernels_round(gram->columns) + b];

			gram->covariance[a * gram->columns + b] -= pair;
			gram->covariance[b * gram->columns + a] -= a == b ? 0 : pair;
		}
	for (size_t row = 0; row < gram->order; row++)
		for (size_t f = row; f < gram->order; f++)
			gram->product[row * gram->order + f] += slot->product[row * gram->stride + f];
	return 0;
}

static struct gram_slot
gram_make_slot(const struct gram *gram)
{
	size_t columns = gram->columns, width = kernels_round(columns);
	struct gram_slot slot = {.rows = kernels_floats(BLOCK * gram->stride),
	                         .across = kernels_floats(BLOCK * gram->stride),
	                         .product = kernels_floats(gram->order * gram->stride),
	                         .covariance = memory_new(columns * columns, sizeof(double)),
	                         .p = memory_new(columns > BLOCK ? columns : BLOCK, sizeof(double))};

	if (columns < PROBLEM_MANY)
		return slot;
	slot.z = kernels_floats(columns * BLOCK);
	slot.z_across = kernels_floats(BLOCK * width);
	slot.pairs = kernels_floats(columns * width);
	slot.sums = kernels_floats(2 * BLOCK);
	slot.over = slot.sums + BLOCK;
	slot.golds = memory_new(BLOCK, sizeof(int32_t));
	return slot;
}

void
gram_make(struct gram *gram)
{
	unsigned threads = gram_threads(gram->order, gram->problem->threads), slots = parallel_slots(threads);
	CLEANUP_FREE struct gram_slot *of_slots = memory_new(slots, sizeof(*of_slots));
	struct gramming gramming = {gram, of_slots};
	struct parallel parallel = {.threads = threads,
	                            .count = (gram->count + PART - 1) / PART,
	                            .context = &gramming,
	                            .work = gram_weigh_part,
	                            .deliver = gram_add_part};

	for (unsigned s = 0; s < slots; s++)
		of_slots[s] = gram_make_slot(gram);
	problem_run(&parallel);
	for (unsigned s = 0; s < slots; s++) {
		free(of_slots[s].rows);
		free(of_slots[s].across);
		free(of_slots[s].product);
		free(of_slots[s].covariance);
		free(of_slots[s].p);
		free(of_slots[s].z);
		free(of_slots[s].z_across);
		free(of_slots[s].pairs);
		free(of_slots[s].sums);
		free(of_slots[s].golds);
	}
}

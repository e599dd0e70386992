/*
 * gram.c: computes the sums that curvature.c makes its matrices of (gram.h). It weighs rows by how unsure a classifier
 * is of them, and adds up the products of their features, and those of their probabilities.
 *
 * A block of rows is there twice, as it is and transposed, for the large product of the kernels. Only the upper
 * triangle is multiplied. The sum of a part of the rows is in single precision. The parts are added in double
 * precision, in their order.
 */
#include "gram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART 1024                      /* rows whose products are added up in single precision */
#define BLOCK 256                      /* rows of a product */
#define STRIP 48                       /* rows of the result that are computed at once */
#define SLOTS_MOST (UINT64_C(1) << 28) /* bytes of the sums of all threads */

struct gram_slot {
	float *rows, *across, *product; /* BLOCK × stride, its transpose, order × stride */
	float *p, *p_across, *pairs; /* probabilities, columns × BLOCK; their transpose; Σ p pᵀ, columns × columns */
	double *diagonal;            /* Σ p (1 − p), by column */
	double *exponentials;        /* of one row, by column */
	double weight;               /* Σ 1 − Σ p² */
};

struct gramming {
	struct gram *gram;
	struct gram_slot *slots;
};

/* The number of threads: fewer than asked for, where their sums would take too many bytes. */
static unsigned
gram_threads(size_t order, unsigned threads)
{
	size_t most = SLOTS_MOST / (2 * order * order * sizeof(float) + 1);

	return most < 1 ? 1 : most < threads ? (unsigned)most : threads;
}

size_t
gram_bytes(size_t columns, size_t order, size_t stride, unsigned threads)
{
	size_t floats = (order + 2 * BLOCK) * stride + (columns + BLOCK) * kernels_round(columns) + BLOCK * columns;

	return parallel_slots(gram_threads(order, threads)) * (floats * sizeof(float) + 2 * columns * sizeof(double));
}

/*
 * Turns the distances of row i of the block, in slot->p, into probabilities. Returns 1 − Σ p² over all classes.
 *
 * The weight, and the diagonal of the covariance, are sums of 1 − p, which single precision loses where a classifier is sure. So
 * they are computed here, in double precision. The rest of the covariance are products of two p, where single precision will do.
 */
static double
gram_find_probabilities(const struct gram *gram, struct gram_slot *slot, size_t i)
{
	size_t columns = gram->columns, width = kernels_round(columns);
	double *e = slot->exponentials, top = 0, sum, squares;

	for (size_t k = 0; k < columns; k++)
		top = fmax(top, slot->p[k * BLOCK + i]);
	sum = exp(-top);
	squares = sum * sum;
	for (size_t k = 0; k < columns; k++) {
		e[k] = exp(slot->p[k * BLOCK + i] - top);
		sum += e[k];
		squares += e[k] * e[k];
	}
	for (size_t k = 0; k < columns; k++) {
		double p = e[k] / sum;

		slot->diagonal[k] += p * (1 - p);
		slot->p[k * BLOCK + i] = slot->p_across[i * width + k] = (float)p;
	}
	return fmax(1 - squares / (sum * sum), 0);
}

/* As gram_find_probabilities(), but of a support vector machine: returns twice the number of columns in which a row with
 * this label has a loss. */
static double
gram_find_losses(const struct gram *gram, struct gram_slot *slot, size_t i, size_t label)
{
	size_t width = kernels_round(gram->columns), first = problem_first_slot(gram->problem);
	double weight = 0;

	for (size_t k = 0; k < gram->columns; k++) {
		double z = slot->p[k * BLOCK + i], has = (k + first == label ? z : -z) < 1 ? 2 : 0;

		weight += has;
		slot->diagonal[k] += has;
		slot->p[k * BLOCK + i] = slot->p_across[i * width + k] = 0;
	}
	return weight;
}

/* Adds the upper triangle of the product a b to that of c, strip by strip. c is order × stride; a and b have `depth` ≤
 * BLOCK examples. */
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

/* Multiplies the n rows of the block by the roots of their weights, and adds to weight, diagonal and pairs. */
static void
gram_weigh_block(const struct gram *gram, struct gram_slot *slot, const uint32_t *rows, size_t n)
{
	size_t columns = gram->columns, stride = gram->stride;
	struct kernels_product product = {gram->weights, stride,      slot->across,     BLOCK, slot->p, BLOCK,
	                                  columns,       gram->order, kernels_round(n), false};

	kernels_transpose(slot->rows, stride, kernels_round(n), slot->across, BLOCK);
	gram->problem->kernels->multiply(&product);
	for (size_t i = 0; i < n; i++) {
		double weight = gram->problem->hinge ? gram_find_losses(gram, slot, i, gram->problem->labels[rows[i]])
		                                     : gram_find_probabilities(gram, slot, i);
		float root = (float)sqrt(weight);

		slot->weight += weight;
		for (size_t f = 0; f < stride; f++)
			slot->rows[i * stride + f] *= root;
	}
	gram_multiply(gram, slot->p, slot->p_across, slot->pairs, columns, kernels_round(columns), n);
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
	memset(slot->diagonal, 0, gram->columns * sizeof(double));
	memset(slot->product, 0, gram->order * stride * sizeof(float));
	memset(slot->pairs, 0, gram->columns * kernels_round(gram->columns) * sizeof(float));
	for (size_t from = part * PART; from < end; from += BLOCK) {
		size_t n = end - from < BLOCK ? end - from : BLOCK;

		for (size_t i = 0; i < n; i++) {
			matrix_fetch_row(gram->problem->matrix, gram->rows[from + i + (i + 1 < n)]);
			memcpy(slot->rows + i * stride, matrix_row(gram->problem->matrix, gram->rows[from + i]),
			       stride * sizeof(float));
		}
		gram_weigh_block(gram, slot, gram->rows + from, n);
		kernels_transpose(slot->rows, stride, kernels_round(n), slot->across, BLOCK);
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
	for (size_t k = 0; k < gram->columns; k++)
		gram->covariance[k * gram->columns + k] += slot->diagonal[k];
	for (size_t a = 0; a < gram->columns; a++)
		for (size_t b = a + 1; b < gram->columns; b++) {
			double pair = slot->pairs[a * kernels_round(gram->columns) + b];

			gram->covariance[a * gram->columns + b] -= pair;
			gram->covariance[b * gram->columns + a] -= pair;
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

	return (struct gram_slot){.rows = kernels_floats(BLOCK * gram->stride),
	                          .across = kernels_floats(BLOCK * gram->stride),
	                          .product = kernels_floats(gram->order * gram->stride),
	                          .p = kernels_floats(columns * BLOCK),
	                          .p_across = kernels_floats(BLOCK * width),
	                          .pairs = kernels_floats(columns * width),
	                          .diagonal = memory_new(columns, sizeof(double)),
	                          .exponentials = memory_new(columns, sizeof(double))};
}

static void
gram_free_slot(struct gram_slot *slot)
{
	free(slot->rows);
	free(slot->across);
	free(slot->product);
	free(slot->p);
	free(slot->p_across);
	free(slot->pairs);
	free(slot->diagonal);
	free(slot->exponentials);
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
	for (unsigned s = 0; s < slots; s++)
		gram_free_slot(&of_slots[s]);
}

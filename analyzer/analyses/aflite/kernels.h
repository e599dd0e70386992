/*
 * kernels.h: the inner loops of `portolan aflite`, for the code that fits its linear classifiers and lets them predict.
 * One loop adds what a block of rows contributes to a classifier's gradient; others compute what classifiers predict
 * for a row. Pure, in single precision. Each loop exists for several kinds of processor.
 *
 * A classifier has `columns` weight vectors (problem.h): classes − 1, relative to the class in slot 0 (training.h); or,
 * of a support vector machine for more than two classes, one for each class. Rows and
 * weight vectors have `stride` floats, a multiple of KERNELS_STRIDE. A row has its features, a 1 for the intercept, and
 * zeroes.
 */
#ifndef AFLITE_KERNELS_H
#define AFLITE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNELS_STRIDE 16 /* floats: 64 bytes, a line of cache and the widest register */
#define KERNELS_TILE 64   /* the most rows that are worked on at once */
#define KERNELS_PAD 8     /* lists of rows end with this many further entries, which point to any row */

/* `count` floats, rounded up to whole registers. */
static inline size_t
kernels_round(size_t count)
{
	return (count + KERNELS_STRIDE - 1) / KERNELS_STRIDE * KERNELS_STRIDE;
}

/* `count` zeroes in whole registers, 64-byte aligned, to be released with free(). */
float *kernels_floats(size_t count) __attribute__((malloc, returns_nonnull));

struct kernels_fit {
	size_t stride, columns;
	const float *weights; /* columns × stride */
	const uint8_t
	        *absent; /* by slot: classes that the training set lacks, and so without probability; NULL: none */
	float *gradient; /* columns × stride: what the rows contribute is added to it */
	float *scratch;  /* (columns + 2) × KERNELS_TILE */
	bool hinge;      /* whether the loss is the squared hinge; else it is −ln p(gold) */
	size_t first;    /* the slot of the first column */
};

/* A classifier's predictions of `count` rows: z[k × tile + i] is the distance of row i from the class in slot k + 1. made,
 * correct and margins are 64-byte aligned, and have `tile` entries. */
struct kernels_judged {
	const float *z;
	size_t tile, columns, count;
	const int32_t *golds;    /* by row: the slot of its label */
	const uint64_t *trained; /* a bit for each row: whether it trained the classifier */
	int32_t *made, *correct;
	float *margins;
};

/*
 * The product c = a b, or c += a b: a is rows × depth, b is depth × columns. Each matrix has `stride` floats from one row to
 * the next. `columns` is a multiple of KERNELS_STRIDE; b, c and their rows are 64-byte aligned.
 */
struct kernels_product {
	const float *a;
	size_t a_stride;
	const float *b;
	size_t b_stride;
	float *c;
	size_t c_stride;
	size_t rows, depth, columns;
	bool add;
};

struct kernels {
	const char *name; /* as kernels_named() takes it */
	/* Adds the gradient of the rows' losses, and returns the sum of these losses. `rows` and `slots` (of the gold
	 * labels) have `count` entries, and KERNELS_PAD readable ones after that. */
	double (*fit)(const struct kernels_fit *fit, const float *const *rows, const int32_t *slots, size_t count);
	/* z[k × tile + i] holds the distances of `count` rows, where `tile` is a multiple of KERNELS_STRIDE. They become
	 * p_k(i) − [k is gold]. Returns the sum of the losses. sums[i] becomes Σ e^(z − max z), over[i] max z − z_gold;
	 * both have `tile` floats. The last register of each row of z is readable. */
	double (*residuals)(float *z, size_t tile, size_t columns, const uint8_t *absent, const int32_t *slots,
	                    size_t count, float *sums, float *over);
	/* As residuals(), but with the squared hinge as the loss: z becomes −2 s max(0, 1 − s z), where s is 1 in the
	 * column of gold, and else −1; sums[i] becomes Σ max(0, 1 − s z)². Column k is that of slot `first` + k. */
	double (*shortfalls)(float *z, size_t tile, size_t columns, size_t first, const uint8_t *absent,
	                     const int32_t *slots, size_t count, float *sums);
	/* Judges the distances z, for each row that did not train the classifier. Adds 1 to made[i]; 1 to
	 * correct[i] if gold has the largest distance (of equal ones the lowest class wins); and z_gold − max
	 * other z to margins[i]. */
	void (*judge)(const struct kernels_judged *judged);
	void (*multiply)(const struct kernels_product *product);
	/* Half precision to single; `from` need not be aligned. */
	void (*widen)(const void *from, float *to, size_t count);
	/* Adds a row of `stride` features to the sums, and widens the ranges of values. Returns whether all features are
	 * finite. `row` need not be aligned. */
	bool (*survey)(const float *row, size_t stride, float *sums, float *lowest, float *highest);
	/* to = from − less; `from` need not be aligned. */
	void (*subtract)(const float *from, const float *less, float *to, size_t count);
};

/* Transposes the first `count` rows (a multiple of KERNELS_STRIDE): they become columns of `across`, which is stride ×
 * width. Works in squares, which take few lines of cache both ways. All of it is 16-byte aligned. */
void kernels_transpose(const float *rows, size_t stride, size_t count, float *across, size_t width);

/* The fastest kernels that this processor has the instructions for. */
const struct kernels *kernels_best(void);
/* `name`: "plain", "avx2" or "avx512". NULL: this processor has no such instructions. */
const struct kernels *kernels_named(const char *name);

#endif

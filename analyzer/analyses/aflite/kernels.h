/*
 * kernels.h: the inner loops of portolan aflite: what one block of rows does to one linear classifier, and what all
 * classifiers say of one row. Pure; in single precision. Each exists for several kinds of processor.
 *
 * A classifier has `columns` = classes − 1 weight vectors, relative to the class in slot 0, each of `stride` floats (a
 * multiple of KERNELS_STRIDE), as rows have; what is beyond the features is zero but for the intercept's one.
 */
#ifndef AFLITE_KERNELS_H
#define AFLITE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNELS_STRIDE 16 /* floats: 64 bytes, a line of cache and the widest register */
#define KERNELS_TILE 64   /* rows that are worked on at once, at most */
#define KERNELS_PAD 8     /* lists of rows have so many more entries, of any rows */

struct kernels_fit {
	size_t stride, columns;
	const float *weights;  /* columns × stride */
	const uint8_t *absent; /* by slot: classes the training set lacks, which get no probability; NULL: none */
	float *gradient;       /* columns × stride; what the rows contribute is added */
	float *scratch;        /* (columns + 2) × KERNELS_TILE */
};

/* Rows whose distances from the separating planes are to be judged: z[slot − 1][partition], `lanes` partitions. */
struct kernels_judged {
	const float *z;
	size_t columns, lanes; /* lanes: a multiple of KERNELS_STRIDE */
	const uint64_t *held_out;
	unsigned gold; /* slot */
};

struct kernels_product {
	const float *a, *b;
	float *c;
	size_t a_stride, b_stride, c_stride;
	size_t rows, depth, columns;
	bool add;
};

struct kernels {
	const char *name; /* as kernels_named() takes it */
	/* Adds the gradient of the rows' losses, and returns the sum of these. `rows` and `slots` (the gold labels)
	 * have `count` entries and KERNELS_PAD readable ones after that. */
	double (*fit)(const struct kernels_fit *fit, const float *const *rows, const int32_t *slots, size_t count);
	/* z[k × tile + i], the distances of `count` rows of `tile` (a multiple of KERNELS_STRIDE), become p_k(i) − [k is
	 * gold]; returns the sum of the losses. `sums` and `over`, of tile floats: what Σ e^(z − max z) and max z −
	 * z_gold are. What fills up the last register of rows is readable. */
	double (*residuals)(float *z, size_t tile, size_t columns, const uint8_t *absent, const int32_t *slots,
	                    size_t count, float *sums, float *over);
	/* Of rows as for residuals(): right[i], whether gold is the largest (ties go to the lowest class), and
	 * margin[i] = z_gold − max other z. */
	void (*judge_rows)(const float *z, size_t tile, size_t columns, const int32_t *golds, size_t count,
	                   int32_t *right, float *margins);
	/* How many of the held-out partitions are right; *margin is the sum of z_gold − max other z over them. */
	unsigned (*judge)(const struct kernels_judged *judged, float *margin);
	/* c = a b, or c += a b: a is rows × depth, b depth × columns, each with so many floats from one row to the
	 * next. `columns`: a multiple of KERNELS_STRIDE; b, c and their rows are 64-byte aligned. */
	void (*multiply)(const struct kernels_product *product);
	/* Half precision to single; `from` need not be aligned. */
	void (*widen)(const void *from, float *to, size_t count);
	/* Takes a row of `stride` features into sums, smallest and largest values; whether all of them are finite.
	 * `row` need not be aligned. */
	bool (*survey)(const float *row, size_t stride, float *sums, float *lowest, float *highest);
	/* to = from − less; `from` need not be aligned. */
	void (*subtract)(const float *from, const float *less, float *to, size_t count);
};

const struct kernels *kernels_best(void);
/* "plain", "avx2", "avx512"; NULL: this processor has no such instructions. */
const struct kernels *kernels_named(const char *name);

#endif

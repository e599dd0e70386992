/*
 * predict.c: blocks of rows times all weights, and then row by row what each classifier makes of it.
 *
 * All rows are multiplied with all classifiers: the share that was trained on is small, and a dense product is several
 * times faster than one that leaves it out. Products lie by slot and classifier, so that a register holds one row's
 * distances of several classifiers. A class that a training set lacked has no distance: its examples are wrong there,
 * and have the lowest distance of those that have one. Where columns are many, classifiers come one after the other instead,
 * and a register holds several rows' distances of one.
 */
#include "predict.h"

#include "base/parallel.h"
#include "sweep.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256 /* rows */

struct predicting {
	const struct problem *problem;
	const struct training *training;
	const struct predictions *predictions;
	size_t columns, lanes, words; /* lanes: sets, and what fills up a register; words of a row's bits */
	float *weights;               /* stride × (columns × lanes) */
	float *products;              /* by parallel's slot: BLOCK × columns × lanes */
	const float *given;           /* of many columns: sets × columns × stride, as they came; weights is NULL */
	struct many_slot *slots;      /* by parallel's slot */
	uint64_t *held_out;
	bool irregular; /* sets that lack classes there are */
};

size_t
predict_bytes(size_t sets, size_t columns, size_t stride, unsigned threads)
{
	size_t lanes = (sets + KERNELS_STRIDE - 1) / KERNELS_STRIDE * KERNELS_STRIDE;

	if (columns >= PROBLEM_MANY)
		return parallel_slots(threads) * BLOCK * (stride + columns + 3) * sizeof(float);
	return columns * lanes * (stride + parallel_slots(threads) * BLOCK) * sizeof(float);
}

/* Transposes 64 × 64 bits: bit c of row r becomes bit r of row c. */
static void
transpose(uint64_t rows[64])
{
	uint64_t mask = UINT64_C(0x00000000ffffffff);

	for (unsigned width = 32; width > 0; width /= 2, mask ^= mask << width)
		for (unsigned r = 0; r < 64; r = (r + width + 1) & ~width) {
			uint64_t swap = (rows[r] >> width ^ rows[r + width]) & mask;

			rows[r] ^= swap << width;
			rows[r + width] ^= swap;
		}
}

/* held_out[r][w]: the sets 64 w … that row `first` + r is not in, for 64 rows. */
static void
list_held_out(const struct predicting *predicting, size_t first, uint64_t *held_out)
{
	const struct training *training = predicting->training;
	size_t words = predicting->words;

	for (size_t w = 0; w < words; w++) {
		uint64_t bits[64];

		for (size_t i = 0; i < 64; i++)
			bits[i] = w * 64 + i < training->count
			                  ? ~training->bits[(w * 64 + i) * training->words + first / 64]
			                  : 0;
		transpose(bits);
		for (size_t r = 0; r < 64; r++)
			held_out[r * words + w] = bits[r];
	}
}

/* One classifier that lacks classes; its margin, and whether it is right. z[k × step] is the distance of slot k + 1. */
static float
judge_irregular(const struct predicting *predicting, size_t set, const float *z, size_t step, unsigned label,
                bool *right)
{
	const struct training *training = predicting->training;
	const uint16_t *slots = training->slots + set * training->classes;
	const uint8_t *absent = training->absent + set * training->classes;
	float gold = 0, before = -INFINITY, after = -INFINITY, lowest = INFINITY;

	for (unsigned class = 0; class < training->classes; class ++) {
		unsigned slot = slots[class];
		float value = slot == 0 ? 0 : z[(slot - 1) * step];

		if (absent[slot])
			continue;
		lowest = fminf(lowest, value);
		if (class == label)
			gold = value;
		else if (class < label)
			before = fmaxf(before, value);
		else
			after = fmaxf(after, value);
	}
	if (absent[slots[label]])
		gold = lowest;
	*right = !absent[slots[label]] && gold > before && gold >= after;
	return training->present[set] > 1 ? gold - fmaxf(before, after) : 0;
}

static void
judge_row(const struct predicting *predicting, size_t row, const float *z, uint64_t *held_out)
{
	const struct predictions *to = predicting->predictions;
	const struct training *training = predicting->training;
	unsigned label = predicting->problem->labels[row], made = 0, correct = 0;
	struct kernels_judged judged = {.z = z,
	                                .columns = predicting->columns,
	                                .lanes = predicting->lanes,
	                                .held_out = held_out,
	                                .gold = label};
	float margins = 0, margin;

	for (size_t w = 0; w < predicting->words; w++)
		made += (unsigned)__builtin_popcountll(held_out[w]);
	for (size_t set = 0; predicting->irregular && set < training->count; set++) {
		uint64_t bit = UINT64_C(1) << set % 64;
		bool right;

		if (!(held_out[set / 64] & bit) || !training_lacks_classes(training, set))
			continue;
		held_out[set / 64] &= ~bit;
		margins += judge_irregular(predicting, set, z + set, predicting->lanes, label, &right);
		correct += right;
	}
	correct += predicting->problem->kernels->judge(&judged, &margin);
	to->made[row] = made;
	to->correct[row] = correct;
	to->margins[row] = made ? (margins + margin) / (float)made : 0;
}

static int
predict_block(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct predicting *predicting = context;
	const struct matrix *matrix = predicting->problem->matrix;
	size_t width = predicting->columns * predicting->lanes, words = predicting->words, first = part * BLOCK;
	size_t rows = matrix->rows - first < BLOCK ? matrix->rows - first : BLOCK;
	float *products = predicting->products + slot * BLOCK * width;
	uint64_t *held_out = predicting->held_out + slot * 64 * words;
	struct kernels_product product = {.a = matrix_row(matrix, first),
	                                  .a_stride = matrix->stride,
	                                  .b = predicting->weights,
	                                  .b_stride = width,
	                                  .c = products,
	                                  .c_stride = width,
	                                  .rows = rows,
	                                  .depth = matrix->features + 1,
	                                  .columns = width};

	(void)thread;
	(void)error;
	predicting->problem->kernels->multiply(&product);
	for (size_t row = 0; row < rows; row++) {
		if (row % 64 == 0)
			list_held_out(predicting, first + row, held_out);
		matrix_fetch_row(matrix, first + BLOCK + row);
		judge_row(predicting, first + row, products + row * width, held_out + row % 64 * words);
	}
	return 0;
}

/* Of many columns, one classifier's distances of a block fill a cache: so it is judged before the next. */
struct many_slot {
	float *across, *z, *margins; /* stride × BLOCK, columns × BLOCK, BLOCK */
	int32_t *golds, *right;
};

static bool
many_init(struct many_slot *slot, size_t columns, size_t stride)
{
	slot->across = aligned_alloc(64, stride * BLOCK * sizeof(float));
	slot->z = aligned_alloc(64, columns * BLOCK * sizeof(float));
	slot->margins = aligned_alloc(64, BLOCK * sizeof(float));
	slot->golds = calloc(BLOCK, sizeof(int32_t));
	slot->right = calloc(BLOCK, sizeof(int32_t));
	if (slot->margins)
		memset(slot->margins, 0, BLOCK * sizeof(float));
	return slot->across && slot->z && slot->margins && slot->golds && slot->right;
}

static void
many_free(struct many_slot *slot)
{
	free(slot->across);
	free(slot->z);
	free(slot->margins);
	free(slot->golds);
	free(slot->right);
}

/* What a classifier makes of the rows of a block that it was not trained on. */
static void
judge_block(const struct predicting *predicting, struct many_slot *slot, size_t set, size_t first, size_t rows)
{
	const struct predictions *to = predicting->predictions;
	const struct training *training = predicting->training;
	const uint64_t *bits = training->bits + set * training->words + first / 64;
	bool lacking = training_lacks_classes(training, set);

	if (!lacking)
		predicting->problem->kernels->judge_rows(slot->z, BLOCK, predicting->columns, slot->golds, rows,
		                                         slot->right, slot->margins);
	for (size_t i = 0; i < rows; i++) {
		bool right = slot->right[i];
		float margin = slot->margins[i];

		if (bits[i / 64] >> i % 64 & 1)
			continue;
		if (lacking)
			margin = judge_irregular(predicting, set, slot->z + i, BLOCK, (unsigned)slot->golds[i], &right);
		to->made[first + i]++;
		to->correct[first + i] += right;
		to->margins[first + i] += margin;
	}
}

static int
predict_many(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct predicting *predicting = context;
	const struct predictions *to = predicting->predictions;
	const struct problem *problem = predicting->problem;
	const struct matrix *matrix = problem->matrix;
	struct many_slot *slot = &predicting->slots[slot_number];
	size_t first = part * BLOCK, rows = matrix->rows - first < BLOCK ? matrix->rows - first : BLOCK;
	size_t whole = rows / KERNELS_STRIDE * KERNELS_STRIDE;
	struct kernels_product product = {.a_stride = matrix->stride,
	                                  .b = slot->across,
	                                  .b_stride = BLOCK,
	                                  .c = slot->z,
	                                  .c_stride = BLOCK,
	                                  .rows = predicting->columns,
	                                  .depth = matrix->features + 1,
	                                  .columns = (rows + KERNELS_STRIDE - 1) / KERNELS_STRIDE * KERNELS_STRIDE};

	(void)thread;
	(void)error;
	sweep_transpose(matrix_row(matrix, first), matrix->stride, whole, slot->across, BLOCK);
	for (size_t i = whole; i < product.columns; i++) /* what is beyond the last row is zero */
		for (size_t f = 0; f < matrix->stride; f++)
			slot->across[f * BLOCK + i] = i < rows ? matrix_row(matrix, first + i)[f] : 0;
	for (size_t i = 0; i < rows; i++) {
		slot->golds[i] = problem->labels[first + i];
		to->made[first + i] = to->correct[first + i] = 0;
		to->margins[first + i] = 0;
	}
	for (size_t set = 0; set < predicting->training->count; set++) {
		product.a = predicting->given + set * predicting->columns * matrix->stride;
		problem->kernels->multiply(&product);
		judge_block(predicting, slot, set, first, rows);
	}
	for (size_t i = 0; i < rows; i++)
		to->margins[first + i] /= (float)(to->made[first + i] ? to->made[first + i] : 1);
	return 0;
}

static int
predict_all_many(struct predicting *predicting, const struct parallel *parallel, struct portolan_error *error)
{
	unsigned slots = parallel_slots(parallel->threads);
	bool good;
	int code;

	predicting->slots = calloc(slots, sizeof(*predicting->slots));
	good = predicting->slots;
	for (unsigned s = 0; good && s < slots; s++)
		good = many_init(&predicting->slots[s], predicting->columns, predicting->problem->matrix->stride);
	code = good ? parallel_run(parallel, error)
	            : error_set(error, PORTOLAN_E_MEMORY, "out of memory for the predictions of %zu classes",
	                        predicting->problem->classes);
	for (unsigned s = 0; predicting->slots && s < slots; s++)
		many_free(&predicting->slots[s]);
	free(predicting->slots);
	return code;
}

/* Orders the weights, which come by set and slot, by feature, then slot and set. Lanes without a set are zero. */
static void
interleave_weights(struct predicting *predicting, const float *weights)
{
	size_t stride = predicting->problem->matrix->stride, columns = predicting->columns;
	size_t width = columns * predicting->lanes;

	memset(predicting->weights, 0, stride * width * sizeof(float));
	for (size_t set = 0; set < predicting->training->count; set++)
		for (size_t k = 0; k < columns; k++)
			for (size_t f = 0; f < stride; f++)
				predicting->weights[f * width + k * predicting->lanes + set] =
				        weights[(set * columns + k) * stride + f];
}

int
predict_all(const struct problem *problem, const struct training *training, const float *weights,
            const struct predictions *predictions, struct portolan_error *error)
{
	struct predicting predicting = {.problem = problem,
	                                .training = training,
	                                .predictions = predictions,
	                                .given = weights,
	                                .columns = problem->classes - 1,
	                                .lanes = (training->count + KERNELS_STRIDE - 1) / KERNELS_STRIDE *
	                                         KERNELS_STRIDE,
	                                .words = (training->count + 63) / 64};
	unsigned slots = parallel_slots(problem->threads);
	size_t width = predicting.columns * predicting.lanes, stride = problem->matrix->stride;
	struct parallel parallel = {.threads = problem->threads,
	                            .count = (training->rows + BLOCK - 1) / BLOCK,
	                            .context = &predicting,
	                            .work = predict_block};
	int code;

	if (predicting.columns >= PROBLEM_MANY) {
		parallel.work = predict_many;
		return predict_all_many(&predicting, &parallel, error);
	}
	predicting.weights = aligned_alloc(64, width * stride * sizeof(float));
	predicting.products = aligned_alloc(64, slots * BLOCK * width * sizeof(float));
	predicting.held_out = malloc(slots * 64 * predicting.words * sizeof(uint64_t));
	for (size_t set = 0; set < training->count; set++)
		predicting.irregular |= training_lacks_classes(training, set);
	if (predicting.weights && predicting.products && predicting.held_out) {
		interleave_weights(&predicting, weights);
		code = parallel_run(&parallel, error);
	} else {
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the predictions of %zu classifiers",
		                 training->count);
	}
	free(predicting.weights);
	free(predicting.products);
	free(predicting.held_out);
	return code;
}

/*
 * predict.c: computes, for each row, how the classifiers that were not trained on it predict its class.
 *
 * Each row is multiplied with each classifier, also with those that it trained: they are few, and a dense product is several
 * times faster than one that leaves them out. The products of a row lie by slot, then by classifier. So a register holds the
 * row's distances from several classifiers. Of many columns, classifiers come one after the other, and a register holds
 * several rows' distances from one of them.
 *
 * The products of a row with a classifier's weights are its distances from that classifier's classes. A classifier cannot
 * predict a class that its training set lacked. Its prediction for a row of such a class counts as wrong, and the row's
 * distance from the class is taken to be the lowest of those that the classifier has.
 */
#include "predict.h"

#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256 /* rows */

struct predict_slot {
	float *across, *z, *margins; /* the block's transpose, stride × BLOCK; columns × BLOCK; BLOCK */
	int32_t *golds, *right;
};

struct predicting {
	const struct problem *problem;
	const struct training *training;
	const struct predictions *predictions;
	const float *given;    /* the weights as they came: sets × columns × stride */
	size_t columns, lanes; /* lanes: the sets, in whole registers */
	size_t words;          /* of a row's bits, one for each set */
	bool irregular;        /* whether some set lacks classes */
	/* of few columns */
	float *weights;     /* stride × (columns × lanes) */
	float *products;    /* by slot of the work: BLOCK × columns × lanes */
	uint64_t *held_out; /* by slot of the work: 64 × words */
	/* of many columns */
	struct predict_slot *slots;
};

size_t
predict_bytes(size_t sets, size_t columns, size_t stride, unsigned threads)
{
	if (columns >= PROBLEM_MANY)
		return parallel_slots(threads) * BLOCK * (stride + columns + 3) * sizeof(float);
	return columns * kernels_round(sets) * (stride + parallel_slots(threads) * BLOCK) * sizeof(float);
}

/* Transposes 64 × 64 bits: bit c of row r becomes bit r of row c. */
static void
predict_transpose_bits(uint64_t rows[64])
{
	uint64_t mask = UINT64_C(0x00000000ffffffff);

	for (unsigned width = 32; width > 0; width /= 2, mask ^= mask << width)
		for (unsigned r = 0; r < 64; r = (r + width + 1) & ~width) {
			uint64_t swap = (rows[r] >> width ^ rows[r + width]) & mask;

			rows[r] ^= swap << width;
			rows[r + width] ^= swap;
		}
}

/* Fills held_out[r][w], for 64 rows, with the sets from 64 w on that row `first` + r is not in. */
static void
predict_list_held_out(const struct predicting *predicting, size_t first, uint64_t *held_out)
{
	const struct training *training = predicting->training;
	size_t words = predicting->words;

	for (size_t w = 0; w < words; w++) {
		uint64_t bits[64];

		for (size_t i = 0; i < 64; i++)
			bits[i] = w * 64 + i < training->count
			                  ? ~training->bits[(w * 64 + i) * training->words + first / 64]
			                  : 0;
		predict_transpose_bits(bits);
		for (size_t r = 0; r < 64; r++)
			held_out[r * words + w] = bits[r];
	}
}

/* Judges a classifier that lacks classes: returns its margin, and whether it is right. z[k × step] is the distance of slot
 * k + 1. */
static float
predict_judge_irregular(const struct predicting *predicting, size_t set, const float *z, size_t step, unsigned label,
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

/* Judges a row by the distances `z` from all classifiers. Those that lack classes lose their bits in `held_out`. */
static void
predict_judge_row(const struct predicting *predicting, size_t row, const float *z, uint64_t *held_out)
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
		margins += predict_judge_irregular(predicting, set, z + set, predicting->lanes, label, &right);
		correct += right;
	}
	correct += predicting->problem->kernels->judge(&judged, &margin);
	to->made[row] = made;
	to->correct[row] = correct;
	to->margins[row] = made ? (margins + margin) / (float)made : 0;
}

static int
predict_block_few(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct predicting *predicting = context;
	const struct matrix *matrix = predicting->problem->matrix;
	size_t width = predicting->columns * predicting->lanes, words = predicting->words, first = part * BLOCK;
	size_t rows = matrix->rows - first < BLOCK ? matrix->rows - first : BLOCK;
	float *products = predicting->products + slot * BLOCK * width;
	uint64_t *held_out = predicting->held_out + slot * 64 * words;
	struct kernels_product product = {matrix_row(matrix, first),
	                                  matrix->stride,
	                                  predicting->weights,
	                                  width,
	                                  products,
	                                  width,
	                                  rows,
	                                  matrix->features + 1,
	                                  width,
	                                  false};

	(void)thread;
	(void)error;
	predicting->problem->kernels->multiply(&product);
	for (size_t row = 0; row < rows; row++) {
		if (row % 64 == 0)
			predict_list_held_out(predicting, first + row, held_out);
		matrix_fetch_row(matrix, first + BLOCK + row);
		predict_judge_row(predicting, first + row, products + row * width, held_out + row % 64 * words);
	}
	return 0;
}

/* Orders the weights by feature, then by slot and set. Lanes without a set stay zero. */
static void
predict_interleave(struct predicting *predicting)
{
	size_t stride = predicting->problem->matrix->stride, columns = predicting->columns;
	size_t width = columns * predicting->lanes;

	for (size_t set = 0; set < predicting->training->count; set++)
		for (size_t k = 0; k < columns; k++)
			for (size_t f = 0; f < stride; f++)
				predicting->weights[f * width + k * predicting->lanes + set] =
				        predicting->given[(set * columns + k) * stride + f];
}

static void
predict_few(struct predicting *predicting, struct parallel *parallel)
{
	size_t width = predicting->columns * predicting->lanes, slots = parallel_slots(parallel->threads);

	predicting->weights = kernels_floats(width * predicting->problem->matrix->stride);
	predicting->products = kernels_floats(slots * BLOCK * width);
	predicting->held_out = memory_new(slots * 64 * predicting->words, sizeof(uint64_t));
	predict_interleave(predicting);
	parallel->work = predict_block_few;
	problem_run(parallel);
	free(predicting->weights);
	free(predicting->products);
	free(predicting->held_out);
}

/* Judges the rows of a block that set `set` was not trained on. */
static void
predict_judge_block(const struct predicting *predicting, struct predict_slot *slot, size_t set, size_t first,
                    size_t rows)
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
			margin = predict_judge_irregular(predicting, set, slot->z + i, BLOCK, (unsigned)slot->golds[i],
			                                 &right);
		to->made[first + i]++;
		to->correct[first + i] += right;
		to->margins[first + i] += margin;
	}
}

/* The distances of a block from one classifier of many columns fill a cache. So they are judged before the next classifier's
 * are computed. */
static int
predict_block_many(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct predicting *predicting = context;
	const struct predictions *to = predicting->predictions;
	const struct problem *problem = predicting->problem;
	const struct matrix *matrix = problem->matrix;
	struct predict_slot *slot = &predicting->slots[slot_number];
	size_t first = part * BLOCK, rows = matrix->rows - first < BLOCK ? matrix->rows - first : BLOCK;
	size_t whole = rows / KERNELS_STRIDE * KERNELS_STRIDE;
	struct kernels_product product = {NULL,
	                                  matrix->stride,
	                                  slot->across,
	                                  BLOCK,
	                                  slot->z,
	                                  BLOCK,
	                                  predicting->columns,
	                                  matrix->features + 1,
	                                  kernels_round(rows),
	                                  false};

	(void)thread;
	(void)error;
	sweep_transpose(matrix_row(matrix, first), matrix->stride, whole, slot->across, BLOCK);
	for (size_t i = whole; i < product.columns; i++) /* zeroes beyond the last row */
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
		predict_judge_block(predicting, slot, set, first, rows);
	}
	for (size_t i = 0; i < rows; i++)
		to->margins[first + i] /= (float)(to->made[first + i] ? to->made[first + i] : 1);
	return 0;
}

static void
predict_many(struct predicting *predicting, struct parallel *parallel)
{
	unsigned slots = parallel_slots(parallel->threads);
	CLEANUP_FREE struct predict_slot *of_slots = memory_new(slots, sizeof(*of_slots));

	for (unsigned s = 0; s < slots; s++)
		of_slots[s] = (struct predict_slot){
		        .across = kernels_floats(predicting->problem->matrix->stride * BLOCK),
		        .z = kernels_floats(predicting->columns * BLOCK),
		        .margins = kernels_floats(BLOCK),
		        .golds = memory_new(BLOCK, sizeof(int32_t)),
		        .right = memory_new(BLOCK, sizeof(int32_t)),
		};
	predicting->slots = of_slots;
	parallel->work = predict_block_many;
	problem_run(parallel);
	for (unsigned s = 0; s < slots; s++) {
		free(of_slots[s].across);
		free(of_slots[s].z);
		free(of_slots[s].margins);
		free(of_slots[s].golds);
		free(of_slots[s].right);
	}
}

void
predict_all(const struct problem *problem, const struct training *training, const float *weights,
            const struct predictions *predictions)
{
	struct predicting predicting = {.problem = problem,
	                                .training = training,
	                                .predictions = predictions,
	                                .given = weights,
	                                .columns = problem->classes - 1,
	                                .lanes = kernels_round(training->count),
	                                .words = (training->count + 63) / 64};
	struct parallel parallel = {
	        .threads = problem->threads, .count = (training->rows + BLOCK - 1) / BLOCK, .context = &predicting};

	for (size_t set = 0; set < training->count; set++)
		predicting.irregular |= training_lacks_classes(training, set);
	if (predicting.columns >= PROBLEM_MANY)
		predict_many(&predicting, &parallel);
	else
		predict_few(&predicting, &parallel);
}

/*
 * predict.c: lets the classifiers of a phase of AFLite predict the class of each row that they were not trained on, for
 * filter.c, and counts how often they are right.
 *
 * A block of rows is transposed once, and multiplied with the weights of several classifiers at a time: their distances
 * fill a cache, and are judged before those of the next classifiers are computed. Each row is multiplied with each
 * classifier, also with those that it trained: they are few, and a dense product is several times faster than one that
 * leaves them out.
 *
 * The products of a row with a classifier's weights are its distances from that classifier's classes. A classifier
 * cannot predict a class that its training set lacked. Its prediction for a row of such a class counts as wrong, and
 * the row's distance from the class is taken to be the lowest of those that the classifier has.
 */
#include "predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256  /* rows */
#define COLUMNS 96 /* weight vectors that are multiplied at once, at most; but never less than one whole classifier */

struct predict_slot {
	float *across, *z; /* the block's transpose, stride × BLOCK; distances, columns × BLOCK */
	int32_t *golds;
	int32_t *made, *correct; /* by row of the block, as in struct predictions */
	float *margins;
};

struct predicting {
	const struct problem *problem;
	const struct training *training;
	const struct predictions *predictions;
	const float *weights; /* sets × columns × stride */
	size_t columns, lead; /* lead: the columns before that of slot 1 */
	struct predict_slot *slots;
};

/* The number of classifiers that a block of rows is multiplied with at once. */
static size_t
predict_sets_at_once(size_t sets, size_t columns)
{
	size_t most = columns < COLUMNS ? COLUMNS / columns : 1;

	return most < sets ? most : sets;
}

size_t
predict_bytes(size_t sets, size_t columns, size_t stride, unsigned threads)
{
	return parallel_slots(threads) * BLOCK * (stride + predict_sets_at_once(sets, columns) * columns + 4) *
	       sizeof(float);
}

/* Judges one row's prediction by a classifier that lacks classes. Returns the margin, and in *right whether the
 * prediction is right. z[k × BLOCK] is the row's distance from the class in slot k + 1. */
static float
predict_judge_irregular(const struct predicting *predicting, size_t set, const float *z, unsigned label, bool *right)
{
	const struct training *training = predicting->training;
	const uint16_t *slots = training->slots + set * training->classes;
	const uint8_t *absent = training->absent + set * training->classes;
	float gold = 0, before = -INFINITY, after = -INFINITY, lowest = INFINITY;

	for (unsigned class = 0; class < training->classes; class ++) {
		unsigned slot = slots[class];
		float value = slot == 0 ? 0 : z[(slot - 1) * BLOCK];

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

/* Judges, by the distances z, what the classifier of set `set` predicts for the rows of a block that it was not trained
 * on. */
static void
predict_judge_block(const struct predicting *predicting, struct predict_slot *slot, size_t set, const float *z,
                    size_t first, size_t rows)
{
	const struct training *training = predicting->training;
	const struct kernels_judged judged = {.z = z,
	                                      .tile = BLOCK,
	                                      .columns = predicting->columns - predicting->lead,
	                                      .count = rows,
	                                      .golds = slot->golds,
	                                      .trained = training->bits + set * training->words + first / 64,
	                                      .made = slot->made,
	                                      .correct = slot->correct,
	                                      .margins = slot->margins};

	if (!training_lacks_classes(training, set)) {
		predicting->problem->kernels->judge(&judged);
		return;
	}
	for (size_t i = 0; i < rows; i++) {
		bool right;

		if (judged.trained[i / 64] >> i % 64 & 1)
			continue;
		slot->margins[i] += predict_judge_irregular(predicting, set, z + i, (unsigned)slot->golds[i], &right);
		slot->correct[i] += right;
		slot->made[i]++;
	}
}

/* Transposes a block of rows, and sets the counts of its predictions to zero. */
static void
predict_begin_block(const struct predicting *predicting, struct predict_slot *slot, size_t first, size_t rows)
{
	const struct matrix *matrix = predicting->problem->matrix;
	size_t whole = rows / KERNELS_STRIDE * KERNELS_STRIDE;

	kernels_transpose(matrix_row(matrix, first), matrix->stride, whole, slot->across, BLOCK);
	for (size_t i = whole; i < kernels_round(rows); i++) /* zeroes beyond the last row */
		for (size_t f = 0; f < matrix->stride; f++)
			slot->across[f * BLOCK + i] = i < rows ? matrix_row(matrix, first + i)[f] : 0;
	for (size_t i = 0; i < rows; i++)
		slot->golds[i] = predicting->problem->labels[first + i];
	memset(slot->made, 0, BLOCK * sizeof(*slot->made));
	memset(slot->correct, 0, BLOCK * sizeof(*slot->correct));
	memset(slot->margins, 0, BLOCK * sizeof(*slot->margins));
}

/* Copies the predictions of a block to those of all rows. */
static void
predict_end_block(const struct predictions *to, const struct predict_slot *slot, size_t first, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		to->made[first + i] = (uint32_t)slot->made[i];
		to->correct[first + i] = (uint32_t)slot->correct[i];
		to->margins[first + i] = slot->margins[i] / (float)(slot->made[i] > 0 ? slot->made[i] : 1);
	}
}

static int
predict_block(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct predicting *predicting = context;
	const struct problem *problem = predicting->problem;
	const struct matrix *matrix = problem->matrix;
	struct predict_slot *slot = &predicting->slots[slot_number];
	size_t first = part * BLOCK, rows = matrix->rows - first < BLOCK ? matrix->rows - first : BLOCK;
	size_t sets = predicting->training->count, columns = predicting->columns;
	size_t at_once = predict_sets_at_once(sets, columns);

	(void)thread;
	(void)error;
	predict_begin_block(predicting, slot, first, rows);
	for (size_t from = 0; from < sets; from += at_once) {
		size_t count = sets - from < at_once ? sets - from : at_once;
		const struct kernels_product product = {predicting->weights + from * columns * matrix->stride,
		                                        matrix->stride,
		                                        slot->across,
		                                        BLOCK,
		                                        slot->z,
		                                        BLOCK,
		                                        count * columns,
		                                        matrix->features + 1,
		                                        kernels_round(rows),
		                                        false};

		problem->kernels->multiply(&product);
		for (size_t i = 0; i < count; i++)
			predict_judge_block(predicting, slot, from + i,
			                    slot->z + (i * columns + predicting->lead) * BLOCK, first, rows);
	}
	predict_end_block(predicting->predictions, slot, first, rows);
	return 0;
}

void
predict_all(const struct problem *problem, const struct training *training, const float *weights,
            const struct predictions *predictions)
{
	unsigned slots = parallel_slots(problem->threads);
	CLEANUP_FREE struct predict_slot *of_slots = memory_new(slots, sizeof(*of_slots));
	struct predicting predicting = {.problem = problem,
	                                .training = training,
	                                .predictions = predictions,
	                                .weights = weights,
	                                .columns = problem_columns(problem),
	                                .lead = 1 - problem_first_slot(problem),
	                                .slots = of_slots};
	struct parallel parallel = {.threads = problem->threads,
	                            .count = (training->rows + BLOCK - 1) / BLOCK,
	                            .context = &predicting,
	                            .work = predict_block};
	size_t distances = predict_sets_at_once(training->count, predicting.columns) * predicting.columns * BLOCK;

	for (unsigned s = 0; s < slots; s++)
		of_slots[s] = (struct predict_slot){
		        .across = kernels_floats(problem->matrix->stride * BLOCK),
		        .z = kernels_floats(distances),
		        .golds = memory_new(BLOCK, sizeof(int32_t)),
		        .made = (int32_t *)kernels_floats(BLOCK),
		        .correct = (int32_t *)kernels_floats(BLOCK),
		        .margins = kernels_floats(BLOCK),
		};
	problem_run(&parallel);
	for (unsigned s = 0; s < slots; s++) {
		free(of_slots[s].across);
		free(of_slots[s].z);
		free(of_slots[s].golds);
		free(of_slots[s].made);
		free(of_slots[s].correct);
		free(of_slots[s].margins);
	}
}

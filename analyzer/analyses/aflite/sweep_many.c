/*
 * sweep_many.c: a pass for classifiers of many classes, one after the other. Copies a classifier's rows a tile at a time, as
 * they are and transposed, for two large products. Weights and gradient of one such classifier fill a cache, so nothing is
 * gained by bringing a row there for all of them.
 *
 * A set's rows are taken in ranges of rows, which depend on the sizes of the sets alone. Their sums are added in order.
 */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#define TILE 256   /* rows of a product */
#define RANGE 4096 /* rows that are added up in single precision */

struct many_slot {
	float *gradient;                 /* columns × stride */
	float *rows, *across, *z, *sums; /* TILE × stride, its transpose, columns × TILE, 2 × TILE */
	double loss;
	int32_t *golds;
};

struct many {
	const struct sweep *sweep;
	struct many_slot *slots;
	uint32_t *sets; /* the active ones */
	size_t set_count, ranges, range_words;
	size_t columns, stride;
};

size_t
sweep_many_bytes(size_t columns, size_t stride, unsigned threads)
{
	return parallel_slots(threads) * (columns * (stride + TILE) + 2 * TILE * (stride + 2)) * sizeof(float);
}

void
sweep_transpose(const float *rows, size_t stride, size_t count, float *across, size_t width)
{
	for (size_t first = 0; first < stride; first += KERNELS_STRIDE)
		for (size_t i = 0; i < count; i += KERNELS_STRIDE)
			for (size_t f = first; f < first + KERNELS_STRIDE; f++)
				for (size_t j = i; j < i + KERNELS_STRIDE; j++)
					across[f * width + j] = rows[j * stride + f];
}

/* Adds to the loss and the gradient what the first `count` rows of the slot contribute. */
static void
many_take_tile(const struct many *many, struct many_slot *slot, size_t set, size_t count)
{
	const struct problem *problem = many->sweep->problem;
	size_t stride = many->stride, columns = many->columns, whole = kernels_round(count);
	const float *weights = many->sweep->weights + set * columns * stride;
	struct kernels_product distances = {weights, stride, slot->across, TILE,
	                                    slot->z, TILE,   columns,      problem->matrix->features + 1,
	                                    whole,   false};
	struct kernels_product gradient = {slot->z, TILE,    slot->rows, stride, slot->gradient,
	                                   stride,  columns, count,      stride, true};

	memset(slot->rows + count * stride, 0, (whole - count) * stride * sizeof(float));
	memset(slot->golds + count, 0, (whole - count) * sizeof(int32_t));
	sweep_transpose(slot->rows, stride, whole, slot->across, TILE);
	problem->kernels->multiply(&distances);
	slot->loss += problem->kernels->residuals(slot->z, TILE, columns, training_absent(many->sweep->training, set),
	                                          slot->golds, count, slot->sums, slot->sums + TILE);
	problem->kernels->multiply(&gradient);
}

static int
many_take_range(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct many *many = context;
	struct many_slot *slot = &many->slots[slot_number];
	const struct problem *problem = many->sweep->problem;
	const struct training *training = many->sweep->training;
	size_t set = many->sets[part / many->ranges], first = part % many->ranges * many->range_words;
	size_t end = first + many->range_words, stride = many->stride, count = 0;
	const uint64_t *bits = training->bits + set * training->words;
	const uint16_t *slots = training_slots(training, set);

	(void)thread;
	(void)error;
	memset(slot->gradient, 0, many->columns * stride * sizeof(float));
	slot->loss = 0;
	for (size_t w = first; w < end && w < training->words; w++)
		for (uint64_t word = bits[w]; word; word &= word - 1) {
			size_t row = w * 64 + (size_t)__builtin_ctzll(word);

			memcpy(slot->rows + count * stride, matrix_row(problem->matrix, row), stride * sizeof(float));
			slot->golds[count++] = slots ? slots[problem->labels[row]] : problem->labels[row];
			if (count == TILE) {
				many_take_tile(many, slot, set, count);
				count = 0;
			}
		}
	if (count > 0)
		many_take_tile(many, slot, set, count);
	return 0;
}

static int
many_add_range(void *context, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct many *many = context;
	const struct many_slot *slot = &many->slots[slot_number];
	size_t set = many->sets[part / many->ranges], length = many->columns * many->stride;
	double *to = many->sweep->gradients + set * length;

	(void)error;
	many->sweep->losses[set] += slot->loss;
	for (size_t i = 0; i < length; i++)
		to[i] += slot->gradient[i];
	return 0;
}

void
sweep_many_run(const struct sweep *sweep)
{
	const struct training *training = sweep->training;
	unsigned slots = parallel_slots(sweep->problem->threads);
	size_t columns = sweep->problem->classes - 1, stride = sweep->problem->matrix->stride;
	CLEANUP_FREE struct many_slot *of_slots = memory_new(slots, sizeof(*of_slots));
	CLEANUP_FREE uint32_t *sets = memory_new(training->count, sizeof(*sets));
	struct many many = {
	        .sweep = sweep, .slots = of_slots, .sets = sets, .ranges = 1, .columns = columns, .stride = stride};
	struct parallel parallel = {.threads = sweep->problem->threads,
	                            .context = &many,
	                            .work = many_take_range,
	                            .deliver = many_add_range};

	for (unsigned s = 0; s < slots; s++)
		of_slots[s] = (struct many_slot){.gradient = kernels_floats(columns * stride),
		                                 .rows = kernels_floats(TILE * stride),
		                                 .across = kernels_floats(TILE * stride),
		                                 .z = kernels_floats(columns * TILE),
		                                 .sums = kernels_floats(2 * TILE),
		                                 .golds = memory_new(TILE, sizeof(int32_t))};
	for (size_t set = 0; set < training->count; set++) {
		size_t ranges = (training->sizes[set] + RANGE - 1) / RANGE;

		many.ranges = ranges > many.ranges ? ranges : many.ranges;
		if (sweep->active[set])
			sets[many.set_count++] = (uint32_t)set;
	}
	many.range_words = (training->words + many.ranges - 1) / many.ranges;
	parallel.count = many.set_count * many.ranges;
	problem_run(&parallel);
	for (unsigned s = 0; s < slots; s++) {
		free(of_slots[s].gradient);
		free(of_slots[s].rows);
		free(of_slots[s].across);
		free(of_slots[s].z);
		free(of_slots[s].sums);
		free(of_slots[s].golds);
	}
}

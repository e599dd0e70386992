/*
 * sweep_many.c: a pass for classifiers of many classes, each by itself: its rows are put down a tile at a time, as they
 * are and transposed, for two large products of the kernels. Weights and gradient of one such classifier fill a cache,
 * so there is nothing to be won by bringing a row there for all of them.
 *
 * A set's rows are taken in ranges, which depend on nothing but the sizes of the sets; their sums are added in order.
 */
#include "sweep.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define TILE 256   /* rows of a product */
#define RANGE 4096 /* rows that are added up in single precision */
#define SQUARE KERNELS_STRIDE

struct many_slot {
	float *gradient;                 /* columns × stride */
	float *rows, *across, *z, *sums; /* TILE × stride, its transpose, columns × TILE, 2 × TILE */
	double loss;
	int32_t *golds;
};

struct many {
	const struct sweep *sweep;
	struct many_slot *slots;
	uint32_t *sets; /* that are active */
	size_t set_count, ranges, range_words;
};

size_t
sweep_many_bytes(size_t columns, size_t stride, unsigned threads)
{
	return parallel_slots(threads) * (columns * (stride + TILE) + 2 * TILE * (stride + 2)) * sizeof(float);
}

static void
slot_free(struct many_slot *slot)
{
	free(slot->gradient);
	free(slot->rows);
	free(slot->across);
	free(slot->z);
	free(slot->sums);
	free(slot->golds);
}

static bool
slot_init(struct many_slot *slot, size_t columns, size_t stride)
{
	slot->gradient = aligned_alloc(64, columns * stride * sizeof(float));
	slot->rows = aligned_alloc(64, TILE * stride * sizeof(float));
	slot->across = aligned_alloc(64, TILE * stride * sizeof(float));
	slot->z = aligned_alloc(64, columns * TILE * sizeof(float));
	slot->sums = aligned_alloc(64, 2 * TILE * sizeof(float));
	slot->golds = aligned_alloc(64, TILE * sizeof(int32_t));
	return slot->gradient && slot->rows && slot->across && slot->z && slot->sums && slot->golds;
}

void
sweep_transpose(const float *rows, size_t stride, size_t count, float *across, size_t width)
{
	for (size_t first = 0; first < stride; first += SQUARE)
		for (size_t i = 0; i < count; i += SQUARE)
			for (size_t f = first; f < first + SQUARE; f++)
				for (size_t j = i; j < i + SQUARE; j++)
					across[f * width + j] = rows[j * stride + f];
}

/* What `count` rows, which are put down, add to loss and gradient. */
static void
take_tile(const struct many *many, struct many_slot *slot, size_t set, size_t count)
{
	const struct sweep *sweep = many->sweep;
	const struct problem *problem = sweep->problem;
	const struct training *training = sweep->training;
	size_t stride = problem->matrix->stride, columns = problem->classes - 1;
	size_t whole = (count + KERNELS_STRIDE - 1) / KERNELS_STRIDE * KERNELS_STRIDE;
	const uint8_t *absent =
	        training_lacks_classes(training, set) ? training->absent + set * training->classes : NULL;

	memset(slot->rows + count * stride, 0, (whole - count) * stride * sizeof(float));
	memset(slot->golds + count, 0, (whole - count) * sizeof(int32_t));
	sweep_transpose(slot->rows, stride, whole, slot->across, TILE);
	problem->kernels->multiply(&(struct kernels_product){.a = sweep->weights + set * columns * stride,
	                                                     .a_stride = stride,
	                                                     .b = slot->across,
	                                                     .b_stride = TILE,
	                                                     .c = slot->z,
	                                                     .c_stride = TILE,
	                                                     .rows = columns,
	                                                     .depth = problem->matrix->features + 1,
	                                                     .columns = whole});
	slot->loss += problem->kernels->residuals(slot->z, TILE, columns, absent, slot->golds, count, slot->sums,
	                                          slot->sums + TILE);
	problem->kernels->multiply(&(struct kernels_product){.a = slot->z,
	                                                     .a_stride = TILE,
	                                                     .b = slot->rows,
	                                                     .b_stride = stride,
	                                                     .c = slot->gradient,
	                                                     .c_stride = stride,
	                                                     .rows = columns,
	                                                     .depth = count,
	                                                     .columns = stride,
	                                                     .add = true});
}

static int
work(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct many *many = context;
	struct many_slot *slot = &many->slots[slot_number];
	const struct problem *problem = many->sweep->problem;
	const struct training *training = many->sweep->training;
	size_t set = many->sets[part / many->ranges], first = part % many->ranges * many->range_words;
	size_t end = first + many->range_words, stride = problem->matrix->stride, count = 0;
	const uint64_t *bits = training->bits + set * training->words;
	const uint16_t *slots =
	        training_lacks_classes(training, set) ? training->slots + set * training->classes : NULL;

	(void)thread;
	(void)error;
	memset(slot->gradient, 0, (problem->classes - 1) * stride * sizeof(float));
	slot->loss = 0;
	for (size_t w = first; w < end && w < training->words; w++)
		for (uint64_t word = bits[w]; word; word &= word - 1) {
			size_t row = w * 64 + (size_t)__builtin_ctzll(word);

			memcpy(slot->rows + count * stride, matrix_row(problem->matrix, row), stride * sizeof(float));
			slot->golds[count++] = slots ? slots[problem->labels[row]] : problem->labels[row];
			if (count == TILE) {
				take_tile(many, slot, set, count);
				count = 0;
			}
		}
	if (count > 0)
		take_tile(many, slot, set, count);
	return 0;
}

static int
deliver(void *context, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct many *many = context;
	const struct many_slot *slot = &many->slots[slot_number];
	const struct problem *problem = many->sweep->problem;
	size_t set = many->sets[part / many->ranges], length = (problem->classes - 1) * problem->matrix->stride;
	double *to = many->sweep->gradients + set * length;

	(void)error;
	many->sweep->losses[set] += slot->loss;
	for (size_t i = 0; i < length; i++)
		to[i] += slot->gradient[i];
	return 0;
}

int
sweep_many_run(struct sweep *sweep, struct portolan_error *error)
{
	const struct training *training = sweep->training;
	unsigned slots = parallel_slots(sweep->problem->threads);
	struct many many = {.sweep = sweep,
	                    .slots = calloc(slots, sizeof(*many.slots)),
	                    .sets = malloc(training->count * sizeof(*many.sets)),
	                    .ranges = 1};
	struct parallel parallel = {
	        .threads = sweep->problem->threads, .context = &many, .work = work, .deliver = deliver};
	bool good = many.slots && many.sets;
	int code = 0;

	for (unsigned s = 0; good && s < slots; s++)
		good = slot_init(&many.slots[s], sweep->problem->classes - 1, sweep->problem->matrix->stride);
	for (size_t set = 0; good && set < training->count; set++) {
		size_t ranges = (training->sizes[set] + RANGE - 1) / RANGE;

		many.ranges = ranges > many.ranges ? ranges : many.ranges;
		if (sweep->active[set])
			many.sets[many.set_count++] = (uint32_t)set;
	}
	many.range_words = (training->words + many.ranges - 1) / many.ranges;
	parallel.count = many.set_count * many.ranges;
	code = good ? parallel_run(&parallel, error)
	            : error_set(error, PORTOLAN_E_MEMORY, "out of memory for the gradients of %zu classes",
	                        sweep->problem->classes);
	for (unsigned s = 0; many.slots && s < slots; s++)
		slot_free(&many.slots[s]);
	free(many.slots);
	free(many.sets);
	return code;
}

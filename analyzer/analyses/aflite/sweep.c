/*
 * sweep.c: computes the losses and gradients of all classifiers of a phase, at the points that their searches try, for
 * lockstep.c.
 *
 * With few classes, rows are taken in blocks that stay in a cache, and each block is used for every classifier. With
 * many, the weights of one classifier fill the cache. Then each classifier goes over its own rows: a tile of them is
 * copied, as they are and transposed, for two large products. Neither way can stand for both. A sweep of one thread
 * took (milliseconds, AVX-512):
 *
 *     rows × features, classes, classifiers × training rows   by blocks   by tiles
 *     100,000 × 256,       3, 64 × 10,000                            26        205
 *     10,000 × 128,       66, 4 × 4,000                               9          8
 *     10,000 × 128,    1,000, 4 × 8,000                             230        205
 *     20,000 × 512,    1,000, 4 × 4,000                             790        380
 *     20,000 × 1,280,  1,000, 4 × 4,000                           2,310        890   (by blocks, 64 rows at a time: 1,470)
 *
 * One thread adds up a part of the rows in their order, and the sums of the parts are added in the order of the parts.
 * So the result does not depend on the number of threads.
 */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

/* for sweeps by blocks (few classes) */
#define BLOCK_BYTES (384u << 10) /* the bytes of a block: two blocks and some weights fit a second-level cache */
#define BLOCK_LEAST 128          /* rows */
#define BLOCK_MOST 1024
#define PARTS 48 /* the most parts into which the rows are cut, for any number of threads */
/* for sweeps by tiles (many classes) */
#define TILE 256   /* rows of a product */
#define RANGE 4096 /* rows of a set that are added up in single precision */

struct sweep_slot {
	float *gradients, *scratch;
	double *losses;
	const float **rows; /* a set's rows in a block, and KERNELS_PAD more entries */
	int32_t *slots;     /* the slots of these rows' gold labels */
	uint32_t *ahead;    /* the rows of the next block that are in any active set */
};

struct sweeping {
	const struct sweep *sweep;
	struct sweep_slot *slots;
	size_t length;                   /* floats of a classifier's weights */
	size_t block_words, part_blocks; /* the words of 64 rows in a block; the blocks in a part */
};

size_t
sweep_bytes(size_t sets, size_t columns, size_t stride, unsigned threads)
{
	if (columns >= PROBLEM_MANY)
		return parallel_slots(threads) * (columns * (stride + TILE) + 2 * TILE * (stride + 2)) * sizeof(float);
	return parallel_slots(threads) * sets * columns * stride * sizeof(float);
}

static void
sweep_free_slot(struct sweep_slot *slot)
{
	free(slot->gradients);
	free(slot->scratch);
	free(slot->losses);
	free(slot->rows);
	free(slot->slots);
	free(slot->ahead);
}

static struct sweep_slot
sweep_make_slot(const struct sweeping *sweeping)
{
	const struct sweep *sweep = sweeping->sweep;
	size_t sets = sweep->training->count, block = sweeping->block_words * 64;

	return (struct sweep_slot){.gradients = kernels_floats(sets * sweeping->length),
	                           .scratch = kernels_floats((problem_columns(sweep->problem) + 2) * KERNELS_TILE),
	                           .losses = memory_new(sets, sizeof(double)),
	                           .rows = memory_new(block + KERNELS_PAD, sizeof(float *)),
	                           .slots = memory_new(block + KERNELS_TILE, sizeof(int32_t)),
	                           .ahead = memory_new(block, sizeof(uint32_t))};
}

/* Lists the set's rows in a block, which begins at row `first` and has `words` words of 64 bits; returns how many. */
static size_t
sweep_list_rows(const struct sweep *sweep, size_t set, size_t first, size_t words, struct sweep_slot *slot)
{
	const struct problem *problem = sweep->problem;
	const uint64_t *bits = sweep->training->bits + set * sweep->training->words + first / 64;
	const uint16_t *slots = training_slots(sweep->training, set);
	size_t count = 0;

	for (size_t w = 0; w < words; w++)
		for (uint64_t word = bits[w]; word; word &= word - 1) {
			size_t row = first + w * 64 + (size_t)__builtin_ctzll(word);

			slot->rows[count] = matrix_row(problem->matrix, row);
			slot->slots[count++] = slots ? slots[problem->labels[row]] : problem->labels[row];
		}
	for (size_t i = 0; i < KERNELS_PAD && count > 0; i++)
		slot->rows[count + i] = slot->rows[0];
	return count;
}

/* Lists in slot->ahead the rows of a block that are in any active set; returns how many. The block begins at row
 * `first`. */
static size_t
sweep_list_ahead(const struct sweep *sweep, size_t first, size_t words, struct sweep_slot *slot)
{
	const struct training *training = sweep->training;
	size_t count = 0;

	for (size_t w = first / 64; w < first / 64 + words; w++) {
		uint64_t rows = 0;

		for (size_t set = 0; set < training->count; set++)
			rows |= sweep->active[set] ? training->bits[set * training->words + w] : 0;
		for (; rows; rows &= rows - 1)
			slot->ahead[count++] = (uint32_t)(w * 64 + (size_t)__builtin_ctzll(rows));
	}
	return count;
}

/* Adds what the rows of a block contribute to all active sets. Between the sets it fetches rows of the next block,
 * which has `next_words` words: a set's rows lie anywhere, so the processor cannot foresee them, and would wait for the
 * memory. */
static void
sweep_take_block(const struct sweeping *sweeping, size_t first, size_t words, size_t next_words,
                 struct sweep_slot *slot)
{
	const struct sweep *sweep = sweeping->sweep;
	const struct problem *problem = sweep->problem;
	size_t sets = sweep->training->count, fetched = 0;
	size_t ahead = sweep_list_ahead(sweep, first + words * 64, next_words, slot);

	for (size_t set = 0; set < sets; set++) {
		struct kernels_fit fit = {.stride = problem->matrix->stride,
		                          .columns = problem_columns(problem),
		                          .weights = sweep->weights + set * sweeping->length,
		                          .absent = training_absent(sweep->training, set),
		                          .gradient = slot->gradients + set * sweeping->length,
		                          .scratch = slot->scratch,
		                          .hinge = problem->hinge,
		                          .first = problem_first_slot(problem)};
		size_t count = sweep->active[set] ? sweep_list_rows(sweep, set, first, words, slot) : 0;

		while (fetched < ahead * (set + 1) / sets)
			matrix_fetch_row(problem->matrix, slot->ahead[fetched++]);
		if (count > 0)
			slot->losses[set] += problem->kernels->fit(&fit, slot->rows, slot->slots, count);
	}
}

static int
sweep_take_part(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct sweeping *sweeping = context;
	struct sweep_slot *slot = &sweeping->slots[slot_number];
	size_t block = sweeping->block_words, words = sweeping->sweep->training->words;
	size_t sets = sweeping->sweep->training->count;
	size_t from = part * sweeping->part_blocks * block, to = from + sweeping->part_blocks * block;

	(void)thread;
	(void)error;
	memset(slot->gradients, 0, sets * sweeping->length * sizeof(float));
	memset(slot->losses, 0, sets * sizeof(double));
	to = to < words ? to : words;
	for (size_t word = from; word < to; word += block) {
		size_t now = to - word < block ? to - word : block, after = words - word - now;

		sweep_take_block(sweeping, word * 64, now, after < block ? after : block, slot);
	}
	return 0;
}

static int
sweep_add_part(void *context, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct sweeping *sweeping = context;
	const struct sweep *sweep = sweeping->sweep;
	const struct sweep_slot *slot = &sweeping->slots[slot_number];

	(void)part;
	(void)error;
	for (size_t set = 0; set < sweep->training->count; set++) {
		double *to = sweep->gradients + set * sweeping->length;
		const float *from = slot->gradients + set * sweeping->length;

		sweep->losses[set] += slot->losses[set];
		for (size_t i = 0; i < sweeping->length && sweep->active[set]; i++)
			to[i] += from[i];
	}
	return 0;
}

/* Sweeps by blocks of rows. The rows are cut into blocks, and the blocks are shared among parts that are as even as
 * whole blocks allow. */
static void
sweep_run_few(const struct sweep *sweep)
{
	const struct matrix *matrix = sweep->problem->matrix;
	size_t block = BLOCK_BYTES / (matrix->stride * sizeof(float)) / 64 * 64, blocks;
	unsigned slots = parallel_slots(sweep->problem->threads);
	struct sweeping sweeping = {.sweep = sweep, .length = problem_columns(sweep->problem) * matrix->stride};
	struct parallel parallel = {.threads = sweep->problem->threads,
	                            .context = &sweeping,
	                            .work = sweep_take_part,
	                            .deliver = sweep_add_part};

	block = block < BLOCK_LEAST ? BLOCK_LEAST : block < BLOCK_MOST ? block : BLOCK_MOST;
	blocks = (sweep->training->rows + block - 1) / block;
	sweeping.block_words = block / 64;
	sweeping.part_blocks = (blocks + PARTS - 1) / PARTS;
	parallel.count = (blocks + sweeping.part_blocks - 1) / sweeping.part_blocks;
	sweeping.slots = memory_new(slots, sizeof(*sweeping.slots));
	for (unsigned s = 0; s < slots; s++)
		sweeping.slots[s] = sweep_make_slot(&sweeping);
	problem_run(&parallel);
	for (unsigned s = 0; s < slots; s++)
		sweep_free_slot(&sweeping.slots[s]);
	free(sweeping.slots);
}

struct many_slot {
	float *gradient;                 /* columns × stride */
	float *rows, *across, *z, *sums; /* TILE × stride, its transpose, columns × TILE, 2 × TILE */
	double loss;
	int32_t *golds;
};

struct many {
	const struct sweep *sweep;
	struct many_slot *slots;
	uint32_t *sets; /* the active sets */
	size_t set_count, ranges, range_words;
	size_t columns, stride;
};

/* Adds what the first `count` rows of the slot's tile contribute to the loss and the gradient of the set. */
static void
many_take_tile(const struct many *many, struct many_slot *slot, size_t set, size_t count)
{
	const struct problem *problem = many->sweep->problem;
	size_t stride = many->stride, columns = many->columns, whole = kernels_round(count);
	const float *weights = many->sweep->weights + set * columns * stride;
	const uint8_t *absent = training_absent(many->sweep->training, set);
	struct kernels_product distances = {weights, stride, slot->across, TILE,
	                                    slot->z, TILE,   columns,      problem->matrix->features + 1,
	                                    whole,   false};
	struct kernels_product gradient = {slot->z, TILE,    slot->rows, stride, slot->gradient,
	                                   stride,  columns, count,      stride, true};

	memset(slot->rows + count * stride, 0, (whole - count) * stride * sizeof(float));
	memset(slot->golds + count, 0, (whole - count) * sizeof(int32_t));
	kernels_transpose(slot->rows, stride, whole, slot->across, TILE);
	problem->kernels->multiply(&distances);
	slot->loss += problem->hinge ? problem->kernels->shortfalls(slot->z, TILE, columns, problem_first_slot(problem),
	                                                            absent, slot->golds, count, slot->sums)
	                             : problem->kernels->residuals(slot->z, TILE, columns, absent, slot->golds, count,
	                                                           slot->sums, slot->sums + TILE);
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

/* Sweeps by tiles. Each active set goes over its rows in ranges, whose number depends on the sizes of the sets alone.
 * The sums of the ranges are added in order. */
static void
sweep_run_many(const struct sweep *sweep)
{
	const struct training *training = sweep->training;
	unsigned slots = parallel_slots(sweep->problem->threads);
	size_t columns = problem_columns(sweep->problem), stride = sweep->problem->matrix->stride;
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

void
sweep_run(const struct sweep *sweep)
{
	size_t length = problem_columns(sweep->problem) * sweep->problem->matrix->stride;

	for (size_t set = 0; set < sweep->training->count; set++)
		if (sweep->active[set]) {
			sweep->losses[set] = 0;
			memset(sweep->gradients + set * length, 0, length * sizeof(double));
		}
	if (problem_columns(sweep->problem) >= PROBLEM_MANY)
		sweep_run_many(sweep);
	else
		sweep_run_few(sweep);
}

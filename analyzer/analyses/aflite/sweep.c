/*
 * sweep.c: rows are cut into parts, a few dozen whatever the number of threads, and these into blocks that fit a cache.
 * Within a part everything is added up in one order by one thread; the parts' sums are added in theirs.
 */
#include "sweep.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (384u << 10) /* two blocks and some weights fit a second-level cache */
#define BLOCK_LEAST 128
#define BLOCK_MOST 1024
#define PARTS 48

struct sweep_slot {
	float *gradients, *scratch;
	double *losses;
	const float **rows; /* of a block, and KERNELS_PAD more */
	int32_t *slots;
	uint32_t *ahead; /* rows of the next block that an active set has */
};

/* Rows of a block, a multiple of 64. */
static size_t
block_rows(const struct sweep *sweep)
{
	size_t rows = BLOCK_BYTES / (sweep->problem->matrix->stride * sizeof(float)) / 64 * 64;

	return rows < BLOCK_LEAST ? BLOCK_LEAST : rows < BLOCK_MOST ? rows : BLOCK_MOST;
}

static size_t
vector_length(const struct sweep *sweep)
{
	return (sweep->problem->classes - 1) * sweep->problem->matrix->stride;
}

size_t
sweep_bytes(size_t sets, size_t columns, size_t stride, unsigned threads)
{
	if (columns >= PROBLEM_MANY)
		return sweep_many_bytes(columns, stride, threads);
	return parallel_slots(threads) * sets * columns * stride * sizeof(float);
}

void
sweep_free(struct sweep *sweep)
{
	for (unsigned s = 0; sweep->slots && s < sweep->slot_count; s++) {
		free(sweep->slots[s].gradients);
		free(sweep->slots[s].scratch);
		free(sweep->slots[s].losses);
		free(sweep->slots[s].rows);
		free(sweep->slots[s].slots);
		free(sweep->slots[s].ahead);
	}
	free(sweep->slots);
	sweep->slots = NULL;
}

int
sweep_init(struct sweep *sweep, struct portolan_error *error)
{
	size_t block = block_rows(sweep), sets = sweep->training->count;
	bool failed = false;

	sweep->slots = NULL;
	if (sweep->problem->classes > PROBLEM_MANY)
		return 0;
	sweep->slot_count = parallel_slots(sweep->problem->threads);
	sweep->slots = calloc(sweep->slot_count, sizeof(*sweep->slots));
	for (unsigned s = 0; sweep->slots && s < sweep->slot_count; s++) {
		struct sweep_slot *slot = &sweep->slots[s];

		slot->gradients = aligned_alloc(64, sets * vector_length(sweep) * sizeof(float));
		slot->scratch = aligned_alloc(64, (sweep->problem->classes + 1) * KERNELS_TILE * sizeof(float));
		slot->losses = malloc(sets * sizeof(double));
		slot->rows = malloc((block + KERNELS_PAD) * sizeof(*slot->rows));
		slot->slots = malloc((block + KERNELS_TILE) * sizeof(*slot->slots));
		slot->ahead = malloc(block * sizeof(*slot->ahead));
		failed |= !slot->gradients || !slot->scratch || !slot->losses || !slot->rows || !slot->slots ||
		          !slot->ahead;
	}
	if (sweep->slots && !failed)
		return 0;
	sweep_free(sweep);
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the gradients of %zu classifiers", sets);
}

/* The set's rows among `words` words of bits from row `first` on; how many. */
static size_t
list_rows(const struct sweep *sweep, size_t set, size_t first, size_t words, struct sweep_slot *slot)
{
	const struct problem *problem = sweep->problem;
	const struct training *training = sweep->training;
	const uint64_t *bits = training->bits + set * training->words + first / 64;
	const uint16_t *slots =
	        training_lacks_classes(training, set) ? training->slots + set * training->classes : NULL;
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

/* The rows from row `first` on that some active set has, into slot->ahead; how many. */
static size_t
list_ahead(const struct sweep *sweep, size_t first, size_t words, struct sweep_slot *slot)
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

/* The rows of a block, for all sets; between the sets, `next_words` words of rows behind the block are fetched. A set's
 * rows lie anywhere: the processor cannot know which ones come next, and waited for the memory. */
static void
sweep_block(const struct sweep *sweep, size_t first, size_t words, size_t next_words, struct sweep_slot *slot)
{
	const struct training *training = sweep->training;
	size_t length = vector_length(sweep), fetched = 0;
	size_t ahead = list_ahead(sweep, first + words * 64, next_words, slot);

	for (size_t set = 0; set < training->count; set++) {
		struct kernels_fit fit = {.stride = sweep->problem->matrix->stride,
		                          .columns = sweep->problem->classes - 1,
		                          .weights = sweep->weights + set * length,
		                          .gradient = slot->gradients + set * length,
		                          .scratch = slot->scratch};
		size_t count = sweep->active[set] ? list_rows(sweep, set, first, words, slot) : 0;
		size_t fetch = ahead * (set + 1) / training->count;

		while (fetched < fetch)
			matrix_fetch_row(sweep->problem->matrix, slot->ahead[fetched++]);
		if (training_lacks_classes(training, set))
			fit.absent = training->absent + set * training->classes;
		if (count > 0)
			slot->losses[set] += sweep->problem->kernels->fit(&fit, slot->rows, slot->slots, count);
	}
}

/* Blocks of a part; the parts are as even as whole blocks allow. */
static size_t
part_blocks(const struct sweep *sweep)
{
	size_t block = block_rows(sweep), blocks = (sweep->training->rows + block - 1) / block;

	return (blocks + PARTS - 1) / PARTS;
}

static int
work(void *context, unsigned thread, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct sweep *sweep = context;
	struct sweep_slot *slot = &sweep->slots[slot_number];
	size_t block = block_rows(sweep) / 64, words = sweep->training->words;
	size_t from = part * part_blocks(sweep) * block, to = from + part_blocks(sweep) * block;

	(void)thread;
	(void)error;
	memset(slot->gradients, 0, sweep->training->count * vector_length(sweep) * sizeof(float));
	memset(slot->losses, 0, sweep->training->count * sizeof(double));
	to = to < words ? to : words;
	for (size_t word = from; word < to; word += block) {
		size_t now = to - word < block ? to - word : block, after = words - word - now;

		sweep_block(sweep, word * 64, now, after < block ? after : block, slot);
	}
	return 0;
}

static int
deliver(void *context, unsigned slot_number, size_t part, struct portolan_error *error)
{
	const struct sweep *sweep = context;
	const struct sweep_slot *slot = &sweep->slots[slot_number];
	size_t length = vector_length(sweep);

	(void)part;
	(void)error;
	for (size_t set = 0; set < sweep->training->count; set++) {
		double *to = sweep->gradients + set * length;
		const float *from = slot->gradients + set * length;

		if (!sweep->active[set])
			continue;
		sweep->losses[set] += slot->losses[set];
		for (size_t i = 0; i < length; i++)
			to[i] += from[i];
	}
	return 0;
}

int
sweep_run(struct sweep *sweep, struct portolan_error *error)
{
	size_t per_part = part_blocks(sweep) * block_rows(sweep);
	struct parallel parallel = {.threads = sweep->problem->threads,
	                            .count = (sweep->training->rows + per_part - 1) / per_part,
	                            .context = sweep,
	                            .work = work,
	                            .deliver = deliver};

	for (size_t set = 0; set < sweep->training->count; set++)
		if (sweep->active[set]) {
			sweep->losses[set] = 0;
			memset(sweep->gradients + set * vector_length(sweep), 0, vector_length(sweep) * sizeof(double));
		}
	return sweep->problem->classes > PROBLEM_MANY ? sweep_many_run(sweep, error) : parallel_run(&parallel, error);
}

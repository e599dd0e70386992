/* raw_scatter.c: rows to their places in arrays, the rest of the work left out (raw_scatter.h). */
#include "raw_scatter.h"

#include "raw_append.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define AHEAD 32 /* places are asked for so many rows before they are written, as the fold does */
#define HUGE_PAGE ((size_t)2 << 20)

struct places { /* by example */
	uint32_t *restrict values;
	uint64_t *restrict present, *restrict bits;
};

static void
put_frame(const struct places *places, const uint32_t *restrict ids, uint32_t rows)
{
	const struct places to = *places;

	for (uint32_t row = 0; row < rows; row++) {
		__builtin_prefetch(to.values + ids[row + AHEAD < rows ? row + AHEAD : row], 1);
		to.present[ids[row] / 64] |= UINT64_C(1) << ids[row] % 64;
		to.values[ids[row]] = row;
		to.bits[ids[row] / 64] |= (uint64_t)(row & 1) << ids[row] % 64;
	}
}

/* An array in huge pages, as far as the system gives them. */
static uint32_t *
allocate_values(uint64_t examples)
{
	const size_t size = (examples * sizeof(uint32_t) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	uint32_t *values = aligned_alloc(HUGE_PAGE, size);

	if (!values)
		return NULL;
	madvise(values, size, MADV_HUGEPAGE);
	memset(values, 1, size); /* has pages before the clock runs */
	return values;
}

double
raw_scatter(const struct load *load)
{
	const size_t words = load->examples / 64 + 1;
	const struct places places = {.values = allocate_values(load->examples),
	                              .present = calloc(words, sizeof(uint64_t)),
	                              .bits = calloc(words, sizeof(uint64_t))};
	uint32_t *ids = malloc(ROWS * sizeof(*ids));
	double seconds = 0;

	if (!places.values || !places.present || !places.bits || !ids)
		errx(1, "out of memory");
	for (uint64_t frame = 0; frame < load_frames_of_epoch(load) * load->epochs; frame++) {
		const uint32_t rows = load_ids(load, frame, ids);
		double begin;

		if (frame % load_frames_of_epoch(load) == 0) {
			memset(places.present, 0, words * sizeof(uint64_t));
			memset(places.bits, 0, words * sizeof(uint64_t));
		}
		begin = bench_seconds();
		put_frame(&places, ids, rows);
		seconds += bench_seconds() - begin;
	}
	free(places.values);
	free(places.present);
	free(places.bits);
	free(ids);
	return seconds;
}

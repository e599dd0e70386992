/*
 * map_sample.c: random_sample() of the list 0, 1, 2, …, without the list: what was moved is remembered, and every other
 * place holds its own number. Moved to are the places up to the sample's size, which have an array, and at most as many
 * others, which are looked up.
 */
#include "map_sample.h"

#include "statistics/random.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define HASH UINT64_C(0x9e3779b97f4a7c15)

struct moved {
	uint32_t place, number; /* place 0: free, as it is never looked up here */
};

struct drawing {
	uint32_t *front; /* the places of the sample */
	struct moved *others;
	unsigned bits; /* of their number */
};

static struct moved *
find(const struct drawing *drawing, size_t place)
{
	size_t at = (size_t)((uint64_t)place * HASH >> (64 - drawing->bits)), last = ((size_t)1 << drawing->bits) - 1;

	while (drawing->others[at].place != 0 && drawing->others[at].place != place)
		at = (at + 1) & last;
	return &drawing->others[at];
}

static void
draw(struct drawing *drawing, size_t n, size_t count, uint64_t seed)
{
	struct random_state random;

	random_seed(&random, seed);
	for (size_t i = 0; i < count; i++)
		drawing->front[i] = (uint32_t)i;
	for (size_t i = 0; i < count; i++) {
		size_t j = i + (size_t)random_below(&random, n - i);
		uint32_t item = drawing->front[i];

		if (j < count) {
			drawing->front[i] = drawing->front[j];
			drawing->front[j] = item;
		} else {
			struct moved *moved = find(drawing, j);

			drawing->front[i] = moved->place == 0 ? (uint32_t)j : moved->number;
			*moved = (struct moved){(uint32_t)j, item};
		}
	}
}

static int
sort(struct map_sample *sample, struct portolan_error *error)
{
	struct sort_item *scratch = malloc((sample->count + 1) * sizeof(*scratch));

	if (!scratch)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a sample of %zu examples", sample->count);
	sort_by_key(sample->items, scratch, sample->count);
	free(scratch);
	return 0;
}

/* Room for half as many more than there can be; at least two. */
static unsigned
bits_of(size_t most)
{
	unsigned bits = 1;

	while ((size_t)1 << bits < most + most / 2 + 1)
		bits++;
	return bits;
}

int
map_sample_draw(struct map_sample *sample, size_t n, uint64_t most, uint64_t seed, struct portolan_error *error)
{
	size_t count = most < n ? (size_t)most : n, others = n - count < count ? n - count : count;
	struct drawing drawing = {.bits = bits_of(others)};
	int code = 0;

	*sample = (struct map_sample){.count = count};
	drawing.front = malloc((count + 1) * sizeof(*drawing.front));
	drawing.others = calloc((size_t)1 << drawing.bits, sizeof(*drawing.others));
	if (!drawing.front || !drawing.others)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for a sample of %zu examples", count);
	else
		draw(&drawing, n, count, seed);
	free(drawing.others);
	if (code >= 0)
		sample->items = malloc((count + 1) * sizeof(*sample->items));
	if (code >= 0 && !sample->items)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for a sample of %zu examples", count);
	for (size_t i = 0; i < count && code >= 0; i++)
		sample->items[i] = (struct sort_item){.key = drawing.front[i], .value = (uint32_t)i};
	free(drawing.front);
	if (code >= 0)
		code = sort(sample, error);
	if (code < 0)
		map_sample_free(sample);
	return code;
}

void
map_sample_free(struct map_sample *sample)
{
	free(sample->items);
	*sample = (struct map_sample){0};
}

int
map_sample_index(struct map_sample *sample, const uint32_t *indices, struct portolan_error *error)
{
	for (size_t k = 0; k < sample->count; k++)
		sample->items[k].key = indices[k];
	return sort(sample, error);
}

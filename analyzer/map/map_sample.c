/* map_sample.c: draws the examples of a scatter, and keeps them sorted, so that a map can take them as its examples come. */
#include "map_sample.h"

#include "memory/memory.h"
#include "statistics/random.h"

static void
map_sample_sort(struct map_sample *sample)
{
	CLEANUP_ARRAY struct sort_item *scratch = memory_array(sample->count, sizeof(*scratch), "examples of a sample");

	sort_by_key(sample->items, scratch, sample->count);
}

/* Draws `count` of n places, and adds them to the sample. */
static void
map_sample_add(struct map_sample *sample, uint32_t *places, size_t n, size_t count, struct random_state *random)
{
	random_sample(random, places, n, count);
	for (size_t i = 0; i < count; i++, sample->count++)
		sample->items[sample->count] = (struct sort_item){.key = places[i], .value = (uint32_t)sample->count};
}

void
map_sample_draw(struct map_sample *sample, const uint8_t *on_top, size_t n, uint64_t most, uint64_t seed)
{
	CLEANUP_ARRAY uint32_t *places = memory_array(n, sizeof(*places), "examples to draw from");
	size_t below = 0, top = n; /* the marked places stand at the end */
	size_t from_below, from_top;
	struct random_state random;

	for (size_t i = 0; i < n; i++)
		places[on_top && on_top[i] ? --top : below++] = (uint32_t)i;
	from_below = most < below ? (size_t)most : below;
	from_top = most < n - below ? (size_t)most : n - below;
	*sample = (struct map_sample){
	        .items = memory_array(from_below + from_top, sizeof(*sample->items), "examples of a sample")};
	random_seed(&random, seed);
	map_sample_add(sample, places, below, from_below, &random);
	map_sample_add(sample, places + below, n - below, from_top, &random);
	map_sample_sort(sample);
}

void
map_sample_free(struct map_sample *sample)
{
	array_free(sample->items);
	*sample = (struct map_sample){0};
}

void
map_sample_index(struct map_sample *sample, const uint32_t *order)
{
	for (size_t k = 0; k < sample->count; k++)
		sample->items[k].key = order[sample->items[k].key];
	map_sample_sort(sample);
}

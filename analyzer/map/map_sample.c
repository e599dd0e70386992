/* map_sample.c: draws the examples of a scatter, and keeps them sorted, so that a map can take them as its examples come. */
#include "map_sample.h"

#include "die/memory.h"
#include "statistics/random.h"

/* Draws `count` of n places, and adds their examples to the sample. */
static void
map_sample_add(struct map_sample *sample, const uint32_t *order, uint32_t *places, size_t n, size_t count,
               struct random_state *random)
{
	random_sample(random, places, n, count);
	for (size_t i = 0; i < count; i++, sample->count++)
		sample->items[sample->count] = (struct sort_item){.key = order ? order[places[i]] : places[i],
		                                                  .value = (uint32_t)sample->count};
}

void
map_sample_draw(struct map_sample *sample, const uint32_t *order, const uint8_t *on_top, size_t n, uint64_t most,
                uint64_t seed)
{
	CLEANUP_ARRAY uint32_t *places = memory_array(n, sizeof(*places), "examples to draw from");
	size_t below = 0, top = n; /* the marked places stand at the end */
	size_t from_below, from_top;
	CLEANUP_ARRAY struct sort_item *scratch = NULL;
	struct random_state random;

	for (size_t i = 0; i < n; i++)
		places[on_top && on_top[i] ? --top : below++] = (uint32_t)i;
	from_below = most < below ? (size_t)most : below;
	from_top = most < n - below ? (size_t)most : n - below;
	*sample = (struct map_sample){
	        .items = memory_array(from_below + from_top, sizeof(*sample->items), "examples of a sample")};
	random_seed(&random, seed);
	map_sample_add(sample, order, places, below, from_below, &random);
	map_sample_add(sample, order, places + below, n - below, from_top, &random);
	scratch = memory_array(sample->count, sizeof(*scratch), "examples of a sample");
	sort_by_key(sample->items, scratch, sample->count);
}

void
map_sample_free(struct map_sample *sample)
{
	array_free(sample->items);
	*sample = (struct map_sample){0};
}

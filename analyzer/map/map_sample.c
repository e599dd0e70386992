/* map_sample.c: see map_sample.h. */
#include "map_sample.h"

#include "base/arrays.h"
#include "statistics/random.h"

static int
sort(struct map_sample *sample, struct portolan_error *error)
{
	struct sort_item *scratch = array_new(sample->count, sizeof(*scratch), "examples of a sample", error);

	if (!scratch)
		return PORTOLAN_E_MEMORY;
	sort_by_key(sample->items, scratch, sample->count);
	array_free(scratch);
	return 0;
}

int
map_sample_draw(struct map_sample *sample, size_t n, uint64_t most, uint64_t seed, struct portolan_error *error)
{
	size_t count = most < n ? (size_t)most : n;
	uint32_t *places = array_new(n, sizeof(*places), "examples to draw from", error);
	struct random_state random;

	*sample = (struct map_sample){.count = count};
	if (!places)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < n; i++)
		places[i] = (uint32_t)i;
	random_seed(&random, seed);
	random_sample(&random, places, n, count);
	sample->items = array_new(count, sizeof(*sample->items), "examples of a sample", error);
	for (size_t i = 0; i < count && sample->items; i++)
		sample->items[i] = (struct sort_item){.key = places[i], .value = (uint32_t)i};
	array_free(places);
	if (sample->items && sort(sample, error) >= 0)
		return 0;
	map_sample_free(sample);
	return PORTOLAN_E_MEMORY;
}

/* Places of one kind, drawn, behind those that the sample has. */
static void
add_drawn(struct map_sample *sample, uint32_t *places, size_t n, uint64_t most, struct random_state *random)
{
	size_t count = most < n ? (size_t)most : n;

	random_sample(random, places, n, count);
	for (size_t i = 0; i < count; i++, sample->count++)
		sample->items[sample->count] = (struct sort_item){.key = places[i], .value = (uint32_t)sample->count};
}

int
map_sample_draw_apart(struct map_sample *sample, const uint8_t *marked, size_t n, uint64_t most, uint64_t seed,
                      struct portolan_error *error)
{
	uint32_t *places = array_new(n, sizeof(*places), "examples to draw from", error);
	size_t rest = 0, last = n; /* the others from the beginning, the marked ones from the end */
	struct random_state random;

	*sample = (struct map_sample){0};
	if (!places)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < n; i++)
		places[marked[i] ? --last : rest++] = (uint32_t)i;
	sample->items = array_new((most < rest ? (size_t)most : rest) + (most < n - rest ? (size_t)most : n - rest),
	                          sizeof(*sample->items), "examples of a sample", error);
	random_seed(&random, seed);
	if (sample->items) {
		add_drawn(sample, places, rest, most, &random);
		add_drawn(sample, places + rest, n - rest, most, &random);
	}
	array_free(places);
	if (sample->items && sort(sample, error) >= 0)
		return 0;
	map_sample_free(sample);
	return PORTOLAN_E_MEMORY;
}

void
map_sample_free(struct map_sample *sample)
{
	array_free(sample->items);
	*sample = (struct map_sample){0};
}

int
map_sample_index(struct map_sample *sample, const uint32_t *order, struct portolan_error *error)
{
	for (size_t k = 0; k < sample->count; k++)
		sample->items[k].key = order[sample->items[k].key];
	return sort(sample, error);
}

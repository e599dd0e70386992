/*
 * source_passes.c: the map of a run that is not held: once through it for ranges and counts, some times more for the
 * regions' cuts, and once, by ascending id, to draw. See source.h.
 *
 * Workers pick what the map needs of a block, and the caller's thread adds it: so sums are added, and the sample is
 * met, in one order whatever the number of threads.
 */
#include "source_parts.h"

#include "dynamics/nth.h"
#include "dynamics/scan.h"
#include "dynamics/slices.h"
#include "program/parallel.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

#define SHARE                                                                                                          \
	4 /* of the memory, what the scan that fills a slice may take: a quarter, or as much as one thread takes */
#define SLICE_LEAST (UINT64_C(2) << 20)
#define SLOT_BYTES ((uint64_t)STORE_CHUNK * (3 * sizeof(double) + sizeof(uint32_t)))

static const double *
values_of(const struct dynamics *part, const struct map_column *column)
{
	return column->name ? dynamics_column(part, column->name)->values : NULL;
}

/* The part's examples that can be drawn; its order lists no others from now on. */
static struct map_input
input_of(const struct map_input *like, struct dynamics *part)
{
	struct map_input input = *like;

	input.x.values = values_of(part, &like->x);
	input.y.values = values_of(part, &like->y);
	input.colour.values = values_of(part, &like->colour);
	input.n = 0;
	for (size_t i = 0; i < part->count; i++)
		if (map_source_is_drawable(&input, part->order[i]))
			part->order[input.n++] = part->order[i];
	input.order = part->order;
	input.first = part->first;
	input.indices = part->indices;
	return input;
}

struct measuring {
	struct map_source *source;
	struct map_ranges *ranges; /* by slot */
	size_t *counts;
};

static int
measure_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct measuring *measuring = context;
	struct map_input input = input_of(&measuring->source->input, part);

	(void)error;
	measuring->ranges[slot] = MAP_RANGES_EMPTY;
	map_ranges_add(&measuring->ranges[slot], &input);
	measuring->counts[slot] = input.n;
	return 0;
}

static int
take_measured(void *context, unsigned slot, struct portolan_error *error)
{
	const struct measuring *measuring = context;

	(void)error;
	map_ranges_join(&measuring->source->ranges, &measuring->ranges[slot]);
	measuring->source->input.n += measuring->counts[slot];
	return 0;
}

/* Lowers the threads so that they fit, and notes what slices may take. */
static int
divide_memory(struct map_source *source, const struct map_source_request *request, struct portolan_error *error)
{
	struct dynamics *run = &source->dynamics;
	uint64_t sample = request->sample < run->info->rows ? request->sample : run->info->rows;
	uint64_t maps = request->maps > 0 ? request->maps : run->epoch_count + 1;
	uint64_t fixed = DYNAMICS_PROGRAM_BYTES + NTH_BYTES + maps * (MAP_MAKER_BYTES + sample * MAP_POINT_BYTES) +
	                 sample * MAP_SAMPLE_BYTES;
	uint64_t memory, least;

	if (run->max_memory == 0)
		return 0;
	if (run->info->declared == 0) /* ids may have to be put in order */
		fixed += SLICE_LEAST;
	memory = run->max_memory > fixed ? run->max_memory - fixed : 0;
	least = scan_fit(run, memory, SLOT_BYTES);
	if (least > 0)
		return dynamics_refuse_memory(run, fixed + least, error);
	source->memory = memory;
	return 0;
}

static bool
is_in(const void *context, const struct dynamics *part, uint32_t row)
{
	const struct map_source *source = context;
	struct map_input input = source->input;

	input.x.values = values_of(part, &input.x);
	input.y.values = values_of(part, &input.y);
	input.colour.values = values_of(part, &input.colour);
	return map_source_is_drawable(&input, row);
}

/* As regions_default_cuts() has it, and the tip of the ambiguous. */
static int
find_cuts(struct map_source *source, struct portolan_error *error)
{
	size_t n = source->input.n, third = n / 3;
	uint64_t places[2] = {n / 10, third > 0 ? third - 1 : 0};
	bool all = n == source->count;
	double values[2];
	int code = nth_largest_of(&source->dynamics, source->input.x.name, places, 2, all ? NULL : is_in, source,
	                          values, error);

	if (code < 0)
		return code;
	source->cuts.regions = (struct region_cuts){.variability = third > 0 ? values[1] : INFINITY, .confidence = 0.5};
	source->cuts.tip = values[0];
	return 0;
}

int
map_source_measure(struct map_source *source, const struct map_source_request *request, struct portolan_error *error)
{
	struct dynamics *run = &source->dynamics;
	int code = divide_memory(source, request, error);
	unsigned slots = parallel_slots(run->threads);
	struct measuring measuring = {.source = source,
	                              .ranges = calloc(slots, sizeof(*measuring.ranges)),
	                              .counts = calloc(slots, sizeof(*measuring.counts))};
	struct scan_steps steps = {.context = &measuring, .work = measure_part, .deliver = take_measured};

	source->ranges = MAP_RANGES_EMPTY;
	source->input.n = 0;
	if (code >= 0)
		code = measuring.ranges && measuring.counts ? scan_run(run, &steps, error)
		                                            : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	free(measuring.ranges);
	free(measuring.counts);
	if (code < 0)
		return code;
	if (run->count == 0)
		return dynamics_no_observations(run, error);
	map_source_set_steps(source);
	source->without_place = source->count - source->input.n;
	if (source->input.n == 0)
		return map_source_nobody(source, error);
	return source->input.regions ? find_cuts(source, error) : 0;
}

/* What the map needs of a block, by place. */
struct picked {
	double *x, *y, *colour;
	uint32_t *indices;
	size_t n;
};

struct mapping {
	const struct map_input *input;
	struct map_maker *maker;
	struct picked *slots;
	unsigned slot_count;
	uint32_t *places; /* 0, 1, 2, … */
};

static int
pick_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct mapping *mapping = context;
	struct map_input input = input_of(mapping->input, part);
	struct picked *picked = &mapping->slots[slot];

	(void)error;
	picked->n = input.n;
	for (size_t i = 0; i < input.n; i++) {
		uint32_t row = input.order[i];

		picked->x[i] = input.x.values[row];
		picked->y[i] = input.y.values[row];
		picked->colour[i] = input.colour.values ? input.colour.values[row] : NAN;
		picked->indices[i] = input.first + row;
	}
	return 0;
}

static int
add_picked(void *context, unsigned slot, struct portolan_error *error)
{
	const struct mapping *mapping = context;
	const struct picked *picked = &mapping->slots[slot];
	struct map_input part = *mapping->input;

	(void)error;
	part.x.values = picked->x;
	part.y.values = picked->y;
	part.colour.values = part.colour.name ? picked->colour : NULL;
	part.order = mapping->places;
	part.indices = picked->indices;
	part.n = picked->n;
	map_maker_add(mapping->maker, &part);
	return 0;
}

static void
mapping_free(struct mapping *mapping)
{
	for (unsigned s = 0; mapping->slots && s < mapping->slot_count; s++) {
		free(mapping->slots[s].x);
		free(mapping->slots[s].indices);
	}
	free(mapping->slots);
	free(mapping->places);
}

static int
mapping_init(struct mapping *mapping, unsigned slots, struct portolan_error *error)
{
	bool done;

	mapping->slots = calloc(slots, sizeof(*mapping->slots));
	mapping->places = malloc(STORE_CHUNK * sizeof(*mapping->places));
	done = mapping->slots && mapping->places;
	for (uint32_t i = 0; i < STORE_CHUNK && done; i++)
		mapping->places[i] = i;
	for (; mapping->slot_count < slots && done; mapping->slot_count++) {
		struct picked *slot = &mapping->slots[mapping->slot_count];

		slot->x = malloc(3 * STORE_CHUNK * sizeof(double));
		slot->y = slot->x + STORE_CHUNK;
		slot->colour = slot->y + STORE_CHUNK;
		slot->indices = malloc(STORE_CHUNK * sizeof(*slot->indices));
		done = slot->x && slot->indices;
	}
	return done ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for a block of examples");
}

/* The order of the store is that of the ids. */
static int
add_blocks(struct map_source *source, const struct map_input *input, struct map_maker *maker,
           struct portolan_error *error)
{
	struct mapping mapping = {.input = input, .maker = maker};
	struct scan_steps steps = {.context = &mapping, .work = pick_part, .deliver = add_picked};
	int code = mapping_init(&mapping, parallel_slots(source->dynamics.threads), error);

	if (code >= 0)
		code = scan_run(&source->dynamics, &steps, error);
	mapping_free(&mapping);
	return code;
}

static int
add_slices(struct map_source *source, const struct slices *slices, const struct map_input *input,
           struct map_maker *maker, struct portolan_error *error)
{
	int code = 0;

	for (size_t s = 0; s < slices->count && code >= 0; s++) {
		struct dynamics slice;
		struct map_input part;

		code = slices_load(&source->dynamics, slices, s, &slice, error);
		if (code < 0)
			break;
		part = input_of(input, &slice);
		map_maker_add(maker, &part);
		slices_release(&slice);
	}
	return code;
}

/* All examples, by ascending id. */
static int
add_all(struct map_source *source, const struct map_input *input, struct map_maker *maker, struct portolan_error *error)
{
	struct dynamics *run = &source->dynamics;
	uint64_t memory = source->memory, for_scan = memory / SHARE, least = 0;
	struct slices slices;
	int code;

	if (memory > 0 && scan_worker_memory(run) > for_scan)
		for_scan = scan_worker_memory(run);
	least = for_scan + SLICE_LEAST < memory ? memory - for_scan : SLICE_LEAST;
	code = slices_plan(run, memory > 0 ? least : UINT64_MAX, &slices, error);
	if (code < 0)
		return code;
	if (slices.ascending) {
		code = add_blocks(source, input, maker, error);
	} else {
		if (memory > 0)
			scan_fit(run, for_scan, 0);
		code = add_slices(source, &slices, input, maker, error);
	}
	slices_free(&slices);
	return code;
}

int
map_source_map(struct map_source *source, const struct map_input *input, const struct map_axes *axes,
               const struct map_options *options, struct map_data *data, struct map_sample *sample,
               struct portolan_error *error)
{
	struct map_sample drawn;
	struct map_maker maker = {.options = options, .sample = &drawn, .cuts = input->regions ? &source->cuts : NULL};
	int code;

	*data = (struct map_data){0};
	code = map_sample_draw(&drawn, input->n, options->sample, options->seed, error);
	if (code < 0)
		return code;
	maker.indices = malloc((drawn.count + 1) * sizeof(*maker.indices));
	if (!maker.indices)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for a sample of %zu examples", drawn.count);
	if (code >= 0)
		code = map_maker_begin(&maker, input, axes, data, error);
	if (code >= 0 && source->is_held)
		map_maker_add(&maker, input);
	else if (code >= 0)
		code = add_all(source, input, &maker, error);
	map_maker_end(&maker);
	if (code >= 0 && sample)
		code = map_sample_index(&drawn, maker.indices, error);
	free(maker.indices);
	if (code >= 0 && sample)
		*sample = drawn;
	else
		map_sample_free(&drawn);
	if (code < 0)
		map_data_free(data);
	return code;
}

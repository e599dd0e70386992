/* source.c: lists the examples of a source that `portolan map` can draw, makes the map of them, and finds one by its
 * id. A source is a run of the store (source_run.c reads it) or a file (source_file.c). */
#include "source.h"

#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY 65536 /* examples that are counted in two threads */

bool
map_source_is_correctness(const char *name)
{
	return strcmp(name, "correctness") == 0;
}

enum map_kind
map_source_kind(const char *name)
{
	if (strcmp(name, "confidence") == 0 || map_source_is_correctness(name))
		return MAP_SHARE;
	return strcmp(name, "variability") == 0 ? MAP_VARIABILITY : MAP_ANY;
}

void
map_source_begin(struct map_source *source, const struct map_source_request *request)
{
	source->threads = request->threads;
	source->cuts = request->cuts;
	source->input.colouring = request->plain ? MAP_PLAIN : request->colour ? MAP_BY_VALUE : MAP_BY_CORRECTNESS;
	source->input.regions = strcmp(request->x, "variability") == 0 && strcmp(request->y, "confidence") == 0;
}

double
map_source_grid(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]) && values[i] != floor(values[i]))
			return 0;
	return 1;
}

const char *
map_source_file_name(const char *path, const char *other)
{
	const char *slash = strrchr(path, '/');

	return strcmp(path, "-") == 0 ? other : slash ? slash + 1 : path;
}

const char *
map_source_id_field(const struct user_file *file, const char *asked)
{
	return asked ? asked : fields_has(file, "guid") ? "guid" : "id";
}

static bool
map_source_is_drawable(const struct map_input *input, uint32_t row)
{
	return isfinite(input->x.values[row]) && isfinite(input->y.values[row]) &&
	       (input->colouring != MAP_BY_CORRECTNESS || isfinite(input->colour.values[row]));
}

/* Takes the ranges of all examples. False: some cannot be drawn. */
static bool
map_source_take_all(struct map_source *source)
{
	struct map_input *input = &source->input;
	struct map_range levels = MAP_RANGE_EMPTY; /* nobody needs it, but whether all are finite */

	input->order = source->order;
	input->n = source->count;
	source->ranges = MAP_RANGES_EMPTY;
	return map_ranges_add(&source->ranges, input) &&
	       (input->colouring != MAP_BY_CORRECTNESS ||
	        map_range_add(&levels, &input->colour, input->order, input->n));
}

/* Takes those examples that can be drawn, and their ranges. */
static void
map_source_take_drawable(struct map_source *source)
{
	struct map_input *input = &source->input;

	source->drawn = memory_array(source->count, sizeof(*source->drawn), "examples to draw");
	input->n = 0;
	for (size_t i = 0; i < source->count; i++)
		if (map_source_is_drawable(input, source->order[i]))
			source->drawn[input->n++] = source->order[i];
	input->order = source->drawn;
	source->ranges = MAP_RANGES_EMPTY;
	map_ranges_add(&source->ranges, input);
}

void
map_source_list_drawn(struct map_source *source)
{
	struct map_input *input = &source->input;

	input->rows = (uint32_t)source->ids->rows;
	if (!map_source_take_all(source))
		map_source_take_drawable(source);
	source->without_place = source->count - input->n;
	if (input->n == 0)
		die("no example of %s has both %s and %s", source->name, input->x.name, input->y.name);
}

void
map_source_drop_values(struct map_source *source)
{
	array_free(source->drawn);
	array_free(source->colour_values);
	array_free(source->cell_values);
	array_free(source->category);
	source->drawn = NULL;
	source->colour_values = source->cell_values = NULL;
	source->category = NULL;
	if (source->is_run)
		dynamics_drop_values(&source->dynamics);
}

void
map_source_free(struct map_source *source)
{
	map_source_drop_values(source);
	corrected_free(&source->corrected);
	names_free(&source->categories);
	free(source->colour_name);
	free(source->minus);
	for (size_t i = 0; i < sizeof(source->differences) / sizeof(source->differences[0]); i++)
		free(source->differences[i]);
	if (source->is_run) {
		dynamics_free(&source->dynamics);
	} else {
		array_free(source->order);
		attributes_free(&source->table);
		ids_free(&source->table_ids);
	}
	*source = (struct map_source){0};
}

int64_t
map_source_find(const struct map_source *source, const char *id)
{
	struct ids_index index;
	int64_t position;

	must(ids_index_init(&index, source->ids, source->input.order, source->input.n, &failure));
	position = ids_index_find(&index, id, strlen(id));
	ids_index_free(&index);
	return position < 0 ? -1 : (int64_t)source->input.order[position];
}

/* Draws the sample. Examples on top have one of their own: in a sample of all, a few among many might be missing. */
static void
map_source_draw_sample(const struct map_input *input, const struct map_options *options, struct map_sample *sample)
{
	CLEANUP_ARRAY uint8_t *on_top = input->on_top ? memory_array(input->n, sizeof(*on_top), "marks") : NULL;

	for (size_t i = 0; i < input->n && on_top; i++)
		on_top[i] = input->colour.values[input->order[i]] < input->on_top;
	map_sample_draw(sample, input->order, on_top, input->n, options->sample, options->seed);
}

/* What a map needs of all examples before any is counted: the sample, and the cuts between the regions if it has any. */
struct map_preparing {
	const struct map_source *source;
	const struct map_input *input;
	const struct map_options *options;
	struct map_sample sample;
	struct map_cuts cuts;
};

static int
map_source_prepare(void *context, unsigned thread, unsigned slot, size_t which, struct portolan_error *error)
{
	struct map_preparing *preparing = context;

	(void)thread;
	(void)slot;
	(void)error;
	if (which == 0)
		map_source_draw_sample(preparing->input, preparing->options, &preparing->sample);
	else
		preparing->cuts = map_find_cuts(preparing->input, preparing->source->cuts);
	return 0;
}

void
map_source_map(const struct map_source *source, const struct map_input *input, const struct map_axes *axes,
               const struct map_options *options, struct map_data *data, struct map_sample *sample)
{
	struct map_preparing preparing = {source, input, options, .sample = {0}};
	struct map_maker maker = {.options = options,
	                          .sample = &preparing.sample,
	                          .cuts = input->regions ? &preparing.cuts : NULL,
	                          .threads = source->threads > 1 && input->n >= MANY ? 2 : 1};
	struct parallel parallel = {.threads = maker.threads,
	                            .count = input->regions ? 2 : 1,
	                            .context = &preparing,
	                            .work = map_source_prepare};

	must(parallel_run(&parallel, &failure));
	map_maker_begin(&maker, input, axes, data);
	map_maker_add(&maker, input);
	map_maker_end(&maker);
	if (sample)
		*sample = preparing.sample;
	else
		map_sample_free(&preparing.sample);
}

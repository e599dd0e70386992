/*
 * drawing_load.c: the first step of a picture of `portolan map`: reads the examples of one run, of two, or of a file,
 * and makes their maps.
 *
 * All maps of a picture have the same axes: ranges are taken over all of them before anything is drawn.
 */
#include "drawing.h"

#include "die/die.h"
#include "die/memory.h"
#include "fingerprint/other_labels.h"
#include "measures/aggregate.h"
#include "measures/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Drops a grid that the other map of the picture does not have. */
static void
map_input_drop_grids(struct map_input *input, const struct map_input *other)
{
	input->x.grid = input->x.grid == other->x.grid ? input->x.grid : 0;
	input->y.grid = input->y.grid == other->y.grid ? input->y.grid : 0;
	input->colour.grid = input->colour.grid == other->colour.grid ? input->colour.grid : 0;
}

/* Are lines drawn between the regions? Whole maps have room for them. An animation has none, as its cuts would differ
 * from epoch to epoch. */
static bool
map_drawing_has_lines(const struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;

	if (drawing->is_animation || request->facet)
		return false;
	return request->lines == MAP_LINES_ALWAYS ||
	       (request->lines == MAP_LINES_IN_WHOLE_MAPS && drawing->layout.panels);
}

/* Describes the map of source `index`: the source's own input, adapted to the other map of the picture. */
static struct map_input
map_drawing_input(const struct map_drawing *drawing, size_t index)
{
	const struct map_source *sources = drawing->sources;
	struct map_input input = sources[index].input;

	if (drawing->source_count == 2) {
		map_input_drop_grids(&input, &sources[1 - index].input);
		if (sources[0].input.epochs != sources[1].input.epochs)
			input.epochs = MAP_LEVELS_MAX; /* seven levels, which serve any number of epochs */
	}
	input.labelled = drawing->style != MAP_SHIFT && (input.colouring != MAP_PLAIN || drawing->path_count == 0);
	input.lined = input.regions && input.labelled && map_drawing_has_lines(drawing);
	return input;
}

static void
map_drawing_load_path(struct map_drawing *drawing, struct trace *trace, const char *id)
{
	const struct map_source *source = &drawing->sources[0];
	const struct dynamics *dynamics = &source->dynamics;
	struct map_path *path = &drawing->paths[drawing->path_count++];
	int64_t row = map_source_find(source, id);

	if (row < 0)
		die("--path: run '%s' has no example '%s' in these epochs", source->name, id);
	must(trace_block(trace, (size_t)row / STORE_CHUNK, &failure));
	*path = (struct map_path){
	        .name = id,
	        .places = memory_new(dynamics->epoch_count, sizeof(*path->places)),
	        .epochs = memory_new(dynamics->epoch_count, sizeof(*path->epochs)),
	};
	for (size_t e = 0; e < dynamics->epoch_count; e++) {
		double x, y;

		trace_measure(trace, e + 1, 0);
		x = trace_values(trace, source->input.x.name)[(size_t)row % STORE_CHUNK];
		y = trace_values(trace, source->input.y.name)[(size_t)row % STORE_CHUNK];
		if (!isfinite(x) || !isfinite(y))
			continue;
		path->places[path->count][0] = x;
		path->places[path->count][1] = y;
		path->epochs[path->count++] = dynamics->epochs[e];
	}
}

static void
map_drawing_load_paths(struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;
	struct trace trace;

	if (request->path_count == 0)
		return;
	must(trace_init(&trace, &drawing->sources[0].dynamics, STORE_CHUNK, &failure));
	for (size_t p = 0; p < request->path_count; p++)
		map_drawing_load_path(drawing, &trace, request->paths[p]);
	trace_free(&trace);
}

/* Refuses ways of drawing that do not fit what the first source has. A source of cells is drawn as a density. */
static void
map_drawing_check_source(struct map_drawing *drawing)
{
	struct map_request *request = drawing->request;
	const struct map_source *source = &drawing->sources[0];

	if (request->facet && source->input.colouring != MAP_BY_CATEGORY)
		die("--facet: a map for each category, and %s has numbers: --colour gold, or a column of text",
		    source->input.colour.name);
	if (request->density && source->input.colouring == MAP_BY_CATEGORY)
		die("--density: a cell's colour is a mean, and %s is text: leave --density out",
		    source->input.colour.name);
	if (!source->is_cells)
		return;
	if (request->other)
		die("--from: %s has cells: a map of them has no run beside it", request->from);
	request->density = true;
	request->source.colour = source->input.colour.name;
}

static void
map_drawing_load_sources(struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;
	struct map_source *first = &drawing->sources[0], *second = &drawing->sources[1];

	if (request->from)
		map_source_file(first, request->from, &request->source);
	else
		map_source_run(first, request->query, request->run, NULL, &request->source);
	drawing->source_count = 1;
	map_drawing_check_source(drawing);
	if (request->other) {
		map_source_run(second, request->query, request->other, first, &request->source);
		if (first->dynamics.info->of_losses != second->dynamics.info->of_losses) /* ids may differ */
			must(dynamics_check_alike(&first->dynamics, &second->dynamics, &failure));
		drawing->source_count = 2;
		if (first->is_run && second->is_run)
			other_labels_warn(first->dynamics.store, (const char *const[]){request->run, request->other},
			                  2);
		if (first->input.colouring != second->input.colouring && request->source.colour_file)
			die("--colour: what %s has of %s is numbers for one of the two runs, and text for the other",
			    request->source.colour_file, request->source.colour);
		if (first->input.colouring != second->input.colouring)
			die("%s has no correctness, and %s has: give a --colour both have", first->name, second->name);
	}
	map_source_rank(drawing->sources, drawing->source_count);
}

/* Makes the maps of the one or two sources, with common axes. */
static void
map_drawing_make_maps(struct map_drawing *drawing)
{
	struct map_ranges ranges = MAP_RANGES_EMPTY;
	struct map_input input = map_drawing_input(drawing, 0);
	struct map_axes *axes = &drawing->axes;
	size_t fewest = SIZE_MAX;

	for (size_t s = 0; s < drawing->source_count; s++) {
		map_ranges_join(&ranges, &drawing->sources[s].ranges);
		fewest = drawing->sources[s].input.n < fewest ? drawing->sources[s].input.n : fewest;
	}
	for (size_t p = 0; p < drawing->path_count; p++) {
		for (size_t e = 0; e < drawing->paths[p].count; e++) {
			map_range_widen(&ranges.x, drawing->paths[p].places[e][0]);
			map_range_widen(&ranges.y, drawing->paths[p].places[e][1]);
		}
	}
	/* The difference of two counts is less certain than either count, so the cells of a shift are larger. */
	map_axes_make(axes, &input, &ranges, drawing->style == MAP_SHIFT ? fewest / 16 : fewest);
	if (drawing->sources[0].is_cells) {
		struct map_axis colour = axes->colour;

		*axes = drawing->sources[0].axes;
		axes->colour = colour;
	}
	for (; drawing->map_count < drawing->source_count; drawing->map_count++) {
		input = map_drawing_input(drawing, drawing->map_count);
		map_source_map(&drawing->sources[drawing->map_count], &input, axes, &drawing->request->options,
		               &drawing->maps[drawing->map_count], NULL);
	}
}

/* Describes the key, which names levels of correctness, categories, or the points of paths. */
static struct map_key
map_drawing_key(const struct map_drawing *drawing)
{
	const struct map_input input = map_drawing_input(drawing, 0);
	struct map_level levels[MAP_LEVELS_MAX];
	const struct map_level *named = input.levels;
	struct map_key key = {.has_bar = drawing->style != MAP_SCATTER || input.colouring == MAP_BY_VALUE,
	                      .explains_cells = drawing->style == MAP_SHIFT};

	if (key.has_bar)
		return key;
	if (input.colouring == MAP_PLAIN) {
		key.entries = drawing->request->path_count > 0 ? map_drawing_path_keys(drawing) : 0;
		key.name_width = 8;
	}
	if (input.colouring == MAP_BY_CATEGORY)
		key.entries = input.level_count;
	if (input.colouring == MAP_BY_CORRECTNESS) {
		key.entries = map_levels(drawing->is_animation ? MAP_LEVELS_MAX : input.epochs, levels);
		named = levels;
	}
	key.counted = input.colouring == MAP_BY_CATEGORY;
	for (unsigned k = 0; k < key.entries && input.colouring != MAP_PLAIN; k++)
		key.name_width = fmax(key.name_width, plot_width(named[k].name));
	return key;
}

static void
map_drawing_make_layout(struct map_drawing *drawing)
{
	struct map_request *request = drawing->request;
	const struct map_layout_request wanted = {
	        .width = request->width,
	        .points = request->points,
	        .compact = request->compact,
	        .beside = drawing->source_count == 2 && drawing->style != MAP_SHIFT,
	        .key = map_drawing_key(drawing),
	};

	if (!map_layout_make(&drawing->layout, &wanted))
		die("the map would be less than an inch wide beside its text: a larger --width, or a smaller size of "
		    "--font");
	request->options.text = map_layout_ratio(&drawing->layout);
	request->options.scale = drawing->layout.scale;
}

static enum map_style
map_drawing_style(const struct map_request *request)
{
	if (request->other && request->shift)
		return MAP_SHIFT;
	if (!request->density)
		return MAP_SCATTER;
	return request->source.colour ? MAP_MEANS : MAP_COUNTS;
}

void
map_drawing_load(struct map_drawing *drawing, struct map_request *request)
{
	struct map_input input;

	*drawing = (struct map_drawing){.request = request};
	drawing->is_animation = request->frames || (request->has_picture && request->picture.format == PICTURE_GIF);
	map_drawing_load_sources(drawing);
	drawing->style = map_drawing_style(request);
	map_drawing_make_layout(drawing);
	map_drawing_load_paths(drawing);
	if (drawing->is_animation) {
		drawing->maps = memory_new(drawing->sources[0].dynamics.epoch_count, sizeof(*drawing->maps));
		input = map_drawing_input(drawing, 0);
		map_drawing_epochs(drawing, &input);
		return;
	}
	drawing->maps = memory_new(drawing->source_count, sizeof(*drawing->maps));
	map_drawing_make_maps(drawing);
	if (request->facet)
		map_drawing_facets(drawing);
}

void
map_drawing_free(struct map_drawing *drawing)
{
	for (size_t m = 0; m < drawing->map_count; m++)
		map_data_free(&drawing->maps[m]);
	for (size_t f = 0; f < drawing->facet_count; f++)
		map_data_free(&drawing->facets[f]);
	for (size_t p = 0; p < drawing->path_count; p++) {
		free(drawing->paths[p].places);
		free(drawing->paths[p].epochs);
	}
	free(drawing->facets);
	free(drawing->maps);
	while (drawing->source_count > 0) /* the second source reads from the store of the first */
		map_source_free(&drawing->sources[--drawing->source_count]);
	*drawing = (struct map_drawing){0};
}

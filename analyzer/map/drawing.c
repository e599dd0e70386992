/*
 * drawing.c: prepares the maps of a drawing from their sources; see drawing.h.
 *
 * All maps in a picture share their axes: ranges are taken over all of them before anything is drawn.
 */
#include "drawing.h"

#include "measures/trace.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values that lie on one grid in one of two maps, and on none or another in the other. */
static void
drop_grids(struct map_input *input, const struct map_input *other)
{
	input->x.grid = input->x.grid == other->x.grid ? input->x.grid : 0;
	input->y.grid = input->y.grid == other->y.grid ? input->y.grid : 0;
	input->colour.grid = input->colour.grid == other->colour.grid ? input->colour.grid : 0;
}

/* A whole map has room for them. */
static bool
has_lines(const struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;

	if (drawing->is_animation || request->facet) /* other cuts after each epoch */
		return false;
	return request->lines == MAP_LINES_ALWAYS ||
	       (request->lines == MAP_LINES_IN_WHOLE_MAPS && drawing->layout.panels);
}

/* The contents of the map of source `index`: a copy, so that it can be changed. */
struct map_input
map_drawing_input(const struct map_drawing *drawing, size_t index)
{
	const struct map_source *sources = drawing->sources;
	struct map_input input = sources[index].input;

	if (drawing->source_count == 2) {
		drop_grids(&input, &sources[1 - index].input);
		if (sources[0].input.epochs != sources[1].input.epochs)
			input.epochs = MAP_LEVELS_MAX; /* levels that both have */
	}
	input.labelled = input.colouring != MAP_PLAIN || drawing->path_count == 0;
	if (map_drawing_style(drawing->request) == MAP_SHIFT)
		input.labelled = false;
	input.lined = input.regions && input.labelled && has_lines(drawing);
	return input;
}

static void
add_place(const struct map_input *input, const struct trace *trace, size_t at, uint32_t epoch, struct map_path *path)
{
	double x = trace_values(trace, input->x.name)[at];
	double y = trace_values(trace, input->y.name)[at];

	if (!isfinite(x) || !isfinite(y))
		return;
	path->places[path->count][0] = x;
	path->places[path->count][1] = y;
	path->epochs[path->count++] = epoch;
}

static int
load_path(struct map_drawing *drawing, struct trace *trace, const char *id, struct portolan_error *error)
{
	const struct map_source *source = &drawing->sources[0];
	struct map_path *path = &drawing->paths[drawing->path_count];
	int64_t row;
	int code = map_source_find(source, id, &row, error);

	if (code < 0)
		return code;
	if (row < 0)
		return error_set(error, PORTOLAN_E_INVALID, "--path: run '%s' has no example '%s' in these epochs",
		                 source->name, id);
	*path = (struct map_path){.name = id};
	drawing->path_count++;
	path->places = calloc(source->dynamics.epoch_count, sizeof(*path->places));
	path->epochs = calloc(source->dynamics.epoch_count, sizeof(*path->epochs));
	if (!path->places || !path->epochs)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the path of '%s'", id);
	code = trace_block(trace, (size_t)row / STORE_CHUNK, error);
	for (size_t e = 1; e <= source->dynamics.epoch_count && code >= 0; e++) {
		trace_measure(trace, e, 0);
		add_place(&source->input, trace, (size_t)row % STORE_CHUNK, source->dynamics.epochs[e - 1], path);
	}
	return code;
}

static int
load_paths(struct map_drawing *drawing, struct portolan_error *error)
{
	const struct map_request *request = drawing->request;
	struct trace trace;
	int code;

	if (request->path_count == 0)
		return 0;
	code = trace_init(&trace, &drawing->sources[0].dynamics, STORE_CHUNK, error);
	for (size_t p = 0; p < request->path_count && code >= 0; p++)
		code = load_path(drawing, &trace, request->paths[p], error);
	trace_free(&trace);
	return code;
}

static int
load_sources(struct map_drawing *drawing, struct portolan_error *error)
{
	const struct map_request *request = drawing->request;
	int code;

	if (request->from)
		code = map_source_file(&drawing->sources[0], request->from, &request->source, error);
	else
		code = map_source_run(&drawing->sources[0], request->query, request->run, NULL, &request->source,
		                      error);
	if (code < 0)
		return code;
	drawing->source_count = 1;
	if (request->facet && drawing->sources[0].input.colouring != MAP_BY_CATEGORY)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "--facet: a map for each category, and %s has numbers: --colour gold, or a column of text",
		        drawing->sources[0].input.colour.name);
	if (request->density && drawing->sources[0].input.colouring == MAP_BY_CATEGORY)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "--density: a cell's colour is a mean, and %s is text: leave --density out",
		                 drawing->sources[0].input.colour.name);
	if (drawing->sources[0].is_cells && request->other)
		return error_set(error, PORTOLAN_E_INVALID, "--from: %s has cells: a map of them has no run beside it",
		                 request->from);
	if (drawing->sources[0].is_cells) {
		drawing->own.density = true;
		drawing->own.source.colour = drawing->sources[0].input.colour.name;
	}
	if (!request->other)
		return map_source_rank(drawing->sources, 1, error);
	code = map_source_run(&drawing->sources[1], request->query, request->other, &drawing->sources[0],
	                      &request->source, error);
	drawing->source_count += code >= 0;
	if (code >= 0 && request->source.colour_file &&
	    drawing->sources[0].input.colouring != drawing->sources[1].input.colouring)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "--colour: what %s has of %s is numbers for one of the two runs, and text for the other",
		        request->source.colour_file, request->source.colour);
	if (code >= 0 && drawing->sources[0].input.colouring != drawing->sources[1].input.colouring)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s has no correctness, and %s has: give a --colour both have",
		                 drawing->sources[0].name, drawing->sources[1].name);
	return code < 0 ? code : map_source_rank(drawing->sources, 2, error);
}

/* Those of a map of cells. */
static void
take_axes(struct map_axes *axes, const struct map_axes *cells)
{
	axes->x = cells->x;
	axes->y = cells->y;
	axes->cells_x = cells->cells_x;
	axes->cells_y = cells->cells_y;
}

/* Maps of one or two sources. */
static int
make_maps(struct map_drawing *drawing, struct portolan_error *error)
{
	struct map_ranges ranges = MAP_RANGES_EMPTY;
	struct map_input first = map_drawing_input(drawing, 0);
	size_t fewest = SIZE_MAX;
	int code = 0;

	for (size_t s = 0; s < drawing->source_count; s++) {
		struct map_input input = map_drawing_input(drawing, s);

		map_ranges_join(&ranges, &drawing->sources[s].ranges);
		fewest = input.n < fewest ? input.n : fewest;
	}
	for (size_t p = 0; p < drawing->path_count; p++) {
		for (size_t e = 0; e < drawing->paths[p].count; e++) {
			map_range_widen(&ranges.x, drawing->paths[p].places[e][0]);
			map_range_widen(&ranges.y, drawing->paths[p].places[e][1]);
		}
	}
	/* The difference of two counts is less certain than either, so its cells are larger. */
	map_axes_make(&drawing->axes, &first, &ranges,
	              map_drawing_style(drawing->request) == MAP_SHIFT ? fewest / 16 : fewest);
	if (drawing->sources[0].is_cells)
		take_axes(&drawing->axes, &drawing->sources[0].axes);
	for (size_t s = 0; s < drawing->source_count && code >= 0; s++, drawing->map_count++) {
		struct map_input input = map_drawing_input(drawing, s);

		code = map_source_map(&drawing->sources[s], &input, &drawing->axes, &drawing->request->options,
		                      &drawing->maps[s], NULL, error);
	}
	return code;
}

/* Of correctness, categories or paths. */
static struct map_key
key_of(const struct map_drawing *drawing)
{
	const struct map_input input = map_drawing_input(drawing, 0);
	enum map_style style = map_drawing_style(drawing->request);
	struct map_level levels[MAP_LEVELS_MAX];
	const struct map_level *named = input.levels;
	struct map_key key = {.has_bar = style != MAP_SCATTER || input.colouring == MAP_BY_VALUE,
	                      .explains_cells = style == MAP_SHIFT};

	if (key.has_bar)
		return key;
	if (input.colouring == MAP_PLAIN) {
		key.entries = drawing->request->path_count > 0 ? map_path_keys(drawing) : 0;
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

static int
make_layout(struct map_drawing *drawing, struct portolan_error *error)
{
	struct map_request *own = &drawing->own;
	const struct map_layout_request wanted = {
	        .width = own->width,
	        .points = own->points,
	        .compact = own->compact,
	        .beside = drawing->source_count == 2 && map_drawing_style(own) != MAP_SHIFT,
	        .key = key_of(drawing),
	};

	if (!map_layout_make(&drawing->layout, &wanted))
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "the map would be less than an inch wide beside its text: a larger --width, or a smaller "
		        "size of --font");
	own->options.text = map_layout_ratio(&drawing->layout);
	own->options.scale = drawing->layout.scale;
	return 0;
}

int
map_drawing_load(struct map_drawing *drawing, const struct map_request *request, struct portolan_error *error)
{
	size_t most;
	int code;

	*drawing = (struct map_drawing){.own = *request};
	drawing->request = &drawing->own;
	drawing->is_animation = request->frames || (request->has_picture && request->picture.format == PICTURE_GIF);
	if (drawing->own.source.cuts)
		drawing->own.source.cuts = &drawing->own.cuts;
	code = load_sources(drawing, error);
	if (code >= 0)
		code = make_layout(drawing, error);
	if (code >= 0)
		code = load_paths(drawing, error);
	if (code >= 0) {
		most = drawing->is_animation ? drawing->sources[0].dynamics.epoch_count : 2;
		drawing->maps = calloc(most, sizeof(*drawing->maps));
		if (!drawing->maps)
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu maps", most);
		else
			code = drawing->is_animation ? map_drawing_epochs(drawing, error) : make_maps(drawing, error);
		if (code >= 0 && request->facet)
			code = map_drawing_facets(drawing, error);
	}
	if (code < 0)
		map_drawing_free(drawing);
	return code;
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
	while (drawing->source_count > 0) /* the store is the first one's */
		map_source_free(&drawing->sources[--drawing->source_count]);
	*drawing = (struct map_drawing){0};
}

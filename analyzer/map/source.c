/* source.c: see source.h. */
#include "source_parts.h"

#include "program/suggest.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX (MEASURE_COUNT + STORE_COLUMN_MAX)
#define ROW_BYTES 56 /* what a map takes for each example: lists of those drawn, ranked by variability */

static int
measure_of(const char *name)
{
	for (int m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(measure_infos[m].name, name) == 0)
			return m;
	return -1;
}

bool
map_source_is_correctness(const char *name)
{
	return strcmp(name, measure_infos[MEASURE_CORRECTNESS].name) == 0;
}

enum map_kind
map_source_kind(const char *name)
{
	if (strcmp(name, "confidence") == 0 || map_source_is_correctness(name))
		return MAP_SHARE;
	return strcmp(name, "variability") == 0 ? MAP_VARIABILITY : MAP_ANY;
}

bool
map_source_is_data_map(const struct map_source_request *request)
{
	return strcmp(request->x, "variability") == 0 && strcmp(request->y, "confidence") == 0;
}

bool
map_source_is_drawable(const struct map_input *input, uint32_t row)
{
	return isfinite(input->x.values[row]) && isfinite(input->y.values[row]) &&
	       (input->colouring != MAP_BY_CORRECTNESS || isfinite(input->colour.values[row]));
}

int
map_source_nobody(const struct map_source *source, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "no example of %s has both %s and %s", source->name,
	                 source->input.x.name, source->input.y.name);
}

int
map_source_list_drawn(struct map_source *source, struct portolan_error *error)
{
	size_t n = 0;

	source->ranges = MAP_RANGES_EMPTY;
	source->drawn = malloc((source->count + 1) * sizeof(*source->drawn));
	if (!source->drawn)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples", source->count);
	for (size_t i = 0; i < source->count; i++)
		if (map_source_is_drawable(&source->input, source->order[i]))
			source->drawn[n++] = source->order[i];
	source->without_place = source->count - n;
	source->input.order = source->drawn;
	source->input.n = n;
	map_ranges_add(&source->ranges, &source->input);
	if (n == 0)
		return map_source_nobody(source, error);
	return source->input.regions ? map_find_cuts(&source->input, &source->cuts, error) : 0;
}

/* What the source has, for an error about what it has not. */
static int
unknown_column(const struct dynamics *dynamics, const char *option, const char *name, struct portolan_error *error)
{
	const char *names[NAMES_MAX], *nearest;
	size_t count = 0;

	if (measure_of(name) >= 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: run '%s' was recorded without the signal that %s needs", option,
		                 dynamics->info->name, name);
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		names[count++] = measure_infos[m].name;
	for (size_t c = 0; c < dynamics->column_count; c++)
		if (measure_of(dynamics->columns[c].name) < 0)
			names[count++] = dynamics->columns[c].name;
	nearest = suggest_nearest(name, names, count);
	return error_set(error, PORTOLAN_E_INVALID, "%s: run '%s' has no measure '%s'%s%s%s", option,
	                 dynamics->info->name, name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
	                 nearest ? "'?" : " (portolan metrics shows what it has)");
}

static int
take_column(const struct dynamics *dynamics, const char *option, const char *name, struct map_column *column,
            struct portolan_error *error)
{
	const struct dynamics_column *found = dynamics_column(dynamics, name);

	if (!found)
		return unknown_column(dynamics, option, name, error);
	*column = (struct map_column){
	        .name = found->name,
	        .kind = measure_of(name) >= 0 ? map_source_kind(name) : MAP_ANY,
	        .grid = found->integer ? 1 : 0,
	};
	return 0;
}

static void
want(struct dynamics_request *wanted, const char *name)
{
	int measure = measure_of(name);

	if (measure >= 0)
		wanted->measures |= MEASURE_BIT(measure);
	else
		wanted->user = true;
}

/* Correctness where nothing else colours the examples, unless they are to be plain. */
enum map_colouring
map_source_colouring(const struct map_source_request *request)
{
	return request->plain ? MAP_PLAIN : request->colour ? MAP_BY_VALUE : MAP_BY_CORRECTNESS;
}

/* What it is made of, by name; without values. */
static int
describe(struct map_source *source, const struct map_source_request *request, struct portolan_error *error)
{
	const struct dynamics *dynamics = &source->dynamics;
	struct map_input *input = &source->input;
	int code = take_column(dynamics, "--x", request->x, &input->x, error);

	snprintf(source->name, sizeof(source->name), "%s", dynamics->info->name);
	input->colouring = map_source_colouring(request);
	input->regions = map_source_is_data_map(request);
	if (code >= 0)
		code = take_column(dynamics, "--y", request->y, &input->y, error);
	if (code >= 0 && input->colouring != MAP_PLAIN && !request->colour_file)
		code = take_column(dynamics, "--colour", request->colour ? request->colour : "correctness",
		                   &input->colour, error);
	return code;
}

static void
set_step(const struct dynamics *dynamics, struct map_column *column)
{
	if (column->kind == MAP_SHARE && map_source_is_correctness(column->name) && dynamics->gaps == 0 &&
	    dynamics->epoch_count <= MAP_SOURCE_GRID_MOST)
		column->grid = 1 / (double)dynamics->epoch_count;
}

void
map_source_set_steps(struct map_source *source)
{
	const struct dynamics *dynamics = &source->dynamics;
	struct map_input *input = &source->input;

	/* Steps of 1/epochs mean something only where every example has that many. */
	input->epochs = dynamics->gaps ? MAP_LEVELS_MAX : dynamics->epoch_count;
	set_step(dynamics, &input->x);
	set_step(dynamics, &input->y);
	if (input->colour.name)
		set_step(dynamics, &input->colour);
	source->count = dynamics->count;
}

static int
hold(struct map_source *source, const struct map_source_request *request, struct portolan_error *error)
{
	struct dynamics *dynamics = &source->dynamics;
	struct map_input *input = &source->input;
	int code = dynamics_hold(dynamics, error);

	if (code < 0)
		return code;
	source->is_held = true;
	source->ids = &dynamics->ids;
	source->order = dynamics->order;
	map_source_set_steps(source);
	input->x.values = dynamics_column(dynamics, input->x.name)->values;
	input->y.values = dynamics_column(dynamics, input->y.name)->values;
	if (request->colour_file)
		code = map_source_read_colour(source, request, error);
	else if (input->colouring != MAP_PLAIN)
		input->colour.values = dynamics_column(dynamics, input->colour.name)->values;
	return code < 0 ? code : map_source_list_drawn(source, error);
}

int
map_source_run(struct map_source *source, const struct common_options *common, const char *run,
               const struct map_source *first, const struct map_source_request *request, struct portolan_error *error)
{
	struct dynamics_request wanted = {.row_bytes = ROW_BYTES};
	int code;

	*source = (struct map_source){.is_run = true};
	want(&wanted, request->x);
	want(&wanted, request->y);
	if (map_source_colouring(request) == MAP_BY_CORRECTNESS)
		want(&wanted, "correctness");
	else if (request->colour && !request->colour_file)
		want(&wanted, request->colour);
	if (first && first->is_run)
		code = dynamics_open_beside(&source->dynamics, &first->dynamics, common, run, &wanted, error);
	else
		code = dynamics_open(&source->dynamics, common, run, &wanted, error);
	if (code < 0)
		return code;
	code = describe(source, request, error);
	if (code >= 0)
		code = request->held || request->colour_file ? hold(source, request, error)
		                                             : map_source_measure(source, request, error);
	if (code < 0)
		map_source_free(source);
	return code;
}

void
map_source_free(struct map_source *source)
{
	free(source->drawn);
	free(source->colour_values);
	free(source->colour_name);
	if (source->is_run) {
		dynamics_free(&source->dynamics);
	} else {
		free(source->order);
		attributes_free(&source->table);
		ids_free(&source->table_ids);
	}
	*source = (struct map_source){0};
}

int
map_source_find(const struct map_source *source, const char *id, int64_t *row, struct portolan_error *error)
{
	struct ids_index index;
	int64_t position;
	int code = ids_index_init(&index, source->ids, source->drawn, source->input.n, error);

	if (code < 0)
		return code;
	position = ids_index_find(&index, id, strlen(id));
	*row = position < 0 ? -1 : (int64_t)source->drawn[position];
	ids_index_free(&index);
	return 0;
}

/* source.c: see source.h. */
#include "source_parts.h"

#include "base/arrays.h"
#include "base/suggest.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX (MEASURE_COUNT + STORE_COLUMN_MAX)

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

/* Has the example a place on the map? */
static bool
is_drawable(const struct map_input *input, uint32_t row)
{
	return isfinite(input->x.values[row]) && isfinite(input->y.values[row]) &&
	       (input->colouring != MAP_BY_CORRECTNESS || isfinite(input->colour.values[row]));
}

int
map_source_list_drawn(struct map_source *source, struct portolan_error *error)
{
	size_t n = 0;

	source->ranges = MAP_RANGES_EMPTY;
	source->drawn = array_new(source->count, sizeof(*source->drawn), "examples to draw", error);
	if (!source->drawn)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < source->count; i++)
		if (is_drawable(&source->input, source->order[i]))
			source->drawn[n++] = source->order[i];
	source->without_place = source->count - n;
	source->input.order = source->drawn;
	source->input.n = n;
	map_ranges_add(&source->ranges, &source->input);
	if (n == 0)
		return error_set(error, PORTOLAN_E_INVALID, "no example of %s has both %s and %s", source->name,
		                 source->input.x.name, source->input.y.name);
	if (source->input.regions)
		map_find_cuts(&source->input, &source->cuts);
	if (source->input.regions && source->given_cuts)
		source->cuts.regions = *source->given_cuts;
	return 0;
}

int
map_source_unknown(const struct dynamics *dynamics, const char *option, const char *name, struct portolan_error *error)
{
	const char *names[NAMES_MAX], *nearest;
	size_t count = 0;

	if (measure_of(name) >= 0)
		return dynamics_no_measure(dynamics, option, name, error);
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
		return map_source_unknown(dynamics, option, name, error);
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

bool
map_source_is_gold(const struct map_source_request *request)
{
	return request->colour && !request->colour_file && strcmp(request->colour, "gold") == 0;
}

/* Colours the examples by correctness if nothing else colours them, unless they are to be plain. */
enum map_colouring
map_source_colouring(const struct map_source_request *request)
{
	return request->plain ? MAP_PLAIN : request->colour ? MAP_BY_VALUE : MAP_BY_CORRECTNESS;
}

/* The columns by name, without values. */
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
	if (code >= 0 && input->colouring != MAP_PLAIN && !request->colour_file && !request->highlight &&
	    !map_source_is_gold(request))
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

/* Sets what depends on whether all examples have every epoch. */
static void
set_steps(const struct dynamics *dynamics, struct map_input *input)
{
	/* Steps of 1/epochs mean something only where every example has that many. */
	input->epochs = dynamics->gaps ? MAP_LEVELS_MAX : dynamics->epoch_count;
	set_step(dynamics, &input->x);
	set_step(dynamics, &input->y);
	if (input->colour.name)
		set_step(dynamics, &input->colour);
}

static int
load(struct map_source *source, const struct map_source_request *request, struct portolan_error *error)
{
	struct dynamics *dynamics = &source->dynamics;
	struct map_input *input = &source->input;
	int code = dynamics_hold(dynamics, error);

	if (code < 0)
		return code;
	source->ids = &dynamics->ids;
	source->order = dynamics->order;
	source->count = dynamics->count;
	set_steps(dynamics, input);
	input->x.values = dynamics_column(dynamics, input->x.name)->values;
	input->y.values = dynamics_column(dynamics, input->y.name)->values;
	if (request->highlight)
		code = map_source_read_highlight(source, request, error);
	else if (request->colour_file)
		code = map_source_read_colour(source, request, error);
	else if (map_source_is_gold(request))
		code = map_source_take_labels(source, error);
	else if (input->colouring != MAP_PLAIN)
		input->colour.values = dynamics_column(dynamics, input->colour.name)->values;
	return code < 0 ? code : map_source_list_drawn(source, error);
}

int
map_source_run(struct map_source *source, const struct run_query *query, const char *run,
               const struct map_source *first, const struct map_source_request *request, struct portolan_error *error)
{
	struct dynamics_request wanted = {0};
	int code;

	*source = (struct map_source){.is_run = true, .given_cuts = request->cuts};
	want(&wanted, request->x);
	want(&wanted, request->y);
	wanted.gold = map_source_is_gold(request);
	if (map_source_colouring(request) == MAP_BY_CORRECTNESS && !request->highlight)
		want(&wanted, "correctness");
	else if (wanted.gold)
		; /* labels, which are no column */
	else if (request->colour && !request->colour_file)
		want(&wanted, request->colour);
	if (first && first->is_run)
		code = dynamics_open_beside(&source->dynamics, &first->dynamics, query, run, &wanted, error);
	else
		code = dynamics_open(&source->dynamics, query, run, &wanted, error);
	if (code < 0)
		return code;
	code = describe(source, request, error);
	if (code >= 0)
		code = load(source, request, error);
	if (code < 0)
		map_source_free(source);
	return code;
}

void
map_source_free(struct map_source *source)
{
	array_free(source->drawn);
	array_free(source->colour_values);
	array_free(source->cell_values);
	array_free(source->category);
	names_free(&source->categories);
	free(source->colour_name);
	if (source->is_run) {
		dynamics_free(&source->dynamics);
	} else {
		array_free(source->order);
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

/* The examples on top have a sample of their own: a sample of all would miss a few among many. */
static int
draw_sample(struct map_sample *sample, const struct map_input *input, const struct map_options *options,
            struct portolan_error *error)
{
	uint8_t *marked;
	int code;

	if (!input->on_top)
		return map_sample_draw(sample, input->n, options->sample, options->seed, error);
	marked = array_new(input->n, sizeof(*marked), "marks", error);
	if (!marked)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < input->n; i++)
		marked[i] = input->colour.values[input->order[i]] == 0;
	code = map_sample_draw_apart(sample, marked, input->n, options->sample, options->seed, error);
	array_free(marked);
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
	code = draw_sample(&drawn, input, options, error);
	if (code >= 0)
		code = map_maker_begin(&maker, input, axes, data, error);
	if (code >= 0)
		map_maker_add(&maker, input);
	map_maker_end(&maker);
	if (code >= 0 && sample)
		code = map_sample_index(&drawn, input->order, error);
	if (code >= 0 && sample)
		*sample = drawn;
	else
		map_sample_free(&drawn);
	if (code < 0)
		map_data_free(data);
	return code;
}

/* source_run.c: for `portolan map`: reads a run of the store as the source of a map: the measures and columns that the
 * map's axes and colours name, and the steps in which correctness goes. */
#include "source.h"

#include "base/suggest.h"
#include "die/die.h"
#include "die/memory.h"

#include <math.h>
#include <string.h>

#define NAMES_MAX (MEASURE_COUNT + STORE_COLUMN_MAX)

void
map_source_no_measure(const struct dynamics *dynamics, const char *option, const char *name)
{
	const char *names[NAMES_MAX], *nearest;
	size_t count = 0;

	if (measure_find(name) >= 0)
		must(dynamics_no_measure(dynamics, option, name, &failure));
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		names[count++] = measure_infos[m].name;
	for (size_t c = 0; c < dynamics->column_count; c++)
		if (measure_find(dynamics->columns[c].name) < 0)
			names[count++] = dynamics->columns[c].name;
	nearest = suggest_nearest(name, names, count);
	die("%s: run '%s' has no measure '%s'%s%s%s", option, dynamics->info->name, name,
	    nearest ? "; did you mean '" : "", nearest ? nearest : "",
	    nearest ? "'?" : " (portolan metrics shows what it has)");
}

/* What a picture calls a measure less that of another run; the caller's to free(). */
static char *
map_source_name_difference(const char *name)
{
	char *text = memory_text("Δ %s", name);

	for (char *at = text; measure_find(name) >= 0 && *at; at++)
		*at = *at == '_' ? ' ' : *at;
	return text;
}

/* Describes a column of the run. Its values come later, with map_source_hold(). */
static void
map_source_take_column(struct map_source *source, const char *option, const char *name, struct map_column *column,
                       size_t number)
{
	const struct dynamics *dynamics = &source->dynamics;
	const struct dynamics_column *found = dynamics_column(dynamics, name);

	if (!found)
		map_source_no_measure(dynamics, option, name);
	if (source->minus && found->measure != MEASURE_EPOCHS) { /* of epochs there is no difference */
		source->differences[number] = map_source_name_difference(found->name);
		*column = (struct map_column){.name = source->differences[number], .kind = MAP_ANY};
		return;
	}
	*column = (struct map_column){
	        .name = found->name,
	        .kind = measure_find(name) >= 0 && (!dynamics->info->of_losses || map_source_is_correctness(name))
	                        ? map_source_kind(name)
	                        : MAP_ANY,
	        .grid = found->integer ? 1 : 0,
	};
}

static void
map_source_want(struct dynamics_request *wanted, const char *name)
{
	int measure = measure_find(name);

	if (measure >= 0)
		wanted->measures |= MEASURE_BIT(measure);
	else
		wanted->user = true;
}

static bool
map_source_is_gold(const struct map_source_request *request)
{
	return request->colour && !request->colour_file && strcmp(request->colour, "gold") == 0;
}

/* The measure or column of the run that colours the examples; NULL: none does. */
static const char *
map_source_colour_column(const struct map_source_request *request)
{
	if (request->plain || request->highlight || request->corrections || request->colour_file ||
	    map_source_is_gold(request))
		return NULL;
	return request->colour ? request->colour : "correctness";
}

/* Sets the grid of correctness. Steps of 1/epochs mean something only where every example has that many epochs. */
static void
map_source_set_step(const struct dynamics *dynamics, struct map_column *column)
{
	if (column->name && column->kind == MAP_SHARE && map_source_is_correctness(column->name) &&
	    dynamics->gaps == 0 && dynamics->epoch_count <= MAP_SOURCE_GRID_MOST)
		column->grid = 1 / (double)dynamics->epoch_count;
}

/* Loads the run's measures, and points the columns at them. */
static void
map_source_hold(struct map_source *source, const struct map_source_request *request)
{
	struct dynamics *dynamics = &source->dynamics;
	struct map_input *input = &source->input;

	if (!source->minus) /* a difference is loaded already */
		must(dynamics_hold(dynamics, &failure));
	source->ids = &dynamics->ids;
	source->order = dynamics->order;
	source->count = dynamics->count;
	input->epochs = dynamics->gaps ? MAP_LEVELS_MAX : dynamics->epoch_count;
	map_source_set_step(dynamics, &input->x);
	map_source_set_step(dynamics, &input->y);
	map_source_set_step(dynamics, &input->colour);
	input->x.values = dynamics_column(dynamics, request->x)->values;
	input->y.values = dynamics_column(dynamics, request->y)->values;
	if (request->corrections)
		map_source_correct(source, request->corrections);
	if (request->highlight)
		map_source_read_highlight(source, request);
	else if (request->colour_file)
		map_source_read_colour(source, request);
	else if (map_source_is_gold(request))
		map_source_take_labels(source);
	else if (request->corrections)
		map_source_mark_corrections(source);
	else if (input->colour.name)
		input->colour.values = dynamics_column(dynamics, map_source_colour_column(request))->values;
	map_source_list_drawn(source);
}

struct map_source_request
map_source_of_losses(const struct dynamics *dynamics, const struct map_source_request *request)
{
	struct map_source_request other = *request;
	const bool colours = map_source_colour_column(request) && !request->colour && !request->colour_name;

	if (request->regions_given)
		die("--regions: run '%s' records losses (log_loss), which have no labels, and regions are of variability "
		    "and confidence: leave --regions out, and select by task_loss or variability",
		    dynamics->info->name);
	if (!request->y_given && strcmp(request->y, measure_infos[MEASURE_CONFIDENCE].name) == 0)
		other.y = measure_infos[MEASURE_TASK_LOSS].name;
	if (colours && isnan(dynamics->loss_threshold))
		other.colour = measure_infos[MEASURE_LEARNING_SPEED].name;
	return other;
}

/* Loads the run's measures less those of the query's other run. */
static void
map_source_load_difference(struct map_source *source, const struct run_query *query, const char *run,
                           const struct dynamics_request *wanted)
{
	struct dynamics_request request = *wanted;

	request.trend = false;
	source->minus = memory_new(1, sizeof(*source->minus));
	must(dynamics_load_minus(&source->dynamics, query, run, &request, NEVER_LEARNED_FLAG, source->minus, &failure));
}

void
map_source_run(struct map_source *source, const struct run_query *query, const char *run,
               const struct map_source *first, const struct map_source_request *request)
{
	const char *colour = map_source_colour_column(request);
	struct dynamics_request wanted = {.measures =
	                                          MEASURE_BIT(MEASURE_TASK_LOSS) | MEASURE_BIT(MEASURE_LEARNING_SPEED),
	                                  .gold = map_source_is_gold(request) || request->corrections,
	                                  .losses = !request->corrections,
	                                  .trend = true};
	struct map_source_request of_losses;
	struct dynamics *dynamics = &source->dynamics;

	*source = (struct map_source){.is_run = true};
	map_source_begin(source, request);
	map_source_want(&wanted, request->x);
	map_source_want(&wanted, request->y);
	if (colour)
		map_source_want(&wanted, colour);
	if (query->minus)
		map_source_load_difference(source, query, run, &wanted);
	else if (first && first->is_run)
		must(dynamics_open_beside(dynamics, &first->dynamics, query, run, &wanted, &failure));
	else
		must(dynamics_open(dynamics, query, run, &wanted, &failure));
	if (query->minus)
		snprintf(source->name, sizeof(source->name), "%s less %s", dynamics->info->name, query->minus);
	else
		snprintf(source->name, sizeof(source->name), "%s", dynamics->info->name);
	if (dynamics->info->of_losses) {
		of_losses = map_source_of_losses(dynamics, request);
		request = &of_losses;
		colour = map_source_colour_column(request);
		source->input.regions = false;
		if (colour && strcmp(colour, measure_infos[MEASURE_CORRECTNESS].name) != 0)
			source->input.colouring = MAP_BY_VALUE;
	}
	if (source->minus) { /* differences of correctness have no levels, and those of variability and confidence no regions */
		source->input.regions = false;
		source->input.colouring = colour ? MAP_BY_VALUE : source->input.colouring;
	}
	map_source_take_column(source, "--x", request->x, &source->input.x, 0);
	map_source_take_column(source, "--y", request->y, &source->input.y, 1);
	if (colour)
		map_source_take_column(source, "--colour", colour, &source->input.colour, 2);
	map_source_hold(source, request);
}

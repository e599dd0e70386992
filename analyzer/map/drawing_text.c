/* drawing_text.c: the texts on a map: its title, and how many of the examples it shows. */
#include "drawing.h"

#include "base/number.h"
#include "measures/measures.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum map_style
map_drawing_style(const struct map_request *request)
{
	if (request->other && request->shift)
		return MAP_SHIFT;
	if (!request->density)
		return MAP_SCATTER;
	return request->source.colour ? MAP_MEANS : MAP_COUNTS;
}

__attribute__((format(printf, 3, 4))) static void
append(char *text, size_t room, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, room - used, format, arguments);
	va_end(arguments);
}
#define add(text, ...) append(text, MAP_CAPTION_ROOM, __VA_ARGS__)
#define describe(text, ...) append(text, MAP_DESCRIPTION_ROOM, __VA_ARGS__)

/* Those that words do not name. */
static const struct {
	const char *name, *shown;
} shown_names[] = {{"gold", "gold label"}, {"aum", "AUM"},   {"el2n", "EL2N"},
                   {"dyn_unc", "Dyn-Unc"}, {"dual", "DUAL"}, {"tdds", "TDDS"}};

void
map_shown_name(char text[MAP_CAPTION_ROOM], const char *name)
{
	bool is_measure = false;

	for (size_t i = 0; i < sizeof(shown_names) / sizeof(shown_names[0]); i++)
		if (strcmp(name, shown_names[i].name) == 0)
			name = shown_names[i].shown;
	for (int m = 0; m < MEASURE_COUNT; m++)
		is_measure |= strcmp(name, measure_infos[m].name) == 0;
	snprintf(text, MAP_CAPTION_ROOM, "%s", name);
	for (char *at = text; is_measure && *at; at++)
		*at = *at == '_' ? ' ' : *at;
}

/* Adds this if it fits. */
__attribute__((format(printf, 3, 4))) static void
add_if_room(char *text, double room, const char *format, ...)
{
	char more[MAP_CAPTION_ROOM];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(more, sizeof(more), format, arguments);
	va_end(arguments);
	if (plot_width(text) + plot_width(more) <= room)
		add(text, "%s", more);
}

/* "epochs 1 to 5 · measured at the end of each epoch". */
static void
add_epochs(char *text, const struct map_drawing *drawing, const struct map_source *source, size_t map, double room)
{
	const struct dynamics *dynamics = &source->dynamics;
	uint32_t first, last;

	if (!source->is_run)
		return;
	first = dynamics->epochs[0];
	last = dynamics->epochs[drawing->is_animation ? map : dynamics->epoch_count - 1];
	if (drawing->is_animation)
		add_if_room(text, room, " · after epoch %u", last);
	else if (first == last)
		add_if_room(text, room, " · epoch %u", first);
	else
		add_if_room(text, room, " · epochs %u to %u", first, last);
	if (drawing->source_count == 2 || drawing->facet_count > 0 || drawing->path_count > 0)
		return;
	add_if_room(text, room, " · %s",
	            dynamics->info->mode == PORTOLAN_TRAIN_FORWARD ? "measured as training goes by"
	                                                           : "measured at the end of each epoch");
}

/* "25,000 of 550,000 examples shown, sampled". */
static void
add_examples(char *text, const struct map_drawing *drawing, size_t map, double room)
{
	const struct map_data *data = &drawing->maps[map];
	bool sampled = map_drawing_style(drawing->request) == MAP_SCATTER && data->shown < data->examples;
	char shown[NUMBER_ROOM], all[NUMBER_ROOM];

	number_print_grouped(data->shown, shown);
	number_print_grouped(data->examples, all);
	add(text, "%s%s%s example%s", sampled ? shown : "", sampled ? " of " : "", all, data->examples == 1 ? "" : "s");
	if (sampled)
		add_if_room(text, room, " shown, sampled");
}

static void
add_missing(char *text, const struct map_drawing *drawing, const struct map_source *source, size_t map, double room)
{
	const struct map_data *data = &drawing->maps[map];
	enum map_style style = map_drawing_style(drawing->request);
	char number[NUMBER_ROOM], name[MAP_CAPTION_ROOM];

	if (source->without_place > 0 && !drawing->is_animation) {
		number_print_grouped(source->without_place, number);
		add_if_room(text, room, " · %s without a value", number);
	}
	if (style == MAP_MEANS && data->clipped)
		add_if_room(text, room, " · colours: 2 to 98%% of cells");
	if (data->without_colour == 0 || style != MAP_SCATTER)
		return;
	map_shown_name(name, source->input.colour.name);
	add_if_room(text, room, " · grey: no %s", name);
}

/* "b (3,000 examples, orange) less a (3,000 examples, blue)"; without the counts if they do not fit. */
static void
add_shift(char *text, const struct map_drawing *drawing, double room)
{
	const char *before = drawing->sources[0].name, *after = drawing->sources[1].name;

	add(text, "%s (", after);
	add_examples(text, drawing, 1, room);
	add(text, ", orange) less %s (", before);
	add_examples(text, drawing, 0, room);
	add(text, ", blue)");
	if (plot_width(text) <= room)
		return;
	text[0] = '\0';
	add(text, "%s (orange) less %s (blue)", after, before);
}

/* "a · 3,000 examples"; the name alone if the rest does not fit. */
static void
add_run(char *text, const struct map_drawing *drawing, size_t map, double room)
{
	const char *name = drawing->sources[map].name;

	add(text, "%s · ", name);
	add_examples(text, drawing, map, room);
	if (plot_width(text) <= room)
		return;
	text[0] = '\0';
	add(text, "%s", name);
}

void
map_drawing_caption(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing, size_t map, double room)
{
	const struct map_source *source = &drawing->sources[drawing->is_animation ? 0 : map];

	text[0] = '\0';
	if (map_drawing_style(drawing->request) == MAP_SHIFT) {
		add_shift(text, drawing, room);
		return;
	}
	if (drawing->source_count == 2)
		add_run(text, drawing, map, room);
	else
		add_examples(text, drawing, map, room);
	add_missing(text, drawing, source, map, room);
	if (drawing->facet_count > 1)
		add_if_room(text, room, " · grey: the others");
	add_epochs(text, drawing, source, map, room);
}

void
map_drawing_title(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;

	text[0] = '\0';
	if (request->title)
		add(text, "%s", request->title);
	else if (drawing->source_count == 1)
		add(text, "%s", drawing->sources[0].name);
	else
		add(text, request->shift ? "From %s to %s" : "%s and %s", drawing->sources[0].name,
		    drawing->sources[1].name);
}

void
map_drawing_colour_note(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing)
{
	const struct map_column *colour = &drawing->sources[0].input.colour;
	enum map_style style = map_drawing_style(drawing->request);

	char name[MAP_CAPTION_ROOM];

	text[0] = '\0';
	if (style == MAP_SHIFT)
		add(text, "percentage points");
	if (style == MAP_MEANS || (style == MAP_SCATTER && drawing->sources[0].input.colouring == MAP_BY_VALUE)) {
		map_shown_name(name, colour->name);
		add(text, "%s%s", style == MAP_MEANS ? "mean of " : "", name);
	}
}

static void
describe_map(char *text, const struct map_drawing *drawing, size_t map)
{
	const struct map_data *data = &drawing->maps[map];
	char caption[MAP_CAPTION_ROOM];

	map_drawing_caption(caption, drawing, map, INFINITY);
	describe(text, " %s.", caption);
	for (unsigned r = 0; r < REGION_COUNT && data->regions; r++)
		describe(text, "%s %s: %s%s", r == 0 ? " Regions:" : "", region_names[r],
		         NUMBER_GROUPED(data->region_examples[r]), r + 1 < REGION_COUNT ? "," : ".");
}

void
map_drawing_description(char text[MAP_DESCRIPTION_ROOM], const struct map_drawing *drawing)
{
	const struct map_column *colour = &drawing->sources[0].input.colour;
	enum map_style style = map_drawing_style(drawing->request);
	char x[MAP_CAPTION_ROOM], y[MAP_CAPTION_ROOM], name[MAP_CAPTION_ROOM];

	map_shown_name(x, drawing->axes.x.name);
	map_shown_name(y, drawing->axes.y.name);
	map_shown_name(name, colour->name ? colour->name : "");
	text[0] = '\0';
	describe(text, "A data map: %s to the right, %s upwards", x, y);
	if (style == MAP_SHIFT)
		describe(text, "; the difference of two densities");
	else if (style == MAP_COUNTS)
		describe(text, "; how many examples lie where");
	else if (drawing->sources[0].input.colouring != MAP_PLAIN)
		describe(text, "; coloured by %s%s", style == MAP_MEANS ? "the mean of " : "", name);
	describe(text, ".");
	for (size_t m = 0; m < (drawing->is_animation || style == MAP_SHIFT ? 1 : drawing->map_count); m++)
		describe_map(text, drawing, m);
}

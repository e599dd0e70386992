/* drawing_text.c: makes the texts of `portolan map`'s pictures: title, captions, the names of measures, and a
 * description in words for those who cannot see the picture. */
#include "drawing.h"

#include "base/number.h"
#include "measures/measures.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Appends to a text as much as fits; `room` is the size of the text in bytes. */
__attribute__((format(printf, 3, 4))) static void
text_append(char *text, size_t room, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, room - used, format, arguments);
	va_end(arguments);
}
#define caption_add(text, ...) text_append(text, MAP_CAPTION_ROOM, __VA_ARGS__)
#define description_add(text, ...) text_append(text, MAP_DESCRIPTION_ROOM, __VA_ARGS__)

/* What pictures call measures whose names are no words. */
static const struct {
	const char *name, *shown;
} shown_names[] = {{"gold", "gold label"}, {"aum", "AUM"},   {"el2n", "EL2N"},
                   {"dyn_unc", "Dyn-Unc"}, {"dual", "DUAL"}, {"tdds", "TDDS"}};

void
map_shown_name(char text[MAP_CAPTION_ROOM], const char *name)
{
	bool is_measure;

	for (size_t i = 0; i < sizeof(shown_names) / sizeof(shown_names[0]); i++)
		if (strcmp(name, shown_names[i].name) == 0)
			name = shown_names[i].shown;
	is_measure = measure_find(name) >= 0;
	snprintf(text, MAP_CAPTION_ROOM, "%s", name);
	for (char *at = text; is_measure && *at; at++)
		*at = *at == '_' ? ' ' : *at;
}

/* Adds a part to a caption, if all of it fits within `room` ems. */
__attribute__((format(printf, 3, 4))) static void
caption_add_if_room(char *text, double room, const char *format, ...)
{
	char more[MAP_CAPTION_ROOM];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(more, sizeof(more), format, arguments);
	va_end(arguments);
	if (plot_width(text) + plot_width(more) <= room)
		caption_add(text, "%s", more);
}

/* Adds "epochs 1 to 5 · measured at the end of each epoch". */
static void
caption_add_epochs(char *text, const struct map_drawing *drawing, const struct map_source *source, size_t map,
                   double room)
{
	const struct dynamics *dynamics = &source->dynamics;
	uint32_t first, last;

	if (!source->is_run)
		return;
	first = dynamics->epochs[0];
	last = dynamics->epochs[drawing->is_animation ? map : dynamics->epoch_count - 1];
	if (drawing->is_animation)
		caption_add_if_room(text, room, " · after epoch %u", last);
	else if (first == last)
		caption_add_if_room(text, room, " · epoch %u", first);
	else
		caption_add_if_room(text, room, " · epochs %u to %u", first, last);
	if (drawing->source_count == 2 || drawing->facet_count > 0 || drawing->path_count > 0)
		return;
	caption_add_if_room(text, room, " · %s",
	                    dynamics->info->mode == PORTOLAN_TRAIN_FORWARD ? "measured as training goes by"
	                                                                   : "measured at the end of each epoch");
}

/* Adds "25,000 of 550,000 examples shown, sampled", or "550,000 examples". */
static void
caption_add_examples(char *text, const struct map_drawing *drawing, size_t map, double room)
{
	const struct map_data *data = &drawing->maps[map];
	bool sampled = drawing->style == MAP_SCATTER && data->shown < data->examples;
	char shown[NUMBER_ROOM], all[NUMBER_ROOM];

	number_print_grouped(data->shown, shown);
	number_print_grouped(data->examples, all);
	caption_add(text, "%s%s%s example%s", sampled ? shown : "", sampled ? " of " : "", all,
	            data->examples == 1 ? "" : "s");
	if (sampled)
		caption_add_if_room(text, room, " shown, sampled");
}

/* Adds how many examples are not drawn, and where colours do not say all: means beyond the bar of colours, and examples
 * without a value. */
static void
caption_add_missing(char *text, const struct map_drawing *drawing, const struct map_source *source, size_t map,
                    double room)
{
	const struct map_data *data = &drawing->maps[map];
	char number[NUMBER_ROOM], name[MAP_CAPTION_ROOM];

	if (source->without_place > 0 && !drawing->is_animation) {
		number_print_grouped(source->without_place, number);
		caption_add_if_room(text, room, " · %s without a value", number);
	}
	if (drawing->style == MAP_MEANS && data->clipped)
		caption_add_if_room(text, room, " · colours: 2 to 98%% of cells");
	if (data->without_colour == 0 || drawing->style != MAP_SCATTER)
		return;
	map_shown_name(name, source->input.colour.name);
	caption_add_if_room(text, room, " · grey: no %s", name);
}

/* Adds "b (3,000 examples, orange) less a (3,000 examples, blue)"; without the counts if they do not fit. */
static void
caption_add_shift(char *text, const struct map_drawing *drawing, double room)
{
	const char *before = drawing->sources[0].name, *after = drawing->sources[1].name;

	caption_add(text, "%s (", after);
	caption_add_examples(text, drawing, 1, room);
	caption_add(text, ", orange) less %s (", before);
	caption_add_examples(text, drawing, 0, room);
	caption_add(text, ", blue)");
	if (plot_width(text) <= room)
		return;
	text[0] = '\0';
	caption_add(text, "%s (orange) less %s (blue)", after, before);
}

/* Adds "a · 3,000 examples"; the name alone if the rest does not fit. */
static void
caption_add_run(char *text, const struct map_drawing *drawing, size_t map, double room)
{
	const char *name = drawing->sources[map].name;

	caption_add(text, "%s · ", name);
	caption_add_examples(text, drawing, map, room);
	if (plot_width(text) <= room)
		return;
	text[0] = '\0';
	caption_add(text, "%s", name);
}

void
map_drawing_caption(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing, size_t map, double room)
{
	const struct map_source *source = &drawing->sources[drawing->is_animation ? 0 : map];

	text[0] = '\0';
	if (drawing->style == MAP_SHIFT) {
		caption_add_shift(text, drawing, room);
		return;
	}
	if (drawing->source_count == 2)
		caption_add_run(text, drawing, map, room);
	else
		caption_add_examples(text, drawing, map, room);
	caption_add_missing(text, drawing, source, map, room);
	if (drawing->facet_count > 1)
		caption_add_if_room(text, room, " · grey: the others");
	caption_add_epochs(text, drawing, source, map, room);
}

void
map_drawing_title(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;

	text[0] = '\0';
	if (request->title)
		caption_add(text, "%s", request->title);
	else if (drawing->source_count == 1)
		caption_add(text, "%s", drawing->sources[0].name);
	else
		caption_add(text, request->shift ? "From %s to %s" : "%s and %s", drawing->sources[0].name,
		            drawing->sources[1].name);
}

void
map_drawing_colour_note(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing)
{
	const struct map_column *colour = &drawing->sources[0].input.colour;
	char name[MAP_CAPTION_ROOM];

	text[0] = '\0';
	if (drawing->style == MAP_SHIFT)
		caption_add(text, "percentage points");
	if (drawing->style == MAP_MEANS ||
	    (drawing->style == MAP_SCATTER && drawing->sources[0].input.colouring == MAP_BY_VALUE)) {
		map_shown_name(name, colour->name);
		caption_add(text, "%s%s", drawing->style == MAP_MEANS ? "mean of " : "", name);
	}
}

static void
description_add_map(char *text, const struct map_drawing *drawing, size_t map)
{
	const struct map_data *data = &drawing->maps[map];
	char caption[MAP_CAPTION_ROOM];

	map_drawing_caption(caption, drawing, map, INFINITY);
	description_add(text, " %s.", caption);
	for (unsigned r = 0; r < REGION_COUNT && data->regions; r++)
		description_add(text, "%s %s: %s%s", r == 0 ? " Regions:" : "", region_names[r],
		                NUMBER_GROUPED(data->region_examples[r]), r + 1 < REGION_COUNT ? "," : ".");
}

unsigned
map_drawing_path_keys(const struct map_drawing *drawing)
{
	size_t epochs = drawing->sources[0].dynamics.epoch_count;

	return epochs < MAP_PATH_KEYS - 1 ? (unsigned)epochs + 1 : MAP_PATH_KEYS;
}

void
map_drawing_description(char text[MAP_DESCRIPTION_ROOM], const struct map_drawing *drawing)
{
	const struct map_column *colour = &drawing->sources[0].input.colour;
	char x[MAP_CAPTION_ROOM], y[MAP_CAPTION_ROOM], name[MAP_CAPTION_ROOM];

	map_shown_name(x, drawing->axes.x.name);
	map_shown_name(y, drawing->axes.y.name);
	map_shown_name(name, colour->name ? colour->name : "");
	text[0] = '\0';
	description_add(text, "A data map: %s to the right, %s upwards", x, y);
	if (drawing->style == MAP_SHIFT)
		description_add(text, "; the difference of two densities");
	else if (drawing->style == MAP_COUNTS)
		description_add(text, "; how many examples lie where");
	else if (drawing->sources[0].input.colouring != MAP_PLAIN)
		description_add(text, "; coloured by %s%s", drawing->style == MAP_MEANS ? "the mean of " : "", name);
	description_add(text, ".");
	for (size_t m = 0; m < (drawing->is_animation || drawing->style == MAP_SHIFT ? 1 : drawing->map_count); m++)
		description_add_map(text, drawing, m);
}

/* drawing_text.c: what is written on a map: its title, and what it shows of how many. */
#include "drawing.h"

#include "dynamics/measures.h"
#include "program/number.h"

#include <stdarg.h>
#include <string.h>

#define COMPACT_TEXT 54 /* bytes, beside which a compact map has room for the mode */

enum map_style
map_drawing_style(const struct map_request *request)
{
	if (request->other && request->shift)
		return MAP_SHIFT;
	if (!request->density)
		return MAP_SCATTER;
	return request->source.colour ? MAP_MEANS : MAP_COUNTS;
}

__attribute__((format(printf, 2, 3))) static void
add(char *text, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, MAP_CAPTION_ROOM - used, format, arguments);
	va_end(arguments);
}

void
map_shown_name(char text[MAP_CAPTION_ROOM], const char *name)
{
	bool is_measure = false;

	for (int m = 0; m < MEASURE_COUNT; m++)
		is_measure |= strcmp(name, measure_infos[m].name) == 0;
	snprintf(text, MAP_CAPTION_ROOM, "%s", name);
	for (char *at = text; is_measure && *at; at++)
		*at = *at == '_' ? ' ' : *at;
}

/* "epochs 1 to 5 · measured at the end of each epoch". */
static void
add_epochs(char *text, const struct map_drawing *drawing, const struct map_source *source, size_t map)
{
	const struct dynamics *dynamics = &source->dynamics;
	uint32_t first, last;

	if (!source->is_run)
		return;
	first = dynamics->epochs[0];
	last = dynamics->epochs[drawing->is_animation ? map : dynamics->epoch_count - 1];
	if (drawing->is_animation)
		add(text, " · after epoch %u", last);
	else if (first == last)
		add(text, " · epoch %u", first);
	else
		add(text, " · epochs %u to %u", first, last);
	if (drawing->path_count > 0) {
		add(text, " · paths from the white point to the large one");
		return;
	}
	if (drawing->source_count == 2 || drawing->facet_count > 0 || source->without_place > 0 ||
	    (drawing->maps[map].without_colour > 0 && map_drawing_style(drawing->request) == MAP_SCATTER) ||
	    (drawing->request->compact && strlen(text) > COMPACT_TEXT)) /* no room */
		return;
	add(text, " · %s",
	    dynamics->info->mode == PORTOLAN_TRAIN_FORWARD ? "measured as training goes by"
	                                                   : "measured at the end of each epoch");
}

/* "25,000 of 550,000 examples shown, sampled". */
static void
add_examples(char *text, const struct map_drawing *drawing, size_t map)
{
	const struct map_data *data = &drawing->maps[map];
	bool sampled = map_drawing_style(drawing->request) == MAP_SCATTER && data->shown < data->examples;
	char shown[NUMBER_ROOM], all[NUMBER_ROOM];

	number_print_grouped(data->shown, shown);
	number_print_grouped(data->examples, all);
	add(text, "%s%s%s example%s%s", sampled ? shown : "", sampled ? " of " : "", all,
	    data->examples == 1 ? "" : "s", sampled ? " shown, sampled" : "");
}

static void
add_missing(char *text, const struct map_drawing *drawing, const struct map_source *source, size_t map)
{
	char number[NUMBER_ROOM], name[MAP_CAPTION_ROOM];

	if (source->without_place > 0 && !drawing->is_animation) {
		number_print_grouped(source->without_place, number);
		add(text, " · %s without a value", number);
	}
	if (drawing->maps[map].without_colour == 0 || map_drawing_style(drawing->request) != MAP_SCATTER)
		return;
	map_shown_name(name, source->input.colour.name);
	add(text, " · grey: no %s", name);
}

void
map_drawing_caption(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing, size_t map)
{
	const struct map_source *source = &drawing->sources[drawing->is_animation ? 0 : map];

	text[0] = '\0';
	if (map_drawing_style(drawing->request) == MAP_SHIFT) {
		add(text, "%s (", drawing->sources[1].name);
		add_examples(text, drawing, 1);
		add(text, ", orange) less %s (", source->name);
		add_examples(text, drawing, 0);
		add(text, ", blue)");
		return;
	}
	if (drawing->source_count == 2)
		add(text, "%s · ", source->name);
	add_examples(text, drawing, map);
	add_missing(text, drawing, source, map);
	if (drawing->facet_count > 0)
		add(text, " · grey: the others");
	add_epochs(text, drawing, source, map);
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

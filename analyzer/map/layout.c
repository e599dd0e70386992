/* layout.c: divides a picture of `portolan map` among its frame, its key, its histograms and its texts (layout.h).
 * Texts get their sizes first, then the frame gets the width that they leave. */
#include "layout.h"

#include <math.h>

/* Lengths of a whole map, in units. */
#define RIGHT (MAP_WIDTH - MAP_RIGHT) /* the width to the right of the frame: the key and the histograms */
#define RIGHT_COMPACT (MAP_COMPACT_WIDTH - MAP_RIGHT) /* that width without histograms */
#define RIGHT_NARROW 16.0
#define RIGHT_NARROW_BAR 100.0
#define RIGHT_CELLS 136.0            /* in a map of cells without histograms: the bar, and "no examples" */
#define ABOVE (MAP_HEIGHT - MAP_TOP) /* the height above the frame: title and caption */
#define APART (MAP_BESIDE - (MAP_RIGHT - MAP_LEFT))
#define EDGE 8.0 /* the margin of a narrow picture */
#define KEY_GAP 14.0
#define KEY_STEP 21.0
#define KEY_STEP_NARROW 18.0
#define KEY_COUNT 62.0 /* the width of a count beside a name */

static double
layout_key_entry_width(const struct map_layout_request *request)
{
	return MAP_KEY_MARKER + request->key.name_width * MAP_LABEL_EM + (request->key.counted ? KEY_COUNT : 0) + 12;
}

/* Puts the key above the map, in as few rows as its entries allow; returns the height of the rows. */
static double
layout_place_key_above(struct map_layout *layout, const struct map_layout_request *request)
{
	double room = layout->width - 2 * EDGE, width = layout_key_entry_width(request) * layout->text;
	unsigned columns = width < room ? (unsigned)(room / width) : 1, rows;

	layout->key_step = KEY_STEP_NARROW * layout->text;
	layout->key_left = EDGE;
	layout->key_columns = columns;
	if (request->key.entries == 0)
		return 0;
	rows = (request->key.entries + columns - 1) / columns;
	layout->key_columns = (request->key.entries + rows - 1) / rows;
	layout->key_width = fmin(width, room);
	return (rows + 1.4) * layout->key_step;
}

/* The size of text relative to that of a whole map. `whole` is the width that the picture would have if none were asked
 * for. */
static double
layout_text_size(const struct map_layout_request *request, double whole)
{
	double points = request->points, least = request->width < MAP_NARROW ? 8 : 9;

	if (points > 0)
		return points / MAP_TEXT_POINTS;
	if (request->width == 0)
		return 1;
	return fmin(MAP_TEXT_POINTS, fmax(least, MAP_TEXT_POINTS * request->width / whole)) / MAP_TEXT_POINTS;
}

bool
map_layout_make(struct map_layout *layout, const struct map_layout_request *request)
{
	bool narrow = request->width > 0 && request->width < MAP_NARROW;
	bool panels = !narrow && !request->compact && !request->beside;
	double right = panels ? RIGHT : RIGHT_COMPACT, above = 0, whole, frame;

	right += request->key.counted ? MAP_KEY_ROOM : 0;
	if (!panels && request->key.explains_cells)
		right = RIGHT_CELLS;
	whole = MAP_RIGHT + right + (request->beside ? MAP_BESIDE : 0);
	if (narrow && !request->key.explains_cells)
		right = request->key.has_bar ? RIGHT_NARROW_BAR : RIGHT_NARROW;
	*layout = (struct map_layout){.width = request->width > 0 ? round(request->width) : whole,
	                              .text = layout_text_size(request, whole),
	                              .panels = panels,
	                              .narrow = narrow};
	if (narrow)
		above = layout_place_key_above(layout, request);
	layout->left = MAP_LEFT * layout->text;
	layout->bottom = MAP_BOTTOM * layout->text;
	frame = layout->width - layout->left - right * layout->text;
	if (request->beside)
		frame = (frame - APART * layout->text) / 2;
	layout->scale = frame / (MAP_RIGHT - MAP_LEFT);
	layout->right = layout->left + frame;
	layout->top = layout->bottom + layout->scale * (MAP_TOP - MAP_BOTTOM);
	layout->height = ceil(layout->top + above + ABOVE * layout->text);
	layout->beside = request->beside ? frame + APART * layout->text : 0;
	layout->text_left = narrow ? EDGE : layout->left;
	layout->key_top = layout->top + above - (narrow ? 4 : 0) * layout->text;
	if (!narrow) {
		layout->key_left = layout->right + KEY_GAP * layout->text + layout->beside;
		layout->key_columns = 1;
		layout->key_step = KEY_STEP * layout->text;
		layout->key_width =
		        (RIGHT_COMPACT - KEY_GAP - 30 + (request->key.counted ? MAP_KEY_ROOM : 0)) * layout->text;
	}
	return frame >= MAP_UNITS_PER_INCH;
}

void
map_layout_key(const struct map_layout *layout, unsigned entry, double *x, double *y)
{
	const unsigned row = entry / layout->key_columns;

	*x = layout->key_left + entry % layout->key_columns * layout->key_width;
	*y = layout->key_top - 8 * layout->text - (1 + row) * layout->key_step -
	     (layout->narrow ? 0 : 4 * layout->text);
}

double
map_layout_x(const struct map_layout *layout, double x)
{
	return layout->left + (x - MAP_LEFT) * layout->scale;
}

double
map_layout_y(const struct map_layout *layout, double y)
{
	return layout->bottom + (y - MAP_BOTTOM) * layout->scale;
}

double
map_layout_room(const struct map_layout *layout)
{
	if (layout->beside > 0)
		return layout->beside - 10 * layout->text;
	if (layout->panels) /* the names of the counts stand above the histograms */
		return layout->width - layout->text_left - 170 * layout->text;
	return layout->width - layout->text_left - 8;
}

double
map_layout_ratio(const struct map_layout *layout)
{
	return layout->text / layout->scale;
}

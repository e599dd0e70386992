/*
 * map_markers.c: chooses colours, shapes and sizes of the markers of `portolan map`'s scatters, and leaves out the
 * markers that others hide.
 *
 * In a dense cloud most markers lie wholly under later ones, and a vector format stores them all the same: 25,000
 * points with their edges make an SVG of five megabytes. So this code first paints the scatter in reverse: from the
 * last marker to the first, in cells half a unit wide (a pixel of the PNG). A marker whose cells are all taken is left
 * out with its edge; the picture stays the same.
 *
 * gnuplot's terminals disagree about the size of a marker of size 1 and about the shape of a triangle. `metrics` has
 * measured values, so that all formats show the same picture.
 */
#include "map_data.h"

#include "die/memory.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#define CELL 0.5
#define WORD 8u /* cells that are looked at together */
#define COLUMNS ((size_t)((MAP_RIGHT - MAP_LEFT) / CELL))
#define ROWS ((size_t)((MAP_TOP - MAP_BOTTOM) / CELL))

/* The numbers that gnuplot gives to the shapes. */
enum { PLUS = 1, CROSS = 2, SQUARE = 5, DISC = 7, TRIANGLE = 9, TRIANGLE_DOWN = 11, DIAMOND = 13, SHAPES };

/* The levels of correctness go from blue (never) over dark to red (always). Any two categories differ by at least 20 in
 * CIELAB, for readers with full colour vision and for readers with red or green colour blindness; the most similar
 * categories have different shapes. Every colour but that of MAP_SLOT_BELOW has a contrast of at least 3:1 to white. */
static const struct look {
	const char *colour;
	int shape;
} looks[MAP_SLOTS] = {
        {"5f7fe8", DISC},
        {"3f55b5", CROSS},
        {"2f3a70", SQUARE},
        {"26262c", PLUS},
        {"5e2f2b", DIAMOND},
        {"963c31", TRIANGLE},
        {"d0452f", TRIANGLE_DOWN},
        [MAP_SLOT_CATEGORIES] = {"0072b2", DISC},
        {"d55e00", SQUARE},
        {"009e73", TRIANGLE},
        {"26262c", DIAMOND},
        {"e6004d", TRIANGLE_DOWN},
        {"009fbf", SQUARE},
        {"733f6a", TRIANGLE},
        {"4c2600", DISC},
        {"0000e6", DIAMOND},
        {"0073e6", TRIANGLE_DOWN},
        {"1d2b73", SQUARE},
        {"001a99", TRIANGLE},
        [MAP_SLOT_OTHERS] = {"757a85", DISC},
        [MAP_SLOT_NONE] = {"8f949f", PLUS},
        [MAP_SLOT_HIGHLIGHTED] = {"a50026", DISC},
        [MAP_SLOT_DROPPED] = {"26262c", CROSS},
        [MAP_SLOT_REST] = {"8f949f", DISC},
        [MAP_SLOT_BELOW] = {"c3c7cf", DISC},
};

const char *
map_slot_colour(unsigned slot)
{
	return looks[slot].colour;
}

/* How a terminal draws shapes: the radius of a disc of size 1, in units; the reach of diamonds and triangles, in such
 * radii; and the sizes at which all shapes look equally large. (An SVG has thin lines in its crosses.) */
struct metrics {
	double radius, diamond, triangle_apex, triangle_base, triangle_half_width;
	double sizes[SHAPES];
};
#define SIZES(disc, cross, square, plus, diamond, triangle)                                                            \
	{                                                                                                              \
		[DISC] = disc, [CROSS] = cross, [SQUARE] = square, [PLUS] = plus, [DIAMOND] = diamond,                 \
		[TRIANGLE] = triangle, [TRIANGLE_DOWN] = triangle                                                      \
	}
static const struct metrics cairo = {3.075, 1, 1, 1, 1, SIZES(1.0, 0.95, 0.9, 1.05, 1.2, 1.15)};
static const struct metrics gif = {2.0, 1, 1.33, 0.67, 1.33, SIZES(1.5, 1.42, 1.4, 1.57, 1.72, 1.35)};
static const struct metrics svg = {4.65, 1.41, 1.38, 0.71, 1.39, SIZES(0.76, 0.76, 0.72, 0.84, 0.65, 0.65)};

static const struct metrics *
map_metrics(enum picture_format format)
{
	return format == PICTURE_SVG ? &svg : format == PICTURE_GIF ? &gif : &cairo;
}

/* The size of a marker: smaller where more points are shown, so that 10 points are easily seen, and 25,000 can be told
 * apart. */
static double
map_marker_size(size_t shown)
{
	double size = 1.9 - 0.36 * log10((double)(shown > 10 ? shown : 10) / 10);

	return size > 0.35 ? size : 0.35;
}

/* The size of an edge relative to its marker. Edges of all but the smallest markers are equally wide. */
static double
map_marker_edge(double size)
{
	return 1 + 0.38 * (size > 0.68 ? 0.68 / size : 1);
}

double
map_marker_line(size_t shown)
{
	double size = map_marker_size(shown);

	return size > 0.8 ? 1.4 * size : 1.1;
}

struct map_marker
map_marker(const struct map_data *data, enum picture_format format, unsigned slot)
{
	const struct metrics *metrics = map_metrics(format);
	int shape = looks[slot].shape;
	bool is_cross = shape == PLUS || shape == CROSS;
	double base =
	        map_marker_size(data->shown) * (slot == MAP_SLOT_HIGHLIGHTED || slot == MAP_SLOT_DROPPED ? 1.5 : 1);
	double size = base * metrics->sizes[shape], small = data->scale > 0 ? sqrt(data->scale) : 1;

	return (struct map_marker){
	        .shape = shape,
	        .size = size * small,
	        .edge_shape = is_cross ? DISC : shape,
	        .edge_size = size * (is_cross ? 0.9 : map_marker_edge(base)) * small,
	        .key_size = 1.2 * metrics->sizes[shape],
	};
}

/* Does a marker of this radius cover the place that is x to the right of its middle and y above it? A cross counts as
 * the square around it, so it seems to cover too much, but never too little. */
static bool
marker_reaches(const struct metrics *metrics, int shape, double radius, double x, double y)
{
	double up = shape == TRIANGLE_DOWN ? -y : y;
	double height = metrics->triangle_apex + metrics->triangle_base;

	switch (shape) {
	case DISC:
		return x * x + y * y <= radius * radius;
	case DIAMOND:
		return fabs(x) + fabs(y) <= radius * metrics->diamond;
	case TRIANGLE:
	case TRIANGLE_DOWN:
		return up >= -radius * metrics->triangle_base &&
		       fabs(x) * height <= (radius * metrics->triangle_apex - up) * metrics->triangle_half_width;
	default:
		return fabs(x) <= radius && fabs(y) <= radius;
	}
}

/* How far a marker of radius 1 reaches to a side, at most. */
static double
marker_reach(const struct metrics *metrics, int shape)
{
	switch (shape) {
	case DIAMOND:
		return metrics->diamond;
	case TRIANGLE:
	case TRIANGLE_DOWN:
		return fmax(metrics->triangle_half_width, fmax(metrics->triangle_apex, metrics->triangle_base));
	default:
		return 1;
	}
}

/* The frame of the scatter, in cells. */
struct canvas {
	const struct metrics *metrics;
	uint8_t *taken; /* by cell, in rows: 1: a marker covers it */
};

/* The cells that a marker may reach, along one side of the canvas: from `from` to before `to`. */
struct extent {
	size_t from, to;
};

static struct extent
canvas_extent(double middle, double reach, size_t cells)
{
	const double from = (middle - reach) / CELL, to = (middle + reach) / CELL;
	const size_t below =
	        to < (double)cells ? (size_t)to : cells; /* whole numbers: what is beyond the point is cut off */

	return (struct extent){from > 0 ? (size_t)from : 0, below < cells && (double)below < to ? below + 1 : below};
}

/* A marker that stands on the canvas. */
struct mark {
	int shape;
	double radius, x, y;
	struct extent columns, rows; /* all cells that it may reach */
};

static struct mark
canvas_mark(const struct canvas *canvas, int shape, double size, double x, double y)
{
	const double radius = size * canvas->metrics->radius, reach = radius * marker_reach(canvas->metrics, shape);

	return (struct mark){.shape = shape,
	                     .radius = radius,
	                     .x = x,
	                     .y = y,
	                     .columns = canvas_extent(x, reach, COLUMNS),
	                     .rows = canvas_extent(y, reach, ROWS)};
}

/* Does the mark cover the middle of the cell? */
static bool
canvas_covers(const struct canvas *canvas, const struct mark *mark, double column, double row)
{
	return marker_reaches(canvas->metrics, mark->shape, mark->radius, (column + 0.5) * CELL - mark->x,
	                      (row + 0.5) * CELL - mark->y);
}

/* Are the first cells from `cells` on all taken? There are WORD of them at most, and there is room for WORD. */
static bool
canvas_all(const uint8_t *cells, size_t count)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word;

	memcpy(&word, cells, WORD);
	return count == 0 || ((htole64(word) ^ ones) << 8 * (WORD - count)) == 0;
}

/* Is the mark surely hidden? Then all cells that it may reach are taken, and it covers the one that it stands in. So it
 * is with most marks of a large map, and it takes less time to find than which cells they cover. */
static bool
canvas_is_full(const struct canvas *canvas, const struct mark *mark)
{
	const size_t width = mark->columns.to - mark->columns.from;

	for (size_t row = mark->rows.from; row < mark->rows.to; row++) {
		const uint8_t *cells = canvas->taken + row * COLUMNS + mark->columns.from;

		if (width > WORD ? memchr(cells, 0, width) != NULL : !canvas_all(cells, width))
			return false;
	}
	return mark->x < COLUMNS * CELL && mark->y < ROWS * CELL &&
	       canvas_covers(canvas, mark, (double)(size_t)(mark->x / CELL), (double)(size_t)(mark->y / CELL));
}

/* Visits the cells that a mark covers. With `take`: marks these cells as taken. Without: returns whether one of them is
 * free, or there are none. */
static bool
canvas_visit(const struct canvas *canvas, const struct mark *mark, bool take)
{
	bool any = false;

	for (size_t row = mark->rows.from; row < mark->rows.to; row++) {
		for (size_t column = mark->columns.from; column < mark->columns.to; column++) {
			uint8_t *cell = &canvas->taken[row * COLUMNS + column];

			if (any && *cell)
				continue; /* nothing new: it is taken, and the mark is known to cover a cell */
			if (!canvas_covers(canvas, mark, (double)column, (double)row))
				continue;
			any = true;
			if (take)
				*cell = 1;
			else if (!*cell)
				return true;
		}
	}
	return !any;
}

/* Paints a marker with its edge. False: markers that lie above it have taken all of its cells, so it is not seen. */
static bool
canvas_paint(const struct canvas *canvas, const struct map_marker *marker, double x, double y)
{
	struct mark mark;

	if (!(x >= 0 && y >= 0 && x <= MAP_RIGHT - MAP_LEFT && y <= MAP_TOP - MAP_BOTTOM))
		return true; /* a damaged store may have any value, NaN too; gnuplot copes with that */
	mark = canvas_mark(canvas, marker->shape, marker->size, x, y);
	if (canvas_is_full(canvas, &mark) || !canvas_visit(canvas, &mark, false))
		return false;
	mark = canvas_mark(canvas, marker->edge_shape, marker->edge_size, x, y);
	canvas_visit(canvas, &mark, true);
	return true;
}

static unsigned
map_point_slot(const struct map_data *data, const struct map_point *point)
{
	return data->level_count > 0 ? data->levels[(unsigned)point->value].slot : 0;
}

void
map_leave_out_hidden(struct map_data *data, enum picture_format format)
{
	CLEANUP_FREE uint8_t *taken = memory_new(ROWS * COLUMNS + WORD, 1);
	const struct canvas canvas = {map_metrics(format), taken};
	size_t first = 2 * data->point_count; /* edges and markers from here on are kept */
	struct map_marker markers[MAP_SLOTS];

	for (unsigned slot = 0; slot < MAP_SLOTS; slot++) {
		markers[slot] = map_marker(data, format, slot);
		if (data->scale > 0) { /* the canvas has the size of a whole map's frame */
			markers[slot].size /= data->scale;
			markers[slot].edge_size /= data->scale;
		}
	}
	for (size_t i = data->point_count; i > 0; i--) {
		struct map_point point = data->points[i - 1];

		if (!canvas_paint(&canvas, &markers[map_point_slot(data, &point)],
		                  map_x(&data->axes, (double)point.x) - MAP_LEFT,
		                  map_y(&data->axes, (double)point.y) - MAP_BOTTOM))
			continue;
		point.edge = 0;
		data->points[--first] = point;
		point.edge = 1;
		data->points[--first] = point;
	}
	data->point_count = 2 * data->point_count - first;
	for (size_t i = 0; i < data->point_count; i++)
		data->points[i] = data->points[first + i];
}

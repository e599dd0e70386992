/*
 * map_labels.c: places the names of the three regions (easy to learn, ambiguous, hard to learn) on a map of `portolan
 * map`.
 *
 * A label should lie near the middle of its region and hide few points. Each place on a grid has a cost: the distance
 * from the middle (in widths of the frame), plus HIDING times the fraction of the points under the label, plus STRAYING
 * times the distance by which the label reaches beyond its region. The label goes to the cheapest place. Points are
 * counted once, on a fine grid of running sums, so the points under a label take four look-ups. A map that is so small
 * that a label would hide much of it has no labels, unless lines between the regions were asked for.
 */
#include "map_data.h"

#include <math.h>
#include <string.h>

#define HIDING 25.0
#define STRAYING 8.0
#define WIDEST 0.45 /* the widest label, in widths of the frame: a wider one would hide the map */
#define CELL 6.0    /* the side of a cell of the grid, in units */
#define COLUMNS 100
#define ROWS 92
#define GAP 8.0    /* the least distance between labels, and from a label to the frame */
#define MARKER 6.0 /* from a point to the edge of its marker */

_Static_assert(COLUMNS *(int)CELL <= (int)MAP_RIGHT - (int)MAP_LEFT &&
                       ROWS * (int)CELL <= (int)MAP_TOP - (int)MAP_BOTTOM,
               "grid within the frame");

/* The widths of the names in DejaVu Sans, with margins. */
const double map_label_widths[REGION_COUNT] = {99, 87, 99};

/* How far a label, which is drawn at an angle, reaches from its middle. */
struct extent {
	double half_width, half_height;
};

static struct extent
map_label_extent(const struct map_data *data, unsigned region)
{
	double angle = fabs(MAP_LABEL_ANGLE) * M_PI / 180, text = data->text > 0 ? data->text : 1;
	double width = text * map_label_widths[region];
	double height = text * (data->lined ? MAP_LABEL_HEIGHT_COUNTED : MAP_LABEL_HEIGHT);

	return (struct extent){
	        .half_width = (width * cos(angle) + height * sin(angle)) / 2,
	        .half_height = (width * sin(angle) + height * cos(angle)) / 2,
	};
}

struct sums {
	uint32_t below[ROWS + 1][COLUMNS + 1]; /* how many points lie left of and below a corner of the grid */
};

static unsigned
map_label_cell(double distance, unsigned cells)
{
	double cell = distance / CELL;

	return !(cell > 0) ? 0 : cell >= cells ? cells : (unsigned)cell; /* a damaged store may have NaN: 0 */
}

static void
map_label_sum_points(const struct map_data *data, struct sums *sums)
{
	memset(sums, 0, sizeof(*sums));
	for (size_t i = 0; i < data->point_count; i++) {
		unsigned column = map_label_cell(map_x(&data->axes, (double)data->points[i].x) - MAP_LEFT, COLUMNS - 1);
		unsigned row = map_label_cell(map_y(&data->axes, (double)data->points[i].y) - MAP_BOTTOM, ROWS - 1);

		sums->below[row + 1][column + 1]++;
	}
	for (unsigned row = 1; row <= ROWS; row++)
		for (unsigned column = 1; column <= COLUMNS; column++)
			sums->below[row][column] += sums->below[row - 1][column] + sums->below[row][column - 1] -
			                            sums->below[row - 1][column - 1];
}

/* How many points a label at (x, y) hides. */
static double
map_label_hides(const struct sums *sums, double x, double y, struct extent extent)
{
	unsigned left = map_label_cell(x - extent.half_width - MARKER - MAP_LEFT, COLUMNS);
	unsigned right = map_label_cell(x + extent.half_width + MARKER - MAP_LEFT + CELL, COLUMNS);
	unsigned bottom = map_label_cell(y - extent.half_height - MARKER - MAP_BOTTOM, ROWS);
	unsigned top = map_label_cell(y + extent.half_height + MARKER - MAP_BOTTOM + CELL, ROWS);

	return (double)(sums->below[top][right] - sums->below[bottom][right]) -
	       (double)(sums->below[top][left] - sums->below[bottom][left]);
}

/* Does a label at (x, y) keep its distance from the labels that were placed before? */
static bool
map_label_is_free(const struct map_data *data, unsigned region, double x, double y)
{
	struct extent extent = map_label_extent(data, region);

	for (unsigned other = 0; other < region; other++) {
		struct extent its = map_label_extent(data, other);

		if (data->labels[other].shown &&
		    fabs(x - data->labels[other].x) < extent.half_width + its.half_width + GAP &&
		    fabs(y - data->labels[other].y) < extent.half_height + its.half_height + GAP)
			return false;
	}
	return true;
}

/* How far a label at (x, y) reaches beyond its region, in widths of the frame. */
static double
map_label_strays(const struct map_data *data, unsigned region, double x, double y, struct extent extent)
{
	double variability = map_x(&data->axes, data->cuts.variability);
	double confidence = map_y(&data->axes, data->cuts.confidence), beyond;

	if (region == REGION_AMBIGUOUS)
		beyond = fmax(0, variability - (x - extent.half_width));
	else
		beyond = fmax(0, x + extent.half_width - variability);
	if (region == REGION_EASY)
		beyond += fmax(0, confidence - (y - extent.half_height));
	else if (region == REGION_HARD)
		beyond += fmax(0, y + extent.half_height - confidence);
	return beyond / (MAP_RIGHT - MAP_LEFT);
}

static void
map_label_place(struct map_data *data, unsigned region, const double centre[2], const struct sums *sums)
{
	struct extent extent = map_label_extent(data, region);
	double least = INFINITY;

	for (double x = MAP_LEFT + extent.half_width + GAP; x <= MAP_RIGHT - extent.half_width - GAP; x += CELL) {
		for (double y = MAP_BOTTOM + extent.half_height + GAP; y <= MAP_TOP - extent.half_height - GAP;
		     y += CELL) {
			double right = x - centre[0], up = y - centre[1];
			/* sqrt() rather than hypot(): hypot() would be the only function in the wheel that needs glibc
			 * 2.35 */
			double away = sqrt(right * right + up * up) / (MAP_RIGHT - MAP_LEFT);
			double cost = away + HIDING * map_label_hides(sums, x, y, extent) / (double)data->point_count +
			              STRAYING * map_label_strays(data, region, x, y, extent);

			if (cost < least && map_label_is_free(data, region, x, y)) {
				least = cost;
				data->labels[region].x = x;
				data->labels[region].y = y;
			}
		}
	}
	data->labels[region].shown = least < INFINITY; /* a tiny map may have no free place */
}

void
map_place_labels(struct map_data *data, const double centres[REGION_COUNT][2])
{
	struct sums sums;
	bool hides_much = false;

	for (unsigned r = 0; r < REGION_COUNT; r++)
		if (2 * map_label_extent(data, r).half_width > WIDEST * (MAP_RIGHT - MAP_LEFT))
			hides_much = true;
	for (unsigned r = 0; r < REGION_COUNT && hides_much && !data->lined; r++)
		data->labels[r].shown = false;
	map_label_sum_points(data, &sums);
	for (unsigned r = 0; r < REGION_COUNT; r++)
		if (data->labels[r].shown)
			map_label_place(data, r, centres[r], &sums);
}

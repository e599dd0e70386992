/*
 * drawing_facets.c: makes the small maps of `map --facet`: one for each category, which has the category's examples in
 * colour over all others in grey.
 *
 * All facets have the same axes, and the points of one sample, so that densities can be compared. A facet's frame has
 * the proportions of a whole map's. A row has as many facets as make the frames largest.
 */
#include "drawing.h"

#include "die/die.h"
#include "die/memory.h"

#include <math.h>
#include <string.h>

#define RIGHT 24.0
#define TOP 108.0 /* for the title, the caption and the names of the first row */
#define GAP_X 18.0
#define GAP_Y 34.0      /* room for the facet's name included */
#define HEIGHT_MOST 0.8 /* the greatest height of a picture, as a multiple of its width */
#define HEIGHT_MOST_NARROW 1.8
#define COLUMNS_MOST 6
#define OTHERS_MOST 3000 /* grey points of a facet: enough to show where the others lie */

/* The height of a picture with `rows` rows of facets. */
static double
map_facet_height(double text, double scale, unsigned rows)
{
	return ceil((MAP_BOTTOM + (rows - 1) * GAP_Y + TOP) * text + rows * scale * (MAP_TOP - MAP_BOTTOM));
}

/* Lays `count` facets out. The result has 0 columns if the facets have no room. */
static struct map_grid
map_facet_grid(const struct map_request *request, size_t count)
{
	const struct map_layout_request wanted = {
	        .width = request->width > 0 ? request->width : MAP_WIDTH,
	        .points = request->points > 0 || request->width > 0 ? request->points : MAP_TEXT_POINTS};
	struct map_grid best = {0};
	struct map_layout page; /* a picture of one map: the facets get its width, and its size of text */

	map_layout_make(&page, &wanted);
	for (unsigned columns = 1; columns <= COLUMNS_MOST; columns++) {
		unsigned rows = (unsigned)((count + columns - 1) / columns);
		double text = page.text, most = page.width * (page.narrow ? HEIGHT_MOST_NARROW : HEIGHT_MOST);
		double width = (page.width - (MAP_LEFT + RIGHT + (columns - 1) * GAP_X) * text) / columns;
		double scale = fmin(1, width / (MAP_RIGHT - MAP_LEFT)), height = map_facet_height(text, scale, rows);

		if (height <= most && scale > best.scale)
			best = (struct map_grid){columns, page.width, height, scale, text};
	}
	return best;
}

void
map_facet_place(const struct map_grid *grid, size_t facet, double *left, double *bottom)
{
	size_t column = facet % grid->columns, row = facet / grid->columns;
	double width = grid->scale * (MAP_RIGHT - MAP_LEFT), height = grid->scale * (MAP_TOP - MAP_BOTTOM);

	*left = MAP_LEFT * grid->text + (double)column * (width + GAP_X * grid->text);
	*bottom = grid->height - TOP * grid->text - (double)(row + 1) * height - (double)row * GAP_Y * grid->text;
}

/* Copies points into a facet, in drawing order: all of one level (`own`), or some of those of all other levels. */
static void
map_facet_copy_points(struct map_data *facet, const struct map_data *all, unsigned level, bool own)
{
	size_t left = own ? SIZE_MAX : OTHERS_MOST;

	for (size_t i = 0; i < all->point_count && left > 0; i++) {
		struct map_point *point = &facet->points[facet->point_count];

		if (((unsigned)all->points[i].value == level) != own)
			continue;
		*point = all->points[i];
		point->value = (float)(own ? level : all->level_count);
		facet->point_count++;
		left--;
	}
}

void
map_drawing_facets(struct map_drawing *drawing)
{
	const struct map_data *all = &drawing->maps[0];

	drawing->grid = map_facet_grid(drawing->request, all->level_count);
	if (drawing->grid.columns == 0)
		die("--facet: %u maps have no room: a larger --width, or a smaller size of --font", all->level_count);
	drawing->facets = memory_new(all->level_count, sizeof(*drawing->facets));
	for (unsigned k = 0; k < all->level_count; k++) {
		struct map_data *facet = &drawing->facets[drawing->facet_count++];

		*facet = (struct map_data){
		        .axes = all->axes,
		        .colouring = all->colouring,
		        .examples = all->levels[k].examples,
		        .shown = all->shown, /* so that all facets have markers of one size */
		        .level_count = all->level_count + 1,
		        .scale = drawing->grid.scale,
		        .points = memory_array(2 * all->point_count, sizeof(*facet->points), "points of a facet")};
		memcpy(facet->levels, all->levels, sizeof(facet->levels));
		facet->levels[all->level_count] = (struct map_level){.slot = MAP_SLOT_BELOW};
		map_facet_copy_points(facet, all, k, false);
		map_facet_copy_points(facet, all, k, true);
	}
}

/*
 * map_script.c: writes the gnuplot script of a picture of `portolan map`: first the variables, which say what to draw,
 * and where; then the templates marks.gp and map.gp, or facets.gp, which draw it.
 *
 * gnuplot has no safe mode, so a user's text never becomes a command or markup: script_set_text() and its like make a
 * string of it, and the templates show it "noenhanced".
 */
#include "map_sheet.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

extern const char script_marks[], script_map[], script_facets[]; /* marks.gp, map.gp, facets.gp */

#define TITLE_POINTS 16.0
#define TITLE_POINTS_LEAST 11.0 /* the size of text, in points, that a long title has at least */
#define BAR_HEIGHT 300.0        /* the height of the bar of colours, in units */
#define KEY_COUNT 70.0
#define KEY_TITLE_ROOM 15.0 /* the width of the key's title, in ems, at most */

/* Sets the name of an axis, cut where it would be wider than `room` units. */
static void
sheet_set_name(const struct sheet *sheet, const char *variable, const char *name, double room)
{
	char text[MAP_CAPTION_ROOM];

	map_shown_name(text, name);
	script_set_text(sheet->stream, variable, text, room / (MAP_LABEL_EM * sheet->text));
}

/* Sets the title, as large as `room` units allow. */
static void
sheet_set_title(const struct sheet *sheet, double room)
{
	char title[MAP_CAPTION_ROOM];
	double points = TITLE_POINTS;

	map_drawing_title(title, sheet->drawing);
	room /= MAP_TITLE_EM * sheet->text; /* from units to ems of the largest title */
	points = fmax(TITLE_POINTS_LEAST, fmin(points, floor(2 * points * room / fmax(plot_width(title), 1)) / 2));
	script_set_text(sheet->stream, "map_title", title, room * TITLE_POINTS / points);
	script_set(sheet->stream, "title_points", points);
}

/* Sets the range of an axis, and its tics. */
static void
sheet_set_axis(const struct sheet *sheet, const char *name, const struct map_axis *axis, double from, double to)
{
	double step = sheet->drawing->facet_count > 0 ? axis->panel_step : axis->step;
	int decimals = map_axis_decimals(axis, step);

	fprintf(sheet->stream, "%s_from = %.10g\n%s_to = %.10g\n%s_step = %.10g\n", name, from, name, to, name, step);
	if (decimals < 0 || sheet->drawing->facet_count > 0) /* where there is little room: 0.5 rather than 0.50 */
		fprintf(sheet->stream, "%s_format = '%%g'\n", name);
	else
		fprintf(sheet->stream, "%s_format = '%%.%df'\n", name, decimals);
}

/* Sets the names and the ranges of both axes. */
static void
sheet_set_axes(const struct sheet *sheet, double x_room, double y_room)
{
	const struct map_axis *x = &sheet->maps[0].axes.x, *y = &sheet->maps[0].axes.y;

	sheet_set_name(sheet, "x_name", x->name, x_room);
	sheet_set_axis(sheet, "x", x, x->from, x->to);
	sheet_set_name(sheet, "y_name", y->name, y_room);
	sheet_set_axis(sheet, "y", y, y->from, y->to);
}

/* The axis of the bar of colours: of the examples' values, of the cells' counts, or of the cells' means or
 * differences. */
static struct map_axis
sheet_colour_axis(const struct sheet *sheet)
{
	const struct map_column column = {.name = ""};
	const struct map_axis *values = &sheet->maps[0].axes.colour;
	struct map_range range = MAP_RANGE_EMPTY;
	struct map_axis axis = *values;
	double most = 10;

	for (size_t f = 0; f < sheet->frames; f++) {
		most = fmax(most, sheet->maps[f].most_per_cell);
		range.least = fmin(range.least, sheet->maps[f].mean_low);
		range.most = fmax(range.most, sheet->maps[f].mean_high);
	}
	if (sheet->drawing->style == MAP_COUNTS)
		return (struct map_axis){.low = 1, .high = most, .step = most};
	if (sheet->drawing->style == MAP_SCATTER) {
		axis.low = map_axis_values(values).least;
		axis.high = map_axis_values(values).most;
		return axis;
	}
	if (sheet->drawing->style == MAP_SHIFT)
		range = (struct map_range){-sheet->drawing->shift, sheet->drawing->shift};
	map_axis_make(&axis, &column, range, 0);
	if (sheet->drawing->style == MAP_MEANS && range.least < range.most) {
		axis.low = range.least;
		axis.high = range.most;
		axis.step = map_axis_step(range.most - range.least);
		if (values->grid >= 1 && range.most - range.least >= values->grid)
			axis.step = fmax(axis.step, values->grid);
	}
	return axis;
}

static void
sheet_set_colours(const struct sheet *sheet)
{
	static const char *const colourings[] = {[MAP_BY_CORRECTNESS] = "correctness",
	                                         [MAP_BY_VALUE] = "value",
	                                         [MAP_BY_CATEGORY] = "category",
	                                         [MAP_PLAIN] = "plain"};
	const struct map_axis axis = sheet_colour_axis(sheet);
	const enum map_colouring colouring = sheet->maps[0].colouring;
	char note[MAP_CAPTION_ROOM];

	map_shown_name(note, colouring == MAP_BY_CATEGORY ? sheet->drawing->sources[0].input.colour.name
	                     : colouring == MAP_PLAIN     ? "after epoch"
	                                                  : "correctness");
	script_set_text(sheet->stream, "key_title", note, KEY_TITLE_ROOM);
	fprintf(sheet->stream, "colouring = '%s'\n", colourings[colouring]);
	script_set(sheet->stream, "colour_bar", sheet->drawing->style != MAP_SCATTER || colouring == MAP_BY_VALUE);
	sheet_set_axis(sheet, "colour", &axis, axis.low, axis.high);
	map_drawing_colour_note(note, sheet->drawing);
	script_set_text(sheet->stream, "colour_note", note, BAR_HEIGHT / MAP_CAPTION_EM);
}

/* Does the key have counts? That of two maps side by side has none, as they could only be those of one map. */
static bool
sheet_is_counted(const struct sheet *sheet)
{
	return sheet->maps[0].colouring == MAP_BY_CATEGORY && sheet->drawing->source_count == 1;
}

/* The room for a level's name beside its count, in ems. The names of a column of levels all have the same room. */
static double
sheet_name_room(const struct sheet *sheet, const char *count)
{
	bool is_column = sheet->drawing->facet_count == 0;
	double room = sheet->key_room - MAP_KEY_MARKER;

	if (sheet->maps[0].colouring != MAP_BY_CATEGORY)
		return KEY_TITLE_ROOM; /* levels of correctness have short names, and no counts */
	if (*count)
		room -= is_column ? KEY_COUNT : plot_width(count) * sheet->key_em;
	return room / sheet->key_em;
}

static void
sheet_set_levels(const struct sheet *sheet)
{
	script_set_all(sheet->stream, "levels markers", (double[]){sheet->maps[0].level_count, sheet->markers});
	script_declare(sheet->stream, "Level LevelCount Colour Shape EdgeShape KeySize", sheet->markers);
	for (unsigned k = 0; k < sheet->markers; k++) {
		const struct map_level *level = &sheet->maps[0].levels[k];
		struct map_marker marker = map_marker(&sheet->maps[0], sheet->format, level->slot);
		char count[NUMBER_ROOM] = "";

		if (sheet_is_counted(sheet))
			number_print_grouped(level->examples, count);
		if (level->slot == MAP_SLOT_OTHERS && plot_width(level->name) > sheet_name_room(sheet, count))
			count[0] = '\0'; /* the whole name, "8 others", is worth more than its count */
		script_set_name_item(sheet->stream, "Level", k + 1, level->name, sheet_name_room(sheet, count));
		fprintf(sheet->stream, "LevelCount[%u] = '%s'; Colour[%u] = 0x%s; KeySize[%u] = %.2f; ", k + 1, count,
		        k + 1, map_slot_colour(level->slot), k + 1, marker.key_size);
		script_set_items(sheet->stream, "Shape EdgeShape", k + 1, (double[]){marker.shape, marker.edge_shape});
	}
}

/* Sets where a frame's points begin in the file of data, in bytes (`offset`), and the sizes of its markers. */
static void
sheet_set_points(const struct sheet *sheet, size_t f, uint64_t offset)
{
	const struct map_data *map = &sheet->maps[f];
	const size_t points = sheet->drawing->style == MAP_SCATTER ? map->point_count : 0; /* in the file of data */

	fprintf(sheet->stream, "Skip[%zu] = %llu; Points[%zu] = %zu; Line[%zu] = %.2g\n", f + 1,
	        (unsigned long long)offset, f + 1, points, f + 1, map_marker_line(map->shown));
	for (unsigned k = 0; k < sheet->markers; k++) {
		struct map_marker marker = map_marker(map, sheet->format, map->levels[k].slot);

		fprintf(sheet->stream, "Size[%zu] = %.4g; EdgeSize[%zu] = %.4g\n", f * sheet->markers + k + 1,
		        marker.size, f * sheet->markers + k + 1, marker.edge_size);
	}
}

/* Sets what differs from frame to frame. */
static void
sheet_set_frame(const struct sheet *sheet, size_t f, uint64_t offset)
{
	const struct map_data *map = &sheet->maps[f];
	const struct map_layout *layout = &sheet->drawing->layout;
	double room = map_layout_room(layout) / (MAP_CAPTION_EM * sheet->text);
	char caption[MAP_CAPTION_ROOM];

	map_drawing_caption(caption, sheet->drawing, sheet->first + f, room);
	script_set_text_item(sheet->stream, "Caption", f + 1, caption, room);
	sheet_set_points(sheet, f, offset);
	for (unsigned r = 0; r < REGION_COUNT; r++) {
		size_t item = f * REGION_COUNT + r + 1;

		fprintf(sheet->stream, "LabelCount[%zu] = '%s'; ", item,
		        map->lined ? NUMBER_GROUPED(map->region_examples[r]) : "");
		script_set_items(sheet->stream, "LabelShown LabelX LabelY", item,
		                 (double[]){map->labels[r].shown, map_layout_x(layout, map->labels[r].x),
		                            map_layout_y(layout, map->labels[r].y)});
	}
}

/* Sets the lines between the regions: one at the cut of variability, and to its left one at the cut of confidence. */
static void
sheet_set_cuts(const struct sheet *sheet)
{
	const struct map_axes *axes = &sheet->maps[0].axes;

	script_set(sheet->stream, "lined", sheet->maps[0].lined);
	if (!sheet->maps[0].lined)
		return;
	fputs("$cuts << EOD\n", sheet->stream);
	for (size_t f = 0; f < sheet->frames; f++) {
		const struct region_cuts *cuts = &sheet->maps[f].cuts;
		bool divided = cuts->variability > 0 || sheet->maps[f].region_examples[REGION_AMBIGUOUS] > 0;
		double v = divided ? fmin(cuts->variability, axes->x.to)
		                   : axes->x.to; /* an example of variability 0 is never ambiguous */

		if (v < axes->x.to)
			fprintf(sheet->stream, "%.10g %.10g\n%.10g %.10g\n\n", v, axes->y.from, v, axes->y.to);
		if (cuts->confidence < axes->y.to)
			fprintf(sheet->stream, "%.10g %.10g\n%.10g %.10g\n", axes->x.from, cuts->confidence, v,
			        cuts->confidence);
		fputs("\n\n", sheet->stream);
	}
	fputs("EOD\n", sheet->stream);
}

size_t
map_script_data(const struct map_drawing *drawing, size_t index, const void **data)
{
	const struct map_data *map = drawing->facet_count > 0 ? &drawing->facets[index] : &drawing->maps[index];

	if (drawing->style == MAP_SCATTER) {
		*data = map->points;
		return map->point_count * sizeof(*map->points);
	}
	*data = drawing->style == MAP_MEANS ? map->means : map->counts;
	return (size_t)map->axes.cells_x * map->axes.cells_y * sizeof(float);
}

static void
sheet_set_frames(const struct sheet *sheet)
{
	uint64_t offset = 0;

	script_set(sheet->stream, "frames", (double)sheet->frames);
	script_declare(sheet->stream, "Caption Skip Points Line", sheet->frames);
	script_declare(sheet->stream, "Size EdgeSize", sheet->frames * sheet->markers);
	script_declare(sheet->stream, "LabelShown LabelX LabelY LabelCount", sheet->frames * REGION_COUNT);
	for (size_t f = 0; f < sheet->frames; f++) {
		const void *data;

		sheet_set_frame(sheet, f, offset);
		offset += map_script_data(sheet->drawing, sheet->first + f, &data);
	}
}

/* Sets the key of a map of paths. It explains the first point of a path (kind 1); the points between (2); the last
 * point (3), beside which the id stands; and the other examples (4). In a run of one epoch, the first point is the
 * last. */
static void
sheet_set_path_keys(const struct sheet *sheet)
{
	const struct dynamics *dynamics = &sheet->drawing->sources[0].dynamics;
	unsigned entries = map_drawing_path_keys(sheet->drawing);
	size_t last = dynamics->epoch_count - 1;
	const uint32_t *epochs = dynamics->epochs;

	script_declare(sheet->stream, "PathKey PathKeyKind", entries);
	fprintf(sheet->stream, "PathKey[1] = '%u%s'; PathKeyKind[1] = 1\n", epochs[0], last == 0 ? ", with id" : "");
	if (last == 2)
		fprintf(sheet->stream, "PathKey[2] = '%u'; PathKeyKind[2] = 2\n", epochs[1]);
	if (last > 2)
		fprintf(sheet->stream, "PathKey[2] = '%u–%u'; PathKeyKind[2] = 2\n", epochs[1], epochs[last - 1]);
	if (last > 0)
		fprintf(sheet->stream, "PathKey[%u] = '%u, with id'; PathKeyKind[%u] = 3\n", entries - 1, epochs[last],
		        entries - 1);
	fprintf(sheet->stream, "PathKey[%u] = 'others'; PathKeyKind[%u] = 4\n", entries, entries);
}

/* Sets the places of the key's entries, the highest correctness first. */
static void
sheet_set_key(const struct sheet *sheet)
{
	const struct map_layout *layout = &sheet->drawing->layout;
	bool is_upward = sheet->maps[0].colouring == MAP_BY_CORRECTNESS, is_paths = sheet->drawing->path_count > 0;
	unsigned entries = is_paths                               ? map_drawing_path_keys(sheet->drawing)
	                   : sheet->drawing->style == MAP_SCATTER ? sheet->maps[0].level_count
	                                                          : 0;

	script_set_all(sheet->stream, "keys key_left key_top key_count",
	               (double[]){entries, layout->key_left, layout->key_top,
	                          layout->key_width - (layout->narrow ? 10 * layout->text : 0)});
	if (entries > 0)
		script_declare(sheet->stream, "KeyX KeyY", entries);
	for (unsigned k = 0; k < entries; k++) {
		double x, y;

		map_layout_key(layout, is_upward ? entries - 1 - k : k, &x, &y);
		script_set_items(sheet->stream, "KeyX KeyY", k + 1, (double[]){x, y});
	}
	if (is_paths)
		sheet_set_path_keys(sheet);
}

static void
sheet_set_layout(const struct sheet *sheet)
{
	const struct map_layout *layout = &sheet->drawing->layout;

	script_set_all(sheet->stream, "beside map_left map_right map_bottom map_top text_left panel_left panel_right",
	               (double[]){layout->beside, layout->left, layout->right, layout->bottom, layout->top,
	                          layout->text_left, layout->width - 162 * layout->text,
	                          layout->width - 16 * layout->text});
	script_declare(sheet->stream, "LabelWidth", REGION_COUNT);
	for (unsigned r = 0; r < REGION_COUNT; r++)
		script_set_items(sheet->stream, "LabelWidth", r + 1, (double[]){map_label_widths[r] * layout->text});
	script_set_all(sheet->stream, "label_height label_angle",
	               (double[]){layout->text * (sheet->maps[0].lined ? MAP_LABEL_HEIGHT_COUNTED : MAP_LABEL_HEIGHT),
	                          MAP_LABEL_ANGLE});
}

/* Sets the numbers of the epochs, which an animation shows in large figures. */
static void
sheet_set_epochs(const struct sheet *sheet)
{
	const struct map_drawing *drawing = sheet->drawing;

	if (!drawing->is_animation)
		return;
	script_declare(sheet->stream, "FrameEpoch", sheet->frames);
	for (size_t f = 0; f < sheet->frames; f++)
		script_set_items(sheet->stream, "FrameEpoch", f + 1,
		                 (double[]){drawing->sources[0].dynamics.epochs[sheet->first + f]});
}

void
map_script_write(FILE *stream, const struct map_drawing *drawing, enum picture_format format, size_t first,
                 size_t count)
{
	static const char *const styles[] = {
	        [MAP_SCATTER] = "points", [MAP_COUNTS] = "counts", [MAP_MEANS] = "means", [MAP_SHIFT] = "shift"};
	const struct map_data *maps = &drawing->maps[first];
	const struct map_axes *axes = &maps->axes;
	const struct map_layout *layout = &drawing->layout;
	struct sheet sheet = {
	        .stream = stream,
	        .drawing = drawing,
	        .format = format,
	        .text = layout->text,
	        .maps = maps,
	        .first = first,
	        .frames = drawing->style == MAP_SHIFT ? 1 : count,
	        .key_room = layout->key_width / layout->text,
	        .key_em = MAP_LABEL_EM,
	        .markers = maps->level_count ? maps->level_count : 1,
	};

	if (layout->panels)
		sheet.panels = maps->colouring == MAP_PLAIN || drawing->sources[0].is_cells ||
		                               (maps->colouring == MAP_BY_CATEGORY && axes->y.low < 0)
		                       ? 2
		                       : 3;
	fprintf(stream, "style = '%s'\n", styles[drawing->style]);
	script_set_all(stream, "animated epochs_shown", (double[]){format == PICTURE_GIF, drawing->is_animation});
	sheet_set_title(&sheet, layout->width - layout->text_left - 40 * layout->text);
	sheet_set_axes(&sheet, layout->right - layout->left, layout->top - layout->bottom);
	script_set_all(stream, "cells_x cells_y", (double[]){axes->cells_x, axes->cells_y});
	sheet_set_colours(&sheet);
	sheet_set_levels(&sheet);
	sheet_set_layout(&sheet);
	sheet_set_key(&sheet);
	sheet_set_frames(&sheet);
	sheet_set_epochs(&sheet);
	sheet_set_cuts(&sheet);
	map_sheet_panels(&sheet);
	map_sheet_paths(&sheet);
	fputs(script_marks, stream);
	fputs(script_map, stream);
}

/* Sets the place of each facet, and which facets have numbers along their axes. */
static void
sheet_set_facets(const struct sheet *sheet, const struct map_grid *grid)
{
	double width = grid->scale * (MAP_RIGHT - MAP_LEFT), height = grid->scale * (MAP_TOP - MAP_BOTTOM);
	double left = 0, bottom = 0;

	script_declare(sheet->stream, "FacetLeft FacetBottom FacetIsFirst FacetIsLowest", sheet->frames);
	for (size_t f = 0; f < sheet->frames; f++) {
		map_facet_place(grid, f, &left, &bottom);
		script_set_items(sheet->stream, "FacetLeft FacetBottom FacetIsFirst FacetIsLowest", f + 1,
		                 (double[]){left, bottom, f % grid->columns == 0, f + grid->columns >= sheet->frames});
	}
	script_set(sheet->stream, "facets_bottom", bottom);
	map_facet_place(grid, 0, &left, &bottom);
	script_set(sheet->stream, "facets_top", bottom + height);
	map_facet_place(grid, grid->columns - 1, &left, &bottom);
	script_set_all(sheet->stream, "facets_right facet_width facet_height", (double[]){left + width, width, height});
}

void
map_script_write_facets(FILE *stream, const struct map_drawing *drawing, enum picture_format format)
{
	const struct map_grid *grid = &drawing->grid;
	struct sheet sheet = {.stream = stream,
	                      .drawing = drawing,
	                      .format = format,
	                      .text = grid->text,
	                      .maps = drawing->facets,
	                      .frames = drawing->facet_count,
	                      .key_room = grid->scale / grid->text * (MAP_RIGHT - MAP_LEFT),
	                      .key_em = MAP_CAPTION_EM,
	                      .markers = drawing->facets->level_count};
	double room = (grid->width - MAP_LEFT * grid->text) / (MAP_CAPTION_EM * grid->text);
	char caption[MAP_CAPTION_ROOM];
	uint64_t offset = 0;

	fputs("style = 'facets'\n", stream);
	sheet_set_title(&sheet, grid->width - (MAP_LEFT + 40) * grid->text);
	map_drawing_caption(caption, drawing, 0, room);
	script_set_text(stream, "map_caption", caption, room);
	sheet_set_axes(&sheet, grid->width / 2, grid->height / 2);
	script_set(stream, "map_left", MAP_LEFT * grid->text);
	sheet_set_colours(&sheet);
	sheet_set_levels(&sheet);
	script_set(stream, "frames", (double)sheet.frames);
	script_declare(stream, "Skip Points Line", sheet.frames);
	script_declare(stream, "Size EdgeSize", sheet.frames * sheet.markers);
	for (size_t f = 0; f < sheet.frames; f++) {
		sheet_set_points(&sheet, f, offset);
		offset += drawing->facets[f].point_count * sizeof(*drawing->facets[f].points);
	}
	sheet_set_facets(&sheet, grid);
	fputs(script_marks, stream);
	fputs(script_facets, stream);
}

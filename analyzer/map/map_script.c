/*
 * map_script.c: the variables of a map's gnuplot script, which say what to draw, and where; marks.gp, map.gp and
 * facets.gp draw it.
 *
 * gnuplot has no safe mode, so user texts never become commands or markup: they are plot_quote()d, and shown
 * "noenhanced".
 */
#include "map_sheet.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

extern const char script_marks[], script_map[], script_facets[]; /* marks.gp, map.gp, facets.gp */

#define TITLE_POINTS 16.0
#define TITLE_POINTS_LEAST 11.0 /* of one that is long */
#define BAR_HEIGHT 300.0        /* of colours */
#define KEY_COUNT 70.0
#define KEY_TITLE_ROOM 15.0 /* ems */

/* The variables of an axis with so many units of room. */
static void
set_name(const struct sheet *sheet, const char *variable, const char *name, double room)
{
	char text[MAP_CAPTION_ROOM];

	map_shown_name(text, name);
	script_set_text(sheet->stream, variable, text, room / (MAP_LABEL_EM * sheet->text));
}

/* As large as there is room for. */
static void
set_title(const struct sheet *sheet, double room)
{
	char title[MAP_CAPTION_ROOM];
	double points = TITLE_POINTS;

	map_drawing_title(title, sheet->drawing);
	room /= MAP_TITLE_EM * sheet->text; /* ems of the largest */
	points = fmax(TITLE_POINTS_LEAST, fmin(points, floor(2 * points * room / fmax(plot_width(title), 1)) / 2));
	script_set_text(sheet->stream, "map_title", title, room * TITLE_POINTS / points);
	script_set(sheet->stream, "title_points", points);
}

static void
set_axis(const struct sheet *sheet, const char *name, const struct map_axis *axis, double from, double to)
{
	double step = sheet->drawing->facet_count > 0 ? axis->panel_step : axis->step;
	int decimals = map_axis_decimals(axis, step);

	fprintf(sheet->stream, "%s_from = %.10g\n%s_to = %.10g\n%s_step = %.10g\n", name, from, name, to, name, step);
	if (decimals < 0 || sheet->drawing->facet_count > 0) /* little room: 0.5 rather than 0.50 */
		fprintf(sheet->stream, "%s_format = '%%g'\n", name);
	else
		fprintf(sheet->stream, "%s_format = '%%.%df'\n", name, decimals);
}

/* The range of the colours. */
static void
set_colours(const struct sheet *sheet)
{
	static const char *const colourings[] = {[MAP_BY_CORRECTNESS] = "correctness",
	                                         [MAP_BY_VALUE] = "value",
	                                         [MAP_BY_CATEGORY] = "category",
	                                         [MAP_PLAIN] = "plain"};
	const struct map_column column = {.name = ""};
	struct map_range range = MAP_RANGE_EMPTY;
	const struct map_axis *values = &sheet->maps[0].axes.colour;
	struct map_axis axis = *values;
	double most = 10;
	char note[MAP_CAPTION_ROOM];

	for (size_t f = 0; f < sheet->frames; f++) {
		most = fmax(most, sheet->maps[f].most_per_cell);
		range.least = fmin(range.least, sheet->maps[f].mean_low);
		range.most = fmax(range.most, sheet->maps[f].mean_high);
	}
	if (sheet->style == MAP_SHIFT)
		range = (struct map_range){-sheet->drawing->shift, sheet->drawing->shift};
	axis.low = map_axis_values(values).least;
	axis.high = map_axis_values(values).most;
	if (sheet->style == MAP_COUNTS)
		axis = (struct map_axis){.low = 1, .high = most, .step = most};
	else if (sheet->style != MAP_SCATTER)
		map_axis_make(&axis, &column, range, 0);
	if (sheet->style == MAP_MEANS && range.least < range.most) {
		axis.low = range.least;
		axis.high = range.most;
		axis.step = map_axis_step(range.most - range.least);
		if (values->grid >= 1 && range.most - range.least >= values->grid)
			axis.step = fmax(axis.step, values->grid);
	}
	map_shown_name(note, sheet->maps[0].colouring == MAP_BY_CATEGORY ? sheet->drawing->sources[0].input.colour.name
	                     : sheet->maps[0].colouring == MAP_PLAIN     ? "after epoch"
	                                                                 : "correctness");
	script_set_text(sheet->stream, "key_title", note, KEY_TITLE_ROOM);
	fprintf(sheet->stream, "colouring = '%s'\n", colourings[sheet->maps[0].colouring]);
	script_set(sheet->stream, "colour_bar",
	           sheet->style != MAP_SCATTER || sheet->maps[0].colouring == MAP_BY_VALUE);
	set_axis(sheet, "colour", &axis, axis.low, axis.high);
	map_drawing_colour_note(note, sheet->drawing);
	script_set_text(sheet->stream, "colour_note", note, BAR_HEIGHT / MAP_CAPTION_EM);
}

/* With maps side by side, the counts would be those of one map. */
static bool
is_counted(const struct sheet *sheet)
{
	return sheet->maps[0].colouring == MAP_BY_CATEGORY && sheet->drawing->source_count == 1;
}

/* In ems, beside the count. In a column of counts all have the same room. */
static double
name_room(const struct sheet *sheet, const char *count)
{
	bool is_column = sheet->drawing->facet_count == 0;
	double room = sheet->key_room - MAP_KEY_MARKER;

	if (sheet->maps[0].colouring != MAP_BY_CATEGORY) /* others are short */
		return KEY_TITLE_ROOM;
	if (*count)
		room -= is_column ? KEY_COUNT : plot_width(count) * sheet->key_em;
	return room / sheet->key_em;
}

static void
set_levels(const struct sheet *sheet)
{
	script_set(sheet->stream, "levels", sheet->levels);
	script_set(sheet->stream, "markers", sheet->markers);
	script_declare(sheet->stream, "Level LevelCount Colour Shape EdgeShape KeySize", sheet->markers);
	for (unsigned k = 0; k < sheet->markers; k++) {
		const struct map_level *level = &sheet->maps[0].levels[k];
		struct map_marker marker = map_marker(sheet->format, level->slot, sheet->maps[0].shown);
		char count[NUMBER_ROOM] = "";

		if (is_counted(sheet))
			number_print_grouped(level->examples, count);
		if (level->slot == MAP_SLOT_OTHERS && plot_width(level->name) > name_room(sheet, count))
			count[0] = '\0'; /* rather all of "8 others" */
		script_set_name_item(sheet->stream, "Level", k + 1, level->name, name_room(sheet, count));
		fprintf(sheet->stream, "LevelCount[%u] = '%s'; Colour[%u] = 0x%s; KeySize[%u] = %.2f; ", k + 1, count,
		        k + 1, map_slot_colour(level->slot), k + 1, marker.key_size);
		script_set_items(sheet->stream, "Shape EdgeShape", k + 1, (double[]){marker.shape, marker.edge_shape});
	}
}

/* The place of a frame's points in the file, and their size. */
static void
set_points(const struct sheet *sheet, size_t f, uint64_t offset)
{
	const struct map_data *map = &sheet->maps[f];

	fprintf(sheet->stream, "Skip[%zu] = %llu; Points[%zu] = %zu; Line[%zu] = %.2g\n", f + 1,
	        (unsigned long long)offset, f + 1, map->point_count, f + 1, map_marker_line(map->shown));
	for (unsigned k = 0; k < sheet->markers; k++) {
		struct map_marker marker = map_marker_in(map, sheet->format, map->levels[k].slot);

		fprintf(sheet->stream, "Size[%zu] = %.4g; EdgeSize[%zu] = %.4g\n", f * sheet->markers + k + 1,
		        marker.size, f * sheet->markers + k + 1, marker.edge_size);
	}
}

/* A frame's own, whose data begin `offset` bytes into the file. */
static void
set_frame(const struct sheet *sheet, size_t f, uint64_t offset)
{
	const struct map_data *map = &sheet->maps[f];
	const struct map_layout *layout = &sheet->drawing->layout;
	double room = map_layout_room(layout) / (MAP_CAPTION_EM * sheet->text);
	char caption[MAP_CAPTION_ROOM];

	map_drawing_caption(caption, sheet->drawing, sheet->first + f, room);
	script_set_text_item(sheet->stream, "Caption", f + 1, caption, room);
	set_points(sheet, f, offset);
	for (unsigned r = 0; r < REGION_COUNT; r++) {
		size_t item = f * REGION_COUNT + r + 1;

		fprintf(sheet->stream, "LabelCount[%zu] = '%s'; ", item,
		        map->lined ? NUMBER_GROUPED(map->region_examples[r]) : "");
		script_set_items(sheet->stream, "LabelShown LabelX LabelY", item,
		                 (double[]){map->labels[r].shown, map_layout_x(layout, map->labels[r].x),
		                            map_layout_y(layout, map->labels[r].y)});
	}
}

/* The lines between the regions: one of variability, and from there to the left one of confidence. */
static void
set_cuts(const struct sheet *sheet)
{
	const struct map_axes *axes = &sheet->maps[0].axes;

	script_set(sheet->stream, "lined", sheet->maps[0].lined);
	if (!sheet->maps[0].lined)
		return;
	fputs("$cuts << EOD\n", sheet->stream);
	for (size_t f = 0; f < sheet->frames; f++) {
		const struct region_cuts *cuts = &sheet->maps[f].cuts;
		bool divided = cuts->variability > 0 || sheet->maps[f].region_examples[REGION_AMBIGUOUS] > 0;
		double v = divided ? fmin(cuts->variability, axes->x.to) : axes->x.to; /* 0 is never ambiguous */

		if (v < axes->x.to)
			fprintf(sheet->stream, "%.10g %.10g\n%.10g %.10g\n\n", v, axes->y.from, v, axes->y.to);
		if (cuts->confidence < axes->y.to)
			fprintf(sheet->stream, "%.10g %.10g\n%.10g %.10g\n", axes->x.from, cuts->confidence, v,
			        cuts->confidence);
		fputs("\n\n", sheet->stream);
	}
	fputs("EOD\n", sheet->stream);
}

static void
set_frames(const struct sheet *sheet)
{
	uint64_t offset = 0;

	script_set(sheet->stream, "frames", (double)sheet->frames);
	script_declare(sheet->stream, "Caption Skip Points Line", sheet->frames);
	script_declare(sheet->stream, "Size EdgeSize", sheet->frames * sheet->markers);
	script_declare(sheet->stream, "LabelShown LabelX LabelY LabelCount", sheet->frames * REGION_COUNT);
	for (size_t f = 0; f < sheet->frames; f++) {
		const void *data;

		set_frame(sheet, f, offset);
		offset += map_drawing_data(sheet->drawing, sheet->first + f, &data);
	}
}

unsigned
map_path_keys(const struct map_drawing *drawing)
{
	size_t epochs = drawing->sources[0].dynamics.epoch_count;

	return epochs < MAP_PATH_KEYS - 1 ? (unsigned)epochs + 1 : MAP_PATH_KEYS;
}

/* The key of a map of paths: the first point (1), those between (2), the last one (3), beside which the id stands, and
 * the other examples (4). The first may be the last. */
static void
set_path_keys(const struct sheet *sheet)
{
	const struct dynamics *dynamics = &sheet->drawing->sources[0].dynamics;
	unsigned entries = map_path_keys(sheet->drawing);
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

/* The places of the key's entries, the highest correctness first. */
static void
set_key(const struct sheet *sheet)
{
	const struct map_layout *layout = &sheet->drawing->layout;
	bool is_upward = sheet->maps[0].colouring == MAP_BY_CORRECTNESS, is_paths = sheet->drawing->path_count > 0;
	unsigned entries = is_paths ? map_path_keys(sheet->drawing) : sheet->style == MAP_SCATTER ? sheet->levels : 0;

	script_set(sheet->stream, "keys", entries);
	script_set(sheet->stream, "key_left", layout->key_left);
	script_set(sheet->stream, "key_top", layout->key_top);
	script_set(sheet->stream, "key_count", layout->key_width - (layout->narrow ? 10 * layout->text : 0));
	if (entries > 0)
		script_declare(sheet->stream, "KeyX KeyY", entries);
	for (unsigned k = 0; k < entries; k++) {
		double x, y;

		map_layout_key(layout, is_upward ? entries - 1 - k : k, &x, &y);
		script_set_items(sheet->stream, "KeyX KeyY", k + 1, (double[]){x, y});
	}
	if (is_paths)
		set_path_keys(sheet);
}

static void
set_layout(const struct sheet *sheet)
{
	const struct map_layout *layout = &sheet->drawing->layout;

	script_set(sheet->stream, "beside", layout->beside);
	script_set(sheet->stream, "map_left", layout->left);
	script_set(sheet->stream, "map_right", layout->right);
	script_set(sheet->stream, "map_bottom", layout->bottom);
	script_set(sheet->stream, "map_top", layout->top);
	script_set(sheet->stream, "text_left", layout->text_left);
	script_set(sheet->stream, "panel_left", layout->width - 162 * layout->text);
	script_set(sheet->stream, "panel_right", layout->width - 16 * layout->text);
	script_declare(sheet->stream, "LabelWidth", REGION_COUNT);
	for (unsigned r = 0; r < REGION_COUNT; r++)
		script_set_items(sheet->stream, "LabelWidth", r + 1, (double[]){map_label_widths[r] * layout->text});
	script_set(sheet->stream, "label_height",
	           layout->text * (sheet->maps[0].lined ? MAP_LABEL_HEIGHT_COUNTED : MAP_LABEL_HEIGHT));
	script_set(sheet->stream, "label_angle", MAP_LABEL_ANGLE);
}

/* The large text of an animation. */
static void
set_epochs(const struct sheet *sheet)
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
	        .style = map_drawing_style(drawing->request),
	        .text = layout->text,
	        .maps = maps,
	        .first = first,
	        .frames = count,
	        .key_room = layout->key_width / layout->text,
	        .key_em = MAP_LABEL_EM,
	        .levels = maps->level_count,
	        .markers = maps->level_count ? maps->level_count : 1,
	};

	if (sheet.style == MAP_SHIFT)
		sheet.frames = 1;
	if (layout->panels)
		sheet.panels = maps->colouring == MAP_PLAIN || drawing->sources[0].is_cells ||
		                               (maps->colouring == MAP_BY_CATEGORY && axes->y.low < 0)
		                       ? 2
		                       : 3;
	fprintf(stream, "style = '%s'\n", styles[sheet.style]);
	script_set(stream, "animated", format == PICTURE_GIF);
	script_set(stream, "epochs_shown", drawing->is_animation);
	set_title(&sheet, layout->width - layout->text_left - 40 * layout->text);
	set_name(&sheet, "x_name", axes->x.name, layout->right - layout->left);
	set_axis(&sheet, "x", &axes->x, axes->x.from, axes->x.to);
	set_name(&sheet, "y_name", axes->y.name, layout->top - layout->bottom);
	set_axis(&sheet, "y", &axes->y, axes->y.from, axes->y.to);
	script_set(stream, "cells_x", axes->cells_x);
	script_set(stream, "cells_y", axes->cells_y);
	set_colours(&sheet);
	set_levels(&sheet);
	set_layout(&sheet);
	set_key(&sheet);
	set_frames(&sheet);
	set_epochs(&sheet);
	set_cuts(&sheet);
	map_sheet_panels(&sheet);
	map_sheet_paths(&sheet);
	fputs(script_marks, stream);
	fputs(script_map, stream);
}

/* The place of each facet, and which facets have numbers along their axes. */
static void
set_facets(const struct sheet *sheet, const struct map_grid *grid)
{
	double left = 0, bottom = 0;

	script_declare(sheet->stream, "FacetLeft FacetBottom FacetIsFirst FacetIsLowest", sheet->frames);
	for (size_t f = 0; f < sheet->frames; f++) {
		map_facet_place(grid, f, &left, &bottom);
		script_set_items(sheet->stream, "FacetLeft FacetBottom FacetIsFirst FacetIsLowest", f + 1,
		                 (double[]){left, bottom, f % grid->columns == 0, f + grid->columns >= sheet->frames});
	}
	script_set(sheet->stream, "facets_bottom", bottom);
	map_facet_place(grid, 0, &left, &bottom);
	script_set(sheet->stream, "facets_top", bottom + grid->scale * (MAP_TOP - MAP_BOTTOM));
	map_facet_place(grid, grid->columns - 1, &left, &bottom);
	script_set(sheet->stream, "facets_right", left + grid->scale * (MAP_RIGHT - MAP_LEFT));
	script_set(sheet->stream, "facet_width", grid->scale * (MAP_RIGHT - MAP_LEFT));
	script_set(sheet->stream, "facet_height", grid->scale * (MAP_TOP - MAP_BOTTOM));
}

void
map_script_write_facets(FILE *stream, const struct map_drawing *drawing, enum picture_format format)
{
	struct map_grid grid = map_facet_grid(drawing->request, drawing->facet_count);
	const struct map_axes *axes = &drawing->maps[0].axes;
	struct sheet sheet = {.stream = stream,
	                      .drawing = drawing,
	                      .format = format,
	                      .style = MAP_SCATTER,
	                      .text = grid.text,
	                      .maps = drawing->facets,
	                      .frames = drawing->facet_count,
	                      .key_room = grid.scale / grid.text * (MAP_RIGHT - MAP_LEFT),
	                      .key_em = MAP_CAPTION_EM,
	                      .levels = drawing->facets->level_count,
	                      .markers = drawing->facets->level_count};
	char text[MAP_CAPTION_ROOM];
	uint64_t offset = 0;

	fputs("style = 'facets'\n", stream);
	set_title(&sheet, grid.width - (MAP_LEFT + 40) * grid.text);
	map_drawing_caption(text, drawing, 0, (grid.width - MAP_LEFT * grid.text) / (MAP_CAPTION_EM * grid.text));
	script_set_text(stream, "map_caption", text,
	                (grid.width - MAP_LEFT * grid.text) / (MAP_CAPTION_EM * grid.text));
	set_name(&sheet, "x_name", axes->x.name, grid.width / 2);
	set_axis(&sheet, "x", &axes->x, axes->x.from, axes->x.to);
	set_name(&sheet, "y_name", axes->y.name, grid.height / 2);
	set_axis(&sheet, "y", &axes->y, axes->y.from, axes->y.to);
	script_set(stream, "map_left", MAP_LEFT * grid.text);
	set_colours(&sheet);
	set_levels(&sheet);
	script_set(stream, "frames", (double)sheet.frames);
	script_declare(stream, "Skip Points Line", sheet.frames);
	script_declare(stream, "Size EdgeSize", sheet.frames * sheet.markers);
	for (size_t f = 0; f < sheet.frames; f++) {
		set_points(&sheet, f, offset);
		offset += drawing->facets[f].point_count * sizeof(*drawing->facets[f].points);
	}
	set_facets(&sheet, &grid);
	fputs(script_marks, stream);
	fputs(script_facets, stream);
}

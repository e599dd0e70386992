/*
 * map_script.c: the variables of a map's gnuplot script: what is drawn, and where; marks.gp,
 * map.gp and facets.gp have how.
 *
 * gnuplot has no safe mode, so no user text gets where it could mean something: texts are plot_quote()d, and shown
 * "noenhanced".
 */
#include "drawing.h"

#include "program/number.h"

#include <math.h>
#include <string.h>

/* In units, of the fonts of 16, 11 and 10 points. */
#define TITLE_EM 21.3
#define LABEL_EM 14.7
#define CAPTION_EM 13.3

#define PANEL_NAME_ROOM (166 / LABEL_EM)
#define BAR_HEIGHT 300.0 /* of colours */
#define KEY_ROOM 230.0   /* of a key with names and counts */
#define KEY_MARKER 22.0
#define KEY_COUNT 70.0
#define FACET_KEY_SAVED 22.0 /* in the smaller font */

/* What one script shows. */
struct sheet {
	FILE *stream;
	const struct map_drawing *drawing;
	enum picture_format format;
	enum map_style style;
	bool is_beside;
	double width;
	const struct map_data *maps;
	size_t first, frames;     /* maps[0] is the drawing's `first`; a frame is one, or a shift's two */
	unsigned levels, markers; /* of each */
	unsigned panels;
	double key_room; /* for a name and a count, */
	double key_em;   /* in a font of this size */
};

/* What an axis shows, which has so many units of room. */
static void
set_name(FILE *stream, const char *variable, const char *name, double room)
{
	char text[MAP_CAPTION_ROOM];

	map_shown_name(text, name);
	script_set_text(stream, variable, text, room / LABEL_EM);
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

/* From what to what the colours go. */
static void
set_colours(const struct sheet *sheet)
{
	static const char *const colourings[] = {[MAP_BY_CORRECTNESS] = "correctness",
	                                         [MAP_BY_VALUE] = "value",
	                                         [MAP_BY_CATEGORY] = "category",
	                                         [MAP_PLAIN] = "plain"};
	const struct map_column column = {.name = ""};
	struct map_range range = MAP_RANGE_EMPTY;
	struct map_axis axis = sheet->maps[0].axes.colour;
	double most = 10;
	char note[MAP_CAPTION_ROOM];

	for (size_t f = 0; f < sheet->frames; f++) {
		most = fmax(most, sheet->maps[f].most_per_cell);
		range.least = fmin(range.least, sheet->maps[f].least_mean);
		range.most = fmax(range.most, sheet->maps[f].most_mean);
	}
	if (sheet->style == MAP_SHIFT)
		range = (struct map_range){-sheet->drawing->shift, sheet->drawing->shift};
	if (sheet->style == MAP_COUNTS)
		axis = (struct map_axis){.low = 1, .high = most, .step = most};
	else if (sheet->style != MAP_SCATTER)
		map_axis_make(&axis, &column, range, 0);
	script_set_text(sheet->stream, "key_title",
	                sheet->maps[0].colouring == MAP_BY_CATEGORY ? sheet->drawing->sources[0].input.colour.name
	                                                            : "correctness",
	                KEY_ROOM / LABEL_EM);
	fprintf(sheet->stream, "colouring = '%s'\n", colourings[sheet->maps[0].colouring]);
	script_set(sheet->stream, "colour_bar",
	           sheet->style != MAP_SCATTER || sheet->maps[0].colouring == MAP_BY_VALUE);
	set_axis(sheet, "colour", &axis, axis.low, axis.high);
	map_drawing_colour_note(note, sheet->drawing);
	script_set_text(sheet->stream, "colour_note", note, BAR_HEIGHT / CAPTION_EM);
}

static void
set_levels(const struct sheet *sheet)
{
	double name_room = (sheet->key_room - KEY_MARKER - (sheet->is_beside ? 0 : KEY_COUNT)) / sheet->key_em;

	script_set(sheet->stream, "levels", sheet->levels);
	script_set(sheet->stream, "markers", sheet->markers);
	script_declare(sheet->stream, "Level LevelCount Colour Shape EdgeShape KeySize", sheet->markers);
	for (unsigned k = 0; k < sheet->markers; k++) {
		const struct map_level *level = &sheet->maps[0].levels[k];
		struct map_marker marker = map_marker(sheet->format, level->slot, sheet->maps[0].shown);

		script_set_text_item(sheet->stream, "Level", k + 1, level->name, name_room);
		fprintf(sheet->stream, "LevelCount[%u] = '%s'; Colour[%u] = 0x%s; KeySize[%u] = %.2f; ", k + 1,
		        sheet->is_beside ? "" : NUMBER_GROUPED(level->examples), k + 1, map_slot_colour(level->slot),
		        k + 1, marker.key_size);
		script_set_items(sheet->stream, "Shape EdgeShape", k + 1, (double[]){marker.shape, marker.edge_shape});
	}
}

/* Where the points of a frame begin in the file, and how large they are. */
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
	double room = sheet->is_beside ? MAP_BESIDE - 40 : sheet->width - MAP_LEFT;
	char caption[MAP_CAPTION_ROOM];

	map_drawing_caption(caption, sheet->drawing, sheet->first + f);
	script_set_text_item(sheet->stream, "Caption", f + 1, caption, room / CAPTION_EM);
	set_points(sheet, f, offset);
	for (unsigned r = 0; r < REGION_COUNT; r++)
		script_set_items(sheet->stream, "LabelShown LabelX LabelY", f * REGION_COUNT + r + 1,
		                 (double[]){map->labels[r].shown, map->labels[r].x, map->labels[r].y});
}

static void
set_frames(const struct sheet *sheet)
{
	uint64_t offset = 0;

	script_set(sheet->stream, "frames", (double)sheet->frames);
	script_declare(sheet->stream, "Caption Skip Points Line", sheet->frames);
	script_declare(sheet->stream, "Size EdgeSize", sheet->frames * sheet->markers);
	script_declare(sheet->stream, "LabelShown LabelX LabelY", sheet->frames * REGION_COUNT);
	for (size_t f = 0; f < sheet->frames; f++) {
		const void *data;

		set_frame(sheet, f, offset);
		offset += map_drawing_data(sheet->drawing, sheet->first + f, &data);
	}
}

/* A histogram right of a map: of its y, its x, or what colours it; of categories, their means of what goes up. */
struct panel {
	char name[288];
	double low, high, width, step; /* of the bins; between tics */
	unsigned bins;
	double bars[MAP_BINS];
};

/* A bar for each level. */
static struct panel
level_panel(const struct map_data *map)
{
	char name[MAP_CAPTION_ROOM];
	struct panel panel = {"correctness", -0.5, map->level_count - 0.5, 1, 1, map->level_count, {0}};

	if (map->colouring == MAP_BY_CATEGORY) {
		map_shown_name(name, map->axes.y.name);
		snprintf(panel.name, sizeof(panel.name), "mean %.280s", name);
	}
	for (unsigned k = 0; k < map->level_count; k++) {
		double examples = (double)map->levels[k].examples;

		panel.bars[k] = map->colouring == MAP_BY_CORRECTNESS ? examples
		                : examples > 0                       ? map->levels[k].sum / examples
		                                                     : 0;
	}
	return panel;
}

static struct panel
panel_of(const struct map_data *map, unsigned number)
{
	const struct map_axis *axis = number == 0 ? &map->axes.y : number == 1 ? &map->axes.x : &map->axes.colour;
	const uint64_t *bins = number == 0 ? map->y_bins : number == 1 ? map->x_bins : map->colour_bins;
	char name[MAP_CAPTION_ROOM];
	struct panel panel = {
	        "",         axis->low, axis->low + axis->bins * axis->bin_width, axis->bin_width, axis->panel_step,
	        axis->bins, {0}};

	if (number == 2 && map->level_count > 0)
		return level_panel(map);
	map_shown_name(name, axis->name);
	snprintf(panel.name, sizeof(panel.name), "%.287s", name);
	for (unsigned b = 0; b < axis->bins; b++)
		panel.bars[b] = (double)bins[b];
	return panel;
}

/* Little room: 20k rather than 20000. */
static const char *
tic_format(const struct panel *panel)
{
	double most = fmax(fabs(panel->low), fabs(panel->high)), unit = most >= 1e6 ? 1e6 : 1e3;

	if (most < 1e4)
		return "%g";
	if (most >= 1e12 || panel->step < 1e3)
		return "%.2g";
	return panel->step >= unit && fmod(panel->step, unit) > 0 ? "%.1s%c" : "%.0s%c";
}

/* A bar in examples; of a shift, in hundredths of the run's. */
static double
bar_of(const struct sheet *sheet, const struct panel *panel, unsigned bar)
{
	double sum = 0;

	for (unsigned b = 0; b < panel->bins; b++)
		sum += panel->bars[b];
	return sheet->style == MAP_SHIFT && sum > 0 ? panel->bars[bar] * (100 / sum) : panel->bars[bar];
}

/* What all frames' panels show, and then their bars: of a shift, before and after. */
static void
set_panels(const struct sheet *sheet)
{
	script_set(sheet->stream, "panels", sheet->panels);
	if (sheet->panels > 0)
		script_declare(sheet->stream, "PanelName PanelFormat PanelFrom PanelTo PanelBin PanelStep",
		               sheet->panels);
	for (unsigned p = 0; p < sheet->panels; p++) {
		struct panel panel = panel_of(&sheet->maps[0], p);

		script_set_text_item(sheet->stream, "PanelName", p + 1, panel.name, PANEL_NAME_ROOM);
		fprintf(sheet->stream, "PanelFormat[%u] = '%s'; ", p + 1, tic_format(&panel));
		script_set_items(sheet->stream, "PanelFrom PanelTo PanelBin PanelStep", p + 1,
		                 (double[]){panel.low, panel.high, panel.width, panel.step});
	}
	fputs("$bars << EOD\n", sheet->stream);
	for (size_t i = 0; i < sheet->frames * sheet->panels; i++) {
		const struct map_data *map = &sheet->maps[i / sheet->panels];
		struct panel panel = panel_of(map, i % sheet->panels), after = {0};

		if (sheet->style == MAP_SHIFT)
			after = panel_of(map + 1, i % sheet->panels);
		for (unsigned b = 0; b < panel.bins; b++)
			fprintf(sheet->stream, "%.10g %.10g %.10g\n", panel.low + (b + 0.5) * panel.width,
			        bar_of(sheet, &panel, b), bar_of(sheet, &after, b));
		fputs("\n\n", sheet->stream);
	}
	fputs("EOD\n", sheet->stream);
}

static void
set_paths(const struct sheet *sheet)
{
	const struct map_drawing *drawing = sheet->drawing;
	struct map_place places[MAP_PATHS_MAX];

	script_set(sheet->stream, "paths", (double)drawing->path_count);
	if (drawing->path_count == 0)
		return;
	script_declare(sheet->stream, "PathName PathX PathY PathToLeft PathLast", drawing->path_count);
	map_place_paths(&sheet->maps[0].axes, drawing->paths, drawing->path_count, places);
	for (size_t p = 0; p < drawing->path_count; p++) {
		script_set_text_item(sheet->stream, "PathName", p + 1, drawing->paths[p].name,
		                     MAP_PATH_ROOM / CAPTION_EM);
		script_set_items(sheet->stream, "PathX PathY PathToLeft PathLast", p + 1,
		                 (double[]){places[p].x, places[p].y, places[p].x > places[p].left,
		                            (double)drawing->paths[p].count - 1});
	}
	fputs("$paths << EOD\n", sheet->stream);
	for (size_t p = 0; p < drawing->path_count; p++) {
		for (size_t e = 0; e < drawing->paths[p].count; e++)
			fprintf(sheet->stream, "%.10g %.10g\n", drawing->paths[p].places[e][0],
			        drawing->paths[p].places[e][1]);
		fputs("\n\n", sheet->stream);
	}
	fputs("EOD\n", sheet->stream);
}

static void
set_layout(const struct sheet *sheet)
{
	script_set(sheet->stream, "beside", sheet->is_beside ? MAP_BESIDE : 0);
	script_set(sheet->stream, "map_left", MAP_LEFT);
	script_set(sheet->stream, "map_right", MAP_RIGHT);
	script_set(sheet->stream, "map_bottom", MAP_BOTTOM);
	script_set(sheet->stream, "map_top", MAP_TOP);
	script_set(sheet->stream, "panel_left", sheet->width - 162);
	script_set(sheet->stream, "panel_right", sheet->width - 16);
	script_set(sheet->stream, "key_width", KEY_ROOM);
	script_declare(sheet->stream, "LabelWidth", REGION_COUNT);
	for (unsigned r = 0; r < REGION_COUNT; r++)
		script_set_items(sheet->stream, "LabelWidth", r + 1, &map_label_widths[r]);
	script_set(sheet->stream, "label_height", MAP_LABEL_HEIGHT);
	script_set(sheet->stream, "label_angle", MAP_LABEL_ANGLE);
}

double
map_script_width(const struct map_drawing *drawing, size_t count)
{
	double key = drawing->sources[0].input.colouring == MAP_BY_CATEGORY ? MAP_KEY_ROOM : 0;

	if (count == 2 && !drawing->is_animation && map_drawing_style(drawing->request) != MAP_SHIFT)
		return MAP_COMPACT_WIDTH + MAP_BESIDE + key;
	return (drawing->request->compact ? MAP_COMPACT_WIDTH : MAP_WIDTH) + key;
}

void
map_script_write(FILE *stream, const struct map_drawing *drawing, enum picture_format format, size_t first,
                 size_t count)
{
	static const char *const styles[] = {
	        [MAP_SCATTER] = "points", [MAP_COUNTS] = "counts", [MAP_MEANS] = "means", [MAP_SHIFT] = "shift"};
	const struct map_data *maps = &drawing->maps[first];
	const struct map_axes *axes = &maps->axes;
	struct sheet sheet = {
	        .stream = stream,
	        .drawing = drawing,
	        .format = format,
	        .style = map_drawing_style(drawing->request),
	        .is_beside = count == 2 && !drawing->is_animation && map_drawing_style(drawing->request) != MAP_SHIFT,
	        .width = map_script_width(drawing, count),
	        .maps = maps,
	        .first = first,
	        .frames = count,
	        .key_room = KEY_ROOM,
	        .key_em = LABEL_EM,
	        .levels = maps->level_count,
	        .markers = maps->level_count ? maps->level_count : 1,
	};
	char title[MAP_CAPTION_ROOM];

	if (sheet.style == MAP_SHIFT)
		sheet.frames = 1;
	if (!drawing->request->compact && !sheet.is_beside)
		sheet.panels = maps->colouring == MAP_PLAIN || drawing->sources[0].is_cells ||
		                               (maps->colouring == MAP_BY_CATEGORY && axes->y.low < 0)
		                       ? 2
		                       : 3;
	map_drawing_title(title, drawing);
	fprintf(stream, "style = '%s'\n", styles[sheet.style]);
	script_set(stream, "animated", format == PICTURE_GIF);
	script_set_text(stream, "map_title", title, (sheet.width - MAP_LEFT - 40) / TITLE_EM);
	set_name(stream, "x_name", axes->x.name, MAP_RIGHT - MAP_LEFT);
	set_axis(&sheet, "x", &axes->x, axes->x.from, axes->x.to);
	set_name(stream, "y_name", axes->y.name, MAP_TOP - MAP_BOTTOM);
	set_axis(&sheet, "y", &axes->y, axes->y.from, axes->y.to);
	script_set(stream, "cells_x", axes->cells_x);
	script_set(stream, "cells_y", axes->cells_y);
	set_colours(&sheet);
	set_levels(&sheet);
	set_layout(&sheet);
	set_frames(&sheet);
	set_panels(&sheet);
	set_paths(&sheet);
	fputs(script_marks, stream);
	fputs(script_map, stream);
}

/* Where each facet stands, and which has numbers along its axes. */
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
	struct map_grid grid = map_facet_grid(drawing->facet_count);
	const struct map_axes *axes = &drawing->maps[0].axes;
	struct sheet sheet = {.stream = stream,
	                      .drawing = drawing,
	                      .format = format,
	                      .style = MAP_SCATTER,
	                      .width = MAP_WIDTH,
	                      .maps = drawing->facets,
	                      .frames = drawing->facet_count,
	                      .key_room = grid.scale * (MAP_RIGHT - MAP_LEFT) + FACET_KEY_SAVED,
	                      .key_em = CAPTION_EM,
	                      .levels = drawing->facets->level_count,
	                      .markers = drawing->facets->level_count};
	char text[MAP_CAPTION_ROOM];
	uint64_t offset = 0;

	fputs("style = 'facets'\n", stream);
	map_drawing_title(text, drawing);
	script_set_text(stream, "map_title", text, (MAP_WIDTH - MAP_LEFT - 40) / TITLE_EM);
	map_drawing_caption(text, drawing, 0);
	script_set_text(stream, "map_caption", text, (MAP_WIDTH - MAP_LEFT) / CAPTION_EM);
	set_name(stream, "x_name", axes->x.name, MAP_WIDTH / 2);
	set_axis(&sheet, "x", &axes->x, axes->x.from, axes->x.to);
	set_name(stream, "y_name", axes->y.name, MAP_HEIGHT / 2);
	set_axis(&sheet, "y", &axes->y, axes->y.from, axes->y.to);
	script_set(stream, "map_left", MAP_LEFT);
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

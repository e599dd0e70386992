/* map_sheet_panels.c: writes the histograms that stand beside a map, as variables of the map's gnuplot script. */
#include "map_sheet.h"

#include <math.h>

#define PANEL_NAME_ROOM (166 / MAP_LABEL_EM)

/* A histogram to the right of a map: of y, of x, or of what colours the points. For categories its bars are no counts,
 * but each category's mean of y. */
struct panel {
	struct map_axis axis;
	double bars[MAP_BINS];
};

/* Makes the panel of the levels that colour the points: a bar for each level. */
static struct panel
panel_of_levels(const struct map_data *map)
{
	char name[MAP_CAPTION_ROOM];
	struct panel panel = {
	        .axis = {
	                .name = "correctness", .low = -0.5, .bin_width = 1, .panel_step = 1, .bins = map->level_count}};

	if (map->colouring == MAP_BY_CATEGORY) {
		map_shown_name(name, map->axes.y.name);
		snprintf(panel.axis.name, sizeof(panel.axis.name), "mean %.260s", name);
	}
	for (unsigned k = 0; k < map->level_count; k++) {
		double examples = (double)map->levels[k].examples;

		panel.bars[k] = map->colouring == MAP_BY_CORRECTNESS ? examples
		                : examples > 0                       ? map->levels[k].sum / examples
		                                                     : 0;
	}
	return panel;
}

/* Makes a panel: 0 is that of y, 1 that of x, and 2 that of what colours the points. */
static struct panel
panel_make(const struct map_data *map, unsigned number)
{
	const uint64_t *bins = number == 0 ? map->y_bins : number == 1 ? map->x_bins : map->colour_bins;
	struct panel panel = {.axis = number == 0 ? map->axes.y : number == 1 ? map->axes.x : map->axes.colour};
	char name[MAP_CAPTION_ROOM];

	if (number == 2 && map->level_count > 0)
		return panel_of_levels(map);
	map_shown_name(name, panel.axis.name);
	snprintf(panel.axis.name, sizeof(panel.axis.name), "%.271s", name);
	for (unsigned b = 0; b < panel.axis.bins; b++)
		panel.bars[b] = (double)bins[b];
	return panel;
}

/* The height of a bar, in examples; of a shift, in hundredths of the run's examples. */
static double
panel_bar(const struct sheet *sheet, const struct panel *panel, unsigned bar)
{
	double sum = 0;

	for (unsigned b = 0; b < panel->axis.bins; b++)
		sum += panel->bars[b];
	return sheet->drawing->style == MAP_SHIFT && sum > 0 ? panel->bars[bar] * (100 / sum) : panel->bars[bar];
}

/* Writes what the panels of all frames have in common, then the bars of each. A shift has two columns of bars: before,
 * and after. */
void
map_sheet_panels(const struct sheet *sheet)
{
	script_set(sheet->stream, "panels", sheet->panels);
	if (sheet->panels > 0)
		script_declare(sheet->stream, "PanelName PanelFrom PanelTo PanelBin PanelStep", sheet->panels);
	for (unsigned p = 0; p < sheet->panels; p++) {
		const struct panel panel = panel_make(&sheet->maps[0], p);
		const struct map_axis *axis = &panel.axis;

		script_set_text_item(sheet->stream, "PanelName", p + 1, axis->name, PANEL_NAME_ROOM);
		script_set_items(sheet->stream, "PanelFrom PanelTo PanelBin PanelStep", p + 1,
		                 (double[]){axis->low, axis->low + axis->bins * axis->bin_width, axis->bin_width,
		                            axis->panel_step});
	}
	fputs("$bars << EOD\n", sheet->stream);
	for (size_t i = 0; i < sheet->frames * sheet->panels; i++) {
		const struct map_data *map = &sheet->maps[i / sheet->panels];
		struct panel panel = panel_make(map, i % sheet->panels), after = {0};

		if (sheet->drawing->style == MAP_SHIFT)
			after = panel_make(map + 1, i % sheet->panels);
		for (unsigned b = 0; b < panel.axis.bins; b++)
			fprintf(sheet->stream, "%.10g %.10g %.10g\n", panel.axis.low + (b + 0.5) * panel.axis.bin_width,
			        panel_bar(sheet, &panel, b), panel_bar(sheet, &after, b));
		fputs("\n\n", sheet->stream);
	}
	fputs("EOD\n", sheet->stream);
}

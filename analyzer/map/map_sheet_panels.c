/* map_sheet_panels.c: writes the histograms beside a map as variables of its script. */
#include "map_sheet.h"

#include <math.h>

#define PANEL_NAME_ROOM (166 / MAP_LABEL_EM)

/* A histogram to the right of a map: of y, of x, or of what colours the points. Of categories it has no counts, but the mean
 * of y of each. */
struct panel {
	char name[288];
	double low, high, width; /* of the bins */
	double step;             /* between tics */
	unsigned bins;
	double bars[MAP_BINS];
};

/* The panel of the levels that colour the points: a bar for each level. */
static struct panel
panel_of_levels(const struct map_data *map)
{
	char name[MAP_CAPTION_ROOM];
	struct panel panel = {.name = "correctness",
	                      .low = -0.5,
	                      .high = map->level_count - 0.5,
	                      .width = 1,
	                      .step = 1,
	                      .bins = map->level_count};

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

/* Makes a panel: 0 is that of y, 1 that of x, and 2 that of what colours the points. */
static struct panel
panel_make(const struct map_data *map, unsigned number)
{
	const struct map_axis *axis = number == 0 ? &map->axes.y : number == 1 ? &map->axes.x : &map->axes.colour;
	const uint64_t *bins = number == 0 ? map->y_bins : number == 1 ? map->x_bins : map->colour_bins;
	char name[MAP_CAPTION_ROOM];
	struct panel panel = {.low = axis->low,
	                      .high = axis->low + axis->bins * axis->bin_width,
	                      .width = axis->bin_width,
	                      .step = axis->panel_step,
	                      .bins = axis->bins};

	if (number == 2 && map->level_count > 0)
		return panel_of_levels(map);
	map_shown_name(name, axis->name);
	snprintf(panel.name, sizeof(panel.name), "%.287s", name);
	for (unsigned b = 0; b < axis->bins; b++)
		panel.bars[b] = (double)bins[b];
	return panel;
}

/* The height of a bar, in examples; of a shift, in hundredths of the run's examples. */
static double
panel_bar(const struct sheet *sheet, const struct panel *panel, unsigned bar)
{
	double sum = 0;

	for (unsigned b = 0; b < panel->bins; b++)
		sum += panel->bars[b];
	return sheet->drawing->style == MAP_SHIFT && sum > 0 ? panel->bars[bar] * (100 / sum) : panel->bars[bar];
}

/* Writes first what the panels of all frames share, then the bars. A shift has two columns of bars: before, and after. */
void
map_sheet_panels(const struct sheet *sheet)
{
	script_set(sheet->stream, "panels", sheet->panels);
	if (sheet->panels > 0)
		script_declare(sheet->stream, "PanelName PanelFrom PanelTo PanelBin PanelStep", sheet->panels);
	for (unsigned p = 0; p < sheet->panels; p++) {
		struct panel panel = panel_make(&sheet->maps[0], p);

		script_set_text_item(sheet->stream, "PanelName", p + 1, panel.name, PANEL_NAME_ROOM);
		script_set_items(sheet->stream, "PanelFrom PanelTo PanelBin PanelStep", p + 1,
		                 (double[]){panel.low, panel.high, panel.width, panel.step});
	}
	fputs("$bars << EOD\n", sheet->stream);
	for (size_t i = 0; i < sheet->frames * sheet->panels; i++) {
		const struct map_data *map = &sheet->maps[i / sheet->panels];
		struct panel panel = panel_make(map, i % sheet->panels), after = {0};

		if (sheet->drawing->style == MAP_SHIFT)
			after = panel_make(map + 1, i % sheet->panels);
		for (unsigned b = 0; b < panel.bins; b++)
			fprintf(sheet->stream, "%.10g %.10g %.10g\n", panel.low + (b + 0.5) * panel.width,
			        panel_bar(sheet, &panel, b), panel_bar(sheet, &after, b));
		fputs("\n\n", sheet->stream);
	}
	fputs("EOD\n", sheet->stream);
}

/* map_sheet_panels.c: the histograms beside a map, as variables of its script; see map_script.c. */
#include "map_sheet.h"

#include <math.h>

#define PANEL_NAME_ROOM (166 / MAP_LABEL_EM)

/* A histogram to the right of a map: of y, of x, or of the values that colour the points; for categories, their means
 * of y. */
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

/* A bar in examples; of a shift, in hundredths of the run's. */
static double
bar_of(const struct sheet *sheet, const struct panel *panel, unsigned bar)
{
	double sum = 0;

	for (unsigned b = 0; b < panel->bins; b++)
		sum += panel->bars[b];
	return sheet->style == MAP_SHIFT && sum > 0 ? panel->bars[bar] * (100 / sum) : panel->bars[bar];
}

/* The variables that the panels of all frames share, then the bars: for a shift, before and after. */
void
map_sheet_panels(const struct sheet *sheet)
{
	script_set(sheet->stream, "panels", sheet->panels);
	if (sheet->panels > 0)
		script_declare(sheet->stream, "PanelName PanelFrom PanelTo PanelBin PanelStep", sheet->panels);
	for (unsigned p = 0; p < sheet->panels; p++) {
		struct panel panel = panel_of(&sheet->maps[0], p);

		script_set_text_item(sheet->stream, "PanelName", p + 1, panel.name, PANEL_NAME_ROOM);
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

/*
 * map_panels.c: the histograms right of a map: of its y, its x, and what colours it; for a shift, of both runs.
 */
#include "map.h"

#include <math.h>

#define FONT PLOT_FONT
#define INK PLOT_INK
#define PALE PLOT_PALE
#define LABEL_EM 14.7

#define PANEL_LEFT 838.0
#define PANEL_RIGHT 984.0

#define BEFORE "#0072b2"
#define AFTER "#d55e00"

/* "1.5M", "20k", "300": one unit for a whole axis, by its step. */
static void
write_count(FILE *stream, double count, double step)
{
	if (step >= 2e5)
		fprintf(stream, "'%g%s' %.0f", count / 1e6, count > 0 ? "M" : "", count);
	else if (step >= 1e3)
		fprintf(stream, "'%g%s' %.0f", count / 1e3, count > 0 ? "k" : "", count);
	else
		fprintf(stream, "'%.0f' %.0f", count, count);
}

/* Two to five round steps up to the highest bar; the axis ends a little above it. */
static void
write_count_axis(FILE *stream, double highest)
{
	double most = highest > 0 ? highest : 1, rough = most / 4.5, unit = pow(10, floor(log10(rough)));
	double step = rough <= unit ? unit : rough <= 2 * unit ? 2 * unit : rough <= 5 * unit ? 5 * unit : 10 * unit;

	step = step > 1 ? step : 1;
	fprintf(stream, "set yrange [0:%g]\nset ytics (", most * 1.06);
	for (double at = 0; at <= most * 1.06; at += step) {
		fputs(at > 0 ? ", " : "", stream);
		write_count(stream, at, step);
	}
	fputs(") font '" FONT ",9' offset 0.7,0\n", stream);
}

/* One panel: the bars of one run, in examples, or two runs' outlines, in hundredths of their examples. */
struct panel {
	unsigned number; /* from above */
	const char *name, *colour;
	double low, width; /* of the first bin */
	unsigned bins;
	const uint64_t *before, *after;
};

static double
highest_of(const struct panel *panel, double each, double each_after)
{
	double highest = 0;

	for (size_t b = 0; b < panel->bins; b++) {
		highest = fmax(highest, (double)panel->before[b] * each);
		if (panel->after)
			highest = fmax(highest, (double)panel->after[b] * each_after);
	}
	return highest;
}

static void
write_panel_frame(FILE *stream, const struct map_script *script, const struct panel *panel)
{
	double height = (MAP_TOP - MAP_BOTTOM - 2 * 62) / 3, top = MAP_TOP - panel->number * (height + 62);

	map_write_margins(stream, script, PANEL_LEFT, PANEL_RIGHT, top - height, top);
	fputs("set xlabel ", stream);
	plot_quote(stream, panel->name, (PANEL_RIGHT - PANEL_LEFT + 20) / LABEL_EM, script->can_draw);
	fputs(" noenhanced textcolor rgb '" INK "' offset 0,0.5\nunset ylabel\nset style fill solid noborder\n",
	      stream);
	fprintf(stream, "set boxwidth %.10g absolute\n", 0.9 * panel->width);
}

static double
sum_of(const uint64_t *bins, size_t count)
{
	uint64_t sum = 0;

	for (size_t b = 0; b < count; b++)
		sum += bins[b];
	return sum ? (double)sum : 1;
}

/* Ranges and tics of x are written already. */
static void
write_bars(FILE *stream, const struct panel *panel)
{
	double each = panel->after ? 100 / sum_of(panel->before, panel->bins) : 1;
	double each_after = panel->after ? 100 / sum_of(panel->after, panel->bins) : 0;

	write_count_axis(stream, highest_of(panel, each, each_after));
	fprintf(stream, "$panel%u << EOD\n", panel->number);
	for (unsigned b = 0; b < panel->bins; b++) {
		fprintf(stream, "%.10g %.6g", panel->low + (b + 0.5) * panel->width, (double)panel->before[b] * each);
		if (panel->after)
			fprintf(stream, " %.6g", (double)panel->after[b] * each_after);
		fputs("\n", stream);
	}
	fprintf(stream, "EOD\nplot $panel%u using 1:2 ", panel->number);
	if (panel->after)
		fprintf(stream,
		        "with boxes linecolor rgb '" BEFORE
		        "' fillstyle transparent solid 0.45, $panel%u using 1:3 with "
		        "histeps linewidth 1.6 linecolor rgb '" AFTER "'\n",
		        panel->number);
	else
		fprintf(stream, "with boxes linecolor rgb '%s'\n", panel->colour);
}

/* Little room: 20k rather than 20000. */
static const char *
tic_format(const struct map_axis *axis)
{
	double most = fmax(fabs(axis->low), fabs(axis->high)), unit = most >= 1e6 ? 1e6 : 1e3;

	if (most < 1e4)
		return "%g";
	if (most >= 1e12 || axis->panel_step < 1e3)
		return "%.2g";
	return axis->panel_step >= unit && fmod(axis->panel_step, unit) > 0 ? "%.1s%c" : "%.0s%c";
}

static void
write_histogram(FILE *stream, const struct map_script *script, const struct map_axis *axis, unsigned number,
                const char *colour, const uint64_t *before, const uint64_t *after)
{
	struct panel panel = {number, axis->name, colour, axis->low, axis->bin_width, axis->bins, before, after};

	write_panel_frame(stream, script, &panel);
	fprintf(stream,
	        "set xrange [%.10g:%.10g]\nset xtics autofreq %.10g format '%s' font '" FONT ",9' offset 0,0.3\n",
	        axis->low, axis->low + axis->bins * axis->bin_width, axis->panel_step, tic_format(axis));
	write_bars(stream, &panel);
}

static void
write_correctness(FILE *stream, const struct map_script *script, const struct map_data *data,
                  const struct map_data *after)
{
	uint64_t before_bins[MAP_LEVELS_MAX], after_bins[MAP_LEVELS_MAX];
	struct panel panel = {2, "correctness",     "#93b48f",   -0.5,
	                      1, data->level_count, before_bins, after ? after_bins : NULL};
	double end = data->level_count - 1;

	for (unsigned k = 0; k < data->level_count; k++) {
		before_bins[k] = data->levels[k].examples;
		after_bins[k] = after ? after->levels[k].examples : 0;
	}
	write_panel_frame(stream, script, &panel);
	fprintf(stream, "set xrange [-0.6:%g]\nset xtics ('0' 0, ", end + 0.6);
	if (end > 1)
		fprintf(stream, "'0.5' %g, ", end / 2);
	fprintf(stream, "'1' %g) font '" FONT ",9' offset 0,0.3\n", end);
	write_bars(stream, &panel);
}

void
map_write_panels(FILE *stream, const struct map_script *script, const struct map_data *data,
                 const struct map_data *after)
{
	fprintf(stream,
	        "set label 104 '%s' at screen %.5f,%.5f left front font '" FONT ",9' textcolor rgb '" PALE "'\n",
	        after ? "% of examples" : "examples", PANEL_LEFT / map_script_width(script),
	        (MAP_TOP + 10) / MAP_HEIGHT);
	write_histogram(stream, script, &data->axes.y, 0, "#5d3a8e", data->y_bins, after ? after->y_bins : NULL);
	fputs("unset label\n", stream);
	write_histogram(stream, script, &data->axes.x, 1, "#3f8785", data->x_bins, after ? after->x_bins : NULL);
	if (data->colouring == MAP_BY_CORRECTNESS)
		write_correctness(stream, script, data, after);
	else if (data->colouring == MAP_BY_VALUE)
		write_histogram(stream, script, &data->axes.colour, 2, "#93b48f", data->colour_bins, NULL);
}

/*
 * map_script.c: the gnuplot script of a data map, as text.
 *
 * gnuplot has no safe mode, so no user text gets where it could mean something: titles stand in single quotes, doubled,
 * without control characters, and "noenhanced"; file names are made of harmless characters by the caller.
 * Every position is given on the whole picture, so nothing moves with the length of a number. The script draws the same
 * picture when it is run by hand beside its data; `picture` may be set before to draw it elsewhere.
 */
#include "map.h"

#include "program/number.h"

#include <math.h>
#include <string.h>

#define FONT PLOT_FONT
#define INK PLOT_INK
#define PALE PLOT_PALE

/* In units, of the fonts of 16 and of 10 points. */
#define TITLE_EM 21.3
#define CAPTION_EM 13.3

/* Where things stand right of the scatter. */
#define LEGEND_LEFT 690.0
#define PANEL_LEFT 838.0
#define PANEL_RIGHT 984.0

/* From never correct to always: blue, dark, red, told apart by lightness too, and by shape. */
static const char *const colours[MAP_LEVELS_MAX] = {"#5f7fe8", "#3f55b5", "#2f3a70", "#26262c",
                                                    "#5e2f2b", "#963c31", "#d0452f"};
static const char *const region_colours[REGION_COUNT] = {"#d0452f", "#26262c", "#3f55b5"};

static double
width_of(const struct map_script *script)
{
	return script->compact ? MAP_COMPACT_WIDTH : MAP_WIDTH;
}

static void
write_margins(FILE *stream, const struct map_script *script, double left, double right, double bottom, double top)
{
	double width = width_of(script);

	fprintf(stream, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", left / width, right / width);
	fprintf(stream, "set bmargin at screen %.5f\nset tmargin at screen %.5f\n", bottom / MAP_HEIGHT,
	        top / MAP_HEIGHT);
}

static void
write_terminal(FILE *stream, const struct map_script *script)
{
	plot_script_begin(stream, "A data map", script->format, script->picture, width_of(script), MAP_HEIGHT);
	fputs("set multiplot\n", stream);
}

static void
write_titles(FILE *stream, const struct map_script *script)
{
	double width = width_of(script);

	fputs("set label 101 ", stream);
	plot_quote(stream, script->title, (width - MAP_LEFT - 40) / TITLE_EM, script->can_draw);
	fprintf(stream, " at screen %.5f,%.5f left noenhanced front font '" FONT ",16' textcolor rgb '" INK "'\n",
	        MAP_LEFT / width, (MAP_HEIGHT - 34) / MAP_HEIGHT);
	fputs("set label 102 ", stream);
	plot_quote(stream, script->caption, (width - MAP_LEFT) / CAPTION_EM, script->can_draw);
	fprintf(stream, " at screen %.5f,%.5f left noenhanced front font '" FONT ",10' textcolor rgb '" PALE "'\n",
	        MAP_LEFT / width, (MAP_HEIGHT - 60) / MAP_HEIGHT);
}

static void
write_region_labels(FILE *stream, const struct map_script *script)
{
	double width = width_of(script);

	for (unsigned r = 0; r < REGION_COUNT; r++) {
		const struct map_label *label = &script->data->labels[r];
		double corners[MAP_BOX_CORNERS][2];
		size_t count;

		if (!label->shown)
			continue;
		count = map_label_box((enum region)r, label, corners);
		fprintf(stream, "set object %u polygon", r + 1);
		for (size_t c = 0; c <= count; c++)
			fprintf(stream, " %s screen %.5f,%.5f", c == 0 ? "from" : "to", corners[c % count][0] / width,
			        corners[c % count][1] / MAP_HEIGHT);
		fprintf(stream,
		        " front fillcolor rgb '#ffffff' fillstyle solid border linecolor rgb '%s' linewidth 1.6\n",
		        region_colours[r]);
		fprintf(stream,
		        "set label %u '%s' at screen %.5f,%.5f center rotate by %g front font '" FONT
		        ",10' textcolor rgb '#16181d'\n",
		        r + 1, region_names[r], label->x / width, label->y / MAP_HEIGHT, MAP_LABEL_ANGLE);
	}
}

static void
write_scatter_axes(FILE *stream, const struct map_script *script)
{
	double margin = 0.024 * script->data->variability_max;

	write_margins(stream, script, MAP_LEFT, MAP_RIGHT, MAP_BOTTOM, MAP_TOP);
	fprintf(stream, "set xrange [%.6g:%.6g]\nset yrange [%g:%g]\n", -margin, script->data->variability_max + margin,
	        MAP_CONFIDENCE_MIN, MAP_CONFIDENCE_MAX);
	fprintf(stream, "set xtics %g format '%%.%df'\nset ytics 0.2 format '%%.1f'\n",
	        script->data->variability_max > 0.25  ? 0.1
	        : script->data->variability_max > 0.1 ? 0.05
	                                              : 0.01,
	        script->data->variability_max > 0.25 ? 1 : 2);
	fputs("set xlabel 'variability' textcolor rgb '" INK
	      "' offset 0,0.2\nset ylabel 'confidence' textcolor rgb '" INK "' offset 0.6,0\n",
	      stream);
}

/* "array Size[7] = [", then a number for each level. */
static void
write_array(FILE *stream, const char *name, const double *values, unsigned count)
{
	fprintf(stream, "array %s[%d] = [", name, MAP_LEVELS_MAX);
	for (unsigned k = 0; k < count; k++)
		fprintf(stream, "%s%.4g", k ? ", " : "", values[k]);
	fputs("]\n", stream);
}

static void
write_markers(FILE *stream, const struct map_script *script)
{
	const struct map_data *data = script->data;
	double columns[4][MAP_LEVELS_MAX];

	for (unsigned k = 0; k < data->level_count; k++) {
		struct map_marker marker = map_marker(script->format, data->levels[k].slot, data->shown);

		columns[0][k] = marker.shape;
		columns[1][k] = marker.size;
		columns[2][k] = marker.edge_shape;
		columns[3][k] = marker.edge_size;
	}
	write_array(stream, "Shape", columns[0], data->level_count);
	write_array(stream, "Size", columns[1], data->level_count);
	write_array(stream, "EdgeShape", columns[2], data->level_count);
	write_array(stream, "EdgeSize", columns[3], data->level_count);
	fprintf(stream, "array Colour[%d] = [", MAP_LEVELS_MAX);
	for (unsigned k = 0; k < data->level_count; k++)
		fprintf(stream, "%s0x%s", k ? ", " : "", colours[data->levels[k].slot] + 1);
	fprintf(stream,
	        "]\n"
	        "# A record is variability, confidence, level; level + %d is the white edge below a marker (below "
	        "crosses, a disc). Those that later ones hide are left out.\n"
	        "level(k) = int(k) %% %d + 1\n"
	        "shape(k) = k < %d ? Shape[level(k)] : EdgeShape[level(k)]\n"
	        "size(k) = k < %d ? Size[level(k)] : EdgeSize[level(k)]\n"
	        "colour(k) = k < %d ? Colour[level(k)] : 0xffffff\n",
	        MAP_HALO, MAP_HALO, MAP_HALO, MAP_HALO, MAP_HALO);
}

static void
write_points(FILE *stream, const struct map_script *script)
{
	const struct map_data *data = script->data;

	write_markers(stream, script);
	fprintf(stream,
	        "set key at screen %.5f,%.5f left top Left reverse samplen 0.6 spacing 1.3 width 0 noenhanced "
	        "textcolor rgb '" INK "' title 'correctness' left\n",
	        LEGEND_LEFT / width_of(script), (MAP_TOP + 2) / MAP_HEIGHT);
	fprintf(stream,
	        "plot '%s' binary record=%zu format='%%float32%%float32%%float32' endian=little "
	        "using 1:2:(size($3)):(shape($3)):(colour($3)) with points pointsize variable pointtype variable "
	        "linecolor rgb variable linewidth %.2g notitle",
	        script->data_file, data->point_count, map_marker_line(data->shown));
	for (unsigned k = data->level_count; k-- > 0;) {
		struct map_marker marker = map_marker_of_legend(script->format, data->levels[k].slot);

		fprintf(stream,
		        ", \\\n\tkeyentry with points pointsize %.2f pointtype %d linecolor rgb '%s' linewidth 1.4 "
		        "title '%s'",
		        marker.size, marker.shape, colours[data->levels[k].slot], data->levels[k].name);
	}
	fputs("\n", stream);
}

static void
write_cells(FILE *stream, const struct map_script *script)
{
	const struct map_data *data = script->data;
	double margin = 0.024 * data->variability_max, width = width_of(script);
	double dx = (data->variability_max + 2 * margin) / data->cells_x;
	double dy = (MAP_CONFIDENCE_MAX - MAP_CONFIDENCE_MIN) / data->cells_y;

	fprintf(stream,
	        "set palette defined (0 '#efcb7c', 0.3 '#93c795', 0.6 '#358f9c', 1 '#1d2a5f')\n"
	        "set logscale cb\n"
	        "set cbrange [1:%llu]\n"
	        "set colorbox user origin screen %.5f,%.5f size screen %.5f,%.5f noborder\n"
	        "set cbtics format '%%.0f' textcolor rgb '" INK "' offset -0.6,0\n"
	        "set label 103 'examples' at screen %.5f,%.5f left front textcolor rgb '" INK "'\n",
	        (unsigned long long)(data->most_per_cell > 10 ? data->most_per_cell : 10), (LEGEND_LEFT + 4) / width,
	        (MAP_TOP - 230) / MAP_HEIGHT, 16 / width, 200 / MAP_HEIGHT, LEGEND_LEFT / width,
	        (MAP_TOP - 10) / MAP_HEIGHT);
	fprintf(stream,
	        "plot '%s' binary array=(%u,%u) format='%%float32' endian=little dx=%.8g dy=%.8g origin=(%.8g,%.8g) "
	        "with image %snotitle\nunset colorbox\nunset label 103\n",
	        script->data_file, data->cells_x, data->cells_y, dx, dy, -margin + dx / 2, MAP_CONFIDENCE_MIN + dy / 2,
	        script->format == PICTURE_SVG ? "pixels " : "");
}

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
write_count_axis(FILE *stream, uint64_t highest)
{
	double most = highest > 0 ? (double)highest : 1, rough = most / 4.5, unit = pow(10, floor(log10(rough)));
	double step = rough <= unit ? unit : rough <= 2 * unit ? 2 * unit : rough <= 5 * unit ? 5 * unit : 10 * unit;

	step = step > 1 ? step : 1;
	fprintf(stream, "set yrange [0:%g]\nset ytics (", most * 1.06);
	for (double at = 0; at <= most * 1.06; at += step) {
		fputs(at > 0 ? ", " : "", stream);
		write_count(stream, at, step);
	}
	fputs(") font '" FONT ",9' offset 0.7,0\n", stream);
}

static uint64_t
highest_of(const uint64_t *bins, size_t count)
{
	uint64_t highest = 0;

	for (size_t b = 0; b < count; b++)
		highest = bins[b] > highest ? bins[b] : highest;
	return highest;
}

/* The frame of panel 0, 1 or 2, from above. */
static void
write_panel_frame(FILE *stream, const struct map_script *script, unsigned panel, const char *name)
{
	double height = (MAP_TOP - MAP_BOTTOM - 2 * 62) / 3, top = MAP_TOP - panel * (height + 62);

	write_margins(stream, script, PANEL_LEFT, PANEL_RIGHT, top - height, top);
	fprintf(stream,
	        "set xlabel '%s' textcolor rgb '" INK "' offset 0,0.5\nunset ylabel\nset boxwidth 0.9 relative\n"
	        "set style fill solid noborder\n",
	        name);
}

static void
write_histogram(FILE *stream, const struct map_script *script, unsigned panel, const char *name, const char *colour,
                const uint64_t bins[MAP_BINS], double end)
{
	write_panel_frame(stream, script, panel, name);
	write_count_axis(stream, highest_of(bins, MAP_BINS));
	fprintf(stream,
	        "set xrange [0:%g]\nset xtics autofreq %g format '%%g' font '" FONT ",9' offset 0,0.3\n$%s << EOD\n",
	        end,
	        end > 0.5    ? 0.5
	        : end > 0.25 ? 0.25
	                     : end / 2,
	        name);
	for (unsigned b = 0; b < MAP_BINS; b++)
		fprintf(stream, "%g %llu\n", (b + 0.5) * end / MAP_BINS, (unsigned long long)bins[b]);
	fprintf(stream, "EOD\nplot $%s using 1:2 with boxes linecolor rgb '%s'\n", name, colour);
}

static void
write_correctness(FILE *stream, const struct map_script *script)
{
	const struct map_data *data = script->data;
	uint64_t bins[MAP_LEVELS_MAX] = {0};
	double end = data->level_count - 1;

	for (unsigned k = 0; k < data->level_count; k++)
		bins[k] = data->levels[k].examples;
	write_panel_frame(stream, script, 2, "correctness");
	write_count_axis(stream, highest_of(bins, MAP_LEVELS_MAX));
	fprintf(stream, "set xrange [-0.6:%g]\nset xtics ('0' 0, ", end + 0.6);
	if (end > 1)
		fprintf(stream, "'0.5' %g, ", end / 2);
	fprintf(stream, "'1' %g) font '" FONT ",9' offset 0,0.3\n$correctness << EOD\n", end);
	for (unsigned k = 0; k < data->level_count; k++)
		fprintf(stream, "%u %llu\n", k, (unsigned long long)bins[k]);
	fputs("EOD\nplot $correctness using 1:2 with boxes linecolor rgb '#93b48f'\n", stream);
}

static void
write_panels(FILE *stream, const struct map_script *script)
{
	fputs("unset label\nunset object\nunset key\n", stream);
	fprintf(stream,
	        "set label 104 'examples' at screen %.5f,%.5f left front font '" FONT ",9' textcolor rgb '" PALE "'\n",
	        PANEL_LEFT / width_of(script), (MAP_TOP + 10) / MAP_HEIGHT);
	write_histogram(stream, script, 0, "confidence", "#5d3a8e", script->data->confidence_bins, 1);
	fputs("unset label\n", stream);
	write_histogram(stream, script, 1, "variability", "#3f8785", script->data->variability_bins,
	                script->data->variability_max);
	write_correctness(stream, script);
}

void
map_script_write(FILE *stream, const struct map_script *script)
{
	write_terminal(stream, script);
	plot_script_style(stream);
	write_titles(stream, script);
	write_region_labels(stream, script);
	write_scatter_axes(stream, script);
	if (script->density)
		write_cells(stream, script);
	else
		write_points(stream, script);
	if (!script->compact)
		write_panels(stream, script);
	fputs("unset multiplot\nunset output\n", stream);
}

/*
 * map_script.c: the gnuplot script of a map, as text: titles, labels, the scatter or the cells, and the key.
 *
 * gnuplot has no safe mode, so no user text gets where it could mean something: titles stand in single quotes, doubled,
 * without control characters, and "noenhanced"; file names are made of harmless characters by the caller.
 * Every position is given on the whole picture, so nothing moves with the length of a number. The script draws the same
 * picture when it is run by hand beside its data; `picture` may be set before to draw it elsewhere.
 *
 * Colours: those of correctness go from blue over dark to red, and have shapes of their own; those of values go from
 * light to dark; those of differences from blue over white to orange (Okabe and Ito's two). All three can be told apart
 * by readers who do not see red, green or blue as others do.
 */
#include "map.h"

#include <math.h>
#include <string.h>

#define FONT PLOT_FONT
#define INK PLOT_INK
#define PALE PLOT_PALE
#define GREY "#b4b8c1" /* has no value */
#define PLAIN "#cdd0d6"

/* In units, of the fonts of 16, 11 and 10 points. */
#define TITLE_EM 21.3
#define LABEL_EM 14.7
#define CAPTION_EM 13.3

#define LEGEND_LEFT 690.0
#define RAMP 64 /* colours of values */

#define SHIFT_PALETTE                                                                                                  \
	"defined (-1 '#00466e', -0.5 '#0072b2', -0.12 '#9cc9e6', 0 '#f7f7f7', 0.12 '#f4b88e', 0.5 '#d55e00', 1 "       \
	"'#7a3600')"

/* From never correct to always: blue, dark, red, told apart by lightness too, and by shape. */
static const char *const colours[MAP_LEVELS_MAX] = {"#5f7fe8", "#3f55b5", "#2f3a70", "#26262c",
                                                    "#5e2f2b", "#963c31", "#d0452f"};
static const char *const region_colours[REGION_COUNT] = {"#d0452f", "#26262c", "#3f55b5"};

static bool
is_beside(const struct map_script *script)
{
	return script->frame_count == 2 && !script->animated && script->style != MAP_SHIFT;
}

double
map_script_width(const struct map_script *script)
{
	if (is_beside(script))
		return MAP_COMPACT_WIDTH + MAP_BESIDE;
	return script->compact ? MAP_COMPACT_WIDTH : MAP_WIDTH;
}

void
map_write_margins(FILE *stream, const struct map_script *script, double left, double right, double bottom, double top)
{
	double width = map_script_width(script);

	fprintf(stream, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", left / width, right / width);
	fprintf(stream, "set bmargin at screen %.5f\nset tmargin at screen %.5f\n", bottom / MAP_HEIGHT,
	        top / MAP_HEIGHT);
}

/* By how much the frame is moved to the right. */
static double
moved(const struct map_script *script, size_t frame)
{
	return is_beside(script) ? MAP_BESIDE * (double)frame : 0;
}

uint32_t
map_palette(double part)
{
	static const struct {
		double at, red, green, blue;
	} stops[] = {{0, 0xef, 0xcb, 0x7c}, {0.3, 0x93, 0xc7, 0x95}, {0.6, 0x35, 0x8f, 0x9c}, {1, 0x1d, 0x2a, 0x5f}};
	size_t s = 0;
	double way;

	while (s < 2 && part > stops[s + 1].at)
		s++;
	way = (part - stops[s].at) / (stops[s + 1].at - stops[s].at);
	return (uint32_t)lround(stops[s].red + way * (stops[s + 1].red - stops[s].red)) << 16 |
	       (uint32_t)lround(stops[s].green + way * (stops[s + 1].green - stops[s].green)) << 8 |
	       (uint32_t)lround(stops[s].blue + way * (stops[s + 1].blue - stops[s].blue));
}

static void
write_title(FILE *stream, const struct map_script *script)
{
	double width = map_script_width(script);

	fputs("set label 101 ", stream);
	plot_quote(stream, script->title, (width - MAP_LEFT - 40) / TITLE_EM, script->can_draw);
	fprintf(stream, " at screen %.5f,%.5f left noenhanced front font '" FONT ",16' textcolor rgb '" INK "'\n",
	        MAP_LEFT / width, (MAP_HEIGHT - 34) / MAP_HEIGHT);
}

static void
write_caption(FILE *stream, const struct map_script *script, size_t frame)
{
	double width = map_script_width(script), room = is_beside(script) ? MAP_BESIDE - 40 : width - MAP_LEFT;

	fputs("set label 102 ", stream);
	plot_quote(stream, script->frames[frame].caption, room / CAPTION_EM, script->can_draw);
	fprintf(stream, " at screen %.5f,%.5f left noenhanced front font '" FONT ",10' textcolor rgb '" PALE "'\n",
	        (MAP_LEFT + moved(script, frame)) / width, (MAP_HEIGHT - 60) / MAP_HEIGHT);
}

static void
write_region_labels(FILE *stream, const struct map_script *script, size_t frame)
{
	double width = map_script_width(script), right = moved(script, frame);

	for (unsigned r = 0; r < REGION_COUNT; r++) {
		const struct map_label *label = &script->frames[frame].data->labels[r];
		double corners[MAP_BOX_CORNERS][2];
		size_t count;

		if (!label->shown)
			continue;
		count = map_label_box((enum region)r, label, corners);
		fprintf(stream, "set object %u polygon", r + 1);
		for (size_t c = 0; c <= count; c++)
			fprintf(stream, " %s screen %.5f,%.5f", c == 0 ? "from" : "to",
			        (corners[c % count][0] + right) / width, corners[c % count][1] / MAP_HEIGHT);
		fprintf(stream,
		        " front fillcolor rgb '#ffffff' fillstyle solid border linecolor rgb '%s' linewidth 1.6\n",
		        region_colours[r]);
		fprintf(stream,
		        "set label %u '%s' at screen %.5f,%.5f center rotate by %g front font '" FONT
		        ",10' textcolor rgb '#16181d'\n",
		        r + 1, region_names[r], (label->x + right) / width, label->y / MAP_HEIGHT, MAP_LABEL_ANGLE);
	}
}

static void
write_tics(FILE *stream, char axis, const struct map_axis *of, double step)
{
	int decimals = map_axis_decimals(of, step);

	fprintf(stream, "set %s%stics %.10g format '", axis == 'c' ? "c" : "",
	        axis == 'c'   ? "b"
	        : axis == 'x' ? "x"
	                      : "y",
	        step);
	if (decimals < 0)
		fputs("%g'", stream);
	else
		fprintf(stream, "%%.%df'", decimals);
}

static void
write_axes(FILE *stream, const struct map_script *script, size_t frame)
{
	const struct map_axes *axes = &script->frames[frame].data->axes;
	double right = moved(script, frame);

	map_write_margins(stream, script, MAP_LEFT + right, MAP_RIGHT + right, MAP_BOTTOM, MAP_TOP);
	fprintf(stream, "set xrange [%.10g:%.10g]\nset yrange [%.10g:%.10g]\n", axes->x.from, axes->x.to, axes->y.from,
	        axes->y.to);
	write_tics(stream, 'x', &axes->x, axes->x.step);
	fputs("\n", stream);
	write_tics(stream, 'y', &axes->y, axes->y.step);
	fputs(right > 0 ? "\nset format y ''\nset xlabel " : "\nset xlabel ", stream);
	plot_quote(stream, axes->x.name, (MAP_RIGHT - MAP_LEFT) / LABEL_EM, script->can_draw);
	fputs(" noenhanced textcolor rgb '" INK "' offset 0,0.2\n", stream);
	if (right > 0) {
		fputs("unset ylabel\n", stream);
		return;
	}
	fputs("set ylabel ", stream);
	plot_quote(stream, axes->y.name, (MAP_TOP - MAP_BOTTOM) / LABEL_EM, script->can_draw);
	fputs(" noenhanced textcolor rgb '" INK "' offset 0.6,0\n", stream);
}

/* "array Size[7] = [", then a number for each level. */
static void
write_array(FILE *stream, const char *name, const double *values, unsigned count)
{
	fprintf(stream, "array %s[%u] = [", name, count);
	for (unsigned k = 0; k < count; k++)
		fprintf(stream, "%s%.4g", k ? ", " : "", values[k]);
	fputs("]\n", stream);
}

static void
write_colours(FILE *stream, const struct map_data *data)
{
	switch (data->colouring) {
	case MAP_BY_CORRECTNESS:
		fprintf(stream, "array Colour[%u] = [", data->level_count);
		for (unsigned k = 0; k < data->level_count; k++)
			fprintf(stream, "%s0x%s", k ? ", " : "", colours[data->levels[k].slot] + 1);
		fputs("]\n"
		      "# A record is x, y, level, edge: 1, the white edge below a marker (below crosses, a disc). "
		      "Those "
		      "that later ones hide are left out.\n"
		      "level(v) = int(v) + 1\n"
		      "fill(v) = Colour[level(v)]\n",
		      stream);
		break;
	case MAP_BY_VALUE:
		fprintf(stream, "array Ramp[%d] = [", RAMP);
		for (unsigned k = 0; k < RAMP; k++)
			fprintf(stream, "%s0x%06x", k ? ", " : "", map_palette(k / (RAMP - 1.0)));
		fprintf(stream,
		        "]\n"
		        "# A record is x, y, value (NaN: none), edge: 1, the white edge below a marker. Those that "
		        "later "
		        "ones hide are left out.\n"
		        "level(v) = 1\n"
		        "part(v) = (v - (%.10g)) / %.10g\n"
		        "fill(v) = !(v == v) ? 0x%s : part(v) >= 1 ? Ramp[%d] : part(v) > 0 ? Ramp[1 + int(part(v) * "
		        "%d)] : "
		        "Ramp[1]\n",
		        data->axes.colour.low, data->axes.colour.high - data->axes.colour.low, GREY + 1, RAMP, RAMP);
		break;
	case MAP_PLAIN:
		fprintf(stream,
		        "# A record is x, y, 0, edge: 1, the white edge below a marker. Those that later ones hide are "
		        "left out.\n"
		        "level(v) = 1\nfill(v) = 0x%s\n",
		        PLAIN + 1);
		break;
	}
}

static void
write_markers(FILE *stream, const struct map_script *script, const struct map_data *data)
{
	double columns[4][MAP_LEVELS_MAX];
	unsigned count = data->colouring == MAP_BY_CORRECTNESS ? data->level_count : 1;

	for (unsigned k = 0; k < count; k++) {
		unsigned slot = data->colouring == MAP_BY_CORRECTNESS ? data->levels[k].slot : 0;
		struct map_marker marker = map_marker(script->format, slot, data->shown);

		columns[0][k] = marker.shape;
		columns[1][k] = marker.size;
		columns[2][k] = marker.edge_shape;
		columns[3][k] = marker.edge_size;
	}
	write_array(stream, "Shape", columns[0], count);
	write_array(stream, "Size", columns[1], count);
	write_array(stream, "EdgeShape", columns[2], count);
	write_array(stream, "EdgeSize", columns[3], count);
	write_colours(stream, data);
	fputs("shape(v, edge) = edge > 0 ? EdgeShape[level(v)] : Shape[level(v)]\n"
	      "size(v, edge) = edge > 0 ? EdgeSize[level(v)] : Size[level(v)]\n"
	      "colour(v, edge) = edge > 0 ? 0xffffff : fill(v)\n",
	      stream);
	if (data->axes.x.grid > 0 || data->axes.y.grid > 0)
		fputs("# Points on a grid are spread around it, so that they do not hide one another.\n", stream);
}

static bool
is_last(const struct map_script *script, size_t frame)
{
	return frame + 1 == script->frame_count || !is_beside(script);
}

/* The bar of colours right of the map, with its numbers; `note` is written along it. */
static void
write_colour_bar(FILE *stream, const struct map_script *script, size_t frame, const struct map_axis *axis)
{
	double width = map_script_width(script);

	fprintf(stream, "set cbrange [%.10g:%.10g]\n", axis->low, axis->high);
	if (!is_last(script, frame)) {
		fputs("unset colorbox\n", stream);
		return;
	}
	fprintf(stream, "set colorbox user origin screen %.5f,%.5f size screen %.5f,%.5f noborder\n",
	        (LEGEND_LEFT + moved(script, frame) + 4) / width, (MAP_TOP - 300) / MAP_HEIGHT, 16 / width,
	        300 / MAP_HEIGHT);
	write_tics(stream, 'c', axis, axis->step);
	fputs(" textcolor rgb '" INK "' offset -0.6,0\nset cblabel ", stream);
	plot_quote(stream, script->colour_note, 300 / CAPTION_EM, script->can_draw);
	fputs(" noenhanced font '" FONT ",10' textcolor rgb '" INK "' offset 0.4,0\n", stream);
}

static void
write_key(FILE *stream, const struct map_script *script, size_t frame)
{
	const struct map_data *data = script->frames[frame].data;

	for (unsigned k = data->level_count; k-- > 0;) {
		struct map_marker marker = map_marker_of_legend(script->format, data->levels[k].slot);

		fprintf(stream,
		        ", \\\n\tkeyentry with points pointsize %.2f pointtype %d linecolor rgb '%s' linewidth 1.4 "
		        "title '%s'",
		        marker.size, marker.shape, colours[data->levels[k].slot], data->levels[k].name);
	}
}

static void
write_points(FILE *stream, const struct map_script *script, size_t frame)
{
	const struct map_data *data = script->frames[frame].data;
	bool by_value = data->colouring == MAP_BY_VALUE, keyed = data->colouring == MAP_BY_CORRECTNESS;

	write_markers(stream, script, data);
	if (by_value) {
		fputs("set palette " MAP_PALETTE "\n", stream);
		write_colour_bar(stream, script, frame, &data->axes.colour);
	}
	if (keyed && is_last(script, frame))
		fprintf(stream,
		        "set key at screen %.5f,%.5f left top Left reverse samplen 0.6 spacing 1.3 width 0 noenhanced "
		        "textcolor rgb '" INK "' title 'correctness' left\n",
		        (LEGEND_LEFT + moved(script, frame)) / map_script_width(script), (MAP_TOP + 2) / MAP_HEIGHT);
	map_define_paths(stream, script);
	fprintf(stream, "plot '%s' binary ", script->data_file);
	if (script->frames[frame].offset > 0)
		fprintf(stream, "skip=%llu ", (unsigned long long)script->frames[frame].offset);
	fprintf(stream,
	        "record=%zu format='%%float32%%float32%%float32%%float32' endian=little "
	        "using 1:2:(size($3, $4)):(shape($3, $4)):(colour($3, $4)) with points pointsize variable pointtype "
	        "variable linecolor rgb variable linewidth %.2g notitle",
	        data->point_count, map_marker_line(data->shown));
	if (by_value) /* makes gnuplot draw the bar */
		fprintf(stream, ", \\\n\tNaN with points palette notitle");
	if (keyed && is_last(script, frame))
		write_key(stream, script, frame);
	map_write_paths(stream, script);
	fputs(by_value ? "\nunset colorbox\n" : "\n", stream);
}

static void
write_count_colours(FILE *stream, const struct map_script *script, size_t frame)
{
	double most = 10, width = map_script_width(script), right = moved(script, frame);

	for (size_t f = 0; f < script->frame_count; f++)
		most = fmax(most, script->frames[f].data->most_per_cell);
	fprintf(stream, "set palette " MAP_PALETTE "\nset logscale cb\nset cbrange [1:%.0f]\n", most);
	if (!is_last(script, frame)) {
		fputs("unset colorbox\n", stream);
		return;
	}
	fprintf(stream,
	        "set colorbox user origin screen %.5f,%.5f size screen %.5f,%.5f noborder\n"
	        "set cbtics format '%%.0f' textcolor rgb '" INK "' offset -0.6,0\n"
	        "set label 103 'examples' at screen %.5f,%.5f left front textcolor rgb '" INK "'\n",
	        (LEGEND_LEFT + right + 4) / width, (MAP_TOP - 230) / MAP_HEIGHT, 16 / width, 200 / MAP_HEIGHT,
	        (LEGEND_LEFT + right) / width, (MAP_TOP - 10) / MAP_HEIGHT);
}

static void
write_mean_colours(FILE *stream, const struct map_script *script, size_t frame)
{
	struct map_column column = {.name = ""};
	struct map_range range = MAP_RANGE_EMPTY;
	struct map_axis axis;

	for (size_t f = 0; f < script->frame_count; f++) {
		range.least = fmin(range.least, script->frames[f].data->least_mean);
		range.most = fmax(range.most, script->frames[f].data->most_mean);
	}
	map_axis_make(&axis, &column, range, 0);
	fputs("set palette " MAP_PALETTE "\n", stream);
	write_colour_bar(stream, script, frame, &axis);
}

static void
write_shift_colours(FILE *stream, const struct map_script *script)
{
	struct map_column column = {.name = ""};
	struct map_range range = {-script->shift, script->shift};
	struct map_axis axis;

	map_axis_make(&axis, &column, range, 0);
	fputs("set palette " SHIFT_PALETTE "\n", stream);
	write_colour_bar(stream, script, 0, &axis);
}

static void
write_cells(FILE *stream, const struct map_script *script, size_t frame)
{
	const struct map_axes *axes = &script->frames[frame].data->axes;
	double dx = (axes->x.to - axes->x.from) / axes->cells_x, dy = (axes->y.to - axes->y.from) / axes->cells_y;

	if (script->style == MAP_COUNTS)
		write_count_colours(stream, script, frame);
	else if (script->style == MAP_MEANS)
		write_mean_colours(stream, script, frame);
	else
		write_shift_colours(stream, script);
	fprintf(stream, "plot '%s' binary ", script->data_file);
	if (script->frames[frame].offset > 0)
		fprintf(stream, "skip=%llu ", (unsigned long long)script->frames[frame].offset);
	fprintf(stream,
	        "array=(%u,%u) format='%%float32' endian=little dx=%.8g dy=%.8g origin=(%.8g,%.8g) with image "
	        "%snotitle\nunset colorbox\nunset label 103\nunset logscale cb\n",
	        axes->cells_x, axes->cells_y, dx, dy, axes->x.from + dx / 2, axes->y.from + dy / 2,
	        script->format == PICTURE_SVG || script->format == PICTURE_GIF ? "pixels " : "");
}

static void
write_frame(FILE *stream, const struct map_script *script, size_t frame)
{
	if (frame == 0 || script->animated)
		write_title(stream, script);
	write_caption(stream, script, frame);
	write_region_labels(stream, script, frame);
	write_axes(stream, script, frame);
	if (script->style == MAP_SCATTER)
		write_points(stream, script, frame);
	else
		write_cells(stream, script, frame);
	fputs("unset label\nunset object\nunset key\n", stream);
}

void
map_script_write(FILE *stream, const struct map_script *script)
{
	bool is_shift = script->style == MAP_SHIFT;

	plot_script_begin(stream, "A data map", script->format, script->picture, map_script_width(script), MAP_HEIGHT);
	plot_script_style(stream);
	for (size_t f = 0; f < (is_shift ? 1 : script->frame_count); f++) {
		if (f == 0 || script->animated)
			fputs("set multiplot\n", stream);
		write_frame(stream, script, f);
		if (!script->compact && !is_beside(script))
			map_write_panels(stream, script, script->frames[f].data,
			                 is_shift ? script->frames[1].data : NULL);
		if (script->animated)
			fputs("unset multiplot\n", stream);
	}
	fputs(script->animated ? "unset output\n" : "unset multiplot\nunset output\n", stream);
}

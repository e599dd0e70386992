/*
 * chart.c: see chart.h.
 *
 * The data are text, one block of lines "x y" for each series, two empty lines between blocks (gnuplot's `index`), so
 * that they can be read, and drawn by other means.
 */
#include "chart.h"

#include "chart_notes.h"

#include "gnuplot.h"
#include "picture.h"

#include "program/number.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

#define WIDTH 760.0
#define HEIGHT 480.0
#define PANEL_TOP 96.0 /* from above */
#define PANEL_BOTTOM 62.0
#define PANEL_LEFT 78.0
#define PANEL_RIGHT 22.0

/* In units, of the fonts of 16, 10 and 11 points. */
#define TITLE_EM 21.3
#define CAPTION_EM 13.3
#define LABEL_EM 14.7

/* Okabe and Ito's, and the maps' ink. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#33363d", "#a9adb5"};

#define FEW 100 /* so many dots may be larger */

static double
width_of(const struct chart *chart)
{
	return chart->panel_count > 1 ? 1.5 * WIDTH : WIDTH;
}

static void
write_series_data(FILE *stream, const struct chart_panel *panel, const struct chart_series *series)
{
	char x[NUMBER_ROOM], y[NUMBER_ROOM];

	fprintf(stream, "# %s%s", panel->title ? panel->title : "", panel->title ? ": " : "");
	for (const char *at = series->name; *at; at++) /* a line end would make data of a name */
		fputc((unsigned char)*at < ' ' ? '?' : *at, stream);
	fputc('\n', stream);
	for (size_t i = 0; i < series->n; i++) {
		if (!isfinite(series->x[i]) || !isfinite(series->y[i]))
			continue;
		number_print(series->x[i], x);
		number_print(series->y[i], y);
		fprintf(stream, "%s %s\n", x, y);
	}
	fputs("\n\n", stream);
}

static void
write_data(FILE *stream, const struct chart *chart)
{
	for (size_t p = 0; p < chart->panel_count; p++)
		for (size_t s = 0; s < chart->panels[p].series_count; s++)
			write_series_data(stream, &chart->panels[p], &chart->panels[p].series[s]);
}

static void
write_label(FILE *stream, int tag, const char *text, double x, double y, double most, const char *look)
{
	fprintf(stream, "set label %d ", tag);
	plot_quote(stream, text, most, gnuplot_has_glyph);
	fprintf(stream, " at screen %.5f,%.5f left noenhanced front %s\n", x, y, look);
}

static void
write_range(FILE *stream, char axis, double from, double to)
{
	if (from < to)
		fprintf(stream, "set %crange [%.10g:%.10g]\n", axis, from, to);
	else
		fprintf(stream, "set %crange [*:*]\n", axis);
}

static void
write_series(FILE *stream, const char *data_file, const struct chart_series *series, size_t block, bool last)
{
	const char *colour = colours[series->colour % (sizeof(colours) / sizeof(colours[0]))];

	fprintf(stream, "  '%s' index %zu using 1:2 ", data_file, block);
	switch (series->style) {
	case CHART_LINE:
		fprintf(stream, "with lines linewidth 2 linecolor rgb '%s'", colour);
		break;
	case CHART_POINTS:
		fprintf(stream, "with linespoints linewidth 2 pointtype 7 pointsize 0.6 linecolor rgb '%s'", colour);
		break;
	case CHART_BARS:
		fprintf(stream, "with boxes linecolor rgb '%s' fillstyle transparent solid 0.35 border", colour);
		break;
	case CHART_DOTS:
		fprintf(stream, "with points pointtype 7 pointsize %s linecolor rgb '%s'",
		        series->n > FEW ? "0.35" : "0.8", colour);
		break;
	}
	fputs(" title ", stream);
	plot_quote(stream, series->name, 20, gnuplot_has_glyph);
	fputs(last ? "\n" : ", \\\n", stream);
}

static void
write_panel(FILE *stream, const struct chart *chart, size_t index, size_t block, const char *data_file)
{
	const struct chart_panel *panel = &chart->panels[index];
	double width = width_of(chart), step = width / (double)chart->panel_count, left = step * (double)index;

	fprintf(stream, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", (left + PANEL_LEFT) / width,
	        (left + step - PANEL_RIGHT) / width);
	fprintf(stream, "set bmargin at screen %.5f\nset tmargin at screen %.5f\n", PANEL_BOTTOM / HEIGHT,
	        1 - PANEL_TOP / HEIGHT);
	if (panel->x_log)
		fputs("set logscale x\n", stream);
	write_range(stream, 'x', panel->x_min, panel->x_max);
	write_range(stream, 'y', panel->y_min, panel->y_max);
	fputs("set xlabel ", stream);
	plot_quote(stream, panel->x_label, 25, gnuplot_has_glyph);
	fputs(" noenhanced textcolor rgb '" PLOT_INK "'\nset ylabel ", stream);
	plot_quote(stream, panel->y_label, 20, gnuplot_has_glyph);
	fputs(" noenhanced textcolor rgb '" PLOT_INK "'\n", stream);
	if (panel->title) {
		fputs("set title ", stream);
		plot_quote(stream, panel->title, (step - PANEL_LEFT - PANEL_RIGHT) / LABEL_EM, gnuplot_has_glyph);
		fputs(" noenhanced offset 0,-0.5 textcolor rgb '" PLOT_INK "'\n", stream);
	}
	chart_notes_write(stream, panel, step - PANEL_LEFT - PANEL_RIGHT, HEIGHT - PANEL_TOP - PANEL_BOTTOM);
	fprintf(stream, "set key %s\nplot \\\n", panel->key_below ? "bottom right" : "top left");
	for (size_t s = 0; s < panel->series_count; s++)
		write_series(stream, data_file, &panel->series[s], block + s, s + 1 == panel->series_count);
	fputs("unset for [i=101:102] label i\n", stream);
	if (panel->note_count)
		fputs("unset label\n", stream);
	if (panel->x_log)
		fputs("unset logscale x\n", stream);
}

static void
write_script(FILE *stream, const struct chart *chart, const struct picture *picture)
{
	double width = width_of(chart);
	size_t block = 0;

	plot_script_begin(stream, "A chart", picture->format, picture->safe_picture, width, HEIGHT);
	fputs("set multiplot\n", stream);
	plot_script_style(stream);
	fputs("set key Left reverse noenhanced textcolor rgb '" PLOT_INK "'\nset boxwidth 1 relative\n", stream);
	write_label(stream, 101, chart->title, PANEL_LEFT / width, 1 - 26 / HEIGHT,
	            (width - PANEL_LEFT - PANEL_RIGHT) / TITLE_EM,
	            "font '" PLOT_FONT ",16' textcolor rgb '" PLOT_INK "'");
	write_label(stream, 102, chart->caption, PANEL_LEFT / width, 1 - 50 / HEIGHT,
	            (width - PANEL_LEFT - PANEL_RIGHT) / CAPTION_EM,
	            "font '" PLOT_FONT ",10' textcolor rgb '" PLOT_PALE "'");
	for (size_t p = 0; p < chart->panel_count; p++) {
		write_panel(stream, chart, p, block, picture->data);
		block += chart->panels[p].series_count;
	}
	fputs("unset multiplot\nunset output\n", stream);
}

/* What one of the writers above writes; the caller's to free(). */
static int
make_text(const struct chart *chart, const struct picture *script_of, char **text, size_t *size,
          struct portolan_error *error)
{
	FILE *stream = open_memstream(text, size);

	if (stream && script_of)
		write_script(stream, chart, script_of);
	else if (stream)
		write_data(stream, chart);
	if (stream && fclose(stream) == 0)
		return 0;
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");
}

int
chart_draw(const struct chart *chart, const struct picture *picture, struct portolan_error *error)
{
	char *data = NULL, *script = NULL;
	size_t data_size, script_size;
	int code = make_text(chart, NULL, &data, &data_size, error);

	if (code >= 0)
		code = make_text(chart, picture, &script, &script_size, error);
	if (code >= 0)
		code = picture_write_data(picture, data, data_size, error);
	if (code >= 0)
		code = picture_write_script(picture, script, script_size, error);
	if (code >= 0)
		code = picture_draw(picture, error);
	free(data);
	free(script);
	return code;
}

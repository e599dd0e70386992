/*
 * chart.c: the variables of a chart's gnuplot script; see chart.h, and chart.gp, which has how it is drawn.
 *
 * The data stand in the script: one block of lines "x y" for each series, two empty lines between blocks (gnuplot's
 * `index`), so that they can be read, and drawn by other means. gnuplot knows no block without a line: a series without
 * a value is left out, with its name in the key.
 *
 * A note goes to the right of its point, or to its left where the frame ends, and a little up or down where that is
 * taken; one that finds no room is left out. Widths of texts are estimates, as this code does not know the font.
 */
#include "chart.h"

#include "frame.h"
#include "picture.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* Of the font of 16 points. */
#define TITLE_EM 21.3

#define KEY_NAME_LONGEST 28 /* ems */

#define FEW 100  /* up to so many dots are drawn larger */
#define DENSE 30 /* with more points, they would hide their line and others */

/* Whole numbers along an axis: over a longer range gnuplot's own steps are whole. */
#define WHOLE_RANGE 50
#define WHOLE_TICS 12 /* at most */

/* Notes are written in 9 points. */
#define LINE 11.0    /* units from line to line */
#define GAP 6.0      /* between point and text */
#define LONGEST 24.0 /* ems */
#define NOTE_EM 12.0
#define TRIES 5 /* at the point's height, and up to a line up and down */

struct box {
	double left, right, middle;
};

static bool
is_taken(const struct box *boxes, size_t count, const struct box *box)
{
	for (size_t i = 0; i < count; i++)
		if (boxes[i].left < box->right && box->left < boxes[i].right &&
		    fabs(boxes[i].middle - box->middle) < LINE)
			return true;
	return false;
}

static double
place(double value, double low, double high, bool logarithmic)
{
	return logarithmic ? log(value / low) / log(high / low) : (value - low) / (high - low);
}

static double
width_of(const char *text)
{
	return fmin(plot_width(text), LONGEST) * NOTE_EM;
}

/* The box where the note of the point (x, y), in units from the frame's lower left corner, fits; false: nowhere. */
static bool
find_room(const struct box *boxes, size_t count, double x, double y, double text, double width, double height,
          struct box *box)
{
	bool left = x + GAP + text > width;

	for (int try = 0; try < TRIES; try++) {
		const int halves = (try + 1) / 2;
		double shift = LINE / 2 * halves * (try % 2 ? 1 : -1);

		*box = (struct box){left ? x - GAP - text : x + GAP, left ? x - GAP : x + GAP + text, y + shift};
		if (box->left >= 0 && box->middle > LINE / 2 && box->middle < height - LINE / 2 &&
		    !is_taken(boxes, count, box))
			return true;
	}
	return false;
}

/* Returns the number of notes in this panel and in those before. */
static size_t
set_notes(FILE *stream, const struct chart *chart, size_t p, size_t notes)
{
	const struct chart_panel *panel = &chart->panels[p];
	const struct frame frame = frame_of(chart, p);
	double width = frame.right - frame.left, height = frame.top - frame.bottom;
	struct box boxes[CHART_NOTES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < panel->note_count && count < CHART_NOTES_MAX; i++) {
		const struct chart_note *note = &panel->notes[i];
		double x = width * place(note->x, panel->x_min, panel->x_max, panel->x_log);
		double y = height * place(note->y, panel->y_min, panel->y_max, false);
		struct box *box = &boxes[count];
		bool to_left;

		if (!find_room(boxes, count, x, y, width_of(note->text), width, height, box))
			continue;
		to_left = box->right < x;
		notes++;
		count++;
		script_set_text_item(stream, "Note", notes, note->text, LONGEST);
		fprintf(stream, "NoteX[%zu] = %.5f; NoteY[%zu] = %.5f; ", notes,
		        (to_left ? box->right : box->left) / width, notes, box->middle / height);
		script_set_items(stream, "NotePanel NoteToLeft", notes, (double[]){(double)p + 1, to_left});
	}
	return notes;
}

/* Of the horizontal axis, as given, or as the data are. */
static void
find_range(const struct chart_panel *panel, double *least, double *most)
{
	*least = panel->x_min;
	*most = panel->x_max;
	if (panel->x_min < panel->x_max)
		return;
	*least = INFINITY;
	*most = -INFINITY;
	for (size_t s = 0; s < panel->series_count; s++)
		for (size_t i = 0; i < panel->series[s].n; i++) {
			*least = fmin(*least, panel->series[s].x[i]);
			*most = fmax(*most, panel->series[s].x[i]);
		}
}

/* The step of whole numbers along an axis; 0: gnuplot's. */
static double
whole_step(double range)
{
	double step = 1;

	if (range > WHOLE_RANGE)
		return 0;
	while (range / step > WHOLE_TICS)
		step = step == 1 ? 2 : 5;
	return step;
}

/* Returns the number of names in this panel and in those before. */
static size_t
set_names(FILE *stream, const struct chart *chart, size_t p, size_t names)
{
	const struct chart_panel *panel = &chart->panels[p];

	for (size_t i = 0; i < panel->y_name_count; i++) {
		script_set_text_item(stream, "YName", ++names, panel->y_names[i], FRAME_NAME_LONGEST);
		script_set_items(stream, "YNamePanel YNameAt", names, (double[]){(double)p + 1, -(double)i});
	}
	return names;
}

static void
set_panel(FILE *stream, const struct chart *chart, size_t p)
{
	const struct chart_panel *panel = &chart->panels[p];
	const struct frame frame = frame_of(chart, p);
	bool named = panel->y_name_count > 0;
	double least, most;

	find_range(panel, &least, &most);
	script_set_text_item(stream, "Title", p + 1, panel->title ? panel->title : "",
	                     (frame.right - frame.left) / FRAME_LABEL_EM);
	script_set_text_item(stream, "XLabel", p + 1, panel->x_label, 25);
	script_set_text_item(stream, "YLabel", p + 1, panel->y_label, 20);
	script_set_items(stream, "Left Right Bottom Top KeyRows KeyColumns", p + 1,
	                 (double[]){frame.left, frame.right, frame.bottom, frame.top, (double)frame_key_rows(panel),
	                            (double)frame_key_columns(panel)});
	script_set_items(
	        stream, "XFrom XTo YFrom YTo XLog XStep YWhole Series", p + 1,
	        (double[]){panel->x_min, panel->x_max, named ? 0.5 - (double)panel->y_name_count : panel->y_min,
	                   named ? 0.5 : panel->y_max, panel->x_log, panel->x_whole ? whole_step(most - least) : 0,
	                   panel->y_whole, (double)panel->series_count});
	if (panel->x_whole && least == most) /* one number, in the middle */
		script_set_items(stream, "XFrom XTo", p + 1, (double[]){least - 0.5, least + 0.5});
}

static void
set_series(FILE *stream, const struct chart_series *series, size_t item)
{
	static const char *const styles[] = {
	        [CHART_LINE] = "line", [CHART_POINTS] = "points", [CHART_BARS] = "bars",
	        [CHART_DOTS] = "dots", [CHART_PAIRS] = "pairs",   [CHART_ACROSS] = "across"};
	bool is_few = series->style == CHART_DOTS && series->n <= FEW;
	bool is_dense = series->style == CHART_POINTS && series->n > DENSE;

	script_set_text_item(stream, "Name", item, series->name, KEY_NAME_LONGEST);
	fprintf(stream, "Style[%zu] = '%s%s'; ", item, is_few ? "few " : "",
	        is_dense ? "dashes" : styles[series->style]);
	script_set_items(stream, "Colour", item, (double[]){series->colour});
}

static void
write_data(FILE *stream, const struct chart_series *series)
{
	char x[NUMBER_ROOM], y[NUMBER_ROOM];

	for (size_t i = 0; i < series->n; i++) {
		if (!isfinite(series->x[i]) || !isfinite(series->y[i]))
			continue;
		number_print(series->x[i], x);
		number_print(series->y[i], y);
		fprintf(stream, "%s %s\n%s", x, y, series->style == CHART_PAIRS && i % 2 == 1 ? "\n" : "");
	}
	fputs("\n\n", stream);
}

static void
write_header(FILE *stream, const struct chart *chart)
{
	const double left = frame_left(chart), room = FRAME_WIDTH - left - FRAME_PANEL_RIGHT;
	const char *lines[FRAME_CAPTION_LINES + 1];
	size_t count = frame_caption(chart, lines);

	script_set_text(stream, "chart_title", chart->title, room / TITLE_EM);
	script_set(stream, "captions", (double)count);
	script_declare(stream, "Caption", FRAME_CAPTION_LINES);
	for (size_t i = 0; i < count; i++) {
		char text[CHART_CAPTION_ROOM];

		snprintf(text, sizeof(text), "%.*s", (int)(lines[i + 1] - lines[i]) - (i + 1 < count), lines[i]);
		script_set_text_item(stream, "Caption", i + 1, text, room / FRAME_CAPTION_EM);
		fputc('\n', stream);
	}
	script_set(stream, "margin", left);
	script_set(stream, "key_row", FRAME_KEY_ROW);
	script_set(stream, "panels", (double)chart->panel_count);
}

static void
write_script(FILE *stream, const struct chart *chart)
{
	size_t series = 0, notes = 0, names = 0;

	write_header(stream, chart);
	script_declare(stream, "Title XLabel YLabel XFrom XTo YFrom YTo XLog XStep YWhole Series", CHART_PANELS_MAX);
	script_declare(stream, "Left Right Bottom Top KeyRows KeyColumns", CHART_PANELS_MAX);
	script_declare(stream, "Name Style Colour", (size_t)CHART_PANELS_MAX * CHART_SERIES_MAX);
	script_declare(stream, "Note NoteX NoteY NotePanel NoteToLeft", (size_t)CHART_PANELS_MAX * CHART_NOTES_MAX);
	script_declare(stream, "YName YNamePanel YNameAt", CHART_NAMES_MAX);
	for (size_t p = 0; p < chart->panel_count; p++) {
		set_panel(stream, chart, p);
		for (size_t s = 0; s < chart->panels[p].series_count; s++)
			set_series(stream, &chart->panels[p].series[s], ++series);
		notes = set_notes(stream, chart, p, notes);
		names = set_names(stream, chart, p, names);
	}
	fprintf(stream, "notes = %zu; names = %zu\n$data << EOD\n", notes, names);
	for (size_t p = 0; p < chart->panel_count; p++)
		for (size_t s = 0; s < chart->panels[p].series_count; s++)
			write_data(stream, &chart->panels[p].series[s]);
	fprintf(stream, "EOD\n%s", script_chart);
}

static bool
has_values(const struct chart_series *series)
{
	for (size_t i = 0; i < series->n; i++)
		if (isfinite(series->x[i]) && isfinite(series->y[i]))
			return true;
	return false;
}

/* An axis stays as it would be with all series. */
static void
leave_out_empty(struct chart_panel *panel)
{
	size_t kept = 0;
	double least, most;

	find_range(panel, &least, &most);
	panel->has_key = panel->series_count > 1;
	for (size_t s = 0; s < panel->series_count; s++)
		if (has_values(&panel->series[s]))
			panel->series[kept++] = panel->series[s];
	panel->series_count = kept;
	if (kept == 0 && panel->x_whole && least <= most) {
		panel->x_min = least - 0.5;
		panel->x_max = most + 0.5;
	}
}

int
chart_draw(const struct chart *given, const struct picture *picture, struct portolan_error *error)
{
	struct chart chart = *given;
	struct picture_page page = {.width = FRAME_WIDTH, .title = chart.title, .description = chart.caption};
	struct picture_draft draft = PICTURE_CLOSED;
	int code;

	for (size_t p = 0; p < chart.panel_count; p++)
		leave_out_empty(&chart.panels[p]);
	page.height = frame_height(&chart);
	code = picture_begin(&draft, picture, &page, error);
	if (code < 0)
		return code;
	write_script(draft.script, &chart);
	return picture_end(&draft, error);
}

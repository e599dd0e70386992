/*
 * chart.c: lays out a chart of an analysis (`--plot`, chart.h), and writes the variables of its gnuplot script, with
 * which chart.gp draws it.
 *
 * Panels stand one below the other, as they mostly share their horizontal axis. The data stand in the script, so that
 * they can be read, and drawn by other means: one block of lines "x y" for each series, two empty lines between blocks
 * (gnuplot's `index`). gnuplot knows no block without a line: a series without a value is left out, with its name in
 * the key.
 *
 * A note goes to the right of its point, a little up or down where that is taken, or to its left where there is no room;
 * one that finds none is left out. Lengths are in units, pixels of a screen, from the lower left corner of
 * the picture. Widths of texts are estimates, as this code does not know the font.
 */
#include "chart.h"

#include "picture.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* The width of every chart, in units: the narrowest that the texts allow. In a paper's column of 3.3 inches, labels
 * still have about 6 points. */
#define WIDTH 560.0
#define HEADER 34.0         /* the height of the title, from the upper edge */
#define CAPTION_LINE 18.0   /* the height of a line of the caption */
#define TITLE_LINE 24.0     /* the height of a panel's title */
#define KEY_ROW 20.0        /* the height of a row of a panel's key */
#define PANEL_TOP 16.0      /* the gap above the key */
#define PANEL_ALONE 290.0   /* the height of the frame of a panel alone */
#define PANEL_STACKED 220.0 /* the height of the frame of each of several panels */
#define PANEL_ROW 24.0      /* the height of a name, in a panel with names */
#define PANEL_EDGE 12.0
#define PANEL_BOTTOM 62.0
#define PANEL_LEFT 78.0
#define PANEL_RIGHT 30.0 /* half of a six-digit number may reach beyond the frame's end */
#define NUMBER_CHARACTER 8.2
#define BESIDE_LABEL 40.0 /* the width of the axis's label, and of the gaps between label, numbers and frame */

/* The sizes (ems) of texts of 16, 11, 10 and 9 points, in units. */
#define TITLE_EM 21.3
#define LABEL_EM 14.7
#define CAPTION_EM 13.3
#define NOTE_EM 12.0

/* The largest widths of texts, in ems; longer ones are cut. */
#define KEY_NAME_LONGEST 28
#define NOTE_LONGEST 24.0

#define CAPTION_LINES 3 /* the most lines of a caption */
#define KEY_SHORT 17    /* characters: if no name is longer, the key has two in a row */

#define FEW 100  /* a series with at most so many dots has larger dots */
#define DENSE 30 /* a line with more points has dashes instead: so many points would hide it, and other lines */

/* For whole numbers along an axis: over a longer range than this, gnuplot's own steps are whole. */
#define WHOLE_RANGE 50
#define WHOLE_TICS 12 /* the most tics along a shorter range */

#define NOTE_LINE 11.0 /* the height of a line, in units */
#define NOTE_GAP 6.0   /* the gap between point and text */
#define NOTE_TRIES 5   /* how many heights are tried on either side: the point's, and up to a line above and below it */

struct frame {
	double left, right, bottom, top;
	size_t key_columns, key_rows; /* key_rows 0: there is no key */
};

/* Where the parts of the chart stand. */
struct layout {
	double left;   /* the left of the header, and of the panels without names: they are aligned */
	double height; /* the height of the picture */
	struct frame frames[CHART_PANELS_MAX]; /* by panel */
	const char *lines[CAPTION_LINES + 1];  /* where the caption's lines begin; then where it ends */
	size_t line_count;                     /* the last line may be too long: it is cut when it is written */
};

/* The left of a panel's frame. To its left stand the label of the vertical axis, and numbers or names. */
static double
layout_panel_left(const struct chart_panel *panel)
{
	uint64_t most = panel->y_max >= 1000 ? (uint64_t)panel->y_max : 0;
	double widest = NUMBER_CHARACTER * (double)strlen(NUMBER_GROUPED(most));

	for (size_t i = 0; i < panel->y_name_count; i++)
		widest = fmax(widest, fmin(plot_width(panel->y_names[i]), CHART_NAME_LONGEST) * LABEL_EM);
	return fmax(PANEL_LEFT, widest + BESIDE_LABEL);
}

/* The length in bytes of the text's first line: as many words as fit into `room` ems, but at least one. */
static size_t
layout_line_length(const char *text, double room)
{
	size_t length = 0;

	for (size_t end = 0;; end++) {
		char line[CHART_CAPTION_ROOM];

		if (text[end] != ' ' && text[end] != '\0')
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)end, text);
		if (length > 0 && plot_width(line) > room)
			return length;
		length = end;
		if (text[end] == '\0')
			return length;
	}
}

static void
layout_caption(struct layout *layout, const char *caption)
{
	const double room = (WIDTH - layout->left - PANEL_RIGHT) / CAPTION_EM;

	do {
		layout->lines[layout->line_count++] = caption;
		caption += layout->line_count < CAPTION_LINES ? layout_line_length(caption, room) : strlen(caption);
		caption += *caption == ' ';
	} while (*caption);
	layout->lines[layout->line_count] = caption;
}

/* Lays out a panel that begins at `above`, a distance from the upper edge of the picture; returns where the next panel
 * begins. */
static double
layout_panel(struct layout *layout, const struct chart *chart, size_t p, double above)
{
	const struct chart_panel *panel = &chart->panels[p];
	struct frame *frame = &layout->frames[p];

	*frame = (struct frame){
	        .left = panel->y_name_count > 0 ? layout_panel_left(panel) : layout->left,
	        .right = WIDTH - PANEL_RIGHT,
	        .key_columns = 2,
	};
	for (size_t s = 0; s < panel->series_count; s++) {
		size_t characters = 0;

		for (const char *at = panel->series[s].name; *at; at++)
			characters += ((unsigned char)*at & 0xc0) != 0x80;
		if (characters > KEY_SHORT)
			frame->key_columns = 1;
	}
	if (panel->has_key)
		frame->key_rows = (panel->series_count + frame->key_columns - 1) / frame->key_columns;
	frame->top = above + PANEL_TOP + (panel->title ? TITLE_LINE : 0) + KEY_ROW * (double)frame->key_rows;
	frame->bottom = frame->top + (panel->y_name_count > 0  ? PANEL_EDGE + PANEL_ROW * (double)panel->y_name_count
	                              : chart->panel_count > 1 ? PANEL_STACKED
	                                                       : PANEL_ALONE);
	return frame->bottom + PANEL_BOTTOM;
}

static struct layout
layout_make(const struct chart *chart)
{
	struct layout layout = {.left = PANEL_LEFT};

	for (size_t p = 0; p < chart->panel_count; p++)
		if (chart->panels[p].y_name_count == 0)
			layout.left = fmax(layout.left, layout_panel_left(&chart->panels[p]));
	layout_caption(&layout, chart->caption);
	layout.height = HEADER + CAPTION_LINE * (double)layout.line_count;
	for (size_t p = 0; p < chart->panel_count; p++)
		layout.height = layout_panel(&layout, chart, p, layout.height);
	for (size_t p = 0; p < chart->panel_count; p++) {
		layout.frames[p].top = layout.height - layout.frames[p].top;
		layout.frames[p].bottom = layout.height - layout.frames[p].bottom;
	}
	return layout;
}

/* The place of a note's text, in units from the frame's lower left corner. */
struct box {
	double left, right, middle;
};

static bool
box_is_taken(const struct box *boxes, size_t count, const struct box *box)
{
	for (size_t i = 0; i < count; i++)
		if (boxes[i].left < box->right && box->left < boxes[i].right &&
		    fabs(boxes[i].middle - box->middle) < NOTE_LINE)
			return true;
	return false;
}

/* Where a value stands along an axis: 0 at its beginning, 1 at its end. */
static double
chart_place(double value, double low, double high, bool logarithmic)
{
	return logarithmic ? log(value / low) / log(high / low) : (value - low) / (high - low);
}

static double
note_width(const char *text)
{
	return fmin(plot_width(text), NOTE_LONGEST) * NOTE_EM;
}

/* Finds a free box for the note of the point (x, y). All lengths are in units; places are from the frame's lower left
 * corner. `text` is the width of the note, `width` and `height` are those of the frame. False: there is no room. */
static bool
note_find_room(const struct box *boxes, size_t count, double x, double y, double text, double width, double height,
               struct box *box)
{
	for (int try = 0; try < 2 * NOTE_TRIES; try++) {
		const int halves = (try % NOTE_TRIES + 1) / 2;
		double shift = NOTE_LINE / 2 * halves * (try % NOTE_TRIES % 2 ? 1 : -1);
		bool left = try >= NOTE_TRIES;

		*box = (struct box){left ? x - NOTE_GAP - text : x + NOTE_GAP,
		                    left ? x - NOTE_GAP : x + NOTE_GAP + text, y + shift};
		if (box->left >= 0 && box->right <= width && box->middle > NOTE_LINE / 2 &&
		    box->middle < height - NOTE_LINE / 2 && !box_is_taken(boxes, count, box))
			return true;
	}
	return false;
}

/* Sets the notes of a panel; `notes` is how many the panels before have. Returns how many there are now. */
static size_t
chart_set_notes(FILE *stream, const struct chart *chart, const struct frame *frame, size_t p, size_t notes)
{
	const struct chart_panel *panel = &chart->panels[p];
	double width = frame->right - frame->left, height = frame->top - frame->bottom;
	struct box boxes[CHART_NOTES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < panel->note_count && count < CHART_NOTES_MAX; i++) {
		const struct chart_note *note = &panel->notes[i];
		double x = width * chart_place(note->x, panel->x_min, panel->x_max, panel->x_log);
		double y = height * chart_place(note->y, panel->y_min, panel->y_max, panel->y_log);
		struct box *box = &boxes[count];
		bool to_left;

		if (!note_find_room(boxes, count, x, y, note_width(note->text), width, height, box))
			continue;
		to_left = box->right < x;
		notes++;
		count++;
		script_set_text_item(stream, "Note", notes, note->text, NOTE_LONGEST);
		fprintf(stream, "NoteX[%zu] = %.5f; NoteY[%zu] = %.5f; ", notes,
		        (to_left ? box->right : box->left) / width, notes, box->middle / height);
		script_set_items(stream, "NotePanel NoteToLeft", notes, (double[]){(double)p + 1, to_left});
	}
	return notes;
}

/* Finds the range of the horizontal axis: the given one, else that of the data. */
static void
panel_find_range(const struct chart_panel *panel, double *least, double *most)
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

/* The step between whole numbers along an axis; 0: gnuplot chooses it. */
static double
panel_whole_step(double range)
{
	double step = 1;

	if (range > WHOLE_RANGE)
		return 0;
	while (range / step > WHOLE_TICS)
		step = step == 1 ? 2 : 5;
	return step;
}

/* Sets the names of a panel; `names` is how many the panels before have. Returns how many there are now. */
static size_t
chart_set_names(FILE *stream, const struct chart *chart, size_t p, size_t names)
{
	const struct chart_panel *panel = &chart->panels[p];

	for (size_t i = 0; i < panel->y_name_count; i++) {
		script_set_text_item(stream, "YName", ++names, panel->y_names[i], CHART_NAME_LONGEST);
		script_set_items(stream, "YNamePanel YNameAt", names, (double[]){(double)p + 1, -(double)i});
	}
	return names;
}

static void
chart_set_panel(FILE *stream, const struct chart *chart, const struct frame *frame, size_t p)
{
	const struct chart_panel *panel = &chart->panels[p];
	bool named = panel->y_name_count > 0;
	double least, most;

	panel_find_range(panel, &least, &most);
	script_set_text_item(stream, "Title", p + 1, panel->title ? panel->title : "",
	                     (frame->right - frame->left) / LABEL_EM);
	script_set_name_item(stream, "XLabel", p + 1, panel->x_label, 25);
	script_set_name_item(stream, "YLabel", p + 1, panel->y_label, 20);
	script_set_items(stream, "Left Right Bottom Top KeyRows KeyColumns", p + 1,
	                 (double[]){frame->left, frame->right, frame->bottom, frame->top, (double)frame->key_rows,
	                            (double)frame->key_columns});
	script_set_items(stream, "XFrom XTo YFrom YTo XLog YLog XStep YWhole Series", p + 1,
	                 (double[]){panel->x_min, panel->x_max,
	                            named ? 0.5 - (double)panel->y_name_count : panel->y_min,
	                            named ? 0.5 : panel->y_max, panel->x_log, panel->y_log,
	                            panel->x_whole ? panel_whole_step(most - least) : 0, panel->y_whole,
	                            (double)panel->series_count});
	if (panel->x_whole && least == most) /* if all data have the same x, it stands in the middle */
		script_set_items(stream, "XFrom XTo", p + 1, (double[]){least - 0.5, least + 0.5});
}

static void
chart_set_series(FILE *stream, const struct chart_series *series, size_t item)
{
	static const char *const styles[] = {
	        [CHART_LINE] = "line",   [CHART_POINTS] = "points", [CHART_BARS] = "bars", [CHART_DOTS] = "dots",
	        [CHART_PAIRS] = "pairs", [CHART_ACROSS] = "across", [CHART_HAZE] = "haze", [CHART_AREA] = "area"};
	bool is_few = series->style == CHART_DOTS && series->n <= FEW;
	bool is_dense = series->style == CHART_POINTS && series->n > DENSE;

	script_set_text_item(stream, "Name", item, series->name, KEY_NAME_LONGEST);
	fprintf(stream, "Style[%zu] = '%s%s'; ", item, is_few ? "few " : "",
	        is_dense ? "dashes" : styles[series->style]);
	script_set_items(stream, "Colour", item, (double[]){series->colour});
}

static void
chart_write_data(FILE *stream, const struct chart_series *series)
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
chart_write_header(FILE *stream, const struct chart *chart, const struct layout *layout)
{
	const double room = WIDTH - layout->left - PANEL_RIGHT;

	script_set_text(stream, "chart_title", chart->title, room / TITLE_EM);
	script_set(stream, "captions", (double)layout->line_count);
	script_declare(stream, "Caption", CAPTION_LINES);
	for (size_t i = 0; i < layout->line_count; i++) {
		char text[CHART_CAPTION_ROOM];
		bool is_last = i + 1 == layout->line_count; /* another line ends with a space: left out */

		snprintf(text, sizeof(text), "%.*s", (int)(layout->lines[i + 1] - layout->lines[i]) - !is_last,
		         layout->lines[i]);
		script_set_text_item(stream, "Caption", i + 1, text, room / CAPTION_EM);
		fputc('\n', stream);
	}
	script_set_all(stream, "margin key_row panels", (double[]){layout->left, KEY_ROW, (double)chart->panel_count});
}

static void
chart_write_script(FILE *stream, const struct chart *chart, const struct layout *layout)
{
	size_t series = 0, notes = 0, names = 0;

	chart_write_header(stream, chart, layout);
	script_declare(stream, "Title XLabel YLabel XFrom XTo YFrom YTo XLog YLog XStep YWhole Series",
	               CHART_PANELS_MAX);
	script_declare(stream, "Left Right Bottom Top KeyRows KeyColumns", CHART_PANELS_MAX);
	script_declare(stream, "Name Style Colour", (size_t)CHART_PANELS_MAX * CHART_SERIES_MAX);
	script_declare(stream, "Note NoteX NoteY NotePanel NoteToLeft", (size_t)CHART_PANELS_MAX * CHART_NOTES_MAX);
	script_declare(stream, "YName YNamePanel YNameAt", CHART_NAMES_MAX);
	for (size_t p = 0; p < chart->panel_count; p++) {
		chart_set_panel(stream, chart, &layout->frames[p], p);
		for (size_t s = 0; s < chart->panels[p].series_count; s++)
			chart_set_series(stream, &chart->panels[p].series[s], ++series);
		notes = chart_set_notes(stream, chart, &layout->frames[p], p, notes);
		names = chart_set_names(stream, chart, p, names);
	}
	fprintf(stream, "notes = %zu; names = %zu\n$data << EOD\n", notes, names);
	for (size_t p = 0; p < chart->panel_count; p++)
		for (size_t s = 0; s < chart->panels[p].series_count; s++)
			chart_write_data(stream, &chart->panels[p].series[s]);
	fprintf(stream, "EOD\n%s", script_chart);
}

static bool
series_has_values(const struct chart_series *series)
{
	for (size_t i = 0; i < series->n; i++)
		if (isfinite(series->x[i]) && isfinite(series->y[i]))
			return true;
	return false;
}

/* Leaves out the series without a value. The axes stay as they would be with all series. */
static void
panel_leave_out_empty(struct chart_panel *panel)
{
	size_t kept = 0;
	double least, most;

	panel_find_range(panel, &least, &most);
	panel->has_key = panel->series_count > 1;
	for (size_t s = 0; s < panel->series_count; s++)
		if (series_has_values(&panel->series[s]))
			panel->series[kept++] = panel->series[s];
	panel->series_count = kept;
	if (kept == 0 && panel->x_whole && least <= most) {
		panel->x_min = least - 0.5;
		panel->x_max = most + 0.5;
	}
}

void
chart_draw(const struct chart *given, const struct picture *picture)
{
	struct chart chart = *given;
	struct picture_page page = {.width = WIDTH, .title = chart.title, .description = chart.caption};
	struct picture_draft draft;
	struct layout layout;

	for (size_t p = 0; p < chart.panel_count; p++)
		panel_leave_out_empty(&chart.panels[p]);
	layout = layout_make(&chart);
	page.height = layout.height;
	picture_open(&draft, picture);
	picture_begin(&draft, &page);
	chart_write_script(draft.script, &chart, &layout);
	picture_draw(&draft);
	picture_end(&draft);
}

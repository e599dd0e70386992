/* frame.c: see frame.h. Panels stand one below the other, as they mostly share their horizontal axis. */
#include "frame.h"

#include "base/number.h"
#include "script.h"

#include <math.h>
#include <string.h>

#define HEADER 34.0         /* the title, from above */
#define CAPTION_LINE 18.0   /* a line of the caption */
#define TITLE_LINE 24.0     /* a panel's title */
#define KEY_SHORT 17        /* characters: names no longer than that stand two in a row */
#define PANEL_TOP 16.0      /* above the key */
#define PANEL_ALONE 290.0   /* the height of a panel's frame: of one, */
#define PANEL_STACKED 220.0 /* of each of several, */
#define PANEL_ROW 24.0      /* and of one with names, for each name */
#define PANEL_EDGE 12.0
#define PANEL_BOTTOM 62.0
#define PANEL_LEFT 78.0
#define NUMBER_CHARACTER 8.2
#define BESIDE_LABEL 40.0 /* the label, and what lies between it, the numbers and the frame */

static size_t
count_characters(const char *text)
{
	size_t characters = 0;

	for (; *text; text++)
		characters += ((unsigned char)*text & 0xc0) != 0x80;
	return characters;
}

size_t
frame_key_columns(const struct chart_panel *panel)
{
	for (size_t s = 0; s < panel->series_count; s++)
		if (count_characters(panel->series[s].name) > KEY_SHORT)
			return 1;
	return 2;
}

size_t
frame_key_rows(const struct chart_panel *panel)
{
	size_t columns = frame_key_columns(panel);

	return panel->has_key ? (panel->series_count + columns - 1) / columns : 0;
}

/* Its numbers or names, and the label beside them. */
static double
left_of_panel(const struct chart_panel *panel)
{
	uint64_t most = panel->y_max >= 1000 ? (uint64_t)panel->y_max : 0;
	double widest = NUMBER_CHARACTER * (double)strlen(NUMBER_GROUPED(most));

	for (size_t i = 0; i < panel->y_name_count; i++)
		widest = fmax(widest, fmin(plot_width(panel->y_names[i]), FRAME_NAME_LONGEST) * FRAME_LABEL_EM);
	return fmax(PANEL_LEFT, widest + BESIDE_LABEL);
}

double
frame_left(const struct chart *chart)
{
	double left = PANEL_LEFT;

	for (size_t p = 0; p < chart->panel_count; p++)
		if (chart->panels[p].y_name_count == 0)
			left = fmax(left, left_of_panel(&chart->panels[p]));
	return left;
}

/* Bytes of the text's first line, which ends at a space: as many words as fit, at least one. `room` in ems. */
static size_t
line_length(const char *text, double room)
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

size_t
frame_caption(const struct chart *chart, const char *lines[FRAME_CAPTION_LINES + 1])
{
	const double room = (FRAME_WIDTH - frame_left(chart) - FRAME_PANEL_RIGHT) / FRAME_CAPTION_EM;
	const char *at = chart->caption;
	size_t count = 0;

	do {
		lines[count++] = at;
		at += count < FRAME_CAPTION_LINES ? line_length(at, room) : strlen(at);
		at += *at == ' ';
	} while (*at);
	lines[count] = at;
	return count;
}

static size_t
caption_lines(const struct chart *chart)
{
	const char *lines[FRAME_CAPTION_LINES + 1];

	return frame_caption(chart, lines);
}

static double
above_panel(const struct chart_panel *panel)
{
	return PANEL_TOP + (panel->title ? TITLE_LINE : 0) + FRAME_KEY_ROW * (double)frame_key_rows(panel);
}

static double
height_of_panel(const struct chart *chart, const struct chart_panel *panel)
{
	if (panel->y_name_count > 0)
		return PANEL_EDGE + PANEL_ROW * (double)panel->y_name_count;
	return chart->panel_count > 1 ? PANEL_STACKED : PANEL_ALONE;
}

/* Including the texts above and below its frame. */
static double
whole_panel(const struct chart *chart, const struct chart_panel *panel)
{
	return above_panel(panel) + height_of_panel(chart, panel) + PANEL_BOTTOM;
}

double
frame_height(const struct chart *chart)
{
	double height = HEADER + CAPTION_LINE * (double)caption_lines(chart);

	for (size_t p = 0; p < chart->panel_count; p++)
		height += whole_panel(chart, &chart->panels[p]);
	return height;
}

struct frame
frame_of(const struct chart *chart, size_t p)
{
	const struct chart_panel *panel = &chart->panels[p];
	struct frame frame = {.left = panel->y_name_count > 0 ? left_of_panel(panel) : frame_left(chart),
	                      .right = FRAME_WIDTH - FRAME_PANEL_RIGHT,
	                      .top = frame_height(chart)};

	frame.top -= HEADER + CAPTION_LINE * (double)caption_lines(chart) + above_panel(panel);
	for (size_t before = 0; before < p; before++)
		frame.top -= whole_panel(chart, &chart->panels[before]);
	frame.bottom = frame.top - height_of_panel(chart, panel);
	return frame;
}

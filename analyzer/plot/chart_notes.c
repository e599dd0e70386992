/*
 * chart_notes.c: see chart_notes.h.
 *
 * A note goes to the right of its point, or to its left where the frame ends, and a little up or down where that is
 * taken; one that finds no room is left out. How wide a text is, is an estimate: nothing here knows the font.
 */
#include "chart_notes.h"

#include "gnuplot.h"
#include "script.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LINE 9.5      /* units from line to line, */
#define CHARACTER 6.2 /* and a character takes in the mean, at 9 points */
#define GAP 6.0       /* between point and text */
#define LONGEST 24.0  /* ems */
#define EM 12.0
#define TRIES 5 /* at its height, and up to a line up and down: farther off it would be another's */

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
	size_t characters = 0;

	for (; *text; text++)
		characters += ((unsigned char)*text & 0xc0) != 0x80;
	return fmin(CHARACTER * (double)characters, LONGEST * EM);
}

/* The box where the note of the point (x, y), in units from the frame's lower left corner, fits; false: nowhere. */
static bool
find_room(const struct box *boxes, size_t count, double x, double y, double text, double width, double height,
          struct box *box)
{
	bool left = x + GAP + text > width;

	for (int try = 0; try < TRIES; try++) {
		double shift = LINE / 2 * (double)((try + 1) / 2) * (try % 2 ? 1 : -1);

		*box = (struct box){left ? x - GAP - text : x + GAP, left ? x - GAP : x + GAP + text, y + shift};
		if (box->middle > LINE / 2 && box->middle < height - LINE / 2 && !is_taken(boxes, count, box))
			return true;
	}
	return false;
}

void
chart_notes_write(FILE *stream, const struct chart_panel *panel, double width, double height)
{
	struct box boxes[CHART_NOTES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < panel->note_count && count < CHART_NOTES_MAX; i++) {
		const struct chart_note *note = &panel->notes[i];
		double x = width * place(note->x, panel->x_min, panel->x_max, panel->x_log);
		double y = height * place(note->y, panel->y_min, panel->y_max, false);
		struct box *box = &boxes[count];
		bool left;

		if (!find_room(boxes, count, x, y, width_of(note->text), width, height, box))
			continue;
		left = box->right < x;
		fprintf(stream, "set label %zu ", 201 + count++);
		plot_quote(stream, note->text, LONGEST, gnuplot_has_glyph);
		fprintf(stream,
		        " at graph %.5f,%.5f %s noenhanced front font '" PLOT_FONT ",9' textcolor rgb '" PLOT_INK "'\n",
		        (left ? box->right : box->left) / width, box->middle / height, left ? "right" : "left");
	}
}

/* frame.h: how a chart is laid out: the picture's size, the header, and where the frame of each panel stands. Lengths are in
 * units, pixels of a screen, from the lower left corner of the picture; widths of texts are estimates. */
#ifndef PLOT_FRAME_H
#define PLOT_FRAME_H

#include "chart.h"

/* The narrowest that the texts allow: in a paper's column of 3.3 inches, labels still have about 6 points. */
#define FRAME_WIDTH 560.0
#define FRAME_PANEL_RIGHT 30.0 /* half a number of six digits at the frame's end */
#define FRAME_KEY_ROW 20.0
#define FRAME_CAPTION_LINES 3   /* at most */
#define FRAME_NAME_LONGEST 12.0 /* ems */

/* Of the fonts of 10 and 11 points. */
#define FRAME_CAPTION_EM 13.3
#define FRAME_LABEL_EM 14.7

struct frame {
	double left, right, bottom, top;
};

/* Of panel p. */
struct frame frame_of(const struct chart *chart, size_t p);

/* Of the header, and of the panels without names, so that these stand below one another. */
double frame_left(const struct chart *chart);
double frame_height(const struct chart *chart);

size_t frame_key_columns(const struct chart_panel *panel);
size_t frame_key_rows(const struct chart_panel *panel); /* 0: there is no key */

/* The caption's lines, the last of which may be too long: how many, their beginnings, and its end. */
size_t frame_caption(const struct chart *chart, const char *lines[FRAME_CAPTION_LINES + 1]);

#endif

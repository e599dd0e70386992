/* chart.h: draws the chart of an analysis, for its option --plot: curves, histograms, scatters and named bars, in up to
 * three panels, one below the other. */
#ifndef CHART_H
#define CHART_H

#include <stdbool.h>
#include <stddef.h>

enum chart_style {
	CHART_LINE,
	CHART_POINTS, /* a line with its points */
	CHART_BARS,   /* x is the middle of a bar, and bars touch */
	CHART_DOTS,
	CHART_PAIRS,  /* a line joins points 0 and 1, another points 2 and 3, … */
	CHART_HAZE,   /* dots that show through: of so many that they hide one another */
	CHART_AREA,   /* what the points, joined in their order, enclose */
	CHART_ACROSS, /* horizontal bars from the left edge to x, centred on y; a named line has room for two */
};

#define CHART_SERIES_MAX 6
#define CHART_PANELS_MAX 3

struct chart_series {
	const char *name;    /* its name in the key; any text */
	const double *x, *y; /* values that are not finite are left out */
	size_t n;
	enum chart_style style;
	unsigned colour; /* 0 blue, 1 orange, 2 green, 3 ink, 4 pale; 0 to 3 also differ for colour-blind readers */
};

/* A text beside a point of the data. It is drawn if the notes before it leave room. */
struct chart_note {
	double x, y;
	const char *text; /* any text */
};
#define CHART_NOTES_MAX 64

struct chart_panel {
	const char *title, *x_label, *y_label; /* any text; title NULL: none */
	double x_min, x_max, y_min, y_max;     /* the ranges; min = max: the range of the data */
	struct chart_series series[CHART_SERIES_MAX];
	size_t series_count;   /* if several, a key above the panel has their names; one without a value is left out */
	bool has_key;          /* set by chart_draw() */
	bool x_log, y_log;     /* x, or y, is above 0, and its range is given */
	bool x_whole, y_whole; /* only whole numbers stand along the axis; with y_whole, the range of y is given */
	const struct chart_note *notes; /* with notes, both ranges are given; NULL: no notes */
	size_t note_count;
	const char *const *y_names; /* any text, beside y = 0, −1, −2, … in place of numbers; NULL: none */
	size_t y_name_count;
};
#define CHART_NAMES_MAX 32      /* in all panels */
#define CHART_NAME_LONGEST 12.0 /* ems; longer names are cut */

#define CHART_CAPTION_ROOM 240
struct chart {
	const char *title, *caption; /* any text; a caption has room for CHART_CAPTION_ROOM bytes, up to three lines */
	struct chart_panel panels[CHART_PANELS_MAX];
	size_t panel_count;
};

struct picture;

/* Draws a chart into the files of `picture`, which is a PICTURE_CHART and has passed picture_check(). Ends the program
 * on failure. */
void chart_draw(const struct chart *chart, const struct picture *picture);

#endif

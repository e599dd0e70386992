/*
 * layout.h: divides a picture of `portolan map` among its frame, its key, its histograms and its texts, for any width
 * and any size of text. Lengths are in units, 96 to an inch, and places from the bottom left. Pure.
 *
 * The room for text (margins, the key, the names of regions) grows with the size of the text. The frame of the scatter
 * gets the rest of the width, and always has the same proportions. A picture for which no width was given is as wide as
 * a whole map's frame needs.
 */
#ifndef MAP_LAYOUT_H
#define MAP_LAYOUT_H

#include "map_data.h"

#define MAP_UNITS_PER_INCH 96.0
#define MAP_NARROW (6 * MAP_UNITS_PER_INCH) /* a narrower picture has no histograms, and its key above the map */
#define MAP_TEXT_POINTS 11.0                /* the text of a whole map's axes; its smallest text has 9 points */
#define MAP_WIDTH_LEAST MAP_UNITS_PER_INCH
#define MAP_WIDTH_MOST (40 * MAP_UNITS_PER_INCH)
#define MAP_POINTS_LEAST 4.0
#define MAP_POINTS_MOST 40.0

/* What the key has that takes room. */
struct map_key {
	unsigned entries;  /* 0: there is no key, or it is a bar of colours */
	double name_width; /* of the widest name, in ems */
	bool counted, has_bar;
	bool explains_cells; /* below its bar it also explains cells without a change and cells without an example */
};

struct map_layout_request {
	double width;  /* 0: the picture is as wide as a whole map needs */
	double points; /* the size of text; 0: 11, or less in a picture that is narrower than a whole map's */
	bool compact, beside;
	struct map_key key;
};

struct map_layout {
	double width, height;
	double text;                     /* the size of texts relative to those of a whole map */
	double scale;                    /* the size of the frame relative to that of a whole map */
	double left, right, bottom, top; /* the frame; of two maps, the first one's */
	double beside;                   /* the distance from one map to the other; 0: there is one map */
	bool panels, narrow;
	double text_left; /* of title and caption */
	double key_left, key_top, key_step, key_width;
	unsigned key_columns;
};

/* Lays a picture out. False: its frame would be less than an inch wide. */
bool map_layout_make(struct map_layout *layout, const struct map_layout_request *request);

/* Where entry number `entry` of the key stands, from 0: the left of its marker, and the middle of its line. */
void map_layout_key(const struct map_layout *layout, unsigned entry, double *x, double *y);

/* Moves a place in a whole map's frame (map_data.h) to where it is in this picture. */
double map_layout_x(const struct map_layout *layout, double x);
double map_layout_y(const struct map_layout *layout, double y);

/* The width that title and caption may have, in units. */
double map_layout_room(const struct map_layout *layout);

/* The size of text relative to the frame: 1 in a whole map. */
double map_layout_ratio(const struct map_layout *layout);

#endif

/* map_sheet.h: what the files that write the variables of a map's script share. */
#ifndef MAP_SHEET_H
#define MAP_SHEET_H

#include "drawing.h"

/* What one script shows. */
struct sheet {
	FILE *stream;
	const struct map_drawing *drawing;
	enum picture_format format;
	enum map_style style;
	double text; /* the size of text relative to that of a whole map */
	const struct map_data *maps;
	size_t first;             /* the number that maps[0] has in the drawing */
	size_t frames;            /* one of each map; a shift has one frame of its two maps */
	unsigned levels, markers; /* of each frame */
	unsigned panels;
	double key_room; /* the room for a name and a count in the key, in units */
	double key_em;   /* the em of the key's font, in units */
};

/* Write the variables of the histograms, and of the paths. */
void map_sheet_panels(const struct sheet *sheet);
void map_sheet_paths(const struct sheet *sheet);

#endif

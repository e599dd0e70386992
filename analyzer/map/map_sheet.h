/* map_sheet.h: shared by the files that write the variables of a map's script; see map_script.c. */
#ifndef MAP_SHEET_H
#define MAP_SHEET_H

#include "drawing.h"

/* The contents of one script. */
struct sheet {
	FILE *stream;
	const struct map_drawing *drawing;
	enum picture_format format;
	enum map_style style;
	double text; /* the size of texts relative to the usual */
	const struct map_data *maps;
	size_t first, frames;     /* maps[0] is the drawing's `first`; a frame is one, or a shift's two */
	unsigned levels, markers; /* of each */
	unsigned panels;
	double key_room; /* for a name and a count, */
	double key_em;   /* in a font of this size */
};

/* Its histograms, and its paths. */
void map_sheet_panels(const struct sheet *sheet);
void map_sheet_paths(const struct sheet *sheet);

#endif

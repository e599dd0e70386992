/*
 * map_sheet.h: struct sheet: what one gnuplot script of `portolan map` is to show. From it three files write the
 * script's variables: map_script.c most of them, map_sheet_panels.c those of the histograms, and map_paths.c those of
 * the paths.
 */
#ifndef MAP_SHEET_H
#define MAP_SHEET_H

#include "drawing.h"

/* What one script shows: one map, two side by side, facets, or an animation. */
struct sheet {
	FILE *stream;
	const struct map_drawing *drawing;
	enum picture_format format;
	double text; /* the size of text relative to that of a whole map */
	const struct map_data *maps;
	size_t first;     /* the place of maps[0] among the drawing's maps */
	size_t frames;    /* one for each map; but the two maps of a shift have one frame */
	unsigned markers; /* kinds of markers in each frame: one for each level, or one in all */
	unsigned panels;  /* histograms beside each map */
	double key_room;  /* for a name and a count in the key, in units */
	double key_em;    /* the em of the key's font, in units */
};

/* Write variables to the sheet's stream: those of the histograms, those of the paths. */
void map_sheet_panels(const struct sheet *sheet);
void map_sheet_paths(const struct sheet *sheet);

#endif

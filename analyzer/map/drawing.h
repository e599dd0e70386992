/*
 * drawing.h: a map from its sources to its files: one map, two side by side, the shift from one to another, the paths
 * of examples, or the map after each epoch as an animation and as single pictures.
 *
 *     struct map_drawing drawing;
 *     map_drawing_load(&drawing, &request, &error) → map_drawing_draw(&drawing, &error) → map_drawing_free(&drawing)
 */
#ifndef MAP_DRAWING_H
#define MAP_DRAWING_H

#include "layout.h"
#include "plot/picture.h"
#include "source.h"

/* Whether lines divide the regions. */
enum map_lines { MAP_LINES_IN_WHOLE_MAPS, MAP_LINES_ALWAYS, MAP_LINES_NEVER };

struct map_request {
	const struct run_query *query;
	bool script;              /* what gnuplot draws from is left beside the picture */
	const char *run, *from;   /* one of them: a run, or a file */
	const char *other;        /* another run of the store; NULL: none */
	bool shift;               /* from the one to the other; else they stand side by side */
	const char *const *paths; /* ids */
	size_t path_count;
	struct map_source_request source;
	struct map_options options;
	bool density, compact;
	bool facet; /* a map for each category */
	enum map_lines lines;
	struct region_cuts cuts; /* where source.cuts points, if it does */
	double width;            /* of the picture, in units; 0: its own */
	const char *font;        /* NULL: the usual one */
	double points;           /* of text; 0: chosen by the width of the picture */
	const char *title;       /* NULL: made from the names */
	struct picture picture;  /* PICTURE_GIF: an animation */
	bool has_picture;
	struct picture_draft *draft; /* of `picture`, open; or PICTURE_CLOSED */
	const char *frames;          /* a folder for single pictures; NULL: none */
};

struct map_drawing {
	const struct map_request *request; /* `own` */
	struct map_request own;            /* as requested; a map of cells is always a density */
	struct map_source sources[2];
	size_t source_count;
	struct map_layout layout;
	struct map_axes axes;
	struct map_data *maps; /* of the sources; or of one source after each of its epochs */
	size_t map_count;
	struct map_data *facets; /* of the one map, in the order of its levels */
	size_t facet_count;
	struct map_path paths[MAP_PATHS_MAX];
	size_t path_count;
	double shift;
	bool is_animation;
};

/* What a map of paths explains: fewer for one epoch or two. */
#define MAP_PATH_KEYS 4
unsigned map_path_keys(const struct map_drawing *drawing);

int map_drawing_load(struct map_drawing *drawing, const struct map_request *request, struct portolan_error *error);
int map_drawing_draw(struct map_drawing *drawing, struct portolan_error *error);
void map_drawing_free(struct map_drawing *drawing); /* may be called twice */

/* Of drawing.c and drawing_epochs.c: the contents of the map of source `index`; the maps after each epoch. */
struct map_input map_drawing_input(const struct map_drawing *drawing, size_t index);
int map_drawing_epochs(struct map_drawing *drawing, struct portolan_error *error);

/* Makes the facets of the one map. */
int map_drawing_facets(struct map_drawing *drawing, struct portolan_error *error);

/* The places of the facets, in rows from above; `scale`: their size relative to a whole map. */
struct map_grid {
	unsigned columns;
	double width, height; /* of the picture */
	double scale, text;
};
struct map_grid map_facet_grid(const struct map_request *request, size_t count);
void map_facet_place(const struct map_grid *grid, size_t facet, double *left, double *bottom);

/* The name of the picture after the epoch that is `index`-th of the run, in the folder for them. */
#define MAP_FRAME_NAME_ROOM 32
void map_frame_name(const struct map_drawing *drawing, size_t index, char name[MAP_FRAME_NAME_ROOM]);

enum map_style map_drawing_style(const struct map_request *request);

#define MAP_CAPTION_ROOM 768

/* A measure's name in words ("forgetting events"); other names as they are. */
void map_shown_name(char text[MAP_CAPTION_ROOM], const char *name);

/* Texts: of map `index`, at most `room` ems wide, without the parts that do not fit; of all maps; and about the
 * colours, unless a legend explains them. */
void map_drawing_caption(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing, size_t index, double room);
void map_drawing_title(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing);
void map_drawing_colour_note(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing);

/* A description of the whole picture in words. */
#define MAP_DESCRIPTION_ROOM 2048
void map_drawing_description(char text[MAP_DESCRIPTION_ROOM], const struct map_drawing *drawing);

/* Writes the points or cells of map `index` to the data file; returns the number of bytes. */
size_t map_drawing_data(const struct map_drawing *drawing, size_t index, const void **data);

/* The script of one picture with `count` maps from `first` on, after its beginning. Errors are the stream's. */
void map_script_write(FILE *stream, const struct map_drawing *drawing, enum picture_format format, size_t first,
                      size_t count);
void map_script_write_facets(FILE *stream, const struct map_drawing *drawing, enum picture_format format);

#endif

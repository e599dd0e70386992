/*
 * drawing.h: all that `portolan map -o PICTURE` draws, from what the user asked for (struct map_request) to the pictures'
 * files. A drawing (struct map_drawing) is one map, two side by side, the shift from one to another, a small map for each
 * category, the paths of examples over a grey map, or the map after each epoch, as an animation and as single pictures.
 *
 *     struct map_drawing drawing;
 *     map_drawing_load(&drawing, &request) → map_drawing_draw(&drawing, &draft) → map_drawing_free(&drawing)
 *
 * drawing_load.c makes the maps (drawing_epochs.c those after each epoch, drawing_facets.c the small ones), map_script.c
 * writes gnuplot's scripts, drawing_text.c the texts in them, and drawing_files.c has the pictures drawn.
 */
#ifndef MAP_DRAWING_H
#define MAP_DRAWING_H

#include "layout.h"
#include "plot/picture.h"
#include "source.h"

/* Do lines between the regions show their limits? */
enum map_lines { MAP_LINES_IN_WHOLE_MAPS, MAP_LINES_ALWAYS, MAP_LINES_NEVER };

struct map_request {
	const struct run_query *query;
	bool script;            /* the gnuplot script and its data stay beside the picture */
	const char *run, *from; /* a run, or a file; the other is NULL */
	const char *other;      /* another run of the store; NULL: none */
	bool shift;             /* with `other`: one map of the change from `run` to it; else two maps side by side */
	const char *paths[MAP_PATHS_MAX]; /* the ids of the examples whose paths are drawn */
	size_t path_count;
	struct map_source_request source;
	struct map_options options; /* map_drawing_load() sets scale and text */
	bool density;               /* map_drawing_load() sets it for a map of cells */
	bool compact;
	bool facet; /* a small map for each category, in place of the one map */
	enum map_lines lines;
	struct region_cuts cuts; /* what source.cuts points at, if that is not NULL */
	double width;            /* of the picture, in units; 0: that of a whole map */
	const char *font;        /* NULL: DejaVu Sans */
	double points;           /* the size of text; 0: chosen by the width of the picture */
	const char *title;       /* NULL: made from the names */
	struct picture picture;  /* PICTURE_GIF: an animation */
	bool has_picture;
	const char *frames; /* a folder for single pictures; NULL: none */
};

/* How facets are laid out: in rows, the first at the top. */
struct map_grid {
	unsigned columns;     /* in a row */
	double width, height; /* of the picture */
	double scale, text;   /* the sizes of a facet's frame and of text relative to those of a whole map */
};

struct map_drawing {
	struct map_request *request; /* belongs to the caller; completed by map_drawing_load() */
	enum map_style style;
	struct map_source sources[2];
	size_t source_count;
	struct map_layout layout;
	struct map_axes axes;
	struct map_data *maps; /* one for each source; for an animation, one for each epoch */
	size_t map_count;
	struct map_data *facets; /* the small maps of the one map, in the order of its levels */
	size_t facet_count;
	struct map_grid grid; /* of the facets */
	struct map_path paths[MAP_PATHS_MAX];
	size_t path_count;
	double shift; /* MAP_SHIFT: the largest difference in any cell */
	bool is_animation;
};

void map_drawing_load(struct map_drawing *drawing, struct map_request *request);

/* Draws all pictures. `draft` is that of the picture of -o, open; NULL: there is none. */
void map_drawing_draw(struct map_drawing *drawing, struct picture_draft *draft);

void map_drawing_free(struct map_drawing *drawing);

/* Reports on standard output, as JSON, what was drawn. */
void map_drawing_report(const struct map_drawing *drawing);

/* drawing_epochs.c: makes the maps after each epoch. `input` describes the map after all epochs. */
void map_drawing_epochs(struct map_drawing *drawing, const struct map_input *input);

/* drawing_facets.c: makes the facets of the one map. */
void map_drawing_facets(struct map_drawing *drawing);

/* The bottom left of a facet's frame. */
void map_facet_place(const struct map_grid *grid, size_t facet, double *left, double *bottom);

/* The file name of the single picture of map `index`, in the folder of --frames; the caller's to free(). */
char *map_frame_path(const struct map_drawing *drawing, size_t index);

#define MAP_CAPTION_ROOM 768

/* What a measure is called in a picture ("forgetting events"); other names as they are. */
void map_shown_name(char text[MAP_CAPTION_ROOM], const char *name);

/* The caption of map `index`, without the parts that do not fit into `room` ems; the title of the picture; and a note
 * of what the bar of colours shows ("": the picture has no such bar). */
void map_drawing_caption(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing, size_t index, double room);
void map_drawing_title(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing);
void map_drawing_colour_note(char text[MAP_CAPTION_ROOM], const struct map_drawing *drawing);

/* How many entries the key of a map of paths has: MAP_PATH_KEYS; fewer for a run of one epoch or two. */
#define MAP_PATH_KEYS 4
unsigned map_drawing_path_keys(const struct map_drawing *drawing);

/* Describes the whole picture in words. */
#define MAP_DESCRIPTION_ROOM 2048
void map_drawing_description(char text[MAP_DESCRIPTION_ROOM], const struct map_drawing *drawing);

/* Sets *data to what the script's file of data holds for map `index`: its points, or its cells. Returns the number of
 * bytes. */
size_t map_script_data(const struct map_drawing *drawing, size_t index, const void **data);

/* Write the script of one picture, all but its first lines: with `count` maps from `first` on, or with the facets.
 * Errors are the stream's. */
void map_script_write(FILE *stream, const struct map_drawing *drawing, enum picture_format format, size_t first,
                      size_t count);
void map_script_write_facets(FILE *stream, const struct map_drawing *drawing, enum picture_format format);

#endif

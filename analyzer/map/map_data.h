/*
 * map_data.h: one map of `portolan map` as numbers, before it becomes a gnuplot script: which examples it is made of
 * (struct map_input), and its points, cells, histograms, levels and labels (struct map_data). A map is a scatter of a
 * run's examples, mostly by variability and confidence.
 *
 * map_maker.c makes a map. map_labels.c places the regions' labels, map_paths.c the texts along the paths of examples,
 * and map_markers.c chooses the markers. Places on a map are in units of a whole map's picture, which is MAP_WIDTH ×
 * MAP_HEIGHT, from its bottom left; layout.h moves them to where they are in the picture that is drawn.
 */
#ifndef MAP_DATA_H
#define MAP_DATA_H

#include "axis.h"
#include "plot/script.h"
#include "regions/regions.h"

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MAP_WIDTH 1000.0
#define MAP_COMPACT_WIDTH 800.0
#define MAP_BESIDE 650.0 /* from the left of a map to the left of the one beside it */
#define MAP_HEIGHT 700.0

/* The frame of the scatter. */
#define MAP_LEFT 72.0
#define MAP_RIGHT 676.0
#define MAP_BOTTOM 66.0
#define MAP_TOP 618.0

/* The sizes (ems) of texts of 16, 11, 10 and 8 points, in units. */
#define MAP_TITLE_EM 21.3
#define MAP_LABEL_EM 14.7
#define MAP_CAPTION_EM 13.3

#define MAP_LEVELS_MAX 7   /* levels of correctness */
#define MAP_CATEGORIES 12  /* categories that have a marker of their own; the smaller ones share one */
#define MAP_KEYS_MAX 16    /* entries of a key, at most: levels of any kind */
#define MAP_KEY_ROOM 150.0 /* extra width of a map whose key has names and counts */
#define MAP_KEY_MARKER 22.0
#define MAP_CELLS_X 120 /* at most */
#define MAP_CELLS_Y 110

/* A marker, or the white edge below it. The script's file of points is an array of these, little-endian. */
struct map_point {
	float x, y;
	float value; /* the number of the example's level, or the value that colours it; NaN: it has none */
	float edge;  /* 1: this is the edge; 0: the marker */
};

/* Slots: what a marker can stand for. Each has a colour and a shape of its own. */
enum {
	MAP_SLOT_LEVELS = 0, /* seven, of correctness: from never to always */
	MAP_SLOT_CATEGORIES = MAP_LEVELS_MAX,
	MAP_SLOT_OTHERS = MAP_SLOT_CATEGORIES + MAP_CATEGORIES,
	MAP_SLOT_NONE, /* examples that have no category */
	MAP_SLOT_HIGHLIGHTED,
	MAP_SLOT_DROPPED, /* a second kind of highlighted examples: those that a file of corrections drops */
	MAP_SLOT_REST,    /* in grey: examples that are not highlighted */
	MAP_SLOT_BELOW,   /* in a facet, for all other examples: fainter than any mark */
	MAP_SLOTS,
};

struct map_level {
	char name[128]; /* "5 of 6", "80–99%"; a category's: any text, perhaps cut */
	unsigned slot;
	uint64_t examples;
	double sum; /* the sum of the examples' y */
};

struct map_label {
	double x, y; /* the label's middle, in units */
	bool shown;  /* false: the region has no examples, or the label has no room */
};

enum map_colouring {
	MAP_BY_CORRECTNESS, /* in levels, which differ in colour and in shape */
	MAP_BY_VALUE,
	MAP_BY_CATEGORY, /* by categories, which also differ in shape; an example's value is the number of its level */
	MAP_PLAIN,       /* all examples have the same grey */
};

enum map_style {
	MAP_SCATTER,
	MAP_COUNTS, /* a cell's colour is the number of its examples */
	MAP_MEANS,  /* a cell's colour is the mean of what colours its examples */
	MAP_SHIFT,  /* a cell's colour is the difference between two maps' densities there */
};

struct map_options {
	uint64_t sample, seed;
	double scale; /* the frame's size relative to a whole map's; 0: it is a whole map */
	double text;  /* the size of text relative to the frame; 0: as in a whole map */
};

/* The examples of a map, or a part of them. The columns have `rows` rows; row r is that of the example with the index
 * first + r. `order` lists n rows by ascending id: those of the examples that have an x and a y after all epochs. An
 * example that has no x or y after fewer epochs is left out of the map after those. */
struct map_input {
	struct map_column x, y, colour;
	enum map_colouring colouring;
	size_t epochs; /* MAP_BY_CORRECTNESS: how many epochs every example has; MAP_LEVELS_MAX: it differs */
	const struct map_level *levels; /* MAP_BY_CATEGORY: names and slots */
	unsigned level_count;           /* MAP_KEYS_MAX at most */
	unsigned on_top; /* the first levels, so many, are drawn over all others, and have a sample of their own */
	bool regions;    /* x and y are variability and confidence: examples are counted by region */
	bool labelled;   /* the map shows the regions' names */
	bool lined;      /* lines divide the regions, and counts stand below the names */
	const uint32_t *order;
	size_t n;
	uint32_t first, rows;
	const double *weights; /* by row: how many examples the row stands for; NULL: one */
};

/* The axes of a map. All maps of a picture have the same. */
struct map_axes {
	struct map_axis x, y, colour;
	unsigned cells_x, cells_y;
};

struct map_ranges {
	struct map_range x, y, colour;
};
#define MAP_RANGES_EMPTY ((struct map_ranges){MAP_RANGE_EMPTY, MAP_RANGE_EMPTY, MAP_RANGE_EMPTY})
bool map_ranges_add(struct map_ranges *ranges, const struct map_input *input); /* true: all have a place */
void map_ranges_join(struct map_ranges *ranges, const struct map_ranges *others);

/* Makes the axes of all maps that share them, with the columns of `input`, and the number of cells. `n` is how many
 * examples the smallest map has: the fewer, the fewer and larger are the cells. */
void map_axes_make(struct map_axes *axes, const struct map_input *input, const struct map_ranges *ranges, size_t n);

struct map_data {
	struct map_axes axes;
	double scale; /* as in map_options */
	double text;
	enum map_colouring colouring;
	size_t examples, shown;
	uint64_t without_colour;  /* MAP_BY_VALUE: how many examples have no value */
	struct map_point *points; /* in drawing order, which is random, so that no class hides another */
	size_t point_count;       /* one for each example drawn, with room for two: see map_leave_out_hidden() */
	float *counts, *means;    /* by cell, in rows from below; NaN: the cell has no examples, or no values */
	double most_per_cell;
	double mean_low, mean_high; /* the means that the ends of the bar of colours stand for */
	bool clipped;               /* some means lie outside that range */
	struct map_level levels[MAP_KEYS_MAX];
	unsigned level_count;
	uint64_t x_bins[MAP_BINS], y_bins[MAP_BINS], colour_bins[MAP_BINS];
	bool regions, lined;
	struct region_cuts cuts;
	uint64_t region_examples[REGION_COUNT];
	struct map_label labels[REGION_COUNT];
};

void map_data_free(struct map_data *data); /* may be called twice */

/* Makes the levels of correctness; returns their number. A run of up to 6 epochs has a level for each number of correct
 * epochs; a longer run has "none", "all", and five steps of a fifth between. map_level_of() finds an example's level. */
unsigned map_levels(size_t epochs, struct map_level levels[MAP_LEVELS_MAX]);
unsigned map_level_of(double correctness, size_t epochs);

/* Where a value lies in the frame of the scatter, in units. */
double map_x(const struct map_axes *axes, double x);
double map_y(const struct map_axes *axes, double y);

/* Places the labels of the regions whose label has `shown` set: near centres[] (in units), where they hide few points,
 * and apart from one another. */
void map_place_labels(struct map_data *data, const double centres[REGION_COUNT][2]);

/* The sizes of the labels, in units. A label is drawn at an angle. Where lines divide the regions, it has a count below
 * its name. */
extern const double map_label_widths[REGION_COUNT];
#define MAP_LABEL_HEIGHT 21.0
#define MAP_LABEL_HEIGHT_COUNTED 35.0
#define MAP_LABEL_ANGLE (-10.0) /* degrees */

/* The marker of a slot: gnuplot's numbers of its shapes, and its sizes. Sizes differ from format to format, so that all
 * formats show the same picture. The markers of a facet are smaller, as it has less room. */
struct map_marker {
	int shape, edge_shape;
	double size, edge_size, key_size;
};
struct map_marker map_marker(const struct map_data *data, enum picture_format format, unsigned slot);
double map_marker_line(size_t shown); /* the line width of crosses */

/* The colour of a slot's markers: "0072b2". */
const char *map_slot_colour(unsigned slot);

/* Leaves out the points that later points hide completely, and makes two of each of the others: the edge, then the
 * marker. `shown` still counts all. */
void map_leave_out_hidden(struct map_data *data, enum picture_format format);

/* Fills `cells` with the difference between two maps' densities, `second` less `first`, in hundredths of a map's
 * examples; NaN: neither map has examples there. Returns the largest absolute value. */
double map_shift(const struct map_data *first, const struct map_data *second, float *cells);

/* The path of an example: its places after each epoch. */
#define MAP_PATHS_MAX 12
struct map_path {
	const char *name;    /* the id; any text */
	double (*places)[2]; /* x and y */
	uint32_t *epochs;    /* by place: the epoch after which the example stood there */
	size_t count;
};

/* Places the names of paths. A name stands beside the end of its path, or as little above or below it as the names that
 * were placed before allow. It begins at x and goes to the right, or it ends at x. `text` is map_options.text. */
#define MAP_PATH_ROOM 170.0
struct map_place {
	double x, y, left, right;
};
void map_place_names(const struct map_axes *axes, const struct map_path *paths, size_t count, double text,
                     struct map_place *places);

/* Writes beside points of the paths the number of their epoch, where the names, which were placed before, leave room.
 * Returns how many numbers were placed, MAP_NUMBERS_MAX at most. */
#define MAP_NUMBERS_MAX 120
struct map_number {
	double x, y; /* the middle, in units */
	uint32_t epoch;
	size_t path;
};
size_t map_place_numbers(const struct map_axes *axes, const struct map_path *paths, size_t count, double text,
                         const struct map_place *names, struct map_number numbers[MAP_NUMBERS_MAX]);

/* Is there room for an arrow between place `at` of a path and the next place? */
bool map_path_has_arrow(const struct map_axes *axes, const struct map_path *path, size_t at, double text);

#endif

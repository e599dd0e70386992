/*
 * map.h: the data map of a run: what is drawn (map_data.c), where its labels go (map_labels.c), its markers
 * (map_markers.c), and the gnuplot script that draws it (map_script.c). Everything but the two functions that can fail,
 * for lack of memory, is pure; nothing here starts gnuplot.
 *
 * Lengths are in units: the picture is MAP_WIDTH × MAP_HEIGHT (compact: MAP_COMPACT_WIDTH), from the bottom left.
 */
#ifndef MAP_H
#define MAP_H

#include "plot/script.h"
#include "selection/regions.h"

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MAP_WIDTH 1000.0
#define MAP_COMPACT_WIDTH 800.0
#define MAP_HEIGHT 700.0

/* The frame of the scatter. */
#define MAP_LEFT 72.0
#define MAP_RIGHT 676.0
#define MAP_BOTTOM 66.0
#define MAP_TOP 618.0

#define MAP_LEVELS_MAX 7
#define MAP_BINS 20
#define MAP_CELLS_X 120 /* at most */
#define MAP_CELLS_Y 110
#define MAP_CONFIDENCE_MIN (-0.03)
#define MAP_CONFIDENCE_MAX 1.03

/* One marker, or (level ≥ MAP_HALO) the white edge below it. The file of points is an array of these, little-endian. */
struct map_point {
	float variability, confidence, level;
};
#define MAP_HALO 8

struct map_level {
	char name[16]; /* "0.83", "0.2–0.4" */
	unsigned slot; /* 0 … 6: which of the seven shapes and colours */
	uint64_t examples;
};

struct map_label {
	double x, y; /* centre, in units; */
	bool shown;  /* regions without examples have none */
};

struct map_options {
	uint64_t sample, seed;
	bool density;
};

struct map_data {
	size_t examples, shown;
	struct map_point *points;  /* in drawing order: random, so that no class hides another */
	size_t point_count;        /* twice those drawn: each has its edge before it */
	float *cells;              /* density: examples per cell, row by row from below; 0 is written as NaN */
	unsigned cells_x, cells_y; /* fewer, and larger, where there are few examples */
	uint64_t most_per_cell;
	struct map_level levels[MAP_LEVELS_MAX];
	unsigned level_count;
	uint64_t confidence_bins[MAP_BINS], variability_bins[MAP_BINS];
	double variability_max; /* of the axis, without its margin */
	struct map_label labels[REGION_COUNT];
};

/* `order` lists n examples by ascending id, the arrays are by index; epochs is how many the run has in range. */
struct map_input {
	const double *variability, *confidence, *correctness;
	const uint32_t *order;
	size_t n, epochs;
};

/* *data is the caller's to map_data_free(). Fails for lack of memory only. */
int map_data_make(const struct map_input *input, const struct map_options *options, struct map_data *data,
                  struct portolan_error *error);
void map_data_free(struct map_data *data);

/* Correctness in steps of 1/epochs, or, for more than 6 epochs, never, always, and five steps between. */
unsigned map_levels(size_t epochs, struct map_level levels[MAP_LEVELS_MAX]);
unsigned map_level_of(double correctness, size_t epochs);

/* From data to units within the frame of the scatter. */
double map_x(const struct map_data *data, double variability);
double map_y(double confidence);

/* Places the regions' labels: near centres[] (in units), where they hide few points, and apart from one another. */
void map_place_labels(struct map_data *data, const double centres[REGION_COUNT][2]);

/* The corners (count ≤ MAP_BOX_CORNERS) of the box around a region's label, rotated, with round corners; in units. */
#define MAP_BOX_CORNERS 24
#define MAP_LABEL_ANGLE (-10.0) /* degrees */
size_t map_label_box(enum region region, const struct map_label *label, double corners[MAP_BOX_CORNERS][2]);

/* gnuplot's numbers of the shapes, and its sizes, such that all formats show the same. */
struct map_marker {
	int shape, edge_shape;
	double size, edge_size;
};
struct map_marker map_marker(enum picture_format format, unsigned slot, size_t shown);
struct map_marker map_marker_of_legend(enum picture_format format, unsigned slot); /* without edge */
double map_marker_line(size_t shown);                                          /* the line width of crosses */

/* Leaves out the points that later ones hide wholly; `shown` still counts them. PORTOLAN_E_MEMORY. */
int map_leave_out_hidden(struct map_data *data, enum picture_format format, struct portolan_error *error);

struct map_script {
	const struct map_data *data;
	enum picture_format format;
	bool compact, density;
	const char *picture, *data_file;      /* file names: letters, digits, . _ - only */
	const char *title, *caption;          /* any text */
	bool (*can_draw)(uint32_t character); /* asked about characters that not every installation has a font for */
};

/* Writes the script. Errors are the stream's. */
void map_script_write(FILE *stream, const struct map_script *script);

#endif

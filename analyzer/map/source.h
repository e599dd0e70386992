/*
 * source.h: reads the examples that `portolan map` draws, from a run of the store or from a file of coordinates (JSON
 * lines, CSV or TSV, such as the published tools' td_metrics.jsonl). What colours the examples may be a column of
 * another file.
 *
 * A source points into itself, so it is filled where it stays, and never copied. What cannot be read ends the program.
 */
#ifndef MAP_SOURCE_H
#define MAP_SOURCE_H

#include "files/attributes.h"
#include "map_data.h"
#include "map_maker.h"
#include "measures/aggregate.h"
#include "selection/corrected.h"

struct map_source_request {
	const char *x, *y;              /* measures or columns */
	bool y_given, regions_given;    /* the user chose them: a run of losses refuses what it has not */
	const char *colour;             /* NULL: correctness */
	const char *colour_name;        /* of a file of cells: the measure whose means it has; NULL: not known */
	const char *colour_file;        /* the file of the column `colour`; NULL: the source's own */
	const char *id_field;           /* the field of the ids in files; NULL: guid, else id */
	bool glue;                      /* colour_file is read as files/glue.h says */
	const char *highlight;          /* a file of the ids that are drawn over the others; NULL: none */
	const char *corrections;        /* a file of corrections: marked, or in the colours of gold; NULL: none */
	bool plain;                     /* all points are grey: nothing colours them */
	const struct region_cuts *cuts; /* between the regions; NULL: those that regions_default_cuts() finds */
	unsigned threads;               /* how many may work on the examples */
};

struct map_source {
	char name[272];           /* the run's; or the file's, without its folder */
	struct map_input input;   /* the examples that can be drawn */
	struct map_ranges ranges; /* the ranges of these examples' values */
	size_t count;             /* of all examples */
	size_t without_place;    /* examples that cannot be drawn: without an x or a y (or, in a file, a correctness) */
	uint64_t colour_unknown; /* records of the colour file that belong to no example */
	uint64_t colour_unmatched;  /* examples without a record in that file */
	uint64_t highlight_unknown; /* ids to be highlighted that no example has */
	char first_unknown[64];     /* the first such id, perhaps cut */
	struct corrected corrected; /* with the request's corrections */
	bool is_run;
	struct aggregate_report *minus; /* the run's measures are less those of another, of which this tells; or NULL */
	bool is_cells;                  /* a row of the input is a cell, whose examples another program has counted */
	struct map_axes axes;           /* if is_cells: the axes x and y, and how many cells stand along them */
	struct dynamics dynamics;       /* of a run */
	/* private */
	const struct region_cuts *cuts; /* the user's, between the regions; NULL: the default */
	unsigned threads;               /* as in the request */
	const struct ids *ids;
	uint32_t *order; /* all examples, by ascending id; a run's belongs to `dynamics` */
	uint32_t *drawn; /* those that can be drawn; NULL: all can */
	struct attributes table;
	struct ids table_ids;
	double *colour_values, *cell_values;
	char *colour_name;
	char *differences[3]; /* what a picture calls x, y and colour less those of another run; NULL: there is none */
	struct names categories; /* the texts of a column, or the names of the run's labels */
	int32_t *category;       /* by row: the number of the example's category; −1: it has none */
	struct map_level levels[MAP_KEYS_MAX];
	unsigned others; /* how many categories share the level "others" */
};

/* The request with the axes and the colour of a run of losses in place of the defaults, which are of a run that records
 * labels. The program ends if the user asked for regions, which such a run has not. */
struct map_source_request map_source_of_losses(const struct dynamics *dynamics,
                                               const struct map_source_request *request);

/* Reads a run as a source. `first` is another source of the same store, which must be freed after this one; or NULL. */
void map_source_run(struct map_source *source, const struct run_query *query, const char *run,
                    const struct map_source *first, const struct map_source_request *request);

/* Reads a file as a source. Correctness may be a count of epochs: the column `epochs`, or else the highest count, says
 * how many epochs there were. A file with the columns x_low, x_high, y_low, y_high and count is a file of cells. Then
 * is_cells is set, and x, y and colour of the request only name what was counted. */
void map_source_file(struct map_source *source, const char *path, const struct map_source_request *request);

/* Makes levels of the categories of one or two sources. Both get the same levels: by falling number of examples, then
 * by name. Sources that are coloured by something else stay as they are. */
void map_source_rank(struct map_source *sources, size_t count);

/* Ends the program for a measure that the run does not have; the message names the nearest one. `option` gave the
 * measure. */
__attribute__((noreturn)) void map_source_no_measure(const struct dynamics *dynamics, const char *option,
                                                     const char *name);

/* Frees the arrays with a value for each example, which nobody needs once the maps are made. */
void map_source_drop_values(struct map_source *source);
void map_source_free(struct map_source *source);

/* Makes the map of the source. `input` is the source's own, except for grids, levels and labels. *sample becomes the
 * examples that were drawn at random, by index, and is the caller's to map_sample_free(); NULL: not wanted. */
void map_source_map(const struct map_source *source, const struct map_input *input, const struct map_axes *axes,
                    const struct map_options *options, struct map_data *data, struct map_sample *sample);

/* The row of the example with this id; −1: there is none, or it has no place. */
int64_t map_source_find(const struct map_source *source, const char *id);

/*
 * What follows is for the files that fill a source (source_*.c).
 */

/* The most epochs with which correctness counts as lying on a grid. With more epochs it is a number like any other. */
#define MAP_SOURCE_GRID_MOST 50

enum map_kind map_source_kind(const char *name);
bool map_source_is_correctness(const char *name);

/* Sets what follows from the request alone: what colours the examples, and whether they have regions. */
void map_source_begin(struct map_source *source, const struct map_source_request *request);

/* Lists the examples that can be drawn. If there are none, the program ends. */
void map_source_list_drawn(struct map_source *source);

/* 1, the grid of whole numbers, if all values are whole; else 0. */
double map_source_grid(const double *values, size_t n);

/* The name by which a picture calls a file: without its folder; `other` for standard input. */
const char *map_source_file_name(const char *path, const char *other);

const char *map_source_id_field(const struct user_file *file, const char *asked);

/* source_cells.c: tells whether the file has cells; and reads such a file. An error is returned, as the fuzzer of
 * foreign files goes on after it. */
bool map_source_has_cells(const struct user_file *file);
int map_source_read_cells(struct map_source *source, const struct user_file *file,
                          const struct map_source_request *request, struct portolan_error *error);

/* source_colour.c: three ways to colour the examples. By the labels of the run, which has been read; by a column of
 * text, whose names the source takes over (its position i is row order[i], or row i without an order); or by the
 * request's colour file. */
void map_source_take_labels(struct map_source *source);
void map_source_take_categories(struct map_source *source, struct attribute *attribute, const uint32_t *order);
void map_source_read_colour(struct map_source *source, const struct map_source_request *request);

/* source_corrected.c: applies the request's corrections to the labels of the run; those that are dropped have none any
 * more. And colours the examples by what the corrections do to them. */
void map_source_correct(struct map_source *source, const char *corrections);
void map_source_mark_corrections(struct map_source *source);

/* source_highlight.c: colours the examples whose ids stand in the file to be highlighted. */
void map_source_read_highlight(struct map_source *source, const struct map_source_request *request);

#endif

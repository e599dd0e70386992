/*
 * source.h: the source of a map's examples: a run of the store, or a file of coordinates (JSONL, CSV, TSV, such as the
 * published tools' td_metrics.jsonl); and of their colours, which may be a column of another file. A source has
 * pointers into itself, so it must not be moved.
 */
#ifndef MAP_SOURCE_H
#define MAP_SOURCE_H

#include "files/attributes.h"
#include "map.h"
#include "map_maker.h"
#include "measures/dynamics.h"

struct map_source_request {
	const char *x, *y;
	const char *colour;             /* NULL: correctness */
	const char *colour_name;        /* of cells: the measure that the means are of; NULL: not known */
	const char *colour_file;        /* the column's file; NULL: the source's own */
	const char *id_field;           /* of files; NULL: guid, else id */
	bool glue;                      /* colour_file is read as files/glue.h says */
	const char *highlight;          /* a file of ids, which are drawn over the others; NULL: none */
	bool plain;                     /* coloured by nothing */
	const struct region_cuts *cuts; /* NULL: the run's own */
};

struct map_source {
	char name[272];             /* the run's, or the file's without its folder */
	struct map_input input;     /* of the examples that can be drawn */
	struct map_ranges ranges;   /* of these */
	size_t count;               /* examples */
	size_t without_place;       /* of these, without an x or a y (or, in a file, a correctness): not drawn */
	uint64_t colour_unknown;    /* records of the colour file that belong to no example */
	uint64_t colour_unmatched;  /* examples without a record there */
	uint64_t highlight_unknown; /* ids to be highlighted that no example has; */
	char first_unknown[64];     /* the first of them, perhaps cut */
	bool is_run;
	bool is_cells;            /* examples counted elsewhere: a row of the input is a cell; */
	struct map_axes axes;     /* x, y and how many cells along them */
	struct dynamics dynamics; /* a run's */
	/* private */
	struct map_cuts cuts; /* of the regions, where it has any */
	const struct region_cuts *given_cuts;
	const struct ids *ids;
	uint32_t *order; /* all examples, by ascending id; a run's are its own */
	uint32_t *drawn; /* input.order */
	struct attributes table;
	struct ids table_ids;
	double *colour_values, *cell_values;
	char *colour_name;
	struct names categories; /* the categories of examples: a column's texts, or the run's labels */
	int32_t *category;       /* by row: which; −1: none */
	struct map_level levels[MAP_KEYS_MAX];
	unsigned others; /* categories that have no level of their own */
};

/* `first`: a source of the same store, to be freed later than this; or NULL. An unknown measure is an error that names
 * the nearest. */
int map_source_run(struct map_source *source, const struct run_query *query, const char *run,
                   const struct map_source *first, const struct map_source_request *request,
                   struct portolan_error *error);

/* Makes levels of the categories of one or two sources, the same for both, by falling number of examples, then by name.
 * Sources that are coloured by something else stay as they are. */
int map_source_rank(struct map_source *sources, size_t count, struct portolan_error *error);

/* Correctness may be a count; the highest is then taken for the number of epochs, unless there is a column `epochs`. A
 * file with the columns x_low, x_high, y_low, y_high and count is a file of cells, and is_cells is set; x, y and colour
 * of the request are then names for its columns. */
int map_source_file(struct map_source *source, const char *path, const struct map_source_request *request,
                    struct portolan_error *error);

/* The error for a measure that a run does not have; it names the nearest. `option` gave the measure. */
int map_source_unknown(const struct dynamics *dynamics, const char *option, const char *name,
                       struct portolan_error *error);

void map_source_free(struct map_source *source); /* may be called twice */

/* The map of the source, with an input that is like its own but for grids, levels and labels. `sample`: the drawn
 * examples, by index; the caller's to map_sample_free(); NULL: not wanted. */
int map_source_map(struct map_source *source, const struct map_input *input, const struct map_axes *axes,
                   const struct map_options *options, struct map_data *data, struct map_sample *sample,
                   struct portolan_error *error);

/* The index of the example with this id; −1: there is none, or it has no place. */
int map_source_find(const struct map_source *source, const char *id, int64_t *row, struct portolan_error *error);

#endif

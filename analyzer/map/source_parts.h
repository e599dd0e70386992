/* source_parts.h: shared by the files that make a struct map_source; see source.h. */
#ifndef MAP_SOURCE_PARTS_H
#define MAP_SOURCE_PARTS_H

#include "source.h"

/* Epochs: with more steps than this, correctness is treated like any number. */
#define MAP_SOURCE_GRID_MOST 50

enum map_kind map_source_kind(const char *name);
bool map_source_is_correctness(const char *name);
bool map_source_is_data_map(const struct map_source_request *request);

/* Colours the examples by correctness if nothing else colours them, unless they are to be plain. */
enum map_colouring map_source_colouring(const struct map_source_request *request);

/* Lists the examples that can be drawn; an error where there are none. */
int map_source_list_drawn(struct map_source *source, struct portolan_error *error);

/* Whole numbers lie on a grid: 1, else 0. */
double map_source_grid(const double *values, size_t n);

/* Is it a file of cells? And reads one: see source_cells.c. */
bool map_source_has_cells(const struct user_file *file);
int map_source_read_cells(struct map_source *source, const struct user_file *file,
                          const struct map_source_request *request, struct portolan_error *error);

/* Is it coloured by the run's labels? */
bool map_source_is_gold(const struct map_source_request *request);

/* Sets the source's categories: the labels of its run, which has been read; or a column of text, whose names it takes
 * over (position i is row order[i], or row i without an order); or whether an example is in the file of ids to be
 * highlighted. */
int map_source_take_labels(struct map_source *source, struct portolan_error *error);
int map_source_take_categories(struct map_source *source, struct attribute *attribute, const uint32_t *order,
                               struct portolan_error *error);
int map_source_read_highlight(struct map_source *source, const struct map_source_request *request,
                              struct portolan_error *error);

/* The error for a column of text. */
int map_source_refuse_text(const struct user_file *file, const struct attribute *attribute, const char *option,
                           struct portolan_error *error);

const char *map_source_id_field(const struct user_file *file, const char *asked);

/* Fills input.colour from the request's file, if it names one. */
int map_source_read_colour(struct map_source *source, const struct map_source_request *request,
                           struct portolan_error *error);

#endif

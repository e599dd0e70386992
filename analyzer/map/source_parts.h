/* source_parts.h: what the files that fill a struct map_source share. */
#ifndef MAP_SOURCE_PARTS_H
#define MAP_SOURCE_PARTS_H

#include "source.h"

/* The most epochs whose steps of correctness are a grid. With more steps correctness is a number like any other. */
#define MAP_SOURCE_GRID_MOST 50

enum map_kind map_source_kind(const char *name);
bool map_source_is_correctness(const char *name);

/* Sets what the request alone says of the input: what colours it, and whether it has regions. */
void map_source_begin(struct map_source *source, const struct map_source_request *request);

/* Lists the examples that can be drawn; an error where there are none. */
int map_source_list_drawn(struct map_source *source, struct portolan_error *error);

/* 1, the grid of whole numbers, where all values are whole; else 0. */
double map_source_grid(const double *values, size_t n);

/* The name that stands for a file: without its folder; `other` for standard input. */
const char *map_source_file_name(const char *path, const char *other);

const char *map_source_id_field(const struct user_file *file, const char *asked);

/* source_cells.c: does the file have cells? Reads such a file. */
bool map_source_has_cells(const struct user_file *file);
int map_source_read_cells(struct map_source *source, const struct user_file *file,
                          const struct map_source_request *request, struct portolan_error *error);

/* source_colour.c: colours the examples by the labels of the run, which has been read; by a column of text, whose names
 * the source takes over (its position i is row order[i], or row i without an order); or by the request's colour file. */
int map_source_take_labels(struct map_source *source, struct portolan_error *error);
void map_source_take_categories(struct map_source *source, struct attribute *attribute, const uint32_t *order);
int map_source_read_colour(struct map_source *source, const struct map_source_request *request,
                           struct portolan_error *error);

/* source_highlight.c: colours the examples whose ids stand in the file to be highlighted. */
int map_source_read_highlight(struct map_source *source, const struct map_source_request *request,
                              struct portolan_error *error);

#endif

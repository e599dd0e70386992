/*
 * write.h: for `portolan dynamics`: writes a run's observations as a table with a row for each, by epoch, then by
 * ascending id.
 *
 * Memory is bounded. If the ids came in ascending order, rows are written as they are read. Otherwise an epoch is
 * gathered in memory. If there is room only for a part of it at a time, the epoch is read several times.
 */
#ifndef DYNAMICS_WRITE_H
#define DYNAMICS_WRITE_H

#include "files/places.h"
#include "layout.h"

struct observations_request {
	enum table_format format; /* TABLE_ALIGNED: the ends of the table, for people */
	const char *const *names; /* the columns; see layout_init() */
	size_t name_count;
	bool id_bytes;                  /* npy: ids that are text are written as bytes */
	const struct places_list *list; /* the examples that are wanted; NULL: all */
	uint8_t *found;                 /* by place in the list: set to 1 for examples that were observed */
};

/* Writes the table of `run`, which was opened with LAYOUT_COLUMNS as signals. The run's count and gaps become those of
 * the written examples. The caller finishes the output. */
void observations_write(struct dynamics *run, const struct observations_request *request, struct output *output);

#endif

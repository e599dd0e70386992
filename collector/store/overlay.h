/*
 * overlay.h: what a snapshot shows beyond the columns: the rows that are still in the log, sorted by chunk, to be
 * merged over the columns of a chunk when that is read. Private to the reading half. The batches stay in the store,
 * where the snapshot's transaction keeps them valid. Immutable after store_overlay_build(), so that cursors of several
 * threads may use it.
 */
#ifndef STORE_OVERLAY_H
#define STORE_OVERLAY_H

#include "catalog.h"
#include "merge.h"

struct overlay_row {
	uint32_t batch, row;
};

struct overlay_part { /* the log's rows of one epoch */
	uint32_t epoch;
	uint32_t from;            /* the first chunk touched */
	uint32_t chunks;          /* number of chunks from there to the last one touched */
	size_t *first;            /* chunks + 1: rows of chunk from + c are first[c] … first[c + 1] − 1 */
	struct overlay_row *rows; /* in log order within a chunk */
};

struct overlay {
	struct batch *batches; /* their arrays point into LMDB's memory */
	size_t batch_count;
	struct overlay_part *parts; /* ascending epochs */
	size_t part_count;
};

struct overlay_request {
	uint32_t run, sessions;
	uint64_t rows;                      /* examples of the run: indices are below this */
	const struct catalog_epoch *epochs; /* epochs whose log is wanted, ascending */
	size_t epoch_count;
};

/* Reads the log of the epochs that `request` names, and sorts its rows by chunk. */
int store_overlay_build(const struct view *view, const struct overlay_request *request, struct overlay *overlay,
                        struct portolan_error *error);
void store_overlay_free(struct overlay *overlay);

/* Merges the rows that `part` has of `chunk`, from position `merged` on, into the image, by the winner rule: `columns`
 * of the observations; or, if `columns` is 0, the values kept per example. */
int store_overlay_apply(const struct overlay *overlay, const struct overlay_part *part, uint32_t chunk, uint64_t merged,
                        uint64_t columns, const uint32_t *order, struct merge_chunk *image);

static inline bool
store_overlay_touches(const struct overlay_part *part, uint32_t chunk)
{
	return part && chunk >= part->from && chunk - part->from < part->chunks &&
	       part->first[chunk - part->from] < part->first[chunk - part->from + 1];
}

static inline bool
store_overlay_touches_any(const struct overlay *overlay, uint32_t chunk)
{
	for (size_t i = 0; i < overlay->part_count; i++)
		if (store_overlay_touches(&overlay->parts[i], chunk))
			return true;
	return false;
}

#endif

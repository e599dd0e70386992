/*
 * overlay.h: what the log held when a snapshot was opened, copied to memory and sorted by chunk; private to the
 * reading half. Immutable after store_overlay_build(), so that cursors of several threads may use it.
 */
#ifndef STORE_OVERLAY_H
#define STORE_OVERLAY_H

#include "catalog.h"
#include "merge.h"

struct overlay_row {
	uint32_t batch, row;
};

struct overlay_part {  /* of one epoch; or of all, for what is kept per example */
	size_t *first; /* chunk_count + 1: rows of chunk c are first[c] … first[c + 1] − 1; NULL: nothing */
	struct overlay_row *rows; /* in log order within a chunk */
};

struct overlay {
	struct batch *batches; /* their arrays point into `blocks`; only the columns wanted */
	size_t batch_count, batch_room;
	void **blocks;
	uint32_t chunk_count;
	struct overlay_part *epochs; /* as the snapshot's epochs */
	size_t epoch_count;
	struct overlay_part examples;
};

struct overlay_request {
	uint32_t run, sessions;
	uint64_t rows;          /* of the run: indices are below */
	uint64_t columns;       /* wanted */
	const uint32_t *epochs; /* in range, ascending */
	size_t epoch_count;
	bool every_epoch; /* labels, or which examples were seen, are wanted: of all epochs */
};

int store_overlay_build(const struct view *view, const struct overlay_request *request, struct overlay *overlay,
                        struct portolan_error *error);
void store_overlay_free(struct overlay *overlay);

/* Merges what `part` holds of `chunk` into the image, by the winner rule; `examples` picks store_merge_examples(). */
int store_overlay_apply(const struct overlay *overlay, const struct overlay_part *part, uint32_t chunk, bool examples,
                        uint64_t columns, const uint32_t *order, struct merge_chunk *image, uint64_t *counter);

static inline bool
store_overlay_touches(const struct overlay_part *part, uint32_t chunk)
{
	return part->first && part->first[chunk] < part->first[chunk + 1];
}

#endif

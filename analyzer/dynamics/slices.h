/*
 * slices.h: a run's examples by ascending id in bounded memory.
 *
 * Where the order of the store is that of the ids (declared or sequential ones), one scan gives them. Otherwise the
 * range of ids is cut into slices that fit into memory; each takes a scan of the run, and is sorted. Ids are looked at twice
 * for that: once whether it is needed, and once to count what falls between splitters taken from a sample.
 */
#ifndef SLICES_H
#define SLICES_H

#include "dynamics.h"

struct slices {
	bool ascending; /* the scan's order will do, and there are no slices */
	size_t longest; /* bytes of the longest string id */
	size_t count;
	struct ids bounds; /* slice s holds the ids from bound s−1 on (all for s = 0), below bound s (all for the last) */
	size_t *rows;      /* of each slice, examples not observed included */
	uint64_t *text;    /* of each, bytes of string ids */
};

/* What an example of a slice takes in memory, its text and what sorting takes included; text 0 for integer ids. */
uint64_t slices_row_bytes(const struct dynamics *run, uint64_t text);

/* Cuts so that each slice takes at most `memory` bytes, as far as the sample shows. */
int slices_plan(struct dynamics *run, uint64_t memory, struct slices *slices, struct portolan_error *error);
void slices_free(struct slices *slices);

/* The observed examples of slice s, a part of the run: its order is by ascending id. */
int slices_load(struct dynamics *run, const struct slices *slices, size_t s, struct dynamics *slice,
                struct portolan_error *error);

/* The same of any examples: `choose`, asked from several threads at once, lists those of a part's observed ones; of all
 * parts together at most `rows`, with so many bytes of string ids. */
int slices_collect(struct dynamics *run, size_t rows, uint64_t text,
                   size_t (*choose)(void *context, const struct dynamics *part, uint32_t *chosen), void *context,
                   struct dynamics *slice, struct portolan_error *error);
void slices_release(struct dynamics *slice);

#endif

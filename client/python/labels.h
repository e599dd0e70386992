/*
 * labels.h: remembers which gold label an id was logged with, and notices when it comes with another. Private.
 *
 * A position in a shuffled order, taken for an id, is the classic silent error: everything runs, and the map is of
 * nothing. It shows as ids whose gold label changes from epoch to epoch. What is remembered is bounded (1 MB, the first
 * 65,536 ids): the collector counts every change exactly (portolan check); this is for saying so while it can still be
 * mended.
 *
 * Needs the GIL, as everything here that changes.
 */
#ifndef PORTOLAN_PYTHON_LABELS_H
#define PORTOLAN_PYTHON_LABELS_H

#include "module.h"

struct labels_slot;

struct labels {
	struct labels_slot *slots; /* NULL until the first batch */
	size_t used;
	int done; /* a change was found, or there is no memory: no more looking */
};

/* Looks at a batch that was logged. 1 when an id has another gold label than before: the row, and the label it had;
 * once only, further calls answer 0. */
int labels_see(struct labels *labels, const struct portolan_batch *batch, size_t *row, int32_t *before);

void labels_clear(struct labels *labels);

#endif

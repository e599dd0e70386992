/*
 * batch.h: the arguments of one log call, pinned. Private.
 *
 * Needs the GIL; between open and close the batch may be read without it.
 */
#ifndef PORTOLAN_PYTHON_BATCH_H
#define PORTOLAN_PYTHON_BATCH_H

#include "arrays.h"

/* One batch and what keeps its memory alive. */
struct pinned_batch {
	struct portolan_batch batch;
	struct array_view scores, ids, gold, correct;
	struct string_view strings;
};

/* Fills a batch that is zero but for epoch and kind. gold and correct may be None. After a failure, too, batch_close()
 * is due. */
int batch_open(struct pinned_batch *pinned, const char *scores_name, PyObject *ids, PyObject *scores, PyObject *gold,
               PyObject *correct);
void batch_close(struct pinned_batch *pinned);

#endif

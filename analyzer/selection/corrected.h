/*
 * corrected.h: what the file of --corrections (suspects/corrections.h) changes in a loaded run: labels, and which
 * examples are left out. For `portolan select` and `map`.
 */
#ifndef CORRECTED_H
#define CORRECTED_H

#include "measures/dynamics.h"
#include "suspects/corrections.h"

struct corrected {
	struct corrections corrections;
	int32_t *recorded; /* by dense index: the label that the run was recorded with */
	uint8_t *marks;    /* by dense index: enum corrected_mark */
};

enum corrected_mark {
	CORRECTED_NOT,   /* not in the file */
	CORRECTED_RIGHT, /* somebody looked: the label is right */
	CORRECTED_CHANGED,
	CORRECTED_DROPPED,
};

/* Reads the file, and gives the corrected examples their labels, in dynamics->gold, which must be loaded. Those that
 * were dropped keep theirs. */
void corrected_apply(struct corrected *corrected, const char *path, struct dynamics *dynamics);
void corrected_free(struct corrected *corrected); /* may be called twice */

#endif

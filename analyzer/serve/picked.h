/* picked.h: a selection, and what it selects. */
#ifndef PICKED_H
#define PICKED_H

#include "file_filters.h"

#include "selection/within.h"

/* A selection, and the examples of question->view that it selects. */
struct picked {
	struct within *within;
	struct file_filters file; /* of its filters, with the view of the selection's own epochs */
	uint32_t *order;          /* dense indices by ascending id */
	size_t count;
};

#endif

/*
 * chosen.h: reads, for portolan show, everything about a few examples of a run, without reading the rest of the run.
 *
 *     struct chosen chosen = {0};
 *     chosen_read(&chosen, &run, &list);   chosen.found[place], and the rest of those that were found
 *     chosen_free(&chosen);
 */
#ifndef CHOSEN_H
#define CHOSEN_H

#include "files/places.h"
#include "serve/stories.h"

struct chosen {
	uint8_t *found;         /* by place: the example was observed */
	struct dynamics part;   /* columns, gold labels and ids of the examples, by place */
	struct stories stories; /* by place */
};

/* Reads the examples whose ids are in the list. `run` must be open. */
void chosen_read(struct chosen *chosen, const struct dynamics *run, const struct places_list *list);
void chosen_free(struct chosen *chosen); /* may be called twice */

/* Is it known at which epochs the examples were right: by their labels, or by --loss-threshold? */
bool chosen_knows_right(const struct chosen *chosen);

/* Is there a forgetting event: was the example at a place not correct at the run's e-th epoch, but correct when it was
 * last observed before? */
bool chosen_is_forgotten(const struct chosen *chosen, size_t place, size_t e);

#endif

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
	uint8_t *found;         /* by place: it was observed */
	struct dynamics part;   /* its columns, gold and ids, by place */
	struct stories stories; /* by place */
};

/* `run` was opened; the list is of its ids. */
void chosen_read(struct chosen *chosen, const struct dynamics *run, const struct places_list *list);
void chosen_free(struct chosen *chosen); /* may be called twice */

/* Is it a forgetting event? The example at a place is not correct at epoch e (its number among the run's epochs), and
 * was correct when last observed before. */
bool chosen_is_forgotten(const struct chosen *chosen, size_t place, size_t e);

#endif

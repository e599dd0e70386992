/* pool.h: the examples that `portolan select` chooses from: all that were observed, or those that the user's lists
 * (--only, --exclude) and polygons (--within) leave. `aflite` reads its lists here, too. */
#ifndef POOL_H
#define POOL_H

#include "measures/dynamics.h"
#include "regions/within.h"

#define POOL_LISTS_MAX 16

struct pool_list {
	const char *path;
	bool is_exclusion; /* true: its ids are left out; false: all other ids are */
	/* what pool_apply() finds in it: */
	uint64_t ids;         /* the number of ids in the file; one that is listed twice counts twice */
	uint64_t unknown;     /* the number of ids that no observed example has; */
	uint64_t first_place; /* of the first of these: the line or row, */
	const char *unit;     /* which of the two that is, "line" or "row", */
	char first[64];       /* and how the id begins */
};

/* Sets in[position] to 0 for each of the n positions of the index whose id the list leaves out. `whose` ids they are,
 * for messages: "the run". An id in the file that cannot be one of them ends the program; the message names file and
 * line. */
void pool_apply(const struct ids_index *index, const char *whose, struct pool_list *list, uint8_t *in, size_t n);

/* Lists the examples that the lists and the polygons (NULL: none) leave: those in every list, in no list of exclusions,
 * and within the polygons. Returns *left dense indices by ascending id, which the caller passes to array_free(). The
 * program ends if an id cannot be one of the run's (the message names file and line), and if the lists leave no
 * example. Polygons may leave none. */
uint32_t *pool_make(const struct dynamics *dynamics, struct pool_list *lists, size_t count, const struct within *within,
                    size_t *left);

#endif

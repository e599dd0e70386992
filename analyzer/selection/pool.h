/* pool.h: the examples to select from: all observed ones, or those that the user's lists leave. */
#ifndef POOL_H
#define POOL_H

#include "measures/dynamics.h"
#include "regions/within.h"

#define POOL_LISTS_MAX 16

struct pool_list {
	const char *path;
	bool is_exclusion; /* its ids stay out; else only its ids are in */
	/* what was found: */
	uint64_t ids;         /* in the file; one that stands there twice counts twice */
	uint64_t unknown;     /* not among the examples observed */
	uint64_t first_place; /* of these the first, the line or row it stands in, */
	const char *unit;     /* "line" or "row", */
	char first[64];       /* and its beginning */
};

/* Sets in[0 … n − 1], by position in the index, to 0 for whom one list does not leave in. `whose` ids these are, for
 * messages: "the run". PORTOLAN_E_INVALID: an id that cannot be one of them, by file and line. */
int pool_apply(const struct ids_index *index, const char *whose, struct pool_list *list, uint8_t *in, size_t n,
               struct portolan_error *error);

struct pool {
	uint32_t *order; /* dense indices by ascending id */
	size_t count;
};

/* The pool has the examples that are in every list, in no list of exclusions, and within the polygons, if there are any
 * (NULL: none). PORTOLAN_E_INVALID: an id that cannot be one of the run, by file and line; or the lists leave no
 * example. Polygons may leave none. */
int pool_make(struct pool *pool, const struct dynamics *dynamics, struct pool_list *lists, size_t count,
              const struct within *within, struct portolan_error *error);
void pool_free(struct pool *pool); /* may be called twice */

#endif

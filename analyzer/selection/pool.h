/* pool.h: the examples that `portolan select` chooses from: all that were observed, or those that the user's lists
 * (--only, --exclude) and polygons (--within) leave. `aflite` reads its lists here, too. */
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
 * messages: "the run". An id that cannot be one of them ends the program, by file and line. */
void pool_apply(const struct ids_index *index, const char *whose, struct pool_list *list, uint8_t *in, size_t n);

/* Lists the examples that are in every list, in no list of exclusions, and within the polygons, if there are any (NULL:
 * none): *left dense indices by ascending id; the caller's to array_free(). An id that cannot be one of the run ends the
 * program, by file and line, and so do lists that leave no example. Polygons may leave none. */
uint32_t *pool_make(const struct dynamics *dynamics, struct pool_list *lists, size_t count, const struct within *within,
                    size_t *left);

#endif

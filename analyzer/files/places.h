/*
 * places.h: tells code that writes or shows examples in the order of their ids where each comes: its place, a number
 * from 0. Either all examples of a run have places, or those whose ids a user has listed. For `portolan metrics`,
 * `dynamics` and `show`.
 *
 * An example has a place whether it was observed or not.
 */
#ifndef PLACES_H
#define PLACES_H

#include "measures/dynamics.h"

#define PLACES_NONE UINT32_MAX /* the place of an example that is not listed */

/* *places gets the place of each of the run's *count examples, by dense index. The caller frees it with array_free(),
 * also after a failure. */
int places_of_all(const struct dynamics *run, uint32_t **places, size_t *count, struct portolan_error *error);

/* The ids that a file, or the command line, lists. */
struct places_list {
	const char *path;    /* NULL: the command line */
	const char *unit;    /* "line" or "row" */
	size_t count;        /* the number of different ids, and so of places */
	struct ids ids;      /* all ids, in the order in which they are listed */
	uint32_t *place;     /* by index in `ids`: the id's place */
	uint32_t *different; /* by place: the index in `ids` of an id that has this place */
	/* private */
	size_t given;    /* the number of ids that come from the command line */
	uint64_t *lines; /* by index in `ids`: the line or row of the file in which the id stands */
	size_t room;
};

/* Reads the ids that a file lists (list.h). PORTOLAN_E_INVALID: no example of the run can have such an id; the message
 * names the file and the line. */
int places_read(struct places_list *list, const char *path, enum store_id_kind kind, struct portolan_error *error);
/* As places_read(), but reads n texts first, and then the file; `path` may be NULL. */
int places_read_texts(struct places_list *list, char *const *texts, size_t n, const char *path, enum store_id_kind kind,
                      struct portolan_error *error);
void places_free(struct places_list *list); /* may be called twice */

/* As places_of_all(), but only listed examples have a place; the others get PLACES_NONE. Memory: 4 bytes an example. */
int places_of_list(const struct places_list *list, const struct dynamics *run, uint32_t **places,
                   struct portolan_error *error);

/* Warns of listed ids that were not found, and returns how many there are. found[place] is 1 for ids that were. The
 * message names the ids of the command line, and the first such id of the file with its line. */
uint64_t places_warn(const struct places_list *list, const struct dynamics *run, const uint8_t *found);

#endif

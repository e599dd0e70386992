/*
 * places.h: the places of examples in the order of ascending ids: of all examples of a run, or of those in a user's
 * list.
 *
 * A place is a number from 0, given to examples whether observed or not.
 */
#ifndef PLACES_H
#define PLACES_H

#include "measures/dynamics.h"

#define PLACES_NONE UINT32_MAX /* of an example that is not listed */

/* *places, by dense index, is the caller's to array_free(), also after a failure; *count: how many there are. */
int places_of_all(const struct dynamics *run, uint32_t **places, size_t *count, struct portolan_error *error);

/* Ids that a file lists, or the command line. */
struct places_list {
	const char *path;    /* NULL: the command line */
	const char *unit;    /* "line" or "row" */
	size_t count;        /* different ones: as many places */
	struct ids ids;      /* as they come */
	uint32_t *place;     /* of each */
	uint32_t *different; /* by place: one of them */
	/* private */
	size_t given;    /* so many are of the command line */
	uint64_t *lines; /* of each, where it stands in the file */
	size_t room;
};

/* Reads the file, as list.h has it. PORTOLAN_E_INVALID: an id that cannot be one of the run, by file and line. */
int places_read(struct places_list *list, const char *path, enum store_id_kind kind, struct portolan_error *error);
/* The same of n texts, then of the file, unless that is NULL. */
int places_read_texts(struct places_list *list, char *const *texts, size_t n, const char *path, enum store_id_kind kind,
                      struct portolan_error *error);
void places_free(struct places_list *list); /* may be called twice */

/* As places_of_all(), of the listed ones; others have PLACES_NONE. Memory: 4 bytes an example. */
int places_of_list(const struct places_list *list, const struct dynamics *run, uint32_t **places,
                   struct portolan_error *error);

/* Warns of the ids that were not found (by place): names those of the command line, and the first of the file, by its
 * line. Returns their number. */
uint64_t places_warn(const struct places_list *list, const struct dynamics *run, const uint8_t *found);

#endif

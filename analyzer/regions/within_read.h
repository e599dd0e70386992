/* within_read.h: reads a selection that the live page has exported, from JSON into struct within; for within.c, which
 * finds the examples in it, and for code that only looks at what a selection says. */
#ifndef WITHIN_READ_H
#define WITHIN_READ_H

#include "outline.h"

#include <jansson.h>

struct within_part {
	bool removes;
	struct outline outline;
};

/*
 * Reads the user's own file. keep() applies one filter that needs it as within_keep() does: kept[] has the *count
 * remaining dense indices by ascending id. values() gives the values on the axis "data:COLUMN", by dense index; NaN: the
 * example has none; the caller's to free().
 */
struct within_file {
	int (*keep)(void *context, const char *name, const json_t *filter, uint32_t *kept, size_t *count,
	            struct portolan_error *error);
	int (*values)(void *context, const char *name, double **values, struct portolan_error *error);
	void *context;
};

struct within {
	char *what;                /* names the selection in errors */
	json_t *object;            /* the JSON it was read from, without unknown members */
	const char *run, *epochs;  /* the run and epochs on which it was made, as in "1:6"; NULL: not given */
	const char *x, *y;         /* the axes of the polygons; NULL: there are no parts */
	struct within_part *parts; /* in the order in which they are applied */
	size_t part_count;
	const json_t *filters; /* the filters in `object`; NULL: none */
	/* set by the caller; without its functions, filters and axes that need the user's file are refused */
	struct within_file file;
};

/* Reads a selection from JSON text. `what` names it in errors ("FILE.json", "the request"). PORTOLAN_E_INVALID: the
 * message says which member is wrong, and how it should be. */
int within_parse(struct within **within, const char *what, const char *text, size_t size, struct portolan_error *error);
int within_read(struct within **within, const char *path, struct portolan_error *error); /* from a file */
void within_free(struct within *within);                                                 /* NULL: nothing */

/* Does the filter need the user's own file? Does an axis of the polygons? */
bool within_is_of_file(const char *name, const json_t *filter);
bool within_is_drawn_on_file(const struct within *within);

/* Sets the error PORTOLAN_E_INVALID: "WHAT: why". */
__attribute__((format(printf, 3, 4))) int within_wrong(const struct within *within, struct portolan_error *error,
                                                       const char *format, ...);

#endif

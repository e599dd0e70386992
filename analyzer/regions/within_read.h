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
 * Evaluates filters that need the user's own file: keep() does what within_keep() does, for one filter; kept[] has the
 * *count remaining dense indices by ascending id.
 */
struct within_file {
	int (*keep)(void *context, const char *name, const json_t *filter, uint32_t *kept, size_t *count,
	            struct portolan_error *error);
	void *context;
};

struct within {
	char *what;                /* names it in errors */
	json_t *object;            /* from which it was read, without unknown members */
	const char *run, *epochs;  /* on which it was made, "1:6"; NULL: not given */
	const char *x, *y;         /* NULL: there are no parts */
	struct within_part *parts; /* in the order in which they are applied */
	size_t part_count;
	const json_t *filters;   /* of the object; NULL: none */
	struct within_file file; /* the caller's; without keep, such filters are refused */
};

/* Reads one from JSON text. `what` names it in errors ("FILE.json", "the request"). PORTOLAN_E_INVALID says which
 * member is wrong, and how it should be. */
int within_parse(struct within **within, const char *what, const char *text, size_t size, struct portolan_error *error);
int within_read(struct within **within, const char *path, struct portolan_error *error); /* from a file */
void within_free(struct within *within);                                                 /* NULL: nothing */

/* Does the filter need the user's own file? */
bool within_is_of_file(const char *name, const json_t *filter);

/* PORTOLAN_E_INVALID: "WHAT: why". */
__attribute__((format(printf, 3, 4))) int within_wrong(const struct within *within, struct portolan_error *error,
                                                       const char *format, ...);

#endif

/* within_parts.h: a selection as it was read, for the two files that know it: within_read.c and within.c. */
#ifndef WITHIN_PARTS_H
#define WITHIN_PARTS_H

#include "outline.h"
#include "within.h"

struct within_part {
	bool removes;
	struct outline outline;
};

struct within {
	char *what;
	json_t *object;
	const char *x, *y; /* NULL: there are no parts */
	struct within_part *parts;
	size_t part_count;
	const json_t *filters;   /* of the object; NULL: none */
	struct within_file file; /* keep is NULL: none */
};

/* PORTOLAN_E_INVALID: "WHAT: why". */
__attribute__((format(printf, 3, 4))) int within_wrong(const struct within *within, struct portolan_error *error,
                                                       const char *format, ...);

#endif

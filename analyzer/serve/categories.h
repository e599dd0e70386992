/* categories.h: tells, for colours, groups and filters on the live page, the category of each example of a view (what
 * the page shows of a run, view.h): its gold label, or its value in a column of the user's file. */
#ifndef CATEGORIES_H
#define CATEGORIES_H

#include "texts.h"
#include "views.h"

#include "output/report.h"
#include "regions/classes.h"

struct categories {
	int32_t *numbers; /* by place; −1: none */
	size_t known;     /* numbers are below it; it counts categories, however large the users' labels are */
	/* private */
	const struct view *view;
	struct classes classes;         /* of gold labels; the last `known` of them */
	const struct attribute *column; /* NULL: gold labels */
};

/* `name`: "gold", or "data:NAME". 1: done; 0: it is a column of numbers, *column, and nothing is made; negative: an
 * error. `texts` may be NULL: there are no columns. */
int categories_make(struct categories *categories, const struct view *view, struct texts *texts, const char *name,
                    const struct attribute **column, struct portolan_error *error);
void categories_free(struct categories *categories); /* may be called twice */

/* Writes members of an object: "label", the name of the category; "value", the number of a class of the run, else
 * null. */
void categories_report(struct report *report, const struct categories *categories, size_t number);

#endif

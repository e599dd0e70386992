/* categories.h: tells, for colours, groups and filters on the live page, the category of each example of a view (what
 * the page shows of a run, view.h): its gold label, or its value in a column of the user's file. */
#ifndef CATEGORIES_H
#define CATEGORIES_H

#include "files/texts.h"
#include "views.h"

#include "output/report.h"
#include "regions/classes.h"

struct categories {
	int32_t *numbers; /* by place (number among the observed examples, by ascending id); −1: no category */
	size_t known;     /* how many categories there are: their numbers are 0 … known − 1 */
	/* private */
	const struct view *view;
	struct classes classes;         /* of gold labels: the last `known` are the categories */
	const struct attribute *column; /* NULL: gold labels */
};

/* Finds the categories that `name` stands for: "gold", or "data:NAME", a column of the user's file. Returns 1; or 0, if
 * the column holds numbers: then *column is set, and there are no categories; or the code of an error. `texts` NULL:
 * there is no such file. */
int categories_make(struct categories *categories, const struct view *view, struct texts *texts, const char *name,
                    const struct attribute **column, struct portolan_error *error);
void categories_free(struct categories *categories); /* may be called twice */

/* The value of each category on an axis, by number: that of a gold label is its class, that of a category of a column
 * the rank of its name. The caller's to free(). NULL: out of memory. */
double *categories_values(const struct categories *categories);

/* Finds the category with this label: its number, SIZE_MAX if no example of the view has it; and the class of a gold
 * label, −1 for a category of a column. PORTOLAN_E_INVALID: the run has no such class, or the column no such value. */
int categories_find(const struct categories *categories, const char *label, size_t *number, int64_t *value,
                    struct portolan_error *error);

/* Writes the member "label" of an object for a category: its name. */
void categories_report_label(struct report *report, const struct categories *categories, size_t number);
/* Writes two members: "label"; and "value", the number of the class, or null for a category of a column. */
void categories_report(struct report *report, const struct categories *categories, size_t number);

#endif

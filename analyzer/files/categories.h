/* categories.h: finds the categories of a column by their text. One owner. */
#ifndef CATEGORIES_H
#define CATEGORIES_H

#include "attributes.h"

struct categories {
	uint32_t *slots; /* number + 1; 0: free */
	size_t mask, room;
};

/* The number of the category with this text (without NUL), which is added to the attribute's names where it is new; −1:
 * out of memory. */
int32_t categories_find(struct categories *categories, struct attribute *attribute, const char *text, size_t length);
void categories_free(struct categories *categories); /* the names are the attribute's, and stay */

#endif

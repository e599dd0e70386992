/* classes.h: numbers the classes that occur among some examples: the distinct gold labels, ascending, get 0 … count−1.
 * Where examples have no label (−1), that is class 0. For code that counts or plans by class. */
#ifndef CLASSES_H
#define CLASSES_H

#include <portolan/portolan.h>

#include <stddef.h>
#include <stdint.h>

struct classes {
	int32_t *labels; /* ascending */
	size_t count;
};

/* Numbers the classes of the n ≥ 1 examples in `order`, whose labels gold[order[i]] are −1 or more.
 * PORTOLAN_E_MEMORY. */
int classes_make(struct classes *classes, const int32_t *gold, const uint32_t *order, size_t n,
                 struct portolan_error *error);
void classes_free(struct classes *classes); /* may be called twice */

/* The number of the class with a label, which must occur. */
static inline size_t
classes_find(const struct classes *classes, int32_t label)
{
	size_t from = 0, to = classes->count - 1;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (classes->labels[middle] < label)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

#endif

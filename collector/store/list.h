/*
 * list.h: makes room for one more item in a list (an array that grows), for those of the store's files that do not know
 * beforehand how many items they will find.
 */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include <stdbool.h>
#include <stdlib.h>

/* Makes room for one more item behind the first `count`. The room doubles, so `count` alone says how much there is: the
 * list is NULL at first and grows by one item at a time. `list` is the address of the caller's pointer. False: out of
 * memory; the list stays as it is. */
static inline bool
list_grow(void *list, size_t count, size_t size)
{
	void *larger = count & (count - 1) ? *(void **)list : realloc(*(void **)list, (2 * count + 1) * size);

	if (larger)
		*(void **)list = larger;
	return larger;
}

#endif

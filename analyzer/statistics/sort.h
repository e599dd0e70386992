/* sort.h: a stable sort by 64-bit keys. Pure: the caller brings the memory. */
#ifndef SORT_H
#define SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_item {
	uint64_t key;
	uint32_t value;
};

/* Ascending by key; equal keys keep their order. `scratch` has room for n items. n < 2^32. */
void sort_by_key(struct sort_item *items, struct sort_item *scratch, size_t n);

/* A key that orders like the number: ascending, or descending; NaN comes last in both. −0 and 0 are equal. */
uint64_t sort_key_ascending(double value);
uint64_t sort_key_descending(double value);

#endif

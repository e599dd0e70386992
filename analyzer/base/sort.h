/* sort.h: sorts examples, each given by its number, by 64-bit keys; for code that ranks examples by a measure or by
 * their ids. Stable. sort_key() makes such a key of a double. Pure: the caller brings the memory. */
#ifndef SORT_H
#define SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sort_item {
	uint64_t key;
	uint32_t value;
};

/* Ascending by key; equal keys keep their order. `scratch` has room for n items. n < 2^32. */
void sort_by_key(struct sort_item *items, struct sort_item *scratch, size_t n);

/*
 * A key that orders like the number, ascending or descending; NaN comes last either way, and −0 equals 0. The bits of
 * doubles compare like the doubles once those of negative ones are inverted, and the others get the top bit. Inline,
 * since selecting takes the key of each value several times.
 */
static inline uint64_t
sort_key(double value, bool descending)
{
	const uint64_t sign = UINT64_C(1) << 63;
	uint64_t bits;

	if (value != value)
		return UINT64_MAX;
	value += 0.0; /* −0 becomes 0 */
	memcpy(&bits, &value, sizeof(bits));
	bits = bits & sign ? ~bits : bits | sign;
	return descending ? ~bits : bits;
}

#endif

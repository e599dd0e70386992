/*
 * top.c: selection by radix.
 *
 * After the j-th pass the upper j bytes of the k-th key are known. Passes end early once the keys with these bytes are
 * just those still wanted. All keys below the k-th are taken, and of equal ones the first, as many as are missing. A
 * stable sort of everything would put the same ones first.
 */
#include "top.h"

struct bound {
	uint64_t prefix; /* the k-th key's upper bytes */
	unsigned shift;  /* bits that are not known yet */
	size_t wanted;   /* how many of the keys with this prefix are among the first k */
};

static uint64_t
upper(uint64_t key, unsigned shift)
{
	return shift < 64 ? key >> shift : 0;
}

static struct bound
find_bound(const double *values, uint64_t (*key_of)(double), const uint32_t *order, size_t n, size_t k)
{
	struct bound bound = {.shift = 64, .wanted = k};
	size_t within = n;

	while (bound.shift > 0 && within > bound.wanted) {
		size_t counts[256] = {0};
		unsigned digit = 0;

		for (size_t i = 0; i < n; i++) {
			uint64_t key = key_of(values[order[i]]);

			if (upper(key, bound.shift) == bound.prefix)
				counts[key >> (bound.shift - 8) & 0xff]++;
		}
		while (counts[digit] < bound.wanted)
			bound.wanted -= counts[digit++];
		within = counts[digit];
		bound.prefix = bound.prefix << 8 | digit;
		bound.shift -= 8;
	}
	return bound;
}

void
top_of_values(const double *values, bool descending, const uint32_t *order, size_t n, size_t k, struct sort_item *items)
{
	uint64_t (*key_of)(double) = descending ? sort_key_descending : sort_key_ascending;
	struct bound bound;
	size_t taken = 0;

	if (k == 0)
		return;
	bound = find_bound(values, key_of, order, n, k);
	for (size_t i = 0; i < n && taken < k; i++) {
		uint64_t key = key_of(values[order[i]]), high = upper(key, bound.shift);

		if (high > bound.prefix || (high == bound.prefix && bound.wanted == 0))
			continue;
		bound.wanted -= high == bound.prefix;
		items[taken++] = (struct sort_item){key, order[i]};
	}
	sort_by_key(items, items + k, k);
}

double
top_value(const double *values, bool descending, const uint32_t *order, size_t n, size_t k)
{
	uint64_t (*key_of)(double) = descending ? sort_key_descending : sort_key_ascending, last = 0;
	struct bound bound = find_bound(values, key_of, order, n, k);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) { /* those with the k-th key's upper bytes are all among the first k */
		uint64_t key = key_of(values[order[i]]);

		if (upper(key, bound.shift) == bound.prefix && key >= last) {
			last = key;
			at = i;
		}
	}
	return values[order[at]];
}

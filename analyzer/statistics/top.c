/*
 * top.c: finds the first k of n values for code that ranks examples (top.h), by radix.
 *
 * Each pass fixes the next DIGIT_BITS bits of the k-th key, from the top on. The passes end early when exactly as many
 * keys as are wanted begin with the bits found so far. All keys below the k-th are taken, and of the keys equal to it
 * the first, as many as are still missing. So the result is that of a stable sort of everything.
 */
#include "top.h"

/* bits of a key that a pass finds, sign and exponent first; the counts fit into the second cache */
#define DIGIT_BITS 12
#define FEW 4096 /* once so few keys begin with the bits found so far, the passes go on with these alone */

struct bound {
	uint64_t prefix; /* the upper bits of the k-th key, as far as they are known */
	unsigned shift;  /* the number of lower bits that are not known yet */
	size_t wanted;   /* how many of the keys with this prefix are among the first k */
};

static uint64_t
top_upper(uint64_t key, unsigned shift)
{
	return shift < 64 ? key >> shift : 0;
}

/* Fixes the next digit of the k-th key, which is one of those counted. Returns how many keys begin as it does. */
static size_t
top_fix_digit(struct bound *bound, const size_t *counts, unsigned bits)
{
	unsigned digit = 0;

	while (counts[digit] < bound->wanted)
		bound->wanted -= counts[digit++];
	bound->prefix = bound->prefix << bits | digit;
	bound->shift -= bits;
	return counts[digit];
}

static unsigned
top_next_bits(const struct bound *bound)
{
	return bound->shift < DIGIT_BITS ? bound->shift : DIGIT_BITS;
}

/* Goes on with the few keys that begin with the bits found so far. */
static void
top_find_among(struct bound *bound, const uint64_t *keys, size_t count)
{
	size_t within = count;

	while (bound->shift > 0 && within > bound->wanted) {
		const unsigned bits = top_next_bits(bound);
		size_t counts[1 << DIGIT_BITS] = {0};

		for (size_t i = 0; i < count; i++)
			if (top_upper(keys[i], bound->shift) == bound->prefix)
				counts[keys[i] >> (bound->shift - bits) & ((1 << bits) - 1)]++;
		within = top_fix_digit(bound, counts, bits);
	}
}

static struct bound
top_find_bound(const double *values, bool descending, const uint32_t *order, size_t n, size_t k)
{
	struct bound bound = {.shift = 64, .wanted = k};
	size_t within = n;

	while (bound.shift > 0 && within > bound.wanted && within > FEW) {
		const unsigned bits = top_next_bits(&bound);
		size_t counts[1 << DIGIT_BITS] = {0};

		for (size_t i = 0; i < n; i++) { /* no branch: a processor cannot predict whether the bits agree */
			uint64_t key = sort_key(values[order[i]], descending);

			counts[key >> (bound.shift - bits) & ((1 << bits) - 1)] +=
			        top_upper(key, bound.shift) == bound.prefix;
		}
		within = top_fix_digit(&bound, counts, bits);
	}
	if (bound.shift > 0 && within > bound.wanted) {
		uint64_t few[FEW];
		size_t count = 0;

		for (size_t i = 0; i < n && count < within; i++) {
			uint64_t key = sort_key(values[order[i]], descending);

			if (top_upper(key, bound.shift) == bound.prefix)
				few[count++] = key;
		}
		top_find_among(&bound, few, count);
	}
	return bound;
}

void
top_of_values(const double *values, bool descending, const uint32_t *order, size_t n, size_t k, struct sort_item *items)
{
	struct bound bound;
	size_t taken = 0;

	if (k == 0)
		return;
	bound = top_find_bound(values, descending, order, n, k);
	for (size_t i = 0; i < n && taken < k; i++) {
		uint64_t key = sort_key(values[order[i]], descending), high = top_upper(key, bound.shift);

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
	struct bound bound = top_find_bound(values, descending, order, n, k);
	uint64_t last = 0;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) { /* keys with the k-th key's upper bits are all among the first k */
		uint64_t key = sort_key(values[order[i]], descending);

		if (top_upper(key, bound.shift) == bound.prefix && key >= last) {
			last = key;
			at = i;
		}
	}
	return values[order[at]];
}

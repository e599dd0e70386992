/*
 * top.c: finds the first k of n values for code that ranks examples (top.h), by radix.
 *
 * Each pass fixes the next DIGIT_BITS bits of the k-th key, from the top on. The passes end early when exactly as many
 * keys as are wanted begin with the bits found so far. All keys below the k-th are taken, and of the keys equal to it
 * the first, as many as are still missing. So the result is that of a stable sort of everything.
 */
#include "top.h"

#include <portolan/widths.h>

#include <math.h>
#include <string.h>

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
top_fix_digit(struct bound *bound, const uint32_t *counts, unsigned bits)
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
		uint32_t counts[1 << DIGIT_BITS] = {0};

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
		uint32_t counts[1 << DIGIT_BITS] = {0};

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

/* The k-th value by its bound. */
static double
top_value_of_bound(const double *values, bool descending, const uint32_t *order, size_t n, size_t k)
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

#define SAMPLE 1024 /* values whose keys say how the bins lie */
#define BINS 4096
#define BLOCK 256 /* values whose bins are found at a time */

/* Bins of keys, equally wide. The first and the last one also have what lies beyond. */
struct bins {
	uint64_t low;
	unsigned shift;
};

static struct bins
top_bins(const double *values, bool descending, const uint32_t *order, size_t n)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct bins bins = {0};

	for (size_t i = 0; i < SAMPLE; i++) {
		uint64_t key = sort_key(values[order[i * n / SAMPLE]], descending);

		low = key < low ? key : low;
		high = key > high && key < UINT64_MAX ? key : high; /* NaN says nothing */
	}
	bins.low = low;
	while (high > low && (high - low) >> bins.shift >= BINS)
		bins.shift++;
	return bins;
}

/* Finds the keys of n ≤ BLOCK values, and their bins. */
FOR_EACH_WIDTH static void
top_find_bins(const struct bins *bins, const double *values, bool descending, const uint32_t *order, size_t n,
              uint64_t keys[BLOCK], uint32_t numbers[BLOCK])
{
	for (size_t i = 0; i < n; i++) {
		uint64_t key = sort_key(values[order[i]], descending);
		uint64_t bin = (key > bins->low ? key - bins->low : 0) >> bins->shift;

		keys[i] = key;
		numbers[i] = (uint32_t)(bin < BINS ? bin : BINS - 1);
	}
}

static double
top_value_of_key(uint64_t key, bool descending)
{
	const uint64_t sign = UINT64_C(1) << 63, bits = descending ? ~key : key,
	               value = bits & sign ? bits ^ sign : ~bits;
	double result;

	memcpy(&result, &value, sizeof(result));
	return key == UINT64_MAX ? (double)NAN : result;
}

/* Counting by bins that fit the keys takes two passes, where digits of keys that begin alike take four. It serves where
 * few values share the k-th one's bin. */
double
top_value(const double *values, bool descending, const uint32_t *order, size_t n, size_t k)
{
	const struct bins bins = n < SAMPLE ? (struct bins){0} : top_bins(values, descending, order, n);
	struct bound bound = {.shift = 64};
	uint32_t counts[BINS] = {0}, numbers[BLOCK]; /* n < 2^32; and threads of `serve` have small stacks */
	uint64_t keys[BLOCK], few[FEW + 1] = {0}, last = 0;
	size_t before = 0, at = 0, count = 0;

	for (size_t from = 0; from < n; from += BLOCK) {
		const size_t block = n - from < BLOCK ? n - from : BLOCK;

		top_find_bins(&bins, values, descending, order + from, block, keys, numbers);
		for (size_t i = 0; i < block; i++)
			counts[numbers[i]]++;
	}
	while (before + counts[at] < k)
		before += counts[at++];
	if (counts[at] > FEW)
		return top_value_of_bound(values, descending, order, n, k);
	for (size_t from = 0; from < n; from += BLOCK) {
		const size_t block = n - from < BLOCK ? n - from : BLOCK;

		top_find_bins(&bins, values, descending, order + from, block, keys, numbers);
		for (size_t i = 0; i < block; i++) {
			few[count] = keys[i];
			count += numbers[i] == at;
		}
	}
	bound.wanted = k - before;
	top_find_among(&bound, few, count);
	for (size_t i = 0; i < count; i++)
		if (top_upper(few[i], bound.shift) == bound.prefix && few[i] > last)
			last = few[i];
	return top_value_of_key(last, descending);
}

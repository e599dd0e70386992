/* bits.h: ranges of bits, for stretches of rows; private to the store. */
#ifndef STORE_BITS_H
#define STORE_BITS_H

#include "layout.h"

/* Whether of the rows at … end − 1 none (`wanted` false), or all, have their bit set. */
static inline bool
bits_all_are(const uint64_t *words, uint32_t at, uint32_t end, bool wanted)
{
	uint64_t other = 0;

	for (; at < end; at = (at | 63) + 1)
		other |= (wanted ? ~words[at / 64] : words[at / 64]) & bit_mask(at, end);
	return other == 0;
}

static inline void
bits_set_all(uint64_t *words, uint32_t at, uint32_t end)
{
	for (; at < end; at = (at | 63) + 1)
		words[at / 64] |= bit_mask(at, end);
}

/* Bits row … row + n − 1 of `from`, to places at … of `to`, which are 0. */
static inline void
bits_copy(uint64_t *to, size_t at, const uint8_t *from, uint32_t row, uint32_t n)
{
	uint32_t done = 0;

	while (done < n && ((row + done) % 8 != 0 || (at + done) % 8 != 0) && done < 64) {
		to[(at + done) / 64] |= (uint64_t)(from[(row + done) / 8] >> ((row + done) % 8) & 1)
		                        << ((at + done) % 64);
		done++;
	}
	if ((row + done) % 8 == 0 && (at + done) % 8 == 0) { /* the same place within a byte: whole bytes */
		memcpy((uint8_t *)to + (at + done) / 8, from + (row + done) / 8, (n - done) / 8);
		done += (n - done) / 8 * 8;
	}
	for (; done < n; done++)
		to[(at + done) / 64] |= (uint64_t)(from[(row + done) / 8] >> ((row + done) % 8) & 1)
		                        << ((at + done) % 64);
}

#endif

/* bytes.h: looks at 16 bytes of a text in one step; for code that searches long texts. Private. */
#ifndef PORTOLAN_BYTES_H
#define PORTOLAN_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Compared with each other or with a character, two of them give 0xff where the comparison holds, else 0. */
typedef int8_t bytes_16 __attribute__((vector_size(16)));

static inline bytes_16
bytes_read(const char *at)
{
	bytes_16 bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return bytes;
}

/* The highest bits of the bytes, that of the first byte lowest. */
static inline uint32_t
bytes_bits(bytes_16 bytes)
{
#ifdef __SSE2__
	typedef char vector __attribute__((vector_size(16)));

	return (uint32_t)__builtin_ia32_pmovmskb128((vector)bytes);
#else
	uint64_t halves[2];

	memcpy(halves, &bytes, sizeof(halves));
	for (int h = 0; h < 2; h++) /* the product has the bit of byte i at 56 + i */
		halves[h] =
		        (le64toh(halves[h]) >> 7 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
	return (uint32_t)(halves[0] | halves[1] << 8);
#endif
}

#endif

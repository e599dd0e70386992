/* half_reference.h: what a number of half precision is, from the definition, for tests of what reads them. */
#ifndef HALF_REFERENCE_H
#define HALF_REFERENCE_H

#include <portolan/portolan.h>

#include <math.h>

/* The number that 16 bits stand for: a sign, 5 (float16) or 8 (bfloat16) bits of exponent, the rest a fraction. */
static inline double
half_reference(uint16_t bits, enum portolan_type type)
{
	int exponent = type == PORTOLAN_F16 ? 5 : 8, digits = 15 - exponent, bias = (1 << (exponent - 1)) - 1;
	int e = (bits & 0x7fff) >> digits;
	double fraction = bits & ((1 << digits) - 1), sign = bits & 0x8000 ? -1 : 1;

	if (e == (1 << exponent) - 1)
		return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
	if (e == 0)
		return sign * ldexp(fraction, 1 - bias - digits);
	return sign * ldexp(fraction + (1 << digits), e - bias - digits);
}

#endif

/*
 * log_product.h: Σ −ln p, by one logarithm: that of the product of the p. Pure.
 *
 * The product is a mantissa from 0.6875 up to 1.375 times a power of two, parted anew after each factor: it neither vanishes
 * nor loses digits, also where every p is next to 1, and costs a few integer operations where a logarithm costs twenty times
 * as many.
 */
#ifndef LOG_PRODUCT_H
#define LOG_PRODUCT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A probability of a store that is 0 as a float32 was below 2^-150: it counts as that. */
#define LOG_PRODUCT_LEAST 0x1p-150

/* Begins as 1 and 0. */
static inline void
log_product_multiply(double *mantissa, int64_t *exponent, double p)
{
	double product = *mantissa * (p > 0 ? p : LOG_PRODUCT_LEAST);
	uint64_t bits;
	int64_t above;

	memcpy(&bits, &product, sizeof(bits));
	above = (int64_t)(bits - UINT64_C(0x3fe6000000000000)); /* of 0.6875 */
	*exponent += above >> 52;
	bits -= (uint64_t)above & UINT64_C(0xfff) << 52;
	memcpy(mantissa, &bits, sizeof(bits));
}

static inline double
log_product_loss(double mantissa, int64_t exponent)
{
	return (double)-exponent * M_LN2 - log(mantissa);
}

#endif

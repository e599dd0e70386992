/*
 * log_product.h: sums −ln p over many probabilities p by one logarithm: that of their product. For the measure loss,
 * and for the loss that `portolan watch` shows. Pure.
 *
 * The product is a mantissa from 0.6875 up to 1.375, times a power of two, and is split again after each factor. So it
 * neither vanishes nor loses digits, even if every p is close to 1, and a factor costs a few integer operations, a
 * twentieth of a logarithm.
 */
#ifndef LOG_PRODUCT_H
#define LOG_PRODUCT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* What a probability of 0 counts as: stored as a float32, it was below 2^-150. */
#define LOG_PRODUCT_LEAST 0x1p-150

/* Multiplies the product by p. The product begins as mantissa 1 and exponent 0. */
static inline void
log_product_multiply(double *mantissa, int64_t *exponent, double p)
{
	double product = *mantissa * (p > 0 ? p : LOG_PRODUCT_LEAST);
	uint64_t bits;
	int64_t above;

	memcpy(&bits, &product, sizeof(bits));
	above = (int64_t)(bits - UINT64_C(0x3fe6000000000000)); /* the bits of 0.6875 */
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

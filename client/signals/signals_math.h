/*
 * signals_math.h: e^x and ln x on float32, for signals.c, without branches or tables, so that the compiler can put
 * loops over them into vector registers. With libm's functions, they would cost more than everything else in a log
 * call. Both stay within 1.5 ulp.
 */
#ifndef CLIENT_SIGNALS_MATH_H
#define CLIENT_SIGNALS_MATH_H

#include <float.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts; the first has so few bits that its product with an exponent is exact. */
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f

static inline uint32_t
float_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float
float_from_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * e^x for −∞ < x ≤ 0; 0 where the result is below FLT_MIN (subnormal numbers would be slow, and mean nothing here).
 * x = n ln 2 + r, |r| ≤ ln 2 / 2; e^r = 1 + r + r² q(r), q fitted to a relative error of 3e-9.
 */
static inline float
exp_nonpositive(float x)
{
	const float round = 0x1.8p23f; /* adding it leaves the nearest integer in the low bits */
	const float least = -0x1.5d589ep6f;
	float in_range = x < least ? least : x;
	float shifted = in_range * 0x1.715476p0f + round;
	float n = shifted - round;
	float r = (in_range - n * LN2_HIGH) - n * LN2_LOW;
	float q = 0x1.6a23c6p-10f;

	q = q * r + 0x1.123a2p-7f;
	q = q * r + 0x1.5558f4p-5f;
	q = q * r + 0x1.555492p-3f;
	q = q * r + 0x1.fffffcp-2f;
	q = 1.0f + (r + r * r * q);
	q *= float_from_bits((float_bits(shifted) - float_bits(round) + 127) << 23);
	return x < least ? 0.0f : q;
}

/*
 * ln x for FLT_MIN ≤ x < ∞. x = 2^e (1 + f), √½ ≤ 1 + f < √2; with s = f / (2 + f),
 * ln(1 + f) = 2 artanh s = f − s (f − R), R = 2 s² (1/3 + s²/5 + s⁴/7 + …); f² / 2 is taken out so that f stays exact.
 */
static inline float
log_positive(float x)
{
	const uint32_t half_root = 0x3f3504f3; /* √½ */
	uint32_t bits = float_bits(x) - half_root;
	float e = (float)((int32_t)bits >> 23);
	float f = float_from_bits((bits & 0x7fffff) + half_root) - 1.0f;
	float s = f / (2.0f + f), z = s * s;
	float half = 0.5f * f * f;
	float R = z * (2 / 3.0f + z * (2 / 5.0f + z * (2 / 7.0f + z * (2 / 9.0f))));

	return e * LN2_HIGH + (f - (half - (s * (half + R) + e * LN2_LOW)));
}

/* ln(1 + x) for 0 ≤ x < 2^64: what rounding took from 1 + x is put back to first order. */
static inline float
log1p_nonnegative(float x)
{
	float u = 1.0f + x;

	return log_positive(u) + (x - (u - 1.0f)) / u;
}

#endif

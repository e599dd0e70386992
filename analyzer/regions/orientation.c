/*
 * orientation.c: decides exactly on which side of a polygon's edge a point lies: in float64 where its rounding error
 * cannot change the answer, else in whole numbers.
 *
 * The bound on the error is that of J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust
 * Geometric Predicates" (1997), section 4.3, rounded up, with room for products that underflow. Only points very near
 * to a line need the whole numbers. For these, six products of coordinates are added in a fixed-point number that is
 * wide enough for all of float64.
 */
#include "orientation.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define BOUND (2 * DBL_EPSILON)
#define LOWEST                                                                                                         \
	(-2252)  /* the exponent of a fixed-point number's lowest bit: of two fractions of frexp(), as 53 bits each */
#define WORDS 68 /* enough for 2^2048, and carries */

typedef unsigned __int128 wide;

/* Adds a · b to sums[0] if that is positive, else −a · b to sums[1]. */
static void
add_product(uint64_t sums[2][WORDS], double a, double b)
{
	int a_exponent, b_exponent;
	int64_t a_whole = (int64_t)ldexp(frexp(a, &a_exponent), DBL_MANT_DIG);
	int64_t b_whole = (int64_t)ldexp(frexp(b, &b_exponent), DBL_MANT_DIG);
	unsigned at = (unsigned)(a_exponent + b_exponent - 2 * DBL_MANT_DIG - LOWEST), shift = at % 64;
	uint64_t *words = sums[(a < 0) != (b < 0)] + at / 64;
	wide product = (wide)llabs(a_whole) * (wide)llabs(b_whole);
	wide carry = ((wide)(uint64_t)product << shift) + *words;

	*words++ = (uint64_t)carry;
	for (carry = (carry >> 64) + ((product >> 64) << shift); carry > 0; carry >>= 64) {
		carry += *words;
		*words++ = (uint64_t)carry;
	}
}

static int
orientation_exact(double ax, double ay, double bx, double by, double x, double y)
{
	uint64_t sums[2][WORDS] = {{0}};
	int w = WORDS - 1;

	add_product(sums, bx, y);
	add_product(sums, -bx, ay);
	add_product(sums, -ax, y);
	add_product(sums, -x, by);
	add_product(sums, x, ay);
	add_product(sums, ax, by);
	while (w > 0 && sums[0][w] == sums[1][w])
		w--;
	return (sums[0][w] > sums[1][w]) - (sums[0][w] < sums[1][w]);
}

int
orientation(double ax, double ay, double bx, double by, double x, double y)
{
	double left = (bx - ax) * (y - ay), right = (x - ax) * (by - ay);
	double error = BOUND * (fabs(left) + fabs(right)) + DBL_MIN;

	if (left - right > error)
		return 1;
	if (right - left > error)
		return -1;
	/* a point on the line of an upright or level edge, as is common: boxes often have their sides on values */
	if ((ax == x && bx == x) || (ay == y && by == y))
		return 0;
	return orientation_exact(ax, ay, bx, by, x, y);
}

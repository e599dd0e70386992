/*
 * proportion.h: intervals for a share, such as an accuracy, and for the difference of two shares of the same examples.
 * For `portolan groups --accuracy`. Pure; float64.
 */
#ifndef PROPORTION_H
#define PROPORTION_H

#include <stdint.h>

struct proportion {
	double share, low, high; /* NaN: of no examples */
};

/* How many standard deviations from its mean hold the share `level` of a normal distribution: 1.96 of 0.95. 0 < level <
 * 1. */
double proportion_deviations(double level);

/* `hits` of n, with Wilson's score interval (Wilson 1927). */
struct proportion proportion_of(uint64_t hits, uint64_t n, double deviations);

/* What became of the same examples twice: counts[first][second], each 0 (wrong) or 1 (right). */
struct proportion_pair {
	uint64_t counts[2][2];
};

/* The second share less the first, with the interval of Newcombe 1998, "Improved confidence intervals for the
 * difference between binomial proportions based on paired data", method 10: it joins the score intervals of both
 * shares, and takes into account how far the answers go together. */
struct proportion proportion_difference(const struct proportion_pair *pair, double deviations);

#endif

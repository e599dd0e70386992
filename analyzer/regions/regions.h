/*
 * regions.h: the three regions of a data map (easy-to-learn, ambiguous, hard-to-learn), for all code that must say in
 * which of them an example lies.
 *
 * Swayamdipta et al. 2020 rank examples, and do not cut. The cuts here: ambiguous is the third of the examples with the
 * highest variability, and those that vary as much as the last of these; of the rest, easy-to-learn has confidence ≥
 * 0.5, hard-to-learn has less.
 */
#ifndef REGIONS_H
#define REGIONS_H

#include "measures/dynamics.h"

enum region { REGION_EASY = 0, REGION_AMBIGUOUS, REGION_HARD, REGION_COUNT };
extern const char *const region_names[REGION_COUNT];

struct region_cuts {
	double variability; /* from here on: ambiguous */
	double confidence;  /* from here on: easy-to-learn */
};

/* Reads "V,C", as in 0.3,0.5: a variability, not negative, and a confidence. False: the text is no such pair, and *cuts
 * is unchanged. */
bool regions_parse_cuts(const char *text, struct region_cuts *cuts);

/* The cuts above for n ≥ 1 examples, whose variabilities are values[order[0]] … values[order[n−1]]. */
struct region_cuts regions_default_cuts(const double *values, const uint32_t *order, size_t n);

static inline enum region
region_of(double variability, double confidence, const struct region_cuts *cuts)
{
	/* If no example varies, as with one epoch, none is ambiguous. */
	if (variability >= cuts->variability && variability > 0)
		return REGION_AMBIGUOUS;
	return confidence >= cuts->confidence ? REGION_EASY : REGION_HARD;
}

/* Finds the region (enum region) of every observed example, by dense index, in an array that the caller passes to
 * array_free(). `cuts` NULL: by the run's own default cuts. Needs confidence and variability. PORTOLAN_E_MEMORY. */
int region_list(const struct dynamics *dynamics, const struct region_cuts *cuts, uint8_t **regions,
                struct portolan_error *error);

/* The default cuts for a run, from its own variability, which must be loaded. */
struct region_cuts region_cuts_of(const struct dynamics *dynamics);

#endif

/*
 * threshold_samples.h: examples that are given a class of their own, so that a run shows what margins wrong labels
 * have.
 *
 * Source: Pleiss et al. 2020, "Identifying mislabeled data using the area under the margin ranking", section 3.2: of N
 * examples with c classes, N / (c + 1) drawn at random get the label c + 1, which belongs to none of them. Whoever has
 * a lower AUM than their 99th percentile is called mislabelled. The file is that of flips.h.
 */
#ifndef THRESHOLD_SAMPLES_H
#define THRESHOLD_SAMPLES_H

#include "flips.h"
#include "measures/dynamics.h"

/*
 * Draws the share `fraction` of the observed examples (rounded half up) among those with a label, in ascending order of
 * id, and gives them the extra class: one above the classes named with the run, and those seen. 0: N / (c + 1), rounded
 * down, N being the examples with a label. Sets 1, 2, … of one seed share no example. Needs gold. PORTOLAN_E_INVALID:
 * no labels, none to draw, or fewer than `set` such sets.
 */
int threshold_samples_plan(const struct dynamics *dynamics, double fraction, uint64_t set, uint64_t seed,
                           struct flips *samples, struct portolan_error *error);

/* What the samples say. */
struct threshold_cut {
	double aum;     /* the least of the highest ⌊n/100⌋ + 1: their 99th percentile */
	size_t samples; /* n: those with an AUM */
};

/*
 * Judges the run that was trained with the extra class. scores[], by dense index: the share of the samples that have a
 * higher AUM; NaN: a sample, or without AUM. called[]: 1 where that is more than 1%, so where the AUM is below the cut.
 * PORTOLAN_E_INVALID: the samples have several labels, or others have theirs as well, or none has an AUM. Needs gold
 * and aum. `path` names the samples in errors.
 */
int threshold_samples_judge(const struct dynamics *dynamics, const struct flips *samples, const char *path,
                            double *scores, uint8_t *called, struct threshold_cut *cut, struct portolan_error *error);

#endif

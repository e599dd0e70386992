/*
 * threshold_samples.h: judges a run by its threshold samples: examples that were given a class of their own, so that the
 * run shows what margins wrong labels have.
 *
 * Source: Pleiss et al. 2020, "Identifying mislabeled data using the area under the margin ranking", section 3.2: an
 * example with a lower AUM than the 99th percentile of the samples is called mislabelled. flips_plan_samples() draws
 * the samples.
 */
#ifndef THRESHOLD_SAMPLES_H
#define THRESHOLD_SAMPLES_H

#include "flips.h"
#include "measures/dynamics.h"

struct threshold_cut {
	double aum;     /* the 99th percentile of the samples' AUMs: the least of the highest ⌊n/100⌋ + 1 */
	size_t samples; /* n: the samples with an AUM */
};

/*
 * Judges the run that was trained with the extra class. scores[], by dense index: the share of the samples that have a
 * higher AUM than the example; NaN for a sample, and for an example without AUM. called[]: 1 where that share is more
 * than 1%, which is where the AUM is below the cut. PORTOLAN_E_INVALID: the samples have several labels, other examples
 * have the samples' label too, or no sample has an AUM. Needs gold and aum. `path` names the samples in errors.
 */
int threshold_samples_judge(const struct dynamics *dynamics, const struct flips *samples, const char *path,
                            double *scores, uint8_t *called, struct threshold_cut *cut, struct portolan_error *error);

#endif

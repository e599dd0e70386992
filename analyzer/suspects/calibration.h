/*
 * calibration.h: estimates how many labels of a run are wrong, with an interval, and how likely each one is. It learns
 * this from flips: labels that were changed on purpose before the run was trained (flips.h). Both hold for labels that
 * are wrong as the flips are: at random, or between the same pairs of classes as the suspects. For `portolan suspects
 * --flips`.
 *
 * The flips show which part of wrong labels has a score of t or more: the recall R(t). The share H(t) of the other
 * examples that has such a score then bounds the share of wrong labels among these: H(t)/R(t), whatever the right ones
 * look like. The least of these bounds, over all t with R(t) of 0.2 or more, is the estimate. It is too high where the
 * flips score as right labels do: above a half, the list is said to be weak. (The idea is that of estimating a share
 * from positive and unlabelled examples, as in Elkan and Noto 2008; Garg et al. 2021 take the least ratio.) Flips count
 * by weights, so that they are between the same pairs of classes as the suspects.
 *
 * The interval is that of 200 bootstrap replicates, from the 5th percentile with R(t) of 0.05 or more to the 95th with
 * 0.6 or more. The probability of an example is the share of wrong labels times the ratio of the two densities at its
 * score, made to ascend with the score (isotonic regression by pooling adjacent violators).
 */
#ifndef CALIBRATION_H
#define CALIBRATION_H

#include "flips.h"
#include "suspects.h"

#define CALIBRATION_FLIPS 50 /* at least */

struct calibration {                /* begins as {0} */
	size_t flips;               /* that were found in the run */
	size_t examples;            /* all others with a score: the numbers below are of these */
	double expected, low, high; /* how many of their labels are wrong; 90% interval */
	double *probabilities;      /* by dense index; NaN: none */
};

/* Calibrates suspects of a run that was trained with the flips, takes the flips out of the ranking, and adds a doubt if
 * they hardly stand out. Ends the program if there are fewer than CALIBRATION_FLIPS. */
void calibration_make(struct calibration *calibration, struct suspects *suspects, const struct dynamics *dynamics,
                      const struct flips *flips);
void calibration_free(struct calibration *calibration); /* may be called twice */

/* Prints on stderr how many are expected, and for which labels that holds. */
void calibration_say(const struct calibration *calibration, size_t called);

/* Writes the same as a member of a report; NULL: null. */
void calibration_report(struct report *report, const struct calibration *calibration);

#endif

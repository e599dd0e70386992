/*
 * triage_scores.h: computes the TRIAGE scores of a run of a regression (Seedat et al. 2023, section 4), for `portolan
 * triage`.
 *
 * At each epoch the calibration run has the residuals r_j = (target − prediction) / σ of its q examples. An example of
 * the run with the residual r gets the conformal predictive probability of its target,
 *
 *     t = (#{r_j < r} + (#{r_j = r} + 1) / 2) / (q + 1);
 *
 * where the published code draws a uniform number u, its mean, 1/2, stands. The score is the mean of t over the epochs at
 * which the example was observed and the calibration run has examples; the variability is the standard deviation
 * (population) of t. σ is 1, or a column of the user's own that says how difficult an example is.
 */
#ifndef TRIAGE_SCORES_H
#define TRIAGE_SCORES_H

#include "measures/dynamics.h"

/* The groups by the mean score and the variability: see triage_group(). */
enum triage_group { TRIAGE_UNDER, TRIAGE_WELL, TRIAGE_OVER, TRIAGE_GROUPS };
extern const char *const triage_group_names[TRIAGE_GROUPS + 1]; /* ends with NULL */

struct triage_row {
	uint32_t row; /* the example's dense index in the run */
	uint32_t epochs;
	double score, variability;
	double residual; /* the mean of target − prediction */
	int32_t group;   /* enum triage_group */
};

/* Opens a run for triage_score(). `name`: of the run. */
void triage_open(struct dynamics *run, const struct dynamics *beside, const struct run_query *query, const char *name);

/* Fills a row for each example of the run that has a score, by ascending id; answers how many. *left_out: observed
 * examples without, as the calibration run has none of their epochs. `sigma` is the column of difficulties, or NULL.
 * Ends the program where a run was not logged as a regression, or a difficulty is not above 0. */
size_t triage_score(const struct dynamics *run, const struct dynamics *calibration, const char *sigma,
                    struct triage_row *rows, size_t *left_out);

/* Puts the rows into groups: over-estimated have a score of at most `low`, under-estimated one of at least 1 − `low`, if
 * their variability is at most that below which the share `share` lies (NumPy's percentile); all others are well
 * estimated. */
void triage_group(struct triage_row *rows, size_t count, double low, double share);

#endif

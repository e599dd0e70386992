/*
 * early_stopping.h: computes and draws how soon the measures of a run reach their final order, for portolan compare
 * --early-stopping: after each epoch, the correlation of confidence, or the mean loss, and of variability over the epochs so far
 * with those of all epochs (Swayamdipta et al. 2020, Fig. 6).
 */
#ifndef EARLY_STOPPING_H
#define EARLY_STOPPING_H

#include "measures/dynamics.h"
#include "plot/picture.h"

struct early_epoch {
	uint32_t epoch;
	uint64_t examples;                                /* examples observed up to this epoch */
	double mean_pearson, mean_spearman;               /* of confidence, or of the mean loss in a run of losses */
	double variability_pearson, variability_spearman; /* NaN: not defined */
};

/* Makes a row for each epoch of the run in the range, ascending: an array, which is the caller's to free(). The run is
 * read once for each epoch; memory does not grow with the number of epochs. Needs confidence, or
 * task_loss, and variability. */
struct early_epoch *early_stopping(const struct dynamics *dynamics);

/* Draws the correlations after each epoch as two curves. The caption names the first epoch from which on both Pearson
 * correlations are EARLY_LIKE or more, if there is one. `picture` was picture_check()ed. */
#define EARLY_LIKE 0.95
void early_chart(const struct dynamics *run, const struct early_epoch *rows, size_t n, const struct picture *picture);

#endif

/*
 * early_stopping.h: how soon the measures reach their final order: after each epoch, the correlation of confidence and
 * of variability over the epochs so far with those of all epochs (Swayamdipta et al. 2020, Fig. 6).
 */
#ifndef EARLY_STOPPING_H
#define EARLY_STOPPING_H

#include "measures/dynamics.h"
#include "plot/picture.h"

struct early_epoch {
	uint32_t epoch;
	uint64_t examples; /* observed until then */
	double confidence_pearson, confidence_spearman, variability_pearson,
	        variability_spearman; /* NaN: not defined */
};

/* One row per epoch of the run in the range, ascending; *rows is the caller's to free(). The run is read once per
 * epoch; memory does not grow with the number of epochs. Needs confidence and variability. */
int early_stopping(const struct dynamics *dynamics, struct early_epoch **rows, struct portolan_error *error);

/* The first row from which on both Pearson correlations are EARLY_LIKE or more; n: there is none. */
#define EARLY_LIKE 0.95
size_t early_settled(const struct early_epoch *rows, size_t n);

/* The curves as a picture, which was picture_check()ed. */
int early_chart(const char *run, const struct early_epoch *rows, size_t n, const struct picture *picture,
                struct portolan_error *error);

#endif

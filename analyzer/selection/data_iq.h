/*
 * data_iq.h: the groups of Data-IQ (Seedat et al. 2022): easy, ambiguous and hard examples; for the rules of `portolan
 * select` that choose such a group.
 *
 * With c the confidence, a the aleatoric uncertainty and m the median of a over the run's examples, as
 * numpy.percentile() has it: easy c ≥ 0.75 and a ≤ m, hard c ≤ 0.25 and a ≤ m, all others ambiguous. The code published
 * with the paper has the same groups (seedatnabeel/Data-IQ, src/utils/exp3_helpers.py).
 */
#ifndef DATA_IQ_H
#define DATA_IQ_H

#include "measures/dynamics.h"
#include "regions/regions.h"

extern const char *const data_iq_names[REGION_COUNT];

/* Finds the group of every observed example, by dense index: REGION_EASY, REGION_AMBIGUOUS or REGION_HARD. The caller
 * passes the array to array_free(). Needs confidence and aleatoric. */
uint8_t *data_iq_list(const struct dynamics *dynamics);

#endif

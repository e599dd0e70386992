/*
 * published.h: for `portolan metrics`: writes a run's measures as the tables of two published programs, Dataset
 * Cartography and AUM, so that their tools can read them.
 *
 * cartography has the columns guid, index (by first appearance, as in the published files), threshold_closeness,
 * confidence, variability (or variability_ci in its place), correctness as a count, and forgetfulness, which is our
 * forgetting_events. aum has sample_id and aum, as the package published with Pleiss et al. 2020 names them; examples
 * without an aum are left out.
 */
#ifndef PUBLISHED_H
#define PUBLISHED_H

#include "tables/run_table.h"

enum published { PUBLISHED_NOT, PUBLISHED_CARTOGRAPHY, PUBLISHED_CARTOGRAPHY_CI, PUBLISHED_AUM };

/* A mask of the measures that the table has. */
uint32_t published_measures(enum published form);

/* As run_table_init(). */
void published_describe(struct run_table *run_table, const struct dynamics *run, enum published form);

/* Turns values of a part, which may be the whole run, into those of the table. For cartography, correctness becomes a
 * count, and the column of the number of epochs gets the example's index. For aum, the examples that have it move to
 * the front of the part's order. Returns the number of rows. */
size_t published_mark(struct dynamics *part, enum published form);

#endif

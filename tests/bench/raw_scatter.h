/* raw_scatter.h: what one thread needs at least to bring rows that come in any order to their places. */
#ifndef RAW_SCATTER_H
#define RAW_SCATTER_H

#include "ingest_client.h"

/* The seconds for all rows of the load: of each, a value, a bit, and the mark that it is there go to the places of its
 * example, frame by frame, column by column. Nothing is read or written but arrays of one epoch. */
double raw_scatter(const struct load *load);

#endif

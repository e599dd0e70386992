/* raw_scatter.h: how long one thread needs to bring rows that come in any order to their places, and for nothing else. */
#ifndef RAW_SCATTER_H
#define RAW_SCATTER_H

#include "ingest_client.h"

/* The seconds for all rows of the load: of each, a value, a bit, and the mark that it is there go to the places of its
 * example, frame by frame. Nothing is read or written but arrays of one epoch. */
double raw_scatter(const struct load *load);

#endif

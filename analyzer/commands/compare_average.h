/* compare_average.h: several runs put together, as one table of measures. */
#ifndef COMPARE_AVERAGE_H
#define COMPARE_AVERAGE_H

#include "options/options.h"

#include <portolan/portolan.h>

extern const char *const compare_average_formats[]; /* csv, jsonl, npy, NULL */

/* Prints the runs that are the operands. An exit status, or a negative code. */
int compare_average(const struct common_options *common, int format, struct portolan_error *error);

#endif

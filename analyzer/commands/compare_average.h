/* compare_average.h: several runs put together, as one table of measures. */
#ifndef COMPARE_AVERAGE_H
#define COMPARE_AVERAGE_H

#include "program/options.h"

#include <portolan/portolan.h>

#define COMPARE_AVERAGE_FORMATS 3
extern const char *const compare_average_formats[COMPARE_AVERAGE_FORMATS]; /* csv, jsonl, npy */

/* Prints the runs that are the options' operands; format −1: csv. An exit status, or a negative code. */
int compare_average(const struct options *options, int format, struct portolan_error *error);

#endif

/* early_chart.h: the curve of early stopping as a picture. */
#ifndef EARLY_CHART_H
#define EARLY_CHART_H

#include "early_stopping.h"

#include "plot/chart.h"
#include "plot/picture.h"

/* `picture` was picture_check()ed. */
int early_chart(const char *run, const struct early_epoch *rows, size_t n, const struct picture *picture,
                struct portolan_error *error);

#endif

/* forgetting_chart.h: the histogram of forgetting events as a picture. */
#ifndef FORGETTING_CHART_H
#define FORGETTING_CHART_H

#include "forgetting.h"
#include "plot/picture.h"

/* `picture` was picture_check()ed. */
int forgetting_chart(const char *run, const struct forgetting *forgetting, const struct picture *picture,
                     struct portolan_error *error);

#endif

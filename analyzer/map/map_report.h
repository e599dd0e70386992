/* map_report.h: a report, as JSON, of the map that portolan map drew. */
#ifndef MAP_REPORT_H
#define MAP_REPORT_H

#include "drawing.h"

/* One object on standard output. */
int map_report(const struct map_drawing *drawing, struct portolan_error *error);

#endif

/* chart_notes.h: placing the notes of a chart's panel. */
#ifndef CHART_NOTES_H
#define CHART_NOTES_H

#include "chart.h"

#include <stdio.h>

/* Writes the notes of the panel, whose frame is so many units wide and high, as labels of gnuplot. */
void chart_notes_write(FILE *stream, const struct chart_panel *panel, double width, double height);

#endif

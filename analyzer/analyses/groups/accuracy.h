/* accuracy.h: the rows of `portolan groups --accuracy`, for the file that counts them (accuracy.c) and the one that draws
 * them (accuracy_chart.c). */
#ifndef ACCURACY_H
#define ACCURACY_H

#include "groups.h"
#include "statistics/proportion.h"

struct accuracy_row {
	const char *attribute, *value; /* NULL: the row is about no attribute */
	double cut;                    /* of numbers: those from here on are high */
	int32_t gold;
	uint64_t examples;
	struct proportion_pair answers; /* of one run: as if the second had given the same */
	struct proportion before, after, difference;
};

/* Draws the rows into groups->picture: horizontal bars with their intervals, a panel for each attribute, and two bars a
 * row if `after` is the name of a second run (Yaghoobzadeh et al. 2021, Figures 3 and 5). Rows of one attribute follow
 * one another. What a picture has no room for is left out, and a message says how much. The program ends on failure. */
void accuracy_draw(const struct groups *groups, const struct accuracy_row *rows, size_t count, const char *after);

#endif

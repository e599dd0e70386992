/*
 * colours.h: chooses the colours of the points on the live page, and writes their legend: by a measure, the gold
 * labels, or a column of the user's file ("data:NAME").
 *
 * A colour is one byte for each example. By category, it is the rank of the example's category, the largest first. By
 * number, it goes from 0 (the lowest value of the column) to 254 (the highest). An example without a value has
 * COLOUR_NONE.
 */
#ifndef COLOURS_H
#define COLOURS_H

#include "categories.h"

#define COLOUR_NONE 255
#define COLOURS_MAX 12 /* categories with a colour of their own; all others share one more, "other" */

struct colours {
	unsigned char *bytes; /* by place (number among the observed examples, by ascending id) */
	uint64_t without;     /* examples that have COLOUR_NONE */
	/* private */
	bool are_categories, are_numbers; /* neither: all examples have COLOUR_NONE */
	double low, high;
	struct categories categories;
	struct colour_count *counts; /* of the categories, by falling count; equal ones by number */
};

/* Colours by `name`: a measure, "gold" or "data:NAME"; NULL or "none": every example has COLOUR_NONE. `texts` NULL:
 * there is no user's file. The view must stay until colours_free(). */
int colours_make(struct colours *colours, const struct view *view, struct texts *texts, const char *name,
                 struct portolan_error *error);
void colours_free(struct colours *colours); /* may be called twice */

/* Writes the legend: {"name", "kind": "category", "none", "values": [{"label", "value", "count"}, …]}, values by
 * falling count; or {"name", "kind": "number", "none", "low", "high"}; or null. "none" counts the examples without a
 * value. */
void colours_report(struct report *report, const char *key, const struct colours *colours, const char *name);

/* Maps a value between low and high to 0 … most. */
static inline unsigned
colours_scale(double value, double low, double high, unsigned most)
{
	double share = high > low ? (value - low) / (high - low) : 0;

	return share <= 0 ? 0 : share >= 1 ? most : (unsigned)(share * most + 0.5);
}

#endif

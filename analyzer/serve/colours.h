/*
 * colours.h: chooses the colours of the points on the live page, and writes their legend: by a measure, the gold
 * labels, or a column of the user's file ("data:NAME").
 *
 * A colour is one byte for each example. By category, it is the rank of the example's category: the largest first, or
 * in the order in which the user picked them. All categories without a colour of their own have COLOUR_OTHER. By
 * number, it goes from 0 (the lowest value of the column) to 254 (the highest). An example without a value has
 * COLOUR_NONE.
 */
#ifndef COLOURS_H
#define COLOURS_H

#include "axes.h"

#define COLOUR_NONE 255
#define COLOURS_MAX 12 /* categories with a colour of their own */
#define COLOUR_OTHER COLOURS_MAX

struct colour_choice {
	const char *name;   /* a measure, "gold" or "data:NAME"; NULL or "none": every example has COLOUR_NONE */
	bool is_log;        /* the colours of numbers are even on a logarithmic scale */
	const char *picked; /* the categories that have colours: JSON, a list of labels; NULL: the largest ones */
};

struct colours {
	/* private */
	const struct view *view;
	const char *name;  /* of the choice */
	bool are_by_value; /* false: all examples have COLOUR_NONE, and there is no axis */
	struct axis axis;
	json_t *picked;       /* NULL: nothing was picked */
	unsigned char *ranks; /* the colour of each category, by its number */
	struct colour_entry {
		const char *label; /* if it was picked */
		size_t number;     /* of the category; SIZE_MAX: no example of the view has it */
		int64_t value;     /* then: its class; −1: none */
		uint64_t count;
	} entries[COLOURS_MAX]; /* the categories with a colour of their own */
	size_t entry_count;
	uint64_t without, others; /* by category: examples that have COLOUR_NONE, and COLOUR_OTHER */
};

/* Decides on the colours by `choice`, whose texts must stay until colours_free(), as must the view. `texts` NULL: there is no user's
 * file. PORTOLAN_E_INVALID: there is no such column or category. */
int colours_make(struct colours *colours, const struct view *view, struct texts *texts,
                 const struct colour_choice *choice, struct portolan_error *error);
void colours_free(struct colours *colours); /* may be called twice */

/* Writes the colours of n examples to bytes[]. Examples go by their places, numbers among the observed ones by ascending
 * id: those in places[], or, if that is NULL, 0 … n − 1. */
void colours_fill(const struct colours *colours, const uint32_t *places, size_t n, unsigned char *bytes);

/* Writes the legend: {"name", "kind": "category", "none", "values": [{"label", "value", "count"}, …]}, values in the
 * order of their colours, and last {"label": "other", "value": null, "count", "other": true}, if examples have
 * COLOUR_OTHER; or {"name", "kind": "number", "none", "low", "high"}, on a logarithmic scale with "scale": "log" and
 * "least"; or null. "none" counts the examples without a value. */
void colours_report(struct report *report, const char *key, const struct colours *colours);

#endif

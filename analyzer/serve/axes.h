/*
 * axes.h: gives the live page the values that its axes, colours and sorted tables show: a measure of the run, the gold
 * labels ("gold"), or a column of the user's file ("data:NAME"); and turns values into the steps in which they are sent.
 *
 * The value of a gold label is the number of its class. The value of a category in the user's file is its rank among
 * the column's distinct names in bytewise order, from 0.
 *
 * A scale is linear or logarithmic. On a logarithmic scale, steps are even in ln v if the least value is above 0, else
 * in sign(v) · ln(1 + |v| / least), which is 0 at 0, and like a logarithm far from it. Categories, and columns that
 * have no number but 0, have no logarithmic scale: theirs is linear.
 */
#ifndef AXES_H
#define AXES_H

#include "categories.h"

#include <math.h>

struct axis {
	const double *values; /* by dense index, for the view's examples; NaN: the example has no value */
	double low, high;     /* the extent of these values; 0 and 0: there are none */
	double least;         /* the smallest magnitude above 0; 0: there is none; only for logarithmic scales */
	bool is_integer;      /* all values are whole */
	bool are_categories;
	bool is_log;
	/* private */
	double from, to; /* the positions of low and high */
	double *own;     /* the values, if they were made for this axis */
	struct categories categories;
};

/* Finds the values that `name` stands for. `texts` NULL: there is no user's file. The view must stay until
 * axis_free(). PORTOLAN_E_INVALID: there is no such column; the message begins with `what`, the argument of the request
 * that names it. */
int axis_make(struct axis *axis, const char *what, const struct view *view, struct texts *texts, const char *name,
              bool is_log, struct portolan_error *error);
/* The same for colours, which need no values of categories: `values` is NULL for these, and there is no extent. */
int axis_make_colour(struct axis *axis, const char *what, const struct view *view, struct texts *texts,
                     const char *name, bool is_log, struct portolan_error *error);
void axis_free(struct axis *axis); /* may be called twice */

/* The values of an axis that is no measure, as an array that the caller passes to free(); frees the axis. */
double *axis_hand_over(struct axis *axis);

/* The smallest magnitude above 0 among the values of the view's examples; 0: there is none. */
double axis_least(const struct axis *axis, const struct view *view);

/* Where a value lies on the axis. Equal differences of positions are equal distances. */
static inline double
axis_position(const struct axis *axis, double value)
{
	double ratio;

	if (!axis->is_log)
		return value;
	if (axis->low > 0)
		return log(value);
	ratio = fabs(value) / axis->least;
	return copysign(isinf(ratio) ? log(fabs(value)) - log(axis->least) : log1p(ratio), value);
}

/* Where a position lies between two others: 0 at `from`, 1 at `to`; 0 if these are the same. Halves are subtracted, as the
 * difference of two extreme numbers is infinite. */
static inline __attribute__((always_inline)) double
axis_share(double position, double from, double to)
{
	double length = to / 2 - from / 2;

	return length > 0 ? (position / 2 - from / 2) / length : 0;
}

/* The step of a value, which is not NaN: from 0, that of the lowest value, to `most`, that of the highest. is_log must
 * be that of the axis: a constant lets the compiler leave out of a loop what only the other scale needs. */
static inline __attribute__((always_inline)) unsigned
axis_step(const struct axis *axis, double value, unsigned most, bool is_log)
{
	double position = is_log ? axis_position(axis, value) : value;
	double share = axis_share(position, axis->from, axis->to);

	return share <= 0 ? 0 : share >= 1 ? most : (unsigned)(share * most + 0.5);
}

#endif

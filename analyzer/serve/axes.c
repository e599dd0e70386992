/* axes.c: finds the values of a view's examples on an axis of the live page (axes.h): those of a measure, or numbers
 * made of gold labels or of a column of the user's file. */
#include "axes.h"

#include "base/cleanup.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* Makes a value of each example's category, by dense index. */
static int
axis_place_categories(struct axis *axis, struct portolan_error *error)
{
	const struct categories *categories = &axis->categories;
	const struct dynamics *dynamics = &categories->view->dynamics;
	CLEANUP_FREE double *of = categories_values(categories);

	axis->own = malloc((dynamics->ids.rows + 1) * sizeof(*axis->own));
	if (!of || !axis->own)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < dynamics->count; i++) {
		int32_t number = categories->numbers[i];

		axis->own[dynamics->order[i]] = number < 0 ? (double)NAN : of[number];
	}
	axis->values = axis->own;
	view_extent(dynamics, axis->values, &axis->low, &axis->high);
	return 0;
}

static bool
axis_is_whole(const struct axis *axis, const struct dynamics *dynamics)
{
	for (size_t i = 0; i < dynamics->count; i++) {
		double value = axis->values[dynamics->order[i]];

		if (value != floor(value) && !isnan(value))
			return false;
	}
	return true;
}

/* Takes the gold labels, or a column of the user's file. Categories have no values yet. */
static int
axis_take_other(struct axis *axis, const struct view *view, struct texts *texts, const char *name,
                struct portolan_error *error)
{
	const struct attribute *column;
	int code = categories_make(&axis->categories, view, texts, name, &column, error);

	axis->are_categories = axis->is_integer = code > 0;
	if (code != 0)
		return code < 0 ? code : 0;
	axis->values = axis->own = view_numbers(view, texts, column);
	if (!axis->own)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	view_extent(&view->dynamics, axis->values, &axis->low, &axis->high);
	axis->is_integer = axis_is_whole(axis, &view->dynamics);
	return 0;
}

static int
axis_take_measure(struct axis *axis, const char *what, const struct view *view, const char *name,
                  struct portolan_error *error)
{
	const struct dynamics_column *column = dynamics_column(&view->dynamics, name);
	size_t c = column ? (size_t)(column - view->dynamics.columns) : 0;

	if (!column)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s is a measure of the run, gold or data:COLUMN, not '%.100s'", what, name);
	axis->values = column->values;
	axis->low = view->extents[c].low;
	axis->high = view->extents[c].high;
	axis->is_integer = column->integer;
	return 0;
}

static void
axis_set_scale(struct axis *axis, const struct view *view, bool is_log)
{
	axis->least = is_log && !axis->are_categories ? axis_least(axis, view) : 0;
	axis->is_log = axis->least > 0;
	axis->from = axis_position(axis, axis->low);
	axis->to = axis_position(axis, axis->high);
}

int
axis_make_colour(struct axis *axis, const char *what, const struct view *view, struct texts *texts, const char *name,
                 bool is_log, struct portolan_error *error)
{
	int code;

	*axis = (struct axis){0};
	if (strcmp(name, "gold") == 0 || strncmp(name, "data:", 5) == 0)
		code = axis_take_other(axis, view, texts, name, error);
	else
		code = axis_take_measure(axis, what, view, name, error);
	if (code < 0)
		axis_free(axis);
	else
		axis_set_scale(axis, view, is_log);
	return code;
}

int
axis_make(struct axis *axis, const char *what, const struct view *view, struct texts *texts, const char *name,
          bool is_log, struct portolan_error *error)
{
	int code = axis_make_colour(axis, what, view, texts, name, is_log, error);

	if (code < 0 || !axis->are_categories)
		return code;
	code = axis_place_categories(axis, error);
	if (code < 0)
		axis_free(axis);
	else
		axis_set_scale(axis, view, is_log);
	return code;
}

void
axis_free(struct axis *axis)
{
	free(axis->own);
	categories_free(&axis->categories);
	*axis = (struct axis){0};
}

double *
axis_hand_over(struct axis *axis)
{
	double *values = axis->own;

	axis->own = NULL;
	axis_free(axis);
	return values;
}

double
axis_least(const struct axis *axis, const struct view *view)
{
	const struct dynamics *dynamics = &view->dynamics;
	double least = INFINITY;

	for (size_t i = 0; i < dynamics->count; i++) {
		double magnitude = fabs(axis->values[dynamics->order[i]]);

		least = magnitude > 0 && magnitude < least ? magnitude : least;
	}
	return least < INFINITY ? least : 0;
}

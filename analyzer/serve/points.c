/*
 * points.c: answers the live page's requests for what it draws: GET api/points (every point, with its colour),
 * api/legend (what the colours mean), api/bins (how many points lie in each cell of a grid) and api/inside (the points
 * in a box). Points and counts are sent as little-endian numbers.
 */
#include "answers.h"
#include "colours.h"
#include "sample.h"

#include "base/cleanup.h"
#include "base/number.h"

#include <portolan/error.h>

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINT_NONE 65535 /* the coordinate of a point without a value; others have 0 … 65534 */
#define BINS_MAX 2048    /* at most so many columns, and as many rows */

static int
points_take_axis(const struct question *question, const char *name, const char *scale, struct axis *axis,
                 struct portolan_error *error)
{
	const char *asked = http_argument(question->request, name);
	bool is_log;
	int code = answer_is_log(question->request, scale, &is_log, error);

	return code < 0 ? code
	                : axis_make(axis, name, question->view, question->data->texts, asked ? asked : "", is_log,
	                            error);
}

static int
points_take_axes(const struct question *question, struct axis *x, struct axis *y, struct portolan_error *error)
{
	int code = points_take_axis(question, "x", "x_scale", x, error);

	return code < 0 ? code : points_take_axis(question, "y", "y_scale", y, error);
}

static int
points_take_colours(const struct question *question, struct colours *colours, struct portolan_error *error)
{
	const struct http_request *request = question->request;
	struct colour_choice choice = {.name = http_argument(request, "colour"),
	                               .picked = http_argument(request, "pick")};
	int code = answer_is_log(request, "colour_scale", &choice.is_log, error);

	return code < 0 ? code : colours_make(colours, question->view, question->data->texts, &choice, error);
}

/* Fills steps[] with the steps of n examples: those at places[], or, if that is NULL, at the places 0 … n − 1. */
static inline __attribute__((always_inline)) void
points_fill_as(const struct axis *axis, const uint32_t *order, const uint32_t *places, size_t n, uint16_t *steps,
               bool is_log)
{
	for (size_t i = 0; i < n; i++) {
		double value = axis->values[order[places ? places[i] : i]];

		steps[i] =
		        htole16((uint16_t)(isnan(value) ? POINT_NONE : axis_step(axis, value, POINT_NONE - 1, is_log)));
	}
}

static void
points_fill(const struct axis *axis, const uint32_t *order, const uint32_t *places, size_t n, uint16_t *steps)
{
	if (axis->is_log)
		points_fill_as(axis, order, places, n, steps, true);
	else if (places)
		points_fill_as(axis, order, places, n, steps, false);
	else
		points_fill_as(axis, order, NULL, n, steps, false);
}

int
answer_points(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const struct dynamics *dynamics = &question->view->dynamics;
	CLEANUP(colours_free) struct colours colours = {0};
	CLEANUP(axis_free) struct axis x = {0};
	CLEANUP(axis_free) struct axis y = {0};
	size_t n = dynamics->count;
	unsigned char *bytes;
	uint16_t *shorts;
	int code = points_take_axes(question, &x, &y, error);

	if (code >= 0)
		code = points_take_colours(question, &colours, error);
	if (code < 0)
		return code;
	bytes = malloc(5 * n + 1);
	if (!bytes)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	shorts = (uint16_t *)(void *)bytes;
	points_fill(&x, dynamics->order, NULL, n, shorts);
	points_fill(&y, dynamics->order, NULL, n, shorts + n);
	colours_fill(&colours, NULL, n, bytes + 4 * n);
	http_bytes(answer, "application/octet-stream", bytes, 5 * n);
	return 0;
}

int
answer_legend(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	CLEANUP(colours_free) struct colours colours = {0};
	int code = points_take_colours(question, &colours, error);

	(void)answer;
	if (code >= 0)
		colours_report(question->report, NULL, &colours);
	return code;
}

/* The part of the map that the page shows, in the measures' units. The edges belong to it. */
struct box {
	double left, right, low, high;
};

static int
points_take_box(const struct http_request *request, struct box *box, struct portolan_error *error)
{
	const char *text = http_argument(request, "box");
	double sides[4];
	char part[64];
	unsigned s = 0;

	for (; text && s < 4; s++) {
		size_t length = strcspn(text, ",");

		if (length >= sizeof(part))
			break;
		memcpy(part, text, length);
		part[length] = '\0';
		if (!number_parse(part, &sides[s]) || (text[length] == ',') != (s < 3))
			break;
		text += length + 1;
	}
	if (s < 4 || sides[0] >= sides[1] || sides[2] >= sides[3])
		return error_set(error, PORTOLAN_E_INVALID, "box is LEFT,RIGHT,LOW,HIGH");
	*box = (struct box){sides[0], sides[1], sides[2], sides[3]};
	return 0;
}

static bool
points_is_in_box(const struct box *box, double x, double y)
{
	return (x >= box->left) & (x <= box->right) & (y >= box->low) & (y <= box->high); /* NaN is in no box */
}

/* The cell of a value, of `count` cells between two positions on the axis. The number is bounded before it is made whole,
 * and made an int: both are one instruction each, without a branch. */
static inline __attribute__((always_inline)) size_t
points_cell(const struct axis *axis, double value, double from, double to, double count, bool is_log)
{
	double position = is_log ? axis_position(axis, value) : value;
	double cell = axis_share(position, from, to) * count;
	double last = count - 0.5; /* in the middle of the last cell */

	cell = cell > 0 ? cell : 0;
	return (size_t)(int)(cell < last ? cell : last);
}

/* A grid over a box. Its cells are even in the positions on the axes. */
struct grid {
	struct box box; /* in the measures' units */
	uint64_t columns, rows;
	uint32_t *counts; /* by cell, row by row from the bottom */
};

static inline __attribute__((always_inline)) void
points_count_as(const struct dynamics *dynamics, const struct axis *x, const struct axis *y, const struct grid *grid,
                bool is_log)
{
	const struct box box = grid->box;
	const double columns = (double)grid->columns, rows = (double)grid->rows;
	struct box ends = box;

	if (is_log)
		ends = (struct box){axis_position(x, box.left), axis_position(x, box.right), axis_position(y, box.low),
		                    axis_position(y, box.high)};
	for (size_t i = 0; i < dynamics->count; i++) {
		double at_x = x->values[dynamics->order[i]], at_y = y->values[dynamics->order[i]];
		size_t column, row;

		if (!points_is_in_box(&box, at_x, at_y))
			continue;
		column = points_cell(x, at_x, ends.left, ends.right, columns, is_log);
		row = points_cell(y, at_y, ends.low, ends.high, rows, is_log);
		grid->counts[row * grid->columns + column]++;
	}
}

/* Counts the points in each cell of the grid. */
static void
points_count(const struct dynamics *dynamics, const struct axis *x, const struct axis *y, const struct grid *grid)
{
	if (x->is_log || y->is_log)
		points_count_as(dynamics, x, y, grid, true);
	else
		points_count_as(dynamics, x, y, grid, false);
	for (size_t c = 0; c < grid->columns * grid->rows; c++)
		grid->counts[c] = htole32(grid->counts[c]);
}

/* A logarithmic scale of values above 0 has no place for a box that begins at 0 or below. */
static int
points_check_side(const struct axis *axis, const char *name, double from, struct portolan_error *error)
{
	if (!axis->is_log || axis->low <= 0 || from > 0)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "box begins at %s = %g, and a logarithmic scale of values above 0 has no place for it", name,
	                 from);
}

static int
points_take_grid(const struct http_request *request, struct grid *grid, struct portolan_error *error)
{
	int code = points_take_box(request, &grid->box, error);

	if (code >= 0)
		code = answer_number(request, "columns", 1, BINS_MAX, 256, &grid->columns, error);
	return code < 0 ? code : answer_number(request, "rows", 1, BINS_MAX, 256, &grid->rows, error);
}

int
answer_bins(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	CLEANUP(axis_free) struct axis x = {0};
	CLEANUP(axis_free) struct axis y = {0};
	struct grid grid;
	int code = points_take_axes(question, &x, &y, error);

	if (code >= 0)
		code = points_take_grid(question->request, &grid, error);
	if (code >= 0)
		code = points_check_side(&x, "x", grid.box.left, error);
	if (code >= 0)
		code = points_check_side(&y, "y", grid.box.low, error);
	if (code < 0)
		return code;
	grid.counts = calloc(grid.columns * grid.rows, sizeof(*grid.counts));
	if (!grid.counts)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	points_count(&question->view->dynamics, &x, &y, &grid);
	http_bytes(answer, "application/octet-stream", grid.counts,
	           (size_t)(grid.columns * grid.rows) * sizeof(*grid.counts));
	return 0;
}

/* Writes the places of the examples in the box to places[], which has room for all and one more, and returns their
 * number. Does so without a branch: which examples are in the box cannot be foreseen. */
static size_t
points_find_inside(const struct dynamics *dynamics, const struct axis *x, const struct axis *y, const struct box *box,
                   uint32_t *places)
{
	size_t n = 0;

	for (size_t i = 0; i < dynamics->count; i++) {
		places[n] = (uint32_t)i;
		n += points_is_in_box(box, x->values[dynamics->order[i]], y->values[dynamics->order[i]]);
	}
	return n;
}

/* Makes the answer of api/inside: the number `inside` of points in the box, and the n of them that are sent. The
 * caller's to free(). NULL: out of memory. */
static unsigned char *
points_pack(const struct dynamics *dynamics, const struct axis *x, const struct axis *y, const struct colours *colours,
            const uint32_t *places, size_t n, size_t inside)
{
	unsigned char *bytes = malloc(8 + 9 * n);
	uint32_t *words = (uint32_t *)(void *)bytes;
	uint16_t *shorts = (uint16_t *)(void *)(bytes + 8 + 4 * n);

	if (!bytes)
		return NULL;
	words[0] = htole32((uint32_t)inside);
	words[1] = htole32((uint32_t)n);
	for (size_t i = 0; i < n; i++)
		words[2 + i] = htole32(places[i]);
	colours_fill(colours, places, n, bytes + 8 + 8 * n);
	points_fill(x, dynamics->order, places, n, shorts);
	points_fill(y, dynamics->order, places, n, shorts + n);
	return bytes;
}

int
answer_inside(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const struct dynamics *dynamics = &question->view->dynamics;
	CLEANUP(colours_free) struct colours colours = {0};
	CLEANUP(axis_free) struct axis x = {0};
	CLEANUP(axis_free) struct axis y = {0};
	CLEANUP_FREE uint32_t *places = NULL;
	unsigned char *bytes = NULL;
	size_t inside, n;
	struct box box;
	uint64_t most;
	int code = points_take_axes(question, &x, &y, error);

	if (code >= 0)
		code = points_take_box(question->request, &box, error);
	if (code >= 0)
		code = answer_number(question->request, "most", 1, 1000000, 200000, &most, error);
	if (code >= 0)
		code = points_take_colours(question, &colours, error);
	if (code < 0)
		return code;
	places = malloc((dynamics->count + 1) * sizeof(*places));
	inside = places ? points_find_inside(dynamics, &x, &y, &box, places) : 0;
	n = inside < most ? inside : (size_t)most;
	if (places && (n == inside || sample_places(places, inside, n)))
		bytes = points_pack(dynamics, &x, &y, &colours, places, n, inside);
	if (!bytes)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	http_bytes(answer, "application/octet-stream", bytes, 8 + 9 * n);
	return 0;
}

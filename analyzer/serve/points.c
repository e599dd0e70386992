/* points.c: GET api/points, api/legend, api/bins and api/inside: examples as a browser draws them. Little-endian. */
#include "answers.h"
#include "colours.h"

#include "base/number.h"

#include <portolan/error.h>

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINT_NONE 65535 /* no value; others are 0 … 65534 */
#define BINS_MAX 2048    /* columns, and rows */
#define LOT_HALF 65536u  /* values of half a number: see sample() */

struct axis {
	const double *values;
	double low, high;
};

static bool
take_axis(const struct view *view, const struct http_request *request, const char *name, struct axis *axis,
          struct http_answer *answer)
{
	const struct dynamics_column *column = answer_column(view, request, name, answer);
	size_t c = column ? (size_t)(column - view->dynamics.columns) : 0;

	if (column)
		*axis = (struct axis){column->values, view->extents[c].low, view->extents[c].high};
	return column != NULL;
}

static uint16_t
as_short(const struct axis *axis, uint32_t index)
{
	double value = axis->values[index];

	return htole16(
	        (uint16_t)(isnan(value) ? POINT_NONE : colours_scale(value, axis->low, axis->high, POINT_NONE - 1)));
}

static bool
take_colours(struct server *server, const struct view *view, const struct http_request *request,
             struct colours *colours, struct http_answer *answer)
{
	struct portolan_error error;
	int code = colours_make(colours, view, server->texts, http_argument(request, "colour"), &error);

	if (code < 0)
		answer_failure(answer, code, &error);
	return code >= 0;
}

static void
send_points(const struct view *view, const struct axis *x, const struct axis *y, const struct colours *colours,
            struct http_answer *answer)
{
	const struct dynamics *dynamics = &view->dynamics;
	size_t n = dynamics->count;
	unsigned char *bytes = malloc(5 * n + 1);
	uint16_t *shorts = (uint16_t *)(void *)bytes;

	if (!bytes) {
		http_error(answer, 503, "out of memory");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		shorts[i] = as_short(x, dynamics->order[i]);
		shorts[n + i] = as_short(y, dynamics->order[i]);
	}
	memcpy(bytes + 4 * n, colours->bytes, n);
	http_bytes(answer, "application/octet-stream", bytes, 5 * n);
}

void
answer_points(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const struct view *view;
	struct colours colours;
	struct axis x, y;

	if (!answer_take_view(server, request, &view, answer))
		return;
	if (take_axis(view, request, "x", &x, answer) && take_axis(view, request, "y", &y, answer) &&
	    take_colours(server, view, request, &colours, answer)) {
		send_points(view, &x, &y, &colours, answer);
		colours_free(&colours);
	}
	views_return(server->views, view);
}

void
answer_legend(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const struct view *view;
	struct colours colours;
	struct report report;

	if (!answer_take_view(server, request, &view, answer))
		return;
	if (take_colours(server, view, request, &colours, answer)) {
		if (answer_begin(&report, answer)) {
			colours_report(&report, NULL, &colours, http_argument(request, "colour"));
			answer_finish(&report, answer);
		}
		colours_free(&colours);
	}
	views_return(server->views, view);
}

/* The box in view, in the measures' units; edges are inside. */
struct box {
	double left, right, low, high;
};

static bool
take_box(const struct http_request *request, struct box *box, struct http_answer *answer)
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
	if (s < 4 || sides[0] >= sides[1] || sides[2] >= sides[3]) {
		http_error(answer, 400, "box is LEFT,RIGHT,LOW,HIGH");
		return false;
	}
	*box = (struct box){sides[0], sides[1], sides[2], sides[3]};
	return true;
}

static bool
is_in_box(const struct box *box, double x, double y)
{
	return x >= box->left && x <= box->right && y >= box->low && y <= box->high; /* NaN is in no box */
}

static void
send_bins(const struct view *view, const struct axis *x, const struct axis *y, const struct box *box, size_t columns,
          size_t rows, struct http_answer *answer)
{
	const struct dynamics *dynamics = &view->dynamics;
	uint32_t *bins = calloc(columns * rows, sizeof(*bins));

	if (!bins) {
		http_error(answer, 503, "out of memory");
		return;
	}
	for (size_t i = 0; i < dynamics->count; i++) {
		double at_x = x->values[dynamics->order[i]], at_y = y->values[dynamics->order[i]];
		size_t column, row;

		if (!is_in_box(box, at_x, at_y))
			continue;
		column = (size_t)((at_x - box->left) / (box->right - box->left) * (double)columns);
		row = (size_t)((at_y - box->low) / (box->high - box->low) * (double)rows);
		bins[(row < rows ? row : rows - 1) * columns + (column < columns ? column : columns - 1)]++;
	}
	for (size_t b = 0; b < columns * rows; b++)
		bins[b] = htole32(bins[b]);
	http_bytes(answer, "application/octet-stream", bins, columns * rows * sizeof(*bins));
}

void
answer_bins(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const struct view *view;
	uint64_t columns, rows;
	struct axis x, y;
	struct box box;

	if (!answer_take_view(server, request, &view, answer))
		return;
	if (take_axis(view, request, "x", &x, answer) && take_axis(view, request, "y", &y, answer) &&
	    take_box(request, &box, answer) && answer_number(request, "columns", 1, BINS_MAX, 256, &columns, answer) &&
	    answer_number(request, "rows", 1, BINS_MAX, 256, &rows, answer))
		send_bins(view, &x, &y, &box, (size_t)columns, (size_t)rows, answer);
	views_return(server->views, view);
}

/* A number that looks random, and is always the same for a place. The places with the smallest numbers are the sample,
 * so a smaller sample, or one of a part, has the same places. */
static uint32_t
lot_of(uint32_t place)
{
	uint64_t mixed = (place + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(mixed >> 32);
}

/* The bucket of counts[] with the k-th smallest (from 0); k becomes its rank within the bucket. */
static uint32_t
bucket_of(const uint32_t *counts, size_t *k)
{
	uint32_t bucket = 0;

	for (; *k >= counts[bucket]; bucket++)
		*k -= counts[bucket];
	return bucket;
}

/* Keeps, of n ascending places, the `most` places (fewer than n) with the smallest numbers, of equal ones the lower
 * place. Finds the largest kept number by counting its upper half, then the lower. False: out of memory. */
static bool
sample(uint32_t *places, size_t n, size_t most)
{
	uint32_t *counts = calloc(LOT_HALF, sizeof(*counts)), last;
	size_t ties = most - 1, kept = 0;

	if (!counts)
		return false;
	for (size_t i = 0; i < n; i++)
		counts[lot_of(places[i]) / LOT_HALF]++;
	last = bucket_of(counts, &ties) * LOT_HALF;
	memset(counts, 0, LOT_HALF * sizeof(*counts));
	for (size_t i = 0; i < n; i++) {
		uint32_t lot = lot_of(places[i]);

		if (lot / LOT_HALF == last / LOT_HALF)
			counts[lot % LOT_HALF]++;
	}
	last += bucket_of(counts, &ties);
	free(counts);
	ties++; /* places to keep of those with the largest kept number */
	for (size_t i = 0; i < n; i++) {
		uint32_t lot = lot_of(places[i]);

		if (lot < last || (lot == last && ties > 0)) {
			ties -= lot == last;
			places[kept++] = places[i];
		}
	}
	return true;
}

/* The places in the box; how many. */
static size_t
find_inside(const struct view *view, const struct axis *x, const struct axis *y, const struct box *box,
            uint32_t *places)
{
	const struct dynamics *dynamics = &view->dynamics;
	size_t n = 0;

	for (size_t i = 0; i < dynamics->count; i++)
		if (is_in_box(box, x->values[dynamics->order[i]], y->values[dynamics->order[i]]))
			places[n++] = (uint32_t)i;
	return n;
}

static void
send_inside(const struct view *view, const struct axis *x, const struct axis *y, const struct colours *colours,
            const uint32_t *places, size_t n, size_t inside, struct http_answer *answer)
{
	size_t size = 8 + 9 * n;
	unsigned char *bytes = malloc(size);
	uint32_t *words = (uint32_t *)(void *)bytes;
	uint16_t *shorts = (uint16_t *)(void *)(bytes + 8 + 4 * n);

	if (!bytes) {
		http_error(answer, 503, "out of memory");
		return;
	}
	words[0] = htole32((uint32_t)inside);
	words[1] = htole32((uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		words[2 + i] = htole32(places[i]);
		shorts[i] = as_short(x, view->dynamics.order[places[i]]);
		shorts[n + i] = as_short(y, view->dynamics.order[places[i]]);
		bytes[8 + 8 * n + i] = colours->bytes[places[i]];
	}
	http_bytes(answer, "application/octet-stream", bytes, size);
}

void
answer_inside(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const struct view *view;
	struct colours colours = {0};
	struct axis x, y;
	struct box box;
	uint64_t most;

	if (!answer_take_view(server, request, &view, answer))
		return;
	if (take_axis(view, request, "x", &x, answer) && take_axis(view, request, "y", &y, answer) &&
	    take_box(request, &box, answer) && answer_number(request, "most", 1, 1000000, 200000, &most, answer) &&
	    take_colours(server, view, request, &colours, answer)) {
		uint32_t *places = malloc((view->dynamics.count + 1) * sizeof(*places));
		size_t inside = places ? find_inside(view, &x, &y, &box, places) : 0;
		size_t n = inside < most ? inside : (size_t)most;

		if (places && (n == inside || sample(places, inside, n)))
			send_inside(view, &x, &y, &colours, places, n, inside, answer);
		else
			http_error(answer, 503, "out of memory");
		free(places);
	}
	colours_free(&colours);
	views_return(server->views, view);
}

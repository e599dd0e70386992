/*
 * outline.c: finds whether a point lies in a polygon (outline.h). The height of the polygon is divided into bands, and
 * for each band the edges that touch it are listed.
 *
 * For a point, only edges that reach its height count. The band of a height never falls as the height grows, even with
 * rounding. So the point's band has all those edges, and no answer depends on the number of bands.
 */
#include "outline.h"

#include "orientation.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

#define EDGE_BANDS 8 /* an edge is listed in no more bands than this, on average, or there are fewer bands */

static size_t
band_of(const struct outline *outline, double y)
{
	size_t band = outline->bands > 1 ? (size_t)((y - outline->least_y) * outline->per_height) : 0;

	return band < outline->bands ? band : outline->bands - 1;
}

struct band_range {
	size_t first, last;
};

static struct band_range
bands_of_edge(const struct outline *outline, size_t i)
{
	size_t before = i > 0 ? i - 1 : outline->count - 1;
	size_t a = band_of(outline, outline->vertices[2 * before + 1]);
	size_t b = band_of(outline, outline->vertices[2 * i + 1]);

	return (struct band_range){a < b ? a : b, a < b ? b : a};
}

static void
measure(struct outline *outline)
{
	outline->least_x = outline->least_y = INFINITY;
	outline->most_x = outline->most_y = -INFINITY;
	for (size_t i = 0; i < outline->count; i++) {
		outline->least_x = fmin(outline->least_x, outline->vertices[2 * i]);
		outline->most_x = fmax(outline->most_x, outline->vertices[2 * i]);
		outline->least_y = fmin(outline->least_y, outline->vertices[2 * i + 1]);
		outline->most_y = fmax(outline->most_y, outline->vertices[2 * i + 1]);
	}
}

/* Sets the number of bands. Returns how many entries the lists of edges then have. */
static size_t
set_bands(struct outline *outline, size_t bands)
{
	size_t listed = 0;

	outline->per_height = (double)bands / (outline->most_y - outline->least_y);
	outline->bands = isnormal(outline->per_height) ? bands : 1; /* too flat, or too high, to be cut up */
	for (size_t i = 0; i < outline->count; i++) {
		struct band_range range = bands_of_edge(outline, i);

		listed += range.last - range.first + 1;
	}
	return listed;
}

/* Lists the edges of each band. At first band_ends has where each band begins; listing an edge moves it on. */
static void
list_edges(struct outline *outline)
{
	uint32_t *ends = outline->band_ends, begin = 0;

	for (size_t i = 0; i < outline->count; i++) {
		struct band_range range = bands_of_edge(outline, i);

		for (size_t band = range.first; band <= range.last; band++)
			ends[band]++;
	}
	for (size_t band = 0; band < outline->bands; band++) {
		uint32_t edges = ends[band];

		ends[band] = begin;
		begin += edges;
	}
	for (size_t i = 0; i < outline->count; i++) {
		struct band_range range = bands_of_edge(outline, i);

		for (size_t band = range.first; band <= range.last; band++)
			outline->edges[ends[band]++] = (uint32_t)i;
	}
}

int
outline_index(struct outline *outline, struct portolan_error *error)
{
	size_t bands = outline->count, listed;

	measure(outline);
	while ((listed = set_bands(outline, bands)) > EDGE_BANDS * outline->count)
		bands = bands / 2;
	outline->edges = malloc(listed * sizeof(*outline->edges));
	outline->band_ends = calloc(outline->bands, sizeof(*outline->band_ends));
	if (!outline->edges || !outline->band_ends)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	list_edges(outline);
	return 0;
}

void
outline_free(struct outline *outline)
{
	free(outline->vertices);
	free(outline->edges);
	free(outline->band_ends);
}

/* Counts the edges that a ray from the point to the right crosses. An edge that is all to the right or all to the left
 * of the point needs no exact test. Of every other one, orientation() tells on which side the point is; on neither
 * means on the edge. */
bool
outline_holds(const struct outline *outline, double x, double y)
{
	const double *vertices = outline->vertices;
	bool inside = false;
	size_t band;

	if (!(x >= outline->least_x && x <= outline->most_x && y >= outline->least_y && y <= outline->most_y))
		return false;
	band = band_of(outline, y);
	for (uint32_t e = band > 0 ? outline->band_ends[band - 1] : 0; e < outline->band_ends[band]; e++) {
		size_t i = outline->edges[e], before = i > 0 ? i - 1 : outline->count - 1;
		double ax = vertices[2 * before], ay = vertices[2 * before + 1];
		double bx = vertices[2 * i], by = vertices[2 * i + 1];

		if ((ay < y && by < y) || (ay > y && by > y) || (ax < x && bx < x))
			continue;
		if (ax <= x || bx <= x) {
			int side = orientation(ax, ay, bx, by, x, y);

			if (side == 0)
				return true;
			if ((side > 0) != (by > ay))
				continue;
		}
		if ((ay > y) != (by > y))
			inside = !inside;
	}
	return inside;
}

/* outline.h: a polygon that a user has drawn on a data map, and the test whether a point is inside; for within.c. The
 * edges are listed by height, so that a point is compared only with the edges at its height. */
#ifndef OUTLINE_H
#define OUTLINE_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outline {
	double *vertices; /* x0 y0 x1 y1 …, freed by outline_free() */
	size_t count;
	/* outline_index() fills these */
	double least_x, most_x, least_y, most_y;
	double per_height; /* bands per unit of y */
	size_t bands;      /* number of bands, of equal height, from least_y up */
	/* the edges that touch band 0, then band 1, …: edge i leads to vertex i from the one before it */
	uint32_t *edges;
	uint32_t *band_ends; /* where each band's edges end in `edges` */
};

/* Lists the edges by height. The vertices, 3 or more, all finite, are there already. PORTOLAN_E_MEMORY. */
int outline_index(struct outline *outline, struct portolan_error *error);
void outline_free(struct outline *outline);

/* Is (x, y) inside, by the even-odd rule, exactly? Edges and vertices are inside; NaN and infinities never are. */
bool outline_holds(const struct outline *outline, double x, double y);

#endif

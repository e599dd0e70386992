/*
 * k_center.h: for `portolan select --by k-center`: chooses a subset that covers the users' feature vectors. Each next
 * example is the one farthest from all chosen before.
 *
 * Gonzalez 1985 (the largest distance left is at most twice the best possible); as a baseline for choosing training
 * data: Sener and Savarese 2018 (k-center greedy). Pure but for the threads.
 */
#ifndef K_CENTER_H
#define K_CENTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct k_center_points {
	const void *features; /* row by row; need not be aligned; finite */
	bool is_float32;      /* else float64 */
	size_t dimensions;
	const uint32_t *rows; /* the row of each point; NULL: point i is row i */
	size_t count;
};

/*
 * Fills chosen[0 … k−1] with different points, 1 ≤ k ≤ count: point 0 first, then each time the one whose Euclidean
 * distance to its nearest chosen point is largest, the lowest of equal ones. Distances are summed in float64 in a fixed
 * order, so the answer does not depend on the number of threads. `nearest` has room for count doubles, and holds the
 * squared distances to the nearest chosen point afterwards (−1: chosen). `step` (or NULL) is called with the number of
 * chosen points.
 */
void k_center_greedy(const struct k_center_points *points, size_t k, unsigned threads, uint32_t *chosen,
                     double *nearest, void (*step)(void *context, size_t done), void *context);

#endif

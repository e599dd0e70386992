/*
 * k_center.c: chooses the subset of `portolan select --by k-center` (k_center.h), in several threads. Each chosen point
 * takes one sweep over all points, cut into as many parts as there are threads.
 *
 * Threads live for the whole call and meet at a gate twice a sweep: when the next center is known, and when all parts
 * have their farthest point. A distance is computed as eight sums side by side, which fills vector registers. They are
 * added in a fixed order.
 */
#include "k_center.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define LANES 8
#define THREADS_MAX 64
#define WORTH_A_THREAD 65536 /* number of values: a sweep over fewer takes less time than waking a thread */

/* The values of a file in memory, which need not be aligned. */
typedef float any_float __attribute__((aligned(1), may_alias));
typedef double any_double __attribute__((aligned(1), may_alias));

struct sweep;

struct part {
	struct sweep *sweep;
	size_t from, to;
	size_t farthest; /* the lowest of the farthest points */
	pthread_t thread;
};

struct sweep {
	const struct k_center_points *points;
	double *nearest;
	size_t center;
	bool is_done;
	pthread_mutex_t starting; /* locked until all threads are started, and the gate is there */
	pthread_barrier_t gate;
	struct part parts[THREADS_MAX];
	size_t part_count;
};

/* Vectors as long as a cache line, which the compiler cuts into those of the machine. */
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));

#define DEFINE_DISTANCE(name, type, vector)                                                                            \
	static double name(const type *a, const type *b, size_t dimensions)                                            \
	{                                                                                                              \
		doubles sums = {0};                                                                                    \
		double sum = 0;                                                                                        \
		size_t d = 0;                                                                                          \
                                                                                                                       \
		for (; d + LANES <= dimensions; d += LANES) {                                                          \
			vector x, y;                                                                                   \
			doubles difference;                                                                            \
                                                                                                                       \
			memcpy(&x, a + d, sizeof(x));                                                                  \
			memcpy(&y, b + d, sizeof(y));                                                                  \
			difference = __builtin_convertvector(x, doubles) - __builtin_convertvector(y, doubles);        \
			sums += difference * difference;                                                               \
		}                                                                                                      \
		for (unsigned lane = 0; d < dimensions; d++, lane++)                                                   \
			sums[lane] += ((double)a[d] - (double)b[d]) * ((double)a[d] - (double)b[d]);                   \
		for (unsigned lane = 0; lane < LANES; lane++)                                                          \
			sum += sums[lane];                                                                             \
		return sum;                                                                                            \
	}

DEFINE_DISTANCE(k_center_distance_float, any_float, floats)
DEFINE_DISTANCE(k_center_distance_double, any_double, doubles)

static double
k_center_distance(const struct k_center_points *points, size_t a, size_t b)
{
	size_t row_a = points->rows ? points->rows[a] : a, row_b = points->rows ? points->rows[b] : b;
	size_t dimensions = points->dimensions;

	if (points->is_float32)
		return k_center_distance_float((const any_float *)points->features + row_a * dimensions,
		                               (const any_float *)points->features + row_b * dimensions, dimensions);
	return k_center_distance_double((const any_double *)points->features + row_a * dimensions,
	                                (const any_double *)points->features + row_b * dimensions, dimensions);
}

/* Updates the distances by the new center, and finds the part's farthest point. */
static void
k_center_sweep_part(struct part *part)
{
	const struct sweep *sweep = part->sweep;
	double *nearest = sweep->nearest;
	double largest = -1;

	part->farthest = part->from;
	for (size_t i = part->from; i < part->to; i++) {
		if (nearest[i] >= 0) {
			double to_center = k_center_distance(sweep->points, i, sweep->center);

			nearest[i] = to_center < nearest[i] ? to_center : nearest[i];
		}
		if (nearest[i] > largest) {
			largest = nearest[i];
			part->farthest = i;
		}
	}
}

static void *
k_center_work(void *argument)
{
	struct part *part = argument;

	pthread_mutex_lock(&part->sweep->starting);
	pthread_mutex_unlock(&part->sweep->starting);
	for (;;) {
		pthread_barrier_wait(&part->sweep->gate);
		if (part->sweep->is_done)
			return NULL;
		k_center_sweep_part(part);
		pthread_barrier_wait(&part->sweep->gate);
	}
}

static size_t
k_center_farthest(const struct sweep *sweep)
{
	size_t best = sweep->parts[0].farthest;

	for (size_t p = 1; p < sweep->part_count; p++)
		if (sweep->nearest[sweep->parts[p].farthest] > sweep->nearest[best])
			best = sweep->parts[p].farthest;
	return best;
}

/* Starts up to `wanted` threads beside the caller's, and gives each a part. */
static void
k_center_share_out(struct sweep *sweep, size_t wanted)
{
	size_t count = sweep->points->count, parts = 1;

	pthread_mutex_lock(&sweep->starting);
	while (parts <= wanted &&
	       pthread_create(&sweep->parts[parts].thread, NULL, k_center_work, &sweep->parts[parts]) == 0)
		parts++;
	sweep->part_count = parts;
	for (size_t p = 0; p < parts; p++) {
		sweep->parts[p].from = count * p / parts;
		sweep->parts[p].to = count * (p + 1) / parts;
	}
	pthread_barrier_init(&sweep->gate, NULL, (unsigned)parts);
	pthread_mutex_unlock(&sweep->starting);
}

/* The number of threads that save more time than their start costs. */
static size_t
k_center_threads(const struct k_center_points *points, unsigned threads)
{
	size_t most = points->count * points->dimensions / WORTH_A_THREAD;

	most = most < threads ? most : threads;
	return most < THREADS_MAX ? most : THREADS_MAX;
}

void
k_center_greedy(const struct k_center_points *points, size_t k, unsigned threads, uint32_t *chosen, double *nearest,
                void (*step)(void *context, size_t done), void *context)
{
	struct sweep sweep = {.points = points, .nearest = nearest, .starting = PTHREAD_MUTEX_INITIALIZER};
	size_t worth = k_center_threads(points, threads);

	for (size_t i = 0; i < points->count; i++)
		nearest[i] = INFINITY;
	for (size_t p = 0; p < THREADS_MAX; p++)
		sweep.parts[p].sweep = &sweep;
	k_center_share_out(&sweep, worth > 1 ? worth - 1 : 0);
	for (size_t done = 0; done < k; done++) {
		sweep.center = done > 0 ? k_center_farthest(&sweep) : 0;
		chosen[done] = (uint32_t)sweep.center;
		nearest[sweep.center] = -1;
		pthread_barrier_wait(&sweep.gate);
		k_center_sweep_part(&sweep.parts[0]);
		pthread_barrier_wait(&sweep.gate);
		if (step)
			step(context, done + 1);
	}
	sweep.is_done = true;
	pthread_barrier_wait(&sweep.gate);
	for (size_t p = 1; p < sweep.part_count; p++)
		pthread_join(sweep.parts[p].thread, NULL);
	pthread_barrier_destroy(&sweep.gate);
	pthread_mutex_destroy(&sweep.starting);
}

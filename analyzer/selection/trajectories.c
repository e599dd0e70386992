/* trajectories.c: for the S2L rule of `portolan select`: chooses a subset that covers the different courses that
 * examples' losses take over the epochs. */
#include "trajectories.h"

#include "balanced.h"
#include "die/memory.h"
#include "loss_curves.h"
#include "statistics/k_means.h"

#include <math.h>
#include <string.h>

#define TIMES 20
#define SAMPLE 256        /* examples per cluster that determine the centres */
#define LEAST 3           /* the least size of a cluster; smaller ones come last */
#define BETTER (1 - 1e-9) /* a start's sum of squares is below this times that of another: it is better */

/* The examples of one source. */
struct source {
	const struct dynamics *dynamics;
	const uint32_t *list; /* dense indices */
	size_t n;
	const float *losses;     /* example after example; NULL: they are read where they are needed */
	const uint32_t *numbers; /* 0, 1, 2 … n − 1, or to LOSS_CURVES_BATCH − 1, if that is more */
};

/* Reads the losses of the examples list[chosen[i]], one after another. */
static void
trajectories_read(const struct dynamics *dynamics, const uint32_t *list, const uint32_t *chosen, size_t count,
                  float *losses)
{
	const size_t epochs = dynamics->epoch_count;
	CLEANUP_ARRAY uint32_t *places = loss_curves_no_places(dynamics);
	struct loss_curves curves;

	for (size_t i = 0; i < count; i++)
		places[list[chosen[i]]] = (uint32_t)i;
	loss_curves_open(&curves, dynamics, places);
	for (size_t read; (read = loss_curves_next(&curves)) > 0;)
		for (size_t i = 0; i < read; i++)
			memcpy(losses + curves.places[i] * epochs, curves.losses + i * epochs,
			       epochs * sizeof(*losses));
	loss_curves_close(&curves);
}

/* Finds the nearest centre of each of the source's examples. */
static void
trajectories_assign(const struct source *source, struct k_means *means, uint32_t *labels)
{
	CLEANUP_ARRAY uint32_t *places = NULL;
	uint32_t found[LOSS_CURVES_BATCH];
	struct loss_curves curves;

	if (source->losses) {
		memset(labels, 0xff, source->n * sizeof(*labels));
		k_means_assign(means, source->losses, source->numbers, source->n, labels);
		return;
	}
	places = loss_curves_no_places(source->dynamics);
	for (size_t i = 0; i < source->n; i++)
		places[source->list[i]] = (uint32_t)i;
	memset(found, 0xff, sizeof(found));
	loss_curves_open(&curves, source->dynamics, places);
	for (size_t read; (read = loss_curves_next(&curves)) > 0;) {
		k_means_assign(means, curves.losses, source->numbers, read, found);
		for (size_t i = 0; i < read; i++)
			labels[curves.places[i]] = found[i];
	}
	loss_curves_close(&curves);
}

/* Finds the centres of the clusters. They begin as the first of the examples drawn, and in each further start as others
 * of them. rows[] are the rows of `losses` that hold the examples drawn. */
static void
trajectories_fit(struct k_means *means, const float *losses, uint32_t *rows, size_t n, size_t starts,
                 struct random_state *random)
{
	size_t epochs = means->dimensions, bytes = means->clusters * epochs * sizeof(*means->centres);
	CLEANUP_ARRAY double *best = memory_array(means->clusters * epochs, sizeof(*best), "centres");
	CLEANUP_ARRAY uint32_t *labels = memory_array(n, sizeof(*labels), "clusters of the examples drawn");
	double least = INFINITY;

	for (size_t s = 0; s < starts; s++) {
		double squares;

		if (s > 0)
			random_sample(random, rows, n, means->clusters);
		for (size_t k = 0; k < means->clusters; k++)
			for (size_t e = 0; e < epochs; e++)
				means->centres[k * epochs + e] = (double)losses[rows[k] * epochs + e];
		k_means_fit(means, losses, rows, n, TIMES, labels);
		if (starts == 1)
			return;
		k_means_assign(means, losses, rows, n, labels);
		squares = k_means_squares(means, losses, rows, n, labels);
		if (!(squares < least * BETTER) && s > 0)
			continue;
		least = squares;
		memcpy(best, means->centres, bytes);
	}
	memcpy(means->centres, best, bytes);
}

/* Finds the cluster of each of the source's examples. */
static void
trajectories_cluster(const struct source *source, struct k_means *means, size_t starts, struct random_state *random,
                     uint32_t *labels)
{
	const size_t n = source->n, epochs = means->dimensions;
	const size_t sample = n / SAMPLE < means->clusters ? n : means->clusters * SAMPLE;
	CLEANUP_ARRAY uint32_t *drawn = memory_array(n, sizeof(*drawn), "examples to draw from");
	CLEANUP_ARRAY float *losses = NULL;

	memcpy(drawn, source->numbers, n * sizeof(*drawn));
	random_sample(random, drawn, n, sample);
	if (!source->losses) {
		losses = memory_array(sample * epochs, sizeof(*losses), "losses of the examples drawn");
		trajectories_read(source->dynamics, source->list, drawn, sample, losses);
		memcpy(drawn, source->numbers, sample * sizeof(*drawn));
	}
	trajectories_fit(means, source->losses ? source->losses : losses, drawn, sample, starts, random);
	trajectories_assign(source, means, labels);
}

/* Orders the examples of one source as S2L takes them. */
static void
trajectories_order(const struct trajectories *trajectories, const struct source *source, struct random_state *random,
                   size_t limit, uint32_t *ranked)
{
	size_t epochs = source->dynamics->epoch_count, n = source->n;
	size_t clusters = trajectories->clusters < n ? trajectories->clusters : n;
	CLEANUP_ARRAY double *centres = memory_array(clusters * epochs, sizeof(*centres), "centres");
	CLEANUP_ARRAY float *turned = memory_array(K_MEANS_PADDED(clusters) * (epochs + 1), sizeof(*turned), "centres");
	CLEANUP_ARRAY size_t *sizes = memory_array(clusters, sizeof(*sizes), "sizes of clusters");
	CLEANUP_ARRAY uint32_t *labels = memory_array(n, sizeof(*labels), "clusters of examples");
	struct k_means means = {
	        .clusters = clusters, .dimensions = epochs, .centres = centres, .turned = turned, .sizes = sizes};

	trajectories_cluster(source, &means, trajectories->starts, random, labels);
	balanced_order(source->list, labels, n, clusters, LEAST, random, limit, ranked);
}

/* Sorts the examples by source, in one pass over them that keeps their order within a source. ends[] gets where each
 * source's examples end in the sorted list; it begins as zeros, one more than there are sources. */
static void
trajectories_sort_by_source(const struct trajectories *trajectories, uint32_t *list, size_t *ends)
{
	for (size_t i = 0; i < trajectories->n; i++)
		ends[trajectories->sources[trajectories->list[i]] + 1]++;
	for (size_t source = 1; source < trajectories->source_count; source++)
		ends[source + 1] += ends[source];
	for (size_t i = 0; i < trajectories->n;
	     i++) /* each begins where the one before ends, and moves to its own end */
		list[ends[trajectories->sources[trajectories->list[i]]]++] = trajectories->list[i];
}

/* Orders the examples of each source, and takes from the sources as evenly as they can give. All losses are held, as the
 * store would else be read twice for each source. */
static void
trajectories_order_sources(const struct trajectories *trajectories, const uint32_t *numbers,
                           struct random_state *random, size_t limit, uint32_t *ranked)
{
	size_t n = trajectories->n, epochs = trajectories->dynamics->epoch_count, used = 0;
	CLEANUP_ARRAY uint32_t *list = memory_array(n, sizeof(*list), "examples by source");
	CLEANUP_ARRAY uint32_t *ordered = memory_array(n, sizeof(*ordered), "examples in order");
	CLEANUP_ARRAY uint32_t *groups = memory_array(n, sizeof(*groups), "sources of examples");
	CLEANUP_ARRAY size_t *ends = memory_array(trajectories->source_count + 1, sizeof(*ends), "sources");
	CLEANUP_ARRAY float *losses = memory_array(n * epochs, sizeof(*losses), "losses");

	trajectories_sort_by_source(trajectories, list, ends);
	trajectories_read(trajectories->dynamics, list, numbers, n, losses);
	for (uint32_t number = 0; number < trajectories->source_count; number++) {
		const struct source source = {.dynamics = trajectories->dynamics,
		                              .list = list + used,
		                              .n = ends[number] - used,
		                              .losses = losses + used * epochs,
		                              .numbers = numbers};

		if (source.n > 0)
			trajectories_order(trajectories, &source, random, source.n, ordered + used);
		while (used < ends[number])
			groups[used++] = number;
	}
	balanced_order(ordered, groups, n, trajectories->source_count, 1, NULL, limit, ranked);
}

size_t
trajectories_rank(const struct trajectories *trajectories, size_t limit, uint32_t *ranked)
{
	const size_t n = trajectories->n, room = n < LOSS_CURVES_BATCH ? LOSS_CURVES_BATCH : n;
	CLEANUP_ARRAY uint32_t *numbers = memory_array(room, sizeof(*numbers), "numbers of examples");
	const struct source all = {
	        .dynamics = trajectories->dynamics, .list = trajectories->list, .n = n, .numbers = numbers};
	struct random_state random;

	for (size_t i = 0; i < room; i++)
		numbers[i] = (uint32_t)i;
	random_seed(&random, trajectories->seed);
	limit = limit < n ? limit : n;
	if (trajectories->sources)
		trajectories_order_sources(trajectories, numbers, &random, limit, ranked);
	else
		trajectories_order(trajectories, &all, &random, limit, ranked);
	return limit;
}

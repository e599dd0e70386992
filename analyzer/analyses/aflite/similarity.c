/*
 * similarity.c: measures the cosine similarities of kept and of removed examples, for `portolan aflite`
 * (similarity.h).
 *
 * The mean over all pairs needs no pairs: of n vectors u of length 1, Σ over i ≠ j of u_i · u_j is |Σ u|² − n. So one
 * pass over the file adds up the vectors of each side and class. The deviation would need all pairs, or the products of
 * all features; it is taken from a sample, whose pairs are one large product.
 */
#include "similarity.h"

#include "base/parallel.h"
#include "die/memory.h"
#include "statistics/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct side {
	double *sums;     /* classes × features: Σ u; without labels there is one class */
	uint64_t *counts; /* by class */
	uint32_t *drawn;  /* the examples of the sample, ascending */
	size_t drawn_count;
	float *sample;     /* their vectors u: drawn_count × stride */
	uint32_t *classes; /* their classes */
	size_t filled;     /* how many of them have been read, and have a direction */
};

struct measuring {
	const struct matrix_source *source;
	const struct labels *labels;
	size_t features, stride, classes;
	struct side sides[SIMILARITY_SIDES];
	size_t without_direction;
};

uint64_t
similarity_bytes(size_t examples, size_t features, size_t classes)
{
	uint64_t sample = examples < SIMILARITY_SAMPLE ? examples : SIMILARITY_SAMPLE, stride = kernels_round(features);

	return 2 * classes * (features + 1) * sizeof(double) +
	       sample * (3 * stride + kernels_round(sample)) * sizeof(float) + examples * sizeof(uint32_t);
}

void
similarity_free(struct similarity *similarity)
{
	for (unsigned s = 0; s < SIMILARITY_SIDES; s++)
		free(similarity->by_class[s]);
	*similarity = (struct similarity){0};
}

static int
similarity_compare(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

/* Draws the sample of one side, and makes room for what is found of it. */
static void
side_init(struct side *side, const struct measuring *measuring, const uint32_t *removed, bool is_removed, uint64_t seed)
{
	size_t count = measuring->source->count, n = 0;
	CLEANUP_FREE uint32_t *list = memory_new(count, sizeof(*list));
	struct random_state random;

	for (size_t i = 0; i < count; i++)
		if ((removed[i] != 0) == is_removed)
			list[n++] = (uint32_t)i;
	side->drawn_count = n < SIMILARITY_SAMPLE ? n : SIMILARITY_SAMPLE;
	random_seed(&random, seed);
	random_sample(&random, list, n, side->drawn_count);
	qsort(list, side->drawn_count, sizeof(*list), similarity_compare);
	side->drawn = memory_new(side->drawn_count, sizeof(*side->drawn));
	if (side->drawn_count > 0)
		memcpy(side->drawn, list, side->drawn_count * sizeof(*list));
	side->classes = memory_new(side->drawn_count, sizeof(*side->classes));
	side->sample = kernels_floats(kernels_round(side->drawn_count) * measuring->stride);
	side->sums = memory_new(measuring->classes * measuring->features, sizeof(double));
	side->counts = memory_new(measuring->classes, sizeof(*side->counts));
}

static void
side_free(struct side *side)
{
	free(side->sums);
	free(side->counts);
	free(side->drawn);
	free(side->sample);
	free(side->classes);
}

/* Adds an example. `next` is the place in `drawn` of the first example that has not been passed. */
static void
side_add(struct side *side, struct measuring *measuring, size_t example, const float *row, size_t *next)
{
	uint32_t class = measuring->labels->class_count ? measuring->labels->values[example] : 0;
	bool is_drawn = *next < side->drawn_count && side->drawn[*next] == example;
	double *sums = side->sums + class * measuring->features, square = 0, inverse;

	*next += is_drawn;
	for (size_t f = 0; f < measuring->features; f++)
		square += (double)row[f] * row[f];
	if (square == 0) {
		measuring->without_direction++;
		return;
	}
	inverse = 1 / sqrt(square);
	side->counts[class]++;
	for (size_t f = 0; f < measuring->features; f++)
		sums[f] += row[f] * inverse;
	if (!is_drawn)
		return;
	for (size_t f = 0; f < measuring->features; f++)
		side->sample[side->filled * measuring->stride + f] = (float)(row[f] * inverse);
	side->classes[side->filled++] = class;
}

static void
similarity_read(struct measuring *measuring, const uint32_t *removed)
{
	CLEANUP_FREE float *row = kernels_floats(measuring->stride);
	size_t next[SIMILARITY_SIDES] = {0};
	struct matrix_reader reader;

	matrix_reader_init(&reader, measuring->source, NULL, measuring->source->count);
	for (size_t example = 0; example < measuring->source->count; example++) {
		unsigned s = removed[example] ? SIMILARITY_REMOVED : SIMILARITY_KEPT;

		matrix_read_raw(&reader, 0, example, row);
		side_add(&measuring->sides[s], measuring, example, row, &next[s]);
	}
	matrix_reader_free(&reader);
}

/* The mean cosine of the pairs of n vectors whose sum is `sum`. Σ over i ≠ j becomes *total. */
static double
cosines_mean(const double *sum, size_t features, uint64_t n, double *total)
{
	double square = 0;

	for (size_t f = 0; f < features; f++)
		square += sum[f] * sum[f];
	*total = square - (double)n;
	return n > 1 ? *total / ((double)n * (double)(n - 1)) : NAN;
}

/* Sets the means, and how many pairs there are. */
static void
side_find_means(const struct side *side, const struct measuring *measuring, struct cosines *any, struct cosines *within,
                double *by_class)
{
	size_t features = measuring->features;
	CLEANUP_FREE double *all = memory_new(features, sizeof(*all));
	double total, together = 0;
	uint64_t n = 0;

	for (size_t c = 0; c < measuring->classes; c++) {
		uint64_t of_class = side->counts[c];

		by_class[c] = cosines_mean(side->sums + c * features, features, of_class, &total);
		together += total;
		within->pairs += of_class > 1 ? of_class * (of_class - 1) / 2 : 0;
		n += of_class;
		for (size_t f = 0; f < features; f++)
			all[f] += side->sums[c * features + f];
	}
	any->mean = cosines_mean(all, features, n, &total);
	any->pairs = n > 1 ? n * (n - 1) / 2 : 0;
	within->mean = within->pairs > 0 ? together / (2 * (double)within->pairs) : NAN;
}

struct moments {
	uint64_t n;
	double sum, squares;
};

static void
moments_add(struct moments *moments, double value)
{
	moments->n++;
	moments->sum += value;
	moments->squares += value * value;
}

static double
moments_deviation(const struct moments *moments)
{
	double mean = moments->sum / (double)moments->n;

	return moments->n > 0 ? sqrt(fmax(moments->squares / (double)moments->n - mean * mean, 0)) : NAN;
}

/* Sets the standard deviations, from the pairs of the sample. */
static void
side_find_deviations(const struct side *side, const struct measuring *measuring, struct cosines *any,
                     struct cosines *within)
{
	size_t n = side->filled, width = kernels_round(n), stride = measuring->stride;
	CLEANUP_FREE float *across = kernels_floats(stride * width), *products = kernels_floats(n * width);
	struct kernels_product product = {side->sample, stride, across, width, products,
	                                  width,        n,      stride, width, false};
	struct moments of_any = {0}, of_class = {0};

	if (n > 0) {
		kernels_transpose(side->sample, stride, width, across, width);
		measuring->source->kernels->multiply(&product);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++) {
			moments_add(&of_any, products[i * width + j]);
			if (side->classes[i] == side->classes[j])
				moments_add(&of_class, products[i * width + j]);
		}
	any->deviation = moments_deviation(&of_any);
	within->deviation = moments_deviation(&of_class);
}

void
similarity_measure(struct similarity *similarity, const struct matrix_source *source, const uint32_t *removed,
                   const struct labels *labels, uint64_t seed)
{
	size_t features = source->array->header.shape[1];
	struct measuring measuring = {.source = source,
	                              .labels = labels,
	                              .features = features,
	                              .stride = kernels_round(features),
	                              .classes = labels->class_count ? labels->class_count : 1};

	*similarity = (struct similarity){0};
	for (unsigned s = 0; s < SIMILARITY_SIDES; s++)
		side_init(&measuring.sides[s], &measuring, removed, s == SIMILARITY_REMOVED, seed + s);
	similarity_read(&measuring, removed);
	for (unsigned s = 0; s < SIMILARITY_SIDES; s++) {
		struct side *side = &measuring.sides[s];

		similarity->by_class[s] = memory_new(measuring.classes, sizeof(double));
		side_find_means(side, &measuring, &similarity->any[s], &similarity->within[s], similarity->by_class[s]);
		side_find_deviations(side, &measuring, &similarity->any[s], &similarity->within[s]);
		if (labels->class_count == 0)
			similarity->within[s] = (struct cosines){.mean = NAN, .deviation = NAN};
		side_free(side);
	}
	similarity->without_direction = measuring.without_direction;
}

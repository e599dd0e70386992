/*
 * deviations.c: what standardised features are multiplied by. It takes another pass over the file, as deviations taken
 * from sums of squares would be rounding where a mean is far from zero.
 */
#include "matrix_parts.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-10 /* of a sum of squares: a variance below this share of it is none */

/* Σ (x − centre)² of a part, and Σ (x − centre): the centre is not quite the mean. */
static int
spread_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct reading *reading = context;
	struct survey *survey = &reading->slots[slot];
	size_t end = (part + 1) * MATRIX_PART;

	(void)thread;
	(void)error;
	end = end < reading->source->count ? end : reading->source->count;
	memset(survey->sums, 0, 2 * reading->stride * sizeof(double));
	for (size_t example = part * MATRIX_PART; example < end; example++) {
		matrix_centre_row(reading, file_rows_at(&reading->rows[slot], example), survey->row);
		for (size_t f = 0; f < reading->features; f++) {
			double value = survey->row[f];

			survey->sums[f] += value * value;
			survey->shifts[f] += value;
		}
	}
	return 0;
}

static int
spread_deliver(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct reading *reading = context;

	(void)part;
	(void)error;
	for (size_t f = 0; f < 2 * reading->stride; f++)
		reading->all->sums[f] += reading->slots[slot].sums[f];
	return 0;
}

int
matrix_measure_scales(struct reading *reading, struct matrix_source *source, struct portolan_error *error)
{
	struct parallel spread = {.threads = source->threads,
	                          .count = (source->count + MATRIX_PART - 1) / MATRIX_PART,
	                          .what = "measuring the features' deviations",
	                          .context = reading,
	                          .work = spread_part,
	                          .deliver = spread_deliver};
	float *scale = aligned_alloc(64, reading->stride * sizeof(float));
	int code = scale ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu columns", reading->features);

	memset(reading->all->sums, 0, 2 * reading->stride * sizeof(double));
	if (code >= 0)
		code = parallel_run(&spread, error);
	for (size_t f = 0; code >= 0 && f < reading->stride; f++) {
		double shift = reading->all->shifts[f] / (double)source->count;
		double square = reading->all->sums[f] / (double)source->count, variance = square - shift * shift;
		float inverse = (float)(1 / sqrt(variance));

		scale[f] = variance > ROUNDING * square && isfinite(inverse) ? inverse : 1;
	}
	source->scale = scale;
	return code;
}

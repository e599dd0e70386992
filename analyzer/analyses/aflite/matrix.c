/*
 * matrix.c: the file is read twice, in parts: for the columns' means, and for the values (file_rows.h).
 *
 * The means are those of all examples, taken in parts of fixed size in their order, so the values in memory do not
 * depend on the number of threads, nor on how many examples are left when a checkpoint is resumed. Large pages, where
 * the system has them, as rows are visited far from one another.
 */
#include "matrix_parts.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#define SUMS 256   /* rows summed up in single precision */
#define LARGE 1e15 /* squares of what is larger, summed up over rows, come near the end of single precision */

size_t
matrix_stride(size_t features)
{
	return (features + 1 + KERNELS_STRIDE - 1) / KERNELS_STRIDE * KERNELS_STRIDE;
}

static void
survey_free(struct survey *survey)
{
	free(survey->sums);
	free(survey->part);
	*survey = (struct survey){0};
}

static int
survey_init(struct survey *survey, size_t stride, struct portolan_error *error)
{
	survey->sums = calloc(2 * stride, sizeof(double));
	survey->shifts = survey->sums + stride;
	survey->part = aligned_alloc(64, 4 * stride * sizeof(float));
	if (!survey->sums || !survey->part)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu columns", stride);
	survey->lowest = survey->part + stride;
	survey->highest = survey->lowest + stride;
	survey->row = survey->highest + stride;
	memset(survey->row, 0, stride * sizeof(float));
	for (size_t f = 0; f < stride; f++) {
		survey->lowest[f] = INFINITY;
		survey->highest[f] = -INFINITY;
	}
	return 0;
}

static size_t
file_row(const struct matrix_source *source, size_t example)
{
	return source->rows ? source->rows[example] : example;
}

/* The features of an example as they are, into `to`. */
static void
take_row(const struct matrix_source *source, const uint8_t *raw, float *to)
{
	size_t features = source->array->header.shape[1], size = source->array->header.item_size;

	if (size == 4) {
		memcpy(to, raw, features * sizeof(float));
	} else if (size == 2) {
		source->kernels->widen(raw, to, features);
	} else {
		for (size_t f = 0; f < features; f++) {
			double value;

			memcpy(&value, raw + f * sizeof(value), sizeof(value));
			to[f] = (float)value;
		}
	}
}

static int
not_finite(const struct matrix_source *source, size_t example, const float *values, struct portolan_error *error)
{
	size_t column = 0;

	while (column + 1 < source->array->header.shape[1] && isfinite(values[column]))
		column++;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s: row %zu, column %zu (from 0) is %s; features must be finite numbers", source->array->path,
	                 file_row(source, example), column,
	                 isnan(values[column]) ? "NaN" : "infinite, or too large for single precision");
}

static void
add_part(struct survey *survey, size_t stride)
{
	for (size_t f = 0; f < stride; f++)
		survey->sums[f] += survey->part[f];
	memset(survey->part, 0, stride * sizeof(float));
}

static int
survey_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct reading *reading = context;
	const struct matrix_source *source = reading->source;
	struct survey *survey = &reading->slots[slot];
	size_t end = (part + 1) * MATRIX_PART, bytes = reading->features * source->array->header.item_size;

	(void)thread;
	end = end < source->count ? end : source->count;
	survey->digest = part;
	memset(survey->sums, 0, reading->stride * sizeof(double));
	memset(survey->part, 0, reading->stride * sizeof(float));
	for (size_t example = part * MATRIX_PART; example < end; example++) {
		const uint8_t *raw = file_rows_at(&reading->rows[slot], example);
		const float *row = survey->row;

		if (reading->is_direct)
			row = (const float *)raw;
		else
			take_row(source, raw, survey->row);
		survey->digest = XXH3_64bits_withSeed(raw, bytes, survey->digest);
		if (!source->kernels->survey(row, reading->is_direct ? reading->features : reading->stride,
		                             survey->part, survey->lowest, survey->highest))
			return not_finite(source, example, row, error);
		if (example % SUMS == SUMS - 1)
			add_part(survey, reading->stride);
	}
	add_part(survey, reading->stride);
	return 0;
}

static int
survey_deliver(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct reading *reading = context;
	const struct survey *survey = &reading->slots[slot];
	struct survey *all = reading->all;

	(void)part;
	(void)error;
	for (size_t f = 0; f < reading->features; f++) {
		all->sums[f] += survey->sums[f];
		all->lowest[f] = fminf(all->lowest[f], survey->lowest[f]);
		all->highest[f] = fmaxf(all->highest[f], survey->highest[f]);
	}
	all->digest = XXH3_64bits_withSeed(&survey->digest, sizeof(survey->digest), all->digest);
	return 0;
}

/*
 * Which of `columns` are constant, the others are taken from the list; answers how many are left of it. Doubles that
 * differ may be the same in single precision: those that lie far from zero.
 */
static size_t
keep_constant(const struct matrix_source *source, size_t *columns, size_t count)
{
	if (source->array->header.item_size < sizeof(double))
		return count;
	for (size_t example = 1; count > 0 && example < source->count; example++) {
		size_t kept = 0;

		for (size_t i = 0; i < count; i++) {
			double a, b;

			memcpy(&a, file_rows_value(source->array, file_row(source, 0), columns[i]), sizeof(a));
			memcpy(&b, file_rows_value(source->array, file_row(source, example), columns[i]), sizeof(b));
			if (a == b)
				columns[kept++] = columns[i];
		}
		count = kept;
	}
	return count;
}

/* Centres, constant columns, digest. `columns`: room for one number for each. */
static int
set_centres(const struct reading *reading, struct matrix_source *source, size_t *columns, struct portolan_error *error)
{
	const struct survey *all = reading->all;
	size_t constant = 0;

	source->digest = all->digest;
	for (size_t f = 0; f < reading->features; f++) {
		if (all->highest[f] > LARGE || all->lowest[f] < -LARGE)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "%s: column %zu (from 0) has values beyond 1e15: scale the features first",
			                 source->array->path, f);
		source->centre[f] = (float)(all->sums[f] / (double)source->count);
		if (all->highest[f] == all->lowest[f]) {
			source->centre[f] = all->highest[f];
			columns[constant++] = f;
		}
	}
	source->constant_columns = keep_constant(source, columns, constant);
	source->first_constant = source->constant_columns ? columns[0] : 0;
	return 0;
}

static bool
is_direct(const struct matrix_source *source)
{
	return source->array->header.item_size == sizeof(float) && !source->array->header.is_fortran &&
	       (uintptr_t)source->array->data % sizeof(float) == 0 &&
	       source->array->header.shape[1] % KERNELS_STRIDE == 0;
}

void
matrix_centre_row(const struct reading *reading, const uint8_t *raw, float *to)
{
	const struct matrix_source *source = reading->source;

	if (reading->is_direct) {
		source->kernels->subtract((const float *)raw, source->centre, to, reading->features);
	} else if (source->array->header.item_size < 8) {
		take_row(source, raw, to);
		source->kernels->subtract(to, source->centre, to, reading->features);
	} else {
		for (size_t f = 0; f < reading->features; f++) {
			double value; /* centred before it is rounded */

			memcpy(&value, raw + f * sizeof(value), sizeof(value));
			to[f] = (float)(value - source->centre[f]);
		}
	}
	for (size_t f = 0; source->scale && f < reading->features; f++)
		to[f] *= source->scale[f];
}

static void
rows_free(struct reading *reading)
{
	for (unsigned s = 0; reading->rows && s < parallel_slots(reading->source->threads); s++)
		file_rows_free(&reading->rows[s]);
	free(reading->rows);
}

/* For each slot, the rows of so many examples. */
static int
rows_init(struct reading *reading, size_t count, struct portolan_error *error)
{
	unsigned slots = parallel_slots(reading->source->threads);
	int code = 0;

	reading->rows = calloc(slots, sizeof(*reading->rows));
	if (!reading->rows)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for rows of features");
	for (unsigned s = 0; code >= 0 && s < slots; s++)
		code = file_rows_init(&reading->rows[s], reading->source->array, reading->examples,
		                      reading->source->rows, count, error);
	return code;
}

int
matrix_survey(struct matrix_source *source, struct portolan_error *error)
{
	size_t features = source->array->header.shape[1];
	unsigned slots = parallel_slots(source->threads);
	struct survey all = {0};
	size_t *columns = malloc(features * sizeof(*columns));
	struct reading reading = {.source = source,
	                          .features = features,
	                          .stride = matrix_stride(features),
	                          .is_direct = is_direct(source),
	                          .slots = calloc(slots, sizeof(*reading.slots)),
	                          .all = &all};
	struct parallel survey = {.threads = source->threads,
	                          .count = (source->count + MATRIX_PART - 1) / MATRIX_PART,
	                          .what = "reading the features",
	                          .context = &reading,
	                          .work = survey_part,
	                          .deliver = survey_deliver};
	int code = survey_init(&all, reading.stride, error);

	source->constant_columns = 0;
	source->scale = NULL;
	source->centre = aligned_alloc(64, reading.stride * sizeof(float));
	if (source->centre)
		memset(source->centre, 0, reading.stride * sizeof(float));
	if (!reading.slots || !source->centre || !columns)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu columns", features);
	for (unsigned s = 0; code >= 0 && s < slots; s++)
		code = survey_init(&reading.slots[s], reading.stride, error);
	if (code >= 0)
		code = rows_init(&reading, source->count, error);
	if (code >= 0)
		code = parallel_run(&survey, error);
	if (code >= 0)
		code = set_centres(&reading, source, columns, error);
	if (code >= 0 && source->standardise)
		code = matrix_measure_scales(&reading, source, error);
	for (unsigned s = 0; reading.slots && s < slots; s++)
		survey_free(&reading.slots[s]);
	free(reading.slots);
	rows_free(&reading);
	free(columns);
	survey_free(&all);
	if (code < 0)
		matrix_source_free(source);
	return code;
}

void
matrix_source_free(struct matrix_source *source)
{
	free(source->centre);
	free(source->scale);
	source->centre = source->scale = NULL;
}

static int
load_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct reading *reading = context;
	struct matrix *matrix = reading->matrix;
	size_t end = (part + 1) * MATRIX_PART, after = matrix->features + 1;

	(void)thread;
	(void)error;
	end = end < matrix->rows ? end : matrix->rows;
	for (size_t row = part * MATRIX_PART; row < end; row++) {
		float *to = matrix->values + row * matrix->stride;

		matrix_centre_row(reading, file_rows_at(&reading->rows[slot], row), to);
		to[matrix->features] = 1;
		memset(to + after, 0, (matrix->stride - after) * sizeof(float));
	}
	return 0;
}

static int
allocate(struct matrix *matrix, struct portolan_error *error)
{
	void *memory = MAP_FAILED;

	if (!__builtin_mul_overflow(matrix->rows * sizeof(float), matrix->stride, &matrix->bytes))
		memory = mmap(NULL, matrix->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu rows of %zu features", matrix->rows,
		                 matrix->features);
	madvise(memory, matrix->bytes, MADV_HUGEPAGE);
	matrix->values = memory;
	return 0;
}

int
matrix_load(struct matrix *matrix, const struct matrix_source *source, const uint32_t *examples, size_t count,
            struct portolan_error *error)
{
	size_t features = source->array->header.shape[1];
	struct reading reading = {.source = source,
	                          .features = features,
	                          .stride = matrix_stride(features),
	                          .is_direct = is_direct(source),
	                          .matrix = matrix,
	                          .examples = examples};
	struct parallel load = {.threads = source->threads,
	                        .count = (count + MATRIX_PART - 1) / MATRIX_PART,
	                        .what = "loading the features",
	                        .context = &reading,
	                        .work = load_part};
	int code;

	*matrix = (struct matrix){.rows = count, .features = features, .stride = reading.stride};
	code = allocate(matrix, error);
	if (code >= 0)
		code = rows_init(&reading, count, error);
	if (code >= 0)
		code = parallel_run(&load, error);
	rows_free(&reading);
	if (code < 0)
		matrix_free(matrix);
	return code;
}

void
matrix_free(struct matrix *matrix)
{
	if (matrix->values)
		munmap(matrix->values, matrix->bytes);
	*matrix = (struct matrix){0};
}

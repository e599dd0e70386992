/*
 * matrix_source.c: reads the rows of a file of features, for matrix.c. Before that it surveys the file: the mean of
 * each column, its standard deviation if asked for, constant columns, and a digest.
 *
 * Sums are those of all examples, in parts of fixed size that are added in their order. So centres and scales depend
 * neither on the number of threads nor on how many examples are left when a checkpoint is resumed. Deviations need a
 * second pass over the file: computed from sums of squares in the first, they would be nothing but rounding error where
 * a column's mean is far from zero.
 */
#include "matrix_source.h"

#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SUMS 256   /* rows that are added up in single precision */
#define LARGE 1e15 /* the largest value: squares of larger ones might leave single precision when they are added up */
#define WINDOW 256 /* rows that are gathered at once from a file of columns */
#define ROUNDING 1e-10 /* a variance below this share of the mean square comes of rounding */

/* Gives rows of the array in the file. In a file of columns ("Fortran order"), the values of a row lie far from one
 * another, each in a page of its own. So a few hundred rows are gathered together, column by column. */
struct file_rows {
	const struct npy_array *array;
	const uint32_t *examples, *rows; /* row i is row rows[examples[i]] of the array; either may be NULL: i → i */
	size_t count;
	uint8_t *room;         /* of a file of columns: room for WINDOW rows */
	size_t first, present; /* the rows that `room` holds: the first, and how many */
};

/* The place of one value: row of the array, column. */
static const uint8_t *
file_rows_value(const struct npy_array *array, size_t row, size_t column)
{
	const struct npy_header *header = &array->header;
	size_t place = header->is_fortran ? column * header->shape[0] + row : row * header->shape[1] + column;

	return array->data + place * header->item_size;
}

static void
file_rows_init(struct file_rows *file_rows, const struct npy_array *array, const uint32_t *examples,
               const uint32_t *rows, size_t count)
{
	*file_rows = (struct file_rows){.array = array, .examples = examples, .rows = rows, .count = count};
	if (array->header.is_fortran)
		file_rows->room = memory_need(malloc(WINDOW * array->header.shape[1] * array->header.item_size));
}

static void
file_rows_free(struct file_rows *file_rows)
{
	free(file_rows->room);
}

static size_t
file_rows_place(const struct file_rows *file_rows, size_t i)
{
	size_t example = file_rows->examples ? file_rows->examples[i] : i;

	return file_rows->rows ? file_rows->rows[example] : example;
}

static void
file_rows_gather(struct file_rows *file_rows, size_t first)
{
	size_t columns = file_rows->array->header.shape[1], size = file_rows->array->header.item_size;
	size_t left = file_rows->count - first;

	file_rows->first = first;
	file_rows->present = left < WINDOW ? left : WINDOW;
	for (size_t c = 0; c < columns; c++)
		for (size_t i = 0; i < file_rows->present; i++)
			memcpy(file_rows->room + (i * columns + c) * size,
			       file_rows_value(file_rows->array, file_rows_place(file_rows, first + i), c), size);
}

/* The bytes of row i, in the order of its columns, valid until another row is asked for. They need not be aligned. In a
 * file of columns, ascending rows are fastest. */
static const uint8_t *
file_rows_at(struct file_rows *file_rows, size_t i)
{
	const struct npy_header *header = &file_rows->array->header;

	if (!file_rows->room)
		return file_rows_value(file_rows->array, file_rows_place(file_rows, i), 0);
	if (i - file_rows->first >= file_rows->present)
		file_rows_gather(file_rows, i);
	return file_rows->room + (i - file_rows->first) * header->shape[1] * header->item_size;
}

struct survey {
	double *sums, *shifts; /* by column: Σ x in the first pass; Σ (x − centre)² and Σ (x − centre) in the second */
	float *part, *lowest, *highest, *row;
	uint64_t digest;
};

struct surveying {
	struct matrix_reader reader;
	size_t features, stride;
	struct survey *slots, all;
};

static void
survey_init(struct survey *survey, size_t stride)
{
	survey->sums = memory_new(2 * stride, sizeof(double));
	survey->shifts = survey->sums + stride;
	survey->part = kernels_floats(4 * stride);
	survey->lowest = survey->part + stride;
	survey->highest = survey->lowest + stride;
	survey->row = survey->highest + stride;
	for (size_t f = 0; f < stride; f++) {
		survey->lowest[f] = INFINITY;
		survey->highest[f] = -INFINITY;
	}
}

static void
survey_free(struct survey *survey)
{
	free(survey->sums);
	free(survey->part);
}

static size_t
source_row(const struct matrix_source *source, size_t example)
{
	return source->rows ? source->rows[example] : example;
}

/* Writes an example's features to `to` in single precision, neither centred nor scaled. */
static void
source_take_row(const struct matrix_source *source, const uint8_t *raw, float *to)
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

void
matrix_reader_init(struct matrix_reader *reader, const struct matrix_source *source, const uint32_t *examples,
                   size_t count)
{
	const struct npy_header *header = &source->array->header;
	unsigned slots = parallel_slots(source->threads);

	reader->source = source;
	reader->is_direct = header->item_size == sizeof(float) && !header->is_fortran &&
	                    (uintptr_t)source->array->data % sizeof(float) == 0 &&
	                    header->shape[1] % KERNELS_STRIDE == 0;
	reader->rows = memory_new(slots, sizeof(*reader->rows));
	for (unsigned s = 0; s < slots; s++)
		file_rows_init(&reader->rows[s], source->array, examples, source->rows, count);
}

void
matrix_reader_free(struct matrix_reader *reader)
{
	for (unsigned s = 0; s < parallel_slots(reader->source->threads); s++)
		file_rows_free(&reader->rows[s]);
	free(reader->rows);
}

void
matrix_read_raw(const struct matrix_reader *reader, unsigned slot, size_t i, float *to)
{
	source_take_row(reader->source, file_rows_at(&reader->rows[slot], i), to);
}

void
matrix_read_row(const struct matrix_reader *reader, unsigned slot, size_t i, float *to)
{
	const struct matrix_source *source = reader->source;
	const uint8_t *raw = file_rows_at(&reader->rows[slot], i);
	size_t features = source->array->header.shape[1];

	if (reader->is_direct) {
		source->kernels->subtract((const float *)raw, source->centre, to, features);
	} else if (source->array->header.item_size < 8) {
		source_take_row(source, raw, to);
		source->kernels->subtract(to, source->centre, to, features);
	} else {
		for (size_t f = 0; f < features; f++) {
			double value; /* centred before it is rounded */

			memcpy(&value, raw + f * sizeof(value), sizeof(value));
			to[f] = (float)(value - source->centre[f]);
		}
	}
	for (size_t f = 0; source->scale && f < features; f++)
		to[f] *= source->scale[f];
}

static int
source_refuse_value(const struct matrix_source *source, size_t example, const float *values,
                    struct portolan_error *error)
{
	size_t column = 0;

	while (column + 1 < source->array->header.shape[1] && isfinite(values[column]))
		column++;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s: row %zu, column %zu (from 0) is %s; features must be finite numbers", source->array->path,
	                 source_row(source, example), column,
	                 isnan(values[column]) ? "NaN" : "infinite, or too large for single precision");
}

static void
survey_add_sums(struct survey *survey, size_t stride)
{
	for (size_t f = 0; f < stride; f++)
		survey->sums[f] += survey->part[f];
	memset(survey->part, 0, stride * sizeof(float));
}

static int
survey_take_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct surveying *surveying = context;
	const struct matrix_source *source = surveying->reader.source;
	struct survey *survey = &surveying->slots[slot];
	bool is_direct = surveying->reader.is_direct;
	size_t end = (part + 1) * MATRIX_PART, stride = surveying->stride;
	size_t bytes = surveying->features * source->array->header.item_size;

	(void)thread;
	end = end < source->count ? end : source->count;
	survey->digest = part;
	memset(survey->sums, 0, stride * sizeof(double));
	memset(survey->part, 0, stride * sizeof(float));
	for (size_t example = part * MATRIX_PART; example < end; example++) {
		const uint8_t *raw = file_rows_at(&surveying->reader.rows[slot], example);
		const float *row = is_direct ? (const float *)raw : survey->row;

		if (!is_direct)
			source_take_row(source, raw, survey->row);
		survey->digest = XXH3_64bits_withSeed(raw, bytes, survey->digest);
		if (!source->kernels->survey(row, is_direct ? surveying->features : stride, survey->part,
		                             survey->lowest, survey->highest))
			return source_refuse_value(source, example, row, error);
		if (example % SUMS == SUMS - 1)
			survey_add_sums(survey, stride);
	}
	survey_add_sums(survey, stride);
	return 0;
}

static int
survey_add_part(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	struct surveying *surveying = context;
	const struct survey *survey = &surveying->slots[slot];
	struct survey *all = &surveying->all;

	(void)part;
	(void)error;
	for (size_t f = 0; f < surveying->features; f++) {
		all->sums[f] += survey->sums[f];
		all->lowest[f] = fminf(all->lowest[f], survey->lowest[f]);
		all->highest[f] = fmaxf(all->highest[f], survey->highest[f]);
	}
	all->digest = XXH3_64bits_withSeed(&survey->digest, sizeof(survey->digest), all->digest);
	return 0;
}

/* Takes out of a list of columns those that are constant in single precision only, not in the file; returns how many
 * stay. Doubles far from zero may differ, and yet be the same in single precision. */
static size_t
source_keep_constant(const struct matrix_source *source, size_t *columns, size_t count)
{
	if (source->array->header.item_size < sizeof(double))
		return count;
	for (size_t example = 1; count > 0 && example < source->count; example++) {
		size_t kept = 0;

		for (size_t i = 0; i < count; i++) {
			double a, b;

			memcpy(&a, file_rows_value(source->array, source_row(source, 0), columns[i]), sizeof(a));
			memcpy(&b, file_rows_value(source->array, source_row(source, example), columns[i]), sizeof(b));
			if (a == b)
				columns[kept++] = columns[i];
		}
		count = kept;
	}
	return count;
}

/* Sets digest, centres and constant columns. */
static void
source_set_centres(struct matrix_source *source, const struct survey *all)
{
	size_t features = source->array->header.shape[1], constant = 0;
	CLEANUP_FREE size_t *columns = memory_new(features, sizeof(*columns));

	source->digest = all->digest;
	for (size_t f = 0; f < features; f++) {
		if (all->highest[f] > LARGE || all->lowest[f] < -LARGE)
			die("%s: column %zu (from 0) has values beyond 1e15: scale the features first",
			    source->array->path, f);
		source->centre[f] = (float)(all->sums[f] / (double)source->count);
		if (all->highest[f] == all->lowest[f]) {
			source->centre[f] = all->highest[f];
			columns[constant++] = f;
		}
	}
	source->constant_columns = source_keep_constant(source, columns, constant);
	source->first_constant = source->constant_columns ? columns[0] : 0;
}

/* Adds up Σ (x − centre)² over a part, and Σ (x − centre), which corrects it: the centre is not quite the mean. */
static int
spread_take_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct surveying *surveying = context;
	struct survey *survey = &surveying->slots[slot];
	size_t end = (part + 1) * MATRIX_PART, count = surveying->reader.source->count;

	(void)thread;
	(void)error;
	memset(survey->sums, 0, 2 * surveying->stride * sizeof(double));
	for (size_t example = part * MATRIX_PART; example < end && example < count; example++) {
		matrix_read_row(&surveying->reader, slot, example, survey->row);
		for (size_t f = 0; f < surveying->features; f++) {
			double value = survey->row[f];

			survey->sums[f] += value * value;
			survey->shifts[f] += value;
		}
	}
	return 0;
}

static int
spread_add_part(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	struct surveying *surveying = context;

	(void)part;
	(void)error;
	for (size_t f = 0; f < 2 * surveying->stride; f++)
		surveying->all.sums[f] += surveying->slots[slot].sums[f];
	return 0;
}

static void
source_measure_scales(struct matrix_source *source, struct surveying *surveying, struct parallel *parallel)
{
	float *scale = kernels_floats(surveying->stride);
	const struct survey *all = &surveying->all;

	memset(all->sums, 0, 2 * surveying->stride * sizeof(double));
	parallel->what = "measuring the features' deviations";
	parallel->work = spread_take_part;
	parallel->deliver = spread_add_part;
	must(parallel_run(parallel, &failure));
	for (size_t f = 0; f < surveying->stride; f++) {
		double shift = all->shifts[f] / (double)source->count;
		double square = all->sums[f] / (double)source->count, variance = square - shift * shift;
		float inverse = (float)(1 / sqrt(variance));

		scale[f] = variance > ROUNDING * square && isfinite(inverse) ? inverse : 1;
	}
	source->scale = scale;
}

void
matrix_survey(struct matrix_source *source)
{
	unsigned slots = parallel_slots(source->threads);
	CLEANUP_FREE struct survey *of_slots = memory_new(slots, sizeof(*of_slots));
	struct surveying surveying = {.features = source->array->header.shape[1], .slots = of_slots};
	struct parallel parallel = {.threads = source->threads,
	                            .count = (source->count + MATRIX_PART - 1) / MATRIX_PART,
	                            .what = "reading the features",
	                            .context = &surveying,
	                            .work = survey_take_part,
	                            .deliver = survey_add_part};

	surveying.stride = kernels_round(surveying.features + 1);
	survey_init(&surveying.all, surveying.stride);
	for (unsigned s = 0; s < slots; s++)
		survey_init(&of_slots[s], surveying.stride);
	source->scale = NULL;
	source->centre = kernels_floats(surveying.stride);
	matrix_reader_init(&surveying.reader, source, NULL, source->count);
	must(parallel_run(&parallel, &failure));
	source_set_centres(source, &surveying.all);
	if (source->standardise)
		source_measure_scales(source, &surveying, &parallel);
	for (unsigned s = 0; s < slots; s++)
		survey_free(&of_slots[s]);
	survey_free(&surveying.all);
	matrix_reader_free(&surveying.reader);
}

void
matrix_source_free(struct matrix_source *source)
{
	free(source->centre);
	free(source->scale);
	source->centre = source->scale = NULL;
}

/* matrix.c: loads the features of the examples that AFLite has not removed into memory (matrix.h): into large pages,
 * where the system has them, as the rows of a training set lie far from one another. */
#include "matrix.h"

#include "base/parallel.h"
#include "die/die.h"

#include <string.h>
#include <sys/mman.h>

struct loading {
	struct matrix *matrix;
	struct matrix_reader reader;
};

static int
matrix_load_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	struct loading *loading = context;
	struct matrix *matrix = loading->matrix;
	size_t end = (part + 1) * MATRIX_PART, after = matrix->features + 1;

	(void)thread;
	(void)error;
	end = end < matrix->rows ? end : matrix->rows;
	for (size_t row = part * MATRIX_PART; row < end; row++) {
		float *to = matrix->values + row * matrix->stride;

		matrix_read_row(&loading->reader, slot, row, to);
		to[matrix->features] = 1;
		memset(to + after, 0, (matrix->stride - after) * sizeof(float));
	}
	return 0;
}

static void
matrix_allocate(struct matrix *matrix)
{
	void *memory = MAP_FAILED;

	if (!__builtin_mul_overflow(matrix->rows * sizeof(float), matrix->stride, &matrix->bytes))
		memory = mmap(NULL, matrix->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die("out of memory for %zu rows of %zu features", matrix->rows, matrix->features);
	madvise(memory, matrix->bytes, MADV_HUGEPAGE);
	matrix->values = memory;
}

void
matrix_load(struct matrix *matrix, const struct matrix_source *source, const uint32_t *examples, size_t count)
{
	size_t features = source->array->header.shape[1];
	struct loading loading = {.matrix = matrix};
	struct parallel parallel = {.threads = source->threads,
	                            .count = (count + MATRIX_PART - 1) / MATRIX_PART,
	                            .what = "loading the features",
	                            .context = &loading,
	                            .work = matrix_load_part};

	*matrix = (struct matrix){.rows = count, .features = features, .stride = matrix_stride(features)};
	matrix_allocate(matrix);
	matrix_reader_init(&loading.reader, source, examples, count);
	must(parallel_run(&parallel, &failure));
	matrix_reader_free(&loading.reader);
}

void
matrix_free(struct matrix *matrix)
{
	if (matrix->values)
		munmap(matrix->values, matrix->bytes);
	*matrix = (struct matrix){0};
}

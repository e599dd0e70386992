/* test_aflite_filter.c: whole filters in memory: sizes, scores, and going on from a checkpoint. */
#include "unit.h"

#include "aflite/checkpoint.h"
#include "files/npy_read.h"
#include "statistics/random.h"

#include <sys/stat.h>
#include <unistd.h>

#define ROWS 400
#define FEATURES 40

struct data {
	float values[ROWS * FEATURES];
	uint32_t labels[ROWS], groups[ROWS];
	struct npy_array array;
	struct matrix_source source;
};

static void
make(struct data *data)
{
	struct random_state random;

	random_seed(&random, 11);
	for (size_t row = 0; row < ROWS; row++) {
		data->labels[row] = (uint32_t)(row % 3);
		data->groups[row] = (uint32_t)(row / 4);
		for (size_t f = 0; f < FEATURES; f++) {
			double value = (double)random_next(&random) * 0x1p-62 - 2;

			data->values[row * FEATURES + f] =
			        (float)(value + (f == data->labels[row] ? row % 5 : 0) + 100);
		}
	}
	data->array = (struct npy_array){.header = {.kind = 'f',
	                                            .item_size = 4,
	                                            .dimensions = 2,
	                                            .shape = {ROWS, FEATURES},
	                                            .count = ROWS * FEATURES},
	                                 .path = "X.npy",
	                                 .data = (const uint8_t *)data->values};
	data->source =
	        (struct matrix_source){.array = &data->array, .count = ROWS, .kernels = kernels_best(), .threads = 1};
	matrix_survey(&data->source);
}

/* Of a constant column only what rounds is left, and that is not divided by itself. */
static void
test_constant_doubles(void **state)
{
	enum { COLUMNS = 3 };
	static double values[ROWS * COLUMNS];
	struct npy_array array = {.header = {.kind = 'f',
	                                     .item_size = 8,
	                                     .dimensions = 2,
	                                     .shape = {ROWS, COLUMNS},
	                                     .count = ROWS * COLUMNS},
	                          .path = "X.npy",
	                          .data = (const uint8_t *)values};
	struct matrix_source source = {
	        .array = &array, .count = ROWS, .kernels = kernels_best(), .threads = 1, .standardise = true};
	(void)state;
	for (size_t row = 0; row < ROWS; row++) {
		values[row * COLUMNS] = 0.001;
		values[row * COLUMNS + 1] = 12345.678;
		values[row * COLUMNS + 2] = 12345.678 + 1e-6 * (double)(row % 2); /* the deviation is 5e-7 */
	}
	matrix_survey(&source);
	assert_true(source.scale[0] == 1 && source.scale[1] == 1);
	assert_true(source.scale[2] > 1.999e6f && source.scale[2] < 2.001e6f);
	assert_int_equal(source.constant_columns, 2);
	matrix_source_free(&source);
}

static const struct filter_options usual = {.target = 100,
                                            .partitions = 20,
                                            .train = 60,
                                            .slice = 25,
                                            .threshold = 0.5,
                                            .seed = 4,
                                            .lambda = 1,
                                            .threads = 1};

static void
begin(struct filter *filter, struct data *data, const struct filter_options *options, bool with_groups)
{
	struct filter_data parts = {.rows = ROWS,
	                            .features = FEATURES,
	                            .labels = data->labels,
	                            .classes = 3,
	                            .groups = with_groups ? data->groups : NULL,
	                            .group_count = ROWS / 4};
	struct filter_options all = *options;
	all.kernels = kernels_best();
	filter_init(filter, &all, &parts);
}

static void
load(struct filter *filter, struct data *data)
{
	filter_load(filter, &data->source);
}

static void
go_on(struct filter *filter, size_t phases)
{
	struct portolan_error error;

	while (phases-- > 0 && filter_phase(filter, &error) > 0) {
	}
}

static void
assert_same(const struct filter *a, const struct filter *b)
{
	assert_int_equal(a->phases, b->phases);
	assert_int_equal(filter_left(a), filter_left(b));
	assert_true(a->finished == b->finished);
	assert_memory_equal(a->examples, b->examples, filter_left(a) * sizeof(uint32_t));
	assert_memory_equal(a->labels, b->labels, filter_left(a) * sizeof(uint16_t));
	assert_memory_equal(a->scores.removed, b->scores.removed, ROWS * sizeof(uint32_t));
	assert_memory_equal(a->scores.made, b->scores.made, ROWS * sizeof(uint32_t));
	assert_memory_equal(a->scores.correct, b->scores.correct, ROWS * sizeof(uint32_t));
	assert_memory_equal(a->scores.margins, b->scores.margins, ROWS * sizeof(float));
	assert_memory_equal(a->log, b->log, a->phases * sizeof(*a->log));
	assert_memory_equal(&a->kept, &b->kept, sizeof(a->kept));
}

static void
test_sizes(void **state)
{
	struct filter filter;
	struct data *data = malloc(sizeof(*data));
	size_t left = 0, removed = 0;

	(void)state;
	assert_non_null(data);
	make(data);
	begin(&filter, data, &usual, false);
	load(&filter, data);
	go_on(&filter, SIZE_MAX);
	assert_true(filter.finished && filter.phases > 2);
	assert_true(filter_left(&filter) >= 100);
	for (size_t i = 0; i < ROWS; i++)
		left += filter.scores.removed[i] == 0;
	assert_int_equal(left, filter_left(&filter));
	for (size_t phase = 0; phase < filter.phases; phase++) {
		const struct filter_log *log = &filter.log[phase];
		uint64_t predictions = 0;

		assert_int_equal(log->left, ROWS - removed);
		assert_true(log->removed <= 25 && log->trained == 60 && log->unfinished == 0);
		removed += log->removed;
		for (size_t i = 0; phase + 1 == filter.phases && i < ROWS; i++)
			predictions += filter.scores.removed[i] == 0 || filter.scores.removed[i] == phase + 1
			                       ? filter.scores.made[i]
			                       : 0;
		if (phase + 1 == filter.phases)
			assert_int_equal(predictions, 20 * (log->left - 60));
	}
	assert_int_equal(removed, ROWS - left);
	/* rows that filled others still are the examples they are said to be */
	for (size_t row = 0; row < filter_left(&filter); row++) {
		uint32_t example = filter.examples[row];

		assert_int_equal(filter.labels[row], data->labels[example]);
		assert_close(matrix_row(&filter.matrix, row)[7] - matrix_row(&filter.matrix, 0)[7],
		             data->values[example * FEATURES + 7] - data->values[filter.examples[0] * FEATURES + 7],
		             1e-4);
	}
	assert_int_equal(filter_lines(&filter), filter.phases + 1);
	filter_free(&filter);
	filter_free(&filter);
	matrix_source_free(&data->source);
	free(data);
}

/* As many are asked for as there are: the only phase removes nothing, and its line is the measurement. */
static void
test_without_removal(void **state)
{
	struct data *data = malloc(sizeof(*data));
	struct filter_options options = usual;
	struct filter filter;

	(void)state;
	assert_non_null(data);
	make(data);
	options.target = ROWS;
	begin(&filter, data, &options, false);
	load(&filter, data);
	go_on(&filter, SIZE_MAX);
	assert_int_equal(filter_measure(&filter, NULL), 0);
	assert_int_equal(filter.phases, 1);
	assert_int_equal(filter_left(&filter), ROWS);
	assert_int_equal(filter_lines(&filter), 1);
	assert_memory_equal(&filter.kept, &filter.log[0], sizeof(filter.kept));
	filter_free(&filter);
	matrix_source_free(&data->source);
	free(data);
}

/* Scores what is left, and leaves everything else as it was. */
static void
measure(struct filter *filter)
{
	uint32_t made[ROWS];
	size_t left = filter_left(filter);

	memcpy(made, filter->scores.made, sizeof(made));
	assert_int_equal(filter_measure(filter, NULL), 0);
	assert_int_equal(filter->kept.left, left);
	assert_int_equal(filter->kept.removed, 0);
	assert_int_equal(filter_left(filter), left);
	assert_memory_equal(filter->scores.made, made, sizeof(made));
	assert_ptr_equal(filter_line(filter, filter->phases), &filter->kept);
}

/* After every phase there is, from a checkpoint in a file: the same to the end. */
static void
test_checkpoint(void **state)
{
	struct data *data = malloc(sizeof(*data));
	struct filter whole, before, after;
	struct portolan_error error;
	char directory[64];
	size_t phases;

	(void)state;
	assert_non_null(data);
	make(data);
	snprintf(directory, sizeof(directory), "checkpoint-%d", (int)getpid());
	checkpoint_prepare(directory);
	begin(&whole, data, &usual, true);
	load(&whole, data);
	go_on(&whole, SIZE_MAX);
	measure(&whole);
	phases = whole.phases;
	for (size_t done = 1; done <= phases; done++) {
		begin(&before, data, &usual, true);
		load(&before, data);
		go_on(&before, done);
		assert_int_equal(checkpoint_write(&before, directory, "seed=4", &error), 0);
		begin(&after, data, &usual, true);
		assert_int_equal(checkpoint_read(&after, directory, "seed=4", &error), 1);
		assert_same(&before, &after);
		load(&after, data);
		go_on(&after, SIZE_MAX);
		measure(&after);
		assert_same(&whole, &after);
		filter_free(&before);
		filter_free(&after);
	}
	begin(&after, data, &usual, true);
	assert_int_equal(checkpoint_read(&after, directory, "seed=5", &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "was made with seed=4, and this is seed=5"));
	checkpoint_remove(directory);
	assert_int_equal(checkpoint_read(&after, directory, "seed=4", &error), 0);
	assert_int_equal(access(directory, F_OK), -1);
	filter_free(&after);
	filter_free(&whole);
	matrix_source_free(&data->source);
	free(data);
}

/* A byte changed anywhere, or an end too early, is refused, and the filter can still begin anew. */
static void
test_damage(void **state)
{
	struct data *data = malloc(sizeof(*data));
	struct filter whole, filter;
	struct portolan_error error;
	char directory[64], path[128];
	uint8_t *bytes;
	struct stat status;
	FILE *file;
	size_t size;

	(void)state;
	assert_non_null(data);
	make(data);
	snprintf(directory, sizeof(directory), "checkpoint-%d", (int)getpid());
	checkpoint_prepare(directory);
	begin(&whole, data, &usual, false);
	load(&whole, data);
	go_on(&whole, 3);
	assert_int_equal(checkpoint_write(&whole, directory, "seed=4", &error), 0);
	snprintf(path, sizeof(path), "%s/aflite.checkpoint", directory);
	assert_int_equal(stat(path, &status), 0);
	size = (size_t)status.st_size;
	bytes = malloc(size);
	file = fopen(path, "rb");
	assert_true(bytes && file && fread(bytes, 1, size, file) == size);
	fclose(file);
	begin(&filter, data, &usual, false);
	for (size_t i = 0; i < size; i += i < 200 ? 1 : 997) {
		bytes[i] ^= 0x10;
		assert_int_equal(checkpoint_parse(&filter, bytes, size, path, "seed=4", &error), PORTOLAN_E_INVALID);
		bytes[i] ^= 0x10;
		assert_int_equal(checkpoint_parse(&filter, bytes, i, path, "seed=4", &error), PORTOLAN_E_INVALID);
	}
	assert_int_equal(checkpoint_parse(&filter, NULL, 0, path, "seed=4", &error), PORTOLAN_E_INVALID);
	assert_int_equal(filter.phases, 0);
	load(&filter, data);
	go_on(&filter, 3);
	assert_same(&whole, &filter);
	free(bytes);
	filter_free(&filter);
	filter_free(&whole);
	checkpoint_remove(directory);
	matrix_source_free(&data->source);
	free(data);
}

/* Searches that begin at zero end where the others do: what they began with does not show. */
/* A checkpoint of another kind of processor is refused by name: the last digits would be another's from there on. */
static void
test_processor(void **state)
{
	struct data *data = malloc(sizeof(*data));
	struct kernels kinds[2] = {*kernels_named("plain"), *kernels_named("plain")};
	struct filter_options options = usual;
	char directory[] = "aflite-XXXXXX", *parameters[2];
	struct portolan_error error;
	struct filter filter;

	(void)state;
	assert_non_null(data);
	assert_string_equal(kinds[0].name, "plain");
	kinds[1].name = "another";
	for (size_t kind = 0; kind < 2; kind++) {
		options.kernels = &kinds[kind];
		parameters[kind] = checkpoint_parameters(&options, &(struct matrix_source){.digest = 1}, 2, 3);
		assert_non_null(parameters[kind]);
	}
	make(data);
	begin(&filter, data, &usual, false);
	load(&filter, data);
	go_on(&filter, 1);
	assert_non_null(mkdtemp(directory));
	assert_int_equal(checkpoint_write(&filter, directory, parameters[0], &error), 0);
	assert_int_equal(checkpoint_read(&filter, directory, parameters[1], &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "was made with processor=plain, and this is processor=another"));
	checkpoint_remove(directory);
	for (size_t kind = 0; kind < 2; kind++)
		free(parameters[kind]);
	filter_free(&filter);
	matrix_source_free(&data->source);
	free(data);
}

static void
test_cold(void **state)
{
	struct data *data = malloc(sizeof(*data));
	struct filter_options options = usual;
	struct filter warm, cold;

	(void)state;
	assert_non_null(data);
	make(data);
	begin(&warm, data, &usual, false);
	load(&warm, data);
	options.cold = true;
	begin(&cold, data, &options, false);
	load(&cold, data);
	for (size_t phase = 0; phase < 2; phase++) {
		go_on(&warm, 1);
		go_on(&cold, 1);
		assert_close(warm.log[phase].mean_p, cold.log[phase].mean_p, 1e-3);
		assert_close(warm.log[phase].accuracy, cold.log[phase].accuracy, 1e-3);
	}
	filter_free(&warm);
	filter_free(&cold);
	matrix_source_free(&data->source);
	free(data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_constant_doubles),
	        cmocka_unit_test(test_sizes),
	        cmocka_unit_test(test_without_removal),
	        cmocka_unit_test(test_checkpoint),
	        cmocka_unit_test(test_damage),
	        cmocka_unit_test(test_processor),
	        cmocka_unit_test(test_cold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

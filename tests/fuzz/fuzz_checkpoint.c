/*
 * fuzz_checkpoint: a checkpoint of aflite whose checksum is right, so that what it says is looked at. What is taken is
 * a state that phases can start from; what is refused leaves the filter as it was.
 *
 * An input: a byte that says whether there are many features, then the checkpoint without its checksum.
 */
#include "fuzz.h"

#include "aflite/checkpoint.h"
#include "files/npy_read.h"

#include <xxhash.h>

#define ROWS 24
#define FEATURES_MOST 33
#define PARAMETERS "seed=0"

struct data {
	float values[ROWS * FEATURES_MOST];
	uint32_t labels[ROWS];
	struct npy_array array;
	struct matrix_source source;
};

static void
make(struct data *data, size_t features)
{
	for (size_t row = 0; row < ROWS; row++) {
		data->labels[row] = (uint32_t)(row % 2);
		for (size_t f = 0; f < features; f++)
			data->values[row * features + f] = (float)((row * 37 + f * 11) % 17) / 8 + (float)(row % 2);
	}
	data->array = (struct npy_array){.header = {.kind = 'f',
	                                            .item_size = 4,
	                                            .dimensions = 2,
	                                            .shape = {ROWS, features},
	                                            .count = ROWS * features},
	                                 .path = "X.npy",
	                                 .data = (const uint8_t *)data->values};
	data->source = (struct matrix_source){
	        .array = &data->array, .count = ROWS, .kernels = kernels_named("plain"), .threads = 1};
	matrix_survey(&data->source);
}

static void
check_state(const struct filter *filter)
{
	size_t left = 0;

	require(filter->phases > 0 && filter_left(filter) >= filter->options.target && filter_left(filter) <= ROWS);
	for (size_t i = 0; i < ROWS; i++)
		left += filter->scores.removed[i] == 0;
	require(left == filter_left(filter));
	for (size_t row = 0; row < left; row++) {
		require(filter->examples[row] < ROWS && !filter->scores.removed[filter->examples[row]]);
		require(filter->labels[row] == filter->examples[row] % 2);
	}
}

static void
go_on(struct filter *filter, struct data *data)
{
	struct portolan_error error = {0};
	int code = 0;

	filter_load(filter, &data->source);
	for (unsigned phases = 0; code >= 0 && !filter->finished && phases < 2; phases++)
		code = filter_phase(filter, &error);
	if (code < 0)
		require_line(&error, code);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct filter_options options = {.target = 12,
	                                 .partitions = 4,
	                                 .train = 6,
	                                 .slice = 3,
	                                 .lambda = 1,
	                                 .threads = 1,
	                                 .kernels = kernels_named("plain")};
	size_t features = size > 0 && data[0] & 1 ? FEATURES_MOST : 3, length = size > 0 ? size - 1 : 0;
	struct portolan_error error = {0};
	struct filter filter;
	struct data made;
	struct filter_data parts = {.rows = ROWS, .features = features, .labels = made.labels, .classes = 2};
	uint8_t *bytes = malloc(length + sizeof(XXH64_hash_t));
	XXH64_hash_t hash;
	int code;

	require(bytes);
	make(&made, features);
	if (length > 0)
		memcpy(bytes, data + 1, length);
	hash = XXH3_64bits(bytes, length);
	memcpy(bytes + length, &hash, sizeof(hash));
	filter_init(&filter, &options, &parts);
	code = checkpoint_parse(&filter, bytes, length + sizeof(hash), "state", PARAMETERS, &error);
	if (code < 0)
		require_line(&error, code);
	else
		check_state(&filter);
	go_on(&filter, &made);
	filter_free(&filter);
	matrix_source_free(&made.source);
	free(bytes);
	return 0;
}

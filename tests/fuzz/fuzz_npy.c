/*
 * fuzz_npy: a NumPy array, as a header alone, as a file of features, and as a list of ids. What is taken has all the
 * data its header says, and no more; ids are texts within the limits of their type.
 */
#include "fuzz.h"

#include "files/list.h"
#include "files/npy_read.h"

#include <math.h>
#include <sys/mman.h>

static void
check_header(const struct npy_header *header, size_t size)
{
	uint64_t count = 1;

	require(strchr("fiubSU", header->kind) && header->dimensions <= NPY_DIMENSIONS_MAX);
	require(header->offset >= 10 && header->offset <= size && header->item_size >= 1 &&
	        header->item_size <= 4u << 20);
	for (size_t d = 0; d < header->dimensions; d++)
		count *= header->shape[d]; /* 0 stays 0 whatever overflows */
	require(count == header->count);
	require(header->count <= (SIZE_MAX - header->offset) / header->item_size);
}

static void
check_array(const char *path, size_t size)
{
	struct portolan_error error = {0};
	struct npy_array array;
	int code = npy_open(&array, path, &error);

	if (code < 0) {
		require_message(&error, code);
		return;
	}
	check_header(&array.header, size);
	require(array.header.count * array.header.item_size == size - array.header.offset && !array.header.is_swapped);
	touch(array.data, size - array.header.offset);
	code = npy_check_matrix(&array, &error);
	if (code == 0) {
		require(array.header.dimensions == 2 && array.header.shape[1] > 0);
		code = npy_check_finite(&array, &error);
	}
	if (code < 0)
		require_message(&error, code);
	npy_close(&array);
	npy_close(&array);
}

struct seen {
	uint64_t count, place;
};

static int
see(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	struct seen *seen = context;

	(void)error;
	require(seen->count == 0 || place > seen->place);
	touch(id, length);
	seen->place = place;
	seen->count++;
	return 0;
}

static void
check_ids(const char *path)
{
	struct portolan_error error = {0};
	struct seen seen = {0};
	const char *unit = NULL;
	int code = list_read(path, LIST_IDS, &unit, see, &seen, &error);

	require(unit && (strcmp(unit, "line") == 0 || strcmp(unit, "row") == 0));
	if (code < 0)
		require_message(&error, code);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct portolan_error error = {0};
	struct npy_header header;
	uint8_t *exact = malloc(size ? size : 1); /* a block of just that size, so that reading on is found */
	int file = memfd_create("npy", MFD_CLOEXEC), code;
	char path[32];

	require(exact && file >= 0 && write(file, data, size) == (ssize_t)size);
	if (size)
		memcpy(exact, data, size);
	code = npy_parse_header(exact, size, "X.npy", &header, &error);
	if (code == 0)
		check_header(&header, size);
	else
		require_line(&error, code);
	free(exact);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	check_array(path, size);
	check_ids(path);
	close(file);
	return 0;
}

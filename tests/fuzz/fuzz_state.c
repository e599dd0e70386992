/*
 * fuzz_state: the file of `portolan metrics --state`, whose checksums are right, so that what it says is looked at. What
 * is taken is read block by block, and its measures are computed, and added to.
 *
 * An input: a byte whose lowest bit says that the file's size is made to fit its head, then the file. Its checksums are
 * put in.
 */
#include "fuzz.h"

#include "metrics/state_file.h"

#include <sys/mman.h>
#include <xxhash.h>

#define FILE_MOST ((uint64_t)32 << 20)

/* The head of a block, as README.md of the metrics has it. */
struct block {
	uint32_t chunk, rows;
	uint64_t check_place, check;
};

/* The file's size by its head; more than FILE_MOST: too large to be tried. */
static uint64_t
size_of(const struct state_head *head)
{
	const struct sums_kind kind = {
	        .columns = head->columns, .of_losses = head->of_losses != 0, .window = head->window};
	const uint64_t each = sums_size(&kind), rows = head->last_rows;

	if (head->epochs > 64 || head->blocks == 0 || head->blocks > 3 || rows > STORE_CHUNK)
		return FILE_MOST + 1;
	return sizeof(*head) + head->epochs * sizeof(struct state_epoch) + sizeof(uint64_t) +
	       (head->blocks - 1) * (sizeof(struct block) + each * STORE_CHUNK) + sizeof(struct block) + each * rows;
}

static void
put_checksums(uint8_t *file, const struct state_head *head)
{
	const struct sums_kind kind = {
	        .columns = head->columns, .of_losses = head->of_losses != 0, .window = head->window};
	uint8_t *at = file + sizeof(*head);
	uint64_t check =
	        XXH3_64bits_withSeed(at, head->epochs * sizeof(struct state_epoch), XXH3_64bits(head, sizeof(*head)));

	at += head->epochs * sizeof(struct state_epoch);
	memcpy(at, &check, sizeof(check));
	at += sizeof(check);
	for (uint32_t i = 0; i < head->blocks; i++) {
		const size_t body = sums_size(&kind) * (i + 1 < head->blocks ? STORE_CHUNK : head->last_rows);
		struct block block;

		memcpy(&block, at, sizeof(block));
		block.check_place = XXH3_64bits_withSeed(&block, offsetof(struct block, check_place), check);
		block.check = XXH3_64bits_withSeed(at + sizeof(block), body, block.check_place);
		memcpy(at, &block, sizeof(block));
		at += sizeof(block) + body;
	}
}

/* Computes the measures of a block that was taken. */
static void
measure(const struct block_sums *sums)
{
	static double values[MEASURE_COUNT][8];
	double *out[MEASURE_COUNT];

	for (int m = 0; m < MEASURE_COUNT; m++)
		out[m] = m == MEASURE_TDDS ? NULL : values[m];
	touch(sums_epochs(sums), 8 * sizeof(uint32_t));
	sums_measures(sums, 0, 8, out);
	touch(values, sizeof(values));
}

static void
read_blocks(const struct state_file *file)
{
	const struct sums_kind kind = {.columns = file->head.columns,
	                               .of_losses = file->head.of_losses != 0,
	                               .loss_threshold = file->head.loss_threshold,
	                               .window = file->head.window};
	struct portolan_error error = {0};
	struct block_sums sums;

	require(sums_init(&sums, &kind, &error) == 0);
	for (uint32_t i = 0; i < file->head.blocks; i++) {
		int code;

		require(i == 0 || file->chunks[i] > file->chunks[i - 1]);
		sums_clear(&sums);
		code = state_file_read(file, file->chunks[i], STORE_CHUNK, &sums, &error);
		if (code < 0)
			require_line(&error, code);
		else
			measure(&sums);
	}
	sums_free(&sums);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	const bool fits = input_u8(&input) & 1;
	const int fd = memfd_create("state", MFD_CLOEXEC);
	struct portolan_error error = {0};
	struct state_file file;
	struct state_head head;
	uint64_t length = input.size;
	uint8_t *bytes;
	char path[64];
	int code;

	memset(&head, 0, sizeof(head));
	memcpy(&head, input.data, input.size < sizeof(head) ? input.size : sizeof(head));
	memcpy(head.magic, STATE_MAGIC, sizeof(STATE_MAGIC));
	head.order = 0x01020304;
	head.version = STATE_VERSION;
	if (fits && size_of(&head) <= FILE_MOST)
		length = size_of(&head);
	bytes = calloc(length + sizeof(head), 1);
	require(fd >= 0 && bytes);
	memcpy(bytes, input.data, input.size < length ? input.size : length);
	if (length >= sizeof(head))
		memcpy(bytes, &head, sizeof(head));
	if (length == size_of(&head))
		put_checksums(bytes, &head);
	require(write(fd, bytes, length) == (ssize_t)length);
	free(bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	code = state_file_open(&file, path, &error);
	if (code < 0)
		require_line(&error, code);
	else
		read_blocks(&file);
	state_file_close(&file);
	close(fd);
	return 0;
}

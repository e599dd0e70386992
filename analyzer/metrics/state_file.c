/* state_file.c: reads and writes the file of `portolan metrics --state` (state_file.h). */
#include "state_file.h"

#include <portolan/cleanup.h>
#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define ORDER 0x01020304u

_Static_assert(sizeof(struct state_head) == 24 + 8 + 40 + 256 + 8 + 5 * 8 + 2 * 8, "there is padding in the head");

/* What precedes the sums of a block. */
struct block_head {
	uint32_t chunk, rows;
	uint64_t check_place; /* of the two */
	uint64_t check;       /* of these three, and the sums */
};

static struct sums_kind
head_kind(const struct state_head *head)
{
	return (struct sums_kind){.columns = head->columns,
	                          .of_losses = head->of_losses != 0,
	                          .loss_threshold = head->loss_threshold,
	                          .window = head->window};
}

/* The bytes of a block with so many examples. */
static uint64_t
block_size(const struct sums_kind *kind, uint32_t rows)
{
	return sizeof(struct block_head) + (uint64_t)sums_size(kind) * rows;
}

static uint64_t
block_place(const struct state_head *head, size_t index)
{
	const struct sums_kind kind = head_kind(head);

	return sizeof(*head) + head->epochs * sizeof(struct state_epoch) + sizeof(uint64_t) +
	       index * block_size(&kind, STORE_CHUNK);
}

static uint64_t
head_check(const struct state_head *head, const struct state_epoch *epochs)
{
	return XXH3_64bits_withSeed(epochs, head->epochs * sizeof(*epochs), XXH3_64bits(head, sizeof(*head)));
}

/* The checksum of the place of a block, with which that of its sums begins. */
static uint64_t
place_check(const struct block_head *block, uint64_t head)
{
	return XXH3_64bits_withSeed(block, offsetof(struct block_head, check_place), head);
}

/* Refuses a file that may be somebody's data. */
static int
state_foreign(const char *path, const char *why, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "--state %s: %s; nothing was changed: name another file", path,
	                 why);
}

/* Refuses a state that is of no use any more. */
static int
state_refuse(const char *path, const char *why, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID,
	                 "--state %s: %s; nothing was changed: remove it, or name another, and all epochs are read",
	                 path, why);
}

static int
state_damaged(const char *path, struct portolan_error *error)
{
	return state_refuse(path, "it is damaged: a size or a checksum in it does not fit", error);
}

/* Reads so many bytes; 1: the file is shorter. */
static int
read_at(const struct state_file *file, void *data, size_t size, uint64_t at, struct portolan_error *error)
{
	for (size_t have = 0; have < size;) {
		ssize_t n = pread(file->fd, (char *)data + have, size - have, (off_t)(at + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", file->path, strerror(errno));
		if (n == 0)
			return 1;
		have += (size_t)n;
	}
	return 0;
}

/* Checks that the head, whose checksum is not known yet, fits a file of this size. */
static bool
head_is_sound(const struct state_head *head, uint64_t size)
{
	const uint64_t most = UINT32_MAX / STORE_CHUNK + 1;
	const struct sums_kind kind = head_kind(head);

	if (head->epochs == 0 || head->epochs > size / sizeof(struct state_epoch) || head->blocks == 0 ||
	    head->blocks > most || head->last_rows == 0 || head->last_rows > STORE_CHUNK || head->of_losses > 1 ||
	    head->window < 2 || head->window > 256 || !memchr(head->store, 0, sizeof(head->store)) ||
	    !memchr(head->name, 0, sizeof(head->name)))
		return false;
	return size == block_place(head, head->blocks - 1) + block_size(&kind, head->last_rows);
}

static int
file_read_head(struct state_file *file, uint64_t size, struct portolan_error *error)
{
	struct state_head *head = &file->head;
	int code = size < sizeof(*head) ? 1 : read_at(file, head, sizeof(*head), 0, error);

	if (code < 0)
		return code;
	if (code > 0 || memcmp(head->magic, STATE_MAGIC, sizeof(STATE_MAGIC)) != 0)
		return state_foreign(file->path, "it is no whole state of portolan metrics", error);
	if (head->order != ORDER || head->version != STATE_VERSION)
		return state_refuse(file->path, "another version of portolan made it, or another kind of machine",
		                    error);
	if (!head_is_sound(head, size))
		return state_damaged(file->path, error);
	file->epochs = calloc(head->epochs, sizeof(*file->epochs));
	file->chunks = calloc(head->blocks, sizeof(*file->chunks));
	if (!file->epochs || !file->chunks)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the epochs of %s", file->path);
	code = read_at(file, file->epochs, head->epochs * sizeof(*file->epochs), sizeof(*head), error);
	if (code == 0)
		code = read_at(file, &file->check, sizeof(file->check), block_place(head, 0) - sizeof(file->check),
		               error);
	if (code < 0)
		return code;
	return code > 0 || file->check != head_check(head, file->epochs) ? state_damaged(file->path, error) : 0;
}

/* Reads which chunk each block is of. */
static int
file_read_chunks(struct state_file *file, struct portolan_error *error)
{
	const struct state_head *head = &file->head;

	for (uint32_t i = 0; i < head->blocks; i++) {
		struct block_head block;
		int code = read_at(file, &block, sizeof(block), block_place(head, i), error);

		if (code < 0)
			return code;
		if (code > 0 || block.check_place != place_check(&block, file->check) ||
		    block.rows != (i + 1 < head->blocks ? STORE_CHUNK : head->last_rows) ||
		    (i > 0 && block.chunk <= file->chunks[i - 1]))
			return state_damaged(file->path, error);
		file->chunks[i] = block.chunk;
	}
	return 0;
}

int
state_file_open(struct state_file *file, const char *path, struct portolan_error *error)
{
	struct stat status;
	int code;

	*file = (struct state_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	if (file->fd < 0 && errno == ENOENT)
		return 0;
	if (file->fd < 0 || fstat(file->fd, &status) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return state_foreign(path, "it is no regular file", error);
	code = file_read_head(file, (uint64_t)status.st_size, error);
	return code < 0 ? code : file_read_chunks(file, error);
}

void
state_file_close(struct state_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->epochs);
	free(file->chunks);
	*file = (struct state_file){.fd = -1};
}

static int
compare_chunks(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Reads the parts of a block, which lie from `at` on. A part that the sums do not have is read over. */
static int
file_read_parts(const struct state_file *file, uint64_t at, const struct block_head *block,
                const struct block_sums *sums, XXH3_state_t *check, struct portolan_error *error)
{
	const struct sums_kind kind = head_kind(&file->head);
	struct sums_part parts[SUMS_PARTS_MOST];
	size_t count = sums_list(&kind, parts);

	for (size_t i = 0; i < count; i++) {
		size_t size = parts[i].width * block->rows;
		void *to = sums_part(sums, parts[i].key);
		int code = to ? read_at(file, to, size, at, error) : 1;

		if (code != 0)
			return code < 0 ? code : state_damaged(file->path, error);
		XXH3_64bits_update(check, to, size);
		at += size;
	}
	return 0;
}

int
state_file_read(const struct state_file *file, uint32_t chunk, uint32_t rows, struct block_sums *sums,
                struct portolan_error *error)
{
	const struct state_head *head = &file->head;
	const uint32_t *found =
	        file->fd < 0 ? NULL : bsearch(&chunk, file->chunks, head->blocks, sizeof(chunk), compare_chunks);
	size_t index = found ? (size_t)(found - file->chunks) : 0;
	struct block_head block;
	XXH3_state_t *check;
	int code;

	if (!found)
		return 0;
	code = read_at(file, &block, sizeof(block), block_place(head, index), error);
	if (code != 0)
		return code < 0 ? code : state_damaged(file->path, error);
	if (block.rows > rows)
		return state_damaged(file->path, error);
	check = XXH3_createState();
	if (!check)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a checksum");
	XXH3_64bits_reset_withSeed(check, block.check_place);
	code = file_read_parts(file, block_place(head, index) + sizeof(block), &block, sums, check, error);
	if (code == 0 && XXH3_64bits_digest(check) != block.check)
		code = state_damaged(file->path, error);
	XXH3_freeState(check);
	return code < 0 ? code : 1;
}

int
state_file_begin(struct output *output, struct state_head *head, const struct state_epoch *epochs, uint64_t *check,
                 struct portolan_error *error)
{
	memcpy(head->magic, STATE_MAGIC, sizeof(STATE_MAGIC));
	head->order = ORDER;
	head->version = STATE_VERSION;
	*check = head_check(head, epochs);
	output_bytes(output, head, sizeof(*head));
	output_bytes(output, epochs, head->epochs * sizeof(*epochs));
	output_bytes(output, check, sizeof(*check));
	return output_flush(output, error);
}

int
state_file_write(struct output *output, const struct state_head *head, uint64_t check, size_t index, uint32_t chunk,
                 uint32_t rows, const struct block_sums *sums, struct portolan_error *error)
{
	struct block_head block = {.chunk = chunk, .rows = rows};
	uint64_t begin = block_place(head, index), at = begin + sizeof(block);
	XXH3_state_t *state = XXH3_createState();
	int code = state ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for a checksum");

	if (code < 0)
		return code;
	block.check_place = place_check(&block, check);
	XXH3_64bits_reset_withSeed(state, block.check_place);
	for (size_t i = 0; code >= 0 && i < sums->count; i++) {
		size_t size = sums->parts[i].width * rows;

		XXH3_64bits_update(state, sums->parts[i].values, size);
		code = output_write_at(output, sums->parts[i].values, size, at, error);
		at += size;
	}
	block.check = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return code < 0 ? code : output_write_at(output, &block, sizeof(block), begin, error);
}

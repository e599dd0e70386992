/* reader_process.c: see reader_process.h. One byte asks, eight bytes answer. */
#include "reader_process.h"

#include "read.h"

#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t
add(uint64_t digest, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		digest = (digest ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
	return digest;
}

static uint64_t
add_values(uint64_t digest, const struct store_values *values, unsigned column, uint32_t rows)
{
	for (uint32_t row = 0; row < rows && values->values; row++) {
		if (!(values->present[row / 64] >> (row % 64) & 1))
			continue;
		digest = add(digest, &row, sizeof(row));
		digest = add(digest, &column, sizeof(column));
		if (column == STORE_CORRECT) {
			uint8_t bit = ((const uint64_t *)values->values)[row / 64] >> (row % 64) & 1;

			digest = add(digest, &bit, 1);
		} else {
			digest = add(digest, (const uint32_t *)values->values + row, 4);
		}
	}
	return digest;
}

static uint64_t
add_block(uint64_t digest, const struct store_block *block, const struct store_ids *ids)
{
	for (size_t e = 0; e < block->epoch_count; e++)
		for (unsigned column = 0; column < STORE_COLUMN_MAX; column++)
			digest = add_values(digest, store_block_values(block, e, (enum store_column)column), column,
			                    block->rows);
	digest = add_values(digest, &block->gold, STORE_GOLD, block->rows);
	if (ids->integers)
		return add(digest, ids->integers, 8 * (size_t)ids->rows);
	digest = add(digest, ids->offsets, 4 * ((size_t)ids->rows + 1));
	return add(digest, ids->text, ids->offsets[ids->rows]);
}

static uint64_t
digest_snapshot(struct store_snapshot *snapshot)
{
	const struct store_run_info *info = store_snapshot_info(snapshot);
	struct store_cursor *cursor;
	uint64_t digest = UINT64_C(0xcbf29ce484222325);
	const uint32_t *epochs;
	size_t count = store_snapshot_epochs(snapshot, &epochs);

	if (store_cursor_open(snapshot, &cursor, NULL) != 0)
		return 0;
	digest = add(digest, epochs, count * sizeof(*epochs));
	digest = add(digest, &info->examples, sizeof(info->examples));
	for (size_t b = 0; b < store_snapshot_blocks(snapshot); b++) {
		struct store_block block;
		struct store_ids ids;

		if (store_cursor_block(cursor, b, &block, NULL) != 0 || store_cursor_ids(cursor, b, &ids, NULL) != 0) {
			digest = 0;
			break;
		}
		digest = add_block(digest, &block, &ids);
	}
	store_cursor_close(cursor);
	return digest;
}

static struct store_snapshot *
take(struct store *store, const char *run)
{
	struct store_snapshot_options options = {.epoch_to = UINT32_MAX, .columns = UINT64_MAX};
	struct store_snapshot *snapshot;

	return store_snapshot_open(store, run, &options, &snapshot, NULL) == 0 ? snapshot : NULL;
}

uint64_t
digest_of(struct store *store, const char *run)
{
	struct store_snapshot *snapshot = take(store, run);
	uint64_t digest = snapshot ? digest_snapshot(snapshot) : 0;

	store_snapshot_close(snapshot);
	return digest;
}

static void
serve(int from, int to, const char *directory, const char *run, bool small_map)
{
	struct store_snapshot *snapshot = NULL;
	struct store *store;
	uint64_t digest;
	char command;

	if (store_open(directory, &store, NULL) != 0)
		_exit(1);
	if (small_map && mdb_env_set_mapsize(store->environment.env, 1 << 20) != 0)
		_exit(1);
	snapshot = take(store, run);
	while (snapshot && read(from, &command, 1) == 1 && command != 'q') {
		if (command == 'a') {
			store_snapshot_close(snapshot);
			snapshot = take(store, run);
		}
		digest = snapshot ? digest_snapshot(snapshot) : 0;
		if (write(to, &digest, sizeof(digest)) != sizeof(digest))
			break;
	}
	store_snapshot_close(snapshot);
	store_close(store);
	_exit(0);
}

static uint64_t
ask(struct reader *reader, char command)
{
	uint64_t digest = 0;

	if (write(reader->to, &command, 1) != 1 || read(reader->from, &digest, sizeof(digest)) != sizeof(digest))
		return 0;
	return digest;
}

struct reader
reader_start(const char *directory, const char *run, bool small_map)
{
	int questions[2], answers[2];
	struct reader reader;

	if (pipe(questions) != 0 || pipe(answers) != 0)
		err(70, "pipe");
	fflush(NULL);
	reader.process = fork();
	if (reader.process == 0) {
		close(questions[1]);
		close(answers[0]);
		serve(questions[0], answers[1], directory, run, small_map);
	}
	close(questions[0]);
	close(answers[1]);
	reader.to = questions[1];
	reader.from = answers[0];
	return reader;
}

uint64_t
reader_digest(struct reader *reader)
{
	return ask(reader, 'd');
}

uint64_t
reader_again(struct reader *reader)
{
	return ask(reader, 'a');
}

static void
end(struct reader *reader)
{
	close(reader->to);
	waitpid(reader->process, NULL, 0);
	close(reader->from);
}

void
reader_stop(struct reader *reader)
{
	/* Said, not shown by closing the pipe: another reader may have inherited its end. */
	if (write(reader->to, "q", 1) != 1)
		warn("reader");
	end(reader);
}

void
reader_kill(struct reader *reader)
{
	kill(reader->process, SIGKILL);
	end(reader);
}

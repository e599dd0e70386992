/*
 * fingerprint.c: adds up the hashes of a run's ids and gold labels (fingerprint.h).
 *
 * The sums are what makes the fingerprint independent of the order of the examples. The functions of XXH3 take a seed,
 * by which an integer id, a text and a class that have the same bytes differ.
 */
#include "fingerprint.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum fingerprint_seed { SEED_PAIR = 0, SEED_INTEGER = 1, SEED_TEXT = 2, SEED_CLASS = 3, SEED_NAME = 4 };

static uint64_t
hash_number(uint64_t number, enum fingerprint_seed seed)
{
	uint64_t bytes = htole64(number);

	return XXH3_64bits_withSeed(&bytes, sizeof(bytes), seed);
}

static uint64_t
hash_id(const struct store_ids *ids, uint32_t row)
{
	if (ids->integers)
		return hash_number(ids->integers[row], SEED_INTEGER);
	return XXH3_64bits_withSeed(ids->text + ids->offsets[row], ids->offsets[row + 1] - ids->offsets[row],
	                            SEED_TEXT);
}

uint64_t
fingerprint_hash_label(const struct store_snapshot *snapshot, int32_t label, bool by_name)
{
	const char *name = by_name ? store_snapshot_label(snapshot, (uint64_t)label) : NULL;

	return name ? XXH3_64bits_withSeed(name, strlen(name), SEED_NAME) : hash_number((uint64_t)label, SEED_CLASS);
}

static uint64_t
hash_pair(uint64_t id, uint64_t label)
{
	const uint64_t bytes[] = {htole64(id), htole64(label)};

	return XXH3_64bits_withSeed(bytes, sizeof(bytes), SEED_PAIR);
}

/* The class of an example of the block; −1: it is not known. */
static int32_t
label_of(const struct store_block *block, uint32_t row)
{
	const struct store_values *gold = &block->gold;

	return gold->values && gold->present[row / 64] >> row % 64 & 1 ? ((const int32_t *)gold->values)[row] : -1;
}

static int
add_block(const struct store_snapshot *snapshot, const struct store_block *block, const struct store_ids *ids,
          struct fingerprint *sums, fingerprint_taker *take, void *context, struct portolan_error *error)
{
	int code = 0;

	for (uint32_t row = 0; row < block->rows && code >= 0; row++) {
		uint64_t id;
		int32_t label;

		if (block->seen && !(block->seen[row / 64] >> row % 64 & 1))
			continue;
		id = hash_id(ids, row);
		label = label_of(block, row);
		sums->examples++;
		sums->ids += id;
		if (label >= 0) {
			sums->labelled++;
			sums->labels += hash_pair(id, fingerprint_hash_label(snapshot, label, true));
		}
		if (take)
			code = take(context, id, label, error);
	}
	return code;
}

int
fingerprint_open(struct store *store, const char *run, struct store_snapshot **snapshot, struct portolan_error *error)
{
	static const struct store_snapshot_options options = {.columns = STORE_COLUMN_BIT(STORE_GOLD),
	                                                      .occupied = true};

	return store_snapshot_open(store, run, &options, snapshot, error);
}

int
fingerprint_compute(struct store_snapshot *snapshot, struct fingerprint *fingerprint, fingerprint_taker *take,
                    void *context, struct portolan_error *error)
{
	struct fingerprint sums = {0};
	struct store_cursor *cursor = NULL;
	int code = store_cursor_open(snapshot, &cursor, error);

	for (size_t b = 0; b < store_snapshot_blocks(snapshot) && code >= 0; b++) {
		struct store_block block;
		struct store_ids ids;

		code = store_cursor_block(cursor, b, &block, error);
		if (code >= 0)
			code = store_cursor_ids(cursor, b, &ids, error);
		if (code >= 0)
			code = add_block(snapshot, &block, &ids, &sums, take, context, error);
	}
	store_cursor_close(cursor);
	if (code < 0)
		return code;
	*fingerprint = sums;
	return 0;
}

int
fingerprint_read(struct store *store, const char *run, struct fingerprint *fingerprint, struct portolan_error *error)
{
	struct store_snapshot *snapshot = NULL;
	int code = fingerprint_open(store, run, &snapshot, error);

	if (code >= 0)
		code = fingerprint_compute(snapshot, fingerprint, NULL, NULL, error);
	store_snapshot_close(snapshot);
	return code < 0 ? code : 0;
}

void
fingerprint_print(const struct fingerprint *fingerprint, char text[FINGERPRINT_ROOM])
{
	text[0] = '\0';
	if (fingerprint->labelled > 0)
		snprintf(text, FINGERPRINT_ROOM, "%016" PRIx64 "-%016" PRIx64, fingerprint->ids, fingerprint->labels);
	else if (fingerprint->examples > 0)
		snprintf(text, FINGERPRINT_ROOM, "%016" PRIx64, fingerprint->ids);
}

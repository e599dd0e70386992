/*
 * dump_store.c: prints what a store holds of a run, one line "id,epoch,gold_prob,correct" per observation, through
 * store.h. For tests that must not depend on the analyzer.
 */
#include <portolan/store.h>

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool
bit(const uint64_t *words, uint32_t row)
{
	return words[row / 64] >> (row % 64) & 1;
}

static void
print_row(const struct store_ids *ids, const struct store_run_info *info, const struct store_block *block, uint32_t row,
          const uint32_t *epochs)
{
	for (size_t e = 0; e < block->epoch_count; e++) {
		const struct store_values *gold_prob = store_block_values(block, e, STORE_GOLD_PROB);
		const struct store_values *correct = store_block_values(block, e, STORE_CORRECT);

		if (!gold_prob->values || !bit(gold_prob->present, row))
			continue;
		if (info->id_kind == STORE_ID_STR)
			printf("%.*s", (int)(ids->offsets[row + 1] - ids->offsets[row]), ids->text + ids->offsets[row]);
		else
			printf("%" PRIu64, ids->integers[row]);
		printf(",%" PRIu32 ",%.9g,%d\n", epochs[e], (double)((const float *)gold_prob->values)[row],
		       bit(correct->values, row));
	}
}

int
main(int argc, char **argv)
{
	struct store_snapshot_options options = {
	        .epoch_to = UINT32_MAX, .columns = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT)};
	const struct store_run_info *info;
	struct store_snapshot *snapshot;
	struct store_cursor *cursor;
	struct portolan_error error = {0};
	struct store_block block;
	struct store_ids ids;
	struct store *store;
	const uint32_t *epochs;

	if (argc != 3)
		errx(2, "usage: dump_store DIR RUN");
	if (store_open(argv[1], &store, &error) < 0 ||
	    store_snapshot_open(store, argv[2], &options, &snapshot, &error) < 0 ||
	    store_cursor_open(snapshot, &cursor, &error) < 0)
		errx(1, "%s", error.message);
	info = store_snapshot_info(snapshot);
	store_snapshot_epochs(snapshot, &epochs);
	fprintf(stderr, "%s examples=%" PRIu64 " epochs=%" PRIu64 " observations=%" PRIu64 " replaced=%" PRIu64 "\n",
	        info->state == STORE_RECORDING ? "recording" : "closed", info->examples, info->epochs,
	        info->observations, info->replaced);
	for (size_t b = 0; b < store_snapshot_blocks(snapshot); b++) {
		if (store_cursor_ids(cursor, b, &ids, &error) < 0 || store_cursor_block(cursor, b, &block, &error) < 0)
			errx(1, "%s", error.message);
		for (uint32_t row = 0; row < block.rows; row++)
			print_row(&ids, info, &block, row, epochs);
	}
	store_cursor_close(cursor);
	store_snapshot_close(snapshot);
	store_close(store);
	return 0;
}

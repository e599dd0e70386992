/*
 * read_count.c: counts the observations in the log, for the list of runs.
 *
 * An example that comes twice in an epoch counts once. Folds find such examples; before a fold they are found here,
 * from the indices in the log. But a list of runs must not take long, so only as much of the log is read as BUDGET
 * allows. For the rest, and for patches to folded epochs, the largest possible number is taken: every example once.
 */
#include "batch.h"
#include "read.h"

#include <stdlib.h>

#define BUDGET ((size_t)64 << 20) /* bytes of log and bitmaps, per run */

struct tally {
	const struct view *view;
	uint32_t run, sessions;
	uint64_t rows;
	uint64_t *epoch, *ever; /* bitmaps over the rows; NULL: they would be too large */
	uint64_t seen;          /* bits set in `ever` */
	size_t spent;
	bool all; /* the whole log was read so far */
};

static size_t
bitmap_bytes(const struct tally *tally)
{
	return (tally->rows + 63) / 64 * 8;
}

/* Counts the different examples in the log of one epoch. */
static int
count_epoch(struct tally *tally, uint32_t epoch, const struct epoch_record *record, uint64_t *different,
            struct portolan_error *error)
{
	struct store_key from = store_key_log(tally->run, epoch, record->log_begin);
	struct view_walk walk;
	int rc = store_walk_open(&walk, tally->view, DB_LOG, &from, 8, error);

	memset(tally->epoch, 0, bitmap_bytes(tally));
	while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
		struct batch batch;

		if (!store_batch_open(walk.value.mv_data, walk.value.mv_size, tally->rows, tally->sessions, &batch)) {
			rc = store_walk_corrupt(&walk, error);
			break;
		}
		for (uint32_t row = 0; row < batch.rows; row++) {
			uint32_t index = store_batch_index(&batch, row);

			*different += !bit_get(tally->epoch, index);
			tally->seen += !bit_get(tally->ever, index);
			bit_set(tally->epoch, index);
			bit_set(tally->ever, index);
		}
	}
	store_walk_close(&walk);
	return rc == VIEW_ABSENT ? 0 : rc;
}

/* Adds an epoch to the run's numbers. */
static int
add_epoch(struct tally *tally, uint32_t epoch, const struct epoch_record *record, struct store_run_info *info,
          struct portolan_error *error)
{
	size_t cost = record->log_bytes + bitmap_bytes(tally);
	uint64_t waiting = record->log_rows < tally->rows ? record->log_rows : tally->rows, both;
	int rc = 0;

	if (record->log_rows && tally->all && tally->epoch && cost <= BUDGET - tally->spent) {
		tally->spent += cost;
		waiting = 0;
		rc = count_epoch(tally, epoch, record, &waiting, error);
		/* A fold that stopped on the way has already merged some of these rows. */
		waiting = waiting < record->log_rows ? waiting : record->log_rows;
	} else if (record->log_rows) {
		tally->all = false;
	}
	both = record->observations + waiting;
	info->observations += both < tally->rows ? both : tally->rows;
	if (info->declared && waiting > info->examples)
		info->examples = waiting;
	return rc;
}

int
store_count_waiting(const struct view *view, struct store_run_info *info, struct portolan_error *error)
{
	struct tally tally = {.view = view, .run = info->number, .rows = info->rows, .all = true};
	struct run_state_record state;
	struct catalog_epoch *epochs = NULL;
	size_t count = 0;
	int rc = store_catalog_state(view, info->number, &state, error);

	if (rc || state.log_rows == 0)
		return rc;
	tally.sessions = state.sessions;
	if (bitmap_bytes(&tally) <= BUDGET / 4) {
		tally.epoch = calloc(1, bitmap_bytes(&tally) + 1);
		tally.ever = calloc(1, bitmap_bytes(&tally) + 1);
		if (!tally.epoch || !tally.ever)
			rc = store_view_no_memory(view, error);
	}
	if (!rc)
		rc = store_catalog_epochs(view, info->number, &epochs, &count, error);
	info->observations = 0;
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_epoch(&tally, epochs[i].epoch, &epochs[i].record, info, error);
	if (info->declared && tally.seen > info->examples)
		info->examples = tally.seen;
	free(tally.epoch);
	free(tally.ever);
	free(epochs);
	return rc;
}

/*
 * read_count.c: counts what the log brings, before it is folded.
 *
 * The log's rows are merged in memory into what is stored, chunk by chunk, by the code of the folds, and nothing is
 * kept of that but the counts. So a run has the same numbers before a fold and after it. Labels are merged epoch after
 * epoch, which is the order in which the log of a closed run is folded.
 *
 * A list of runs must not take long, so it counts no more of a run's log than BUDGET allows, and takes the largest
 * possible number of observations for a larger one: every example once.
 */
#include "batch.h"
#include "read.h"

#include <stdlib.h>

#define BUDGET ((size_t)64 << 20) /* bytes of log and memory, per run */

static int
count_chunk(const struct store_snapshot *snapshot, uint32_t epoch, uint32_t chunk, struct merge_chunk *image,
            struct merge_counts *counts, struct portolan_error *error)
{
	int rc = store_snapshot_load(snapshot, epoch, chunk, 0, image, NULL, error);

	if (!rc)
		store_merge_add_counts(image, counts);
	return rc;
}

int
store_count_log(struct store_snapshot *snapshot, struct portolan_error *error)
{
	const struct overlay *overlay = &snapshot->overlay;
	const uint32_t chunks = overlay->part_count && snapshot->keeps_examples ? store_chunks_of(snapshot->rows) : 0;
	struct store_run_info *info = &snapshot->info;
	struct merge_counts counts = {0};
	struct merge_chunk image = {0};
	int rc = 0;

	for (size_t i = 0; i < overlay->part_count && !rc; i++) {
		const struct overlay_part *part = &overlay->parts[i];

		for (uint32_t chunk = part->from; chunk - part->from < part->chunks && !rc; chunk++)
			if (store_overlay_touches(part, chunk))
				rc = count_chunk(snapshot, part->epoch, chunk, &image, &counts, error);
	}
	for (uint32_t chunk = 0; chunk < chunks && !rc; chunk++)
		if (store_overlay_touches_any(overlay, chunk))
			rc = count_chunk(snapshot, STORE_EPOCH_RUN, chunk, &image, &counts, error);
	store_merge_free(&image);
	info->observations -= counts.replaced;
	info->replaced += counts.replaced;
	info->returned += counts.returned;
	info->changed_labels += counts.relabelled;
	info->examples += info->declared ? counts.seen : 0;
	return rc;
}

/* What counting the log of an epoch takes: its bytes, the overlay's batches, rows and table of chunks, and a bitmap for
 * each chunk that it may touch. */
static size_t
count_cost(const struct epoch_record *record, uint64_t rows)
{
	const uint64_t chunks = store_chunks_of(rows), touched = record->log_rows < chunks ? record->log_rows : chunks;

	return record->log_bytes + (record->log_end - record->log_begin) * sizeof(struct batch) +
	       record->log_rows * sizeof(struct overlay_row) + chunks * sizeof(size_t) + touched * (STORE_CHUNK / 8);
}

int
store_count_run(const struct view *view, uint32_t run, struct store_run_info *info, struct portolan_error *error)
{
	struct run_state_record state;
	struct catalog_epoch *epochs;
	uint64_t most = 0, least = 0; /* observations; examples */
	size_t count, cost = 0;
	int rc = store_catalog_info(view, run, info, error) ?: store_catalog_state(view, run, &state, error);

	if (rc || state.log_rows == 0)
		return rc;
	rc = store_catalog_epochs(view, run, &epochs, &count, error);
	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++) {
		const struct epoch_record *record = &epochs[i].record;
		const uint64_t both = record->observations + record->log_rows;
		const uint64_t here = record->log_rows < info->rows ? record->log_rows : info->rows;

		cost += record->log_rows ? count_cost(record, info->rows) : 0;
		most += both < info->rows ? both : info->rows;
		least = here > least ? here : least;
	}
	free(epochs);
	if (cost <= BUDGET)
		return store_snapshot_info_of(view, run, info, error);
	info->observations = most;
	if (info->declared && least > info->examples)
		info->examples = least;
	return 0;
}

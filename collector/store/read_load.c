/*
 * read_load.c: reads a chunk for a cursor as it will be when everything is folded: takes what is stored of the chunk,
 * and merges the log's rows over it by the code of the folds. It also counts what the log brings to a run.
 */
#include "read.h"

/* Finds the next part of the log, from *at on, that has rows of a chunk: of one epoch, or (STORE_EPOCH_RUN) of any. */
static const struct overlay_part *
load_next_part(const struct store_snapshot *snapshot, uint32_t epoch, uint32_t chunk, size_t *at)
{
	while (*at < snapshot->overlay.part_count && snapshot->overlay.parts[*at].epoch <= epoch) {
		const struct overlay_part *part = &snapshot->overlay.parts[(*at)++];

		if ((epoch == STORE_EPOCH_RUN || part->epoch == epoch) && store_overlay_touches(part, chunk))
			return part;
	}
	return NULL;
}

int
store_snapshot_load(const struct store_snapshot *snapshot, uint32_t epoch, uint32_t chunk, uint64_t columns,
                    struct merge_chunk *image, struct chunk_lent *lent, struct portolan_error *error)
{
	const struct chunk_place place = store_snapshot_place(snapshot, epoch, chunk);
	const uint64_t gold = STORE_COLUMN_BIT(STORE_GOLD), session = STORE_COLUMN_BIT(STORE_SESSION);
	const bool of_examples = epoch == STORE_EPOCH_RUN;
	const struct overlay_part *part;
	uint64_t stored = of_examples ? gold : snapshot->held & columns & ~gold;
	size_t at = 0;
	int rc = store_merge_reset(image);

	if (lent)
		*lent = (struct chunk_lent){0};
	if (load_next_part(snapshot, epoch, chunk, &at)) {
		stored |= session;
		lent = NULL;
	}
	if (!rc)
		rc = store_chunk_load(&snapshot->view, &place, stored, image, lent, error);
	for (at = 0; !rc && (part = load_next_part(snapshot, epoch, chunk, &at));) {
		/* A fold merges an epoch's log into the values kept per example together with the same chunk of the
		 * epoch, so both are merged up to the same position. */
		const struct chunk_place of_epoch = store_snapshot_place(snapshot, part->epoch, chunk);
		uint64_t merged = image->merged;

		if (of_examples)
			rc = store_chunk_merged(&snapshot->view, &of_epoch, &merged, error);
		if (!rc)
			rc = store_overlay_apply(&snapshot->overlay, part, chunk, merged,
			                         of_examples ? 0 : (snapshot->wanted & columns) | session,
			                         snapshot->order, image);
	}
	if (rc == STORE_E_MEMORY)
		store_view_no_memory(&snapshot->view, error);
	return rc;
}

/* Reads a chunk, and keeps nothing of it but the counts. */
static int
load_counts(const struct store_snapshot *snapshot, uint32_t epoch, uint32_t chunk, struct merge_chunk *image,
            struct merge_counts *counts, struct portolan_error *error)
{
	int rc = store_snapshot_load(snapshot, epoch, chunk, 0, image, NULL, error);

	if (!rc)
		store_merge_add_counts(image, counts);
	return rc;
}

/* The log's rows are counted by reading each chunk that they touch. Labels are merged epoch after epoch, which is the
 * order in which the log of a closed run is folded. */
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
				rc = load_counts(snapshot, part->epoch, chunk, &image, &counts, error);
	}
	for (uint32_t chunk = 0; chunk < chunks && !rc; chunk++)
		if (store_overlay_touches_any(overlay, chunk))
			rc = load_counts(snapshot, STORE_EPOCH_RUN, chunk, &image, &counts, error);
	store_merge_free(&image);
	info->observations -= counts.replaced;
	info->replaced += counts.replaced;
	info->returned += counts.returned;
	info->changed_labels += counts.relabelled;
	info->examples += info->declared ? counts.seen : 0;
	return rc;
}

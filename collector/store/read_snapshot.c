/*
 * read_snapshot.c: opens a snapshot for a reader: the observations of a run as they are at one moment, whatever the
 * collector writes afterwards.
 *
 * A snapshot holds a read transaction of LMDB until it is closed, so nothing that it shows can change. Its cursors, in
 * any number of threads, share that transaction and take turns at looking records up. A record stays in place, so it is
 * checked and unpacked without the lock. The price: pages that were freed meanwhile are not used again, so the file
 * grows while a snapshot stays open.
 */
#include "read.h"

#include <stdlib.h>

/* Lists the chunks with observations, as a run may declare many more examples than it observes. */
static int
snapshot_find_occupied(struct store_snapshot *snapshot, struct portolan_error *error)
{
	const uint32_t chunks = store_chunks_of(snapshot->rows);
	uint64_t *words = calloc((size_t)chunks / 64 + 1, sizeof(*words));
	uint32_t *occupied = calloc((size_t)chunks + 1, sizeof(*occupied)), count = 0;
	int rc = words && occupied ? 0 : store_view_no_memory(&snapshot->view, error);

	for (uint32_t chunk = 0; !rc; chunk++) {
		rc = store_catalog_next_chunk(&snapshot->view, snapshot->info.number, STORE_EPOCH_RUN, &chunk, error);
		if (rc || chunk >= chunks)
			break;
		bit_set(words, chunk);
	}
	rc = store_view_or_absent(rc);
	for (size_t i = 0; i < snapshot->overlay.part_count && !rc; i++) {
		const struct overlay_part *part = &snapshot->overlay.parts[i];

		for (uint32_t chunk = part->from; chunk - part->from < part->chunks; chunk++)
			if (store_overlay_touches(part, chunk))
				bit_set(words, chunk);
	}
	for (uint32_t chunk = 0; chunk < chunks && !rc; chunk++)
		if (bit_get(words, chunk))
			occupied[count++] = chunk;
	free(words);
	if (rc || count == chunks) {
		free(occupied);
		return rc;
	}
	snapshot->occupied = occupied;
	snapshot->blocks = count;
	snapshot->info.rows = (uint64_t)count * STORE_CHUNK;
	if (count)
		snapshot->info.rows -= STORE_CHUNK - store_chunk_rows(snapshot->rows, occupied[count - 1]);
	return 0;
}

static int
snapshot_read_run(struct store_snapshot *snapshot, uint32_t number, struct portolan_error *error)
{
	const struct view *view = &snapshot->view;
	struct run_state_record state;
	int rc = store_catalog_info(view, number, &snapshot->info, error)
	         ?: store_catalog_state(view, number, &state, error)
	         ?: store_catalog_labels(view, number, &snapshot->labels, &snapshot->label_count, error)
	         ?: store_catalog_user_columns(view, number, &snapshot->user_column_count, &snapshot->user_columns,
	                                       error)
	         ?: store_catalog_order(view, number, state.sessions, &snapshot->order, error);

	if (rc)
		return rc;
	snapshot->sessions = state.sessions;
	snapshot->rows = snapshot->info.rows;
	snapshot->blocks = store_chunks_of(snapshot->rows);
	snapshot->held = state.columns & STORE_COLUMN_BIT(STORE_GOLD);
	snapshot->keeps_examples = snapshot->info.declared || snapshot->held;
	return 0;
}

uint64_t
store_snapshot_stored(const struct store_snapshot *snapshot, uint64_t columns)
{
	return snapshot->info.of_losses && columns & STORE_COLUMN_BIT(STORE_GOLD_PROB)
	               ? columns | STORE_COLUMN_BIT(STORE_TASK_LOSS)
	               : columns;
}

/* Lists the epochs that are asked for. Of all epochs it reads the log, whose rows the info counts. */
static int
snapshot_read_epochs(struct store_snapshot *snapshot, const struct store_snapshot_options *options,
                     struct portolan_error *error)
{
	struct overlay_request request = {
	        .run = snapshot->info.number, .sessions = snapshot->sessions, .rows = snapshot->rows};
	struct catalog_epoch *all = NULL;
	size_t count = 0;
	int rc = store_catalog_epochs(&snapshot->view, request.run, &all, &count, error);

	if (rc)
		return rc;
	snapshot->epochs = calloc(count + 1, sizeof(*snapshot->epochs));
	snapshot->stored = calloc(count + 1, sizeof(*snapshot->stored));
	if (!snapshot->epochs || !snapshot->stored)
		rc = store_view_no_memory(&snapshot->view, error);
	for (const struct catalog_epoch *at = all; at < all + count && !rc; at++) {
		if (at->epoch < options->epoch_from || at->epoch >= options->epoch_to)
			continue;
		snapshot->stored[snapshot->epoch_count] = store_epoch_of(at);
		snapshot->epochs[snapshot->epoch_count++] = at->epoch;
		snapshot->held |= at->record.columns | STORE_COLUMN_BIT(STORE_SESSION);
	}
	snapshot->held &= snapshot->wanted;
	request.epochs = all;
	request.epoch_count = count;
	if (!rc)
		rc = store_overlay_build(&snapshot->view, &request, &snapshot->overlay, error);
	free(all);
	return rc;
}

/* Reads what a snapshot keeps of a run. The snapshot's transaction has begun. */
static int
snapshot_open_run(struct store_snapshot *snapshot, uint32_t run, const struct store_snapshot_options *options,
                  struct portolan_error *error)
{
	int rc = snapshot_read_run(snapshot, run, error);

	snapshot->wanted = store_snapshot_stored(snapshot, options->columns);
	if (!rc)
		rc = snapshot_read_epochs(snapshot, options, error);
	if (!rc)
		rc = store_count_log(snapshot, error);
	if (!rc && snapshot->info.declared && options->occupied)
		rc = snapshot_find_occupied(snapshot, error);
	return rc;
}

int
store_snapshot_info_of(const struct view *view, uint32_t run, struct store_run_info *info, struct portolan_error *error)
{
	static const struct store_snapshot_options nothing;
	struct store_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int rc;

	if (!snapshot)
		return store_view_no_memory(view, error);
	pthread_mutex_init(&snapshot->lock, NULL);
	snapshot->view = *view;
	rc = snapshot_open_run(snapshot, run, &nothing, error);
	if (!rc)
		*info = snapshot->info;
	store_snapshot_close(snapshot);
	return rc;
}

int
store_snapshot_open(struct store *store, const char *run, const struct store_snapshot_options *options,
                    struct store_snapshot **snapshot, struct portolan_error *error)
{
	struct store_snapshot *opened = calloc(1, sizeof(*opened));
	uint32_t number;
	int rc;

	if (!opened)
		return error_set(error, STORE_E_MEMORY, "out of memory opening run '%s'", run);
	opened->store = store;
	pthread_mutex_init(&opened->lock, NULL);
	rc = store_read_begin(store, &opened->view, error);
	if (!rc) {
		opened->view.shared = &opened->lock;
		rc = store_read_find(&opened->view, run, &number, error);
	}
	if (!rc)
		rc = snapshot_open_run(opened, number, options, error);
	if (rc) {
		store_snapshot_close(opened);
		return rc;
	}
	*snapshot = opened;
	return 0;
}

void
store_snapshot_detach(struct store_snapshot *snapshot)
{
	if (snapshot->store)
		store_read_finish(&snapshot->view);
	store_overlay_free(&snapshot->overlay);
	snapshot->store = NULL;
}

void
store_snapshot_close(struct store_snapshot *snapshot)
{
	if (!snapshot)
		return;
	store_snapshot_detach(snapshot);
	free(snapshot->labels);
	free(snapshot->user_columns);
	free(snapshot->epochs);
	free(snapshot->stored);
	free(snapshot->order);
	free(snapshot->occupied);
	pthread_mutex_destroy(&snapshot->lock);
	free(snapshot);
}

const struct store_run_info *
store_snapshot_info(const struct store_snapshot *snapshot)
{
	return &snapshot->info;
}

size_t
store_snapshot_epochs(const struct store_snapshot *snapshot, const uint32_t **epochs)
{
	*epochs = snapshot->epochs;
	return snapshot->epoch_count;
}

const struct store_epoch *
store_snapshot_stored_epochs(const struct store_snapshot *snapshot)
{
	return snapshot->stored;
}

uint64_t
store_snapshot_columns(const struct store_snapshot *snapshot)
{
	return snapshot->held;
}

const char *
store_snapshot_column_name(const struct store_snapshot *snapshot, unsigned column)
{
	bool known = column >= STORE_COLUMN_USER && column - STORE_COLUMN_USER < snapshot->user_column_count;

	return known ? snapshot->user_columns[column - STORE_COLUMN_USER] : NULL;
}

const char *
store_snapshot_label(const struct store_snapshot *snapshot, uint64_t class_index)
{
	return class_index < snapshot->label_count ? snapshot->labels[class_index] : NULL;
}

size_t
store_snapshot_blocks(const struct store_snapshot *snapshot)
{
	return snapshot->blocks;
}

/*
 * read_snapshot.c: fixing what a reader sees.
 *
 * Everything that may change later (directories, log, sessions, texts) is copied in one short transaction. What is left
 * in the store are chunk records, which the collector does not remove while the snapshot is registered (registry.h),
 * and ids, which never change. Where readers/ cannot be written, the LMDB transaction itself is kept: one, so cursors
 * take turns.
 */
#include "snapshot.h"

#include "chunk.h"

#include <stdlib.h>

#define NEAR 3 /* edits at which a name is still worth suggesting */

static size_t
edit_distance(const char *a, const char *b)
{
	size_t row[256], length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			size_t best = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			best = diagonal + 1 < best ? diagonal + 1 : best;
			row[j + 1] = best;
		}
	}
	return row[length];
}

static int
no_run(const struct view *view, const char *run, struct portolan_error *error)
{
	struct store_key all = {.size = 0};
	struct view_walk walk;
	char nearest[256] = "";
	size_t distance = strlen(run) / 3 > NEAR ? strlen(run) / 3 + 1 : NEAR + 1;
	int rc = strlen(run) < 256 ? store_walk_open(&walk, view, DB_RUNS, &all, 0, error) : VIEW_ABSENT;

	while (!rc) {
		char name[256] = "";

		rc = store_walk_next(&walk, error);
		if (rc || walk.key.mv_size >= sizeof(name))
			continue;
		memcpy(name, walk.key.mv_data, walk.key.mv_size);
		if (edit_distance(run, name) < distance) {
			distance = edit_distance(run, name);
			memcpy(nearest, name, sizeof(name));
		}
	}
	if (strlen(run) < 256)
		store_walk_close(&walk);
	if (nearest[0])
		return error_set(error, STORE_E_NO_RUN, "no run '%s' in store '%s'; did you mean '%s'?", run,
		                 view->environment->directory, nearest);
	return error_set(error, STORE_E_NO_RUN, "no run '%s' in store '%s'; `portolan runs` lists them", run,
	                 view->environment->directory);
}

static int
read_directories(const struct view *view, struct store_snapshot *snapshot, struct portolan_error *error)
{
	uint32_t run = snapshot->info.number;
	int rc = store_catalog_directory(view, run, STORE_EPOCH_RUN, snapshot->chunks, &snapshot->example_generations,
	                                 error);

	snapshot->generations = calloc(snapshot->epoch_count + 1, sizeof(*snapshot->generations));
	if (!rc && !snapshot->generations)
		rc = error_set(error, STORE_E_MEMORY, "out of memory opening run '%s'", snapshot->info.name);
	for (size_t e = 0; e < snapshot->epoch_count && !rc; e++)
		rc = store_catalog_directory(view, run, snapshot->epochs[e], snapshot->chunks,
		                             &snapshot->generations[e], error);
	return rc;
}

/* Declared examples are counted when they are folded: adds those that only the log has. */
static int
count_new_examples(const struct view *view, struct store_snapshot *snapshot, struct portolan_error *error)
{
	struct merge_chunk image = {0};
	int rc = 0;

	for (uint32_t chunk = 0; chunk < snapshot->chunks && !rc; chunk++) {
		struct chunk_place place = {.run_name = snapshot->info.name,
		                            .run = snapshot->info.number,
		                            .epoch = STORE_EPOCH_RUN,
		                            .generation = snapshot->example_generations[chunk],
		                            .chunk = chunk,
		                            .rows = store_snapshot_rows(snapshot, chunk),
		                            .sessions = snapshot->sessions};

		if (!store_overlay_touches(&snapshot->overlay.examples, chunk))
			continue;
		rc = store_merge_reset(&image);
		if (!rc)
			rc = store_chunk_load(view, &place, STORE_COLUMN_BIT(STORE_SESSION), &image, error);
		if (!rc)
			rc = store_overlay_apply(&snapshot->overlay, &snapshot->overlay.examples, chunk, true, 0,
			                         snapshot->order, &image, &snapshot->info.examples);
		if (rc == STORE_E_MEMORY)
			error_set(error, rc, "out of memory opening run '%s'", snapshot->info.name);
	}
	store_merge_free(&image);
	return rc;
}

static int
read_snapshot(const struct view *view, const char *run, const struct store_snapshot_options *options,
              struct store_snapshot *snapshot, struct portolan_error *error)
{
	struct overlay_request request = {.columns = options->columns};
	struct epoch_record *records = NULL;
	struct run_state_record state;
	uint32_t number;
	int rc = store_catalog_find(view, run, strlen(run), &number, error);

	if (rc)
		return rc == VIEW_ABSENT ? no_run(view, run, error) : rc;
	rc = store_catalog_info(view, number, &snapshot->info, error);
	if (!rc)
		rc = store_catalog_state(view, number, &state, error);
	if (!rc)
		rc = store_catalog_texts(view, number, &snapshot->texts, error);
	if (!rc)
		rc = store_catalog_order(view, number, state.sessions, &snapshot->order, error);
	if (!rc)
		rc = store_catalog_epochs(view, number, options->epoch_from, options->epoch_to, &snapshot->epochs,
		                          &records, &snapshot->epoch_count, error);
	if (rc)
		return rc;
	snapshot->sessions = state.sessions;
	snapshot->chunks = store_chunks_of(snapshot->info.rows);
	snapshot->held = state.columns & STORE_COLUMN_BIT(STORE_GOLD);
	for (size_t e = 0; e < snapshot->epoch_count; e++)
		snapshot->held |= records[e].columns | STORE_COLUMN_BIT(STORE_SESSION);
	snapshot->held &= snapshot->wanted;
	free(records);
	rc = read_directories(view, snapshot, error);
	if (rc)
		return rc;
	request.run = number;
	request.sessions = state.sessions;
	request.rows = snapshot->info.rows;
	request.epochs = snapshot->epochs;
	request.epoch_count = snapshot->epoch_count;
	request.every_epoch = snapshot->info.declared || options->columns & STORE_COLUMN_BIT(STORE_GOLD);
	rc = store_overlay_build(view, &request, &snapshot->overlay, error);
	if (!rc && snapshot->info.declared)
		rc = count_new_examples(view, snapshot, error);
	return rc;
}

int
store_snapshot_open(struct store *store, const char *run, const struct store_snapshot_options *options,
                    struct store_snapshot **snapshot, struct portolan_error *error)
{
	struct store_snapshot *opened = calloc(1, sizeof(*opened));
	struct view view = {0};
	bool registered;
	int rc;

	if (!opened)
		return error_set(error, STORE_E_MEMORY, "out of memory opening run '%s'", run);
	opened->store = store;
	opened->wanted = options->columns;
	pthread_mutex_init(&opened->kept_lock, NULL);
	registered = store_registry_enter(store->environment.directory, &opened->registration);
	rc = store_read_begin(store, &view, error);
	if (rc) {
		store_snapshot_close(opened);
		return rc;
	}
	if (registered)
		registered = store_registry_set(&opened->registration, mdb_txn_id(view.txn));
	rc = read_snapshot(&view, run, options, opened, error);
	if (rc || registered) {
		store_read_finish(store, &view);
	} else {
		opened->kept = view;
		__atomic_add_fetch(&store->kept, 1, __ATOMIC_SEQ_CST);
		pthread_rwlock_unlock(&store->map);
	}
	if (rc) {
		store_snapshot_close(opened);
		return rc;
	}
	*snapshot = opened;
	return 0;
}

void
store_snapshot_close(struct store_snapshot *snapshot)
{
	if (!snapshot)
		return;
	if (snapshot->kept.txn) {
		mdb_txn_abort(snapshot->kept.txn);
		__atomic_sub_fetch(&snapshot->store->kept, 1, __ATOMIC_SEQ_CST);
	}
	store_registry_leave(&snapshot->registration);
	store_overlay_free(&snapshot->overlay);
	store_catalog_texts_free(&snapshot->texts);
	for (size_t e = 0; e < snapshot->epoch_count && snapshot->generations; e++)
		free(snapshot->generations[e]);
	free(snapshot->generations);
	free(snapshot->example_generations);
	free(snapshot->epochs);
	free(snapshot->order);
	pthread_mutex_destroy(&snapshot->kept_lock);
	free(snapshot);
}

int
store_snapshot_begin(struct store_snapshot *snapshot, struct view *own, struct view **view,
                     struct portolan_error *error)
{
	int rc;

	if (snapshot->kept.txn) {
		pthread_mutex_lock(&snapshot->kept_lock);
		*view = &snapshot->kept;
		return 0;
	}
	rc = store_read_begin(snapshot->store, own, error);
	*view = own;
	return rc;
}

void
store_snapshot_end(struct store_snapshot *snapshot, struct view *view)
{
	if (snapshot->kept.txn)
		pthread_mutex_unlock(&snapshot->kept_lock);
	else
		store_read_end(snapshot->store, view);
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

uint64_t
store_snapshot_columns(const struct store_snapshot *snapshot)
{
	return snapshot->held;
}

int
store_snapshot_user_column(const struct store_snapshot *snapshot, const char *name)
{
	for (uint32_t i = 0; i < snapshot->texts.user_column_count; i++)
		if (strcmp(snapshot->texts.user_columns[i], name) == 0)
			return STORE_COLUMN_USER + (int)i;
	return -1;
}

const char *
store_snapshot_column_name(const struct store_snapshot *snapshot, unsigned column)
{
	if (column < STORE_COLUMN_USER || column - STORE_COLUMN_USER >= snapshot->texts.user_column_count)
		return NULL;
	return snapshot->texts.user_columns[column - STORE_COLUMN_USER];
}

const char *
store_snapshot_label(const struct store_snapshot *snapshot, uint64_t class_index)
{
	if (class_index >= snapshot->texts.label_count)
		return NULL;
	return snapshot->texts.label_text + snapshot->texts.label_offsets[class_index];
}

const char *
store_snapshot_config(const struct store_snapshot *snapshot)
{
	return snapshot->texts.config;
}

size_t
store_snapshot_blocks(const struct store_snapshot *snapshot)
{
	return snapshot->chunks;
}

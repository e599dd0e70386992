/*
 * read.c: opens a store for reading, manages its transactions, and reads the records of its runs.
 *
 * A transaction lasts as long as one call, or as a snapshot. Meanwhile the collector may make its map larger than the
 * reader's, which is large from the beginning. LMDB then returns MDB_MAP_RESIZED, and the reader takes the new size,
 * unless a transaction of this process is open.
 */
#include "read.h"

#include "counters.h"

#include <stdlib.h>

int
store_open(const char *directory, struct store **store, struct portolan_error *error)
{
	struct store *opened = calloc(1, sizeof(*opened));
	int rc;

	if (!opened)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	rc = store_environment_open(&opened->environment, directory, STORE_READ, 0, error);
	if (rc) {
		free(opened);
		return rc;
	}
	pthread_mutex_init(&opened->lock, NULL);
	*store = opened;
	return 0;
}

void
store_close(struct store *store)
{
	if (!store)
		return;
	store_environment_close(&store->environment);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

void
store_id(const struct store *store, char id[STORE_ID_ROOM])
{
	for (size_t i = 0; i < sizeof(store->environment.id); i++)
		snprintf(id + 2 * i, 3, "%02x", store->environment.id[i]);
}

int
store_read_begin(struct store *store, struct view *view, struct portolan_error *error)
{
	int rc;

	view->environment = &store->environment;
	pthread_mutex_lock(&store->lock);
	rc = store_environment_begin_read(&store->environment, &view->txn);
	if (rc == MDB_MAP_RESIZED && store->transactions == 0) {
		rc = mdb_env_set_mapsize(store->environment.env, 0)
		             ?: store_environment_begin_read(&store->environment, &view->txn);
	}
	if (rc)
		view->txn = NULL;
	else
		store->transactions++;
	pthread_mutex_unlock(&store->lock);
	if (rc == MDB_MAP_RESIZED)
		return error_set(error, STORE_E_SYSTEM,
		                 "store '%s' has grown: close what was opened before, then try again",
		                 store->environment.directory);
	return rc ? store_environment_error(&store->environment, rc, "reading", error) : 0;
}

void
store_read_finish(struct view *view)
{
	struct store *store = (struct store *)view->environment;

	if (!view->txn)
		return;
	pthread_mutex_lock(&store->lock);
	mdb_txn_abort(view->txn);
	store->transactions--;
	pthread_mutex_unlock(&store->lock);
	view->txn = NULL;
}

/* LMDB begins a transaction of its own for the copy; beginning ours has taken a larger map, if there was one. */
int
store_copy(struct store *store, int fd, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	int rc = store_read_begin(store, &view, error);

	if (rc)
		return rc;
	rc = mdb_env_copyfd2(store->environment.env, fd, MDB_CP_COMPACT);
	return rc ? store_environment_error(&store->environment, rc, "copying", error) : 0;
}

/* A damaged run is no failure here: it must not hide the others. */
static int
read_info_of_run(struct view *view, struct store_run_info *run, struct portolan_error *error)
{
	struct store_run_info info;
	int rc = run->number ? store_count_run(view, run->number, &info, error) : STORE_E_CORRUPT;

	if (rc == STORE_E_CORRUPT) {
		run->state = STORE_DAMAGED;
		if (!store_view_is_spoilt(view))
			return 0;
		store_read_finish(view);
		return store_read_begin((struct store *)view->environment, view, error);
	}
	if (!rc)
		*run = info;
	return rc;
}

int
store_runs(struct store *store, struct store_run_info **runs, size_t *count, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP_FREE struct store_run_info *list = NULL;
	size_t n = 0;
	int rc = store_read_begin(store, &view, error) ?: store_catalog_runs(&view, &list, &n, error);

	for (size_t i = 0; i < n && !rc; i++)
		rc = read_info_of_run(&view, &list[i], error);
	if (rc)
		return rc;
	*runs = list;
	*count = n;
	list = NULL;
	return 0;
}

void
store_long_reader(struct store *store, uint64_t bytes, struct store_long_reader *reader)
{
	CLEANUP(store_read_finish) struct view view = {0};

	*reader = (struct store_long_reader){0};
	if (store_read_begin(store, &view, NULL) == 0)
		store_view_long_reader(&view, bytes, reader);
}

static int
read_session(const struct view *view, uint32_t run, uint32_t number, struct store_session *session,
             struct portolan_error *error)
{
	struct store_key client = store_key_session(run, RUN_CLIENT, number);
	uint64_t numbers[COUNTERS_MOST];
	struct session_record record;
	struct process_record process;
	size_t count;
	int rc = store_catalog_session(view, run, number, &record, error)
	         ?: store_counters_read(view, &client, RECORD_CLIENT, numbers, &count, error)
	         ?: store_process_read(view, run, number, &process, error);

	if (rc)
		return rc;
	*session = (struct store_session){.started = record.started,
	                                  .rank = record.rank,
	                                  .live = record.live != 0,
	                                  .acknowledged = record.acknowledged,
	                                  .frontier = record.frontier,
	                                  .observations = record.observations,
	                                  .replaced = record.replaced,
	                                  .refused = record.refused,
	                                  .process.process = process.process,
	                                  .beside = process.beside};
	memcpy(session->process.host, process.host, STORE_HOST);
	memcpy(session->id, record.id, sizeof(session->id));
	memcpy(&session->client, numbers, sizeof(session->client));
	return 0;
}

int
store_sessions(struct store *store, uint32_t run, struct store_session **sessions, size_t *count,
               struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP_FREE struct store_session *list = NULL;
	struct run_state_record state;
	int rc = store_read_begin(store, &view, error) ?: store_catalog_state(&view, run, &state, error);

	if (rc)
		return rc;
	list = calloc((size_t)state.sessions + 1, sizeof(*list));
	if (!list)
		return store_view_no_memory(&view, error);
	for (uint32_t i = 0; i < state.sessions; i++) {
		rc = read_session(&view, run, i, &list[i], error);
		if (rc)
			return rc;
	}
	*sessions = list;
	*count = state.sessions;
	list = NULL;
	return 0;
}

int
store_epochs(struct store *store, uint32_t run, struct store_epoch **epochs, size_t *count,
             struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP_FREE struct catalog_epoch *stored = NULL;
	struct store_epoch *list;
	size_t n;
	int rc = store_read_begin(store, &view, error) ?: store_catalog_epochs(&view, run, &stored, &n, error);

	if (rc)
		return rc;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return store_view_no_memory(&view, error);
	for (size_t i = 0; i < n; i++)
		list[i] = (struct store_epoch){.epoch = stored[i].epoch,
		                               .folds = stored[i].record.folds,
		                               .folded = stored[i].record.observations,
		                               .waiting = stored[i].record.log_rows,
		                               .batches = stored[i].record.log_end};
	*epochs = list;
	*count = n;
	return 0;
}

#define NEAR 3 /* most edits at which a name is suggested */

static size_t
read_edit_distance(const char *a, const char *b)
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
read_suggest_run(const struct view *view, const char *run, struct portolan_error *error)
{
	const struct store_key all = {.size = 0};
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	char nearest[256] = "";
	size_t distance = strlen(run) / 3 > NEAR ? strlen(run) / 3 + 1 : NEAR + 1;

	if (strlen(run) < 256)
		store_walk_open(&walk, view, DB_RUNS, &all, 0, error);
	while (walk.cursor && store_walk_next(&walk, error) == 0) {
		char name[256] = "";

		if (walk.key.mv_size >= sizeof(name))
			continue;
		memcpy(name, walk.key.mv_data, walk.key.mv_size);
		if (read_edit_distance(run, name) < distance) {
			distance = read_edit_distance(run, name);
			memcpy(nearest, name, sizeof(name));
		}
	}
	if (nearest[0])
		return error_set(error, STORE_E_NO_RUN, "no run '%s' in store '%s'; did you mean '%s'?", run,
		                 view->environment->directory, nearest);
	return error_set(error, STORE_E_NO_RUN, "no run '%s' in store '%s'; `portolan runs` lists them", run,
	                 view->environment->directory);
}

int
store_read_find(const struct view *view, const char *name, uint32_t *run, struct portolan_error *error)
{
	int rc = store_catalog_find(view, name, strlen(name), run, error);

	return rc == VIEW_ABSENT ? read_suggest_run(view, name, error) : rc;
}

int
store_find_run(struct store *store, const char *name, uint32_t *run, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	int rc = store_read_begin(store, &view, error);

	return rc ?: store_read_find(&view, name, run, error);
}

/*
 * read.c: opens a store for the commands that read one, begins and ends transactions on it, and finds runs by their
 * names.
 *
 * A transaction lasts as long as one call, or as a snapshot. Meanwhile the collector may make its map larger than the
 * reader's, which is large from the beginning. LMDB then returns MDB_MAP_RESIZED, and the reader takes the new size,
 * unless a transaction of this process is open.
 */
#include "read.h"

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

/* LMDB reads the copy in a transaction of its own. Ours is begun only because that takes a larger map, if the collector
 * made one. */
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

void
store_long_reader(struct store *store, uint64_t bytes, struct store_long_reader *reader)
{
	CLEANUP(store_read_finish) struct view view = {0};

	*reader = (struct store_long_reader){0};
	if (store_read_begin(store, &view, NULL) == 0)
		store_view_long_reader(&view, bytes, reader);
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
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	char nearest[256] = "";
	size_t distance = strlen(run) / 3 > NEAR ? strlen(run) / 3 + 1 : NEAR + 1;

	if (strlen(run) < 256)
		store_walk_open(&walk, view, DB_RUNS, NULL, 0, error);
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

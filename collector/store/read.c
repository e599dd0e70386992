/*
 * read.c: opening a store for reading, its transactions, and the list of runs.
 *
 * A transaction lasts as long as one call, or as a snapshot. Meanwhile the collector may make the map larger than the
 * reader's, which is a large one to begin with: LMDB then answers MDB_MAP_RESIZED, and the new size is taken when no
 * transaction of this process is open, which the lock and the count of snapshots ensure.
 */
#include "read.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

int
store_open(const char *directory, struct store **store, struct portolan_error *error)
{
	struct store *opened;
	struct stat status;
	char *path = NULL;
	int rc;

	if (asprintf(&path, "%s/data.mdb", directory) < 0)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	rc = stat(path, &status);
	free(path);
	if (rc != 0 && (errno == ENOENT || errno == ENOTDIR))
		return error_set(error, STORE_E_NO_STORE,
		                 "no store at '%s': record a run there first, or name the right directory", directory);
	if (rc != 0)
		return error_set(error, STORE_E_SYSTEM, "store '%s': %s", directory, strerror(errno));
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	rc = store_environment_open(&opened->environment, directory, false, 0, error);
	if (!rc && pthread_rwlock_init(&opened->map, NULL) != 0) {
		store_environment_close(&opened->environment);
		rc = error_set(error, STORE_E_MEMORY, "store '%s': no lock can be made", directory);
	}
	if (rc) {
		free(opened);
		return rc;
	}
	*store = opened;
	return 0;
}

void
store_close(struct store *store)
{
	if (!store)
		return;
	store_environment_close(&store->environment);
	pthread_rwlock_destroy(&store->map);
	free(store);
}

static int
take_larger_map(struct store *store, struct portolan_error *error)
{
	int rc = 0;

	pthread_rwlock_wrlock(&store->map);
	if (__atomic_load_n(&store->snapshots, __ATOMIC_SEQ_CST))
		rc = error_set(error, STORE_E_SYSTEM,
		               "store '%s' has grown: close what was opened before, then try again",
		               store->environment.directory);
	else if ((rc = mdb_env_set_mapsize(store->environment.env, 0)) != 0)
		rc = store_environment_error(&store->environment, rc, "taking its new size", error);
	pthread_rwlock_unlock(&store->map);
	return rc;
}

int
store_read_begin(struct store *store, struct view *view, struct portolan_error *error)
{
	view->environment = &store->environment;
	for (;;) {
		int rc;

		pthread_rwlock_rdlock(&store->map);
		rc = store_environment_begin_read(&store->environment, &view->txn);
		if (rc == 0)
			return 0;
		pthread_rwlock_unlock(&store->map);
		if (rc != MDB_MAP_RESIZED)
			return store_environment_error(&store->environment, rc, "reading", error);
		rc = take_larger_map(store, error);
		if (rc)
			return rc;
	}
}

void
store_read_finish(struct store *store, struct view *view)
{
	mdb_txn_abort(view->txn);
	view->txn = NULL;
	pthread_rwlock_unlock(&store->map);
}

/* Damage is an answer: one run must not hide the others. */
static int
read_run(const struct view *view, const struct store_run_name *run, struct store_run_info *info,
         struct portolan_error *error)
{
	int rc = run->number ? store_catalog_info(view, run->number, info, error) : STORE_E_CORRUPT;

	if (!rc)
		rc = store_count_waiting(view, info, error);
	if (rc != STORE_E_CORRUPT)
		return rc;
	*info = (struct store_run_info){.number = run->number, .state = STORE_DAMAGED};
	memcpy(info->name, run->name, sizeof(info->name));
	return 0;
}

static int
read_runs(const struct view *view, struct store_run_info **runs, size_t *count, struct portolan_error *error)
{
	struct store_run_name *names;
	struct store_run_info *list;
	size_t n;
	int rc = store_catalog_runs(view, &names, &n, error);

	if (rc)
		return rc;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		rc = error_set(error, STORE_E_MEMORY, "out of memory listing the runs");
	for (size_t i = 0; i < n && !rc; i++)
		rc = read_run(view, &names[i], &list[i], error);
	free(names);
	if (rc) {
		free(list);
		return rc;
	}
	*runs = list;
	*count = n;
	return 0;
}

int
store_runs(struct store *store, struct store_run_info **runs, size_t *count, struct portolan_error *error)
{
	struct view view = {0};
	int rc = store_read_begin(store, &view, error);

	if (rc)
		return rc;
	rc = read_runs(&view, runs, count, error);
	store_read_finish(store, &view);
	return rc;
}

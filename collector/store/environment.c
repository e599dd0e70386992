/*
 * environment.c: opening LMDB, and what its answers mean.
 *
 * Flags: the default ones. Every commit is synced, because what was committed gets acknowledged; no WRITEMAP, because
 * with it a full disk is a SIGBUS. Readers take MDB_NOTLS, so that a cursor is not tied to the thread that made it.
 *
 * Map: it is only address space, so the writer takes a lot of it, less where the system refuses. It is doubled when
 * half of it is used, between transactions: MDB_MAP_FULL then never happens in practice. Readers use the size recorded
 * in the file; if they may not map that much, LMDB takes what the data needs.
 */
#include "environment.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

static const char *const database_name[DB_COUNT] = {
        [DB_META] = "meta",
        [DB_RUNS] = "runs",
        [DB_RUN] = "run",
        [DB_SESSIONS] = "sessions",
        [DB_SESSION_IDS] = "session-ids",
        [DB_IDS] = "ids",
        [DB_LOG] = "log",
        [DB_EPOCHS] = "epochs",
        [DB_DIRECTORY] = "directory",
        [DB_COLUMNS] = "columns",
        [DB_FOLDS] = "folds",
        [DB_RETIRED] = "retired",
};

#define MAP_LARGEST ((size_t)64 << 30)
#define MAP_SMALLEST ((size_t)1 << 30)
#define MAP_SMALLEST_READER ((size_t)1 << 20)
#define MAX_READERS 510

/* LMDB answers EIO when a write was cut short, which is what a disk that fills up does first. */
static bool
disk_is_full(const struct environment *environment)
{
	const uint64_t little = 1 << 20;
	struct statvfs disk;
	struct rlimit limit;
	struct stat file;
	mdb_filehandle_t data;

	if (statvfs(environment->directory, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < little)
		return true;
	return environment->env && mdb_env_get_fd(environment->env, &data) == 0 && fstat(data, &file) == 0 &&
	       getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       (uint64_t)file.st_size + little > limit.rlim_cur;
}

int
store_environment_error(const struct environment *environment, int rc, const char *doing, struct portolan_error *error)
{
	const char *directory = environment->directory;

	if (rc == EIO && disk_is_full(environment))
		rc = ENOSPC;
	switch (rc) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return error_set(error, STORE_E_FULL, "store '%s': %s: no space left (%s); make room", directory, doing,
		                 strerror(rc));
	case EIO:
		return error_set(error, STORE_E_SYSTEM,
		                 "store '%s': %s: a write was cut short: a quota, or a failing disk", directory, doing);
	case MDB_MAP_FULL:
		return error_set(error, STORE_E_FULL, "store '%s': %s: its map is full and will be enlarged; try again",
		                 directory, doing);
	case ENOMEM:
		return error_set(error, STORE_E_MEMORY, "store '%s': %s: out of memory", directory, doing);
	case MDB_NOTFOUND:
	case MDB_PAGE_NOTFOUND:
	case MDB_CORRUPTED:
	case MDB_INVALID:
	case MDB_INCOMPATIBLE:
	case MDB_BAD_DBI:
	case MDB_BAD_VALSIZE:
		return error_set(error, STORE_E_CORRUPT, "store '%s': %s: %s; restore it from a backup", directory,
		                 doing, mdb_strerror(rc));
	case MDB_VERSION_MISMATCH:
		return error_set(error, STORE_E_NEWER, "store '%s' was made with another version of LMDB's file format",
		                 directory);
	case MDB_READERS_FULL:
		return error_set(error, STORE_E_SYSTEM,
		                 "store '%s': too many readers at once; close some and try again", directory);
	case EACCES:
	case EPERM:
	case EROFS:
		return error_set(error, STORE_E_SYSTEM,
		                 "store '%s': %s: %s; data.mdb must be readable and lock.mdb writable for this user",
		                 directory, doing, strerror(rc));
	default:
		return error_set(error, STORE_E_SYSTEM, "store '%s': %s: %s", directory, doing, mdb_strerror(rc));
	}
}

/* mdb_env_open() cannot be tried twice on one handle. */
static int
open_mapped(struct environment *environment, bool writer, size_t map_size)
{
	int rc = mdb_env_create(&environment->env);

	if (rc)
		return rc;
	rc = mdb_env_set_maxdbs(environment->env, DB_COUNT);
	if (!rc)
		rc = mdb_env_set_maxreaders(environment->env, MAX_READERS);
	if (!rc && map_size)
		rc = mdb_env_set_mapsize(environment->env, map_size);
	if (!rc)
		rc = mdb_env_open(environment->env, environment->directory, writer ? 0 : MDB_RDONLY | MDB_NOTLS, 0666);
	if (rc) {
		mdb_env_close(environment->env);
		environment->env = NULL;
	}
	return rc;
}

static int
open_environment(struct environment *environment, bool writer)
{
	size_t smallest = writer ? MAP_SMALLEST : MAP_SMALLEST_READER;
	int rc = open_mapped(environment, writer, writer ? MAP_LARGEST : 0);

	for (size_t size = MAP_LARGEST / 2; rc == ENOMEM && size >= smallest; size /= 2)
		rc = open_mapped(environment, writer, size);
	return rc;
}

/* A newer version may have changed every record but this one's frame and first field. */
static int
check_schema(const struct view *view, bool writer, struct portolan_error *error)
{
	struct store_key key = {.size = 0};
	struct schema_record schema = {.version = STORE_SCHEMA_VERSION, .chunk = STORE_CHUNK};
	uint8_t record[RECORD_HEADER + sizeof(schema)];
	MDB_val k = {.mv_data = key.data}, v = {.mv_data = record, .mv_size = sizeof(record)};
	const char *directory = view->environment->directory;
	const uint8_t *body;
	size_t size;
	int rc;

	store_key_add_bytes(&key, "schema", 6);
	k.mv_size = key.size;
	rc = store_view_get(view, DB_META, &key, RECORD_SCHEMA, &body, &size, error);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		if (size >= 4 && load_u32(body) > STORE_SCHEMA_VERSION)
			return error_set(
			        error, STORE_E_NEWER,
			        "store '%s' has schema version %u, this program knows up to %u: use a newer portolan",
			        directory, load_u32(body), STORE_SCHEMA_VERSION);
		if (size != sizeof(schema) || memcmp(body, &schema, 8) != 0)
			return store_view_corrupt(view, DB_META, key.data, key.size, error);
		return 0;
	}
	if (!writer)
		return error_set(error, STORE_E_NO_STORE, "no store at '%s': its data.mdb was never finished",
		                 directory);
	if (getrandom(schema.id, sizeof(schema.id), 0) != sizeof(schema.id))
		return error_set(error, STORE_E_SYSTEM, "store '%s': no random numbers: %s", directory,
		                 strerror(errno));
	memcpy(record + RECORD_HEADER, &schema, sizeof(schema));
	store_record_seal(record, RECORD_SCHEMA, sizeof(record));
	rc = mdb_put(view->txn, view->environment->dbi[DB_META], &k, &v, 0);
	return rc ? store_environment_error(view->environment, rc, "creating", error) : 0;
}

static int
open_databases(struct environment *environment, bool writer, struct portolan_error *error)
{
	struct view view = {.environment = environment};
	int rc = mdb_txn_begin(environment->env, NULL, writer ? 0 : MDB_RDONLY, &view.txn);

	if (rc)
		return store_environment_error(environment, rc, "opening", error);
	for (int db = 0; db < DB_COUNT && !rc; db++) {
		rc = mdb_dbi_open(view.txn, database_name[db], writer ? MDB_CREATE : 0, &environment->dbi[db]);
		if (rc == MDB_NOTFOUND)
			rc = error_set(error, STORE_E_NO_STORE,
			               "no store at '%s': the data.mdb there is something else",
			               environment->directory);
		else if (rc)
			rc = store_environment_error(environment, rc, "opening", error);
		else if (db == DB_META) /* before anything else is touched */
			rc = check_schema(&view, writer, error);
	}
	if (rc) {
		mdb_txn_abort(view.txn);
		return rc;
	}
	rc = mdb_txn_commit(view.txn);
	return rc ? store_environment_error(environment, rc, "opening", error) : 0;
}

int
store_environment_open(struct environment *environment, const char *directory, bool writer,
                       struct portolan_error *error)
{
	int rc;

	*environment = (struct environment){.directory = strdup(directory)};
	if (!environment->directory)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	rc = open_environment(environment, writer);
	if (rc == ENOENT && !writer)
		rc = error_set(error, STORE_E_NO_STORE,
		               "no store at '%s': record a run there first, or name another directory", directory);
	else if (rc)
		rc = store_environment_error(environment, rc, "opening", error);
	else
		rc = open_databases(environment, writer, error);
	if (rc)
		store_environment_close(environment);
	return rc;
}

void
store_environment_close(struct environment *environment)
{
	if (environment->env)
		mdb_env_close(environment->env);
	free(environment->directory);
	*environment = (struct environment){0};
}

int
store_environment_grow(struct environment *environment, bool force, struct portolan_error *error)
{
	MDB_envinfo info;
	MDB_stat stat;
	int rc = mdb_env_info(environment->env, &info);

	if (!rc)
		rc = mdb_env_stat(environment->env, &stat);
	if (!rc && (force || (info.me_last_pgno + 1) * stat.ms_psize > info.me_mapsize / 2))
		rc = mdb_env_set_mapsize(environment->env, info.me_mapsize * 2);
	return rc ? store_environment_error(environment, rc, "enlarging its map", error) : 0;
}

int
store_view_corrupt(const struct view *view, enum store_db db, const void *key, size_t key_size,
                   struct portolan_error *error)
{
	char hex[2 * 32 + 1] = "";

	for (size_t i = 0; i < key_size && i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)key)[i]);
	return error_set(error, STORE_E_CORRUPT, "store '%s': damaged record in '%s', key %s; restore it from a backup",
	                 view->environment->directory, database_name[db], hex);
}

int
store_view_get(const struct view *view, enum store_db db, const struct store_key *key, enum record_kind kind,
               const uint8_t **body, size_t *size, struct portolan_error *error)
{
	MDB_val k = {.mv_data = (void *)key->data, .mv_size = key->size}, v;
	int rc = mdb_get(view->txn, view->environment->dbi[db], &k, &v);

	if (rc == MDB_NOTFOUND)
		return VIEW_ABSENT;
	if (rc)
		return store_environment_error(view->environment, rc, "reading", error);
	if (!store_record_open(v.mv_data, v.mv_size, kind, body, size))
		return store_view_corrupt(view, db, key->data, key->size, error);
	return 0;
}

int
store_view_read(const struct view *view, enum store_db db, const struct store_key *key, enum record_kind kind,
                void *record, size_t size, struct portolan_error *error)
{
	const uint8_t *body;
	size_t body_size;
	int rc = store_view_get(view, db, key, kind, &body, &body_size, error);

	if (rc)
		return rc;
	if (body_size != size)
		return store_view_corrupt(view, db, key->data, key->size, error);
	memcpy(record, body, size);
	return 0;
}

int
store_walk_open(struct view_walk *walk, const struct view *view, enum store_db db, const struct store_key *from,
                size_t prefix_size, struct portolan_error *error)
{
	int rc;

	*walk = (struct view_walk){.view = view, .db = db, .prefix = *from, .at = *from};
	walk->prefix.size = prefix_size;
	rc = mdb_cursor_open(view->txn, view->environment->dbi[db], &walk->cursor);
	return rc ? store_environment_error(view->environment, rc, "reading", error) : 0;
}

int
store_walk_next(struct view_walk *walk, struct portolan_error *error)
{
	MDB_cursor_op op = walk->started ? MDB_NEXT : walk->at.size ? MDB_SET_RANGE : MDB_FIRST;
	int rc;

	if (!walk->started)
		walk->key = (MDB_val){.mv_data = walk->at.data, .mv_size = walk->at.size};
	walk->started = true;
	rc = mdb_cursor_get(walk->cursor, &walk->key, &walk->value, op);
	if (rc == MDB_NOTFOUND)
		return VIEW_ABSENT;
	if (rc)
		return store_environment_error(walk->view->environment, rc, "reading", error);
	if (walk->key.mv_size < walk->prefix.size ||
	    memcmp(walk->key.mv_data, walk->prefix.data, walk->prefix.size) != 0)
		return VIEW_ABSENT;
	return 0;
}

int
store_walk_record(struct view_walk *walk, enum record_kind kind, const uint8_t **body, size_t *size,
                  struct portolan_error *error)
{
	int rc = store_walk_next(walk, error);

	if (rc)
		return rc;
	if (!store_record_open(walk->value.mv_data, walk->value.mv_size, kind, body, size))
		return store_view_corrupt(walk->view, walk->db, walk->key.mv_data, walk->key.mv_size, error);
	return 0;
}

int
store_walk_delete(struct view_walk *walk, struct portolan_error *error)
{
	int rc = mdb_cursor_del(walk->cursor, 0);

	return rc ? store_environment_error(walk->view->environment, rc, "removing", error) : 0;
}

void
store_walk_close(struct view_walk *walk)
{
	if (walk->cursor)
		mdb_cursor_close(walk->cursor);
	walk->cursor = NULL;
}

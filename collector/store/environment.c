/*
 * environment.c: opens a store's LMDB environment (its data.mdb) for writer and readers, and turns LMDB's error codes
 * into the store's own, with messages for users.
 *
 * Flags: the default ones. Every commit is synced, because committed frames are acknowledged; no WRITEMAP, because with
 * it a full disk is a SIGBUS. MDB_NOTLS: a reader's cursor is not tied to the thread that made it, and the writer can
 * read outside its write transaction.
 *
 * Map: it takes only address space, so the writer maps a lot, less if the system refuses. It doubles the map between
 * transactions when half of it is used, so MDB_MAP_FULL never happens in practice. If a limit on the address space
 * forbids doubling, it uses the present map to its end. Readers map more than the writer, so that the writer's map may
 * grow while they hold a transaction; if they may not map that much, LMDB maps at least the data.
 */
#include "environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define OPENINGS 500 /* a store is opened again so often, at most, after 1 to 8 ms each */

const char *const store_database_names[DB_COUNT] = {
        [DB_META] = "meta",
        [DB_RUNS] = "runs",
        [DB_RUN] = "run",
        [DB_SESSIONS] = "sessions",
        [DB_SESSION_IDS] = "session-ids",
        [DB_IDS] = "ids",
        [DB_LOG] = "log",
        [DB_EPOCHS] = "epochs",
        [DB_COLUMNS] = "columns",
        [DB_REMOVALS] = "removals",
};

/* A reader's map is so large that no snapshot must end because the store outgrew the map. */
static const size_t map_largest[] = {
        [STORE_READ] = (size_t)1 << 40, [STORE_WRITE] = (size_t)64 << 30, [STORE_CREATE] = (size_t)1 << 20};
static const size_t map_smallest[] = {
        [STORE_READ] = (size_t)1 << 20, [STORE_WRITE] = (size_t)1 << 30, [STORE_CREATE] = (size_t)1 << 20};

/* LMDB returns EIO when a write was cut short, which is the first sign of a full disk. */
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
		return error_set(error, STORE_E_FULL, "store '%s': %s: its map is full and %s", directory, doing,
		                 environment->cramped
		                         ? "a limit on this process's address space (ulimit -v) keeps it from growing"
		                         : "will be enlarged; try again");
	case ENOMEM:
		return error_set(error, STORE_E_MEMORY, "store '%s': %s: out of memory", directory, doing);
	case MDB_NOTFOUND:
	case MDB_PAGE_NOTFOUND:
	case MDB_CORRUPTED:
	case MDB_INVALID:
	case MDB_INCOMPATIBLE:
	case MDB_BAD_DBI:
	case MDB_BAD_VALSIZE:
		return error_set(error, STORE_E_CORRUPT, "store '%s': %s: %s; " STORE_DAMAGE_REMEDY, directory, doing,
		                 mdb_strerror(rc), directory);
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
open_with_map(struct environment *environment, const char *path, unsigned flags, size_t map_size)
{
	int rc = mdb_env_create(&environment->env);

	if (rc)
		return rc;
	rc = mdb_env_set_assert(environment->env, store_environment_end);
	if (!rc)
		rc = mdb_env_set_maxdbs(environment->env, DB_COUNT);
	if (!rc)
		rc = mdb_env_set_maxreaders(environment->env, STORE_MAX_READERS);
	if (!rc)
		rc = mdb_env_set_mapsize(environment->env, map_size);
	if (!rc)
		rc = mdb_env_open(environment->env, path, flags, 0600);
	if (rc) {
		mdb_env_close(environment->env);
		environment->env = NULL;
	}
	return rc;
}

/* Opens with a map of `map_size`; 0: the usual size, or the largest below it that the system allows. */
static int
open_environment(struct environment *environment, enum store_opening opening, size_t map_size)
{
	static const unsigned flags[] = {
	        [STORE_READ] = MDB_RDONLY | MDB_NOTLS,
	        [STORE_WRITE] = MDB_NOTLS,
	        [STORE_CREATE] = MDB_NOSUBDIR | MDB_NOLOCK,
	};
	size_t size = map_size ? map_size : map_largest[opening];
	const char *path = environment->directory;
	char new[PATH_MAX];
	int rc;

	store_path(new, path, "data.mdb.new");
	if (opening == STORE_CREATE)
		path = new;
	rc = open_with_map(environment, path, flags[opening], size);
	/* Under valgrind a map that is too large fails with EINVAL. */
	for (size /= 2; (rc == ENOMEM || rc == EINVAL) && !map_size && size >= map_smallest[opening]; size /= 2)
		rc = open_with_map(environment, path, flags[opening], size);
	return rc;
}

/* A newer version may have changed everything except this record's frame and first field. */
static int
check_schema(struct environment *environment, const struct view *view, bool writer, struct portolan_error *error)
{
	struct store_key key = {.size = 0};
	struct schema_record schema = {.version = STORE_SCHEMA_VERSION, .chunk = STORE_CHUNK};
	uint8_t record[RECORD_HEADER + sizeof(schema)];
	MDB_val k = {.mv_data = key.data}, v = {.mv_data = record, .mv_size = sizeof(record)};
	const char *directory = environment->directory;
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
		if (size >= 4 && load_u32(body) < STORE_SCHEMA_VERSION)
			return error_set(error, STORE_E_OLDER,
			                 "store '%s' has schema version %u, this program reads version %u: export its "
			                 "runs with the portolan that wrote it, or record them again in another "
			                 "directory",
			                 directory, load_u32(body), STORE_SCHEMA_VERSION);
		if (size != sizeof(schema) || memcmp(body, &schema, 8) != 0)
			return store_view_corrupt(view, DB_META, key.data, key.size, error);
		memcpy(environment->id, body + offsetof(struct schema_record, id), sizeof(environment->id));
		return 0;
	}
	if (!writer)
		return error_set(error, STORE_E_NO_STORE, "no store at '%s': its data.mdb was never finished",
		                 directory);
	if (getrandom(schema.id, sizeof(schema.id), 0) != sizeof(schema.id))
		return error_set(error, STORE_E_SYSTEM, "store '%s': no random numbers: %s", directory,
		                 strerror(errno));
	memcpy(environment->id, schema.id, sizeof(environment->id));
	memcpy(record + RECORD_HEADER, &schema, sizeof(schema));
	store_record_seal(record, &key, RECORD_SCHEMA, sizeof(record));
	rc = mdb_put(view->txn, environment->dbi[DB_META], &k, &v, 0);
	return rc ? store_environment_error(environment, rc, "creating", error) : 0;
}

/* If all slots for readers are taken, first frees those of killed readers, as there may be no collector that does. */
int
store_environment_begin_read(const struct environment *environment, MDB_txn **txn)
{
	int dead, rc = mdb_txn_begin(environment->env, NULL, MDB_RDONLY, txn);

	if (rc == MDB_READERS_FULL && mdb_reader_check(environment->env, &dead) == 0 && dead > 0)
		rc = mdb_txn_begin(environment->env, NULL, MDB_RDONLY, txn);
	return rc;
}

static int
open_databases(struct environment *environment, bool writer, struct portolan_error *error)
{
	struct view view = {.environment = environment};
	int rc = writer ? mdb_txn_begin(environment->env, NULL, 0, &view.txn)
	                : store_environment_begin_read(environment, &view.txn);

	if (rc == EINVAL)
		return EINVAL; /* open_patiently() tries again */
	if (rc)
		return store_environment_error(environment, rc, "opening", error);
	for (int db = 0; db < DB_COUNT && !rc; db++) {
		rc = mdb_dbi_open(view.txn, store_database_names[db], writer ? MDB_CREATE : 0, &environment->dbi[db]);
		if (rc == MDB_NOTFOUND)
			rc = error_set(error, STORE_E_NO_STORE,
			               "no store at '%s': the data.mdb there is something else",
			               environment->directory);
		else if (rc)
			rc = store_environment_error(environment, rc, "opening", error);
		else if (db == DB_META) /* before any other record is read */
			rc = check_schema(environment, &view, writer, error);
	}
	if (rc) {
		mdb_txn_abort(view.txn);
		return rc;
	}
	rc = mdb_txn_commit(view.txn);
	return rc ? store_environment_error(environment, rc, "opening", error) : 0;
}

static int
open_once(struct environment *environment, enum store_opening opening, size_t map_size, struct portolan_error *error)
{
	const int rc = open_environment(environment, opening, map_size);

	return rc ? store_environment_error(environment, rc, "opening", error)
	          : open_databases(environment, opening != STORE_READ, error);
}

/* LMDB 0.9.31 destroys the mutexes in lock.mdb when the last process closes the store. A process that opens it at that
 * moment may have them as they are then: to lock one fails with EINVAL. They are made again for a process that opens
 * the store while no other has it open. */
static int
open_patiently(struct environment *environment, enum store_opening opening, size_t map_size,
               struct portolan_error *error)
{
	/* Processes that meet so have pauses of their own, and do not meet again and again. */
	const struct timespec pause = {.tv_nsec = (1 + getpid() % 8) * 1000000L};
	int rc = open_once(environment, opening, map_size, error);

	for (int i = 0; rc == EINVAL && i < OPENINGS; i++) {
		mdb_env_close(environment->env);
		environment->env = NULL;
		nanosleep(&pause, NULL);
		rc = open_once(environment, opening, map_size, error);
	}
	return rc == EINVAL ? store_environment_error(environment, rc, "opening", error) : rc;
}

/* A user who can write in the directory could make lock.mdb a link to another file of the collector's user, which LMDB
 * would overwrite. And LMDB would make a new store if data.mdb is missing or empty; a real store never is. */
static int
check_files(const struct environment *environment, bool writer, struct portolan_error *error)
{
	const char *directory = environment->directory;
	char path[PATH_MAX];
	struct stat status;

	store_path(path, directory, "lock.mdb");
	if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return error_set(error, STORE_E_SYSTEM,
		                 "'%s' is a symbolic link or no regular file: remove it, LMDB makes it again", path);
	store_path(path, directory, "data.mdb");
	if (stat(path, &status) != 0 && !writer && (errno == ENOENT || errno == ENOTDIR))
		return error_set(error, STORE_E_NO_STORE,
		                 "no store at '%s': record a run there first, or name its directory with --store or "
		                 "$PORTOLAN_STORE",
		                 directory);
	if (stat(path, &status) != 0)
		return store_environment_error(environment, errno, "opening", error);
	if (S_ISREG(status.st_mode) && status.st_size == 0)
		return error_set(error, STORE_E_CORRUPT,
		                 "store '%s': data.mdb is empty, so what was in it is lost: restore it from a backup, "
		                 "or remove it and lock.mdb to begin anew",
		                 directory);
	return 0;
}

int
store_environment_open(struct environment *environment, const char *directory, enum store_opening opening,
                       size_t map_size, struct portolan_error *error)
{
	int rc = 0;

	*environment = (struct environment){.directory = strdup(directory)};
	if (!environment->directory)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	if (opening != STORE_CREATE)
		rc = check_files(environment, opening == STORE_WRITE, error);
	if (!rc)
		rc = open_patiently(environment, opening, map_size, error);
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

/* When a map cannot be enlarged, it is lost. So the environment is opened again, with as large a map as the system
 * allows. */
static int
reopen_larger(struct environment *environment, size_t size, bool force, struct portolan_error *error)
{
	const size_t sizes[] = {size + size / 2, size + size / 4, size + size / 8, size};
	char *directory = environment->directory;
	int rc = STORE_E_MEMORY;

	environment->directory = NULL;
	store_environment_close(environment);
	for (size_t i = force ? 0 : 3; rc && i < sizeof(sizes) / sizeof(sizes[0]); i++)
		rc = store_environment_open(environment, directory, STORE_WRITE, sizes[i], error);
	free(directory);
	environment->cramped = true;
	return rc;
}

int
store_environment_grow(struct environment *environment, bool force, struct portolan_error *error)
{
	MDB_envinfo info;
	MDB_stat stat;
	int rc = mdb_env_info(environment->env, &info);

	if (!rc)
		rc = mdb_env_stat(environment->env, &stat);
	if (rc)
		return store_environment_error(environment, rc, "enlarging its map", error);
	if (!force && (environment->cramped || (info.me_last_pgno + 1) * stat.ms_psize <= info.me_mapsize / 2))
		return 0;
	rc = mdb_env_set_mapsize(environment->env, info.me_mapsize * 2);
	if (rc)
		return reopen_larger(environment, info.me_mapsize, force, error);
	environment->cramped = false;
	return 0;
}

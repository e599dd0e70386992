/*
 * create.c: making the files of a new store.
 *
 * data.mdb is made under another name, which is then changed, so a full disk or a power failure in between leaves a
 * store that is whole, or none. lock.mdb comes after it: one without data.mdb says that a store was here.
 */
#include "environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* At least what LMDB needs for STORE_MAX_READERS readers of 64 bytes each. */
#define LOCK_FILE_BYTES 36864

bool
store_sync_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool done = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); /* some file systems have nothing to sync there */

	if (fd >= 0)
		close(fd);
	return done;
}

/* No lock file: the caller holds the store's own. */
static int
make_file(const char *directory, const char *path, struct portolan_error *error)
{
	struct environment environment = {.directory = (char *)directory};
	int rc = store_environment_map(&environment, path, MDB_NOSUBDIR | MDB_NOLOCK, STORE_SMALLEST_MAP);

	if (rc)
		return store_environment_error(&environment, rc, "creating", error);
	rc = store_environment_databases(&environment, true, error);
	mdb_env_close(environment.env);
	return rc;
}

/* LMDB makes lock.mdb as a file with a hole and writes to it through a map: on a full disk that is a SIGBUS. So its
 * space is taken beforehand. On failure nothing is left of a lock.mdb that was not there. */
static int
reserve_lock_file(const struct environment *environment, const char *path, struct portolan_error *error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666), rc = 0;
	struct stat status = {0};

	if (fd < 0 || fstat(fd, &status) != 0)
		rc = errno;
	else if (status.st_size < LOCK_FILE_BYTES)
		rc = posix_fallocate(fd, 0, LOCK_FILE_BYTES);
	if (rc == EOPNOTSUPP || rc == EINVAL) /* this file system cannot, so LMDB does as it always does */
		rc = 0;
	if (rc && fd >= 0 && status.st_size == 0)
		unlink(path);
	if (fd >= 0)
		close(fd);
	if (rc == ELOOP)
		return error_set(error, STORE_E_SYSTEM, "'%s' is a symbolic link: remove it, LMDB makes the file again",
		                 path);
	return rc ? store_environment_error(environment, rc, "making lock.mdb", error) : 0;
}

/* The names of a new store last: its own directory's, and those above it, which may be new as well. */
static bool
sync_new_directory(const char *directory)
{
	char *path = realpath(directory, NULL), *slash;
	bool done = path && store_sync_directory(path);

	for (; done && (slash = strrchr(path, '/')) && slash != path;) {
		*slash = '\0';
		store_sync_directory(path); /* as good as the user may */
	}
	if (done)
		store_sync_directory("/");
	free(path);
	return done;
}

struct paths {
	char *data, *temporary, *lock;
};

static int
create_files(const struct environment *environment, const struct paths *paths, struct portolan_error *error)
{
	const char *directory = environment->directory;
	int rc;

	if (access(paths->lock, F_OK) == 0)
		return error_set(error, STORE_E_NO_STORE,
		                 "store '%s': data.mdb is gone, and what was in it is lost: restore it from a backup, "
		                 "or remove lock.mdb as well to begin anew",
		                 directory);
	unlink(paths->temporary);
	rc = make_file(directory, paths->temporary, error);
	if (!rc && (rename(paths->temporary, paths->data) != 0 || !sync_new_directory(directory)))
		rc = error_set(error, STORE_E_SYSTEM, "'%s' cannot be created: %s", paths->data, strerror(errno));
	if (rc) {
		unlink(paths->temporary);
		return rc;
	}
	/* After data.mdb: a lock.mdb without one says that a store was here. */
	rc = reserve_lock_file(environment, paths->lock, error);
	if (rc)
		unlink(paths->data);
	return rc;
}

int
store_environment_create(const char *directory, struct portolan_error *error)
{
	const struct environment environment = {.directory = (char *)directory};
	struct paths paths = {0};
	int rc = 0;

	if (asprintf(&paths.data, "%s/data.mdb", directory) < 0 ||
	    asprintf(&paths.temporary, "%s/data.mdb.new", directory) < 0 ||
	    asprintf(&paths.lock, "%s/lock.mdb", directory) < 0)
		rc = error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	else
		rc = store_environment_check_lock(directory, error);
	if (!rc && access(paths.data, F_OK) != 0)
		rc = create_files(&environment, &paths, error);
	free(paths.data);
	free(paths.temporary);
	free(paths.lock);
	return rc;
}

/*
 * directory.c: makes the directory of a store and its files for the writer, and locks it, so that one collector at a
 * time serves it.
 *
 * The lock is flock(2): it ends with the process, in whatever way, so there is never a stale one. The process number
 * inside is only for messages. Only the owner can open the file: a user who may only read the store could otherwise
 * lock it, and keep the collector from starting. A lock on a removed file keeps no other collector out, so the
 * collector checks that the file still exists.
 *
 * data.mdb is made under another name and renamed, so a full disk or a power failure leaves a whole store, or none.
 * lock.mdb is made after it: a lock.mdb without data.mdb shows that a store was here.
 *
 * Whatever the umask, all files are made for their owner alone; what is there keeps its mode. A user who may read
 * data.mdb as a member of its group must be able to write LMDB's lock file, where readers are listed; so that file is
 * made writable for the group then.
 */
#include "directory.h"

#include "environment.h"
#include "file_system.h"
#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_MODE 0600

/* Enough for STORE_MAX_READERS readers of 64 bytes each. */
#define LOCK_FILE_BYTES 36864

/* Makes the directory; removes it again if a store may not be there. */
static int
directory_make(const char *directory, struct portolan_error *error)
{
	bool made = mkdir(directory, 0700) == 0;
	char name[64];

	if (!made && errno != EEXIST)
		return error_set(error, STORE_E_SYSTEM, "store '%s' cannot be created: %s", directory, strerror(errno));
	if (!store_file_system_is_shared(directory, name, sizeof(name)))
		return 0;
	if (made)
		rmdir(directory);
	return error_set(error, STORE_E_SYSTEM,
	                 "store '%s' is on a network file system (%s), where it would be damaged: put it on a local "
	                 "disk and let clients connect by tcp://",
	                 directory, name);
}

static int
directory_name_holder(const char *directory, int fd, struct portolan_error *error)
{
	char text[32] = "";
	long pid = pread(fd, text, sizeof(text) - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
	char who[48] = "";

	if (pid > 0)
		snprintf(who, sizeof(who), " (process %ld)", pid);
	return error_set(
	        error, STORE_E_LOCKED,
	        "store '%s' is already served by portoland%s: connect to it at ipc://%s/collector.sock, or stop it",
	        directory, who, directory);
}

/* Locks the file, and writes the process number into it. */
static int
directory_lock_file(const char *directory, const char *path, int lock, struct portolan_error *error)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (flock(lock, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK
		               ? directory_name_holder(directory, lock, error)
		               : error_set(error, STORE_E_SYSTEM, "'%s' cannot be locked: %s", path, strerror(errno));
	fchmod(lock, LOCK_MODE); /* narrows the mode of an earlier version's file, if the user may do that */
	/* A full disk does not keep the collector from starting: only messages lack the number then. */
	if ((ftruncate(lock, 0) != 0 || pwrite(lock, text, (size_t)length, 0) != length) && errno != ENOSPC &&
	    errno != EDQUOT && errno != EFBIG)
		return error_set(error, STORE_E_SYSTEM, "'%s' cannot be written: %s", path, strerror(errno));
	return 0;
}

int
store_lock_take(const char *directory, int *fd, struct portolan_error *error)
{
	int rc = directory_make(directory, error), lock;
	char path[PATH_MAX];

	if (rc)
		return rc;
	store_path(path, directory, "portoland.lock");
	lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE);
	if (lock < 0)
		return error_set(error, STORE_E_SYSTEM,
		                 errno == ELOOP
		                         ? "'%s' is a symbolic link, and nothing is written through it: remove it"
		                         : "'%s' cannot be opened: %s",
		                 path, strerror(errno));
	rc = directory_lock_file(directory, path, lock, error);
	if (rc)
		close(lock);
	else
		*fd = lock;
	return rc;
}

bool
store_lock_is_held(int fd)
{
	struct stat status;

	return fstat(fd, &status) != 0 || status.st_nlink > 0;
}

static bool
directory_sync(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool done = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); /* some file systems have nothing to sync there */

	if (fd >= 0)
		close(fd);
	return done;
}

/* Syncs the names of a new store: in its own directory, and in those above it, which may be new too. */
static bool
directory_sync_new(const char *directory)
{
	char *path = realpath(directory, NULL), *slash;
	bool done = path && directory_sync(path);

	for (; done && (slash = strrchr(path, '/')) && slash != path;) {
		*slash = '\0';
		directory_sync(path); /* if the user may do that */
	}
	if (done)
		directory_sync("/");
	free(path);
	return done;
}

/* LMDB makes lock.mdb as a sparse file and writes to it through a map: on a full disk that is a SIGBUS. So its space is
 * allocated first. A reader may have made the file already. On failure no empty file is left. */
static int
directory_make_lock_file(const char *directory, struct portolan_error *error)
{
	const struct environment environment = {.directory = (char *)directory};
	struct stat status = {0};
	char path[PATH_MAX];
	int fd, rc = 0;

	store_path(path, directory, "lock.mdb");
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &status) != 0)
		rc = errno;
	else if (status.st_size < LOCK_FILE_BYTES)
		rc = posix_fallocate(fd, 0, LOCK_FILE_BYTES);
	if (rc == EOPNOTSUPP || rc == EINVAL) /* this file system cannot allocate space, so LMDB uses the file as it
	                                       * is */
		rc = 0;
	if (rc && S_ISREG(status.st_mode) && status.st_size == 0)
		unlink(path);
	if (fd >= 0)
		close(fd);
	if (rc == ELOOP)
		return error_set(error, STORE_E_SYSTEM, "'%s' is a symbolic link: remove it, LMDB makes the file again",
		                 path);
	return rc ? store_environment_error(&environment, rc, "making lock.mdb", error) : 0;
}

int
store_environment_create(const char *directory, struct portolan_error *error)
{
	char data[PATH_MAX], made[PATH_MAX], lock[PATH_MAX];
	struct environment environment;
	struct stat status;
	int rc;

	store_path(data, directory, "data.mdb");
	store_path(made, directory, "data.mdb.new");
	store_path(lock, directory, "lock.mdb");
	if (access(data, F_OK) == 0)
		return 0;
	if (lstat(lock, &status) == 0 && S_ISREG(status.st_mode))
		return error_set(error, STORE_E_NO_STORE,
		                 "store '%s': data.mdb is gone, and what was in it is lost: restore it from a backup, "
		                 "or remove lock.mdb as well to begin anew",
		                 directory);
	unlink(made);
	rc = store_environment_open(&environment, directory, STORE_CREATE, 0, error);
	if (!rc) {
		store_environment_close(&environment);
		if (rename(made, data) != 0 || !directory_sync_new(directory))
			rc = error_set(error, STORE_E_SYSTEM, "'%s' cannot be created: %s", data, strerror(errno));
	}
	if (rc) {
		unlink(made);
		return rc;
	}
	rc = directory_make_lock_file(directory, error);
	if (rc)
		unlink(data);
	return rc;
}

/* Adds permissions that are not there yet. */
static int
directory_add_permissions(const char *path, mode_t more)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return -1;
	return (status.st_mode & more) == more ? 0 : chmod(path, (status.st_mode & 07777) | more);
}

void
store_lock_let_group_read(const char *directory)
{
	struct stat data;
	char path[PATH_MAX];

	store_path(path, directory, "data.mdb");
	if (stat(path, &data) != 0 || !(data.st_mode & S_IRGRP))
		return;
	store_path(path, directory, "lock.mdb");
	(void)directory_add_permissions(path, S_IRGRP | S_IWGRP);
}

int
store_open_to_group(const char *directory, struct portolan_error *error)
{
	char path[PATH_MAX], lock[PATH_MAX];
	struct stat status;

	store_path(path, directory, "data.mdb");
	store_path(lock, directory, "lock.mdb");
	/* Files are made with the group of the process, which need not be the directory's. */
	if (stat(directory, &status) != 0 || chown(path, (uid_t)-1, status.st_gid) != 0 ||
	    chown(lock, (uid_t)-1, status.st_gid) != 0 || directory_add_permissions(path, S_IRGRP) != 0 ||
	    directory_add_permissions(directory, S_IRGRP | S_IXGRP) != 0)
		return error_set(error, STORE_E_SYSTEM, "store '%s' cannot be made readable for its group: %s",
		                 directory, strerror(errno));
	store_lock_let_group_read(directory);
	return 0;
}

bool
store_is_open_to_others(const char *directory)
{
	char data[PATH_MAX], *path = realpath(directory, NULL), *slash;
	struct stat status;
	bool is_open;

	store_path(data, directory, "data.mdb");
	is_open = path && stat(data, &status) == 0 && status.st_mode & S_IROTH;
	while (is_open && *path) {
		is_open = stat(path, &status) == 0 && status.st_mode & S_IXOTH;
		slash = strrchr(path, '/');
		*slash = '\0';
	}
	free(path);
	return is_open;
}

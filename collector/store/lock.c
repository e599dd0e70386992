/*
 * lock.c: the directory and its lock.
 *
 * The lock is flock(2): it goes with the process, however that ends, so there is never a stale one. The process number
 * inside is only for the message. The file is its owner's alone: whoever may only read the store could lock it as well,
 * and keep the collector from starting. A lock on a file that is no longer there keeps nobody out, so it is looked at
 * while the store is served.
 *
 * Who may read data.mdb as one of its group must be able to write LMDB's lock file, where readers are listed; it is
 * made so, however strict the umask.
 */
#include "lock.h"

#include "environment.h"
#include "file_system.h"

#include <portolan/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_MODE 0600

static int
make_directory(const char *directory, bool *made, struct portolan_error *error)
{
	char *parent = NULL;

	*made = false;
	if (mkdir(directory, 0777) != 0)
		return errno == EEXIST ? 0
		                       : error_set(error, STORE_E_SYSTEM, "store '%s' cannot be created: %s", directory,
		                                   strerror(errno));
	*made = true;
	if (asprintf(&parent, "%s/..", directory) >= 0)
		store_sync_directory(parent); /* as good as the user may */
	free(parent);
	return 0;
}

/* Nothing of ours stays where the store may not be. */
static int
check_file_system(const char *directory, bool made, struct portolan_error *error)
{
	char name[64];

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
locked_by_other(const char *directory, int fd, struct portolan_error *error)
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

int
store_lock_take(const char *directory, int *fd, struct portolan_error *error)
{
	char *path = NULL, text[32];
	bool made;
	int length = snprintf(text, sizeof(text), "%ld\n", (long)getpid()), lock = -1,
	    rc = make_directory(directory, &made, error);

	if (!rc)
		rc = check_file_system(directory, made, error);
	if (rc)
		return rc;
	if (asprintf(&path, "%s/portoland.lock", directory) < 0)
		rc = error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	if (!rc && (lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE)) < 0)
		rc = error_set(error, STORE_E_SYSTEM,
		               errno == ELOOP ? "'%s' is a symbolic link, and nothing is written through it: remove it"
		                              : "'%s' cannot be opened: %s",
		               path, strerror(errno));
	if (!rc && flock(lock, LOCK_EX | LOCK_NB) != 0)
		rc = errno == EWOULDBLOCK
		             ? locked_by_other(directory, lock, error)
		             : error_set(error, STORE_E_SYSTEM, "'%s' cannot be locked: %s", path, strerror(errno));
	if (!rc)
		fchmod(lock, LOCK_MODE); /* of an earlier version's; as good as the user may */
	/* A full disk does not keep the collector from starting: only the message would lack the number. */
	if (!rc && (ftruncate(lock, 0) != 0 || pwrite(lock, text, (size_t)length, 0) != length) && errno != ENOSPC &&
	    errno != EDQUOT && errno != EFBIG)
		rc = error_set(error, STORE_E_SYSTEM, "'%s' cannot be written: %s", path, strerror(errno));
	free(path);
	if (rc && lock >= 0)
		close(lock);
	if (!rc)
		*fd = lock;
	return rc;
}

bool
store_lock_is_held(int fd)
{
	struct stat status;

	return fstat(fd, &status) != 0 || status.st_nlink > 0;
}

/* Adds `more` to the mode of a file of the store. */
static void
allow(const char *directory, const char *name, mode_t more)
{
	char *path = NULL;
	struct stat status;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return;
	if (stat(path, &status) == 0 && (status.st_mode & more) != more)
		chmod(path, (status.st_mode & 07777) | more);
	free(path);
}

void
store_lock_let_group_read(const char *directory)
{
	struct stat status;
	char *path = NULL;

	if (asprintf(&path, "%s/data.mdb", directory) < 0)
		return;
	if (stat(path, &status) == 0 && status.st_mode & S_IRGRP)
		allow(directory, "lock.mdb", S_IRGRP | S_IWGRP);
	free(path);
}

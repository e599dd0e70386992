/*
 * backup.c: LMDB makes the copy, from one read transaction, without free pages.
 *
 * The copy is made in the directory TARGET.portolan-backup, which is renamed to the target when everything in it is on
 * disk. So the target is a whole store, or does not exist. The copy's file is locked meanwhile. The next backup to the
 * same target overwrites what a killed backup left.
 */
#include "commands.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct backup {
	char target[PATH_MAX]; /* without slashes at its end */
	char parent[PATH_MAX]; /* the target's parent directory */
	char temporary[PATH_MAX];
	int directory, file; /* descriptors */
	bool locked;         /* the temporary directory belongs to this backup */
};

static int
fail(const struct backup *backup, const char *doing, struct portolan_error *error)
{
	bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	return error_set(error, full ? STORE_E_FULL : STORE_E_SYSTEM, "backup '%s': %s: %s%s", backup->target, doing,
	                 strerror(errno), full ? "; make room, or name another disk" : "");
}

int
backup_name_paths(const char *path, const char *ending, char target[PATH_MAX], char parent[PATH_MAX],
                  char temporary[PATH_MAX])
{
	size_t length = strlen(path);
	char *slash;

	while (length > 1 && path[length - 1] == '/')
		length--;
	snprintf(target, PATH_MAX, "%.*s", (int)length, path);
	snprintf(parent, PATH_MAX, "%s", target);
	slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = '\0';
	else
		snprintf(parent, PATH_MAX, ".");
	if (snprintf(temporary, PATH_MAX, "%s%s", target, ending) < PATH_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

bool
backup_is_inside(const char *directory, const char *store)
{
	char outer[PATH_MAX], inner[PATH_MAX];
	size_t length;

	if (!realpath(directory, inner) || !realpath(store, outer))
		return false; /* opening the store reports the error */
	length = strlen(outer);
	return strncmp(inner, outer, length) == 0 && (inner[length] == '\0' || inner[length] == '/');
}

/* A copy inside the store would be lost together with the store. */
static int
check_outside(const struct backup *backup, const char *store, struct portolan_error *error)
{
	if (access(backup->parent, F_OK) != 0)
		return fail(backup, "cannot be made", error);
	if (!backup_is_inside(backup->parent, store))
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "backup '%s': is inside the store it is a copy of: name a directory elsewhere",
	                 backup->target);
}

/* 1: the directory is empty, but for `but`; 0: it is not; < 0: errno says why it cannot be read. */
static int
is_empty(const char *path, const char *but)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool empty = true;

	if (!directory)
		return -1;
	while (empty && (entry = readdir(directory)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		        strcmp(entry->d_name, but) == 0;
	closedir(directory);
	return empty;
}

static int
check_target(const struct backup *backup, const char *store, struct portolan_error *error)
{
	struct stat status;
	int empty;

	if (lstat(backup->target, &status) == 0 && S_ISLNK(status.st_mode))
		return error_set(error, STORE_E_EXISTS,
		                 "backup '%s': is a symbolic link, which a copy cannot take the place of: name the "
		                 "directory itself",
		                 backup->target);
	empty = is_empty(backup->target, ".");
	if (empty < 0 && errno != ENOENT)
		return fail(backup, "cannot be made", error);
	if (empty == 0)
		return error_set(error, STORE_E_EXISTS, "backup '%s': exists, and is not empty: name a new directory",
		                 backup->target);
	return check_outside(backup, store, error);
}

/* Locks the file, unless another backup holds it, or has renamed it since it was opened here. Some file systems have no
 * locks. */
static bool
lock_file(const struct backup *backup)
{
	struct stat here, named;
	char path[PATH_MAX + sizeof("/data.mdb")];

	snprintf(path, sizeof(path), "%s/data.mdb", backup->temporary);
	return (flock(backup->file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
	       fstat(backup->file, &here) == 0 && lstat(path, &named) == 0 && here.st_dev == named.st_dev &&
	       here.st_ino == named.st_ino;
}

static int
make_temporary(struct backup *backup, struct portolan_error *error)
{
	struct stat status;

	if (mkdir(backup->temporary, 0700) < 0 && errno != EEXIST)
		return fail(backup, "cannot be made", error);
	backup->directory = open(backup->temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (backup->directory < 0 || fstat(backup->directory, &status) < 0)
		return fail(backup, "cannot be made", error);
	if (status.st_uid != geteuid() || is_empty(backup->temporary, "data.mdb") != 1)
		return error_set(error, STORE_E_EXISTS,
		                 "backup '%s': %s is there, and not what an earlier backup left: move it away",
		                 backup->target, backup->temporary);
	backup->file = openat(backup->directory, "data.mdb", O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (backup->file < 0)
		return fail(backup, "cannot be made", error);
	backup->locked = lock_file(backup);
	if (!backup->locked)
		return error_set(error, STORE_E_EXISTS,
		                 "backup '%s': another backup is making it: wait for that, or name another directory",
		                 backup->target);
	return ftruncate(backup->file, 0) < 0 ? fail(backup, "cannot be written", error) : 0;
}

/* Syncs the parent directory, which puts the rename on disk. */
static int
sync_parent(const struct backup *backup, struct portolan_error *error)
{
	int fd = open(backup->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = fd < 0 || fsync(fd) < 0 ? fail(backup, "cannot be synced", error) : 0;

	if (fd >= 0)
		close(fd);
	return result;
}

static int
copy(struct backup *backup, const char *store, uint64_t *bytes, struct portolan_error *error)
{
	struct portolan_error why;
	struct store *opened;
	struct stat status;
	int result = store_open(store, &opened, error);

	if (result < 0)
		return result;
	result = store_copy(opened, backup->file, &why);
	store_close(opened);
	if (result < 0)
		return error_set(error, result, "backup '%s': %s", backup->target, why.message);
	if (fsync(backup->file) < 0 || fstat(backup->file, &status) < 0)
		return fail(backup, "cannot be written", error);
	*bytes = (uint64_t)status.st_size;
	return 0;
}

static int
finish(struct backup *backup, struct portolan_error *error)
{
	if (fsync(backup->directory) < 0)
		return fail(backup, "cannot be synced", error);
	if (rename(backup->temporary, backup->target) < 0)
		return fail(backup, "cannot be given its name", error);
	backup->locked = false; /* nothing is left to remove */
	return sync_parent(backup, error);
}

static void
clean_up(struct backup *backup)
{
	if (backup->locked)
		unlinkat(backup->directory, "data.mdb", 0);
	if (backup->locked)
		rmdir(backup->temporary);
	if (backup->file >= 0)
		close(backup->file);
	if (backup->directory >= 0)
		close(backup->directory);
}

int
backup_run(const char *store, const char *target, uint64_t *bytes, struct portolan_error *error)
{
	struct backup backup = {.directory = -1, .file = -1};
	int result = backup_name_paths(target, ".portolan-backup", backup.target, backup.parent, backup.temporary);

	result = result < 0 ? fail(&backup, "cannot be made", error) : 0;
	if (result == 0)
		result = check_target(&backup, store, error);
	if (result == 0)
		result = make_temporary(&backup, error);
	if (result == 0)
		result = copy(&backup, store, bytes, error);
	if (result == 0)
		result = finish(&backup, error);
	clean_up(&backup);
	return result;
}

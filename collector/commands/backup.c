/*
 * backup.c: makes a copy of a store, for `portolan backup`: LMDB writes it, from one read transaction, without free
 * pages.
 *
 * The copy's file is locked meanwhile. The next backup to the same target overwrites what a killed backup left.
 */
#include "commands.h"
#include "target.h"

#include <portolan/cleanup.h>
#include <portolan/error.h>
#include <portolan/store.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct backup {
	struct target target;
	int directory, file; /* descriptors of the temporary directory, and of the copy; -1: not open */
	bool locked;         /* the temporary directory belongs to this backup */
};

/* Is the directory empty, but for the file `but`? -1: errno says why it cannot be read. */
static int
backup_is_empty(const char *path, const char *but)
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
backup_check_target(const struct target *target, const char *store, struct portolan_error *error)
{
	struct stat status;
	int empty;

	if (lstat(target->path, &status) == 0 && S_ISLNK(status.st_mode))
		return error_set(error, STORE_E_EXISTS,
		                 "backup '%s': is a symbolic link, which a copy cannot take the place of: name the "
		                 "directory itself",
		                 target->path);
	empty = backup_is_empty(target->path, ".");
	if (empty < 0 && errno != ENOENT)
		return target_fail(target, "cannot be made", error);
	if (empty == 0)
		return error_set(error, STORE_E_EXISTS, "backup '%s': exists, and is not empty: name a new directory",
		                 target->path);
	if (access(target->parent, F_OK) != 0)
		return target_fail(target, "cannot be made", error);
	if (target_is_inside(target, store)) /* the copy would be lost together with the store */
		return error_set(error, PORTOLAN_E_INVALID,
		                 "backup '%s': is inside the store it is a copy of: name a directory elsewhere",
		                 target->path);
	return 0;
}

/* Locks the file, unless another backup holds it, or has renamed it since it was opened here. Some file systems have no
 * locks. */
static bool
backup_lock(const struct backup *backup)
{
	struct stat here, named;
	char path[PATH_MAX + sizeof("/data.mdb")];

	snprintf(path, sizeof(path), "%s/data.mdb", backup->target.temporary);
	return (flock(backup->file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
	       fstat(backup->file, &here) == 0 && lstat(path, &named) == 0 && here.st_dev == named.st_dev &&
	       here.st_ino == named.st_ino;
}

static int
backup_make_temporary(struct backup *backup, struct portolan_error *error)
{
	struct stat status;

	if (mkdir(backup->target.temporary, 0700) < 0 && errno != EEXIST)
		return target_fail(&backup->target, "cannot be made", error);
	backup->directory = open(backup->target.temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (backup->directory < 0 || fstat(backup->directory, &status) < 0)
		return target_fail(&backup->target, "cannot be made", error);
	if (status.st_uid != geteuid() || backup_is_empty(backup->target.temporary, "data.mdb") != 1)
		return error_set(error, STORE_E_EXISTS,
		                 "backup '%s': %s is there, and not what an earlier backup left: move it away",
		                 backup->target.path, backup->target.temporary);
	backup->file = openat(backup->directory, "data.mdb", O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (backup->file < 0)
		return target_fail(&backup->target, "cannot be made", error);
	backup->locked = backup_lock(backup);
	if (!backup->locked)
		return error_set(error, STORE_E_EXISTS,
		                 "backup '%s': another backup is making it: wait for that, or name another directory",
		                 backup->target.path);
	return ftruncate(backup->file, 0) < 0 ? target_fail(&backup->target, "cannot be written", error) : 0;
}

static int
backup_copy(struct backup *backup, const char *store, uint64_t *bytes, struct portolan_error *error)
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
		return error_set(error, result, "backup '%s': %s", backup->target.path, why.message);
	if (fsync(backup->file) < 0 || fstat(backup->file, &status) < 0)
		return target_fail(&backup->target, "cannot be written", error);
	*bytes = (uint64_t)status.st_size;
	return 0;
}

static void
backup_clean_up(struct backup *backup)
{
	if (backup->locked)
		unlinkat(backup->directory, "data.mdb", 0);
	if (backup->locked)
		rmdir(backup->target.temporary);
	if (backup->file >= 0)
		close(backup->file);
	if (backup->directory >= 0)
		close(backup->directory);
}

int
backup_run(const char *store, const char *path, uint64_t *bytes, struct portolan_error *error)
{
	CLEANUP(backup_clean_up)
	struct backup backup = {
	        .target = {.making = "backup", .when_full = "; make room, or name another disk"},
	        .directory = -1,
	        .file = -1,
	};
	bool named = false;
	int result = target_name(&backup.target, path, ".portolan-backup", error)
	             ?: backup_check_target(&backup.target, store, error)
	             ?: backup_make_temporary(&backup, error)
	             ?: backup_copy(&backup, store, bytes, error);

	if (result < 0)
		return result;
	if (fsync(backup.directory) < 0)
		return target_fail(&backup.target, "cannot be synced", error);
	result = target_finish(&backup.target, true, &named, error);
	backup.locked = !named; /* nothing is left to remove */
	return result;
}

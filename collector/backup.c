/*
 * backup.c: the copy is LMDB's own, made from one read transaction, without the pages that are free.
 *
 * It is made in a directory under a temporary name beside the target, and renamed when everything in it is on disk. Its
 * file has no name of its own until then (O_TMPFILE), where the file system can do that: a copy that is interrupted
 * leaves an empty directory at most.
 */
#include "backup.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct backup {
	const char *target; /* without slashes at its end */
	char temporary[PATH_MAX];
	int directory, file; /* descriptors */
	bool named;          /* the file has its name already */
};

static int
fail(const struct backup *backup, const char *doing, struct portolan_error *error)
{
	bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	return error_set(error, full ? STORE_E_FULL : STORE_E_SYSTEM, "backup '%s': %s: %s%s", backup->target, doing,
	                 strerror(errno), full ? "; make room, or name another disk" : "");
}

static int
check_target(const struct backup *backup, struct portolan_error *error)
{
	DIR *directory = opendir(backup->target);
	const struct dirent *entry;
	bool empty = true;

	if (!directory)
		return errno == ENOENT ? 0 : fail(backup, "cannot be made", error);
	while (empty && (entry = readdir(directory)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(directory);
	return empty ? 0
	             : error_set(error, STORE_E_EXISTS, "backup '%s': exists, and is not empty: name a new directory",
	                         backup->target);
}

static int
make_temporary(struct backup *backup, struct portolan_error *error)
{
	int length = snprintf(backup->temporary, sizeof(backup->temporary), "%s.XXXXXX", backup->target);
	mode_t mask = umask(0);

	umask(mask);
	if (length < 0 || (size_t)length >= sizeof(backup->temporary)) {
		backup->temporary[0] = '\0';
		errno = ENAMETOOLONG;
		return fail(backup, "cannot be made", error);
	}
	if (!mkdtemp(backup->temporary)) {
		backup->temporary[0] = '\0';
		return fail(backup, "cannot be made", error);
	}
	if (chmod(backup->temporary, 0777 & ~mask) < 0 ||
	    (backup->directory = open(backup->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return fail(backup, "cannot be made", error);
	backup->file = openat(backup->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	if (backup->file < 0) {
		backup->file = openat(backup->directory, "data.mdb", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
		backup->named = true;
	}
	return backup->file < 0 ? fail(backup, "cannot be made", error) : 0;
}

static int
name_file(struct backup *backup, struct portolan_error *error)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", backup->file);
	if (!backup->named && linkat(AT_FDCWD, path, backup->directory, "data.mdb", AT_SYMLINK_FOLLOW) < 0)
		return fail(backup, "cannot be named", error);
	backup->named = true;
	return 0;
}

/* The rename is on disk when the directory it happened in is. */
static int
sync_parent(const struct backup *backup, struct portolan_error *error)
{
	char parent[PATH_MAX], *slash;
	int fd, result;

	snprintf(parent, sizeof(parent), "%s", backup->target);
	slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = '\0';
	fd = open(slash ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	result = fd < 0 || fsync(fd) < 0 ? fail(backup, "cannot be synced", error) : 0;
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
	int result = name_file(backup, error);

	if (result == 0 && fsync(backup->directory) < 0)
		result = fail(backup, "cannot be synced", error);
	if (result == 0 && rename(backup->temporary, backup->target) < 0)
		result = fail(backup, "cannot be given its name", error);
	if (result < 0)
		return result;
	backup->temporary[0] = '\0';
	return sync_parent(backup, error);
}

static void
clean_up(struct backup *backup)
{
	if (backup->file >= 0)
		close(backup->file);
	if (backup->temporary[0]) {
		if (backup->named)
			unlinkat(backup->directory, "data.mdb", 0);
		rmdir(backup->temporary);
	}
	if (backup->directory >= 0)
		close(backup->directory);
}

int
backup_run(const char *store, const char *target, uint64_t *bytes, struct portolan_error *error)
{
	size_t length = strlen(target);
	char name[PATH_MAX];
	struct backup backup = {.target = name, .directory = -1, .file = -1};
	int result;

	while (length > 1 && target[length - 1] == '/')
		length--;
	snprintf(name, sizeof(name), "%.*s", (int)length, target);
	result = check_target(&backup, error);
	if (result == 0)
		result = make_temporary(&backup, error);
	if (result == 0)
		result = copy(&backup, store, bytes, error);
	if (result == 0)
		result = finish(&backup, error);
	clean_up(&backup);
	return result;
}

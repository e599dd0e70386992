/*
 * backup.c: the copy is LMDB's own, made from one read transaction, without the pages that are free.
 *
 * It is made in a directory under a temporary name beside the target, and renamed when everything in it is on disk. Its
 * file has no name of its own until then (O_TMPFILE), where the file system can do that: a copy that is interrupted
 * leaves an empty directory at most. The next backup to the same place takes that away: the name says what it is, and
 * whoever is still at it holds a lock.
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
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A temporary directory is called TARGET, this, and six letters. */
#define TEMPORARY ".portolan-backup-"
#define LETTERS 6
#define ATTEMPTS 100

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

/* The directory that the target is, or will be, in. */
static void
find_parent(const struct backup *backup, char parent[PATH_MAX])
{
	char *slash;

	snprintf(parent, PATH_MAX, "%s", backup->target);
	slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = '\0';
	else
		snprintf(parent, PATH_MAX, ".");
}

/* A copy inside the store would go with it. */
static int
check_outside(const struct backup *backup, const char *store, struct portolan_error *error)
{
	char parent[PATH_MAX], outer[PATH_MAX], inner[PATH_MAX];
	size_t length;

	find_parent(backup, parent);
	if (!realpath(parent, inner))
		return fail(backup, "cannot be made", error);
	if (!realpath(store, outer))
		return 0; /* opening it says so */
	length = strlen(outer);
	if (strncmp(inner, outer, length) != 0 || (inner[length] != '\0' && inner[length] != '/'))
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "backup '%s': is inside the store it is a copy of: name a directory elsewhere",
	                 backup->target);
}

static int
check_target(const struct backup *backup, const char *store, struct portolan_error *error)
{
	const struct dirent *entry;
	struct stat status;
	bool empty = true;
	DIR *directory;

	if (lstat(backup->target, &status) == 0 && S_ISLNK(status.st_mode))
		return error_set(error, STORE_E_EXISTS,
		                 "backup '%s': is a symbolic link, which a copy cannot take the place of: name the "
		                 "directory itself",
		                 backup->target);
	directory = opendir(backup->target);
	if (!directory)
		return errno == ENOENT ? check_outside(backup, store, error) : fail(backup, "cannot be made", error);
	while (empty && (entry = readdir(directory)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(directory);
	return empty ? check_outside(backup, store, error)
	             : error_set(error, STORE_E_EXISTS, "backup '%s': exists, and is not empty: name a new directory",
	                         backup->target);
}

/* Takes one away whose maker has ended. What is not ours in it keeps it from going. */
static void
remove_left_over(int parent, const char *name)
{
	int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (directory < 0)
		return;
	if (flock(directory, LOCK_EX | LOCK_NB) == 0) {
		unlinkat(directory, "data.mdb", 0);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close(directory);
}

/* What earlier backups to this target left when they were killed. */
static void
remove_left_overs(const struct backup *backup)
{
	char path[PATH_MAX], start[PATH_MAX];
	const char *slash = strrchr(backup->target, '/');
	const struct dirent *entry;
	size_t length;
	DIR *parent;

	find_parent(backup, path);
	if (snprintf(start, sizeof(start), "%s" TEMPORARY, slash ? slash + 1 : backup->target) >= (int)sizeof(start) ||
	    !(parent = opendir(path)))
		return;
	length = strlen(start);
	while ((entry = readdir(parent)))
		if (strncmp(entry->d_name, start, length) == 0 && strlen(entry->d_name) == length + LETTERS)
			remove_left_over(dirfd(parent), entry->d_name);
	closedir(parent);
}

/* 1: made, and locked; 0: another backup took it for a left-over before it was locked. */
static int
make_directory(struct backup *backup, mode_t mode, struct portolan_error *error)
{
	int length = snprintf(backup->temporary, sizeof(backup->temporary), "%s" TEMPORARY "XXXXXX", backup->target);
	struct stat status;

	if (length < 0 || (size_t)length >= sizeof(backup->temporary)) {
		backup->temporary[0] = '\0';
		errno = ENAMETOOLONG;
		return fail(backup, "cannot be made", error);
	}
	if (!mkdtemp(backup->temporary)) {
		backup->temporary[0] = '\0';
		return fail(backup, "cannot be made", error);
	}
	backup->directory = open(backup->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Where directories cannot be locked, nobody takes any away either. */
	if (backup->directory >= 0 && (flock(backup->directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
	    fstat(backup->directory, &status) == 0 && status.st_nlink > 0)
		return fchmod(backup->directory, mode) < 0 ? fail(backup, "cannot be made", error) : 1;
	if (backup->directory < 0 && errno != ENOENT)
		return fail(backup, "cannot be made", error);
	if (backup->directory >= 0)
		close(backup->directory);
	backup->directory = -1;
	backup->temporary[0] = '\0';
	return 0;
}

static int
make_temporary(struct backup *backup, struct portolan_error *error)
{
	mode_t mask = umask(0);
	int made = 0;

	umask(mask);
	for (int i = 0; i < ATTEMPTS && made == 0; i++)
		made = make_directory(backup, 0777 & ~mask, error);
	if (made < 0)
		return made;
	errno = EBUSY;
	backup->file = made ? openat(backup->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
	if (made && backup->file < 0) {
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
	char parent[PATH_MAX];
	int fd, result;

	find_parent(backup, parent);
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
	result = check_target(&backup, store, error);
	if (result == 0)
		remove_left_overs(&backup);
	if (result == 0)
		result = make_temporary(&backup, error);
	if (result == 0)
		result = copy(&backup, store, bytes, error);
	if (result == 0)
		result = finish(&backup, error);
	clean_up(&backup);
	return result;
}

/*
 * whole_file.c: a file is opened without a name, reaches the disk, and gets its name (whole_file.h).
 *
 * It is written without a name (O_TMPFILE) in the folder of its target, gets a temporary name when it is complete, and is
 * renamed when it is on the disk. So a file of the target's name is always complete, even after a power cut; a failed
 * command leaves the old file untouched, and an interrupted one leaves nothing behind. File systems that cannot do that
 * get the temporary name at once, and a signal that ends the program removes it. A symbolic link is followed first: the
 * link stays, the file behind it is replaced. close() is checked too: some file systems report a full disk only there.
 */
#include "whole_file.h"

#include "unfinished.h"
#include "written.h"

#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file has its own name by now, or has gone. */
static void
forget_temporary(struct whole_file *file)
{
	unfinished_forget(file->temporary);
	free(file->temporary);
	file->temporary = NULL;
}

void
whole_file_discard(struct whole_file *file)
{
	if (file->fd >= 0 && file->path != NULL)
		close(file->fd);
	if (file->temporary)
		unlink(file->temporary);
	forget_temporary(file);
	free(file->target);
	*file = (struct whole_file){.fd = -1};
}

/* A file without a name in the folder of file->target; -1: the file system cannot do that. */
static int
open_nameless(const struct whole_file *file)
{
	char *folder = folder_of(file->target);
	int fd = folder && access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	free(folder);
	return fd;
}

/* Opens the file that is to become file->target. */
static int
open_temporary(struct whole_file *file)
{
	file->fd = open_nameless(file);
	if (file->fd >= 0)
		return 0;
	if (asprintf(&file->temporary, "%s.XXXXXX", file->target) < 0) {
		file->temporary = NULL;
		return -1;
	}
	file->fd = mkostemp(file->temporary, O_CLOEXEC);
	if (file->fd < 0) {
		forget_temporary(file);
		return -1;
	}
	unfinished_add(file->temporary);
	return 0;
}

int
whole_file_open(struct whole_file *file, const char *path)
{
	struct stat status;
	mode_t mask = umask(0);

	umask(mask);
	*file = (struct whole_file){.path = path, .fd = -1, .mode = 0666 & ~mask};
	if (stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode)) {
			errno = EISDIR;
			return -1;
		}
		if (!S_ISREG(status.st_mode)) {
			file->fd = open(path, O_WRONLY | O_CLOEXEC);
			return file->fd < 0 ? -1 : 0;
		}
		file->mode = status.st_mode & 0777;
		file->target = realpath(path, NULL);
	} else {
		file->target = strdup(path);
	}
	return file->target ? open_temporary(file) : -1;
}

/* Gives a nameless file a temporary name beside the target. */
static int
name_temporary(struct whole_file *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	for (unsigned attempt = 0; attempt < 100; attempt++) {
		if (asprintf(&file->temporary, "%s.%d-%u", file->target, (int)getpid(), attempt) < 0) {
			file->temporary = NULL;
			return ENOMEM;
		}
		if (linkat(AT_FDCWD, path, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0) {
			unfinished_add(file->temporary);
			return 0;
		}
		forget_temporary(file);
		if (errno != EEXIST)
			return errno;
	}
	return EEXIST;
}

/* Syncs the file to the disk. Returns 0, or the errno. */
static int
sync_file(int fd)
{
	return fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP ? errno : 0;
}

/* Syncs the folder as well, so that after a power cut the file has its name. The new file is whole in any case. */
static void
sync_folder(char *path)
{
	char *slash = strrchr(path, '/');
	int fd;

	if (slash)
		slash[1] = '\0';
	fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

int
whole_file_sync(struct whole_file *file)
{
	int failure = file->target && !file->synced ? sync_file(file->fd) : 0;

	file->synced = file->target && failure == 0;
	return failure;
}

bool
whole_file_is_beside(const struct whole_file *one, const struct whole_file *other)
{
	const char *a = one->target, *b = other->target;
	const char *end_a = a ? strrchr(a, '/') : NULL, *end_b = b ? strrchr(b, '/') : NULL;

	if (!a || !b || !end_a || !end_b)
		return a && b && !end_a && !end_b;
	return end_a - a == end_b - b && memcmp(a, b, (size_t)(end_a - a)) == 0;
}

/* A file that was synced early gets its mode now. If a power cut takes that back, only the user may open the file. */
int
whole_file_finish(struct whole_file *file, bool with_folder)
{
	int failure = file->target && fchmod(file->fd, file->mode) < 0 ? errno : whole_file_sync(file);

	if (failure == 0 && file->target && !file->temporary)
		failure = name_temporary(file);
	if (file->path && close(file->fd) < 0 && failure == 0)
		failure = errno;
	file->fd = -1;
	if (failure == 0 && file->temporary) {
		if (rename(file->temporary, file->target) < 0) {
			failure = errno;
		} else {
			forget_temporary(file);
			if (with_folder)
				sync_folder(file->target);
			written_add(file->path);
		}
	}
	return failure;
}

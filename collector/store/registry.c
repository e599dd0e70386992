/*
 * registry.c: the files in readers/.
 *
 * LMDB's own reader table would do, if a reader kept its transaction; but then every page freed meanwhile stays
 * unused and the file grows with each commit. A file per snapshot keeps only what the snapshot needs.
 *
 * Races. The file exists, locked and holding 0, before the reader's transaction begins, so whatever the collector
 * removes after looking at the directory is either not in the reader's view or was removed before that view began.
 * Between creation and lock the collector may take the file for a dead one and unlink it: the reader sees that by the
 * link count and makes another. The collector looks at the link count too, once it has the lock: the reader may have
 * left, and another may have taken the name, since the file was opened. The number is written in place, a fixed 20
 * digits, by one write.
 */
#include "registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS 100000

/* 1: entered; 0: the name is taken or was lost to the collector, try another; −1: not possible here. */
static int
try_enter(struct registration *registration)
{
	struct stat status;
	int fd = open(registration->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0)
		return errno == EEXIST ? 0 : -1;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &status) != 0 || status.st_nlink == 0) {
		close(fd);
		return 0;
	}
	fchmod(fd, 0644); /* whatever the umask: the collector, which may be another user, looks into it */
	registration->fd = fd;
	return 1;
}

bool
store_registry_enter(const char *directory, struct registration *registration)
{
	*registration = (struct registration){.fd = -1};
	for (unsigned n = 0; n < ATTEMPTS; n++) {
		int entered;

		if (asprintf(&registration->path, "%s/readers/%ld.%u", directory, (long)getpid(), n) < 0) {
			registration->path = NULL;
			return false;
		}
		entered = try_enter(registration);
		if (entered > 0 && store_registry_set(registration, 0))
			return true;
		if (entered != 0)
			break;
		free(registration->path);
		registration->path = NULL;
	}
	store_registry_leave(registration);
	return false;
}

bool
store_registry_set(const struct registration *registration, uint64_t commit)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "%020llu\n", (unsigned long long)commit);

	return pwrite(registration->fd, text, (size_t)length, 0) == length;
}

void
store_registry_leave(struct registration *registration)
{
	if (registration->fd >= 0) {
		unlink(registration->path);
		close(registration->fd);
	}
	free(registration->path);
	*registration = (struct registration){.fd = -1};
}

/* The number in a file of a living reader; UINT64_MAX if there is none. */
static uint64_t
look_at(int directory, const char *name)
{
	char text[24] = "";
	struct stat status;
	uint64_t commit = UINT64_MAX;
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? UINT64_MAX : 0; /* not readable: keep everything */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		/* While it is linked, the name is this file's, and nobody but the holder of its lock takes it away. */
		if (fstat(fd, &status) == 0 && status.st_nlink > 0)
			unlinkat(directory, name, 0);
	} else {
		commit = pread(fd, text, sizeof(text) - 1, 0) > 0 ? strtoull(text, NULL, 10) : 0;
	}
	close(fd);
	return commit;
}

uint64_t
store_registry_oldest(const char *directory)
{
	uint64_t oldest = UINT64_MAX;
	struct dirent *entry;
	char *path = NULL;
	DIR *readers;

	if (asprintf(&path, "%s/readers", directory) < 0)
		return 0;
	readers = opendir(path);
	free(path);
	if (!readers)
		return errno == ENOENT ? UINT64_MAX : 0;
	while ((entry = readdir(readers))) {
		uint64_t commit;

		if (entry->d_name[0] == '.')
			continue;
		commit = look_at(dirfd(readers), entry->d_name);
		oldest = commit < oldest ? commit : oldest;
	}
	closedir(readers);
	return oldest;
}

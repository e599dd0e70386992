/*
 * collector_lock.c: finds out, for `watch`, `epochs` and `serve`, whether a collector serves the store: whether its
 * lock file stands in /proc/locks, the kernel's list of locks, as in "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF".
 */
#include "collector_lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool
collector_lock_is_held(const char *directory)
{
	char line[256];
	struct stat status;
	char *path = NULL;
	bool held = false;
	FILE *locks;

	if (asprintf(&path, "%s/portoland.lock", directory) < 0)
		return false;
	if (stat(path, &status) != 0) {
		free(path);
		return false;
	}
	free(path);
	locks = fopen("/proc/locks", "re");
	while (locks && !held && fgets(line, sizeof(line), locks)) {
		unsigned long inode;

		/* The device is not compared: on btrfs it differs from what stat() says. */
		held = sscanf(line, "%*d: FLOCK %*s %*s %*d %*x:%*x:%lu", &inode) == 1 && inode == status.st_ino;
	}
	if (locks)
		fclose(locks);
	return held;
}

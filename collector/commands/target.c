/*
 * target.c: names the directory that `portolan backup` or `salvage` makes, and gives it that name once it is whole.
 */
#include "target.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
target_fail(const struct target *target, const char *doing, struct portolan_error *error)
{
	bool full = target->when_full && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);

	return error_set(error, full ? STORE_E_FULL : STORE_E_SYSTEM, "%s '%s': %s: %s%s", target->making, target->path,
	                 doing, strerror(errno), full ? target->when_full : "");
}

int
target_name(struct target *target, const char *path, const char *ending, struct portolan_error *error)
{
	size_t length = strlen(path);
	char *slash;

	while (length > 1 && path[length - 1] == '/')
		length--;
	snprintf(target->path, PATH_MAX, "%.*s", (int)length, path);
	snprintf(target->parent, PATH_MAX, "%s", target->path);
	slash = strrchr(target->parent, '/');
	if (slash)
		slash[slash == target->parent] = '\0';
	else
		snprintf(target->parent, PATH_MAX, ".");
	if (snprintf(target->temporary, PATH_MAX, "%s%s", target->path, ending) < PATH_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return target_fail(target, "cannot be made", error);
}

bool
target_is_inside(const struct target *target, const char *store)
{
	char outer[PATH_MAX], inner[PATH_MAX];
	size_t length;

	if (!realpath(target->parent, inner) || !realpath(store, outer))
		return false;
	length = strlen(outer);
	return strncmp(inner, outer, length) == 0 && (inner[length] == '\0' || inner[length] == '/');
}

int
target_finish(const struct target *target, bool replace, bool *named, struct portolan_error *error)
{
	int fd, result;

	if (replace ? rename(target->temporary, target->path)
	            : renameat2(AT_FDCWD, target->temporary, AT_FDCWD, target->path, RENAME_NOREPLACE))
		return target_fail(target, "cannot be given its name", error);
	*named = true;
	fd = open(target->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	result = fd < 0 || fsync(fd) < 0 ? target_fail(target, "cannot be synced", error) : 0;
	if (fd >= 0)
		close(fd);
	return result;
}

/*
 * directory.c: makes the directory of a store, or of spool files, with its parents.
 *
 * The directory is for its owner alone. New directories above it have the permissions that the umask leaves. Another
 * process may make the same directory at the same time; that is no error.
 */
#include "directory.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
directory_sync(const char *path)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return;
	(void)fsync(directory);
	close(directory);
}

static void
directory_sync_parent(const char *path)
{
	char *copy = strdup(path);

	if (copy)
		directory_sync(dirname(copy));
	free(copy);
}

int
directory_make(const char *path, const char *what, bool *made, struct portolan_error *error)
{
	char *copy = strdup(path);
	bool is_new = false, is_last;
	int status = 0;

	if (!copy)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (char *slash = copy + 1; slash && *copy; slash++) {
		slash = strchr(slash, '/');
		is_last = !slash || slash[strspn(slash, "/")] == '\0';
		if (slash)
			*slash = '\0';
		is_new = mkdir(copy, is_last ? 0700 : 0777) == 0;
		if (!is_new && errno != EEXIST) {
			status = error_set(error, PORTOLAN_E_SYSTEM, "%s: cannot make %s: %s", what, copy,
			                   strerror(errno));
			break;
		}
		if (is_new)
			directory_sync_parent(copy);
		if (!slash)
			break;
		*slash = '/';
	}
	free(copy);
	if (status == 0 && made)
		*made = is_new;
	return status;
}

char *
directory_absolute(const char *path)
{
	char *here, *absolute;

	if (path[0] == '/')
		return strdup(path);
	here = getcwd(NULL, 0);
	if (!here)
		return NULL;
	if (asprintf(&absolute, "%s/%s", here, path) < 0)
		absolute = NULL;
	free(here);
	return absolute;
}

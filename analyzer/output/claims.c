/*
 * claims.c: remembers the files that a command reads and writes, and refuses an output that would replace one of them
 * (claims.h).
 *
 * Files are looked up anew for each comparison: an output that was written meanwhile has another inode.
 */
#include "claims.h"

#include "base/folder.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct claim {
	char *name; /* option and path, as in "--join train.csv" */
	char *path; /* the path, which is the end of `name` */
	bool is_output;
};

static struct claim *claims;
static size_t count;
static bool refused;

struct identity {
	dev_t device;
	ino_t inode;
	const char *name; /* the name, in the directory, of a file that does not exist yet; else NULL */
};

/* Finds by what a file is compared. False: it is no regular file, and cannot become one. */
static bool
identify(const char *path, bool is_output, struct identity *identity)
{
	const char *slash = strrchr(path, '/');
	struct stat status;
	char *folder;
	bool found;

	if (strcmp(path, "-") == 0)
		found = fstat(is_output ? STDOUT_FILENO : STDIN_FILENO, &status) == 0;
	else
		found = stat(path, &status) == 0;
	if (found) {
		*identity = (struct identity){status.st_dev, status.st_ino, NULL};
		return S_ISREG(status.st_mode);
	}
	folder = folder_of(path);
	found = folder && stat(folder, &status) == 0;
	free(folder);
	*identity = (struct identity){status.st_dev, status.st_ino, slash ? slash + 1 : path};
	return found;
}

static bool
is_same(const struct claim *claim, const char *path, bool is_output)
{
	struct identity a, b;

	if (claim->is_output && is_output && strcmp(claim->path, "-") == 0 && strcmp(path, "-") == 0)
		return true;
	if (!identify(claim->path, claim->is_output, &a) || !identify(path, is_output, &b))
		return false;
	return a.device == b.device && a.inode == b.inode && !a.name == !b.name &&
	       (!a.name || strcmp(a.name, b.name) == 0);
}

static int
refuse(const struct claim *claim, const char *what, const char *path, struct portolan_error *error)
{
	refused = true;
	return error_set(error, PORTOLAN_E_INVALID, "%s and %s %s are the same file%s", claim->name, what, path,
	                 claim->is_output ? ": give each a name of its own"
	                                  : ", which would be lost: name another for the output");
}

static int
add(const char *what, const char *path, bool is_output, struct portolan_error *error)
{
	struct claim *grown = realloc(claims, (count + 1) * sizeof(*claims));
	char *name;

	if (grown)
		claims = grown;
	if (!grown || asprintf(&name, "%s %s", what, path) < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the name of a file");
	claims[count++] = (struct claim){name, name + strlen(what) + 1, is_output};
	return 0;
}

void
claims_clear(void)
{
	while (count > 0)
		free(claims[--count].name);
	free(claims);
	claims = NULL;
	refused = false;
}

bool
claims_were_refused(void)
{
	return refused;
}

int
claims_add_input(const char *what, const char *path, struct portolan_error *error)
{
	for (size_t i = 0; i < count && strcmp(path, "-") == 0; i++)
		if (!claims[i].is_output && strcmp(claims[i].path, "-") == 0)
			return error_set(error, PORTOLAN_E_INVALID, "standard input can be read only once");
	return add(what, path, false, error);
}

int
claims_add_output(const char *what, const char *path, struct portolan_error *error)
{
	for (size_t i = 0; i < count; i++)
		if (is_same(&claims[i], path, true))
			return refuse(&claims[i], what, path, error);
	return add(what, path, true, error);
}

int
claims_check(const char *path, struct portolan_error *error)
{
	for (size_t i = 0; i < count; i++)
		if ((!claims[i].is_output || strcmp(claims[i].path, path) != 0) && is_same(&claims[i], path, true))
			return refuse(&claims[i], "the output", path, error);
	return 0;
}

/*
 * endpoint.c: from a store directory to the address of its collector. Both sides compute it from the resolved path, so
 * that a relative path, a link and an absolute path lead to the same collector.
 */
#include "endpoint.h"

#include <portolan/error.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_PATH 100
#define FILE_LENGTH 22 /* slash, 16 digits, ".sock" */

static uint64_t
fnv1a(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* Whoever could put a socket there could take the place of the collector. */
static int
private_directory(const char *path, struct portolan_error *error)
{
	struct stat status;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make %s for the collector's socket: %s", path,
		                 strerror(errno));
	if (lstat(path, &status) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot look at %s: %s", path, strerror(errno));
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
		return error_set(error, PORTOLAN_E_SYSTEM,
		                 "%s must be a directory of yours with mode 0700; remove it, or set XDG_RUNTIME_DIR",
		                 path);
	return 0;
}

static int
runtime_endpoint(const char *directory, char endpoint[ENDPOINT_SIZE], struct portolan_error *error)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char parent[LONGEST_PATH - FILE_LENGTH + 1];
	int length = -1, status;

	if (runtime && runtime[0] == '/')
		length = snprintf(parent, sizeof(parent), "%s/portolan-%u", runtime, geteuid());
	if (length < 0 || (size_t)length >= sizeof(parent))
		snprintf(parent, sizeof(parent), "/tmp/portolan-%u", geteuid());
	status = private_directory(parent, error);
	if (status == 0)
		snprintf(endpoint, ENDPOINT_SIZE, "ipc://%s/%016" PRIx64 ".sock", parent, fnv1a(directory));
	return status;
}

int
endpoint_of_store(const char *directory, char endpoint[ENDPOINT_SIZE], struct portolan_error *error)
{
	char *absolute = realpath(directory, NULL);
	int length, status = 0;

	if (!absolute)
		return error_set(error, errno == ENOMEM ? PORTOLAN_E_MEMORY : PORTOLAN_E_INVALID, "store %s: %s",
		                 directory, strerror(errno));
	length = snprintf(endpoint, ENDPOINT_SIZE, "ipc://%s/collector.sock", absolute);
	if (length < 0 || (size_t)length > LONGEST_PATH + strlen("ipc://"))
		status = runtime_endpoint(absolute, endpoint, error);
	free(absolute);
	return status;
}

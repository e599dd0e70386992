/*
 * endpoint.c: tells client and collector the address at which a store's collector listens. It is made from the resolved
 * path of the store's directory, so that a relative path, a link and an absolute path lead to the same collector.
 *
 * The socket is always in the store. If it were elsewhere for stores with long paths, each process would have to
 * compute that place from its environment. Environments differ between a desktop, a batch job and a service, so the
 * processes would never meet.
 */
#include "endpoint.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LONGEST_PATH 100
#define SOCKET_FILE "collector.sock"

int
endpoint_open(const char *directory, struct endpoint *endpoint, struct portolan_error *error)
{
	char *absolute = realpath(directory, NULL);
	int length, status = 0;

	*endpoint = (struct endpoint){.directory = -1};
	if (!absolute)
		return error_set(error, errno == ENOMEM ? PORTOLAN_E_MEMORY : PORTOLAN_E_INVALID, "store %s: %s",
		                 directory, strerror(errno));
	length = snprintf(endpoint->text, sizeof(endpoint->text), "ipc://%s/" SOCKET_FILE, absolute);
	if (length < 0 || (size_t)length > LONGEST_PATH + strlen("ipc://")) {
		endpoint->directory = open(absolute, O_PATH | O_DIRECTORY | O_CLOEXEC);
		snprintf(endpoint->text, sizeof(endpoint->text), "ipc:///proc/self/fd/%d/" SOCKET_FILE,
		         endpoint->directory);
		if (endpoint->directory < 0)
			status = error_set(error, PORTOLAN_E_SYSTEM, "store %s: %s", directory, strerror(errno));
	}
	free(absolute);
	return status;
}

void
endpoint_close(struct endpoint *endpoint)
{
	if (endpoint->directory >= 0)
		close(endpoint->directory);
	endpoint->directory = -1;
}

bool
endpoint_is_locked(const char *directory, long *holder)
{
	char path[PATH_MAX], text[32] = "";
	bool locked;
	int file;

	if ((size_t)snprintf(path, sizeof(path), "%s/" ENDPOINT_LOCK_FILE, directory) >= sizeof(path))
		return false;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	locked = flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (holder)
		*holder = read(file, text, sizeof(text) - 1) > 0 ? strtol(text, NULL, 10) : 0;
	close(file); /* this also gives up the lock that we may hold */
	return locked;
}

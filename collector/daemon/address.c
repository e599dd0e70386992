/*
 * address.c: checks the endpoints of --listen for portoland: finds out what each means, and whether it may be bound,
 * before libzmq sees it. libzmq's own message for a malformed one is "Invalid argument", and binding ipc:// removes
 * whatever file has that name.
 */
#include "address.h"

#include <portolan/error.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int
address_malformed(const char *text, const char *what, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "endpoint '%.120s' %s; give tcp://127.0.0.1:PORT or ipc://PATH",
	                 text, what);
}

static bool
address_port_is_valid(const char *port)
{
	char *end;
	long number;

	if (strcmp(port, "*") == 0)
		return true;
	if (*port < '0' || *port > '9')
		return false;
	number = strtol(port, &end, 10);
	return *end == '\0' && number >= 1 && number <= 65535;
}

/* Splits HOST:PORT; brackets stay out of host. */
static bool
address_split_host(const char *text, char host[64], const char **port, bool *bracketed)
{
	const char *colon = strrchr(text, ':');
	size_t size;

	if (!colon)
		return false;
	*bracketed = *text == '[' && colon > text && colon[-1] == ']';
	size = (size_t)(colon - text) - (*bracketed ? 2 : 0);
	if (size == 0 || size >= 64)
		return false;
	memcpy(host, text + *bracketed, size);
	host[size] = '\0';
	*port = colon + 1;
	return true;
}

static int
address_parse_tcp(const char *text, struct address *address, struct portolan_error *error)
{
	struct in6_addr six;
	struct in_addr four;
	const char *port;
	char host[64];
	bool bracketed, loopback;

	if (!address_split_host(text + strlen("tcp://"), host, &port, &bracketed))
		return address_malformed(text, "has no HOST:PORT", error);
	if (!address_port_is_valid(port))
		return address_malformed(text, "has no port from 1 to 65535", error);
	if (!bracketed && strcmp(host, "localhost") == 0)
		snprintf(host, sizeof(host), "127.0.0.1");
	if (bracketed && inet_pton(AF_INET6, host, &six) == 1)
		loopback = IN6_IS_ADDR_LOOPBACK(&six);
	else if (!bracketed && inet_pton(AF_INET, host, &four) == 1)
		loopback = ntohl(four.s_addr) >> 24 == 127;
	else if (!bracketed && strcmp(host, "*") == 0)
		loopback = false;
	else
		return address_malformed(text, "does not name a numeric address", error);
	address->is_public = !loopback;
	address->ipv6 = bracketed;
	snprintf(address->text, sizeof(address->text), bracketed ? "tcp://[%s]:%s" : "tcp://%s:%s", host, port);
	return 0;
}

static int
address_parse_ipc(const char *text, struct address *address, struct portolan_error *error)
{
	const char *path = text + strlen("ipc://");
	struct sockaddr_un name;

	if (*path == '\0' || strcmp(path, "*") == 0)
		return address_malformed(text, "names no path", error);
	if (*path == '@')
		return address_malformed(text, "is an abstract socket, which every user of the machine may connect to",
		                         error);
	if (strlen(path) >= sizeof(name.sun_path))
		return address_malformed(text, "is longer than the 107 bytes a socket's path may have", error);
	snprintf(address->text, sizeof(address->text), "%s", text);
	address->is_ipc = true;
	address->path = address->text + strlen("ipc://");
	return 0;
}

int
address_parse(const char *text, struct address *address, struct portolan_error *error)
{
	*address = (struct address){0};
	if (strlen(text) >= sizeof(address->text))
		return address_malformed(text, "is too long", error);
	if (strcmp(text, "local") == 0) {
		address->is_local = true;
		snprintf(address->text, sizeof(address->text), "%s", text);
		return 0;
	}
	if (strncmp(text, "tcp://", strlen("tcp://")) == 0)
		return address_parse_tcp(text, address, error);
	if (strncmp(text, "ipc://", strlen("ipc://")) == 0)
		return address_parse_ipc(text, address, error);
	return address_malformed(text, "is neither tcp:// nor ipc://", error);
}

int
address_check_free(const struct address *address, struct portolan_error *error)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct stat status;
	int fd, result;

	if (!address->path || lstat(address->path, &status) < 0)
		return 0;
	if (!S_ISSOCK(status.st_mode))
		return error_set(error, PORTOLAN_E_SYSTEM, "%s exists and is not a socket; listen on another path",
		                 address->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make a socket: %s", strerror(errno));
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", address->path);
	result = connect(fd, (const struct sockaddr *)&name, sizeof(name));
	if (result < 0 && (errno == ECONNREFUSED || errno == ENOENT))
		result = 0; /* left behind by a process that was killed */
	else
		result = error_set(error, PORTOLAN_E_SYSTEM,
		                   "address %s is in use by another process; stop that or listen on another path",
		                   address->text);
	close(fd);
	return result;
}

bool
address_is_same(const struct address *a, const struct address *b)
{
	struct stat first, second;

	if (strcmp(a->text, b->text) == 0)
		return true;
	return a->path && b->path && stat(a->path, &first) == 0 && stat(b->path, &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

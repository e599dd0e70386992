/* listen.c: opens the socket on which `portolan serve` serves the live page: a port of loopback, or a Unix socket. If
 * the Unix socket exists and nobody listens on it, it is removed first; if somebody does, it is left alone. */
#include "listen.h"

#include <portolan/error.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

bool
listen_is_loopback(const char *host)
{
	struct in_addr four;

	if (strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0)
		return true;
	return inet_pton(AF_INET, host, &four) == 1 && (ntohl(four.s_addr) >> 24) == 127;
}

bool
listen_parse(const char *text, struct listening *listening)
{
	const char *colon = strrchr(text, ':'), *from = text;
	char *end;
	unsigned long port;
	size_t length;

	*listening = (struct listening){0};
	if (strncmp(text, "unix:", 5) == 0) {
		listening->unix_path = text + 5;
		return text[5] != '\0';
	}
	if (!colon || colon[1] < '0' || colon[1] > '9')
		return false;
	port = strtoul(colon + 1, &end, 10);
	length = (size_t)(colon - text);
	if (length >= 2 && *text == '[' && text[length - 1] == ']') {
		from++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return false;
	}
	if (*end != '\0' || port == 0 || port > 65535 || length == 0 || length >= sizeof(listening->host))
		return false;
	memcpy(listening->host, from, length);
	listening->port = (unsigned)port;
	return true;
}

static bool
listen_is_abandoned(const struct sockaddr_un *name)
{
	struct stat status;
	int test = -1;
	bool refused = false;

	if (lstat(name->sun_path, &status) == 0 && S_ISSOCK(status.st_mode))
		test = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (test >= 0) {
		refused = connect(test, (const struct sockaddr *)name, sizeof(*name)) != 0 && errno == ECONNREFUSED;
		close(test);
	}
	return refused;
}

static int
listen_open_unix(struct listening *listening, struct portolan_error *error)
{
	const char *path = listening->unix_path;
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	mode_t mask;
	int bound;

	if (strlen(path) >= sizeof(name.sun_path))
		return error_set(error, PORTOLAN_E_INVALID, "%s: the path of a socket has at most %zu bytes", path,
		                 sizeof(name.sun_path) - 1);
	memcpy(name.sun_path, path, strlen(path) + 1);
	if (listen_is_abandoned(&name))
		unlink(path);
	listening->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening->socket < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "no socket: %s", strerror(errno));
	mask = umask(0177); /* 0600 */
	bound = bind(listening->socket, (const struct sockaddr *)&name, sizeof(name));
	umask(mask);
	if (bound != 0 || listen(listening->socket, SOMAXCONN) != 0) {
		error_set(error, PORTOLAN_E_SYSTEM, "cannot listen on %s: %s", path, strerror(errno));
		close(listening->socket);
		return PORTOLAN_E_SYSTEM;
	}
	return 0;
}

static bool
listen_is_loopback_address(const struct addrinfo *where)
{
	const void *address = where->ai_addr;
	const struct sockaddr_in *four = address;
	const struct sockaddr_in6 *six = address;

	if (where->ai_family == AF_INET)
		return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
	return where->ai_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Listens on an address, if that is a loopback address. -1: errno has the reason. */
static int
listen_bind(const struct addrinfo *where)
{
	int bound, one = 1, why;

	if (!listen_is_loopback_address(where)) { /* the hosts file or DNS may give "localhost" any address */
		errno = EADDRNOTAVAIL;
		return -1;
	}
	bound = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bound < 0)
		return -1;
	if (setsockopt(bound, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(bound, where->ai_addr, where->ai_addrlen) == 0 && listen(bound, SOMAXCONN) == 0)
		return bound;
	why = errno;
	close(bound);
	errno = why;
	return -1;
}

/* Listens on the first of the addresses that this machine has: without IPv6, "localhost" may still begin with ::1. An
 * address on which another program listens is not passed over: browsers would go there, and show that program the
 * token. -1: errno has the reason. */
static int
listen_bind_any(const struct addrinfo *found)
{
	int bound = -1;

	errno = EADDRNOTAVAIL;
	for (const struct addrinfo *where = found; where && bound < 0; where = where->ai_next) {
		if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT && errno != EPROTONOSUPPORT)
			break;
		bound = listen_bind(where);
	}
	return bound;
}

/* Binds the same port of the other address, without listening there. "localhost" is 127.0.0.1 as well as ::1, and any
 * user of the machine may listen on either: a browser would show that user the token. Where nobody listens, a browser
 * is refused, and tries the address that is served. Without SO_REUSEADDR, as that would let others bind the port too.
 * -1: errno has the reason. */
static int
listen_hold_other(struct listening *listening, unsigned port)
{
	const struct sockaddr_in6 six = {
	        .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons((uint16_t)port)};
	const struct sockaddr_in four = {
	        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
	struct sockaddr_storage bound = {0};
	socklen_t size = sizeof(bound);
	bool is_four;
	int code;

	if (getsockname(listening->socket, (struct sockaddr *)&bound, &size) != 0)
		return -1;
	is_four = bound.ss_family == AF_INET;
	if (is_four && ((struct sockaddr_in *)&bound)->sin_addr.s_addr != four.sin_addr.s_addr)
		return 0; /* such as 127.0.0.2, which is not "localhost" */
	listening->other = socket(is_four ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening->other < 0)
		return errno == EAFNOSUPPORT ? 0 : -1;
	code = is_four ? bind(listening->other, (const struct sockaddr *)&six, sizeof(six))
	               : bind(listening->other, (const struct sockaddr *)&four, sizeof(four));
	return code == 0 || errno == EADDRNOTAVAIL ? 0 : -1; /* EADDRNOTAVAIL: this machine has only one of the two */
}

static int
listen_open_port(struct listening *listening, unsigned port, struct portolan_error *error)
{
	const char *host = listening->host;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
	char digits[12];
	int code;

	snprintf(digits, sizeof(digits), "%u", port);
	code = getaddrinfo(host, digits, &hints, &found);
	if (code != 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "no such address as %s: %s", host, gai_strerror(code));
	listening->socket = listen_bind_any(found);
	listening->port = port;
	listening->other = -1;
	code = listening->socket < 0 || listen_hold_other(listening, port) < 0 ? errno : 0;
	freeaddrinfo(found);
	if (code != 0 && listening->socket >= 0)
		close(listening->socket);
	if (code != 0 && listening->other >= 0)
		close(listening->other);
	return code == 0 ? 0
	                 : error_set(error, PORTOLAN_E_SYSTEM, "cannot listen on %s port %u: %s", host, port,
	                             code == EADDRINUSE ? "another program does; take another --port" : strerror(code));
}

int
listen_open(struct listening *listening, struct portolan_error *error)
{
	int code = -1;

	if (listening->unix_path)
		return listen_open_unix(listening, error);
	if (listening->port > 0)
		return listen_open_port(listening, listening->port, error);
	for (unsigned p = 0; p < LISTEN_PORTS_TRIED && code < 0; p++)
		code = listen_open_port(listening, LISTEN_PORT + p, error);
	return code;
}

void
listen_remove(const struct listening *listening)
{
	if (listening->unix_path)
		unlink(listening->unix_path);
}

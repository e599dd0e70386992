/* listen.h: the socket on which the page is served: of loopback, or a Unix socket that its user alone can open. */
#ifndef LISTEN_H
#define LISTEN_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

#define LISTEN_PORT 5780      /* unless another is asked for */
#define LISTEN_PORTS_TRIED 20 /* from there on, if it is taken */

struct listening {
	int socket;
	unsigned port;         /* 0: a Unix socket */
	const char *unix_path; /* to be removed at the end; NULL: none. The caller's */
	char host[260];        /* for the address that is shown; IPv6 in brackets */
};

/* The parts of an address of --listen: "unix:PATH", "HOST:PORT", "[::1]:PORT". */
struct listen_address {
	const char *unix_path; /* NULL: TCP */
	char host[256];        /* without brackets */
	unsigned port;
};

bool listen_is_loopback(const char *host); /* "localhost", 127.0.0.0/8, ::1 */

/* False: it is no address. */
bool listen_parse(const char *text, struct listen_address *address);

/* Binds the first address of the host's name that this machine has. Port 0 takes LISTEN_PORT or one of those after it.
 * PORTOLAN_E_SYSTEM: taken, or no such address. */
int listen_open(const struct listen_address *address, struct listening *listening, struct portolan_error *error);
void listen_remove(const struct listening *listening); /* the Unix socket's path, if it is one; not the socket */

#endif

/* listen.h: opens the socket on which `portolan serve` serves the live page: a port of loopback, or a Unix socket that
 * only its user can open. */
#ifndef LISTEN_H
#define LISTEN_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

#define LISTEN_PORT 5780      /* the port, unless the user names another */
#define LISTEN_PORTS_TRIED 20 /* ports, from LISTEN_PORT on, of which the first free one is taken */

struct listening {
	const char *unix_path; /* the caller's; NULL: TCP */
	char host[256];        /* without brackets */
	unsigned port;
	int socket; /* of listen_open() */
	int other; /* of 127.0.0.1 and ::1, holds the port of the one that is not served, until the program ends; or -1 */
};

bool listen_is_loopback(const char *host); /* "localhost", 127.0.0.0/8, ::1 */

/* The address of --listen: "unix:PATH", "HOST:PORT", "[::1]:PORT". False: it is none. */
bool listen_parse(const char *text, struct listening *listening);

/* Binds the first address of the host's name that is loopback and that this machine has. Port 0 takes LISTEN_PORT or one
 * of those after it. PORTOLAN_E_SYSTEM: taken, be it on the other of 127.0.0.1 and ::1, or no such address. */
int listen_open(struct listening *listening, struct portolan_error *error);
void listen_remove(const struct listening *listening); /* the Unix socket's path, if it is one; not the socket */

#endif

/* listen.h: opens the socket on which `portolan serve` serves the live page: a port of loopback, or a Unix socket that
 * only its user can open. */
#ifndef LISTEN_H
#define LISTEN_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

#define LISTEN_PORT 5780      /* the port, unless the user names another */
#define LISTEN_PORTS_TRIED 20 /* how many ports are tried, from LISTEN_PORT on */

struct listening {
	const char *unix_path; /* the caller's; NULL: TCP */
	char host[256];        /* without brackets */
	unsigned port;
	int socket; /* set by listen_open() */
	int other;  /* holds the port of the one of 127.0.0.1 and ::1 that is not served; -1: none */
};

bool listen_is_loopback(const char *host); /* "localhost", 127.0.0.0/8, ::1 */

/* Reads the address of --listen: "unix:PATH", "HOST:PORT" or "[::1]:PORT". False: it is none of these. */
bool listen_parse(const char *text, struct listening *listening);

/* Listens on the Unix socket, or on the first of the host's addresses that is loopback and that this machine has. Port
 * 0: takes LISTEN_PORT, or one of the ports after it. PORTOLAN_E_SYSTEM: there is no such address; or the port is taken
 * there or, of 127.0.0.1 and ::1, on the other one. */
int listen_open(struct listening *listening, struct portolan_error *error);
void listen_remove(const struct listening *listening); /* removes a Unix socket's path; does not close the socket */

#endif

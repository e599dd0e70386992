/* listen.h: the socket on which the page is served, and the names of its address. */
#ifndef LISTEN_H
#define LISTEN_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

#define LISTEN_PORT 5780      /* unless another is asked for */
#define LISTEN_PORTS_TRIED 20 /* from there on, if it is taken */
#define LISTEN_HOSTS_MAX 8

struct listening {
	int socket;
	unsigned port;                       /* 0: a Unix socket */
	const char *unix_path;               /* to be removed at the end; NULL: none. The caller's */
	bool everywhere;                     /* it is every address of this machine, as 0.0.0.0 is */
	char host[260];                      /* for the address that is shown; IPv6 in brackets */
	const char *hosts[LISTEN_HOSTS_MAX]; /* what Host may name; ends with NULL */
};

/* The parts of an address of --listen: "unix:PATH", "HOST:PORT", "[::1]:PORT". */
struct listen_address {
	const char *unix_path; /* NULL: TCP */
	char host[256];        /* without brackets */
	unsigned port;
	bool loopback;
};

/* False: it is no address. "localhost", 127.0.0.0/8 and ::1 are loopback. */
bool listen_parse(const char *text, struct listen_address *address);

/* Binds the first address of the host's name that this machine has. Port 0 takes LISTEN_PORT or one of those after it.
 * PORTOLAN_E_SYSTEM: taken, or no such address. */
int listen_open(const struct listen_address *address, struct listening *listening, struct portolan_error *error);
void listen_remove(const struct listening *listening); /* the Unix socket's path, if it is one; not the socket */

#endif

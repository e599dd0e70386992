/*
 * address.h: reads and checks the endpoints that `portoland --listen` takes:
 *
 *   tcp://HOST:PORT   HOST a numeric address, localhost, or * for all; PORT 1–65535, or * for any free one
 *   ipc://PATH        a socket file, for its owner only; not ipc://@NAME, an abstract one, which is for everybody
 *   local             the store's own socket, which is served in any case
 */
#ifndef COLLECTOR_ADDRESS_H
#define COLLECTOR_ADDRESS_H

#include <portolan/portolan.h>

#include <stdbool.h>

struct address {
	char text[256];   /* the endpoint in libzmq's form */
	const char *path; /* points into text: the path of a socket file; NULL: tcp */
	bool is_local;    /* the store's own socket, which is served in any case */
	bool is_ipc, ipv6;
	bool is_public; /* not a loopback address (127.0.0.0/8, ::1): open to other machines */
};

/* PORTOLAN_E_INVALID: malformed. */
int address_parse(const char *text, struct address *address, struct portolan_error *error);

/* Checks that the socket file may be bound: there is none, or no process listens on it any more. PORTOLAN_E_SYSTEM: a
 * process listens on it, or it is no socket (binding would remove it). */
int address_check_free(const struct address *address, struct portolan_error *error);

/* Are both the same socket file, or the same text? */
bool address_is_same(const struct address *a, const struct address *b);

#endif

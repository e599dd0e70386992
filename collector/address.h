/*
 * address.h: what may be listened on.
 *
 *   tcp://HOST:PORT   HOST a loopback address (127.0.0.0/8, [::1] or localhost); PORT 1–65535, or * for any free one
 *   ipc://PATH        a socket file, for its owner only; ipc://@NAME an abstract one
 */
#ifndef COLLECTOR_ADDRESS_H
#define COLLECTOR_ADDRESS_H

#include <portolan/portolan.h>

#include <stdbool.h>

struct address {
	char text[256];   /* as libzmq takes it */
	const char *path; /* into text: of a socket file; NULL: tcp, or an abstract socket */
	bool ipv6;
};

/* PORTOLAN_E_INVALID: malformed. PORTOLAN_E_REFUSED: well-formed, but open to other machines. */
int address_parse(const char *text, struct address *address, struct portolan_error *error);

/* Whether the socket file may be bound: there is none, or nobody listens on it any more. PORTOLAN_E_SYSTEM: somebody
 * does, or it is no socket (binding would remove it). */
int address_check_free(const struct address *address, struct portolan_error *error);

/* Both are the same socket file, or the same text. */
bool address_is_same(const struct address *a, const struct address *b);

#endif

/*
 * handshake.h: how a connection to the collector begins: with which keys, and why it did not come about. libzmq tries
 * again without a word for as long as it takes; a refused key, or keys that one side has and the other has not, would
 * look like a collector that is not there.
 *
 * Belongs to the thread that owns the socket.
 */
#ifndef CLIENT_HANDSHAKE_H
#define CLIENT_HANDSHAKE_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stdint.h>

struct handshake {
	void *monitor;
	const char *endpoint; /* not owned */
	bool keyed;
	unsigned broken; /* handshakes in a row that broke off without a reason */
	bool failed;     /* the last one; `failure` says why */
	bool may_pass;   /* it failed for a reason that may pass: the collector has too many connections */
	int64_t retried;
	struct portolan_error failure;
};

/* Before the socket connects. `keys`: the directory (keys.h), or NULL. Warns on stderr about an exposed secret key. */
int handshake_init(struct handshake *handshake, void *context, void *socket, const char *endpoint, const char *keys,
                   struct portolan_error *error);

/* Before the socket is closed; twice does no harm. */
void handshake_deinit(struct handshake *handshake, void *socket);

/* Whether the last handshake was refused, and none has succeeded since: handshake->failure says why. Connects again
 * once a second then, which libzmq does not after a refusal. */
bool handshake_has_failed(struct handshake *handshake, void *socket, int64_t now);

#endif

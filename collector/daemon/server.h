/*
 * server.h: the collector at work: a thread that receives (server.c) and one that stores (storer.c).
 */
#ifndef COLLECTOR_SERVER_H
#define COLLECTOR_SERVER_H

#include "address.h"

#include <stddef.h>
#include <stdint.h>

struct server_options {
	const char *store;
	const struct address *listen; /* besides the store's local endpoint, which is always served */
	size_t listen_count;
	const char *keys; /* directory of keys (keys.h) for the tcp endpoints; NULL: none */
	size_t max_memory;
	int64_t idle_ms; /* exit when no session was live for so long; < 0: never */
	/* Called once, when everything is bound. */
	void (*ready)(void *context);
	void *context;
	void (*stopping)(void); /* called once, when it begins to leave; NULL accepted */
};

/* Serves until SIGINT, SIGTERM or SIGHUP, or until idle; 0. Fails when it cannot start: the store is locked or cannot
 * be used, an address is in use. Blocks these signals. */
int server_run(const struct server_options *options, struct portolan_error *error);

#endif

/*
 * server.h: the collector at work: a thread that receives (server.c) and one that stores (storer.c).
 */
#ifndef COLLECTOR_SERVER_H
#define COLLECTOR_SERVER_H

#include "options.h"

/* Serves until SIGINT, SIGTERM or SIGHUP, or until idle; 0. When everything is bound it tells so to the service
 * manager, and to *parent (parent.h). Fails when it cannot start: the store is locked or cannot be used, an address is
 * in use. Blocks these signals. */
int server_run(const struct options *options, int *parent, struct portolan_error *error);

#endif

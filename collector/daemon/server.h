/*
 * server.h: serves a store, as portoland does without a command: one thread receives (server.c), another stores
 * (storer.c).
 */
#ifndef COLLECTOR_SERVER_H
#define COLLECTOR_SERVER_H

#include "options.h"

/* Serves until one of the signals of interruption.h comes, or until idle; 0. Once everything is bound, it tells the
 * service manager and *parent (parent.h). Fails if it cannot start: the store is locked or cannot be used, or an
 * address is in use. Blocks these signals. */
int server_run(const struct options *options, int *parent, struct portolan_error *error);

#endif

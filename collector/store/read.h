/*
 * read.h: inside the reading half: the store and its transactions.
 */
#ifndef STORE_READ_H
#define STORE_READ_H

#include "catalog.h"

struct store {
	struct environment environment;
	pthread_mutex_t lock;  /* held while a transaction begins or ends */
	unsigned transactions; /* open ones: the map cannot be changed meanwhile */
};

/* Begins a read transaction, taking a larger map if the collector made one; ends it (NULL accepted as its txn). */
int store_read_begin(struct store *store, struct view *view, struct portolan_error *error);
void store_read_finish(struct store *store, struct view *view);

/* The number of a run by its name; STORE_E_NO_RUN names the nearest. */
int store_read_find(const struct view *view, const char *name, uint32_t *run, struct portolan_error *error);

/* Adds what the log holds to the numbers of a run: see read_count.c for how exactly. */
int store_count_waiting(const struct view *view, struct store_run_info *info, struct portolan_error *error);

#endif

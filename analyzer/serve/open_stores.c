/*
 * open_stores.c: keeps open, for all requests of the live page, the store that the page shows. If another store takes
 * its place on disk, the inode of data.mdb tells, and that one is opened.
 *
 * With LMDB, a process may open a store only once. So if a store returns to its place while requests still read it, it
 * is taken up again and not opened a second time. LMDB opens a file by its name, so the inode of what it has opened is
 * checked afterwards.
 */
#include "open_stores.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TRIES 8 /* how often opening is tried while other stores take its place */

struct open_store {
	struct store *store;
	dev_t device;
	ino_t inode;
	unsigned users;
	struct open_store *next;
};

struct open_stores {
	char *directory;
	pthread_mutex_t lock;    /* guards the list */
	struct open_store *list; /* the first one is current */
};

struct open_stores *
open_stores_new(const char *directory)
{
	struct open_stores *stores = calloc(1, sizeof(*stores));

	if (stores)
		stores->directory = strdup(directory);
	if (!stores || !stores->directory) {
		free(stores);
		return NULL;
	}
	pthread_mutex_init(&stores->lock, NULL);
	return stores;
}

static void
stores_close(struct open_store *open)
{
	store_close(open->store);
	free(open);
}

void
open_stores_free(struct open_stores *stores)
{
	if (!stores)
		return;
	for (struct open_store *open = stores->list, *next; open; open = next) {
		next = open->next;
		stores_close(open);
	}
	pthread_mutex_destroy(&stores->lock);
	free(stores->directory);
	free(stores);
}

static bool
stores_is_at(const struct open_store *open, const struct stat *status)
{
	return open->inode == status->st_ino && open->device == status->st_dev;
}

/* If the store that is in the directory now is still open from before, makes it the current one again. False: it is not
 * open. */
static bool
stores_take_up_again(struct open_stores *stores, const struct stat *status)
{
	for (struct open_store **at = &stores->list; *at; at = &(*at)->next)
		if (stores_is_at(*at, status)) {
			struct open_store *open = *at;

			*at = open->next;
			open->next = stores->list;
			stores->list = open;
			return true;
		}
	return false;
}

/* Closes stores that are no longer current and not in use. */
static void
stores_close_old(struct open_stores *stores)
{
	struct open_store **at = stores->list ? &stores->list->next : &stores->list;

	while (*at) {
		struct open_store *open = *at;

		if (open->users > 0) {
			at = &open->next;
			continue;
		}
		*at = open->next;
		stores_close(open);
	}
}

/* Opens the store that is in the directory now, which is not open yet. `status`: of its data.mdb. */
static int
stores_open_new(struct open_stores *stores, const struct stat *status, struct portolan_error *error)
{
	struct open_store *open = calloc(1, sizeof(*open));
	int code = open ? store_open(stores->directory, &open->store, error)
	                : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	if (code < 0) {
		free(open);
		return code;
	}
	open->device = status->st_dev;
	open->inode = status->st_ino;
	open->next = stores->list;
	stores->list = open;
	return 0;
}

static void
stores_drop_current(struct open_stores *stores)
{
	struct open_store *open = stores->list;

	stores->list = open->next;
	stores_close(open);
}

/* Makes the store that is in the directory now the current one. False: another store took its place meanwhile; as it is
 * then not known which of the two was opened, that one is closed again. */
static bool
stores_open_current(struct open_stores *stores, int *code, struct portolan_error *error)
{
	struct stat before = {0}, after = {0};
	char path[4096];

	*code = 0;
	snprintf(path, sizeof(path), "%s/data.mdb", stores->directory);
	if (stat(path, &before) == 0 && stores_take_up_again(stores, &before))
		return true;
	*code = stores_open_new(stores, &before, error);
	if (*code < 0 || (stat(path, &after) == 0 && stores_is_at(stores->list, &after)))
		return true;
	stores_drop_current(stores);
	*code = error_set(error, PORTOLAN_E_SYSTEM, "%s: other stores take its place again and again",
	                  stores->directory);
	return false;
}

int
open_stores_take(struct open_stores *stores, struct store **store, ino_t *inode, struct portolan_error *error)
{
	int code = 0;

	pthread_mutex_lock(&stores->lock);
	for (unsigned tries = 0; tries < TRIES && !stores_open_current(stores, &code, error);)
		tries++;
	if (code >= 0) {
		stores_close_old(stores);
		stores->list->users++;
		*store = stores->list->store;
		if (inode)
			*inode = stores->list->inode;
	}
	pthread_mutex_unlock(&stores->lock);
	return code;
}

void
open_stores_return(struct open_stores *stores, struct store *store)
{
	struct open_store *open;

	pthread_mutex_lock(&stores->lock);
	for (open = stores->list; open->store != store;)
		open = open->next;
	open->users--;
	stores_close_old(stores);
	pthread_mutex_unlock(&stores->lock);
}

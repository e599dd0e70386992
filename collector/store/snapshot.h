/*
 * snapshot.h: inside the reading half: a snapshot, shared by its cursors.
 */
#ifndef STORE_SNAPSHOT_H
#define STORE_SNAPSHOT_H

#include "overlay.h"
#include "read.h"

struct store_snapshot {
	struct store *store;
	struct store_run_info info;
	uint64_t wanted,
	        held; /* columns asked for; of these, the ones that any of the epochs has: only they are looked for */
	uint32_t *epochs;
	size_t epoch_count;
	uint32_t chunks;
	uint32_t **generations;        /* per epoch, per chunk */
	uint32_t *example_generations; /* per chunk: what is kept per example */
	struct run_texts texts;
	uint32_t sessions, *order;
	struct overlay overlay;
	struct registration registration;
	struct view kept; /* the transaction of a snapshot that could not be registered; txn NULL: it was */
	pthread_mutex_t kept_lock;
};

/* Rows of block `chunk`. */
static inline uint32_t
store_snapshot_rows(const struct store_snapshot *snapshot, size_t chunk)
{
	uint64_t left = snapshot->info.rows - (uint64_t)chunk * STORE_CHUNK;

	return left < STORE_CHUNK ? (uint32_t)left : STORE_CHUNK;
}

/* A view for one read, and its end: `own` is the caller's, renewed and reset, unless the snapshot keeps its own. */
int store_snapshot_begin(struct store_snapshot *snapshot, struct view *own, struct view **view,
                         struct portolan_error *error);
void store_snapshot_end(struct store_snapshot *snapshot, struct view *view);

#endif

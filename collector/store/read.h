/*
 * read.h: what the files of the reading half share: an open store, its transactions, and the state of a snapshot and of
 * its cursors. (Commands see of this only what include/portolan/store.h has.)
 */
#ifndef STORE_READ_H
#define STORE_READ_H

#include "chunk.h"
#include "overlay.h"

struct store {
	struct environment environment; /* the first member: a view's environment leads to its store */
	pthread_mutex_t lock;           /* held while a transaction begins or ends */
	unsigned transactions;          /* open transactions: the map cannot be changed meanwhile */
};

/* Begins a read transaction, with a larger map if the collector made one. store_read_finish() ends it; it accepts
 * zeros, and serves CLEANUP(). */
int store_read_begin(struct store *store, struct view *view, struct portolan_error *error);
void store_read_finish(struct view *view);

/* The number of a run by its name; STORE_E_NO_RUN names the nearest. */
int store_read_find(const struct view *view, const char *name, uint32_t *run, struct portolan_error *error);

/* Is the record whole, and of the kind that belongs under its key? Under keys that this version does not know, any kind
 * is right. */
bool store_verify_record(enum store_db db, const MDB_val *key, const MDB_val *value);

struct store_snapshot {
	struct store *store;
	struct store_run_info info;
	uint64_t wanted, held; /* columns asked for; those of them that any of the epochs has */
	uint32_t *epochs;
	struct store_epoch *stored; /* of the same epochs */
	size_t epoch_count;
	uint64_t rows;      /* of the run */
	uint32_t blocks;    /* that a cursor can read */
	uint32_t *occupied; /* the chunk of each block; NULL: block i is chunk i */
	char **labels;
	uint64_t label_count;
	char (*user_columns)[USER_COLUMN_NAME];
	uint32_t user_column_count;
	uint32_t sessions, *order;
	bool keeps_examples; /* there are values kept per example: labels, or which declared examples were seen */
	struct overlay overlay;
	struct view view;     /* its transaction, until it is closed */
	pthread_mutex_t lock; /* the view's */
};

/* The place of a chunk of an epoch, or of the values kept per example. */
static inline struct chunk_place
store_snapshot_place(const struct store_snapshot *snapshot, uint32_t epoch, uint32_t chunk)
{
	return (struct chunk_place){.run = snapshot->info.number,
	                            .epoch = epoch,
	                            .chunk = chunk,
	                            .rows = store_chunk_rows(snapshot->rows, chunk),
	                            .sessions = snapshot->sessions};
}

/* Counts what the log brings: the numbers of the info become what they will be when everything is folded. */
int store_count_log(struct store_snapshot *snapshot, struct portolan_error *error);
/* The info that a snapshot of this run would have, in the view's transaction. */
int store_snapshot_info_of(const struct view *view, uint32_t run, struct store_run_info *info,
                           struct portolan_error *error);

/* The columns that are read for those that were asked for: losses stand for gold_prob in a run of losses. */
uint64_t store_snapshot_stored(const struct store_snapshot *snapshot, uint64_t columns);

/* What readers are told of an epoch. */
static inline struct store_epoch
store_epoch_of(const struct catalog_epoch *epoch)
{
	return (struct store_epoch){.epoch = epoch->epoch,
	                            .folds = epoch->record.folds,
	                            .folded = epoch->record.observations,
	                            .waiting = epoch->record.log_rows,
	                            .batches = epoch->record.log_end};
}

/* Reads a chunk of an epoch, with the log's rows of it: the columns of the mask `columns` that the snapshot asked for,
 * or (STORE_EPOCH_RUN) the values kept per example. `image` is reset first. `lent` as in store_chunk_load(); it gets no
 * column if the log has rows of the chunk. */
int store_snapshot_load(const struct store_snapshot *snapshot, uint32_t epoch, uint32_t chunk, uint64_t columns,
                        struct merge_chunk *image, struct chunk_lent *lent, struct portolan_error *error);

#endif

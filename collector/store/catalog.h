/*
 * catalog.h: finds what the store says of a run: its name, state, labels, sessions, epochs and counters. For the
 * store's own files, both those that write and those that read. They also go through a run's batches and ids by it.
 *
 * Every function reads through a view, which is one transaction (environment.h), and changes nothing. Where a record
 * may be missing, the answer is then VIEW_ABSENT.
 */
#ifndef STORE_CATALOG_H
#define STORE_CATALOG_H

#include "batch.h"
#include "environment.h"
#include "ids.h"

/* The number of a run by its name; VIEW_ABSENT: there is none. */
int store_catalog_find(const struct view *view, const void *name, size_t size, uint32_t *run,
                       struct portolan_error *error);

/* Lists all runs by ascending name; only name and number of each are set. Number 0: the record of the number is
 * damaged. *runs is the caller's to free(). */
int store_catalog_runs(const struct view *view, struct store_run_info **runs, size_t *count,
                       struct portolan_error *error);

/* Read the state of a run, and what listings say of the run. STORE_E_NO_RUN: it was removed. */
int store_catalog_state(const struct view *view, uint32_t run, struct run_state_record *state,
                        struct portolan_error *error);
int store_catalog_info(const struct view *view, uint32_t run, struct store_run_info *info,
                       struct portolan_error *error);

/* The run's identity; *texts: name, group, config, one after another. A run without this record is damaged. */
int store_catalog_identity(const struct view *view, uint32_t run, struct run_identity_record *identity,
                           const uint8_t **texts, struct portolan_error *error);

/* The names of the classes, NUL-terminated. *labels is the caller's to free(), which frees the names too. */
int store_catalog_labels(const struct view *view, uint32_t run, char ***labels, uint64_t *count,
                         struct portolan_error *error);
/* The names of the users' columns, NUL-terminated. *names is the caller's to free(). */
int store_catalog_user_columns(const struct view *view, uint32_t run, uint32_t *count, char (**names)[USER_COLUMN_NAME],
                               struct portolan_error *error);

/* Reads a session whose number is below the run's number of sessions; if it is missing, the store is damaged. */
int store_catalog_session(const struct view *view, uint32_t run, uint32_t session, struct session_record *record,
                          struct portolan_error *error);

/* Reads which process a session's client is; zeros if the client did not say. */
int store_catalog_process(const struct view *view, uint32_t run, uint32_t session, struct process_record *record,
                          struct portolan_error *error);

/* Reads a record of counters. *count is how many numbers it has, 0 if it is absent. The rest of `numbers` becomes 0:
 * the version that wrote the record did not count that. */
int store_catalog_counters(const struct view *view, const struct store_key *key, enum record_kind kind,
                           uint64_t numbers[COUNTERS_MOST], size_t *count, struct portolan_error *error);

/* order[session] is the session's place by (start, rank, id): of two sessions the one with the greater order is later.
 * *order is the caller's to free(). */
int store_catalog_order(const struct view *view, uint32_t run, uint32_t sessions, uint32_t **order,
                        struct portolan_error *error);

/* The record of an epoch; zeros if there is none. */
int store_catalog_epoch(const struct view *view, uint32_t run, uint32_t epoch, struct epoch_record *record,
                        struct portolan_error *error);
/* The next epoch of a walk through DB_EPOCHS; VIEW_ABSENT: the run has no further one. */
int store_catalog_next_epoch(struct view_walk *walk, uint32_t *epoch, struct epoch_record *record,
                             struct portolan_error *error);
/* Epochs of a run that hold observations, in the log or folded, ascending; *epochs is the caller's to free(). */
struct catalog_epoch {
	uint32_t epoch;
	struct epoch_record record;
};
int store_catalog_epochs(const struct view *view, uint32_t run, struct catalog_epoch **epochs, size_t *count,
                         struct portolan_error *error);

/* The next batch of a walk through DB_LOG. */
int store_catalog_next_batch(struct view_walk *walk, uint64_t examples, uint32_t sessions, struct batch *batch,
                             struct portolan_error *error);
/* The next segment of a walk through DB_IDS, and the index of its first id. */
int store_catalog_next_ids(struct view_walk *walk, uint64_t *first, struct ids_segment *segment,
                           struct portolan_error *error);

/* Finds the first chunk from *chunk on that has stored columns of an epoch; VIEW_ABSENT: there is none. */
int store_catalog_next_chunk(const struct view *view, uint32_t run, uint32_t epoch, uint32_t *chunk,
                             struct portolan_error *error);

/* How many chunks a run with `rows` rows has; and how many rows one of them has: only the last may have fewer than
 * STORE_CHUNK. */
static inline uint32_t
store_chunks_of(uint64_t rows)
{
	return (uint32_t)((rows + STORE_CHUNK - 1) / STORE_CHUNK);
}

static inline uint32_t
store_chunk_rows(uint64_t rows, uint32_t chunk)
{
	const uint64_t left = rows - (uint64_t)chunk * STORE_CHUNK;

	return left < STORE_CHUNK ? (uint32_t)left : STORE_CHUNK;
}

#endif

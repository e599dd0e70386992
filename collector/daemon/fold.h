/*
 * fold.h: folds for the storer: has the store turn the log of epochs that are over into columns, a few milliseconds at
 * a time.
 *
 * Which epochs: those below the run's frontier (every live session has ended them) that have something in the log and
 *   - were never folded, or
 *   - were ended (again) since the last fold, or belong to a run that no live session records into, or
 *   - whose patch, what the log got since the last fold, is over 4 MB and over a quarter of the rows that are folded.
 *
 * Runs take turns in the order of their numbers: a turn is one step of small epochs, or one whole large epoch.
 *
 * It uses the same writer as ingest.c, and works only when nothing is pending there, as a step commits. A step folds
 * several small epochs, with one sync. Not thread-safe: it belongs to the storer.
 */
#ifndef COLLECTOR_FOLD_H
#define COLLECTOR_FOLD_H

#include "sessions.h"
#include "store/write.h"

#define FOLD_PATCH_BYTES (4u << 20)

struct folder {
	struct store_writer *writer;
	struct sessions *sessions;
	size_t memory;           /* bound for the columns built at a time */
	struct store_fold *fold; /* the fold in progress, or NULL */
	struct store_fold *next; /* the one after it, whose log is read ahead during steps of the one before; or NULL */
	uint32_t epoch, next_epoch; /* the epochs of `fold` and `next` */
	bool alone;                 /* nothing is read ahead until the fold in progress is done, */
	bool never;                 /* … or ever again: damage was met */
	struct run *run;            /* the run of both; NULL if there is neither */
	uint32_t last;              /* the number of the run that had the last turn */
};

void folder_init(struct folder *folder, struct store_writer *writer, struct sessions *sessions, size_t memory);
void folder_deinit(struct folder *folder);

/* Has folder_work() something to do, as far as is known without reading the store? */
bool folder_has_work(const struct folder *folder);

/* The run that was folded is damaged, and is left alone until the next start; `error` says what is damaged. */
#define FOLDER_DAMAGED 1

/* Does one step. Any result but 0 means that the fold in progress was dropped, and starts anew at a later call; the
 * caller aborts the writer's transaction. Negative codes are failures of the store, not of one run. */
int folder_work(struct folder *folder, struct portolan_error *error);

/* Drops the fold in progress and the one that is read ahead, if any. Call before the writer's transaction is aborted or
 * their run removed. */
void folder_drop(struct folder *folder);

/* The rule for one epoch; pure, for tests. */
bool fold_is_due(const struct run *run, bool live, const struct store_log_epoch *epoch);

#endif

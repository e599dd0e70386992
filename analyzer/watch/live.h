/*
 * live.h: looks at a run again and again while it is being recorded, and says how far it is; for `watch`, `epochs` and
 * `serve`.
 *
 * Each look opens the store, takes one snapshot, reads it in short transactions, and closes everything. Nothing is held
 * between looks, so watching and collecting do not get in each other's way. An epoch that is folded (its rows are in
 * the store's columns) and has no rows waiting in the log is read once. The collector counts how often it folds an
 * epoch, and so a look notices that one has changed.
 */
#ifndef LIVE_H
#define LIVE_H

#include "tally.h"
#include "verdict/verdict.h"

#include <sys/types.h>

enum live_state {
	LIVE_NO_STORE,
	LIVE_NO_RUN,
	LIVE_NOTHING, /* recording, and nothing stored yet */
	LIVE_RECORDING,
	LIVE_CLOSED,
};

struct live_view {
	enum live_state state;
	char why[512]; /* for LIVE_NO_STORE and LIVE_NO_RUN: the store's message; the members below are then not set */
	struct store_run_info info;
	const struct tally_epoch *epochs; /* with observations, ascending; struct live's, until its next look */
	size_t epoch_count;
	uint64_t expected; /* examples in an epoch; 0: not known yet */
	uint64_t events;   /* forgetting events so far */
	struct tally_counts counts;
	struct tally_sample sample; /* struct live's, until its next look */
	struct store_counters counters;
	struct verdict verdict;
	struct store_client clients;                     /* sums over the sessions that told of themselves */
	uint64_t sessions, live_sessions, lost_sessions; /* lost: neither live nor closed */
	uint64_t accepted; /* observations of all sessions, replaced ones included; only grows */
	bool collector;    /* a collector serves the store, as far as this process can see */
};

struct live {
	const char *directory, *run;
	bool (*stopped)(void); /* asked between blocks; NULL: never */
	/* private */
	uint32_t number; /* the number of the run whose sums are kept */
	ino_t inode;     /* of that run's data.mdb */
	struct tally_epoch *epochs;
	struct store_epoch *settled;      /* records of the settled epochs, which come first in epochs[] */
	size_t settled_count, epoch_room; /* epoch_room: of settled[] and of epochs[] */
	struct tally_block *blocks;       /* sums over the settled epochs */
	size_t block_count;
	struct tally_sample sample, shown; /* over the settled epochs; over all epochs */
};

/* Looks at the run, and sets everything in *view. Returns 0; PORTOLAN_E_CANCELLED: `stopped` said so; else the code of
 * a failure, which may be temporary. */
int live_look(struct live *live, struct live_view *view, struct portolan_error *error);

/* Does the same in a store that the caller has open. `inode`: of its data.mdb. */
int live_look_in(struct live *live, struct store *store, ino_t inode, struct live_view *view,
                 struct portolan_error *error);

void live_free(struct live *live); /* frees the sums too: the next look reads the whole run */

#endif

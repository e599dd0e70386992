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
	char why[512]; /* NO_STORE, NO_RUN: the store's message; the rest is then not set */
	struct store_run_info info;
	const struct tally_epoch *epochs; /* with observations, ascending; the live's, until the next look */
	size_t epoch_count;
	uint64_t expected; /* examples in an epoch; 0: not known yet */
	uint64_t events;   /* forgetting events so far */
	struct tally_counts counts;
	struct tally_sample sample; /* the live's, until the next look */
	struct store_counters counters;
	struct verdict verdict;
	struct store_client clients;                     /* sums over the sessions that told of themselves */
	uint64_t sessions, live_sessions, lost_sessions; /* lost: neither live nor closed */
	uint64_t accepted; /* observations of all sessions, replaced ones included; only grows */
	bool collector;    /* one serves the store, as far as this process can see */
};

struct live {
	const char *directory, *run;
	bool (*stopped)(void); /* asked between blocks; NULL: never */
	/* private */
	uint32_t number; /* of the run that the sums are of */
	ino_t inode;     /* of its store's data.mdb */
	struct tally_epoch *epochs;
	struct store_epoch *settled;      /* the records of the settled epochs, which are the first of epochs[] */
	size_t settled_count, epoch_room; /* epoch_room: of both */
	struct tally_block *blocks;       /* sums over the settled epochs */
	size_t block_count;
	struct tally_sample sample, shown; /* of the settled epochs; of all */
};

/* 0; PORTOLAN_E_CANCELLED when `stopped` asked for it; else the code of a failure, which may be temporary. Everything
 * in *view is set. */
int live_look(struct live *live, struct live_view *view, struct portolan_error *error);

/* The same in a store that the caller has open; `inode` is its data.mdb's. */
int live_look_in(struct live *live, struct store *store, ino_t inode, struct live_view *view,
                 struct portolan_error *error);

void live_free(struct live *live); /* the sums too: the next look reads the run anew */

#endif

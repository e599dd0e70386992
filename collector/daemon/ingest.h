/*
 * ingest.h: takes frames, stores them, and answers. It knows nothing of sockets: the storer hands it decoded frames
 * with their peers, and it answers through a callback.
 *
 * Call ingest_frame() any number of times, then ingest_commit(): only after that are the frames acknowledged. Call
 * ingest_tick() about once a second. In between, when nothing is pending, ingest_work() may fold.
 *
 * Parts: ingest.c takes frames, admit.c lets sessions in, retire.c ends runs, take_over.c goes on with what is stored,
 * commit.c commits, fails, recovers and times out, work.c folds between rounds, reply.c answers and gives credit.
 *
 * Times are milliseconds of a monotonic clock. Not thread-safe: it belongs to the storer.
 */
#ifndef COLLECTOR_INGEST_H
#define COLLECTOR_INGEST_H

#include "fold.h"
#include "sessions.h"
#include "store/write.h"
#include "throttle.h"

#define INGEST_WINDOW_MAX (16u << 20) /* bytes of credit for one session, at most: twice a commit */
#define INGEST_RETRY_MS 1000          /* pause after the store has failed */
#define INGEST_WORK_RETRY_MS 10000    /* pause after a step of folding has failed */

/* The secret by which a client at a plain tcp endpoint proves that it is the store's own user (owner.h). */
struct ingest_owner {
	char path[WIRE_MAX_PATH + 1]; /* of its file */
	uint8_t secret[WIRE_OWNER_SIZE];
	bool has_secret;
};

struct ingest_options {
	struct store_writer *writer;      /* belongs to the caller, and must outlive the ingest */
	size_t max_memory;                /* shared out by shares.h */
	const struct ingest_owner *owner; /* NULL: there is no plain tcp endpoint */
	/* Sends one answer to `peer`; the frame is valid during the call. The answer may be lost: clients ask again. */
	void (*reply)(void *context, const struct peer *peer, const struct wire_frame *frame);
	void *context;
};

enum ingest_health {
	INGEST_READY,
	INGEST_TRYING,      /* after a failure: one frame at a time, until a commit succeeds */
	INGEST_UNAVAILABLE, /* the store has just failed: no credit, until retry_at */
};

struct ingest_totals {
	uint64_t sessions, observations, bytes; /* since the start; repeated batches count in `bytes` only */
};

struct ingest {
	struct ingest_options options;
	struct store_writer *writer;
	struct sessions sessions;
	struct folder folder;
	struct list complaints;               /* errors to be sent after the commit */
	struct ingest_totals totals, pending; /* pending: those that the next commit adds, if it succeeds */
	struct store_counters counters; /* counters that belong to no run, since the last commit that stored them */
	uint64_t commits;               /* number of commits */
	size_t fewest;          /* parties when the largest credit was given that a client may still have; 0: none */
	struct throttle clocks; /* lines about clocks of sessions */
	enum ingest_health health;
	int64_t retry_at, ticked, garbage_at, work_at;
	int64_t failed_at, told_at; /* times of the last failure, and of the last line about one */
	bool outage;                /* an outage was logged, and its end was not */
	struct throttle crowd, full, begun, damage;
	bool garbage;     /* old records may be left to remove */
	bool uncollected; /* the last removal met damage: removals must not interrupt a fold any more */
	bool folded;      /* the last step of work was a fold's */
	bool work_failed; /* the last step of folding or removing failed */
	bool lost;        /* the store, or its lock, was removed: the collector must end */
};

/* Takes over the live sessions of the store, and finds the epochs that are due to be folded. */
int ingest_init(struct ingest *ingest, const struct ingest_options *options, int64_t now, struct portolan_error *error);
void ingest_deinit(struct ingest *ingest);

/* `size` is the frame's, for the counters. `trusted`: only the store's owner, or who has a key, can send frames there.
 */
void ingest_frame(struct ingest *ingest, const struct peer *peer, bool trusted, const struct wire_frame *frame,
                  size_t size, int64_t now);

/* Answers a frame that wire_decode() did not accept. */
void ingest_malformed(struct ingest *ingest, const struct peer *peer, enum wire_error_code code, const char *message);

/* Is enough pending for a commit, although more can be read? */
bool ingest_is_full(const struct ingest *ingest);

/* Commits what is pending and sends the replies that waited for it. */
void ingest_commit(struct ingest *ingest, int64_t now);

/* Ends silent sessions, and tries again after a failure. True: there is more to do; call again after the next
 * commit. */
bool ingest_tick(struct ingest *ingest, int64_t now);

/* Does one step of folding or of removing old records, if there is one; false: nothing to do now.
 * Call only right after ingest_commit(). */
bool ingest_work(struct ingest *ingest, int64_t now);

/* Is an epoch left that can be folded? */
bool ingest_has_work(const struct ingest *ingest);

#endif

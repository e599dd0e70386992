/*
 * ingest.h: what the collector does with the frames of its clients: it stores them, and answers. The storer hands it
 * decoded frames with their peers, and it answers through a callback; it knows nothing of sockets.
 *
 * Call ingest_frame() any number of times, then ingest_commit(): only after that are the frames acknowledged. Call
 * ingest_tick() about once a second. In between, when nothing is pending, ingest_work() may fold.
 *
 * The functions that begin with ingest_ are for the storer. Those below them are what the files of ingest call of one
 * another:
 *
 * 	ingest.c	takes frames
 * 	admit.c, beside.c	let sessions in
 * 	commit.c	commits, fails, recovers, and ends silent sessions
 * 	retire.c	ends runs
 * 	take_over.c	goes on with what an earlier collector has stored
 * 	work.c	folds, between rounds
 * 	reply.c	answers, and gives credit
 *
 * Credit is in bytes of frames not yet acknowledged: the lesser of INGEST_WINDOW_MAX and the session's share of the
 * memory for credit (shares.h). Each connection has the same share, which its sessions share. Credit is 0 while the
 * store has failed, and 1 while the store is being tried again, which lets a client send one frame at a time (WIRE.md).
 *
 * Times are milliseconds of a monotonic clock. Not thread-safe: it belongs to the storer.
 */
#ifndef COLLECTOR_INGEST_H
#define COLLECTOR_INGEST_H

#include "fold.h"
#include "sessions.h"
#include "store/write.h"
#include "throttle.h"

#include <string.h>

#define INGEST_WINDOW_MAX (16u << 20) /* bytes of credit for one session, at most: twice a commit */
#define INGEST_RETRY_MS 1000          /* pause after the store has failed */
#define INGEST_WORK_RETRY_MS 10000    /* pause after a step of folding has failed */

/* The secret by which a client at a plain tcp endpoint proves that it is the store's own user (owner.h). */
struct ingest_owner {
	char path[WIRE_MAX_PATH + 1]; /* of the file with the secret */
	uint8_t secret[WIRE_OWNER_SIZE];
	bool has_secret;
};

struct ingest_options {
	struct store_writer *writer;      /* belongs to the caller, and must outlive the ingest */
	size_t max_memory;                /* shared out by shares.h */
	uint64_t max_texts;               /* bytes of texts that a run may have; more are refused */
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
	/* sessions.parties when the largest credit was given that a client may still have; 0: none */
	size_t fewest;
	struct throttle clocks; /* lines about clocks of sessions */
	struct throttle beyond; /* lines about clients that want more than their key allows */
	struct throttle texts;  /* lines about texts of examples that are not kept */
	struct throttle missed; /* lines about frames that were lost for lack of memory */
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

/* Takes a frame of a client. `size`: its bytes, for the counters. */
void ingest_frame(struct ingest *ingest, const struct sender *sender, const struct wire_frame *frame, size_t size,
                  int64_t now);

/* Answers a frame that wire_decode() did not accept. */
void ingest_malformed(struct ingest *ingest, const struct peer *peer, enum wire_error_code code, const char *message);

/* Takes note that there was no memory for a frame: of which session is not known. Call when all frames that came before
 * it are taken. Each live session is asked at its pings to open again, and to repeat what is not acknowledged, unless a
 * frame has come that follows the last one taken. */
void ingest_miss(struct ingest *ingest, int64_t now);

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

static inline struct store_text
text_of(struct wire_bytes bytes)
{
	return (struct store_text){(const char *)bytes.data, bytes.size};
}

static inline void
copy_name(char name[256], struct wire_bytes bytes)
{
	size_t size = bytes.size < 255 ? bytes.size : 255;

	memcpy(name, bytes.data, size);
	name[size] = '\0';
}

/* admit.c: letting sessions in. */

/* Takes an `open`: continues the session, or begins it. The answer comes after the commit, or is an error at once. Only
 * a sender that `may_replace` overwrites a run. */
void admit_open(struct ingest *ingest, const struct sender *sender, bool may_replace, const struct wire_frame *frame,
                size_t size, int64_t now);

/* beside.c: processes that record into one run and do not know of each other. */

#define BESIDE_SILENT_MS 5000 /* a session that was silent for so long does not keep another from its run */

/* Finds the session for which one with `resume` has to wait: it records into the run of this name, and its client may
 * be alive. NULL: there is none. */
const struct session *beside_find_holder(const struct ingest *ingest, const struct wire_open *open, const char *name,
                                         int64_t now);
/* Names the process behind the session, for a message: "process 12 on HOST". */
void beside_describe(struct ingest *ingest, const struct session *holder, char text[128]);
/* Notes a batch of the session. If another session began to record after it, and both go on, the run is marked. */
int beside_note_batch(struct ingest *ingest, struct session *session, struct portolan_error *error);
/* The launch that an `open` names, for session.launch. */
uint64_t beside_launch(const struct wire_open *open);

/* retire.c: the end of runs. */

/* Ends the sessions that record into runs of this name; but not into the run of number `except`, nor into one that has
 * no name yet. */
void retire_named(struct ingest *ingest, const char *name, uint32_t except);
/* For a session that has ended: if its run was to appear as a whole, the run gets its name, and the sessions of the run
 * that it replaces are told. STORE_E_EXISTS: another session made a run of this name meanwhile. */
int retire_replaced(struct ingest *ingest, const struct session *session, struct portolan_error *error);
/* For a session that ends before its run is whole: removes the run, which has no name yet; the session becomes
 * SESSION_REMOVED. */
int retire_unfinished(struct ingest *ingest, struct session *session, struct portolan_error *error);

/* take_over.c: from the store into the table. */

/* Adds a session of the store to the table, live. */
int take_over_session(struct ingest *ingest, uint32_t number, uint32_t session_number, const char *name, int64_t now,
                      struct session **session, struct portolan_error *error);
/* At start-up: adds the store's runs with their live sessions. A run that cannot be read takes no sessions. */
int take_over_runs(struct ingest *ingest, struct portolan_error *error);

/* commit.c: the end of a transaction, well or badly. */

/* Is the pending transaction lost after this code (see store/write.h)? Other codes concern one call only. */
bool commit_is_lost(int code);
/* The store has failed: takes back everything since the last commit, withdraws all credit, tells the clients concerned
 * to keep and repeat their frames, and logs it once per outage. The store is tried again after INGEST_RETRY_MS.
 * Sessions that the pending transaction created are gone afterwards. */
void commit_failed(struct ingest *ingest, const struct portolan_error *error, int64_t now);
/* As commit_failed(), after a call that concerned one run. If the run's records are damaged (STORE_E_CORRUPT), or gone
 * (STORE_E_NO_RUN), only recording into this run ends. `wrote`: the failed call had begun to write, so the transaction
 * is given up, and its frames are asked for again. `run` NULL: not known. */
void commit_failed_for(struct ingest *ingest, struct run *run, bool wrote, const struct portolan_error *error,
                       int64_t now);
/* Ends a session in the store and in memory (CLOSED or GONE), and its run with the last one. Fails only with codes for
 * which commit_is_lost(). */
int commit_end_of(struct ingest *ingest, struct session *session, enum session_state state,
                  struct portolan_error *error);
/* Sends an error after the commit and before the ack; does not send it if the commit fails. STORE_E_MEMORY is its only
 * failure. */
int commit_then_complain(struct ingest *ingest, struct session *session, enum wire_error_code code, uint64_t sequence,
                         struct portolan_error *message);
void commit_forget_complaints(struct ingest *ingest);

/* reply.c: answers to clients. */

/* What a client is told that wants to record into a damaged run; takes the run's name. */
#define REPLY_DAMAGED                                                                                                  \
	"run '%s' is damaged on disk: remove it, restore the store from a backup, or portolan salvage what can be read"

void reply_ack(struct ingest *ingest, struct session *session);
/* Says that a `remove` was done. Its sender need not have a session in the table. */
void reply_ack_remove(struct ingest *ingest, const struct peer *peer, const uint8_t session[WIRE_SESSION_SIZE]);
void reply_opened(struct ingest *ingest, struct session *session, enum store_id_kind id_kind);
/* Sends an ack to every live session, as its credit has changed. */
void reply_ack_all(struct ingest *ingest);
/* Sends an ack to clients that have more credit than their share is now. It does so only when there are more than 1.5
 * times as many parties as when the largest credit was given; until then, clients go on with what they have. */
void reply_less_credit(struct ingest *ingest);
/* Sends the error that says why the session is SESSION_REMOVED. */
void reply_removed(struct ingest *ingest, const struct peer *peer, const struct session *session);
/* Sends the error `unavailable`, as another session records into the run. */
void reply_held(struct ingest *ingest, const struct peer *peer, const uint8_t session[WIRE_SESSION_SIZE],
                const char *message);
/* Refuses to overwrite or remove a run, as only the store's own user may. The error says how to prove that one is, and
 * what else can be done. */
void reply_not_owner(struct ingest *ingest, const struct peer *peer, const uint8_t session[WIRE_SESSION_SIZE],
                     struct wire_bytes run);
/* Refuses what the limits of the sender's key do not allow, and says in the log who tried it. The answer depends on the
 * limits alone, and not on what the store holds. */
void reply_beyond_prefix(struct ingest *ingest, const struct sender *sender, const uint8_t session[WIRE_SESSION_SIZE],
                         struct wire_bytes run, int64_t now);
/* … a session that records into a run which the key may not record; `run` is what the client calls it. */
void reply_beyond_session(struct ingest *ingest, const struct sender *sender, const uint8_t session[WIRE_SESSION_SIZE],
                          struct wire_bytes run, int64_t now);
/* … overwriting, or (`removes`) removing a run. */
void reply_keeps_runs(struct ingest *ingest, const struct sender *sender, const uint8_t session[WIRE_SESSION_SIZE],
                      struct wire_bytes run, bool removes, int64_t now);
__attribute__((format(printf, 6, 7))) void reply_error(struct ingest *ingest, const struct peer *peer,
                                                       const uint8_t session[WIRE_SESSION_SIZE],
                                                       enum wire_error_code code, uint64_t sequence, const char *format,
                                                       ...);

#endif

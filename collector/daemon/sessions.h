/*
 * sessions.h: the table of the sessions (a client's connections to one run) and of their runs, for the thread that
 * writes the store (the storer). It says which epochs all sessions of a run have ended, so that their rows can go from
 * the log into the store's columns (a fold). The table is in memory only; ingest.c keeps it in step with the store.
 *
 * A session stays in the table while it is live, and for one timeout after it closed or its run was removed, so that a
 * repeated frame gets the right answer. A run is in the table while it has a session there or a fold may be due.
 *
 * Times are milliseconds of a monotonic clock. Not thread-safe: it belongs to the storer.
 */
#ifndef COLLECTOR_SESSIONS_H
#define COLLECTOR_SESSIONS_H

#include "connections.h"

#include <portolan/store.h>
#include <portolan/wire.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSIONS_MAX 65536              /* most sessions in the table; further ones are refused for now */
#define SESSIONS_NO_FRONTIER UINT64_MAX /* no session holds an epoch open */

enum session_state {
	SESSION_LIVE = 1,
	SESSION_CLOSED,  /* ended by its client */
	SESSION_GONE,    /* silent for too long; leaves the table at the next commit */
	SESSION_REMOVED, /* its run was removed; the session is no longer in the store */
};

/* Replies that are due after the commit. */
enum session_owed { OWES_NOTHING = 0, OWES_OPENED = 1, OWES_ACK = 2, OWES_REMOVED = 4 };

/* The part of a session that a commit makes durable and an abort takes back. */
struct session_mark {
	uint64_t sequence; /* highest number taken; 0: none */
	uint64_t frontier; /* the session has ended the epochs below it */
	enum session_state state;
};

struct session {
	struct table_node node;
	uint8_t id[WIRE_SESSION_SIZE];
	struct run *run;
	uint32_t number;               /* its number in the run, as in the store */
	struct connection *connection; /* by which it last sent something; NULL: not known */
	int64_t heard;
	struct session_mark now, stored;
	uint64_t tried;        /* highest number ever taken, even if its commit failed */
	uint64_t content;      /* a hash of what its `open` said; 0: not known */
	uint64_t launch, turn; /* of its last `open`: a hash of the group (0: none, or not known); its turn (wire.h) */
	uint32_t rank;
	uint32_t superseded;        /* 1 + the number of a session that began to record later; 0: none */
	bool late;                  /* it brings a spool: what was recorded earlier */
	bool began;                 /* it has sent a batch since it came into the table */
	uint64_t replaced, refused; /* as of the last commit */
	uint64_t credit;            /* bytes, as its client was last told */
	struct store_client client; /* the counts that its client sent */
	bool client_news;           /* `client` is not stored yet */
	bool whole;                 /* its run gets its name only when the session closes */
	bool fresh;                 /* created by the pending transaction */
	/* Until a frame fits, or the session opens again: */
	bool gap;      /* a frame is missing; of later ones only pings are told so */
	bool doubt;    /* a frame may have been lost for lack of memory; pings are told so */
	unsigned owes; /* of enum session_owed */
	bool changed;  /* it is in sessions.changed */
	struct session *next_changed, *next_in_run, **link_in_run; /* `link` points to the pointer to this session */
};

/* The number of a run's live sessions that have this frontier. */
struct frontier {
	uint64_t epoch;
	size_t sessions;
};

/* A range of epochs, [from, to); empty: from ≥ to. */
struct epochs {
	uint64_t from, to;
};

struct run {
	uint32_t number;
	bool fresh; /* created by the pending transaction: after an abort another run may get its number */
	bool removed;
	bool unfoldable; /* a fold found damage: the run is not folded until the next start */
	bool damaged;    /* its records cannot be read: it takes no sessions; stays in the table until it is removed */
	char name[256];
	int64_t heard;                  /* when one of its sessions last sent something */
	int64_t contested;              /* since when a session asks to overwrite it while it is live; 0: none does */
	uint64_t frontier;              /* the least frontier of its live sessions: epochs below it are closed */
	struct epochs due;              /* epochs closed (again): their patches are to be folded */
	struct epochs touched;          /* epochs in which a fold may have become due */
	struct store_counters counters; /* counts since the last commit that stored them */
	uint64_t counted;               /* number of the last commit that stored them */
	struct session *sessions;
	size_t session_count;
	size_t live_count;          /* sessions of the run that are live */
	struct frontier *frontiers; /* frontiers of the live ones, ascending */
	size_t first, frontier_count, room;
	struct run *next, **link;
	struct table_node numbered, named;
};

struct sessions {
	struct connections connections;      /* connections through which sessions last sent something */
	struct table by_id, numbered, named; /* `numbered` and `named` hold the same runs */
	size_t count, live;
	size_t parties; /* connections with live sessions, and live sessions of no connection */
	struct run *runs;
	struct session *changed; /* sessions changed by the pending transaction */
};

/* The number of sessions that this much memory allows, counting what each takes on both threads. Pure. */
size_t sessions_most(size_t max_memory);

int sessions_init(struct sessions *sessions); /* 0, or PORTOLAN_E_MEMORY */
void sessions_deinit(struct sessions *sessions);

struct session *sessions_find(const struct sessions *sessions, const uint8_t id[WIRE_SESSION_SIZE]);
/* Adds a live session with nothing received yet, which must not be in the table. NULL: no memory, or SESSIONS_MAX. */
struct session *sessions_add(struct sessions *sessions, const uint8_t id[WIRE_SESSION_SIZE], struct run *run);
void sessions_remove(struct sessions *sessions, struct session *session);

/* Who last sent something for the session; size 0: not known. Valid until the session's peer changes, or it leaves. */
const struct peer *sessions_peer(const struct session *session);
/* Notes that the session now sends through this connection. */
void sessions_set_peer(struct sessions *sessions, struct session *session, const struct peer *peer);

struct run *sessions_find_run(const struct sessions *sessions, uint32_t number);
/* The next run of this name after `run` (NULL: the first one), or NULL. There may be several: a removed run can still
 * be in the table beside another.
 */
struct run *sessions_next_named(const struct sessions *sessions, const char *name, const struct run *run);
/* The run of this name that a session records into; NULL: there is none. */
struct run *sessions_live_named(const struct sessions *sessions, const char *name);
/* Finds the run or adds it, not `fresh`; `name` is NUL-terminated. NULL: out of memory. */
struct run *sessions_add_run(struct sessions *sessions, uint32_t number, const char *name);
void sessions_remove_run(struct sessions *sessions, struct run *run); /* it must have no sessions */

bool run_is_live(const struct run *run);
/* A run that is to appear as a whole has one session, and gets its name when that closes. */
bool run_is_unnamed(const struct run *run);

/* Does the session record for this launch of a job, as another rank than this? */
bool session_goes_with(const struct session *session, uint64_t launch, uint32_t rank);

/* Notes that the session, and so its run, has sent something. */
void session_hear(struct session *session, int64_t now);

/* Adds the session to those that the next commit or abort handles; it is then owed this reply. */
void sessions_change(struct sessions *sessions, struct session *session, enum session_owed owed);
/* Takes the first session out of sessions.changed, and returns it; NULL: there is none. */
struct session *sessions_take_changed(struct sessions *sessions);

/* All changes of state and frontier in session->now go through these two, which keep the counts and the run's frontier
 * right. */
void sessions_set_state(struct sessions *sessions, struct session *session, enum session_state state);
void sessions_set_frontier(struct session *session, uint64_t frontier);

/* Epochs [from, to) were ended (again): their log is to be folded. */
void run_make_due(struct run *run, uint64_t from, uint64_t to);
/* Something came for epochs [from, to) that may have to be folded. */
void run_touch(struct run *run, uint64_t from, uint64_t to);
bool run_is_touched(const struct run *run);

#endif

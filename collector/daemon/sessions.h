/*
 * sessions.h: who is recording into which run, and which epochs that closes. In memory only; ingest.c keeps it in step
 * with the store.
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

#define SESSIONS_MAX 65536              /* sessions in the table; more are refused for the time being */
#define SESSIONS_NO_FRONTIER UINT64_MAX /* nobody holds an epoch open */

enum session_state {
	SESSION_LIVE = 1,
	SESSION_CLOSED,  /* ended by its client */
	SESSION_GONE,    /* not heard of for too long; leaves the table at the next commit */
	SESSION_REMOVED, /* its run was removed; the session is no longer in the store */
};

/* Replies that are due after the commit. */
enum session_owed { OWES_NOTHING = 0, OWES_OPENED = 1, OWES_ACK = 2, OWES_REMOVED = 4 };

/* What a commit makes lasting and an abort takes back. */
struct session_mark {
	uint64_t sequence; /* highest taken; 0: none */
	uint64_t frontier; /* epochs below it are ended for this session */
	enum session_state state;
};

struct session {
	struct table_node node;
	uint8_t id[WIRE_SESSION_SIZE];
	struct run *run;
	uint32_t number; /* in the run, as the store counts */
	struct peer peer;
	struct connection *connection; /* of the peer; NULL: not known */
	int64_t heard;
	struct session_mark now, stored;
	uint64_t content;           /* a hash of what its `open` said; 0: not known */
	uint64_t replaced, refused; /* as of the last commit */
	struct store_client client; /* what it told of itself */
	bool client_news;           /* not yet stored */
	bool whole;                 /* its run has no name until it closes */
	bool fresh;                 /* created by the transaction that is pending */
	bool gap;                   /* told that frames are missing; not again until one fits */
	unsigned owes;              /* of enum session_owed */
	bool changed;               /* is in sessions.changed */
	struct session *next_changed, *next_in_run, **link_in_run; /* the link is what points to it */
};

/* How many live sessions of a run have this frontier. */
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
	bool fresh; /* created by the transaction that is pending: an abort gives the number to another run */
	bool removed;
	bool unfoldable; /* a fold found damage; left alone until the next start */
	bool damaged;    /* its records cannot be read: it takes no sessions; stays in the table until it is removed */
	char name[256];
	int64_t heard;                  /* the last time that one of its sessions was heard of */
	int64_t contested;              /* since when somebody wants to overwrite it while it is live; 0: nobody does */
	uint64_t frontier;              /* the least of its live sessions: epochs below it are closed */
	struct epochs due;              /* closed (again): patches to them are to be folded */
	struct epochs touched;          /* where something happened that may make a fold due */
	struct store_counters counters; /* since the last commit that stored them */
	uint64_t counted;               /* the commit (by number) that stored them last */
	struct session *sessions;
	size_t session_count;
	size_t live_count;          /* of these, live */
	struct frontier *frontiers; /* of those that are live, ascending */
	size_t first, frontier_count, room;
	struct run *next, **link;
	struct table_node numbered, named;
};

struct sessions {
	struct connections connections;      /* that a session was last heard of through */
	struct table by_id, numbered, named; /* the last two: the same runs, by number and by name */
	size_t count, live;
	size_t parties; /* connections with live sessions, and live sessions of no connection */
	struct run *runs;
	struct session *changed; /* touched by the pending transaction */
};

/* How many sessions there may be in this much memory, by what each takes on both threads. Pure. */
size_t sessions_most(size_t max_memory);

int sessions_init(struct sessions *sessions); /* 0, or PORTOLAN_E_MEMORY */
void sessions_deinit(struct sessions *sessions);

struct session *sessions_find(const struct sessions *sessions, const uint8_t id[WIRE_SESSION_SIZE]);
/* A live session with nothing received yet, which must not be in the table. NULL: no memory, or SESSIONS_MAX. */
struct session *sessions_add(struct sessions *sessions, const uint8_t id[WIRE_SESSION_SIZE], struct run *run);
void sessions_remove(struct sessions *sessions, struct session *session);

/* The session has come through this connection. */
void sessions_set_peer(struct sessions *sessions, struct session *session, const struct peer *peer);

struct run *sessions_find_run(const struct sessions *sessions, uint32_t number);
/* The run of this name after `run` (NULL: the first), or NULL: one that was removed may still be there beside another.
 */
struct run *sessions_next_named(const struct sessions *sessions, const char *name, const struct run *run);
/* Finds the run or adds it, not `fresh`; `name` is NUL-terminated. NULL: out of memory. */
struct run *sessions_add_run(struct sessions *sessions, uint32_t number, const char *name);
void sessions_remove_run(struct sessions *sessions, struct run *run); /* it has no sessions */

bool run_is_live(const struct run *run);
/* One that is to be whole has one session, and its name from when that closes. */
bool run_is_unnamed(const struct run *run);

/* The session, and so its run, has been heard of. */
void session_hear(struct session *session, int64_t now);

/* Puts the session among those the next commit, or abort, will look at; it is owed that reply then. */
void sessions_change(struct sessions *sessions, struct session *session, enum session_owed owed);
/* Takes the first of them, or NULL. */
struct session *sessions_take_changed(struct sessions *sessions);

/* All changes of session->now go through these two, which keep the counts and the run's frontier. */
void sessions_set_state(struct sessions *sessions, struct session *session, enum session_state state);
void sessions_set_frontier(struct session *session, uint64_t frontier);

/* Epochs [from, to) were ended (again): what the log holds of them is to be folded. */
void run_make_due(struct run *run, uint64_t from, uint64_t to);
/* Something came for them that may have to be folded. */
void run_touch(struct run *run, uint64_t from, uint64_t to);
bool run_is_touched(const struct run *run);

#endif

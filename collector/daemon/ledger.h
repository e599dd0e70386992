/*
 * ledger.h: the book that the receiver (server.c) keeps: which sessions are open, and how many bytes of each are in the
 * queue to the storer (storer.c). By it the receiver drops what a client sends beyond its credit, the bytes that it was
 * allowed to send ahead, and answers pings without asking the storer.
 *
 * It holds the sessions that the storer has answered with `opened`, each with the connection that it was opened on. A
 * session leaves when the storer, which ends silent sessions, answers that it does not know it; or after
 * LEDGER_SILENT_MS of silence. The ledger has no more places than the storer: for a new session, the one that was
 * silent for longest leaves.
 *
 * Credit: a session may have as many bytes of frames queued as the largest credit it had in this and the last period of
 * LEDGER_FORMER_MS, since its client may not know yet that it has less. When none of its frames is queued, one may
 * always be.
 *
 * All credits together can be more than the queue holds: a client may not know yet that there are more connections than
 * when its credit was given. So most of the queue is shared out to the connections that have sessions, in equal parts,
 * each larger than the connection's present credit. The bytes that connections queue beyond their parts have a common
 * bound, and so have `open` frames. Each session also has a place for one ping, which is counted with the session
 * (sessions_most()). So every ping that finds its place free reaches the storer, however full the queue is.
 *
 * Times are milliseconds of a monotonic clock. Not thread-safe: it belongs to the receiver.
 */
#ifndef COLLECTOR_LEDGER_H
#define COLLECTOR_LEDGER_H

#include "connections.h"

#define LEDGER_FORMER_MS 5000
#define LEDGER_AHEAD_MS 10 /* a client that has sent ahead counts as doing so for so long */
#define LEDGER_SILENT_MS (2 * WIRE_SESSION_TIMEOUT_MS)

struct member {
	struct table_node node;
	struct member *earlier, *later; /* neighbours in the list by time */
	uint8_t id[WIRE_SESSION_SIZE];
	struct connection *connection;
	int64_t heard;
	uint64_t queued;       /* bytes of its frames that are queued */
	int64_t ahead;         /* when it last sent ahead: while an earlier frame was queued; 0: never */
	uint64_t credit;       /* the last that its client was given */
	uint64_t most, former; /* the largest credit of this period, and of the one before it */
	int64_t period;        /* when this period began */
	struct wire_ack ack;   /* the numbers of the last answer, which a commit has stored */
	bool over;             /* a frame was dropped: all that follow are dropped too, until the session opens again */
	bool pinged;           /* a ping is queued */
};

struct ledger {
	struct table members;
	struct connections connections;
	struct member *earliest, *latest; /* in the order in which they were heard */
	size_t count, most;               /* members, and how many there may be */
	size_t room;                      /* bytes that may be queued, pings excepted */
	size_t queued;                    /* bytes that are queued */
	size_t opens;                     /* of queued: bytes of `open` frames */
	size_t beyond; /* of queued: bytes by which connections exceed their equal part of the queue */
};

int ledger_init(struct ledger *ledger, size_t room, size_t most); /* 0, or PORTOLAN_E_MEMORY */
void ledger_deinit(struct ledger *ledger);

struct member *ledger_find(const struct ledger *ledger, const uint8_t session[WIRE_SESSION_SIZE]);

/* Notes that something came from the member. */
void ledger_hear(struct ledger *ledger, struct member *member, int64_t now);

/* Takes note of a reply of the storer that is about to be sent. */
void ledger_take_reply(struct ledger *ledger, const struct reply *reply, int64_t now);

/* May the arrival be queued? If so, it is counted, and marked if it was sent ahead. `member`: its session's; NULL for
 * an `open` or `remove`. */
bool ledger_queue(struct ledger *ledger, struct member *member, struct arrival *arrival, int64_t now);
/* The storer has finished the arrival: it counts no longer. */
void ledger_unqueue(struct ledger *ledger, const struct arrival *arrival);

/* Removes the members that have been silent for LEDGER_SILENT_MS. */
void ledger_forget_silent(struct ledger *ledger, int64_t now);

#endif

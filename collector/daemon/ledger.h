/*
 * ledger.h: what the receiver knows of each session and of the queue to the storer, so that it can enforce credit and
 * answer a ping without asking the storer.
 *
 * It holds the sessions the storer has answered with `opened`, each under the connection it was opened on. A session
 * leaves when the storer, which ends the silent ones, says that it does not know it; or after LEDGER_SILENT_MS, when it
 * never asks again. There are no more than the storer may know: the one that was silent for longest leaves for a new
 * one.
 *
 * Credit: the frames of a session that are queued may be as many bytes as it was told last, or as it was told before
 * within LEDGER_FORMER_MS, since it may not know of the change yet; one frame may always be queued when there is none.
 *
 * What all of them may queue by this is more than there is room for: credit was told when there were fewer. Most of the
 * queue is shared out to the connections that have sessions, in equal parts, each more than the credit there is for it
 * now; what connections queue beyond their parts is bounded for all together, and so are `open` frames. Each session
 * has a place for one ping besides, which is counted with the session (sessions_most()): so the storer hears of
 * everybody who pings, however full the queue is.
 *
 * Times are milliseconds of a monotonic clock. Not thread-safe: it belongs to the receiver.
 */
#ifndef COLLECTOR_LEDGER_H
#define COLLECTOR_LEDGER_H

#include "connections.h"

#define LEDGER_FORMER_MS 5000
#define LEDGER_SILENT_MS (2 * WIRE_SESSION_TIMEOUT_MS)

struct member {
	struct table_node node;
	struct member *earlier, *later; /* heard of before it, and after it */
	uint8_t id[WIRE_SESSION_SIZE];
	struct connection *connection;
	int64_t heard;
	uint64_t queued;         /* bytes of its frames that are queued */
	uint64_t credit, former; /* told last; and before that, allowed until: */
	int64_t former_until;
	struct wire_ack ack; /* the last numbers that were sent: of a commit */
	bool over;           /* a frame was dropped: so are all that follow, until it opens again */
	bool pinged;         /* a ping is queued */
};

struct ledger {
	struct table members;
	struct connections connections;
	struct member *earliest, *latest; /* by when they were heard of */
	size_t count, most;               /* members */
	size_t room;                      /* bytes that may be queued, without pings; */
	size_t queued;                    /* those that are */
	size_t opens, beyond;             /* of these: in `open` frames; beyond the part of their connection */
};

int ledger_init(struct ledger *ledger, size_t room, size_t most); /* 0, or PORTOLAN_E_MEMORY */
void ledger_deinit(struct ledger *ledger);

struct member *ledger_find(const struct ledger *ledger, const uint8_t session[WIRE_SESSION_SIZE]);

/* Something came from it. */
void ledger_hear(struct ledger *ledger, struct member *member, int64_t now);

/* A reply of the storer is about to be sent: takes what it says of the session. */
void ledger_take_reply(struct ledger *ledger, const struct reply *reply, int64_t now);

/* Whether the arrival may be queued; if so, it is counted. `member`: its session's; NULL for an `open` or `remove`. */
bool ledger_queue(struct ledger *ledger, struct member *member, struct arrival *arrival, int64_t now);
/* The storer is done with it. */
void ledger_unqueue(struct ledger *ledger, const struct arrival *arrival);

/* Removes the members that have been silent for LEDGER_SILENT_MS. */
void ledger_forget_silent(struct ledger *ledger, int64_t now);

#endif

/*
 * ledger.h: what the receiver knows of each session, so that it can enforce credit and answer a ping without asking the
 * storer.
 *
 * It holds the sessions the storer has answered with `opened`, each under the connection it was opened on. A session
 * leaves when the storer, which ends the silent ones, says that it does not know it; or after LEDGER_SILENT_MS, when it
 * never asks again.
 *
 * Credit: the frames of a session that are queued may be as many bytes as it was told last, or as it was told before
 * within LEDGER_FORMER_MS, since it may not know of the change yet; one frame may always be queued when there is none.
 *
 * Times are milliseconds of a monotonic clock. Not thread-safe: it belongs to the receiver.
 */
#ifndef COLLECTOR_LEDGER_H
#define COLLECTOR_LEDGER_H

#include "arrival.h"
#include "table.h"

#define LEDGER_FORMER_MS 5000
#define LEDGER_SILENT_MS (2 * WIRE_SESSION_TIMEOUT_MS)

struct member {
	struct table_node node;
	uint8_t id[WIRE_SESSION_SIZE];
	struct peer peer;
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
	size_t count;
};

int ledger_init(struct ledger *ledger); /* 0, or PORTOLAN_E_MEMORY */
void ledger_deinit(struct ledger *ledger);

struct member *ledger_find(const struct ledger *ledger, const uint8_t session[WIRE_SESSION_SIZE]);
void ledger_remove(struct ledger *ledger, struct member *member);

/* A reply of the storer is about to be sent: takes what it says of the session. */
void ledger_take_reply(struct ledger *ledger, const struct reply *reply, int64_t now);

/* Whether a frame of so many bytes is within the session's credit; if so, it is counted as queued. */
bool ledger_charge(struct member *member, size_t bytes, int64_t now);
/* The storer is done with what arrived. */
void ledger_settle(struct ledger *ledger, const struct arrival *arrival);

/* Removes the members that have been silent for LEDGER_SILENT_MS. */
void ledger_forget_silent(struct ledger *ledger, int64_t now);

#endif

/*
 * ledger.c: counts for the receiver how many bytes of each session and connection wait for the storer, and says whether
 * more may be queued.
 */
#include "ledger.h"

#include <portolan/portolan.h>

#include <stdlib.h>

/* Shares of the queue. All credit together is 4/8 of it. The parts of the connections are 5/8, as a frame takes more
 * room in the queue than its bytes. */
#define PARTS_OF(room) ((room) / 8 * 5)
#define BEYOND_OF(room) ((room) / 8 * 2)
#define OPENS_OF(room) ((room) / 8)

int
ledger_init(struct ledger *ledger, size_t room, size_t most)
{
	*ledger = (struct ledger){.room = room, .most = most};
	return table_init(&ledger->members) < 0 || connections_init(&ledger->connections) < 0 ? PORTOLAN_E_MEMORY : 0;
}

struct member *
ledger_find(const struct ledger *ledger, const uint8_t session[WIRE_SESSION_SIZE])
{
	return TABLE_ITEM(table_find(&ledger->members, session, WIRE_SESSION_SIZE), struct member, node);
}

/* Takes the member out of the list by time. */
static void
ledger_unlink(struct ledger *ledger, const struct member *member)
{
	*(member->earlier ? &member->earlier->later : &ledger->earliest) = member->later;
	*(member->later ? &member->later->earlier : &ledger->latest) = member->earlier;
}

static void
ledger_link_last(struct ledger *ledger, struct member *member)
{
	member->earlier = ledger->latest;
	member->later = NULL;
	*(ledger->latest ? &ledger->latest->later : &ledger->earliest) = member;
	ledger->latest = member;
}

void
ledger_hear(struct ledger *ledger, struct member *member, int64_t now)
{
	member->heard = now;
	ledger_unlink(ledger, member);
	ledger_link_last(ledger, member);
}

static void
ledger_remove_member(struct ledger *ledger, struct member *member)
{
	ledger_unlink(ledger, member);
	connections_leave(&ledger->connections, member->connection);
	table_remove(&ledger->members, &member->node);
	ledger->count--;
	free(member);
}

void
ledger_forget_silent(struct ledger *ledger, int64_t now)
{
	while (ledger->earliest && now - ledger->earliest->heard > LEDGER_SILENT_MS)
		ledger_remove_member(ledger, ledger->earliest);
}

void
ledger_deinit(struct ledger *ledger)
{
	ledger_forget_silent(ledger, INT64_MAX);
	table_deinit(&ledger->members);
	connections_deinit(&ledger->connections);
}

/* Adds a member. NULL: out of memory. The session then gets `no-session` for what it sends, and opens again. */
static struct member *
ledger_add_member(struct ledger *ledger, const uint8_t session[WIRE_SESSION_SIZE])
{
	struct member *member;

	if (ledger->count == ledger->most)
		ledger_remove_member(ledger, ledger->earliest);
	member = calloc(1, sizeof(*member));
	if (!member)
		return NULL;
	memcpy(member->id, session, WIRE_SESSION_SIZE);
	table_add(&ledger->members, &member->node, member->id, WIRE_SESSION_SIZE);
	ledger_link_last(ledger, member);
	ledger->count++;
	return member;
}

/* Begins a new period once the last one is over. If whole periods have passed since, the credit was the same in all of
 * them, as a change would have begun a period. */
static void
ledger_begin_period(struct member *member, int64_t now)
{
	const int64_t passed = now - member->period;

	if (passed < LEDGER_FORMER_MS)
		return;
	member->former = passed < 2 * LEDGER_FORMER_MS ? member->most : member->credit;
	member->most = member->credit;
	member->period = now;
}

/* The bytes that may be queued now: the largest credit of this period and of the one before it. */
static uint64_t
ledger_allowed_now(struct member *member, int64_t now)
{
	ledger_begin_period(member, now);
	return member->former > member->most ? member->former : member->most;
}

static void
ledger_set_credit(struct member *member, uint64_t credit, int64_t now)
{
	ledger_begin_period(member, now);
	member->credit = credit;
	if (credit > member->most)
		member->most = credit;
}

static void
ledger_take_opened(struct ledger *ledger, const struct reply *reply, int64_t now)
{
	struct member *member = ledger_find(ledger, reply->session);
	struct connection *connection = NULL;

	if (!member)
		member = ledger_add_member(ledger, reply->session);
	if (!member)
		return;
	connection = connections_enter(&ledger->connections, &reply->peer);
	if (!connection) {
		ledger_remove_member(ledger, member);
		return;
	}
	/* What is still queued of another connection is dropped by the storer, and counts for nobody. */
	if (member->connection != connection)
		member->queued = 0;
	connections_leave(&ledger->connections, member->connection);
	member->connection = connection;
	member->over = false;
	ledger_hear(ledger, member, now);
	member->ack.acknowledged = reply->ack.acknowledged;
	ledger_set_credit(member, reply->ack.credit, now);
}

void
ledger_take_reply(struct ledger *ledger, const struct reply *reply, int64_t now)
{
	struct member *member;

	if (reply->kind == WIRE_OPENED) {
		ledger_take_opened(ledger, reply, now);
		return;
	}
	member = ledger_find(ledger, reply->session);
	if (!member || !peer_is_same(&member->connection->peer, &reply->peer))
		return;
	if (reply->kind == WIRE_ACK) {
		member->ack = reply->ack;
		ledger_set_credit(member, reply->ack.credit, now);
	} else if (reply->kind == WIRE_ERROR && reply->code == WIRE_E_NO_SESSION) {
		ledger_remove_member(ledger, member);
	}
}

static size_t
ledger_size_of(const struct arrival *arrival)
{
	return arrival->size + ARRIVAL_BYTES + (arrival->limits ? sizeof(*arrival->limits) : 0);
}

/* Tells observations whose client sends on without waiting for acknowledgements from those of one that may wait. */
static void
ledger_mark_ahead(struct member *member, struct arrival *arrival, int64_t now)
{
	if (arrival->head.kind != WIRE_BATCH)
		return;
	if (member->queued > 0)
		member->ahead = now;
	arrival->is_ahead = member->ahead > 0 && now - member->ahead < LEDGER_AHEAD_MS;
}

/* Takes room in the queue for a numbered frame of the session. False: there is no room, and the frame may not be
 * queued. */
static bool
ledger_reserve_room(struct ledger *ledger, struct member *member, struct arrival *arrival, int64_t now)
{
	const uint64_t allowed = ledger_allowed_now(member, now), sum = member->queued + arrival->size;
	const size_t size = ledger_size_of(arrival), part = PARTS_OF(ledger->room) / ledger->connections.count;
	const size_t together = member->connection->queued + size;

	if (allowed == 0 || (member->queued > 0 && sum > allowed))
		return false;
	if (together > part)
		arrival->beyond = together - part < size ? together - part : size;
	if (ledger->beyond + arrival->beyond > BEYOND_OF(ledger->room))
		return false;
	ledger->beyond += arrival->beyond;
	ledger_mark_ahead(member, arrival, now);
	member->queued = sum;
	member->connection->queued = together;
	return true;
}

bool
ledger_queue(struct ledger *ledger, struct member *member, struct arrival *arrival, int64_t now)
{
	const size_t size = ledger_size_of(arrival);

	if (arrival->head.kind == WIRE_PING) {
		if (member->pinged)
			return false;
		member->pinged = true;
		return true;
	}
	if (ledger->queued + size > ledger->room)
		return false;
	if (!member) {
		if (ledger->opens + size > OPENS_OF(ledger->room))
			return false;
		ledger->opens += size;
	} else if (!ledger_reserve_room(ledger, member, arrival, now)) {
		return false;
	}
	ledger->queued += size;
	return true;
}

void
ledger_unqueue(struct ledger *ledger, const struct arrival *arrival)
{
	const enum wire_kind kind = arrival->head.kind;
	const size_t size = ledger_size_of(arrival);
	struct member *member = ledger_find(ledger, arrival->head.session);
	struct connection *connection = connections_find(&ledger->connections, &arrival->peer);

	if (kind == WIRE_PING) {
		if (member)
			member->pinged = false;
		return;
	}
	ledger->queued -= size;
	ledger->beyond -= arrival->beyond;
	if (kind == WIRE_OPEN || kind == WIRE_REMOVE) {
		ledger->opens -= size;
	} else { /* session and connection may have gone and come again meanwhile */
		if (member && member->connection == connection)
			member->queued -= arrival->size < member->queued ? arrival->size : member->queued;
		if (connection)
			connection->queued -= size < connection->queued ? size : connection->queued;
	}
}

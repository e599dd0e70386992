/* ledger.c: see ledger.h. */
#include "ledger.h"

#include <portolan/portolan.h>

#include <stdlib.h>

int
ledger_init(struct ledger *ledger)
{
	*ledger = (struct ledger){0};
	return table_init(&ledger->members);
}

static struct member *
member_of(struct table_node *node)
{
	return node ? TABLE_ITEM(node, struct member, node) : NULL;
}

void
ledger_deinit(struct ledger *ledger)
{
	struct table_node *node;

	while (ledger->members.buckets && (node = table_each(&ledger->members, NULL)))
		ledger_remove(ledger, member_of(node));
	table_deinit(&ledger->members);
}

struct member *
ledger_find(const struct ledger *ledger, const uint8_t session[WIRE_SESSION_SIZE])
{
	struct table_node *node = NULL;

	while ((node = table_find(&ledger->members, session, WIRE_SESSION_SIZE, node)))
		if (memcmp(member_of(node)->id, session, WIRE_SESSION_SIZE) == 0)
			return member_of(node);
	return NULL;
}

void
ledger_remove(struct ledger *ledger, struct member *member)
{
	table_remove(&ledger->members, &member->node);
	ledger->count--;
	free(member);
}

/* NULL: out of memory. The session then gets `no-session` for what it sends, and opens again. */
static struct member *
add(struct ledger *ledger, const uint8_t session[WIRE_SESSION_SIZE])
{
	struct member *member = calloc(1, sizeof(*member));

	if (!member)
		return NULL;
	memcpy(member->id, session, WIRE_SESSION_SIZE);
	table_add(&ledger->members, &member->node, member->id, WIRE_SESSION_SIZE);
	ledger->count++;
	return member;
}

/* What may be queued now: see ledger.h. */
static uint64_t
allowed_now(const struct member *member, int64_t now)
{
	return now < member->former_until && member->former > member->credit ? member->former : member->credit;
}

static void
set_credit(struct member *member, uint64_t credit, int64_t now)
{
	if (credit < member->credit && member->credit == allowed_now(member, now)) {
		member->former = member->credit;
		member->former_until = now + LEDGER_FORMER_MS;
	}
	member->credit = credit;
}

static void
take_opened(struct ledger *ledger, const struct reply *reply, int64_t now)
{
	struct member *member = ledger_find(ledger, reply->session);

	if (!member)
		member = add(ledger, reply->session);
	if (!member)
		return;
	member->peer = reply->peer;
	member->heard = now;
	member->over = false;
	member->ack.acknowledged = reply->ack.acknowledged;
	set_credit(member, reply->ack.credit, now);
}

void
ledger_take_reply(struct ledger *ledger, const struct reply *reply, int64_t now)
{
	struct member *member;

	if (reply->kind == WIRE_OPENED) {
		take_opened(ledger, reply, now);
		return;
	}
	member = ledger_find(ledger, reply->session);
	if (!member || !peer_is_same(&member->peer, &reply->peer))
		return;
	if (reply->kind == WIRE_ACK) {
		member->ack = reply->ack;
		set_credit(member, reply->ack.credit, now);
	} else if (reply->kind == WIRE_ERROR && reply->code == WIRE_E_NO_SESSION) {
		ledger_remove(ledger, member);
	}
}

bool
ledger_charge(struct member *member, size_t bytes, int64_t now)
{
	const uint64_t allowed = allowed_now(member, now);

	if (allowed == 0 || (member->queued > 0 && member->queued + bytes > allowed))
		return false;
	member->queued += bytes;
	return true;
}

void
ledger_settle(struct ledger *ledger, const struct arrival *arrival)
{
	struct member *member = ledger_find(ledger, arrival->head.session);

	if (!member || arrival->head.kind == WIRE_OPEN)
		return;
	if (arrival->head.kind == WIRE_PING)
		member->pinged = false;
	else
		member->queued -= arrival->size < member->queued ? arrival->size : member->queued;
}

void
ledger_forget_silent(struct ledger *ledger, int64_t now)
{
	struct table_node *node = table_each(&ledger->members, NULL), *next;

	for (; node; node = next) {
		next = table_each(&ledger->members, node);
		if (now - member_of(node)->heard > LEDGER_SILENT_MS)
			ledger_remove(ledger, member_of(node));
	}
}

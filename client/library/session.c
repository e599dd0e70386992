/*
 * session.c: the client's side of the protocol with the collector (WIRE.md), for the I/O thread: opens a session, and
 * opens it again after every loss of contact.
 *
 * The backlog knows the frames, and which of them are under way (sent since the last `opened`). Every loss of contact
 * (silence, `no-session`, a gap) leads to the same state, SESSION_OPENING. The answer to its `open` says where to
 * continue, so replies to older frames are ignored in this state.
 */
#include "session.h"

#include "owner.h"

#include <portolan/error.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char session_no_texts[] =
        "the collector is of an earlier version, and keeps no texts: use portoland of this release, "
        "or give the commands --data FILE";

/* Encodes the `open` frame, with what is known by now: the store's id and the last acknowledged number. The session of
 * a left-over file never asks to overwrite a run. */
static int
session_offer_open(struct session *session, struct wire_bytes *bytes)
{
	struct wire_frame frame;
	int status = wire_decode(session->decoder, session->open, session->open_size, &frame, NULL, NULL);

	if (status < 0)
		return status;
	frame.open.late = session->offline || session->backlog.is_left_over;
	frame.open.after = session->backlog.acknowledged;
	frame.open.overwrite &= !session->backlog.is_left_over;
	frame.open.store = session->has_store ? session->store : NULL;
	frame.open.owner = session->proves && frame.open.overwrite ? session->owner : NULL;
	frame.open.turn = session->turn;
	session->offered = WIRE_OPEN;
	return wire_encode(session->encoder, &frame, bytes, NULL);
}

int
session_init(struct session *session, struct wire_bytes open, int64_t now, struct portolan_error *error)
{
	struct wire_frame frame;
	int status;

	*session = (struct session){.state = SESSION_OPENING,
	                            .encoder = wire_encoder_new(),
	                            .decoder = wire_decoder_new(),
	                            .open = malloc(open.size),
	                            .open_size = open.size,
	                            .last_heard = now,
	                            .last_sent = now,
	                            .turn = 1};
	if (!session->encoder || !session->decoder || !session->open) {
		session_deinit(session);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	memcpy(session->open, open.data, open.size);
	status = wire_decode(session->decoder, session->open, open.size, &frame, NULL, error);
	if (status == 0 && frame.kind != WIRE_OPEN)
		status = error_set(error, PORTOLAN_E_INVALID, "a session begins with an open frame, and not with this");
	if (status == 0 && open.size > WIRE_MAX_FRAME - SESSION_OPEN_GROWS)
		status = error_set(error, PORTOLAN_E_INVALID, "the open frame has %zu bytes; the limit is %u",
		                   open.size, WIRE_MAX_FRAME - SESSION_OPEN_GROWS);
	if (status == 0)
		memcpy(session->id, frame.session, WIRE_SESSION_SIZE);
	else
		session_deinit(session);
	return status;
}

int
session_init_left_over(struct session *session, struct spool *spool, int64_t now, struct portolan_error *error)
{
	int status = session_init(session, (struct wire_bytes){spool->open, spool->open_size}, now, error);

	if (status < 0)
		return status;
	if (spool->has_store)
		session_set_store(session, spool->store);
	session->backlog = (struct backlog){.spool = spool,
	                                    .acknowledged = spool->first - 1,
	                                    .loaded = spool->first - 1,
	                                    .sequence = UINT64_MAX,
	                                    .spooled = UINT64_MAX,
	                                    .spooling = true,
	                                    .is_left_over = true};
	return 0;
}

void
session_deinit(struct session *session)
{
	struct backlog *backlog = &session->backlog;

	while ((backlog->last = backlog->first)) {
		backlog->first = backlog->last->following;
		session_take_back(NULL, backlog->last);
	}
	while ((backlog->next = backlog->lent)) {
		backlog->lent = backlog->next->following;
		session_take_back(NULL, backlog->next);
	}
	spool_close(backlog->spool);
	backlog->spool = NULL;
	free(session->open);
	session->open = NULL;
	wire_encoder_free(session->encoder);
	session->encoder = NULL;
	wire_decoder_free(session->decoder);
	session->decoder = NULL;
}

void
session_set_store(struct session *session, const uint8_t store[WIRE_STORE_SIZE])
{
	memcpy(session->store, store, WIRE_STORE_SIZE);
	session->has_store = true;
}

int
session_go_offline(struct session *session, struct portolan_error *error)
{
	int status;

	assert(session->opened_count == 0);
	status = session_spill(session, error);
	session->offline = status == 0;
	return status;
}

/* The rule of credit (the bytes that the collector allows to be under way): a frame must fit into the credit that is
 * left, or be the only one under way. */
static bool
session_may_be_under_way(const struct session *session, size_t bytes)
{
	uint64_t under_way = session->backlog.under_way_bytes;

	if (under_way == 0)
		return session->credit > 0;
	return under_way <= session->credit && bytes <= session->credit - under_way;
}

bool
session_has_room(const struct session *session, size_t bytes)
{
	return session->state == SESSION_OPEN && !session->backlog.spooling && !session->backlog.next &&
	       !session->backlog.has_close && session->backlog.kept_bytes + bytes <= SESSION_MAX_KEPT &&
	       session_may_be_under_way(session, bytes);
}

static void
session_fail(struct session *session, const char *why)
{
	session->state = session->offline && session->opened_count == 0 ? SESSION_ALONE : SESSION_FAILED;
	error_set(&session->failure, PORTOLAN_E_REFUSED, "%s", why);
}

static bool
session_has_ended(const struct session *session)
{
	return session->state == SESSION_CLOSED || session->state == SESSION_FAILED || session->state == SESSION_ALONE;
}

/* A turn begins: `open` is to be sent, and only an answer to an `open` of this turn counts. When the collector takes
 * that `open`, it has taken all frames sent before. So after the answer both sides know that none is under way. */
static void
session_begin_turn(struct session *session, int64_t due)
{
	session->turn += session->state == SESSION_OPEN;
	session->state = SESSION_OPENING;
	session->open_due = due;
}

void
session_lost(struct session *session)
{
	if (!session_has_ended(session))
		session_begin_turn(session, 0);
}

/* Does the collector acknowledge a frame that was never sent? The session then fails. Not asked of a left-over file:
 * the process that left it may have sent more frames than the file has. */
static bool
session_is_beyond(struct session *session, uint64_t acknowledged)
{
	if (session->backlog.is_left_over || acknowledged <= session->sent)
		return false;
	session_fail(session, "the collector acknowledges a frame that was never sent");
	return true;
}

/* Does the answer come from another store than the session's? The session then fails. Its store is the one that answers
 * first; the spool file gets that store's id. */
static bool
session_is_elsewhere(struct session *session, const uint8_t *store)
{
	struct spool *spool = session->backlog.spool;

	if (!store)
		return false;
	if (session->has_store && memcmp(session->store, store, WIRE_STORE_SIZE) != 0) {
		session->refusal = WIRE_E_OTHER_STORE;
		session_fail(
		        session,
		        "the collector serves another store than the one of this session (which was removed, or is "
		        "elsewhere)");
		return true;
	}
	session_set_store(session, store);
	if (spool && !spool->has_store)
		(void)spool_set_store(spool, store, NULL); /* if this fails, the file still has its target */
	return false;
}

static void
session_receive_opened(struct session *session, const struct wire_opened *opened)
{
	if (session_is_elsewhere(session, opened->store) || session_is_beyond(session, opened->acknowledged))
		return;
	/* Acknowledged frames are no longer kept here. So a store that has lost some can never have the session without
	 * a gap. */
	if (opened->acknowledged < session->backlog.acknowledged) {
		session_fail(session,
		             "the collector's store no longer has what it had acknowledged (removed, or restored "
		             "from a copy); "
		             "open a new run");
		return;
	}
	session_settle(session, opened->acknowledged);
	session->credit = opened->credit;
	session->id_kind = opened->id_kind;
	session->takes_texts = opened->texts;
	/* Two answers must not make the session send everything once more: a second one, to a repeated `open`; and a
	 * late one, to an `open` that was sent before frames that may still be under way. */
	if (session->state != SESSION_OPENING || (opened->turn && opened->turn != session->turn))
		return;
	session->state = SESSION_OPEN;
	if (session->opened_count++ == 0)
		session->complaint.code = 0;            /* it was why the session could not open, and is over */
	session->backlog.next = session->backlog.first; /* no frame is under way any more */
	session->backlog.under_way_bytes = 0;
}

static void
session_receive_ack(struct session *session, const struct wire_ack *ack)
{
	if (session_is_beyond(session, ack->acknowledged))
		return;
	session->credit = ack->credit;
	session->replaced = ack->replaced;
	session->refused = ack->refused;
	session_settle(session, ack->acknowledged);
}

/* Finds the store's secret in the file that the collector names. False: this user can read no secret for this endpoint
 * there, or the session has sent it before. */
static bool
session_find_secret(struct session *session, struct wire_bytes path)
{
	uint8_t secret[WIRE_OWNER_SIZE];
	char name[WIRE_MAX_PATH + 1];

	snprintf(name, sizeof(name), "%.*s", (int)path.size, (const char *)path.data);
	if (!session->target || !owner_read(name, session->target, secret) ||
	    (session->proves && memcmp(session->owner, secret, sizeof(secret)) == 0))
		return false;
	memcpy(session->owner, secret, sizeof(secret));
	session->proves = true;
	return true;
}

static void
session_receive_error(struct session *session, const struct wire_error *reply, int64_t now)
{
	char message[sizeof(session->failure.message)];

	snprintf(message, sizeof(message), "%.*s", (int)reply->message.size, (const char *)reply->message.data);
	switch (reply->code) {
	case WIRE_E_NO_SESSION:
	case WIRE_E_SEQUENCE:
	case WIRE_E_OVER_CREDIT:
		if (session->state == SESSION_OPEN)
			session_lost(session);
		break;
	case WIRE_E_REFUSED: /* the collector has counted these rows as refused, and will acknowledge the frame */
		error_set(&session->complaint, PORTOLAN_E_ROWS, "%s", message);
		break;
	case WIRE_E_UNAVAILABLE:
		error_set(&session->complaint, reply->held ? PORTOLAN_E_REFUSED : PORTOLAN_E_NO_COLLECTOR, "%s",
		          message);
		session_begin_turn(session, now + SESSION_PAUSE_MS);
		break;
	case WIRE_E_OWNER:
		if (session->state == SESSION_OPENING && session_find_secret(session, reply->path)) {
			session->open_due = now;
			break;
		}
		/* fall through */
	default:
		session->refusal = reply->code;
		session_fail(session, message[0] ? message : "the collector gave no reason");
		break;
	}
}

void
session_receive(struct session *session, const void *data, size_t size, int64_t now)
{
	struct wire_frame frame;
	enum wire_error_code code;
	struct portolan_error error;

	if (session_has_ended(session))
		return;
	if (wire_decode(session->decoder, data, size, &frame, &code, &error) < 0) {
		if (code == WIRE_E_VERSION) {
			session->refusal = code;
			session_fail(session, error.message);
		}
		return;
	}
	if (!wire_answers(&frame, session->id))
		return;
	session->last_heard = now;
	if (frame.kind == WIRE_OPENED)
		session_receive_opened(session, &frame.opened);
	else if (frame.kind == WIRE_ACK)
		session_receive_ack(session, &frame.ack);
	else if (frame.kind == WIRE_ERROR)
		session_receive_error(session, &frame.error, now);
}

/* Gives out another frame under the number of one with texts: an earlier collector would take texts for a fault, and end
 * the session. The end of epoch 0 does no harm: what comes of this epoch later is taken as well. A left-over file stays
 * instead, with its texts, until a collector takes them. */
static bool
session_offer_instead(struct session *session, const struct backlog_frame *texts, struct wire_bytes *bytes)
{
	struct wire_frame end = {.kind = WIRE_END_EPOCH, .sequence = texts->record.sequence};

	if (session->backlog.is_left_over) {
		session_fail(session, session_no_texts);
		return false;
	}
	memcpy(end.session, session->id, WIRE_SESSION_SIZE);
	session->texts_are_lost = true;
	session->offered = WIRE_END_EPOCH;
	return wire_encode(session->encoder, &end, bytes, NULL) == 0;
}

bool
session_next(struct session *session, int64_t now, struct wire_bytes *frame)
{
	struct wire_frame ping = {.kind = WIRE_PING, .ping = {.counts = session->counts}};
	struct backlog_frame *next;

	backlog_free_settled(&session->backlog);
	/* The collector answers each ping, and an idle client sends pings. So silence always means that contact is
	 * lost. */
	if (session->state == SESSION_OPEN && now - session->last_heard >= SESSION_CONTACT_MS)
		session_lost(session);
	if (session->state == SESSION_OPENING && now >= session->open_due)
		return session_offer_open(session, frame) == 0;
	if (session->state != SESSION_OPEN)
		return false;
	session_load(session);
	if (session->state != SESSION_OPEN)
		return false;
	next = session->backlog.next;
	if (next && session_may_be_under_way(session, next->size)) {
		if (next->record.kind == WIRE_EXAMPLES && !session->takes_texts)
			return session_offer_instead(session, next, frame);
		session->offered = next->record.kind;
		*frame = (struct wire_bytes){next->data, next->size};
		return true;
	}
	if (now - session->last_sent < WIRE_PING_MS)
		return false;
	memcpy(ping.session, session->id, WIRE_SESSION_SIZE);
	session->offered = WIRE_PING;
	return wire_encode(session->encoder, &ping, frame, NULL) == 0;
}

void
session_sent(struct session *session, int64_t now)
{
	struct backlog *backlog = &session->backlog;

	session->last_sent = now;
	if (session->offered == WIRE_OPEN) {
		session->open_due = now + SESSION_OPEN_RETRY_MS;
	} else if (session->offered != WIRE_PING) {
		if (session->sent < backlog->next->record.sequence)
			session->sent = backlog->next->record.sequence;
		backlog->under_way_bytes += backlog->next->size;
		backlog->next = backlog->next->following;
	}
}

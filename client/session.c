/*
 * session.c: the rules of WIRE.md, from the client's side.
 *
 * Invariants: kept frames have consecutive numbers acknowledged+1 … sequence; those before `next` are under way on
 * this opening of the session, and under_way_bytes counts them. Every way of losing contact (silence, `no-session`,
 * a gap) ends in the same state, SESSION_OPENING, whose answer tells where to go on; replies to
 * older frames that still come in are therefore ignored there.
 */
#include "session.h"

#include <portolan/error.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct session_frame {
	struct session_frame *following;
	uint64_t sequence;
	struct session_mark mark;
	enum wire_kind kind;
	size_t size;
	uint8_t data[];
};

static int
encode_open(struct session *session, const struct wire_open *request, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_OPEN, .open = *request};
	struct wire_bytes bytes;
	int status;

	memcpy(frame.session, session->id, WIRE_SESSION_SIZE);
	status = wire_encode(session->encoder, &frame, &bytes, error);
	if (status < 0)
		return status;
	session->open = malloc(bytes.size);
	if (!session->open)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a session");
	memcpy(session->open, bytes.data, bytes.size);
	session->open_size = bytes.size;
	return 0;
}

int
session_init(struct session *session, const uint8_t id[WIRE_SESSION_SIZE], const struct wire_open *request, int64_t now,
             struct portolan_error *error)
{
	int status = 0;

	*session = (struct session){.state = SESSION_OPENING, .last_heard = now, .last_sent = now};
	memcpy(session->id, id, WIRE_SESSION_SIZE);
	session->encoder = wire_encoder_new();
	session->decoder = wire_decoder_new();
	if (!session->encoder || !session->decoder)
		status = error_set(error, PORTOLAN_E_MEMORY, "out of memory for a session");
	if (status == 0)
		status = encode_open(session, request, error);
	if (status < 0)
		session_deinit(session);
	return status;
}

void
session_deinit(struct session *session)
{
	while (session->first) {
		struct session_frame *frame = session->first;

		session->first = frame->following;
		free(frame);
	}
	session->last = session->next = NULL;
	free(session->open);
	session->open = NULL;
	wire_encoder_free(session->encoder);
	session->encoder = NULL;
	wire_decoder_free(session->decoder);
	session->decoder = NULL;
}

/* The one rule of credit: a frame fits into it, or travels alone. */
static bool
may_be_under_way(const struct session *session, size_t bytes)
{
	if (session->under_way_bytes == 0)
		return session->credit > 0;
	return session->under_way_bytes <= session->credit && bytes <= session->credit - session->under_way_bytes;
}

bool
session_has_room(const struct session *session, size_t bytes)
{
	return session->state == SESSION_OPEN && !session->next && !session->closing &&
	       session->kept_bytes + bytes <= SESSION_MAX_KEPT && may_be_under_way(session, bytes);
}

static int
add_frame(struct session *session, struct wire_frame *frame, struct session_mark mark, struct portolan_error *error)
{
	struct session_frame *kept;
	struct wire_bytes bytes;
	int status;

	assert(!session->closing);
	memcpy(frame->session, session->id, WIRE_SESSION_SIZE);
	status = wire_encode(session->encoder, frame, &bytes, error);
	if (status < 0)
		return status;
	kept = malloc(sizeof(*kept) + bytes.size);
	if (!kept)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a frame of %zu bytes", bytes.size);
	*kept = (struct session_frame){
	        .sequence = session->sequence + 1, .mark = mark, .kind = frame->kind, .size = bytes.size};
	memcpy(kept->data, bytes.data, bytes.size);
	if (session->last)
		session->last->following = kept;
	else
		session->first = kept;
	session->last = kept;
	if (!session->next)
		session->next = kept;
	session->sequence++;
	session->kept_bytes += kept->size;
	return 0;
}

int
session_add_batch(struct session *session, const struct wire_batch *batch, struct session_mark mark,
                  struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_BATCH, .batch = *batch};

	frame.batch.sequence = session->sequence + 1;
	return add_frame(session, &frame, mark, error);
}

int
session_add_end_epoch(struct session *session, uint32_t epoch, struct session_mark mark, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_END_EPOCH,
	                           .end_epoch = {.sequence = session->sequence + 1, .epoch = epoch}};

	return add_frame(session, &frame, mark, error);
}

int
session_add_close(struct session *session, struct session_mark mark, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_CLOSE,
	                           .close = {.sequence = session->sequence + 1, .counts = session->counts}};
	int status = add_frame(session, &frame, mark, error);

	if (status == 0)
		session->closing = true;
	return status;
}

static void
fail(struct session *session, int code, const char *what, struct wire_bytes message)
{
	session->state = SESSION_FAILED;
	error_set(&session->failure, code, "%s%.*s", what, (int)message.size, (const char *)message.data);
}

static void
open_again(struct session *session)
{
	session->state = SESSION_OPENING;
	session->open_is_out = false;
}

/* Everything up to `acknowledged` is on disk: gives up those frames. */
static void
settle(struct session *session, uint64_t acknowledged)
{
	while (session->first && session->first->sequence <= acknowledged) {
		struct session_frame *frame = session->first;

		if (session->next && session->next->sequence <= frame->sequence)
			session->next = frame->following; /* repeated for nothing: it had arrived before */
		else
			session->under_way_bytes -= frame->size;
		session->kept_bytes -= frame->size;
		session->settled_position = frame->mark.position;
		session->settled_observations += frame->mark.observations;
		session->acknowledged = frame->sequence;
		if (frame->kind == WIRE_CLOSE)
			session->state = SESSION_CLOSED;
		session->first = frame->following;
		if (!session->first)
			session->last = NULL;
		free(frame);
	}
}

static void
receive_opened(struct session *session, const struct wire_opened *opened)
{
	static const struct wire_bytes none = {(const uint8_t *)"", 0};

	if (opened->acknowledged > session->sequence) {
		fail(session, PORTOLAN_E_REFUSED, "the collector acknowledges what was never sent", none);
		return;
	}
	/* What was acknowledged is gone from here: a store that has lost it can never get a sequence without a gap. */
	if (opened->acknowledged < session->acknowledged) {
		fail(session, PORTOLAN_E_REFUSED,
		     "the collector's store no longer has what it had acknowledged (removed, or restored from a copy); "
		     "open a new run",
		     none);
		return;
	}
	settle(session, opened->acknowledged);
	session->credit = opened->credit;
	session->id_kind = opened->id_kind;
	/* A second answer, to an `open` that was repeated, is no reason to send everything once more. */
	if (session->state != SESSION_OPENING)
		return;
	session->state = SESSION_OPEN;
	session->opened_count++;
	session->next = session->first;
	session->under_way_bytes = 0;
}

static void
receive_ack(struct session *session, const struct wire_ack *ack)
{
	session->credit = ack->credit;
	session->replaced = ack->replaced;
	session->refused = ack->refused;
	settle(session, ack->acknowledged);
}

static void
complain(struct session *session, int code, struct wire_bytes message)
{
	error_set(&session->complaint, code, "%.*s", (int)message.size, (const char *)message.data);
}

static void
receive_error(struct session *session, const struct wire_error *reply, int64_t now)
{
	switch (reply->code) {
	case WIRE_E_NO_SESSION:
	case WIRE_E_SEQUENCE:
		if (session->state == SESSION_OPEN)
			open_again(session);
		break;
	case WIRE_E_REFUSED: /* counted by the collector; the number is used up and will be acknowledged */
		complain(session, PORTOLAN_E_ROWS, reply->message);
		break;
	case WIRE_E_UNAVAILABLE:
		complain(session, PORTOLAN_E_NO_COLLECTOR, reply->message);
		session->state = SESSION_PAUSED;
		session->paused_until = now + SESSION_PAUSE_MS;
		break;
	default:
		fail(session, PORTOLAN_E_REFUSED, "", reply->message);
		break;
	}
}

static bool
is_ours(const struct session *session, const struct wire_frame *frame)
{
	static const uint8_t nobody[WIRE_SESSION_SIZE];

	return memcmp(frame->session, session->id, WIRE_SESSION_SIZE) == 0 ||
	       (frame->kind == WIRE_ERROR && memcmp(frame->session, nobody, WIRE_SESSION_SIZE) == 0);
}

void
session_receive(struct session *session, const void *data, size_t size, int64_t now)
{
	struct wire_frame frame;
	enum wire_error_code code;
	struct portolan_error error;

	if (session->state == SESSION_CLOSED || session->state == SESSION_FAILED)
		return;
	if (wire_decode(session->decoder, data, size, &frame, &code, &error) < 0) {
		if (code == WIRE_E_VERSION)
			fail(session, PORTOLAN_E_REFUSED, error.message, (struct wire_bytes){(const uint8_t *)"", 0});
		return;
	}
	if (!is_ours(session, &frame))
		return;
	session->last_heard = now;
	if (frame.kind == WIRE_OPENED)
		receive_opened(session, &frame.opened);
	else if (frame.kind == WIRE_ACK)
		receive_ack(session, &frame.ack);
	else if (frame.kind == WIRE_ERROR)
		receive_error(session, &frame.error, now);
}

void
session_lost(struct session *session)
{
	if (session->state != SESSION_CLOSED && session->state != SESSION_FAILED)
		open_again(session);
}

static void
pass_time(struct session *session, int64_t now)
{
	if (session->state == SESSION_PAUSED && now >= session->paused_until)
		open_again(session);
	/* Whoever is silent is pinged, and pings are answered: so silence always means that contact is lost. */
	if (session->state == SESSION_OPEN && now - session->last_heard >= SESSION_CONTACT_MS)
		open_again(session);
	if (session->state == SESSION_OPENING && session->open_is_out &&
	    now - session->open_sent >= SESSION_OPEN_RETRY_MS)
		session->open_is_out = false;
}

static bool
offer_ping(struct session *session, struct wire_bytes *bytes)
{
	struct wire_frame frame = {.kind = WIRE_PING, .ping = {.counts = session->counts}};

	memcpy(frame.session, session->id, WIRE_SESSION_SIZE);
	session->offered = WIRE_PING;
	return wire_encode(session->encoder, &frame, bytes, NULL) == 0;
}

bool
session_next(struct session *session, int64_t now, struct wire_bytes *frame)
{
	pass_time(session, now);
	if (session->state == SESSION_OPENING && !session->open_is_out) {
		session->offered = WIRE_OPEN;
		*frame = (struct wire_bytes){session->open, session->open_size};
		return true;
	}
	if (session->state != SESSION_OPEN)
		return false;
	if (session->next && may_be_under_way(session, session->next->size)) {
		session->offered = session->next->kind;
		*frame = (struct wire_bytes){session->next->data, session->next->size};
		return true;
	}
	return now - session->last_sent >= WIRE_PING_MS && offer_ping(session, frame);
}

void
session_sent(struct session *session, int64_t now)
{
	session->last_sent = now;
	if (session->offered == WIRE_OPEN) {
		session->open_is_out = true;
		session->open_sent = now;
	} else if (session->offered != WIRE_PING) {
		session->under_way_bytes += session->next->size;
		session->next = session->next->following;
	}
}

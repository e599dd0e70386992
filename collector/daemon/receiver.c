/* receiver.c: takes the messages of clients (receiver.h). It never touches the store and never waits for the disk. A
 * ping is answered here while the storer is busy, with the numbers of the last commit. */
#include "receiver.h"

#include <portolan/error.h>

#include <string.h>

#define BUSY_MS 500 /* when the storer's round takes longer, pings are answered here */

static void
receiver_send_frame(struct receiver *receiver, const struct peer *peer, const struct wire_frame *frame)
{
	struct wire_bytes bytes;

	if (wire_encode(receiver->encoder, frame, &bytes, NULL) == 0)
		sockets_send(receiver->sockets, peer, bytes.data, bytes.size);
}

static void
receiver_send_error(struct receiver *receiver, const struct arrival *arrival, enum wire_error_code code,
                    const char *message)
{
	struct wire_frame frame = {.kind = WIRE_ERROR,
	                           .error = {.code = code,
	                                     .sequence = arrival->head.sequence,
	                                     .message = {(const uint8_t *)message, strlen(message)}}};

	memcpy(frame.session, arrival->head.session, WIRE_SESSION_SIZE);
	receiver_send_frame(receiver, &arrival->peer, &frame);
}

/* Answers a message that has no valid head. */
static void
receiver_refuse_unreadable(struct receiver *receiver, struct arrival *arrival, int64_t now)
{
	struct portolan_error error = {.message = "a message is one part that holds one frame"};
	enum wire_error_code code = WIRE_E_MALFORMED;
	struct wire_frame frame;

	if (arrival->data && wire_decode(receiver->decoder, arrival->data, arrival->size, &frame, &code, &error) == 0)
		error_set(&error, PORTOLAN_E_INVALID, "a frame begins with \"v\", \"t\" and \"s\"");
	arrival->head = (struct wire_head){0};
	receiver->exchange->unreadable++;
	receiver_send_error(receiver, arrival, code, error.message);
	throttle_log(&receiver->malformed, 1, now, "a message from %s cannot be read: %s", arrival->address,
	             error.message);
}

/* The functions below return true if the storer gets the message. */

/* Answers an `open` or `remove` of a client whose key was taken off the list, or barred there, since it connected. */
static bool
receiver_refuse_key(struct receiver *receiver, const struct arrival *arrival, int64_t now)
{
	receiver_send_error(receiver, arrival, WIRE_E_RIGHTS,
	                    "the key of this client is no longer let in here; ask who runs the collector");
	throttle_log(&receiver->removed, 1, now,
	             "refused a session to %s, whose key is not in %s/clients any more, or barred there: public %s",
	             arrival->address, receiver->keys, arrival->peer.key);
	return false;
}

static bool
receiver_take_open(struct receiver *receiver, struct arrival *arrival, int64_t now)
{
	enum sockets_standing standing;

	if (receiver->leaving)
		return false;
	standing = sockets_find_limits(receiver->sockets, arrival);
	if (standing == SOCKETS_MAY_NOT)
		return receiver_refuse_key(receiver, arrival, now);
	if (standing == SOCKETS_LATER) {
		receiver_send_error(receiver, arrival, WIRE_E_UNAVAILABLE,
		                    "the collector cannot read its keys now; try again");
		throttle_log(&receiver->unread, 1, now, "a client has to wait until the list of keys can be read: %s",
		             sockets_trouble(receiver->sockets));
		return false;
	}
	if (ledger_queue(receiver->ledger, NULL, arrival, now))
		return true;
	receiver_send_error(receiver, arrival, WIRE_E_UNAVAILABLE,
	                    "too many clients open a session at once; try again");
	return false;
}

static bool
receiver_drop_excess_frame(struct receiver *receiver, const struct arrival *arrival, struct member *member, int64_t now)
{
	if (!member->over)
		receiver_send_error(receiver, arrival, WIRE_E_OVER_CREDIT,
		                    "the frame is beyond the session's credit and was dropped: open again, and repeat");
	member->over = true;
	receiver->exchange->dropped++;
	throttle_log(&receiver->dropped, 1, now, "a frame from %s was beyond the credit of its session, and dropped",
	             arrival->address);
	return false;
}

/* Answers a ping with the numbers of the last commit: so nothing is acknowledged that is not stored. */
static void
receiver_answer_ping(struct receiver *receiver, const struct arrival *arrival, const struct member *member)
{
	struct wire_frame frame = {.kind = WIRE_ACK, .ack = member->ack};

	frame.ack.credit = member->credit;
	memcpy(frame.session, member->id, WIRE_SESSION_SIZE);
	receiver_send_frame(receiver, &arrival->peer, &frame);
}

static bool
receiver_take_ping(struct receiver *receiver, struct arrival *arrival, struct member *member, int64_t now)
{
	bool is_queued = ledger_queue(receiver->ledger, member, arrival, now);

	if (member->over)
		receiver_send_error(receiver, arrival, WIRE_E_OVER_CREDIT,
		                    "a frame was dropped: open again, and repeat");
	else if (!is_queued || (receiver->busy_since && now - receiver->busy_since > BUSY_MS))
		receiver_answer_ping(receiver, arrival, member);
	return is_queued;
}

static bool
receiver_take_of_session(struct receiver *receiver, struct arrival *arrival, int64_t now)
{
	struct member *member = ledger_find(receiver->ledger, arrival->head.session);

	if (!member || !peer_is_same(&member->connection->peer, &arrival->peer)) {
		receiver_send_error(receiver, arrival, WIRE_E_NO_SESSION,
		                    "the session is not live here; open it again");
		return false;
	}
	ledger_hear(receiver->ledger, member, now);
	if (arrival->head.kind == WIRE_PING)
		return receiver_take_ping(receiver, arrival, member, now);
	if (member->over || !ledger_queue(receiver->ledger, member, arrival, now))
		return receiver_drop_excess_frame(receiver, arrival, member, now);
	return true;
}

bool
receiver_take(struct receiver *receiver, struct arrival *arrival, int64_t now)
{
	if (!arrival->data || !wire_peek(arrival->data, arrival->size, &arrival->head)) {
		receiver_refuse_unreadable(receiver, arrival, now);
		return false;
	}
	switch (arrival->head.kind) {
	case WIRE_OPEN:
	case WIRE_REMOVE:
		return receiver_take_open(receiver, arrival, now);
	case WIRE_BATCH:
	case WIRE_EXAMPLES:
	case WIRE_END_EPOCH:
	case WIRE_CLOSE:
	case WIRE_PING:
		return receiver_take_of_session(receiver, arrival, now);
	default:
		receiver_send_error(receiver, arrival, WIRE_E_MALFORMED, "only a collector sends frames of this kind");
		return false;
	}
}

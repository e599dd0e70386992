/*
 * channel.c: a client of the wire that waits for its answers.
 *
 * The channel sends within its credit, and waits for answers when that is used up. Once a session has begun, the
 * channel repeats nothing: if the collector goes away, or cannot store a frame, the session fails and the caller
 * reports it. Before that it repeats `open`: a collector that is ending does not answer it. Then either the store is
 * free, and a new collector is started, or another process starts one.
 */
#include "channel.h"

#include "interruption.h"
#include "serving.h"

#include <endpoint.h>
#include <portolan/error.h>
#include <portolan/store.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <zmq.h>

#define OPEN_MS 1000 /* an `open` without an answer is repeated after so long */
#define PAUSE_NS 5000000
#define SILENCE_MS 30000 /* a collector that has not answered for so long is given up */

struct channel {
	const char *store;
	struct interruption interruption;
	struct serving serving;
	struct endpoint endpoint;
	void *context, *dealer;
	wire_encoder *encoder;
	wire_decoder *decoder;
	uint8_t session[WIRE_SESSION_SIZE];
	uint64_t sent;       /* the last sequence number sent */
	uint64_t underway;   /* bytes sent; they count until all are acknowledged */
	struct wire_ack ack; /* the last reply */
	int silence;         /* ms waited since the last answer */
	bool begun;          /* the session's first frame was answered */
	bool closing;
	bool done; /* every request was answered: the collector may take its time to end */
};

/* Takes and returns the signal that came; 0: none. */
static int
channel_unblock_signals(struct channel *channel)
{
	const struct timespec at_once = {0};
	int arrived = 0, next;

	while ((next = sigtimedwait(&channel->interruption.signals, NULL, &at_once)) > 0)
		arrived = next;
	pthread_sigmask(SIG_SETMASK, &channel->interruption.before, NULL);
	return arrived;
}

static bool
channel_store_exists(const char *store)
{
	struct stat status;
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/data.mdb", store);

	return length > 0 && (size_t)length < sizeof(path) && stat(path, &status) == 0;
}

static void
channel_disconnect(struct channel *channel)
{
	if (channel->dealer)
		zmq_close(channel->dealer);
	channel->dealer = NULL;
	endpoint_close(&channel->endpoint);
}

static int
channel_connect_dealer(struct channel *channel, struct portolan_error *error)
{
	int linger = 0, timeout = SILENCE_MS, result;

	channel_disconnect(channel);
	result = endpoint_open(channel->store, &channel->endpoint, error);
	if (result < 0)
		return result;
	channel->dealer = zmq_socket(channel->context, ZMQ_DEALER);
	if (!channel->dealer || zmq_setsockopt(channel->dealer, ZMQ_LINGER, &linger, sizeof(linger)) ||
	    zmq_setsockopt(channel->dealer, ZMQ_SNDTIMEO, &timeout, sizeof(timeout)) ||
	    zmq_connect(channel->dealer, channel->endpoint.text))
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot connect to %s: %s", channel->endpoint.text,
		                 zmq_strerror(zmq_errno()));
	return 0;
}

int
channel_open(const char *store, bool create, struct channel **channel, struct portolan_error *error)
{
	struct channel *opened;
	int result;

	if (!create && !channel_store_exists(store))
		return error_set(error, STORE_E_NO_STORE, "there is no store at %s; give its directory with --store",
		                 store);
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	*opened = (struct channel){.store = store, .endpoint.directory = -1};
	interruption_block(&opened->interruption); /* before libzmq makes threads */
	opened->encoder = wire_encoder_new();
	opened->decoder = wire_decoder_new();
	opened->context = zmq_ctx_new();
	if (!opened->encoder || !opened->decoder || !opened->context)
		result = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	else if ((result = serving_begin(&opened->serving, store, error)) >= 0)
		result = channel_connect_dealer(opened, error);
	if (result < 0)
		channel_close(opened);
	else
		*channel = opened;
	return result;
}

int
channel_close(struct channel *channel)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int arrived;

	if (!channel)
		return 0;
	channel_disconnect(channel);
	/* An interrupted call leaves libzmq's threads behind. */
	while (channel->context && zmq_ctx_term(channel->context) < 0 && zmq_errno() == EINTR)
		;
	while (!serving_has_left(&channel->serving)) {
		if (!channel->done || interruption_came(&channel->interruption))
			serving_stop(&channel->serving);
		nanosleep(&pause, NULL);
	}
	wire_encoder_free(channel->encoder);
	wire_decoder_free(channel->decoder);
	arrived = channel_unblock_signals(channel);
	free(channel);
	return arrived;
}

static int
channel_take_answer(struct channel *channel, const struct wire_frame *frame, struct portolan_error *error)
{
	if (!wire_answers(frame, channel->session))
		return 0;
	channel->silence = 0;
	switch (frame->kind) {
	case WIRE_OPENED: /* a second `opened`, if `open` was repeated: nothing was sent before the first one */
		if (!channel->begun)
			channel->sent = frame->opened.acknowledged;
		channel->ack.acknowledged = frame->opened.acknowledged;
		channel->ack.credit = frame->opened.credit;
		break;
	case WIRE_ACK:
		channel->ack = frame->ack;
		break;
	case WIRE_ERROR:
		return error_set(error, frame->error.code == WIRE_E_NO_RUN ? STORE_E_NO_RUN : PORTOLAN_E_REFUSED,
		                 "%.*s", (int)frame->error.message.size, (const char *)frame->error.message.data);
	default:
		return 0;
	}
	channel->begun = true;
	if (channel->ack.acknowledged >= channel->sent)
		channel->underway = 0;
	return 0;
}

/* Takes all answers that have come; waits for the first for at most `timeout_ms`. */
static int
channel_receive(struct channel *channel, int timeout_ms, struct portolan_error *error)
{
	zmq_pollitem_t item = {.socket = channel->dealer, .events = ZMQ_POLLIN};
	struct wire_frame frame;
	zmq_msg_t message;
	int result = 0;

	if (zmq_poll(&item, 1, timeout_ms) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot wait for the collector: %s",
		                 zmq_strerror(zmq_errno()));
	zmq_msg_init(&message);
	while (result == 0 && zmq_msg_recv(&message, channel->dealer, ZMQ_DONTWAIT) >= 0) {
		result = wire_decode(channel->decoder, zmq_msg_data(&message), zmq_msg_size(&message), &frame, NULL,
		                     error)
		                 ?: channel_take_answer(channel, &frame, error);
	}
	zmq_msg_close(&message);
	return result;
}

static int
channel_put(struct channel *channel, struct wire_frame *frame, struct portolan_error *error)
{
	struct wire_bytes bytes;
	int result;

	memcpy(frame->session, channel->session, WIRE_SESSION_SIZE);
	result = wire_encode(channel->encoder, frame, &bytes, error);
	if (result < 0 || zmq_send(channel->dealer, bytes.data, bytes.size, 0) >= 0)
		return result;
	return error_set(error, PORTOLAN_E_NO_COLLECTOR, "cannot send to the collector of this store: %s",
	                 zmq_strerror(zmq_errno()));
}

/* Repeats the first frame, which had no answer; to another collector, if the one that got it has ended. While that one
 * lives, `remove` is not repeated: the run might be removed already, and would not be found. */
static int
channel_begin_again(struct channel *channel, struct wire_frame *first, struct portolan_error *error)
{
	int result = serving_begin(&channel->serving, channel->store, error);

	if (result == 0 && first->kind == WIRE_REMOVE)
		return 0;
	if (result > 0)
		result = channel_connect_dealer(channel, error);
	return result < 0 ? result : channel_put(channel, first, error);
}

/* Receives once. After a while without answers it sends a ping, or, if the session has not begun, `first` again. */
static int
channel_wait_once(struct channel *channel, struct wire_frame *first, struct portolan_error *error)
{
	struct wire_frame ping = {.kind = WIRE_PING};
	int timeout = channel->begun ? WIRE_PING_MS : OPEN_MS, result;

	if (!channel->closing && interruption_came(&channel->interruption))
		return error_set(error, PORTOLAN_E_SYSTEM, "interrupted");
	channel->silence += timeout;
	result = channel_receive(channel, timeout, error);
	if (result < 0 || channel->silence == 0)
		return result;
	if (channel->silence >= SILENCE_MS)
		return error_set(
		        error, PORTOLAN_E_TIMEOUT,
		        "store %s is locked, but its collector does not answer; try again, or stop that process",
		        channel->store);
	return channel->begun ? channel_put(channel, &ping, error) : channel_begin_again(channel, first, error);
}

int
channel_new_session(uint8_t session[WIRE_SESSION_SIZE], struct portolan_error *error)
{
	if (getrandom(session, WIRE_SESSION_SIZE, 0) == WIRE_SESSION_SIZE)
		return 0;
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot get random bytes: %s", strerror(errno));
}

/* Late answers to an earlier session are ignored. */
int
channel_begin(struct channel *channel, const struct wire_frame *first, uint64_t *acknowledged,
              struct portolan_error *error)
{
	struct wire_frame frame = *first;
	int result;

	memcpy(channel->session, first->session, WIRE_SESSION_SIZE);
	channel->begun = channel->closing = channel->done = false;
	channel->underway = channel->silence = 0;
	result = channel_put(channel, &frame, error);
	while (result == 0 && !channel->begun)
		result = channel_wait_once(channel, &frame, error);
	if (result == 0)
		*acknowledged = channel->ack.acknowledged;
	return result;
}

int
channel_send(struct channel *channel, const struct wire_frame *frame, struct portolan_error *error)
{
	struct wire_frame numbered = *frame;
	size_t size;
	int result;

	numbered.sequence = channel->sent + 1;
	if (interruption_came(&channel->interruption))
		return error_set(error, PORTOLAN_E_SYSTEM, "interrupted");
	result = wire_measure(&numbered, &size, error);
	while (result == 0 && channel->underway > 0 && channel->underway + size > channel->ack.credit)
		result = channel_wait_once(channel, NULL, error);
	if (result < 0)
		return result;
	channel->sent++;
	channel->underway += size;
	return channel_put(channel, &numbered, error);
}

int
channel_end(struct channel *channel, const struct wire_counts *counts, struct wire_ack *last,
            struct portolan_error *error)
{
	const struct wire_frame frame = {.kind = WIRE_CLOSE, .close = {.counts = *counts}};
	int result = channel_send(channel, &frame, error);

	channel->closing = true;
	while (result == 0 && channel->ack.acknowledged < channel->sent)
		result = channel_wait_once(channel, NULL, error);
	if (result < 0)
		return result;
	channel->done = true;
	*last = channel->ack;
	return 0;
}

int
channel_remove(struct channel *channel, const char *run, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_REMOVE, .remove.run = {(const uint8_t *)run, strlen(run)}};
	uint64_t ignored;
	int result = channel_new_session(frame.session, error) ?: channel_begin(channel, &frame, &ignored, error);

	channel->done = result == 0;
	return result;
}

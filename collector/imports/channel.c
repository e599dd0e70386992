/*
 * channel.c: a synchronous client of the wire.
 *
 * It sends within its credit, and waits for answers when that is used up. Once a session has begun it repeats nothing:
 * when the collector goes away, or cannot store what it is given, the session fails and the caller says so. Before that
 * it does: a collector that is leaving answers no `open`, and then either the store is free, or another collector
 * comes.
 */
#include "channel.h"

#include "carrier.h"
#include "interrupt.h"
#include "store/write.h"

#include <portolan/error.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define OPEN_MS 1000      /* without an answer for so long an `open` is repeated */
#define SILENCE_MS 30000  /* without an answer for so long the collector is given up */
#define UNDERWAY_MAX 4096 /* frames */

struct channel {
	struct carrier *carrier;
	const char *store;
	uint8_t session[WIRE_SESSION_SIZE];
	uint64_t sent, acknowledged; /* sequence numbers */
	uint64_t begun_at;           /* what `opened` acknowledged */
	uint64_t credit, underway;   /* bytes */
	size_t sizes[UNDERWAY_MAX];  /* of the frames under way, by sequence number */
	struct channel_totals totals;
	bool opened, answered, closing;
	bool remote; /* the carrier goes to a collector */
	int failed;  /* the first error, kept in failure */
	struct portolan_error failure;
};

static int
fail(struct channel *channel, int code, struct wire_bytes message)
{
	if (!channel->failed)
		channel->failed =
		        error_set(&channel->failure, code, "%.*s", (int)message.size, (const char *)message.data);
	return channel->failed;
}

static void
take_acknowledged(struct channel *channel, uint64_t acknowledged, uint64_t credit)
{
	channel->credit = credit;
	while (channel->acknowledged < acknowledged && channel->acknowledged < channel->sent)
		channel->underway -= channel->sizes[++channel->acknowledged % UNDERWAY_MAX];
}

/* An error about bytes that could not be decoded names no session. */
static bool
is_mine(const struct channel *channel, const struct wire_frame *frame)
{
	static const uint8_t nobody[WIRE_SESSION_SIZE];

	return memcmp(frame->session, channel->session, WIRE_SESSION_SIZE) == 0 ||
	       (frame->kind == WIRE_ERROR && memcmp(frame->session, nobody, WIRE_SESSION_SIZE) == 0);
}

static void
take_answer(void *context, const struct wire_frame *frame)
{
	struct channel *channel = context;

	if (!is_mine(channel, frame))
		return;
	channel->answered = true;
	switch (frame->kind) {
	case WIRE_OPENED:
		channel->opened = true;
		channel->begun_at = frame->opened.acknowledged;
		take_acknowledged(channel, frame->opened.acknowledged, frame->opened.credit);
		break;
	case WIRE_ACK:
		channel->totals.replaced = frame->ack.replaced;
		channel->totals.refused = frame->ack.refused;
		take_acknowledged(channel, frame->ack.acknowledged, frame->ack.credit);
		break;
	case WIRE_ERROR:
		fail(channel, frame->error.code == WIRE_E_NO_RUN ? STORE_E_NO_RUN : PORTOLAN_E_REFUSED,
		     frame->error.message);
		break;
	default:
		break;
	}
}

static bool
store_exists(const char *store)
{
	struct stat status;
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/data.mdb", store);

	return length > 0 && (size_t)length < sizeof(path) && stat(path, &status) == 0;
}

/* Whoever can lock the store is its collector. STORE_E_LOCKED: somebody else is. */
static int
carry_locally(struct channel *channel, struct portolan_error *error)
{
	struct carrier *carrier;
	int result = carrier_local_new(channel->store, &carrier, error);

	if (result < 0)
		return result;
	if (channel->carrier)
		channel->carrier->free(channel->carrier);
	carrier->answer = take_answer;
	carrier->context = channel;
	channel->carrier = carrier;
	channel->remote = false;
	return 0;
}

static int
carry_remotely(struct channel *channel, struct portolan_error *error)
{
	int result = carrier_remote_new(channel->store, &channel->carrier, error);

	if (result < 0)
		return result;
	channel->carrier->answer = take_answer;
	channel->carrier->context = channel;
	channel->remote = true;
	return 0;
}

int
channel_open(const char *store, bool create, struct channel **channel, struct portolan_error *error)
{
	struct channel *opened;
	int result;

	if (!create && !store_exists(store))
		return error_set(error, STORE_E_NO_STORE, "there is no store at %s; give its directory with --store",
		                 store);
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	opened->store = store;
	result = carry_locally(opened, error);
	if (result == STORE_E_LOCKED)
		result = carry_remotely(opened, error);
	if (result < 0)
		free(opened);
	else
		*channel = opened;
	return result;
}

void
channel_close(struct channel *channel)
{
	if (!channel)
		return;
	channel->carrier->free(channel->carrier);
	free(channel);
}

static int
put(struct channel *channel, struct wire_frame *frame, struct portolan_error *error)
{
	uint64_t next = channel->sent + 1;
	size_t size;
	int result;

	memcpy(frame->session, channel->session, WIRE_SESSION_SIZE);
	channel->answered = false;
	if (frame->kind == WIRE_BATCH)
		frame->batch.sequence = next;
	else if (frame->kind == WIRE_END_EPOCH)
		frame->end_epoch.sequence = next;
	else if (frame->kind == WIRE_CLOSE)
		frame->close.sequence = next;
	else
		return channel->carrier->send(channel->carrier, frame, &size, error);
	/* Before sending: the local carrier may answer within the call. */
	channel->sent = next;
	channel->sizes[next % UNDERWAY_MAX] = 0;
	result = channel->carrier->send(channel->carrier, frame, &size, error);
	if (result == 0 && channel->acknowledged < next) {
		channel->sizes[next % UNDERWAY_MAX] = size;
		channel->underway += size;
	}
	return result;
}

/* The first frame of all has had no answer: in this process if the store is free now; or again. A repeated `remove`
 * would not find what the first one has removed. */
static int
begin_again(struct channel *channel, struct wire_frame *first, struct portolan_error *error)
{
	int result = channel->remote ? carry_locally(channel, error) : STORE_E_LOCKED;

	if (result == STORE_E_LOCKED && first->kind == WIRE_REMOVE)
		return 0;
	return result == 0 || result == STORE_E_LOCKED ? put(channel, first, error) : result;
}

/* Receives once. When it has been quiet for a while it asks with a ping, or, if the session has not begun, sends
 * `first` again. */
static int
wait_once(struct channel *channel, struct wire_frame *first, int *silence, struct portolan_error *error)
{
	struct wire_frame ping = {.kind = WIRE_PING};
	int timeout = channel->opened ? WIRE_PING_MS : OPEN_MS, result;

	if (!channel->closing && interrupt_arrived())
		return error_set(error, PORTOLAN_E_SYSTEM, "interrupted");
	channel->answered = false;
	result = channel->carrier->receive(channel->carrier, timeout, error);
	if (result == 0 && channel->failed)
		result = error_set(error, channel->failed, "%s", channel->failure.message);
	if (result < 0 || channel->answered) {
		*silence = 0;
		return result;
	}
	*silence += timeout;
	if (*silence >= SILENCE_MS)
		return error_set(
		        error, PORTOLAN_E_TIMEOUT,
		        "store %s is locked, but its collector does not answer; try again, or stop that process",
		        channel->store);
	return channel->opened ? put(channel, &ping, error) : begin_again(channel, first, error);
}

static int
put_numbered(struct channel *channel, struct wire_frame *frame, size_t size, struct portolan_error *error)
{
	int silence = 0, result = 0;

	while (result == 0 && channel->sent > channel->acknowledged &&
	       (channel->underway + size > channel->credit || channel->sent - channel->acknowledged >= UNDERWAY_MAX))
		result = wait_once(channel, NULL, &silence, error);
	return result < 0 ? result : put(channel, frame, error);
}

static int
open_session(struct channel *channel, struct wire_frame *open, struct portolan_error *error)
{
	int silence = 0, result = put(channel, open, error);

	while (result == 0 && !channel->opened)
		result = wait_once(channel, open, &silence, error);
	return result;
}

int
channel_begin(struct channel *channel, const struct wire_open *open, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_OPEN, .open = *open};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	frame.open.started = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	if (getrandom(channel->session, sizeof(channel->session), 0) != sizeof(channel->session))
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot get random bytes: %s", strerror(errno));
	return open_session(channel, &frame, error);
}

int
channel_continue(struct channel *channel, const struct wire_frame *open, uint64_t *acknowledged,
                 struct portolan_error *error)
{
	struct wire_frame frame = *open;
	int result;

	memcpy(channel->session, open->session, sizeof(channel->session));
	channel->opened = false;
	channel->failed = 0;
	result = open_session(channel, &frame, error);
	if (result < 0)
		return result;
	channel->sent = channel->acknowledged = *acknowledged = channel->begun_at;
	return 0;
}

int
channel_frame(struct channel *channel, const struct wire_frame *frame, uint64_t sequence, size_t size,
              struct portolan_error *error)
{
	struct wire_frame copy = *frame;

	if (sequence != channel->sent + 1)
		return error_set(error, PORTOLAN_E_INVALID, "frame %llu comes where %llu should",
		                 (unsigned long long)sequence, (unsigned long long)channel->sent + 1);
	return put_numbered(channel, &copy, size, error);
}

int
channel_batch(struct channel *channel, const struct wire_batch *batch, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_BATCH, .batch = *batch};
	size_t size = batch->ids.size;

	for (size_t i = 0; i < batch->column_count; i++)
		size += batch->columns[i].data.size;
	return put_numbered(channel, &frame, size, error);
}

int
channel_end_epoch(struct channel *channel, uint32_t epoch, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_END_EPOCH, .end_epoch = {.epoch = epoch}};

	return put_numbered(channel, &frame, 0, error);
}

int
channel_end(struct channel *channel, const struct wire_counts *counts, struct channel_totals *totals,
            struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_CLOSE, .close = {.counts = *counts}};
	int silence = 0, result = put_numbered(channel, &frame, 0, error);

	channel->closing = true;
	while (result == 0 && channel->acknowledged < channel->sent)
		result = wait_once(channel, NULL, &silence, error);
	if (result == 0)
		result = channel->carrier->settle(channel->carrier, error);
	if (result == 0)
		*totals = channel->totals;
	return result;
}

int
channel_remove(struct channel *channel, const char *run, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_REMOVE};
	int silence = 0, result;

	/* A new number, so that late answers to an earlier session are not taken for this one's. */
	if (getrandom(channel->session, sizeof(channel->session), 0) != sizeof(channel->session))
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot get random bytes: %s", strerror(errno));
	channel->failed = 0;
	channel->opened = false;
	frame.remove.run.data = (const uint8_t *)run;
	frame.remove.run.size = strlen(run);
	result = put(channel, &frame, error);
	while (result == 0 && !channel->failed && !channel->answered)
		result = wait_once(channel, &frame, &silence, error);
	if (result == 0 && channel->failed)
		result = error_set(error, channel->failed, "%s", channel->failure.message);
	return result < 0 ? result : channel->carrier->settle(channel->carrier, error);
}

/*
 * storer.c: the storer: the thread of the collector that stores what clients send, in rounds, and answers them.
 *
 * One round: take the arrivals; hand them to ingest, with a commit whenever one is worth its sync; commit the rest;
 * post the replies; then do one step of folding. Frames that arrive during a commit share the next one, so busy clients
 * share syncs, and a lone client gets its answer at once. Where all that has come is little, and of clients that send on
 * without waiting for answers, the round first waits for more: frames that come about as fast as commits are made would
 * else get one each. Who does wait, and sends during that pause, waits for the rest of it too: 0.8 ms at most.
 *
 * While clients keep sending, there is a pause after each step of folding: a short burst is acknowledged first and
 * folded later. If the load lasts longer, each round folds for as long as it has stored, so that the log does not grow
 * without bound.
 *
 * This thread touches no socket; the other one, the receiver (server.c), does not touch the store.
 */
#include "storer.h"

#include "shares.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <stdlib.h>
#include <time.h>

#define TICK_MS 1000
#define SENDING_MS 50 /* clients count as sending if the last frame is not older; clients gather rows for 20 ms */
#define BURST_MS 5000 /* folds may lag so long while clients keep sending */
#define LITTLE(commit) ((commit) / 4) /* of the bytes that are worth a commit */
#define GATHER_US 800                 /* a round waits so long for more: three commits of a fast disk */
#define BURST_PAUSE 15 /* during that time, the pause after a step of folding is so many times as long as the step */

static void
storer_keep_reply(void *context, const struct peer *peer, const struct wire_frame *frame)
{
	struct storer *storer = context;
	struct wire_bytes bytes;
	struct reply *reply;

	if (wire_encode(storer->encoder, frame, &bytes, NULL) < 0)
		return;
	reply = malloc(sizeof(*reply) + bytes.size);
	if (!reply)
		return; /* clients ask again */
	*reply = (struct reply){.peer = *peer, .kind = frame->kind, .size = bytes.size};
	memcpy(reply->session, frame->session, WIRE_SESSION_SIZE);
	memcpy(reply->data, bytes.data, bytes.size);
	if (frame->kind == WIRE_ACK)
		reply->ack = frame->ack;
	else if (frame->kind == WIRE_OPENED)
		reply->ack =
		        (struct wire_ack){.acknowledged = frame->opened.acknowledged, .credit = frame->opened.credit};
	else
		reply->code = frame->error.code;
	list_append(&storer->replies, &reply->link);
}

int
storer_open(struct storer *storer, const char *store, size_t max_memory, uint64_t max_texts,
            const struct ingest_owner *owner, struct exchange *exchange, struct portolan_error *error)
{
	struct ingest_options options = {.max_memory = max_memory,
	                                 .max_texts = max_texts,
	                                 .owner = owner,
	                                 .reply = storer_keep_reply,
	                                 .context = storer};
	int result = store_writer_open(store, &storer->writer, error);

	if (result < 0)
		return result;
	storer->exchange = exchange;
	storer->decoder = wire_decoder_new();
	storer->encoder = wire_encoder_new();
	if (!storer->decoder || !storer->encoder)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	options.writer = storer->writer;
	result = ingest_init(&storer->ingest, &options, clock_ms(), error);
	storer->has_ingest = result == 0;
	return result;
}

static void
storer_post(struct storer *storer)
{
	const struct ingest *ingest = &storer->ingest;
	struct storer_state state = {
	        .live = ingest->sessions.live,
	        .has_work = ingest->health != INGEST_UNAVAILABLE && ingest_has_work(ingest),
	        .failed = ingest->lost,
	};

	if (state.failed) {
		error_set(&state.error, STORE_E_NO_STORE, "the store was removed while it was served");
		store_writer_check(storer->writer, &state.error);
	}
	exchange_post(storer->exchange, &storer->done, &storer->replies, &state);
}

static void
storer_take(struct storer *storer, const struct arrival *arrival, int64_t now)
{
	const struct sender sender = {.peer = &arrival->peer,
	                              .trusted = arrival->peer.socket != PEER_STRANGERS_SOCKET,
	                              .limits = arrival->limits};
	struct wire_frame frame;
	enum wire_error_code code = WIRE_E_MALFORMED;
	struct portolan_error error = {.message = "a message is one part that holds one frame"};

	if (!arrival->data || wire_decode(storer->decoder, arrival->data, arrival->size, &frame, &code, &error) < 0) {
		storer->missed |= error.code == PORTOLAN_E_MEMORY;
		ingest_malformed(&storer->ingest, &arrival->peer, code, error.message);
	} else {
		ingest_frame(&storer->ingest, &sender, &frame, arrival->size, now);
	}
}

static void
storer_commit(struct storer *storer)
{
	ingest_commit(&storer->ingest, clock_ms());
	storer_post(storer);
}

bool
storer_waits_for_more(const struct storer *storer, const struct list *arrivals)
{
	bool all_ahead = true;
	size_t bytes = 0;

	for (const struct link *link = arrivals->first; link; link = link->next) {
		const struct arrival *arrival = (const struct arrival *)link;

		all_ahead = all_ahead && arrival->is_ahead;
		bytes += arrival->size;
	}
	return bytes > 0 && all_ahead && bytes < LITTLE(shares_commit(storer->ingest.options.max_memory));
}

static void
storer_gather(struct storer *storer, struct list *arrivals)
{
	const struct timespec pause = {.tv_nsec = GATHER_US * 1000};
	struct list more;

	if (!storer_waits_for_more(storer, arrivals))
		return;
	nanosleep(&pause, NULL);
	exchange_take(storer->exchange, 0, &more, &storer->missed);
	list_move(arrivals, &more);
}

static void
storer_take_all(struct storer *storer, struct list *arrivals)
{
	struct arrival *arrival;

	while ((arrival = list_take(arrivals))) {
		storer_take(storer, arrival, clock_ms());
		arrival_free_data(arrival);
		list_append(&storer->done, &arrival->link);
		if (ingest_is_full(&storer->ingest))
			storer_commit(storer);
	}
	storer_commit(storer);
}

/* When folding may go on, which waits while clients are sending; in the past: now. It goes on as soon as they no longer
 * are: after a step of 10 ms the store would else be idle for up to 150 ms after the last frame. */
static int64_t
storer_may_fold_at(const struct storer *storer)
{
	const int64_t quiet = storer->ingest.sessions.live ? storer->arrived + SENDING_MS + 1 : 0;

	return storer->next_work < quiet ? storer->next_work : quiet;
}

/* Folds one step, unless clients are sending and the pause after the last step is not over. If they have kept sending
 * for BURST_MS, folds for as long as this round has stored. Returns when to call again; 0: at once. */
static int64_t
storer_work(struct storer *storer, int64_t stored_ms)
{
	const int64_t began = clock_ms(), may_fold = storer_may_fold_at(storer);
	const bool is_burst = began - storer->behind_since < BURST_MS;
	int64_t now;

	if (is_burst && began < may_fold)
		return may_fold < storer->next_tick ? may_fold : storer->next_tick;
	do {
		if (!ingest_work(&storer->ingest, began)) {
			storer->behind_since = began;
			return storer->next_tick;
		}
		now = clock_ms();
	} while (!is_burst && now - began < stored_ms);
	storer->next_work = now + BURST_PAUSE * (now - began + 1);
	return 0;
}

static void *
storer_main(void *argument)
{
	struct storer *storer = argument;
	struct list arrivals;
	int64_t until = storer->next_tick;

	while (exchange_take(storer->exchange, until, &arrivals, &storer->missed)) {
		const int64_t now = clock_ms();
		int64_t stored_ms = 0;

		storer->ingest.counters.malformed += atomic_exchange(&storer->exchange->unreadable, 0);
		storer->ingest.counters.dropped += atomic_exchange(&storer->exchange->dropped, 0);
		if (arrivals.first) {
			storer_gather(storer, &arrivals);
			stored_ms = -clock_ms();
			storer_take_all(storer, &arrivals);
			storer->arrived = clock_ms();
			stored_ms += storer->arrived;
		}
		if (storer->missed)
			ingest_miss(&storer->ingest, now);
		storer->missed = false;
		if (now >= storer->next_tick) {
			bool more = ingest_tick(&storer->ingest, now);

			storer->next_tick = now + (more ? 1 : TICK_MS);
			storer_commit(storer);
		}
		until = storer_work(storer, stored_ms);
		storer_post(storer);
	}
	storer_commit(storer);
	return NULL;
}

int
storer_start(struct storer *storer, struct portolan_error *error)
{
	int status;

	storer->next_tick = clock_ms();
	storer_post(storer);
	status = pthread_create(&storer->thread, NULL, storer_main, storer);
	if (status != 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start a thread: %s", strerror(status));
	pthread_setname_np(storer->thread, "storer");
	storer->is_running = true;
	return 0;
}

void
storer_join(struct storer *storer)
{
	if (storer->is_running)
		pthread_join(storer->thread, NULL);
	storer->is_running = false;
}

void
storer_finish(struct storer *storer)
{
	storer_join(storer);
	if (storer->has_ingest)
		ingest_deinit(&storer->ingest);
	wire_decoder_free(storer->decoder);
	wire_encoder_free(storer->encoder);
	store_writer_close(storer->writer);
}

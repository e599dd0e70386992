/* test_storer.c: both threads, without sockets: this one plays the receiver. Made for ThreadSanitizer, too. */
#include "remove_folder.h"
#include "storer.h"

#include <portolan/clock.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define SESSIONS 8
#define BATCHES 200
#define PATIENCE_MS 60000
#define TICK_MS 1000 /* the storer's: it looks for work at least so often */
#define PAIRS 100    /* frames that are sent two by two */
#define TRIES 20     /* on a busy machine the storer may wait for a processor */

struct play {
	struct exchange exchange;
	struct storer storer;
	wire_encoder *encoder;
	char directory[64];
	uint64_t acknowledged[SESSIONS + 1];
	unsigned opened, done, errors, acks;
	bool is_ahead; /* how batches are marked */
	struct storer_state state;
};

static void
play_begin(struct play *play)
{
	struct portolan_error error = {0};

	snprintf(play->directory, sizeof(play->directory), "/tmp/portolan-test-XXXXXX");
	assert_non_null(mkdtemp(play->directory));
	play->encoder = wire_encoder_new();
	assert_int_equal(exchange_init(&play->exchange, &error), 0);
	assert_int_equal(
	        storer_open(&play->storer, play->directory, (size_t)64 << 20, 0, NULL, &play->exchange, &error), 0);
}

static void
play_end(struct play *play)
{
	storer_finish(&play->storer);
	exchange_deinit(&play->exchange);
	wire_encoder_free(play->encoder);
	assert_int_equal(remove_folder(play->directory), 0);
}

static void
put(struct play *play, uint8_t session, struct wire_frame *frame)
{
	struct list list = {0};
	struct arrival *arrival;
	struct wire_bytes bytes;

	memset(frame->session, session, WIRE_SESSION_SIZE);
	assert_int_equal(wire_encode(play->encoder, frame, &bytes, NULL), 0);
	arrival = calloc(1, sizeof(*arrival) + bytes.size);
	assert_non_null(arrival);
	arrival->peer = (struct peer){.socket = 1, .size = 1, .id = {session}};
	memcpy(arrival->copy, bytes.data, bytes.size);
	arrival->data = arrival->copy;
	arrival->size = bytes.size;
	arrival->is_ahead = play->is_ahead && frame->kind == WIRE_BATCH;
	assert_true(wire_peek(arrival->data, arrival->size, &arrival->head));
	list_append(&list, &arrival->link);
	play->exchange.dropped++;
	exchange_put(&play->exchange, &list, false);
}

static void
collect(struct play *play)
{
	struct list done, replies;
	struct arrival *arrival;
	struct reply *reply;
	int64_t busy_since;

	exchange_collect(&play->exchange, &done, &replies, &play->state, &busy_since);
	while ((arrival = list_take(&done))) {
		play->done++;
		assert_null(arrival->data);
		arrival_free(arrival);
	}
	while ((reply = list_take(&replies))) {
		play->opened += reply->kind == WIRE_OPENED;
		play->errors += reply->kind == WIRE_ERROR;
		play->acks += reply->kind == WIRE_ACK;
		if (reply->kind == WIRE_ACK)
			play->acknowledged[reply->session[0]] = reply->ack.acknowledged;
		free(reply);
	}
}

static void
open_session(struct play *play, uint8_t session)
{
	char name[8];
	struct wire_frame frame = {.kind = WIRE_OPEN};

	snprintf(name, sizeof(name), "run %u", session);
	frame.open.run = (struct wire_bytes){(const uint8_t *)name, strlen(name)};
	frame.open.started = 1;
	put(play, session, &frame);
}

static void
send_batch(struct play *play, uint8_t session, uint64_t sequence)
{
	const uint64_t id = sequence;
	const float gold_prob = 0.5f;
	const uint8_t bits = 1;
	struct wire_frame frame = {
	        .kind = WIRE_BATCH,
	        .sequence = sequence,
	        .batch = {.epoch = (uint32_t)(sequence / 10),
	                  .rows = 1,
	                  .id_type = WIRE_U8,
	                  .ids = {(const uint8_t *)&id, sizeof(id)},
	                  .column_count = 2,
	                  .columns = {{{(const uint8_t *)"gold_prob", 9}, WIRE_F4, {(const uint8_t *)&gold_prob, 4}},
	                              {{(const uint8_t *)"correct", 7}, WIRE_BIT, {&bits, 1}}}}};

	put(play, session, &frame);
}

/* As a reader of the store sees it. */
static uint64_t
dropped_of(const char *directory)
{
	struct portolan_error error = {0};
	struct store_counters counters;
	struct store *store;

	assert_int_equal(store_open(directory, &store, &error), 0);
	assert_int_equal(store_counters(store, 0, &counters, &error), 0);
	store_close(store);
	return counters.dropped;
}

static void
everything_that_arrives_is_stored_and_answered(void **state)
{
	struct play play = {0};
	int64_t end = clock_ms() + PATIENCE_MS;
	struct portolan_error error = {0};
	unsigned acknowledged = 0;

	(void)state;
	play_begin(&play);
	assert_int_equal(storer_start(&play.storer, &error), 0);
	for (uint8_t session = 1; session <= SESSIONS; session++)
		open_session(&play, session);
	for (uint64_t sequence = 1; sequence <= BATCHES; sequence++) {
		for (uint8_t session = 1; session <= SESSIONS; session++)
			send_batch(&play, session, sequence);
		collect(&play);
	}
	while (acknowledged < SESSIONS && clock_ms() < end) {
		usleep(1000);
		collect(&play);
		acknowledged = 0;
		for (uint8_t session = 1; session <= SESSIONS; session++)
			acknowledged += play.acknowledged[session] == BATCHES;
	}
	assert_int_equal(acknowledged, SESSIONS);
	assert_int_equal(play.opened, SESSIONS);
	assert_int_equal(play.errors, 0);
	assert_int_equal(play.state.live, SESSIONS);
	while ((play.state.has_work || play.done < SESSIONS * (BATCHES + 1)) && clock_ms() < end)
		collect(&play);
	assert_false(play.state.has_work);                     /* closed epochs are folded, */
	assert_int_equal(play.done, SESSIONS * (BATCHES + 1)); /* … and nothing waits */
	/* What is handed over before the end is stored before it. */
	for (uint8_t session = 1; session <= SESSIONS; session++)
		send_batch(&play, session, BATCHES + 1);
	exchange_stop(&play.exchange);
	storer_join(&play.storer);
	collect(&play);
	for (uint8_t session = 1; session <= SESSIONS; session++)
		assert_int_equal(play.acknowledged[session], BATCHES + 1);
	assert_int_equal(play.done, SESSIONS * (BATCHES + 2));
	assert_int_equal(play.storer.ingest.totals.observations, SESSIONS * (BATCHES + 1));
	storer_finish(&play.storer);
	assert_int_equal(dropped_of(play.directory), SESSIONS * (BATCHES + 2));
	exchange_deinit(&play.exchange);
	wire_encoder_free(play.encoder);
	assert_int_equal(remove_folder(play.directory), 0);
}

/* Milliseconds from the start until the closed epochs of a client that then falls silent are folded, where the pause
 * after the last step of folding would last much longer. */
static int64_t
fold_after_silence(void)
{
	struct play play = {0};
	const int64_t began = clock_ms();
	struct portolan_error error = {0};

	play_begin(&play);
	play.storer.behind_since = began;
	play.storer.next_work = began + PATIENCE_MS;
	assert_int_equal(storer_start(&play.storer, &error), 0);
	open_session(&play, 1);
	for (uint64_t sequence = 1; sequence <= 20; sequence++)
		send_batch(&play, 1, sequence);
	while ((play.acknowledged[1] < 20 || play.state.has_work) && clock_ms() < began + PATIENCE_MS) {
		usleep(1000);
		collect(&play);
	}
	const int64_t took = clock_ms() - began;

	assert_int_equal(play.acknowledged[1], 20);
	exchange_stop(&play.exchange);
	storer_join(&play.storer);
	collect(&play);
	play_end(&play);
	return took;
}

static void
folding_goes_on_as_soon_as_clients_fall_silent(void **state)
{
	int tries = 0;

	(void)state;
	while (fold_after_silence() >= TICK_MS && tries < TRIES)
		tries++;
	assert_true(tries < TRIES);
}

static void
send_ping(struct play *play, uint8_t session)
{
	put(play, session, &(struct wire_frame){.kind = WIRE_PING});
}

static void
wait_for(struct play *play, const unsigned *count, unsigned least)
{
	const int64_t end = clock_ms() + PATIENCE_MS;

	while (*count < least && clock_ms() < end) {
		usleep(1000);
		collect(play);
	}
	assert_true(*count >= least);
}

/* The last frame is lost before it reaches the storer, so none shows the gap. */
static void
a_message_that_was_lost_for_lack_of_memory_is_asked_for(void **state)
{
	struct play play = {0};
	struct portolan_error error = {0};
	struct list none = {0};

	(void)state;
	play_begin(&play);
	assert_int_equal(storer_start(&play.storer, &error), 0);
	open_session(&play, 1);
	send_batch(&play, 1, 1);
	wait_for(&play, &play.acks, 1);
	send_ping(&play, 1);
	wait_for(&play, &play.acks, 2);
	assert_int_equal(play.errors, 0);
	exchange_put(&play.exchange, &none, true);
	for (int tries = 0; play.errors == 0 && tries < TRIES; tries++) { /* the first may come in the same round */
		const unsigned acks = play.acks;

		send_ping(&play, 1);
		wait_for(&play, &play.acks, acks + 1);
	}
	assert_int_equal(play.errors, 1);
	open_session(&play, 1);
	wait_for(&play, &play.opened, 2);
	send_ping(&play, 1); /* it is told once */
	send_batch(&play, 1, 2);
	exchange_stop(&play.exchange);
	storer_join(&play.storer);
	collect(&play);
	assert_int_equal(play.acknowledged[1], 2);
	assert_int_equal(play.errors, 1);
	play_end(&play);
}

/* As long as nobody waits for an answer, and while they are few. */
static void
few_frames_that_were_sent_ahead_wait_for_more(void **state)
{
	static struct storer storer;
	struct arrival first = {.size = 100000, .is_ahead = true}, last = first;
	struct list none = {0}, list = {0};

	(void)state;
	storer.ingest.options.max_memory = (size_t)256 << 20; /* 2 MB are worth a commit, 512 KB are few */
	assert_false(storer_waits_for_more(&storer, &none));
	list_append(&list, &first.link);
	assert_true(storer_waits_for_more(&storer, &list));
	list_append(&list, &last.link);
	assert_true(storer_waits_for_more(&storer, &list));
	last.size = (512 << 10) - first.size;
	assert_false(storer_waits_for_more(&storer, &list));
	last.size--;
	assert_true(storer_waits_for_more(&storer, &list));
	last.is_ahead = false;
	assert_false(storer_waits_for_more(&storer, &list));
	last.is_ahead = true;
	first.is_ahead = false;
	assert_false(storer_waits_for_more(&storer, &list));
}

/* Sends frames one by one, each a little after the one before. Returns how many acknowledgements they got. */
static unsigned
acknowledgements_of_frames(bool is_ahead)
{
	struct play play = {.is_ahead = is_ahead};
	const int64_t end = clock_ms() + PATIENCE_MS;
	struct portolan_error error = {0};

	play_begin(&play);
	assert_int_equal(storer_start(&play.storer, &error), 0);
	open_session(&play, 1);
	while (!play.opened && clock_ms() < end)
		collect(&play);
	for (uint64_t sequence = 1; sequence <= PAIRS; sequence += 2) {
		send_batch(&play, 1, sequence);
		usleep(150);
		send_batch(&play, 1, sequence + 1);
		while (play.acknowledged[1] <= sequence && clock_ms() < end)
			collect(&play);
	}
	exchange_stop(&play.exchange);
	storer_join(&play.storer);
	collect(&play);
	assert_int_equal(play.acknowledged[1], PAIRS); /* those that came while the storer waited are there, too */
	assert_int_equal(play.done, PAIRS + 1);
	assert_int_equal(play.errors, 0);
	play_end(&play);
	return play.acks;
}

static void
frames_that_were_sent_ahead_share_commits(void **state)
{
	int tries = 0;

	(void)state;
	while (4 * acknowledgements_of_frames(true) > 3 * acknowledgements_of_frames(false) && tries < TRIES)
		tries++;
	assert_true(tries < TRIES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(everything_that_arrives_is_stored_and_answered),
	                                   cmocka_unit_test(folding_goes_on_as_soon_as_clients_fall_silent),
	                                   cmocka_unit_test(a_message_that_was_lost_for_lack_of_memory_is_asked_for),
	                                   cmocka_unit_test(few_frames_that_were_sent_ahead_wait_for_more),
	                                   cmocka_unit_test(frames_that_were_sent_ahead_share_commits)};

	return cmocka_run_group_tests_name("storer", tests, NULL, NULL);
}

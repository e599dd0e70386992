/*
 * test_session_lent.c: frames that the socket still has, as libzmq does: while they are acknowledged, sent once more, or
 * lose their session. What is freed too early or never is for AddressSanitizer to see, and what is not in order for
 * ThreadSanitizer.
 */
#include "session_fixture.h"

#include <pthread.h>
#include <sched.h>

#define CREDIT ((uint64_t)1 << 40)

struct lent {
	struct backlog_frame *frame;
	struct wire_bytes bytes;
	uint64_t sequence;
};

/* The next frame is a batch of this number; it is given to a socket. */
static struct lent
lend(struct fixture *fixture, uint64_t sequence)
{
	struct lent lent = {.sequence = sequence};

	assert_true(session_next(&fixture->session, 0, &lent.bytes));
	lent.frame = session_lend(&fixture->session);
	assert_non_null(lent.frame);
	assert_ptr_equal(lent.frame->data, lent.bytes.data);
	assert_int_equal(lent.frame->size, lent.bytes.size);
	session_sent(&fixture->session, 0);
	return lent;
}

/* The socket is done with it, and has sent what it was given. */
static void
take_back(struct lent lent, wire_decoder *decoder)
{
	struct wire_frame frame;

	assert_int_equal(wire_decode(decoder, lent.bytes.data, lent.bytes.size, &frame, NULL, NULL), 0);
	assert_int_equal(frame.kind, WIRE_BATCH);
	assert_int_equal(frame.sequence, lent.sequence);
	session_take_back(NULL, lent.frame);
}

static void
open_session(struct fixture *fixture)
{
	expect(fixture, WIRE_OPEN, 0, 0);
	assert_null(session_lend(&fixture->session)); /* `open` is not kept */
	reply_opened(fixture, 0, CREDIT, 0);
}

static void
assert_kept(const struct fixture *fixture, uint64_t bytes)
{
	assert_int_equal(fixture->session.backlog.kept_bytes, bytes);
	assert_true(session_has_room(&fixture->session, SESSION_MAX_KEPT - bytes));
	assert_false(session_has_room(&fixture->session, SESSION_MAX_KEPT - bytes + 1));
}

static void
test_acknowledged_first(void **state)
{
	struct fixture *fixture = *state;
	struct lent first, second;

	open_session(fixture);
	add_batch(fixture, 10);
	first = lend(fixture, 1);
	add_batch(fixture, 20);
	second = lend(fixture, 2);
	reply_ack(fixture, 2, CREDIT, 0);
	assert_int_equal(fixture->session.backlog.settled_position, 20);
	assert_int_equal(fixture->session.backlog.under_way_bytes, 0);
	assert_kept(fixture, first.bytes.size + second.bytes.size); /* it is held, so it counts */
	take_back(first, fixture->decoder);
	expect_nothing(fixture, 0);
	assert_kept(fixture, second.bytes.size);
	take_back(second, fixture->decoder);
	expect_nothing(fixture, 0);
	assert_kept(fixture, 0);
	expect(fixture, WIRE_PING, 0, WIRE_PING_MS);
	assert_null(session_lend(&fixture->session));
}

static void
test_taken_back_first(void **state)
{
	struct fixture *fixture = *state;
	struct lent lent;

	open_session(fixture);
	add_batch(fixture, 10);
	lent = lend(fixture, 1);
	take_back(lent, fixture->decoder);
	expect_nothing(fixture, 0);
	assert_kept(fixture, lent.bytes.size); /* it may be wanted again */
	reply_ack(fixture, 1, CREDIT, 0);
	assert_kept(fixture, 0);
}

/* After a lost connection libzmq may hold what it can no longer send, while the same frame goes to the next one. */
static void
test_sent_again(void **state)
{
	struct fixture *fixture = *state;
	struct lent before, again;

	open_session(fixture);
	add_batch(fixture, 10);
	before = lend(fixture, 1);
	session_lost(&fixture->session);
	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, CREDIT, 0);
	again = lend(fixture, 1);
	assert_ptr_equal(before.frame, again.frame);
	assert_kept(fixture, again.bytes.size); /* once, not twice */
	reply_ack(fixture, 1, CREDIT, 0);
	take_back(again, fixture->decoder);
	expect_nothing(fixture, 0);
	assert_kept(fixture, before.bytes.size);
	take_back(before, fixture->decoder);
	expect_nothing(fixture, 0);
	assert_kept(fixture, 0);
}

/* A frame that could not be given to the socket stays the next one. */
static void
test_not_taken(void **state)
{
	struct fixture *fixture = *state;
	struct wire_bytes bytes;

	open_session(fixture);
	add_batch(fixture, 10);
	assert_true(session_next(&fixture->session, 0, &bytes));
	session_take_back(NULL, session_lend(&fixture->session));
	take_back(lend(fixture, 1), fixture->decoder);
	reply_ack(fixture, 1, CREDIT, 0);
	assert_kept(fixture, 0);
}

/* With acknowledged frames and others. */
static void
test_session_ends_first(void **state)
{
	struct fixture *fixture = *state;
	struct lent lent[3];

	open_session(fixture);
	for (uint64_t i = 0; i < 3; i++) {
		add_batch(fixture, i);
		lent[i] = lend(fixture, i + 1);
	}
	reply_ack(fixture, 1, CREDIT, 0);
	session_deinit(&fixture->session);
	for (int i = 0; i < 3; i++)
		take_back(lent[i], fixture->decoder);
}

/* A socket in a thread of its own, which is done with frames in order, at times late. */
#define PLACES 64

struct socket {
	struct lent lent[PLACES];
	_Atomic uint64_t given, done;
	_Atomic bool closed;
};

static void *
socket_main(void *argument)
{
	struct socket *socket = argument;
	wire_decoder *decoder = wire_decoder_new();

	for (uint64_t at = 0;; at++) {
		while (at == atomic_load(&socket->given)) {
			if (atomic_load(&socket->closed) && at == atomic_load(&socket->given)) {
				wire_decoder_free(decoder);
				return NULL;
			}
			sched_yield();
		}
		if (at % 7 == 0)
			sched_yield();
		take_back(socket->lent[at % PLACES], decoder);
		atomic_store(&socket->done, at + 1);
	}
}

static void
test_thread(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;
	struct socket *socket = calloc(1, sizeof(*socket));
	uint64_t added = 0, given = 0, sent = 0, acknowledged = 0, size = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, socket_main, socket), 0);
	open_session(fixture);
	while (added < 20000) {
		add_batch(fixture, ++added);
		while (sent < added) {
			while (given - atomic_load(&socket->done) == PLACES)
				sched_yield();
			socket->lent[given % PLACES] = lend(fixture, ++sent);
			size = socket->lent[given % PLACES].bytes.size;
			atomic_store(&socket->given, ++given);
		}
		if (added % 5 == 0) /* the socket may be done with some of them, or with none */
			reply_ack(fixture, acknowledged = sent - added % 3, CREDIT, 0);
		assert_true(session->backlog.kept_bytes <= (PLACES + sent - acknowledged + 1) * (size + 4));
		if (added % 500 == 0) {
			session_lost(session);
			expect(fixture, WIRE_OPEN, 0, 0);
			reply_opened(fixture, acknowledged, CREDIT, 0);
			sent = acknowledged;
		}
	}
	assert_true(session->backlog.kept_bytes > 0);
	session_deinit(session); /* the socket still has some */
	atomic_store(&socket->closed, true);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&socket->done), given);
	free(socket);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_acknowledged_first, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_taken_back_first, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_sent_again, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_not_taken, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_session_ends_first, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_thread, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_session.c: the client's side of the protocol, without socket and clock: what it sends next, given what it got
 * and the time. A reply is encoded by the test and decoded by the session, as on the wire.
 */
#include "session_fixture.h"

static void
test_opens_sends_settles(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;

	assert_false(session_has_room(session, 1));
	expect(fixture, WIRE_OPEN, 0, 0);
	expect_nothing(fixture, 500);
	expect(fixture, WIRE_OPEN, 0, SESSION_OPEN_RETRY_MS); /* no answer: once more */
	reply_opened(fixture, 0, 10000, 1100);
	assert_int_equal(session->state, SESSION_OPEN);
	assert_int_equal(session->id_kind, WIRE_ID_INT);
	assert_true(session_has_room(session, 10000));
	assert_false(session_has_room(session, SESSION_MAX_KEPT + 1)); /* credit or not: memory */
	add_batch(fixture, 100);
	assert_false(session_has_room(session, 1)); /* one waits to be sent */
	expect(fixture, WIRE_BATCH, 1, 1100);
	assert_int_equal(add_end_epoch(session, 7, 200), 0);
	expect(fixture, WIRE_END_EPOCH, 2, 1100);
	add_batch(fixture, 300);
	expect(fixture, WIRE_BATCH, 3, 1100);
	expect_nothing(fixture, 1100);
	reply_ack(fixture, 2, 10000, 1200);
	assert_int_equal(session->backlog.settled_position, 200);
	assert_int_equal(session->backlog.settled_observations, 1);
	assert_int_equal(session->replaced, 2);
	assert_int_equal(session->refused, 1);
	assert_int_equal(add_close(session, 300), 0);
	expect(fixture, WIRE_CLOSE, 4, 1200);
	assert_false(session_has_room(session, 0));
	reply_ack(fixture, 4, 10000, 1300);
	assert_int_equal(session->backlog.settled_observations, 2);
	assert_int_equal(session->state, SESSION_CLOSED);
	assert_int_equal(session->backlog.kept_bytes + session->backlog.under_way_bytes, 0);
	expect_nothing(fixture, 100000);
}

static void
test_pings_and_lost_contact(void **state)
{
	struct fixture *fixture = *state;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	expect_nothing(fixture, WIRE_PING_MS - 1);
	expect(fixture, WIRE_PING, 0, WIRE_PING_MS);
	expect_nothing(fixture, WIRE_PING_MS);
	reply_ack(fixture, 0, 10000, 2100);
	expect(fixture, WIRE_PING, 0, 4000);
	expect(fixture, WIRE_PING, 0, 6000);
	expect(fixture, WIRE_OPEN, 0, 2100 + SESSION_CONTACT_MS);
	expect_nothing(fixture, 7200);
	reply_opened(fixture, 0, 10000, 7300);
	assert_int_equal(fixture->session.opened_count, 2);
}

static void
test_replay(void **state)
{
	struct fixture *fixture = *state;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	for (uint64_t i = 1; i <= 3; i++) {
		add_batch(fixture, i);
		expect(fixture, WIRE_BATCH, i, 0);
	}
	reply_ack(fixture, 1, 10000, 10);
	reply_error(fixture, WIRE_E_NO_SESSION, 3, 20);
	expect(fixture, WIRE_OPEN, 0, 20);
	reply_error(fixture, WIRE_E_NO_SESSION, 3, 21); /* about a frame sent before: no second open */
	reply_error(fixture, WIRE_E_SEQUENCE, 3, 21);
	expect_nothing(fixture, 21);
	reply_opened(fixture, 2, 10000, 30); /* 2 had arrived after all */
	assert_int_equal(fixture->session.backlog.settled_position, 2);
	expect(fixture, WIRE_BATCH, 3, 30);
	expect_nothing(fixture, 30);
	reply_opened(fixture, 2, 10000, 31); /* the answer to a repeated open: nothing is sent again */
	expect_nothing(fixture, 31);
	reply_ack(fixture, 3, 10000, 40);
	assert_int_equal(fixture->session.backlog.settled_observations, 3);
	assert_int_equal(fixture->session.backlog.under_way_bytes, 0);
}

static void
reply_to_turn(struct fixture *fixture, uint64_t turn, int64_t now)
{
	reply(fixture,
	      (struct wire_frame){.kind = WIRE_OPENED,
	                          .opened = {.credit = 1000, .id_kind = WIRE_ID_INT, .turn = turn}},
	      now);
}

/* The answer to an `open` that was sent before frames which the collector still has under way: to send them again now
 * would be beyond the credit. */
static void
test_an_answer_that_comes_late(void **state)
{
	struct fixture *fixture = *state;
	struct wire_bytes bytes;
	struct wire_frame frame;

	expect(fixture, WIRE_OPEN, 0, 0);
	expect(fixture, WIRE_OPEN, 0, SESSION_OPEN_RETRY_MS); /* of the same turn: its answer would do */
	reply_to_turn(fixture, 1, 1100);
	add_batch(fixture, 1);
	expect(fixture, WIRE_BATCH, 1, 1100);
	assert_true(session_next(&fixture->session, 1100 + SESSION_CONTACT_MS, &bytes));
	assert_int_equal(wire_decode(fixture->decoder, bytes.data, bytes.size, &frame, NULL, NULL), 0);
	assert_int_equal(frame.kind, WIRE_OPEN);
	session_sent(&fixture->session, 1100 + SESSION_CONTACT_MS);
	reply_to_turn(fixture, 1, 6200); /* the second one's */
	assert_int_equal(fixture->session.state, SESSION_OPENING);
	expect_nothing(fixture, 6200);
	assert_int_equal(frame.open.turn, 2);
	reply_to_turn(fixture, 2, 6300);
	expect(fixture, WIRE_BATCH, 1, 6300);
	expect_nothing(fixture, 6300);
}

/* A gap, or a frame that was dropped because it was beyond the credit. */
static void
go_back(struct fixture *fixture, enum wire_error_code why)
{

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	add_batch(fixture, 1);
	expect(fixture, WIRE_BATCH, 1, 0);
	add_batch(fixture, 2);
	expect(fixture, WIRE_BATCH, 2, 0);
	reply_error(fixture, why, 2, 1);
	expect(fixture, WIRE_OPEN, 0, 1);
	reply_opened(fixture, 0, 10000, 2);
	expect(fixture, WIRE_BATCH, 1, 2);
	/* An ack may overtake what is still to be repeated. */
	reply_ack(fixture, 2, 10000, 3);
	expect_nothing(fixture, 3);
	assert_int_equal(fixture->session.backlog.under_way_bytes, 0);
	assert_int_equal(fixture->session.backlog.kept_bytes, 0);
}

static void
test_gap_goes_back(void **state)
{
	go_back(*state, WIRE_E_SEQUENCE);
}

static void
test_over_credit_goes_back(void **state)
{
	go_back(*state, WIRE_E_OVER_CREDIT);
}

static void
test_credit(void **state)
{
	struct fixture *fixture = *state;
	size_t size;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 0, 0);
	assert_false(session_has_room(&fixture->session, 0));
	add_batch(fixture, 1);
	expect_nothing(fixture, 0);
	expect(fixture, WIRE_PING, 0, WIRE_PING_MS); /* pings need no credit */
	reply_ack(fixture, 0, 1, WIRE_PING_MS);
	size = expect(fixture, WIRE_BATCH, 1, WIRE_PING_MS); /* alone, however large */
	add_batch(fixture, 2);
	expect_nothing(fixture, WIRE_PING_MS);
	reply_ack(fixture, 0, 2 * size - 1, WIRE_PING_MS);
	expect_nothing(fixture, WIRE_PING_MS);
	reply_ack(fixture, 0, 2 * size, WIRE_PING_MS);
	expect(fixture, WIRE_BATCH, 2, WIRE_PING_MS);
	assert_false(session_has_room(&fixture->session, 1));
	reply_ack(fixture, 1, 2 * size, WIRE_PING_MS);
	assert_true(session_has_room(&fixture->session, size));
	assert_false(session_has_room(&fixture->session, size + 1));
}

static void
test_refused_goes_on(void **state)
{
	struct fixture *fixture = *state;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	add_batch(fixture, 1);
	expect(fixture, WIRE_BATCH, 1, 0);
	reply_error(fixture, WIRE_E_REFUSED, 1, 1);
	assert_int_equal(fixture->session.state, SESSION_OPEN);
	assert_string_equal(fixture->session.complaint.message, "as told");
	reply_ack(fixture, 1, 10000, 2);
	add_batch(fixture, 2);
	expect(fixture, WIRE_BATCH, 2, 2);
}

static void
test_unavailable_pauses(void **state)
{
	struct fixture *fixture = *state;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_error(fixture, WIRE_E_UNAVAILABLE, 0, 5);
	expect_nothing(fixture, 5 + SESSION_PAUSE_MS - 1);
	expect(fixture, WIRE_OPEN, 0, 5 + SESSION_PAUSE_MS);
	reply_opened(fixture, 0, 10000, 1010);
	add_batch(fixture, 1);
	expect(fixture, WIRE_BATCH, 1, 1010);
	reply_error(fixture, WIRE_E_UNAVAILABLE, 1, 1020);
	expect_nothing(fixture, 1021);
	expect(fixture, WIRE_OPEN, 0, 2020);
	reply_opened(fixture, 0, 10000, 2021);
	expect(fixture, WIRE_BATCH, 1, 2021);
}

static void
test_final_errors(void **state)
{
	static const enum wire_error_code codes[] = {WIRE_E_VERSION,     WIRE_E_MALFORMED,   WIRE_E_RUN_EXISTS,
	                                             WIRE_E_RUN_DIFFERS, WIRE_E_RUN_REMOVED, WIRE_E_OTHER};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct fixture *fixture = *state;

		expect(fixture, WIRE_OPEN, 0, 0);
		reply_error(fixture, codes[i], 0, 1);
		assert_int_equal(fixture->session.state, SESSION_FAILED);
		assert_int_equal(fixture->session.failure.code, PORTOLAN_E_REFUSED);
		assert_string_equal(fixture->session.failure.message, "as told");
		expect_nothing(fixture, 100000);
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
}

static void
test_store_went_back(void **state)
{
	struct fixture *fixture = *state;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	add_batch(fixture, 1);
	expect(fixture, WIRE_BATCH, 1, 0);
	reply_ack(fixture, 1, 10000, 1);
	session_lost(&fixture->session);
	expect(fixture, WIRE_OPEN, 0, 2);
	reply_opened(fixture, 0, 10000, 3);
	assert_int_equal(fixture->session.state, SESSION_FAILED);
}

static void
test_strangers_are_ignored(void **state)
{
	struct fixture *fixture = *state;
	struct wire_frame frame = {.kind = WIRE_OPENED, .session = "somebody else's", .opened = {.credit = 1}};
	struct wire_bytes bytes;

	expect(fixture, WIRE_OPEN, 0, 0);
	assert_int_equal(wire_encode(fixture->encoder, &frame, &bytes, NULL), 0);
	session_receive(&fixture->session, bytes.data, bytes.size, 1);
	session_receive(&fixture->session, "\x80", 1, 1);
	session_receive(&fixture->session, "", 0, 1);
	reply(fixture, (struct wire_frame){.kind = WIRE_PING}, 1);
	assert_int_equal(fixture->session.state, SESSION_OPENING);
	/* An error about a frame that could not be read has no session: it is ours. */
	frame = (struct wire_frame){.kind = WIRE_ERROR, .error = {WIRE_E_MALFORMED, text("bad"), 0}};
	assert_int_equal(wire_encode(fixture->encoder, &frame, &bytes, NULL), 0);
	session_receive(&fixture->session, bytes.data, bytes.size, 1);
	assert_int_equal(fixture->session.state, SESSION_FAILED);
}

static void
test_newer_collector(void **state)
{
	static const char bytes[] = "\x81\xa1v\x07";
	struct fixture *fixture = *state;

	session_receive(&fixture->session, bytes, sizeof(bytes) - 1, 1);
	assert_int_equal(fixture->session.state, SESSION_FAILED);
	assert_non_null(strstr(fixture->session.failure.message, "version 7"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_opens_sends_settles, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_pings_and_lost_contact, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_replay, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_an_answer_that_comes_late, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_gap_goes_back, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_over_credit_goes_back, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_credit, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_refused_goes_on, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_unavailable_pauses, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_final_errors, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_store_went_back, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_strangers_are_ignored, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_newer_collector, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

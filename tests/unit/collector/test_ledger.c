/* test_ledger.c: credit as the receiver enforces it, and what it knows of a session. */
#include "ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ROOM 100000         /* in the queue; */
#define PART (ROOM / 8 * 5) /* of it for all connections */
#define MOST 200            /* sessions */

static const struct peer first = {.socket = 1, .size = 5, .id = {1}}, second = {.socket = 1, .size = 5, .id = {2}};

static int
set_up(void **state)
{
	static struct ledger ledger;

	*state = &ledger;
	return ledger_init(&ledger, ROOM, MOST);
}

static int
tear_down(void **state)
{
	ledger_deinit(*state);
	return 0;
}

static struct reply
reply_of(enum wire_kind kind, uint8_t session, const struct peer *peer, uint64_t acknowledged, uint64_t credit)
{
	struct reply reply = {.kind = kind, .peer = *peer, .ack = {.acknowledged = acknowledged, .credit = credit}};

	memset(reply.session, session, sizeof(reply.session));
	return reply;
}

static struct member *
tell(struct ledger *ledger, enum wire_kind kind, uint8_t session, const struct peer *peer, uint64_t credit, int64_t now)
{
	struct reply reply = reply_of(kind, session, peer, 7, credit);

	ledger_take_reply(ledger, &reply, now);
	return ledger_find(ledger, reply.session);
}

static struct arrival
frame_of(uint8_t session, enum wire_kind kind, size_t size)
{
	struct arrival arrival = {.size = size, .head.kind = kind};

	memset(arrival.head.session, session, WIRE_SESSION_SIZE);
	return arrival;
}

/* Queues a batch; how many bytes of it are beyond credit, or -1: it may not be queued. */
static int
queue_batch(struct ledger *ledger, struct member *member, size_t size, int64_t now)
{
	struct arrival arrival = frame_of(member->id[0], WIRE_BATCH, size);

	arrival.peer = member->connection->peer;
	return ledger_queue(ledger, member, &arrival, now) ? (int)arrival.beyond : -1;
}

static void
done_with(struct ledger *ledger, uint8_t session, size_t size, size_t beyond)
{
	struct arrival arrival = frame_of(session, WIRE_BATCH, size);

	arrival.peer = first;
	arrival.beyond = beyond;
	ledger_unqueue(ledger, &arrival);
}

static bool
is_ahead(struct ledger *ledger, struct member *member, enum wire_kind kind, int64_t now)
{
	struct arrival arrival = frame_of(member->id[0], kind, 100);

	arrival.peer = member->connection->peer;
	assert_true(ledger_queue(ledger, member, &arrival, now));
	return arrival.is_ahead;
}

static void
who_waits_for_answers_does_not_send_ahead(void **state)
{
	struct ledger *ledger = *state;
	struct member *member = tell(ledger, WIRE_OPENED, 1, &first, 1000, 1000);

	for (int64_t now = 1000; now < 1100; now++) {
		assert_false(is_ahead(ledger, member, WIRE_BATCH, now));
		done_with(ledger, 1, 100, 0);
	}
	assert_false(
	        is_ahead(ledger, member, WIRE_BATCH, 1100)); /* the end of an epoch goes with the batch before it */
	assert_false(is_ahead(ledger, member, WIRE_END_EPOCH, 1100));
	done_with(ledger, 1, 100, 0);
	done_with(ledger, 1, 100, 0);
	assert_false(is_ahead(ledger, member, WIRE_BATCH, 1101));
	assert_true(is_ahead(ledger, member, WIRE_BATCH, 1102));
	done_with(ledger, 1, 100, 0);
	done_with(ledger, 1, 100, 0);
	/* For a while, also if nothing of it is queued just then. */
	assert_true(is_ahead(ledger, member, WIRE_BATCH, 1102 + LEDGER_AHEAD_MS - 1));
	done_with(ledger, 1, 100, 0);
	assert_false(is_ahead(ledger, member, WIRE_BATCH, 1102 + LEDGER_AHEAD_MS));
	done_with(ledger, 1, 100, 0);
}

static void
frames_beyond_the_credit_are_not_queued(void **state)
{
	struct ledger *ledger = *state;
	struct member *member = tell(ledger, WIRE_OPENED, 1, &first, 1000, 0);

	assert_int_equal(queue_batch(ledger, member, 600, 0), 0);
	assert_int_equal(queue_batch(ledger, member, 400, 0), 0);
	assert_int_equal(queue_batch(ledger, member, 1, 0), -1);
	done_with(ledger, 1, 600, 0);
	assert_int_equal(queue_batch(ledger, member, 600, 0), 0);
	/* One frame is let in when nothing is queued, however large; none without credit. */
	done_with(ledger, 1, 600, 0);
	done_with(ledger, 1, 400, 0);
	assert_int_equal(member->queued, 0);
	assert_int_equal(queue_batch(ledger, member, PART + 5000, 0), 5000 + ARRIVAL_BYTES);
	assert_int_equal(ledger->beyond, 5000 + ARRIVAL_BYTES);
	done_with(ledger, 1, PART + 5000, 5000 + ARRIVAL_BYTES);
	assert_int_equal(ledger->queued, 0);
	member = tell(ledger, WIRE_OPENED, 2, &first, 0, 0);
	assert_int_equal(queue_batch(ledger, member, 1, 0), -1);
}

static void
a_client_may_not_know_yet_that_it_has_less(void **state)
{
	struct ledger *ledger = *state;
	struct member *member = tell(ledger, WIRE_OPENED, 1, &first, 1000, 0);

	tell(ledger, WIRE_ACK, 1, &first, 100, 10000);
	assert_int_equal(queue_batch(ledger, member, 900, 10000 + LEDGER_FORMER_MS - 1), 0);
	assert_int_equal(queue_batch(ledger, member, 101, 10000 + LEDGER_FORMER_MS - 1), -1);
	assert_int_equal(queue_batch(ledger, member, 10, 10000 + 2 * LEDGER_FORMER_MS), -1);
	done_with(ledger, 1, 900, 0);
	/* Less and less: none is forgotten before its time, nor remembered for longer than two periods. */
	tell(ledger, WIRE_ACK, 1, &first, 1000, 30000);
	tell(ledger, WIRE_ACK, 1, &first, 500, 30000);
	tell(ledger, WIRE_ACK, 1, &first, 0, 30000 + LEDGER_FORMER_MS - 1);
	assert_int_equal(queue_batch(ledger, member, 400, 30000 + LEDGER_FORMER_MS + 1), 0);
	assert_int_equal(queue_batch(ledger, member, 10, 30000 + 2 * LEDGER_FORMER_MS - 1), 0);
	assert_int_equal(queue_batch(ledger, member, 10, 30000 + 3 * LEDGER_FORMER_MS), -1);
	for (int64_t now = 50000; now < 90000; now += 1000) {
		tell(ledger, WIRE_ACK, 1, &first, (uint64_t)(100000 - now), now);
		if (now >= 50000 + LEDGER_FORMER_MS)
			assert_in_range(member->former, 100000 - now, 100000 - now + 2 * LEDGER_FORMER_MS);
	}
}

/* One client with many sessions, each of which has more credit than there is now, or sends its one frame: what others
 * have credit for is kept for them. */
static void
many_sessions_leave_room_for_others(void **state)
{
	enum { SIZE = 2000, MANY = 100 };
	struct ledger *ledger = *state;
	struct member *good = tell(ledger, WIRE_OPENED, 200, &second, ROOM / 4, 0);

	for (unsigned round = 0; round < 2; round++) {
		size_t beyond[MANY] = {0}, all = 0, taken = 0;

		for (int i = 0; i < MANY; i++) {
			struct member *member = tell(ledger, WIRE_OPENED, i + 1, &first, round ? ROOM : 10, 0);
			int more = queue_batch(ledger, member, SIZE, 0);

			if (more < 0)
				continue;
			beyond[taken++] = (size_t)more;
			all += (size_t)more;
		}
		assert_int_equal(ledger->beyond, all);
		assert_in_range(all, ROOM / 4 - SIZE - ARRIVAL_BYTES, ROOM / 4);
		assert_int_equal(taken,
		                 (PART / 2 + ROOM / 4) / (SIZE + ARRIVAL_BYTES)); /* its part, and what is for all */
		for (unsigned i = 0; i < 10; i++)
			assert_int_equal(queue_batch(ledger, good, ROOM / 40, 0), 0);
		assert_int_equal(queue_batch(ledger, good, 1, 0), -1); /* that was its credit */
		for (size_t i = 0; i < taken; i++)
			done_with(ledger, i + 1, SIZE, beyond[i]);
		for (unsigned i = 0; i < 10; i++) {
			struct arrival arrival = frame_of(200, WIRE_BATCH, ROOM / 40);

			arrival.peer = second;
			ledger_unqueue(ledger, &arrival);
		}
		assert_int_equal(ledger->beyond, 0);
		assert_int_equal(ledger->queued, 0);
	}
}

/* Nor do those that need no credit. */
static void
opens_leave_room_for_frames(void **state)
{
	struct ledger *ledger = *state;
	struct member *good = tell(ledger, WIRE_OPENED, 200, &second, ROOM / 2, 0);
	struct arrival open = frame_of(1, WIRE_OPEN, 1000), ping = frame_of(200, WIRE_PING, 50);
	size_t opens = 0;

	while (ledger_queue(ledger, NULL, &open, 0))
		opens++;
	assert_int_equal(opens, ROOM / 8 / (1000 + ARRIVAL_BYTES));
	assert_int_equal(queue_batch(ledger, good, ROOM / 2, 0), 0);
	assert_true(ledger_queue(ledger, good, &ping, 0));
	assert_false(ledger_queue(ledger, good, &ping, 0)); /* one is queued */
	ledger_unqueue(ledger, &ping);
	assert_true(ledger_queue(ledger, good, &ping, 0));
	ledger_unqueue(ledger, &open);
	assert_true(ledger_queue(ledger, NULL, &open, 0));
}

/* However full the queue is: of one session that only pings, and of all. */
static void
a_ping_has_a_place_of_its_own(void **state)
{
	struct ledger *ledger = *state;
	struct member *busy = tell(ledger, WIRE_OPENED, 1, &first, ROOM, 0);
	struct arrival open = frame_of(2, WIRE_OPEN, 1), ping = frame_of(3, WIRE_PING, WIRE_MAX_PING);
	struct member *quiet = tell(ledger, WIRE_OPENED, 3, &first, 1, 0);
	const size_t all = PART + ROOM / 4 - ARRIVAL_BYTES;

	assert_int_equal(queue_batch(ledger, busy, all, 0), ROOM / 4);
	while (ledger_queue(ledger, NULL, &open, 0))
		;
	assert_true(ledger->room - ledger->queued <
	            WIRE_MAX_PING + ARRIVAL_BYTES); /* as a frame it would find no room */
	assert_true(ledger_queue(ledger, quiet, &ping, 0));
	assert_false(ledger_queue(ledger, quiet, &ping, 0)); /* one is queued */
	/* Nor do pings take the place of frames within the credit. */
	done_with(ledger, 1, all, ROOM / 4);
	for (uint8_t session = 4; session < MOST; session++) {
		struct member *member = tell(ledger, WIRE_OPENED, session, &first, 1, 0);
		struct arrival another = frame_of(session, WIRE_PING, WIRE_MAX_PING);

		assert_true(ledger_queue(ledger, member, &another, 0));
	}
	assert_int_equal(queue_batch(ledger, busy, all, 0), ROOM / 4);
	ledger_unqueue(ledger, &ping);
	assert_true(ledger_queue(ledger, quiet, &ping, 0));
}

/* The storer bounds the sessions that it knows: of those that it has forgotten, the ones heard of last stay. */
static void
sessions_beyond_the_most_push_out_the_most_silent(void **state)
{
	struct ledger *ledger = *state;
	uint8_t id[WIRE_SESSION_SIZE];

	for (uint8_t session = 1; session <= MOST; session++)
		tell(ledger, WIRE_OPENED, session, &first, 1000, session);
	ledger_hear(ledger, tell(ledger, WIRE_ACK, 1, &first, 1000, MOST), MOST);
	tell(ledger, WIRE_OPENED, 2, &first, 1000, MOST); /* again */
	for (uint8_t session = MOST + 1; session <= MOST + 2; session++) {
		tell(ledger, WIRE_OPENED, session, &first, 1000, session);
		assert_int_equal(ledger->count, MOST);
	}
	for (uint8_t session = 1; session <= MOST + 2; session++) {
		memset(id, session, sizeof(id));
		assert_int_equal(ledger_find(ledger, id) != NULL, session != 3 && session != 4);
	}
}

static void
a_session_is_that_of_its_connection(void **state)
{
	struct ledger *ledger = *state;
	struct member *member = tell(ledger, WIRE_OPENED, 1, &first, 1000, 0);

	assert_int_equal(member->ack.acknowledged, 7);
	/* What was said to the old connection does not count any more. */
	tell(ledger, WIRE_OPENED, 1, &second, 500, 0);
	assert_true(peer_is_same(&member->connection->peer, &second));
	tell(ledger, WIRE_ACK, 1, &first, 900, 0);
	assert_int_equal(member->credit, 500);
	/* The storer does not know it any more. */
	for (int i = 0; i < 2; i++) {
		struct reply reply = reply_of(WIRE_ERROR, 1, i ? &second : &first, 0, 0);

		reply.code = WIRE_E_NO_SESSION;
		ledger_take_reply(ledger, &reply, 0);
		assert_int_equal(ledger->count, i ? 0 : 1);
	}
	assert_null(tell(ledger, WIRE_ACK, 1, &second, 900, 0)); /* an ack makes no session */
}

/* The storer drops what is queued of the old connection, and the client begins afresh with the answer on the new one. */
static void
a_session_on_a_new_connection_begins_afresh(void **state)
{
	struct ledger *ledger = *state;
	struct member *member = tell(ledger, WIRE_OPENED, 1, &first, 1000, 0);
	struct arrival arrival = frame_of(1, WIRE_BATCH, 1000);

	arrival.peer = second;
	assert_int_equal(queue_batch(ledger, member, 1000, 0), 0);
	member = tell(ledger, WIRE_OPENED, 1, &second, 1000, 0);
	assert_true(ledger_queue(ledger, member, &arrival, 0));
	done_with(ledger, 1, 1000, 0); /* the first one */
	assert_int_equal(member->queued, 1000);
	ledger_unqueue(ledger, &arrival);
	assert_int_equal(member->queued, 0);
}

static void
silent_sessions_are_forgotten(void **state)
{
	struct ledger *ledger = *state;
	int64_t now = 100000;

	for (uint8_t session = 1; session <= 100; session += 2)
		tell(ledger, WIRE_OPENED, session, &first, 1000, now);
	for (uint8_t session = 2; session <= 100; session += 2)
		tell(ledger, WIRE_OPENED, session, &first, 1000, now + 5000);
	now += LEDGER_SILENT_MS;
	ledger_forget_silent(ledger, now);
	assert_int_equal(ledger->count, 100);
	ledger_forget_silent(ledger, now + 1);
	assert_int_equal(ledger->count, 50);
	for (uint8_t session = 1; session <= 100; session++) {
		uint8_t id[WIRE_SESSION_SIZE];

		memset(id, session, sizeof(id));
		assert_int_equal(ledger_find(ledger, id) != NULL, session % 2 == 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(frames_beyond_the_credit_are_not_queued),
	        TEST(a_client_may_not_know_yet_that_it_has_less),
	        TEST(many_sessions_leave_room_for_others),
	        TEST(opens_leave_room_for_frames),
	        TEST(a_session_is_that_of_its_connection),
	        TEST(silent_sessions_are_forgotten),
	        TEST(a_session_on_a_new_connection_begins_afresh),
	        TEST(a_ping_has_a_place_of_its_own),
	        TEST(sessions_beyond_the_most_push_out_the_most_silent),
	        TEST(who_waits_for_answers_does_not_send_ahead),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}

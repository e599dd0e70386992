/* test_ledger.c: credit as the receiver enforces it, and what it knows of a session. */
#include "ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct peer first = {.socket = 1, .size = 5, .id = {1}}, second = {.socket = 1, .size = 5, .id = {2}};

static int
set_up(void **state)
{
	static struct ledger ledger;

	*state = &ledger;
	return ledger_init(&ledger);
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

static void
done_with(struct ledger *ledger, uint8_t session, enum wire_kind kind, size_t size)
{
	struct arrival arrival = {.size = size, .head.kind = kind};

	memset(arrival.head.session, session, WIRE_SESSION_SIZE);
	ledger_settle(ledger, &arrival);
}

static void
frames_beyond_the_credit_are_not_queued(void **state)
{
	struct ledger *ledger = *state;
	struct member *member = tell(ledger, WIRE_OPENED, 1, &first, 1000, 0);

	assert_true(ledger_charge(member, 600, 0));
	assert_true(ledger_charge(member, 400, 0));
	assert_false(ledger_charge(member, 1, 0));
	done_with(ledger, 1, WIRE_BATCH, 600);
	assert_true(ledger_charge(member, 600, 0));
	/* One frame is let in when nothing is queued, however large; none without credit. */
	done_with(ledger, 1, WIRE_BATCH, 1000);
	assert_int_equal(member->queued, 0);
	assert_true(ledger_charge(member, 5000, 0));
	done_with(ledger, 1, WIRE_BATCH, 5000);
	member = tell(ledger, WIRE_OPENED, 2, &first, 0, 0);
	assert_false(ledger_charge(member, 1, 0));
}

static void
a_client_may_not_know_yet_that_it_has_less(void **state)
{
	struct ledger *ledger = *state;
	struct member *member = tell(ledger, WIRE_OPENED, 1, &first, 1000, 0);

	tell(ledger, WIRE_ACK, 1, &first, 100, 10000);
	assert_true(ledger_charge(member, 900, 10000 + LEDGER_FORMER_MS - 1));
	assert_false(ledger_charge(member, 101, 10000 + LEDGER_FORMER_MS - 1));
	assert_false(ledger_charge(member, 10, 10000 + LEDGER_FORMER_MS));
	/* Less and less does not make the time longer. */
	tell(ledger, WIRE_ACK, 1, &first, 1000, 20000);
	tell(ledger, WIRE_ACK, 1, &first, 500, 20000);
	tell(ledger, WIRE_ACK, 1, &first, 0, 20000 + LEDGER_FORMER_MS - 1);
	assert_true(ledger_charge(member, 10, 20000 + LEDGER_FORMER_MS - 1));
	assert_false(ledger_charge(member, 10, 20000 + LEDGER_FORMER_MS));
}

static void
a_session_is_that_of_its_connection(void **state)
{
	struct ledger *ledger = *state;
	struct member *member = tell(ledger, WIRE_OPENED, 1, &first, 1000, 0);

	assert_int_equal(member->ack.acknowledged, 7);
	/* What was said to the old connection does not count any more. */
	tell(ledger, WIRE_OPENED, 1, &second, 500, 0);
	assert_true(peer_is_same(&member->peer, &second));
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

static void
silent_sessions_are_forgotten(void **state)
{
	struct ledger *ledger = *state;
	int64_t now = 100000;

	for (uint8_t session = 1; session <= 100; session++)
		tell(ledger, WIRE_OPENED, session, &first, 1000, session % 2 ? now : now + 5000);
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
	        TEST(a_session_is_that_of_its_connection),
	        TEST(silent_sessions_are_forgotten),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}

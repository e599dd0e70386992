/* test_ingest.c: the rules of the wire on a real store: numbers, acknowledgement, refusals, liveness, credit. */
#include "ingest_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
acknowledges_after_the_commit_only(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	assert_int_equal(f->reply_count, 0);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->acknowledged, 0);
	assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->id_kind, WIRE_ID_NONE);
	assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->credit, 8u << 20);
	fixture_forget(f);
	fixture_batch(f, 1, 1, 0, 10, 3, 0.25f, true);
	fixture_batch(f, 1, 2, 0, 20, 3, 0.5f, false);
	assert_int_equal(f->reply_count, 0);
	fixture_commit(f);
	assert_int_equal(f->reply_count, 1); /* one ack for both */
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 2);
	assert_int_equal(f->ingest.totals.observations, 6);
	assert_int_equal(fixture_run(f, "run").state, STORE_RECORDING);
	assert_true(fixture_gold_prob(f, "run", 11, 0) == 0.25f);
	assert_true(fixture_gold_prob(f, "run", 22, 0) == 0.5f);
	assert_true(fixture_gold_prob(f, "run", 13, 0) < 0);
}

static void
repeats_change_nothing(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
	fixture_forget(f);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.75f, false);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->replaced, 0);
	assert_int_equal(fixture_log(f, "run", 0).rows, 4);
	assert_int_equal(f->ingest.totals.observations, 4);
	assert_true(fixture_gold_prob(f, "run", 0, 0) == 0.25f);
}

static void
a_gap_is_told_once(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 1, 0.25f, true);
	fixture_commit(f);
	fixture_forget(f);
	fixture_batch(f, 1, 3, 0, 2, 1, 0.25f, true);
	fixture_batch(f, 1, 4, 0, 3, 1, 0.25f, true);
	fixture_commit(f);
	assert_int_equal(f->reply_count, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_SEQUENCE);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->sequence, 3);
	/* The error may be lost on its way: a ping brings it again. */
	fixture_forget(f);
	fixture_ping(f, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_SEQUENCE);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 1);
	fixture_forget(f);
	for (uint64_t sequence = 2; sequence <= 4; sequence++)
		fixture_batch(f, 1, sequence, 0, sequence - 1, 1, 0.25f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 4);
	assert_int_equal(fixture_log(f, "run", 0).rows, 4);
}

static void
refused_rows_use_the_number_up(void **state)
{
	struct fixture *f = *state;
	struct wire_open declared = {.examples = 10};

	fixture_open(f, 1, "run", &declared);
	fixture_batch(f, 1, 1, 0, 8, 4, 0.25f, true); /* 8, 9, and two beyond */
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->refused, 2);
	assert_int_equal(f->ingest.totals.observations, 2);
	/* The other kind of id: the whole batch. */
	fixture_forget(f);
	fixture_text_batch(f, 1, 2, "word");
	assert_int_equal(f->reply_count, 0);
	fixture_fail_commits(1);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 0); /* or its rows would be counted twice */
	fixture_wait(f, INGEST_RETRY_MS);
	fixture_text_batch(f, 1, 2, "word");
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 2);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->refused, 3);
	fixture_batch(f, 1, 3, 0, 0, 1, 0.25f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 3);
}

static void
silence_ends_a_session(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_commit(f);
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS - 1000);
	fixture_ping(f, 1);
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS);
	assert_int_equal(f->ingest.sessions.live, 1);
	fixture_wait(f, 1000);
	assert_int_equal(f->ingest.sessions.live, 0);
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
	assert_int_equal(fixture_log(f, "run", 0).rows, 0);
	/* Heard again, it opens again, and goes on where it was. */
	fixture_batch(f, 1, 2, 0, 2, 2, 0.5f, true);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_NO_SESSION);
	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->acknowledged, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->id_kind, WIRE_ID_INT);
	assert_int_equal(fixture_run(f, "run").state, STORE_RECORDING);
	fixture_batch(f, 1, 2, 0, 2, 2, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 2);
}

static size_t
count_replies(const struct fixture *f, enum wire_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < f->reply_count; i++)
		count += f->replies[i].kind == kind;
	return count;
}

/* Nobody else waits until thousands of sessions are gone. */
static void
silent_sessions_expire_some_at_a_time(void **state)
{
	enum { SESSIONS = 1200 };
	struct fixture *f = *state;
	struct wire_frame frame = {
	        .kind = WIRE_OPEN,
	        .open = {.run = {(const uint8_t *)"run", 3}, .group = {(const uint8_t *)"job", 3}, .started = 1}};
	unsigned ticks = 1;

	for (uint32_t rank = 0; rank < SESSIONS; rank++) {
		memcpy(frame.session, &rank, sizeof(rank));
		frame.open.rank = rank;
		ingest_frame(&f->ingest,
		             &(struct sender){&(struct peer){.size = 1, .id = {(uint8_t)(rank / 75)}}, true, NULL},
		             &frame, 100, f->now);
		if (rank % 100 == 99) {
			fixture_commit(f);
			assert_int_equal(count_replies(f, WIRE_OPENED), 100);
			fixture_forget(f);
		}
	}
	assert_int_equal(f->ingest.sessions.live, SESSIONS);
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS);
	f->now += 1000;
	while (ingest_tick(&f->ingest, f->now)) {
		assert_true(f->ingest.sessions.live >= SESSIONS - 512 * ticks++);
		assert_int_equal(fixture_run(f, "run").state, STORE_RECORDING);
		fixture_commit(f);
	}
	fixture_commit(f);
	assert_int_equal(ticks, 3);
	assert_int_equal(f->ingest.sessions.live, 0);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
}

static void
a_stalled_collector_blames_nobody(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	f->now += 3600 * 1000;
	ingest_tick(&f->ingest, f->now);
	fixture_commit(f);
	assert_int_equal(f->ingest.sessions.live, 1);
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS + 1000);
	assert_int_equal(f->ingest.sessions.live, 0);
}

static void
unknown_sessions_are_told_to_open(void **state)
{
	struct fixture *f = *state;

	fixture_batch(f, 1, 1, 0, 0, 1, 0.5f, true);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_NO_SESSION);
	fixture_ping(f, 2);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_NO_SESSION);
}

static void
a_closed_session_may_repeat_its_close(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_close(f, 1, 1);
	fixture_commit(f);
	fixture_forget(f);
	fixture_close(f, 1, 1);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 1);
	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->acknowledged, 1);
	assert_int_equal(f->ingest.sessions.live, 0);
	fixture_batch(f, 1, 2, 0, 0, 1, 0.5f, true);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_MALFORMED);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
}

static void
credit_is_a_share_of_the_memory_cap(void **state)
{
	struct fixture *f = *state; /* cap 64 MB: 8 for credit */

	for (uint8_t session = 1; session <= 8; session++) {
		char name[8] = {'r', (char)('0' + session)};

		fixture_open(f, session, name, NULL);
	}
	fixture_commit(f);
	fixture_ping(f, 1);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->credit, 1u << 20);
}

/* A client that is not told goes on with the credit of the days when it was alone. */
static void
credit_is_taken_back_when_others_come(void **state)
{
	struct fixture *f = *state; /* 8 MB for credit */
	uint64_t credit[FIXTURE_REPLIES] = {0}, most = 0;

	for (uint8_t session = 1; session <= 32; session++) {
		char name[4] = {'r', (char)('0' + session / 10), (char)('0' + session % 10)};
		uint64_t all = 0;

		fixture_open(f, session, name, NULL);
		fixture_commit(f);
		for (size_t i = 0; i < f->reply_count; i++)
			credit[f->replies[i].session] = f->replies[i].credit;
		fixture_forget(f);
		for (uint8_t other = 1; other <= session; other++)
			all += credit[other];
		most = all > most ? all : most;
	}
	assert_true(most <= 12u << 20);
	fixture_close(f, 32, 1);
	fixture_commit(f);
	assert_int_equal(f->reply_count, 1); /* that there is more for each can wait */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(acknowledges_after_the_commit_only),
	        TEST(repeats_change_nothing),
	        TEST(a_gap_is_told_once),
	        TEST(refused_rows_use_the_number_up),
	        TEST(silence_ends_a_session),
	        TEST(silent_sessions_expire_some_at_a_time),
	        TEST(a_stalled_collector_blames_nobody),
	        TEST(unknown_sessions_are_told_to_open),
	        TEST(a_closed_session_may_repeat_its_close),
	        TEST(credit_is_a_share_of_the_memory_cap),
	        TEST(credit_is_taken_back_when_others_come),
	};

	return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}

/* What one connection, or one run, may take of what all share: places in the table of sessions, credit. */
#include "ingest_fixture.h"

#include "ingest.h"
#include "shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct peer
peer_of(unsigned connection)
{
	struct peer peer = {.size = 5};

	memcpy(peer.id + 1, &connection, sizeof(connection));
	return peer;
}

/* The answer to an `open` of that session, a rank of the one launch there is, through that connection. */
static struct fixture_reply
open_through(struct fixture *f, unsigned connection, uint32_t session)
{
	const struct peer peer = peer_of(connection);
	struct wire_frame frame = {.kind = WIRE_OPEN,
	                           .open = {.run = {(const uint8_t *)"run", 3},
	                                    .group = {(const uint8_t *)"job", 3},
	                                    .rank = session,
	                                    .resume = true}};

	memcpy(frame.session, &session, sizeof(session));
	frame.open.started = session;
	f->reply_count = 0;
	ingest_frame(&f->ingest, &(struct sender){&peer, true, NULL}, &frame, 100, f->now);
	fixture_commit(f);
	assert_true(f->reply_count > 0);
	for (size_t i = 1; i < f->reply_count; i++) /* others are told that there is less credit */
		assert_int_equal(f->replies[i].kind, WIRE_ACK);
	return f->replies[0];
}

/* How many new sessions of so many come in. */
static unsigned
open_many(struct fixture *f, unsigned connection, uint32_t first, unsigned count)
{
	unsigned opened = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct fixture_reply reply = open_through(f, connection, first + i);

		if (reply.kind == WIRE_OPENED) {
			opened++;
			continue;
		}
		assert_int_equal(reply.kind, WIRE_ERROR);
		assert_int_equal(reply.code, WIRE_E_UNAVAILABLE);
	}
	return opened;
}

static void
a_connection_has_its_share_of_the_table(void **state)
{
	struct fixture *f = *state;
	size_t most = sessions_most(f->ingest.options.max_memory);
	unsigned share = (unsigned)most / 16, all = 0;
	struct fixture_reply reply;

	assert_int_equal(open_many(f, 0, 1, share + 5), share);
	assert_int_equal(f->troubles, 1);
	assert_non_null(strstr(f->trouble, "too many sessions"));
	/* Its own are known, and may be opened again: but not somebody else's to it. */
	assert_int_equal(open_through(f, 0, 1).kind, WIRE_OPENED);
	assert_int_equal(open_through(f, 1, 1000000).kind, WIRE_OPENED);
	assert_int_equal(open_through(f, 0, 1000000).kind, WIRE_ERROR);
	/* Many connections that take their share each: who is in stays in, and the others are turned away by name. */
	for (unsigned connection = 2; connection < 32; connection++)
		all += open_many(f, connection, 2000000 + connection * 10000, share);
	assert_int_equal(f->ingest.sessions.count, most);
	assert_true(all > most / 2);
	reply = open_through(f, 99, 3000000);
	assert_int_equal(reply.code, WIRE_E_UNAVAILABLE);
	assert_non_null(strstr(reply.message, "too many sessions"));
	assert_int_equal(open_through(f, 0, 2).kind, WIRE_OPENED);
	assert_int_equal(f->troubles, 1);
}

static void
credit_is_shared_by_connection(void **state)
{
	struct fixture *f = *state;
	uint64_t all = shares_of(f->ingest.options.max_memory, SHARES_CREDIT), before, good;

	assert_int_equal(open_through(f, 1, 1).kind, WIRE_OPENED);
	before = f->replies[0].credit;
	assert_int_equal(open_many(f, 2, 100, 60), 60);
	assert_int_equal(open_through(f, 1, 1).kind, WIRE_OPENED);
	good = f->replies[0].credit;
	assert_int_equal(good, before < all / 2 ? before : all / 2);
	assert_int_equal(open_through(f, 2, 100).credit, all / 2 / 60);
	/* A session that goes to another connection takes its share along. */
	assert_int_equal(open_through(f, 3, 100).credit, before < all / 3 ? before : all / 3);
	assert_int_equal(f->ingest.sessions.parties, 3);
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS + 2000);
	assert_int_equal(f->ingest.sessions.parties, 0);
	assert_int_equal(f->ingest.sessions.live, 0);
}

static const struct fixture_reply *
last_of_kind(struct fixture *f, uint8_t session, enum wire_kind kind)
{
	for (size_t i = f->reply_count; i-- > 0;)
		if (f->replies[i].session == session && f->replies[i].kind == kind)
			return &f->replies[i];
	fail_msg("session %u has no reply of kind %d", session, kind);
	return NULL;
}

/* Ids that are not declared, and for which there is no memory: the session ends, and what it has acknowledged stays. */
static void
a_run_without_room_for_ids_ends(void **state)
{
	enum { MOST = 590000, HALF = MOST / 2, MORE = 20000 }; /* ids in 10.4 MB; MORE of them need 11.7 */
	struct fixture *f = *state;
	struct wire_open resume = {.resume = true};

	store_writer_limit_ids(f->writer, (size_t)11 << 20);
	fixture_open(f, 1, "many", NULL);
	fixture_open(f, 2, "few", NULL);
	fixture_batch(f, 1, 1, 0, 0, HALF, 0.5f, true);
	fixture_batch(f, 1, 2, 0, HALF, HALF, 0.5f, true);
	fixture_batch(f, 1, 3, 1, HALF, 100, 0.5f, true); /* known */
	fixture_commit(f);
	assert_int_equal(last_of_kind(f, 1, WIRE_ACK)->acknowledged, 3);
	fixture_forget(f);

	fixture_batch(f, 1, 4, 1, MOST, MORE, 0.25f, true);
	fixture_batch(f, 1, 5, 1, MOST + MORE, MORE, 0.25f, true); /* was under way */
	fixture_batch(f, 2, 1, 0, 0, 500, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(last_of_kind(f, 1, WIRE_ERROR)->code, WIRE_E_TOO_MANY_IDS);
	assert_int_equal(last_of_kind(f, 1, WIRE_ERROR)->sequence, 4);
	assert_non_null(strstr(last_of_kind(f, 1, WIRE_ERROR)->message, "examples=N"));
	assert_non_null(strstr(last_of_kind(f, 1, WIRE_ERROR)->message, "--max-memory"));
	assert_int_equal(last_of_kind(f, 2, WIRE_ACK)->acknowledged, 1);
	assert_true(last_of_kind(f, 2, WIRE_ACK)->credit > 0);
	assert_int_equal(f->troubles, 1);
	assert_non_null(strstr(f->trouble, "run 'many'"));
	assert_int_equal(fixture_run(f, "many").state, STORE_CLOSED);
	assert_int_equal(fixture_run(f, "many").rows, MOST);
	assert_int_equal(f->ingest.sessions.live, 1);

	/* It is told so again if it comes back; with more memory it goes on where it was. */
	fixture_forget(f);
	fixture_open(f, 1, "many", &resume);
	fixture_commit(f);
	assert_int_equal(last_of_kind(f, 1, WIRE_OPENED)->acknowledged, 3);
	fixture_batch(f, 1, 4, 1, MOST, MORE, 0.25f, true);
	fixture_commit(f);
	assert_int_equal(last_of_kind(f, 1, WIRE_ERROR)->code, WIRE_E_TOO_MANY_IDS);
	store_writer_limit_ids(f->writer, (size_t)64 << 20);
	fixture_open(f, 1, "many", &resume);
	fixture_batch(f, 1, 4, 1, MOST, MORE, 0.25f, true);
	fixture_commit(f);
	assert_int_equal(last_of_kind(f, 1, WIRE_ACK)->acknowledged, 4);
	assert_int_equal(fixture_run(f, "many").rows, MOST + MORE);
	assert_int_equal(fixture_log(f, "many", 1).rows, 100 + MORE);
}

/* Every share is a bound of its own; together they are the cap. */
static void
shares_sum_up_to_the_cap(void **state)
{
	const size_t caps[] = {(size_t)32 << 20, (size_t)64 << 20, (size_t)512 << 20, (size_t)4 << 30};

	(void)state;
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++) {
		size_t cap = caps[i], admitted = shares_connections(cap);
		size_t coming = shares_connected(admitted) - admitted;
		size_t held = admitted * ((SHARES_RECEIVE_QUEUE + 1) * (size_t)WIRE_MAX_FRAME + SHARES_CONNECTION) +
		              coming * (WIRE_MAX_FRAME + SHARES_CONNECTION);

		assert_true(admitted >= 8);
		assert_true(held <= shares_of(cap, SHARES_CONNECTIONS));
	}
	assert_int_equal(SHARES_CONNECTIONS + SHARES_QUEUE + SHARES_IDS + SHARES_FOLDS + SHARES_SESSIONS + SHARES_REST,
	                 32);
	assert_true(SHARES_CREDIT <= SHARES_QUEUE / 2);
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++) {
		assert_int_equal(shares_of(caps[i], SHARES_REST), caps[i] / 32);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(a_connection_has_its_share_of_the_table, fixture_set_up,
	                                        fixture_tear_down),
	        cmocka_unit_test_setup_teardown(credit_is_shared_by_connection, fixture_set_up, fixture_tear_down),
	        cmocka_unit_test_setup_teardown(a_run_without_room_for_ids_ends, fixture_set_up, fixture_tear_down),
	        cmocka_unit_test(shares_sum_up_to_the_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

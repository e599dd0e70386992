/* test_joining.c: which run a session gets: joined, resumed, overwritten, whole, refused, removed. */
#include "ingest_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A rank of the job "job", which began at `seconds`. */
static void
open_rank(struct fixture *f, uint8_t session, uint32_t rank, uint64_t seconds, bool overwrite)
{
	struct wire_open open = {.group = {(const uint8_t *)"job", 3},
	                         .rank = rank,
	                         .started = 1000000000 * seconds,
	                         .overwrite = overwrite};

	fixture_open(f, session, "run", &open);
	fixture_commit(f);
}

static void
runs_are_joined_resumed_overwritten_or_refused(void **state)
{
	struct fixture *f = *state;
	struct wire_open resume = {.resume = true}, overwrite = {.overwrite = true};
	struct wire_open other_mode = {.resume = true, .mode = PORTOLAN_TRAIN_FORWARD};
	uint32_t number;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
	number = fixture_run(f, "run").number;
	fixture_open(f, 2, "run", NULL);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	fixture_open(f, 3, "run", &other_mode);
	assert_int_equal(fixture_last(f, 3, WIRE_ERROR)->code, WIRE_E_RUN_DIFFERS);
	fixture_open(f, 4, "run", &resume);
	assert_int_equal(fixture_last(f, 4, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE); /* while the other may be alive */
	fixture_wait(f, 5001);
	fixture_open(f, 4, "run", &resume);
	fixture_commit(f);
	fixture_last(f, 4, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").number, number);
	/* What is overwritten is gone, and its sessions learn it. */
	fixture_open(f, 5, "run", &overwrite);
	fixture_commit(f);
	fixture_last(f, 5, WIRE_OPENED);
	assert_int_not_equal(fixture_run(f, "run").number, number);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	assert_int_equal(fixture_last(f, 4, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	fixture_forget(f);
	fixture_batch(f, 1, 2, 0, 0, 4, 0.5f, true);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	fixture_open(f, 1, "run", NULL);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").observations, 0);
	assert_int_equal(f->ingest.sessions.live, 1);
}

/* A group is one launch, whatever the clocks say. */
static void
ranks_of_one_launch_share_a_run(void **state)
{
	struct fixture *f = *state;
	uint32_t number;

	open_rank(f, 1, 0, 100, true);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_commit(f);
	number = fixture_run(f, "run").number;
	open_rank(f, 2, 1, 4000, true); /* late, */
	fixture_last(f, 2, WIRE_OPENED);
	open_rank(f, 3, 2, 1, false); /* by a clock that is behind, */
	fixture_last(f, 3, WIRE_OPENED);
	for (uint8_t session = 1; session <= 3; session++)
		fixture_close(f, session, session == 1 ? 2 : 1);
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
	open_rank(f, 4, 3, 100000, true); /* and when all others have closed, */
	fixture_last(f, 4, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").number, number);
	assert_int_equal(fixture_run(f, "run").state, STORE_RECORDING);
	fixture_close(f, 4, 1);
	fixture_restart(f); /* also after a restart */
	open_rank(f, 5, 4, 100000, false);
	fixture_last(f, 5, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").number, number);
	assert_int_equal(fixture_run(f, "run").observations, 2);
}

/* Who starts a crashed job again under its old group goes on with `resume`, or begins anew with `overwrite`, and need
 * not wait for the time-out; what is alive is not taken away. */
static void
a_job_started_again_under_its_old_group(void **state)
{
	struct fixture *f = *state;
	struct wire_open resume = {.group = {(const uint8_t *)"job", 3}, .rank = 1, .resume = true};
	uint32_t crashed, number;

	open_rank(f, 1, 0, 100, false);
	open_rank(f, 2, 1, 101, false);
	fixture_batch(f, 1, 1, 7, 0, 2, 0.25f, true);
	fixture_commit(f);
	crashed = fixture_run(f, "run").number;
	open_rank(f, 3, 1, 102, false);
	assert_int_equal(fixture_last(f, 3, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	fixture_open(f, 4, "run", &resume);
	assert_int_equal(fixture_last(f, 4, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE);
	fixture_wait(f, 5001);
	fixture_open(f, 4, "run", &resume);
	fixture_commit(f);
	fixture_last(f, 4, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").number, crashed);
	/* The old ones might be alive. */
	open_rank(f, 5, 1, 103, true);
	assert_int_equal(fixture_last(f, 5, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE);
	fixture_wait(f, 3000);
	open_rank(f, 5, 1, 103, true);
	assert_int_equal(fixture_last(f, 5, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE);
	fixture_wait(f, 3000);
	open_rank(f, 5, 1, 103, true);
	fixture_last(f, 5, WIRE_OPENED);
	number = fixture_run(f, "run").number;
	assert_int_not_equal(number, crashed);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	open_rank(f, 6, 0, 104, true);
	fixture_last(f, 6, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").number, number);
	/* These are: they are heard of. */
	for (int second = 0; second < 7; second++) {
		open_rank(f, 7, 0, 200, true);
		assert_int_equal(fixture_last(f, 7, WIRE_ERROR)->code,
		                 second == 6 ? WIRE_E_RUN_EXISTS : WIRE_E_UNAVAILABLE);
		fixture_wait(f, 1000);
		fixture_ping(f, 5);
		fixture_ping(f, 6);
	}
	assert_non_null(strstr(fixture_last(f, 7, WIRE_ERROR)->message, "alive"));
	assert_int_equal(fixture_run(f, "run").number, number);
	/* Another group is another launch. */
	{
		struct wire_open other = {.group = {(const uint8_t *)"job 2", 5}, .rank = 9, .overwrite = true};

		fixture_open(f, 8, "run", &other);
		fixture_commit(f);
		fixture_last(f, 8, WIRE_OPENED);
		assert_int_not_equal(fixture_run(f, "run").number, number);
	}
}

/* An `open` is idempotent: the same content has the same answer, other content is an error, also after a restart. */
static void
a_known_session_with_other_content_is_refused(void **state)
{
	struct fixture *f = *state;
	const struct wire_open first = {.group = {(const uint8_t *)"job", 3}, .rank = 3, .examples = 10, .started = 50};

	fixture_open(f, 1, "run", &first);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
	for (int restarted = 0; restarted < 2; restarted++) {
		struct wire_open other[] = {first, first, first, first, first, first};

		other[1].mode = PORTOLAN_TRAIN_FORWARD;
		other[2].started = 51;
		other[3].examples = 0;
		other[4].group.size = 2;
		other[5].rank = 4;
		for (unsigned i = 0; i < sizeof(other) / sizeof(*other); i++) {
			other[i].resume = true;
			fixture_open(f, 1, i ? "run" : "other", &other[i]);
			fixture_commit(f);
			assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_SESSION_DIFFERS);
			assert_non_null(strstr(fixture_last(f, 1, WIRE_ERROR)->message, "'run'"));
		}
		assert_false(fixture_has_run(f, "other"));
		fixture_open(f, 1, "run", &first);
		fixture_commit(f);
		assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->acknowledged, 1);
		fixture_restart(f);
	}
	assert_int_equal(fixture_run(f, "run").observations, 4);
}

/* What a client says was acknowledged, and the store does not have, is told at once. */
static void
a_session_that_knows_more_than_the_store_is_refused(void **state)
{
	struct fixture *f = *state;
	struct wire_open open = {.after = 1, .started = 5};

	fixture_open(f, 1, "run", &(struct wire_open){.started = 5});
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
	for (int restarted = 0; restarted < 2; restarted++) {
		open.after = 1;
		fixture_open(f, 1, "run", &open);
		fixture_commit(f);
		assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->acknowledged, 1);
		open.after = 2;
		fixture_open(f, 1, "run", &open);
		fixture_commit(f);
		assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_NO_BEGINNING);
		fixture_restart(f);
	}
}

static void
ranks_taken_back_by_a_failure_are_free_again(void **state)
{
	struct fixture *f = *state;

	open_rank(f, 1, 0, 100, false);
	fixture_fail_commits(1);
	open_rank(f, 2, 1, 100, false);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE);
	fixture_wait(f, INGEST_RETRY_MS);
	open_rank(f, 3, 1, 100, false);
	assert_int_equal(f->ingest.sessions.live, 2);
	for (uint8_t rank = 2; rank < 200; rank++) {
		open_rank(f, 3 + rank, rank, 100, false);
		fixture_last(f, 3 + rank, WIRE_OPENED);
		fixture_forget(f);
	}
	open_rank(f, 250, 150, 100, false);
	assert_int_equal(fixture_last(f, 250, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
}

static void
a_late_session_of_an_earlier_launch_stays_out(void **state)
{
	struct fixture *f = *state;
	struct wire_open late = {.group = {(const uint8_t *)"job", 3}, .started = UINT64_C(50000000000), .late = true};

	open_rank(f, 1, 0, 100, true);
	fixture_open(f, 2, "run", &late);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	late.rank = 1;
	fixture_open(f, 3, "run", &late);
	fixture_commit(f);
	fixture_last(f, 3, WIRE_OPENED);
}

static void
a_whole_run_comes_to_light_when_it_closes(void **state)
{
	struct fixture *f = *state;
	struct wire_open whole = {.whole = true, .overwrite = true};
	uint32_t earlier;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
	earlier = fixture_run(f, "run").number;
	fixture_open(f, 2, "run", &whole);
	fixture_batch(f, 2, 1, 0, 0, 2, 0.75f, true);
	fixture_end(f, 2, 2, 0);
	fixture_work(f); /* it is folded, unseen */
	assert_int_equal(fixture_last(f, 2, WIRE_ACK)->acknowledged, 2);
	assert_int_equal(fixture_run(f, "run").number, earlier);
	fixture_batch(f, 1, 2, 0, 4, 1, 0.25f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 2);
	assert_true(fixture_run(f, "run").observations == 5);
	/* A failed commit leaves the earlier one in its place. */
	fixture_fail_commits(1);
	fixture_close(f, 2, 3);
	fixture_commit(f);
	assert_int_equal(fixture_run(f, "run").number, earlier);
	fixture_wait(f, INGEST_RETRY_MS);
	assert_int_equal(f->ingest.sessions.live, 2);
	fixture_close(f, 2, 3);
	fixture_work(f);
	assert_int_equal(fixture_last(f, 2, WIRE_ACK)->acknowledged, 3);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	assert_int_equal(fixture_run(f, "run").observations, 2);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
	assert_true(fixture_gold_prob(f, "run", 1, 0) == 0.75f);
}

static void
a_whole_run_that_is_left_comes_to_nothing(void **state)
{
	struct fixture *f = *state;
	struct wire_open whole = {.whole = true}, overwrite = {.overwrite = true};

	/* Its client falls silent. */
	fixture_open(f, 1, "run", &whole);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_end(f, 1, 2, 0);
	fixture_work(f);
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS + 2000);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	assert_int_equal(f->ingest.sessions.live, 0);
	fixture_work(f);
	fixture_wait(f, 1000);
	assert_null(f->ingest.sessions.runs);
	assert_false(fixture_has_run(f, "run"));
	/* The collector is killed. */
	fixture_open(f, 2, "run", &whole);
	fixture_batch(f, 2, 1, 0, 0, 2, 0.25f, true);
	fixture_commit(f);
	fixture_restart(f);
	assert_int_equal(f->ingest.sessions.count, 0);
	fixture_batch(f, 2, 2, 0, 2, 2, 0.25f, true);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_NO_SESSION);
	/* Somebody else, whom it does not disturb, was faster. */
	fixture_open(f, 3, "run", &whole);
	fixture_commit(f);
	fixture_open(f, 4, "run", &overwrite);
	fixture_batch(f, 4, 1, 0, 0, 1, 0.5f, true);
	fixture_batch(f, 3, 1, 0, 0, 2, 0.25f, true);
	fixture_close(f, 3, 2);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 3, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	assert_int_equal(fixture_last(f, 4, WIRE_ACK)->acknowledged, 1);
	fixture_open(f, 5, "run", &whole);
	assert_int_equal(fixture_last(f, 5, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").observations, 1);
}

static void
another_store_refuses_and_changes_nothing(void **state)
{
	struct fixture *f = *state;
	uint8_t other[WIRE_STORE_SIZE];
	struct wire_open open = {.overwrite = true, .started = 9, .store = other};
	uint32_t number;

	memcpy(other, store_writer_id(f->writer), sizeof(other));
	fixture_open(f, 1, "run", &open);
	fixture_commit(f);
	fixture_last(f, 1, WIRE_OPENED);
	number = fixture_run(f, "run").number;
	other[3] ^= 1;
	for (int late = 0; late < 2; late++) {
		open.late = late;
		fixture_open(f, 2, "run", &open);
		assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_OTHER_STORE);
	}
	fixture_commit(f);
	assert_int_equal(fixture_run(f, "run").number, number);
	/* The id is the store's, not the process's. */
	other[3] ^= 1;
	fixture_restart(f);
	assert_memory_equal(store_writer_id(f->writer), other, sizeof(other));
}

static void
without_its_beginning_a_session_is_not_begun(void **state)
{
	struct fixture *f = *state;
	struct wire_open tail = {.overwrite = true, .started = 20, .after = 3};
	uint32_t number;

	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	number = fixture_run(f, "run").number;
	for (int late = 0; late < 2; late++) {
		tail.late = late;
		fixture_open(f, 2, "run", &tail);
		assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_NO_BEGINNING);
		fixture_open(f, 2, "new", &tail);
		assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_NO_BEGINNING);
	}
	fixture_commit(f);
	assert_int_equal(fixture_run(f, "run").number, number);
	assert_false(fixture_has_run(f, "new"));
	tail.partial = true;
	fixture_open(f, 2, "new", &tail);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 2, WIRE_OPENED)->acknowledged, 3);
}

static void
runs_are_removed_by_the_owner_only(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_commit(f);
	fixture_remove(f, "run", false);
	assert_int_equal(fixture_last(f, 99, WIRE_ERROR)->code, WIRE_E_OWNER);
	fixture_remove(f, "nun", true);
	assert_int_equal(fixture_last(f, 99, WIRE_ERROR)->code, WIRE_E_NO_RUN);
	assert_int_equal(fixture_run(f, "run").observations, 2);
	fixture_remove(f, "run", true);
	fixture_last(f, 99, WIRE_ACK);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	assert_int_equal(f->ingest.sessions.live, 0);
	/* Its sessions leave the table, and the name is free. */
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS + 1000);
	fixture_work(f);
	fixture_wait(f, 1000);
	assert_int_equal(f->ingest.sessions.count, 0);
	assert_null(f->ingest.sessions.runs);
	fixture_open(f, 2, "run", NULL);
	fixture_commit(f);
	fixture_last(f, 2, WIRE_OPENED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(runs_are_joined_resumed_overwritten_or_refused),
	        TEST(ranks_of_one_launch_share_a_run),
	        TEST(a_job_started_again_under_its_old_group),
	        TEST(a_known_session_with_other_content_is_refused),
	        TEST(a_session_that_knows_more_than_the_store_is_refused),
	        TEST(ranks_taken_back_by_a_failure_are_free_again),
	        TEST(a_late_session_of_an_earlier_launch_stays_out),
	        TEST(a_whole_run_comes_to_light_when_it_closes),
	        TEST(a_whole_run_that_is_left_comes_to_nothing),
	        TEST(another_store_refuses_and_changes_nothing),
	        TEST(without_its_beginning_a_session_is_not_begun),
	        TEST(runs_are_removed_by_the_owner_only),
	};

	return cmocka_run_group_tests_name("joining", tests, NULL, NULL);
}

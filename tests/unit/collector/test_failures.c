/* test_failures.c: what a failing commit, a full disk, a lost run or a restart takes back, and that the rest goes on.
 */
#include "ingest_fixture.h"
#include "zero_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Removes a run behind the collector's back. */
static void
take_away(struct fixture *f, const char *run)
{
	struct portolan_error error = {0};

	fixture_commit(f);
	assert_int_equal(store_writer_remove_run(f->writer, (struct store_text){run, strlen(run)}, &error), 0);
	assert_int_equal(store_writer_commit(f->writer, &error), 0);
	fixture_forget(f);
}

static void
a_run_that_is_gone_stops_no_other(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "gone", NULL);
	fixture_open(f, 2, "stays", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_batch(f, 2, 1, 0, 0, 2, 0.25f, true);
	take_away(f, "gone");
	fixture_batch(f, 2, 2, 1, 0, 2, 0.5f, true);
	fixture_batch(f, 1, 2, 1, 0, 2, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	assert_int_equal(f->ingest.health, INGEST_READY);
	assert_int_equal(f->troubles, 1);
	assert_non_null(strstr(f->trouble, "gone"));
	fixture_open(f, 3, "new", NULL);
	fixture_batch(f, 2, 3, 2, 0, 2, 0.5f, true);
	fixture_work(f);
	assert_int_equal(fixture_last(f, 2, WIRE_ACK)->acknowledged, 3);
	assert_int_equal(fixture_last(f, 3, WIRE_OPENED)->acknowledged, 0);
	/* A run of this name may be made again, and the one that is gone leaves the table. */
	fixture_open(f, 4, "gone", NULL);
	fixture_batch(f, 4, 1, 0, 0, 1, 0.5f, true);
	fixture_work(f);
	assert_int_equal(fixture_last(f, 4, WIRE_ACK)->acknowledged, 1);
	assert_true(fixture_gold_prob(f, "gone", 0, 0) == 0.5f);
	fixture_wait(f, 2 * WIRE_SESSION_TIMEOUT_MS);
	assert_int_equal(f->ingest.sessions.count, 0);
	assert_int_equal(f->troubles, 1);
}

/* Nobody sends anything: the end of its session is what finds out. */
static void
a_run_that_is_gone_can_expire(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "gone", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	take_away(f, "gone");
	fixture_wait(f, 3 * WIRE_SESSION_TIMEOUT_MS);
	assert_int_equal(f->ingest.sessions.count, 0);
	assert_null(f->ingest.sessions.runs);
	assert_int_equal(f->ingest.health, INGEST_READY);
}

static void
goes_on_after_a_restart(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_end(f, 1, 2, 0);
	fixture_commit(f);
	fixture_batch(f, 1, 3, 1, 0, 2, 0.5f, true); /* not committed */
	fixture_restart(f);
	assert_int_equal(f->ingest.sessions.live, 1);
	fixture_work(f); /* the fold that was due */
	assert_int_equal(fixture_log(f, "run", 0).rows, 0);
	fixture_batch(f, 1, 4, 1, 2, 2, 0.5f, true); /* 3 may be lost: it has to ask first */
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_NO_SESSION);
	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 3, 1, 0, 2, 0.5f, true);
	fixture_batch(f, 1, 4, 1, 2, 2, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 4);
	assert_int_equal(fixture_log(f, "run", 1).rows, 4);
	/* Nobody comes back: the run closes by itself. */
	fixture_restart(f);
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS + 1000);
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
	assert_int_equal(fixture_run(f, "run").observations, 6);
}

/* A store may have any number of runs: those for which nothing is left to do take no memory. */
static void
only_runs_with_work_left_are_taken_over(void **state)
{
	struct fixture *f = *state;

	for (uint8_t run = 1; run <= 3; run++) {
		const char name[] = {'a', (char)('0' + run), '\0'};

		fixture_open(f, run, name, NULL);
		fixture_batch(f, run, 1, 0, 0, 2, 0.25f, true);
		if (run > 1)
			fixture_close(f, run, 2);
		fixture_commit(f);
		if (run == 2)
			fixture_work(f);
	}
	fixture_restart(f);
	assert_non_null(sessions_next_named(&f->ingest.sessions, "a1", NULL)); /* live */
	assert_null(sessions_next_named(&f->ingest.sessions, "a2", NULL));
	assert_non_null(sessions_next_named(&f->ingest.sessions, "a3", NULL)); /* to be folded */
	fixture_work(f);
	assert_int_equal(fixture_log(f, "a3", 0).rows, 0);
	fixture_open(f, 4, "a2", &(struct wire_open){.resume = true});
	fixture_commit(f);
	fixture_last(f, 4, WIRE_OPENED);
}

static void
a_full_disk_takes_nothing_and_loses_nothing(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_commit(f);
	fixture_forget(f);
	fixture_fail_commits(2);
	fixture_batch(f, 1, 2, 0, 2, 2, 0.5f, true);
	fixture_open(f, 2, "other", NULL);
	fixture_commit(f);
	assert_int_equal(f->troubles, 1);
	assert_non_null(strstr(f->trouble, "no space"));
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_UNAVAILABLE), 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->credit, 0);
	/* While it lasts, everybody is told, once. */
	fixture_forget(f);
	fixture_batch(f, 1, 3, 0, 4, 2, 0.5f, true);
	fixture_batch(f, 1, 4, 0, 6, 2, 0.5f, true);
	assert_int_equal(f->reply_count, 0);
	fixture_open(f, 3, "third", NULL);
	assert_int_equal(fixture_last(f, 3, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE);
	/* After a second one frame may be tried; it fails again, without another line. */
	fixture_wait(f, INGEST_RETRY_MS);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->credit, 1);
	fixture_batch(f, 1, 2, 0, 2, 2, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->credit, 0);
	assert_int_equal(f->troubles, 0);
	/* Then there is room, and it goes on by itself. */
	fixture_wait(f, INGEST_RETRY_MS);
	fixture_batch(f, 1, 2, 0, 2, 2, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 2);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->credit, 8u << 20);
	assert_int_equal(f->troubles, 0);
	fixture_batch(f, 1, 3, 0, 4, 2, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 3);
	assert_int_equal(fixture_log(f, "run", 0).rows, 6);
	fixture_wait(f, 10000);
	assert_int_equal(f->troubles, 1); /* says that it goes on */
	assert_non_null(strstr(f->trouble, "written again"));
}

/* A nearly full disk takes a small commit and refuses the next: that is one outage, told of once, then once a minute.
 */
static void
a_disk_that_stays_full_does_not_fill_the_log(void **state)
{
	struct fixture *f = *state;
	uint64_t sequence = 0;
	unsigned told = 0;

	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	for (unsigned second = 0; second < 300; second++) {
		fixture_forget(f);
		fixture_batch(f, 1, sequence + 1, 0, 0, 2, 0.25f, true);
		if (second % 2)
			fixture_fail_commits(1);
		else
			sequence += f->ingest.health != INGEST_UNAVAILABLE;
		fixture_commit(f);
		told += f->troubles;
		f->troubles = 0;
		fixture_ping(f, 1);
		fixture_wait(f, 1000);
		told += f->troubles;
	}
	assert_in_range(told, 5, 6);
}

/* The error that tells of a gap may be lost, and then a commit fails that has nothing of the session: its next ping must
 * bring the error again. */
static void
a_gap_outlasts_a_failure(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_open(f, 2, "other", NULL);
	fixture_commit(f);
	fixture_batch(f, 1, 2, 0, 0, 2, 0.25f, true);
	fixture_ping(f, 1);
	fixture_batch(f, 2, 1, 0, 0, 2, 0.25f, true);
	fixture_fail_commits(1);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_UNAVAILABLE), 0); /* nothing of it was taken back */
	assert_int_equal(fixture_errors(f, 2, WIRE_E_UNAVAILABLE), 1);
	fixture_wait(f, INGEST_RETRY_MS);
	fixture_forget(f);
	fixture_ping(f, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_SEQUENCE);
	assert_non_null(strstr(fixture_last(f, 1, WIRE_ERROR)->message, "expected sequence number 1"));
}

/* For lack of memory, and the collector does not know whose it was. */
static void
who_may_have_lost_a_frame_is_told_at_its_next_ping(void **state)
{
	struct fixture *f = *state;
	const char *runs[] = {NULL, "first", "second", "third"};

	for (uint8_t session = 1; session <= 3; session++)
		fixture_open(f, session, runs[session], NULL);
	for (uint8_t session = 1; session <= 3; session++)
		fixture_batch(f, session, 1, 0, 0, 2, 0.25f, true);
	fixture_close(f, 3, 2);
	fixture_commit(f);
	ingest_miss(&f->ingest, f->now);
	assert_int_equal(f->troubles, 1);
	fixture_forget(f);
	/* 1 has lost its second frame. 2 has lost nothing, and goes on; 3 is closed, so it cannot have lost one. */
	fixture_batch(f, 2, 2, 0, 2, 2, 0.25f, true);
	for (uint8_t session = 1; session <= 3; session++)
		fixture_ping(f, session);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_SEQUENCE);
	assert_int_equal(f->reply_count, 1);
	fixture_commit(f);
	fixture_forget(f);
	fixture_batch(f, 1, 3, 0, 2, 2, 0.25f, true); /* a later frame is told of at once, as of any gap */
	fixture_batch(f, 1, 4, 0, 2, 2, 0.25f, true);
	assert_int_equal(f->reply_count, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->sequence, 3);
	fixture_forget(f);
	fixture_ping(f, 1); /* until it opens again */
	assert_int_equal(fixture_errors(f, 1, WIRE_E_SEQUENCE), 1);
	fixture_open(f, 1, "first", NULL);
	fixture_ping(f, 1);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_SEQUENCE), 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 1);
	/* An outage is no answer to it: who has lost nothing waits for its end. */
	ingest_miss(&f->ingest, f->now);
	fixture_fail_commits(1);
	fixture_batch(f, 2, 3, 0, 4, 2, 0.25f, true);
	fixture_commit(f);
	fixture_forget(f);
	fixture_ping(f, 1);
	assert_int_equal(f->reply_count, 0);
	fixture_wait(f, INGEST_RETRY_MS);
	fixture_ping(f, 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_SEQUENCE);
}

/* An abort gives a run's number back, and the next run gets it: nothing may remain of the first. */
static void
a_run_that_came_to_nothing_is_forgotten(void **state)
{
	struct fixture *f = *state;

	fixture_fail_commits(1);
	fixture_open(f, 1, "first", NULL);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE);
	assert_null(f->ingest.sessions.runs);
	fixture_wait(f, INGEST_RETRY_MS);
	fixture_open(f, 2, "second", NULL);
	fixture_commit(f);
	fixture_open(f, 1, "first", NULL);
	fixture_batch(f, 2, 1, 0, 0, 2, 0.5f, true);
	fixture_commit(f);
	fixture_last(f, 1, WIRE_OPENED);
	assert_int_equal(fixture_last(f, 2, WIRE_ACK)->acknowledged, 1);
	/* And the second one can be removed, with what records into it. */
	fixture_remove(f, "second", true);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	assert_int_equal(f->ingest.sessions.live, 1);
}

/* An open that fails, whose client then goes away: nothing else would ever try the store again. */
static void
work_goes_on_when_nobody_is_left_after_a_failure(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_close(f, 1, 2);
	fixture_commit(f);
	fixture_open(f, 2, "other", NULL);
	fixture_fail_commits(1);
	fixture_commit(f);
	assert_int_equal(f->ingest.health, INGEST_UNAVAILABLE);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 0).rows, 2);
	fixture_wait(f, INGEST_RETRY_MS);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 0).rows, 0);
}

/* A commit of many that fails takes all of them back. */
static void
tiny_epochs_whose_fold_fails_are_folded_later(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	for (uint32_t epoch = 0; epoch < 10; epoch++)
		fixture_batch(f, 1, epoch + 1, epoch, 0, 2, 0.25f, true);
	fixture_close(f, 1, 11);
	fixture_commit(f);
	fixture_fail_commits(1);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 0).rows, 2);
	fixture_wait(f, INGEST_WORK_RETRY_MS);
	fixture_work(f);
	for (uint32_t epoch = 0; epoch < 10; epoch++)
		assert_int_equal(fixture_log(f, "run", epoch).rows, 0);
	assert_int_equal(fixture_run(f, "run").observations, 20);
}

static void
a_fold_that_fails_does_not_stop_recording(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_end(f, 1, 2, 0);
	fixture_commit(f);
	fixture_forget(f);
	fixture_fail_commits(1);
	fixture_work(f);
	assert_int_equal(f->troubles, 1);
	assert_false(ingest_has_work(&f->ingest));
	assert_int_equal(f->reply_count, 0);
	fixture_batch(f, 1, 3, 1, 0, 2, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 3);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->credit, 8u << 20);
	assert_int_equal(fixture_log(f, "run", 0).rows, 2);
	fixture_wait(f, INGEST_WORK_RETRY_MS);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 0).rows, 0);
	assert_int_equal(fixture_run(f, "run").observations, 4);
	assert_int_equal(f->troubles, 1);
}

/* The records of removed runs and folded epochs are nobody's: damage among them stops no run's folds. */
static void
damage_among_old_records_is_no_runs(void **state)
{
	enum { ROWS = 100000 };
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_end(f, 1, 2, 0);
	fixture_commit(f);
	fixture_fail_collecting(1000);
	for (uint32_t epoch = 1; epoch < 5; epoch++) {
		fixture_work(f);
		assert_int_equal(fixture_log(f, "run", epoch - 1).rows, 0);
		fixture_batch(f, 1, 2 * epoch + 1, epoch, 0, 2, 0.5f, true);
		fixture_end(f, 1, 2 * epoch + 2, epoch);
	}
	/* An epoch that takes several steps is folded to its end. */
	for (uint32_t batch = 0; batch < 12; batch++)
		fixture_batch(f, 1, 11 + batch, 5, batch % 5 * ROWS, ROWS, 0.5f, true);
	fixture_end(f, 1, 23, 5);
	fixture_commit(f);
	for (unsigned step = 0; step < 100 && ingest_work(&f->ingest, f->now); step++)
		fixture_commit(f);
	assert_int_equal(fixture_log(f, "run", 5).rows, 0);
	assert_int_equal(f->troubles, 1);
	assert_non_null(strstr(f->trouble, "old records"));
	assert_int_equal(f->ingest.health, INGEST_READY);
}

static void
a_failed_commit_takes_back_close_and_time_out(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	fixture_fail_commits(1);
	fixture_end(f, 1, 1, 4);
	fixture_close(f, 1, 2);
	assert_int_equal(f->ingest.sessions.live, 0);
	fixture_commit(f);
	assert_int_equal(f->ingest.sessions.live, 1);
	assert_int_equal(f->ingest.sessions.runs->frontier, 0);
	fixture_wait(f, WIRE_SESSION_TIMEOUT_MS);
	fixture_fail_commits(1);
	fixture_wait(f, 1000);
	assert_int_equal(f->ingest.sessions.live, 1);
	fixture_wait(f, 2000);
	assert_int_equal(f->ingest.sessions.live, 0);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
}

static void
nothing_is_removed_while_the_store_is_unavailable(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	fixture_fail_commits(1);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_commit(f);
	fixture_remove(f, "run", true);
	assert_int_equal(fixture_last(f, 99, WIRE_ERROR)->code, WIRE_E_UNAVAILABLE);
	assert_true(fixture_has_run(f, "run"));
	fixture_wait(f, INGEST_RETRY_MS);
	fixture_remove(f, "run", true);
	fixture_last(f, 99, WIRE_ACK);
	assert_false(fixture_has_run(f, "run"));
}

/* LMDB finds the page damaged itself when the counts of a client are to be stored. */
static void
lost_counts_of_one_run_stop_no_other(void **state)
{
	const struct wire_counts counts = {.told = true, .logged = 2};
	struct fixture *f = *state;

	fixture_open(f, 250, "good", NULL);
	for (uint8_t session = 1; session <= 200; session++) {
		fixture_open(f, session, "bad",
		             &(struct wire_open){.rank = session, .group = {(const uint8_t *)"g", 1}});
		fixture_batch(f, session, 1, 0, 0, 2, 0.25f, true);
		fixture_tell(f, session, 0, &counts);
	}
	fixture_commit(f);
	assert_true(zero_pages(f->directory, 'k', (uint8_t)fixture_run(f, "bad").number, ZERO_ALL) > 0);
	fixture_forget(f);
	fixture_batch(f, 250, 1, 0, 2, 2, 0.5f, true);
	fixture_batch(f, 100, 2, 0, 0, 2, 0.25f, true);
	fixture_tell(f, 100, 0, &counts);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 100, WIRE_E_RUN_DAMAGED), 1);
	assert_int_equal(f->ingest.health, INGEST_READY);
	fixture_batch(f, 250, 1, 0, 2, 2, 0.5f, true); /* it went with the other's transaction */
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 250, WIRE_ACK)->acknowledged, 1);
	fixture_wait(f, 3000);
	assert_int_equal(f->ingest.health, INGEST_READY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_run_that_is_gone_stops_no_other),
	        TEST(a_run_that_is_gone_can_expire),
	        TEST(goes_on_after_a_restart),
	        TEST(only_runs_with_work_left_are_taken_over),
	        TEST(a_full_disk_takes_nothing_and_loses_nothing),
	        TEST(a_disk_that_stays_full_does_not_fill_the_log),
	        TEST(a_gap_outlasts_a_failure),
	        TEST(who_may_have_lost_a_frame_is_told_at_its_next_ping),
	        TEST(a_run_that_came_to_nothing_is_forgotten),
	        TEST(work_goes_on_when_nobody_is_left_after_a_failure),
	        TEST(tiny_epochs_whose_fold_fails_are_folded_later),
	        TEST(a_fold_that_fails_does_not_stop_recording),
	        TEST(damage_among_old_records_is_no_runs),
	        TEST(a_failed_commit_takes_back_close_and_time_out),
	        TEST(lost_counts_of_one_run_stop_no_other),
	        TEST(nothing_is_removed_while_the_store_is_unavailable),
	};

	return cmocka_run_group_tests_name("failures", tests, NULL, NULL);
}

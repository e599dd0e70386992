/* test_ingest.c: the rules of the wire on a real store: numbers, acknowledgement, liveness, epochs, folds, failure. */
#include "ingest_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static unsigned
count_errors(const struct fixture *f, uint8_t session, enum wire_error_code code)
{
	unsigned count = 0;

	for (size_t i = 0; i < f->reply_count; i++)
		count += f->replies[i].session == session && f->replies[i].kind == WIRE_ERROR &&
		         f->replies[i].code == code;
	return count;
}

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
	assert_int_equal(count_errors(f, 1, WIRE_E_REFUSED), 0); /* or its rows would be counted twice */
	fixture_wait(f, INGEST_RETRY_MS);
	fixture_text_batch(f, 1, 2, "word");
	fixture_commit(f);
	assert_int_equal(count_errors(f, 1, WIRE_E_REFUSED), 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 2);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->refused, 3);
	fixture_batch(f, 1, 3, 0, 0, 1, 0.25f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 3);
}

static void
an_epoch_closes_when_every_session_has_left_it(void **state)
{
	struct fixture *f = *state;
	struct wire_open group = {.group = {(const uint8_t *)"job", 3}}, second = group;

	second.rank = 1;
	fixture_open(f, 1, "run", &group);
	fixture_commit(f);
	fixture_open(f, 2, "run", &second);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_batch(f, 2, 1, 0, 2, 2, 0.25f, true);
	fixture_end(f, 1, 2, 0);
	fixture_work(f);
	assert_int_equal(fixture_last(f, 2, WIRE_ACK)->acknowledged, 1);
	assert_int_equal(fixture_log(f, "run", 0).rows, 4);
	assert_int_equal(fixture_log(f, "run", 0).folded, 0);
	/* Logging a later epoch ends the earlier ones. */
	fixture_batch(f, 2, 2, 1, 2, 2, 0.5f, true);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 0).rows, 0);
	assert_int_equal(fixture_log(f, "run", 1).rows, 2);
	assert_int_equal(fixture_run(f, "run").state, STORE_RECORDING);
	/* Closing lets go of everything. */
	fixture_close(f, 1, 3);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 1).rows, 2);
	assert_int_equal(fixture_run(f, "run").state, STORE_RECORDING);
	fixture_close(f, 2, 3);
	fixture_work(f);
	assert_int_equal(fixture_last(f, 2, WIRE_ACK)->acknowledged, 3);
	assert_int_equal(fixture_log(f, "run", 1).rows, 0);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
	assert_int_equal(fixture_run(f, "run").observations, 6);
	assert_true(fixture_gold_prob(f, "run", 3, 0) == 0.25f);
	assert_true(fixture_gold_prob(f, "run", 3, 1) == 0.5f);
}

static void
a_small_patch_waits_until_its_epoch_is_ended_again(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 8, 0.25f, true);
	fixture_end(f, 1, 2, 0);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 0).rows, 0);
	fixture_batch(f, 1, 3, 0, 0, 2, 0.75f, true);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 0).rows, 2);
	assert_int_equal(fixture_log(f, "run", 0).folded, 8);
	fixture_end(f, 1, 4, 0);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", 0).rows, 0);
	fixture_ping(f, 1);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->replaced, 2);
	assert_true(fixture_gold_prob(f, "run", 1, 0) == 0.75f);
	assert_true(fixture_gold_prob(f, "run", 2, 0) == 0.25f);
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

/* Nobody else waits until thousands of sessions are gone. */
static void
silent_sessions_expire_some_at_a_time(void **state)
{
	enum { SESSIONS = 1500 };
	struct fixture *f = *state;
	struct wire_frame frame = {
	        .kind = WIRE_OPEN,
	        .open = {.run = {(const uint8_t *)"run", 3}, .group = {(const uint8_t *)"job", 3}, .started = 1}};
	unsigned ticks = 1;

	for (uint32_t rank = 0; rank < SESSIONS; rank++) {
		memcpy(frame.session, &rank, sizeof(rank));
		frame.open.rank = rank;
		ingest_frame(&f->ingest, &(struct peer){.size = 1, .id = {(uint8_t)(rank / 100)}}, true, &frame, 100,
		             f->now);
		if (rank % 100 == 99) {
			fixture_commit(f);
			assert_int_equal(f->reply_count, 100);
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
ranks_of_one_launch_share_a_run(void **state)
{
	struct fixture *f = *state;
	uint32_t number;

	open_rank(f, 1, 0, 100, true);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_commit(f);
	number = fixture_run(f, "run").number;
	/* however late, while one of them is heard of */
	open_rank(f, 2, 1, 4000, true);
	fixture_last(f, 2, WIRE_OPENED);
	fixture_close(f, 1, 2);
	fixture_close(f, 2, 1);
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").state, STORE_CLOSED);
	/* and when all others have closed, soon after the last start: within a minute, or, to overwrite, 15 s */
	open_rank(f, 3, 2, 4015, true);
	fixture_last(f, 3, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").number, number);
	assert_int_equal(fixture_run(f, "run").state, STORE_RECORDING);
	fixture_close(f, 3, 1);
	fixture_commit(f);
	open_rank(f, 4, 3, 4076, false);
	assert_int_equal(fixture_last(f, 4, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	/* a restart changes nothing about that */
	fixture_restart(f);
	open_rank(f, 4, 3, 4076, false);
	assert_int_equal(fixture_last(f, 4, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	open_rank(f, 5, 3, 4075, false);
	fixture_last(f, 5, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").observations, 2);
}

static void
a_job_started_again_is_another_launch(void **state)
{
	struct fixture *f = *state;
	uint32_t crashed, number;

	open_rank(f, 1, 0, 100, false);
	open_rank(f, 2, 1, 101, false);
	fixture_batch(f, 1, 1, 7, 0, 2, 0.25f, true);
	fixture_commit(f);
	crashed = fixture_run(f, "run").number;
	/* At once, while its sessions still count as live: the ranks are there already. */
	open_rank(f, 3, 1, 102, false);
	assert_int_equal(fixture_last(f, 3, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	open_rank(f, 4, 1, 103, true);
	number = fixture_run(f, "run").number;
	assert_int_not_equal(number, crashed);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_REMOVED);
	open_rank(f, 5, 0, 104, true);
	fixture_last(f, 5, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").number, number);
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").observations, 0);
	/* It crashes, and comes back with more ranks: nobody was heard of for a while. */
	fixture_wait(f, 6000);
	open_rank(f, 6, 2, 165, true);
	fixture_last(f, 6, WIRE_OPENED);
	assert_int_not_equal(fixture_run(f, "run").number, number);
	number = fixture_run(f, "run").number;
	open_rank(f, 7, 0, 166, true);
	open_rank(f, 8, 1, 166, true);
	assert_int_equal(fixture_run(f, "run").number, number);
	assert_int_equal(f->ingest.sessions.live, 3);
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
a_later_session_wins_over_an_earlier_one(void **state)
{
	struct fixture *f = *state;
	struct wire_open earlier = {.started = 5}, later = {.resume = true, .started = 9};

	fixture_open(f, 1, "run", &earlier);
	fixture_open(f, 2, "run", &later);
	fixture_batch(f, 2, 1, 0, 0, 1, 0.75f, true);
	fixture_batch(f, 1, 1, 0, 0, 1, 0.25f, true); /* arrives later, but is not */
	fixture_close(f, 1, 2);
	fixture_close(f, 2, 2);
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").replaced, 1);
	assert_true(fixture_gold_prob(f, "run", 0, 0) == 0.75f);
}

/* Whatever the clocks say: what is logged again after a resumption stays. */
static void
who_resumes_comes_after_all_others(void **state)
{
	struct fixture *f = *state;
	struct wire_open ahead = {.started = 1000 * UINT64_C(1000000000)}, behind = {.resume = true, .started = 9};

	fixture_open(f, 1, "run", &ahead);
	fixture_batch(f, 1, 1, 0, 0, 1, 0.25f, true);
	fixture_close(f, 1, 2);
	fixture_open(f, 2, "run", &behind);
	assert_non_null(strstr(f->trouble, "999 s behind"));
	fixture_batch(f, 2, 1, 0, 0, 1, 0.75f, true);
	fixture_close(f, 2, 2);
	behind.started = ahead.started - 1;
	fixture_open(f, 3, "run", &behind);
	assert_int_equal(f->troubles, 1); /* a minute is not worth a line */
	fixture_batch(f, 3, 1, 0, 0, 1, 0.5f, true);
	fixture_close(f, 3, 2);
	fixture_work(f);
	assert_true(fixture_gold_prob(f, "run", 0, 0) == 0.5f);
}

static void
nobody_begins_in_the_future(void **state)
{
	struct fixture *f = *state;
	struct wire_open ahead = {.started = INT64_MAX},
	                 late = {.late = true, .resume = true, .started = INT64_MAX / 2};

	fixture_open(f, 1, "run", &ahead);
	assert_non_null(strstr(f->trouble, "ahead"));
	fixture_batch(f, 1, 1, 0, 0, 1, 0.25f, true);
	fixture_close(f, 1, 2);
	/* Also half-way there is too far: were the first one not moved, it would win. */
	fixture_open(f, 2, "run", &late);
	assert_int_equal(f->troubles, 1); /* strangers cannot fill the log */
	fixture_batch(f, 2, 1, 0, 0, 1, 0.75f, true);
	fixture_close(f, 2, 2);
	fixture_work(f);
	assert_true(fixture_gold_prob(f, "run", 0, 0) == 0.75f);
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

/* Of a job that died, and is started again with more ranks, one that was not there before comes first. */
static void
a_larger_job_does_not_join_the_dead_one(void **state)
{
	struct fixture *f = *state;
	uint32_t dead, number;

	open_rank(f, 1, 0, 100, true);
	open_rank(f, 2, 1, 100, true);
	dead = fixture_run(f, "run").number;
	fixture_wait(f, 6000);
	open_rank(f, 3, 2, 106, true);
	number = fixture_run(f, "run").number;
	assert_int_not_equal(number, dead);
	for (uint8_t rank = 0; rank < 2; rank++)
		open_rank(f, (uint8_t)(4 + rank), rank, 107, true);
	fixture_ping(f, 3);
	fixture_commit(f);
	fixture_last(f, 3, WIRE_ACK);
	fixture_last(f, 5, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "run").number, number);
	/* Also when the dead ones are taken for closed by now. */
	fixture_wait(f, 20000);
	open_rank(f, 6, 3, 127, true);
	assert_int_not_equal(fixture_run(f, "run").number, number);
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
	assert_int_equal(count_errors(f, 1, WIRE_E_UNAVAILABLE), 1);
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
	assert_int_equal(f->troubles, 1); /* says that it goes on */
	fixture_batch(f, 1, 3, 0, 4, 2, 0.5f, true);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 3);
	assert_int_equal(fixture_log(f, "run", 0).rows, 6);
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

/* Who wants finer ticks logs them as epochs: of those, many go into one step, and one sync. */
static void
tiny_epochs_are_folded_together(void **state)
{
	enum { EPOCHS = 1000 };
	struct fixture *f = *state;
	unsigned steps = 0;

	fixture_open(f, 1, "run", NULL);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
		fixture_batch(f, 1, epoch + 1, epoch, epoch % 100, 2, 0.25f, true);
	fixture_commit(f);
	fixture_forget(f);
	while (ingest_has_work(&f->ingest)) {
		ingest_work(&f->ingest, f->now);
		/* What comes meanwhile for an epoch that is passed, or not yet, is folded as well once it is ended. */
		if (steps++ == 3)
			fixture_batch(f, 1, EPOCHS + 1, 7, 50, 2, 0.5f, true);
		if (steps == 4)
			fixture_end(f, 1, EPOCHS + 2, 7);
		fixture_commit(f);
	}
	assert_in_range(steps, 8, 40);
	assert_int_equal(fixture_log(f, "run", 0).rows, 0);
	assert_int_equal(fixture_log(f, "run", 7).rows, 0);
	assert_int_equal(fixture_log(f, "run", EPOCHS - 2).rows, 0);
	assert_int_equal(fixture_log(f, "run", EPOCHS - 1).rows, 2); /* nobody has ended it */
	fixture_close(f, 1, EPOCHS + 3);
	fixture_commit(f);
	fixture_work(f);
	assert_int_equal(fixture_log(f, "run", EPOCHS - 1).rows, 0);
	assert_int_equal(fixture_run(f, "run").observations, 2 * EPOCHS + 2);
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
credit_is_a_share_of_the_memory_cap(void **state)
{
	struct fixture *f = *state; /* cap 64 MB: 16 for credit */

	for (uint8_t session = 1; session <= 8; session++) {
		char name[8] = {'r', (char)('0' + session)};

		fixture_open(f, session, name, NULL);
	}
	fixture_commit(f);
	fixture_ping(f, 1);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->credit, 2u << 20);
}

static void
runs_are_removed_by_the_owner_only(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 2, 0.25f, true);
	fixture_commit(f);
	fixture_remove(f, "run", false);
	assert_int_equal(fixture_last(f, 99, WIRE_ERROR)->code, WIRE_E_MALFORMED);
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

static void
an_open_is_left_unanswered_while_leaving(void **state)
{
	struct fixture *f = *state;

	f->ingest.leaving = true;
	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	assert_int_equal(f->reply_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(acknowledges_after_the_commit_only),
	        TEST(repeats_change_nothing),
	        TEST(a_gap_is_told_once),
	        TEST(a_run_that_is_gone_stops_no_other),
	        TEST(a_run_that_is_gone_can_expire),
	        TEST(refused_rows_use_the_number_up),
	        TEST(an_epoch_closes_when_every_session_has_left_it),
	        TEST(a_small_patch_waits_until_its_epoch_is_ended_again),
	        TEST(silence_ends_a_session),
	        TEST(silent_sessions_expire_some_at_a_time),
	        TEST(a_stalled_collector_blames_nobody),
	        TEST(unknown_sessions_are_told_to_open),
	        TEST(a_closed_session_may_repeat_its_close),
	        TEST(runs_are_joined_resumed_overwritten_or_refused),
	        TEST(ranks_of_one_launch_share_a_run),
	        TEST(a_job_started_again_is_another_launch),
	        TEST(ranks_taken_back_by_a_failure_are_free_again),
	        TEST(a_late_session_of_an_earlier_launch_stays_out),
	        TEST(a_whole_run_comes_to_light_when_it_closes),
	        TEST(a_whole_run_that_is_left_comes_to_nothing),
	        TEST(a_later_session_wins_over_an_earlier_one),
	        TEST(who_resumes_comes_after_all_others),
	        TEST(nobody_begins_in_the_future),
	        TEST(another_store_refuses_and_changes_nothing),
	        TEST(without_its_beginning_a_session_is_not_begun),
	        TEST(a_larger_job_does_not_join_the_dead_one),
	        TEST(goes_on_after_a_restart),
	        TEST(a_full_disk_takes_nothing_and_loses_nothing),
	        TEST(a_run_that_came_to_nothing_is_forgotten),
	        TEST(work_goes_on_when_nobody_is_left_after_a_failure),
	        TEST(tiny_epochs_are_folded_together),
	        TEST(tiny_epochs_whose_fold_fails_are_folded_later),
	        TEST(a_fold_that_fails_does_not_stop_recording),
	        TEST(a_failed_commit_takes_back_close_and_time_out),
	        TEST(credit_is_a_share_of_the_memory_cap),
	        TEST(runs_are_removed_by_the_owner_only),
	        TEST(nothing_is_removed_while_the_store_is_unavailable),
	        TEST(an_open_is_left_unanswered_while_leaving),
	};

	return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}

/* test_epochs.c: when an epoch closes and is folded, and which session has the last word. */
#include "ingest_fixture.h"

#include "store/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

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
a_later_session_wins_over_an_earlier_one(void **state)
{
	struct fixture *f = *state;
	struct wire_open earlier = {.started = 5}, later = {.resume = true, .started = 9};

	fixture_open(f, 1, "run", &earlier);
	fixture_wait(f, 5001);
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
	assert_in_range(steps, 8, EPOCHS / 5); /* a step ends by time as well */
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

/* A run whose epochs close faster than they are folded has its turn, and so has every other. */
static void
runs_are_folded_by_turns(void **state)
{
	enum { RUNS = 3, BUSY = 2, STEPS = 12 };
	static const char *const names[] = {"", "first", "busy", "last"};
	struct fixture *f = *state;

	for (int run = 1; run <= RUNS; run++) {
		fixture_open(f, run, names[run], NULL);
		fixture_batch(f, run, 1, 0, 0, 2, 0.25f, true);
		fixture_batch(f, run, 2, 1, 0, 2, 0.25f, true);
	}
	fixture_commit(f);
	for (uint32_t step = 0; step < STEPS; step++) {
		assert_true(ingest_work(&f->ingest, f->now));
		fixture_forget(f);
		fixture_batch(f, BUSY, step + 3, step + 2, 0, 2, 0.25f, true);
		fixture_commit(f);
	}
	for (int run = 1; run <= RUNS; run++)
		assert_int_equal(fixture_log(f, names[run], 0).rows, 0);
	assert_int_equal(fixture_log(f, "busy", 1).rows, 0);
}

enum { LARGE = 3 * 100000 }; /* rows of an epoch whose log is worth being read ahead */
#define SLOPE (1.0f / (1 << 21))

/* Logs epochs first … end − 1 of so many rows each, and ends them. Returns the next sequence number. */
static uint64_t
log_epochs(struct fixture *f, uint8_t session, uint64_t sequence, uint32_t first, uint32_t end, uint64_t rows)
{
	for (uint32_t epoch = first; epoch < end; epoch++) {
		for (uint64_t row = 0, some; row < rows; row += some) {
			some = rows - row < 100000 ? rows - row : 100000;
			fixture_batch(f, session, sequence++, epoch, row, (uint32_t)some, 0.0625f * (float)epoch, true);
		}
		fixture_end(f, session, sequence++, epoch);
	}
	fixture_commit(f);
	return sequence;
}

/* Does one step of work. After it no thread reads, and what was read ahead is of an epoch after the one in progress. */
static void
work_a_step(struct fixture *f)
{
	const struct folder *folder = &f->ingest.folder;

	assert_true(ingest_work(&f->ingest, f->now));
	if (!folder->next)
		return;
	assert_false(folder->next->ahead.runs);
	assert_true(folder->next_epoch > folder->epoch);
	assert_int_equal(folder->next->epoch, folder->next_epoch);
}

static void
work_until_read_ahead(struct fixture *f)
{
	while (!f->ingest.folder.next)
		work_a_step(f);
}

/* What comes meanwhile for an epoch that is folded, or is being read, waits for its next fold. */
static void
large_epochs_are_read_ahead(void **state)
{
	enum { EPOCHS = 6 };
	struct fixture *f = *state;
	uint64_t sequence;

	f->slope = SLOPE;
	fixture_open(f, 1, "run", NULL);
	sequence = log_epochs(f, 1, 1, 0, EPOCHS, LARGE);
	while (fixture_log(f, "run", 1).rows)
		work_a_step(f);
	work_until_read_ahead(f);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		fixture_batch(f, 1, sequence++, epoch, 0, 2, 0.75f, false);
		fixture_end(f, 1, sequence++, epoch);
	}
	fixture_commit(f);
	while (fixture_log(f, "run", 0).rows)
		work_a_step(f);
	assert_int_equal(fixture_log(f, "run", 3).rows, LARGE + 2); /* the first epoch comes first */
	fixture_work(f);
	assert_null(f->ingest.folder.next);
	assert_int_equal(fixture_run(f, "run").observations, EPOCHS * LARGE);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		assert_int_equal(fixture_log(f, "run", epoch).rows, 0);
		assert_true(fixture_gold_prob(f, "run", 1, epoch) == 0.75f + SLOPE);
		assert_true(fixture_gold_prob(f, "run", 2, epoch) == 0.0625f * (float)epoch + 2 * SLOPE);
		assert_true(fixture_gold_prob(f, "run", LARGE - 1, epoch) ==
		            0.0625f * (float)epoch + SLOPE * (LARGE - 1));
	}
	assert_int_equal(f->troubles, 0);
}

/* The fold of an epoch that takes several steps is the one that was read ahead. */
static void
what_was_read_ahead_is_used(void **state)
{
	enum { ROWS = 1200000 };
	const struct wire_open declared = {.examples = ROWS};
	struct fixture *f = *state;
	const struct store_fold *next;

	f->slope = SLOPE;
	f->max_memory = (size_t)1 << 30;
	fixture_restart(f);
	fixture_open(f, 1, "run", &declared);
	log_epochs(f, 1, 1, 0, 3, ROWS);
	work_until_read_ahead(f);
	for (uint32_t epoch = 0; epoch < 2; epoch++) {
		next = f->ingest.folder.next;
		assert_non_null(next);
		while (f->ingest.folder.fold != next) {
			assert_int_equal(fixture_log(f, "run", epoch + 1).rows, ROWS);
			work_a_step(f);
		}
		if (epoch == 0)
			work_until_read_ahead(f);
	}
	fixture_work(f);
	assert_int_equal(fixture_run(f, "run").observations, 3 * ROWS);
	assert_int_equal(fixture_run(f, "run").examples, ROWS);
}

/* Several small epochs share a commit, and a thread does not see what they have written of their examples before it. A
 * large epoch of few different values is done while the thread reads the next, in the same step. */
static void
small_epochs_come_before_large_ones(void **state)
{
	static int32_t labels[100000];
	const struct wire_open declared = {.examples = LARGE};
	struct fixture *f = *state;
	uint64_t sequence;

	f->labels = labels;
	f->max_memory = (size_t)1 << 30;
	fixture_restart(f);
	for (uint8_t run = 1; run <= 8; run++) {
		const char name[] = {(char)('a' + run), '\0'};

		f->slope = 0;
		fixture_open(f, run, name, &declared);
		sequence = log_epochs(f, run, 1, 0, 3, 100);
		f->slope = run % 2 ? SLOPE : 0;
		for (uint64_t row = 50; row < LARGE; row += row == 50 ? 99950 : 100000)
			fixture_batch(f, run, sequence++, 3, row, row == 50 ? 99950 : 100000, 0.125f, true);
		fixture_end(f, run, sequence++, 3);
		f->slope = 0;
		sequence = log_epochs(f, run, sequence, 4, 5, 2);
		sequence = log_epochs(f, run, sequence, 5, 8, LARGE);
		fixture_work(f);
		assert_int_equal(fixture_run(f, name).examples, LARGE);
		assert_int_equal(fixture_run(f, name).observations, 300 + LARGE - 50 + 2 + 3 * LARGE);
		assert_true(fixture_gold_prob(f, name, LARGE - 1, 7) == 0.4375f);
		fixture_close(f, run, sequence);
		fixture_commit(f);
	}
}

/* Neither another run's turn, nor a failed commit, nor the run's removal leaves anything of what was read ahead. */
static void
what_was_read_ahead_is_dropped(void **state)
{
	struct fixture *f = *state;
	uint32_t epoch;

	f->slope = SLOPE;
	fixture_open(f, 1, "run", NULL);
	log_epochs(f, 1, 1, 0, 4, LARGE);
	work_until_read_ahead(f);
	fixture_open(f, 2, "other", NULL);
	epoch = f->ingest.folder.next_epoch;
	log_epochs(f, 2, 1, epoch, epoch + 1, 2);
	while (fixture_log(f, "other", epoch).rows)
		work_a_step(f);
	assert_null(f->ingest.folder.next);
	assert_int_equal(fixture_run(f, "other").observations, 2);
	work_until_read_ahead(f);
	fixture_fail_commits(1);
	while (f->ingest.folder.next)
		work_a_step(f);
	assert_null(f->ingest.folder.fold);
	fixture_wait(f, 60000);
	work_until_read_ahead(f);
	fixture_remove(f, "run", true);
	fixture_commit(f);
	assert_null(f->ingest.folder.next);
	fixture_work(f);
	assert_false(fixture_has_run(f, "run"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(an_epoch_closes_when_every_session_has_left_it),
	        TEST(a_small_patch_waits_until_its_epoch_is_ended_again),
	        TEST(a_later_session_wins_over_an_earlier_one),
	        TEST(who_resumes_comes_after_all_others),
	        TEST(nobody_begins_in_the_future),
	        TEST(tiny_epochs_are_folded_together),
	        TEST(runs_are_folded_by_turns),
	        TEST(large_epochs_are_read_ahead),
	        TEST(what_was_read_ahead_is_used),
	        TEST(small_epochs_come_before_large_ones),
	        TEST(what_was_read_ahead_is_dropped),
	};

	return cmocka_run_group_tests_name("epochs", tests, NULL, NULL);
}

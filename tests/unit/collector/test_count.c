/* test_count.c: everything that comes is counted once, for its run and for the store, whatever becomes of it. */
#include "ingest_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

static void
every_observation_is_accounted_for(void **state)
{
	const uint64_t before = (uint64_t)time(NULL);
	struct fixture *f = *state;
	struct wire_open declared = {.examples = 10};
	struct store_counters run, store;
	uint32_t number;

	fixture_open(f, 1, "run", &declared);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
	fixture_batch(f, 1, 2, 0, 8, 4, 0.25f, true); /* 10 and 11 are beyond */
	fixture_batch(f, 1, 3, 0, 0, 3, 1.5f, true);  /* no probability */
	fixture_text_batch(f, 1, 4, "word");          /* the other kind */
	fixture_commit(f);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true); /* again */
	fixture_batch(f, 1, 7, 0, 0, 5, 0.25f, true); /* a gap, and what comes after it */
	fixture_batch(f, 1, 8, 0, 0, 5, 0.25f, true);
	fixture_batch(f, 1, 5, 0, 4, 2, 0.25f, true);
	fixture_close(f, 1, 6);
	fixture_batch(f, 1, 7, 0, 0, 1, 0.25f, true); /* after the close */
	fixture_commit(f);
	fixture_open(f, 2, "other", NULL);
	fixture_batch(f, 2, 1, 0, 0, 1, 0.25f, true);
	fixture_commit(f);
	number = fixture_run(f, "run").number;
	run = fixture_counters(f, number, NULL);
	assert_int_equal(run.frames, 10);
	assert_true(run.bytes > 0);
	assert_int_equal(run.received, 4 + 4 + 3 + 1 + 4 + 5 + 5 + 2 + 1);
	assert_int_equal(run.repeated, 4);
	assert_int_equal(run.skipped, 10);
	assert_int_equal(run.gaps, 1);
	assert_int_equal(run.malformed, 1);
	assert_int_equal(run.failures, 0);
	assert_in_range(run.last, before, (uintmax_t)time(NULL));
	assert_int_equal(run.refused[STORE_REFUSED_ID], 2);
	assert_int_equal(run.refused[STORE_REFUSED_GOLD_PROB], 3);
	assert_int_equal(run.refused[STORE_REFUSED_CLASS], 0);
	assert_int_equal(run.refused[STORE_REFUSED_BATCH], 1);
	assert_int_equal(fixture_run(f, "run").observations, 8);
	assert_int_equal(fixture_run(f, "run").refused, 6);
	assert_int_equal(run.commits.count, 1); /* how long the second took would be stored by a third */
	assert_int_equal(fixture_run(f, "other").observations, 1);
	store = fixture_counters(f, 0, NULL);
	assert_int_equal(store.frames, 11 + 2); /* and each `open` */
	assert_int_equal(store.received, run.received + 1);
	assert_int_equal(store.refused[STORE_REFUSED_GOLD_PROB], 3);
	assert_int_equal(store.commits.count, 2);
}

static void
a_failed_commit_loses_no_count(void **state)
{
	struct fixture *f = *state;
	struct store_counters run;

	for (int again = 0; again < 2; again++) {
		fixture_fail_commits(again == 0);
		fixture_open(f, 1, "run", NULL);
		fixture_commit(f);
		fixture_wait(f, 2000);
	}
	for (int again = 0; again < 2; again++) {
		fixture_fail_commits(again == 0);
		fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
		fixture_commit(f);
		fixture_wait(f, 2000);
	}
	assert_int_equal(f->ingest.totals.sessions, 1);
	assert_int_equal(f->ingest.totals.observations, 4);
	run = fixture_counters(f, 1, NULL);
	assert_int_equal(run.received, 8); /* it came twice, and is there once */
	assert_int_equal(run.repeated, 4);
	assert_int_equal(fixture_run(f, "run").observations, 4);
	assert_int_equal(fixture_counters(f, 0, NULL).failures, 2);
}

static void
what_a_client_tells_is_kept(void **state)
{
	const struct wire_counts first = {.told = true, .logged = 10, .dropped = 3};
	const struct wire_counts last = {
	        .told = true, .logged = 20, .refused = 1, .dropped = 4, .spooled = 5, .waits = 6};
	struct fixture *f = *state;
	const uint64_t before = (uint64_t)time(NULL);
	struct store_client client;

	fixture_open(f, 1, "run", NULL);
	fixture_commit(f);
	fixture_tell(f, 1, 0, &first);
	fixture_commit(f); /* nothing else to write: no commit for it */
	fixture_counters(f, 1, &client);
	assert_int_equal(client.told, 0);
	fixture_open(f, 1, "run", NULL);
	fixture_tell(f, 1, 0, &first);
	fixture_batch(f, 1, 1, 0, 0, 1, 0.25f, true);
	fixture_commit(f);
	fixture_counters(f, 1, &client);
	assert_in_range(client.told, before, (uintmax_t)time(NULL));
	assert_int_equal(client.logged, 10);
	assert_int_equal(client.dropped, 3);
	assert_int_equal(client.closed, 0);
	fixture_open(f, 1, "run", NULL);
	fixture_tell(f, 1, 2, &last);
	fixture_commit(f);
	fixture_counters(f, 1, &client);
	assert_int_equal(client.logged, 20);
	assert_int_equal(client.refused, 1);
	assert_int_equal(client.dropped, 4);
	assert_int_equal(client.spooled, 5);
	assert_int_equal(client.waits, 6);
	assert_true(client.closed > 1700000000);
}

/* A close without counts says that it closed, and leaves what was told before. */
static void
a_silent_close_is_a_close(void **state)
{
	const struct wire_counts counts = {.told = true, .logged = 10, .dropped = 3};
	struct fixture *f = *state;
	struct store_client client;

	fixture_open(f, 1, "run", NULL);
	fixture_tell(f, 1, 0, &counts);
	fixture_commit(f);
	fixture_restart(f);
	fixture_open(f, 1, "run", NULL);
	fixture_close(f, 1, 1);
	fixture_commit(f);
	fixture_counters(f, 1, &client);
	assert_int_equal(client.dropped, 3);
	assert_true(client.closed > 0);
}

static void
a_removed_run_leaves_the_stores_counts(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, 1, "run", NULL);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
	fixture_remove(f, "run", true);
	fixture_batch(f, 1, 2, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
	fixture_work(f);
	fixture_open(f, 2, "run", NULL);
	fixture_commit(f);
	assert_int_equal(fixture_counters(f, 1, NULL).frames, 0);
	assert_int_equal(fixture_counters(f, 2, NULL).frames, 0);
	assert_int_equal(fixture_counters(f, 0, NULL).received, 4);
}

static void
a_latency_is_put_into_its_bin(void **state)
{
	struct store_latency latency = {0};

	(void)state;
	store_latency_add(&latency, 0);
	store_latency_add(&latency, 1);
	store_latency_add(&latency, 2);
	store_latency_add(&latency, 3);
	store_latency_add(&latency, 1024);
	store_latency_add(&latency, UINT64_C(1) << 40);
	assert_int_equal(latency.count, 6);
	assert_int_equal(latency.bins[0], 2);
	assert_int_equal(latency.bins[1], 2);
	assert_int_equal(latency.bins[10], 1);
	assert_int_equal(latency.bins[31], 1);
	assert_int_equal(latency.max, UINT64_C(1) << 40);
	assert_int_equal(latency.sum, (UINT64_C(1) << 40) + 1030);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(every_observation_is_accounted_for),
	        TEST(a_failed_commit_loses_no_count),
	        TEST(what_a_client_tells_is_kept),
	        TEST(a_silent_close_is_a_close),
	        TEST(a_removed_run_leaves_the_stores_counts),
	        cmocka_unit_test(a_latency_is_put_into_its_bin),
	};

	return cmocka_run_group_tests_name("count", tests, NULL, NULL);
}

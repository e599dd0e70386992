/* test_live.c: looks at a store that changes in between. */
#include "unit.h"

#include "store_fixture.h"
#include "watch/live.h"

#include <portolan/error.h>

static void
look(struct live *live, struct live_view *view)
{
	struct portolan_error error = {0};

	if (live_look(live, view, &error) != 0)
		fail_msg("%s", error.message);
}

/* A look that builds on earlier ones sees what one sees that knows nothing. */
static void
compare_looks(struct fixture *fixture, struct live *live, struct live_view *view)
{
	struct live fresh = {.directory = fixture_directory(fixture), .run = "run"};
	struct live_view expected;

	fixture_close(fixture);
	look(live, view);
	look(&fresh, &expected);
	assert_int_equal(view->state, expected.state);
	assert_int_equal(view->epoch_count, expected.epoch_count);
	for (size_t e = 0; e < view->epoch_count; e++) {
		const struct tally_epoch *a = &view->epochs[e], *b = &expected.epochs[e];

		assert_int_equal(a->epoch, b->epoch);
		assert_int_equal(a->observed, b->observed);
		assert_int_equal(a->correct, b->correct);
		assert_int_equal(a->forgotten, b->forgotten);
		assert_int_equal(a->learned, b->learned);
		assert_true(a->gold_prob == b->gold_prob);
	}
	assert_memory_equal(&view->counts, &expected.counts, sizeof(view->counts));
	assert_int_equal(view->accepted, expected.accepted);
	assert_int_equal(view->sample.stride, expected.sample.stride);
	assert_int_equal(view->sample.rows, expected.sample.rows);
	assert_memory_equal(view->sample.points, expected.sample.points,
	                    tally_sample_points(&view->sample) * sizeof(struct tally_point));
	live_free(&fresh);
}

static void
log_epoch(struct fixture *fixture, uint32_t run, uint32_t epoch, uint64_t first, unsigned chance)
{
	enum { ROWS = 9000 };
	static uint64_t ids[ROWS];
	static float gold_prob[ROWS];
	static uint8_t correct[ROWS];

	for (unsigned i = 0; i < ROWS; i++) {
		unsigned mixed = (unsigned)((ids[i] = first + 2 * i) * 2654435761u + chance * 40503u) >> 7;

		gold_prob[i] = (float)(mixed % 1000) / 1000;
		correct[i] = mixed % 3 == 0;
	}
	fixture_log(fixture, run,
	            &(struct fixture_batch){
	                    .epoch = epoch, .n = ROWS, .ids = ids, .gold_prob = gold_prob, .correct = correct});
}

static void
test_looks(void **state)
{
	struct fixture *fixture = fixture_new();
	struct live live = {.directory = fixture_directory(fixture), .run = "run"};
	struct live_view view;
	uint32_t run;

	(void)state;
	look(&live, &view);
	assert_int_equal(view.state, LIVE_NO_STORE);
	assert_non_null(strstr(view.why, "no store at"));
	fixture_run(fixture, "rum", 0, NULL, 0);
	fixture_close(fixture);
	look(&live, &view);
	assert_int_equal(view.state, LIVE_NO_RUN);
	assert_non_null(strstr(view.why, "did you mean 'rum'?"));
	run = fixture_run(fixture, "run", 0, NULL, 0);
	store_writer_session_live(fixture_writer(fixture), run, 0, true, NULL);
	compare_looks(fixture, &live, &view);
	assert_int_equal(view.state, LIVE_NOTHING);
	log_epoch(fixture, run, 0, 0, 1);
	compare_looks(fixture, &live, &view);
	assert_int_equal(view.state, LIVE_RECORDING);
	assert_int_equal(view.epochs[0].observed, 9000);
	assert_int_equal(view.expected, 0); /* not known: it is the first epoch, and nothing was declared */
	assert_int_equal(live.settled_count, 0);
	fixture_fold(fixture, run, 0);
	log_epoch(fixture, run, 1, 0, 2);    /* the same examples */
	log_epoch(fixture, run, 1, 9001, 3); /* and, of another parity, more of them: a second block */
	compare_looks(fixture, &live, &view);
	assert_int_equal(live.settled_count, 1);
	assert_int_equal(view.epochs[1].observed, 18000);
	assert_int_equal(view.expected, 9000);
	assert_int_equal(view.accepted, 27000);
	assert_true(view.events > 1000);
	fixture_fold(fixture, run, 1);
	log_epoch(fixture, run, 3, 5, 4);
	compare_looks(fixture, &live, &view);
	assert_int_equal(live.settled_count, 2);
	compare_looks(fixture, &live, &view); /* nothing new */
	log_epoch(fixture, run, 0, 0, 5);     /* a patch to an epoch whose sums are kept */
	compare_looks(fixture, &live, &view);
	assert_int_equal(live.settled_count, 0);
	fixture_fold(fixture, run, 0);
	compare_looks(fixture, &live, &view);
	assert_int_equal(live.settled_count, 2);
	log_epoch(fixture, run, 0, 0, 6); /* patched and folded between two looks */
	fixture_fold(fixture, run, 0);
	compare_looks(fixture, &live, &view);
	fixture_end(fixture, run);
	compare_looks(fixture, &live, &view);
	assert_int_equal(view.state, LIVE_CLOSED);
	assert_int_equal(live.settled_count, 3);
	compare_looks(fixture, &live, &view); /* all known */
	live_free(&live);
	fixture_free(fixture);
}

/* What was replaced is counted before the collector folds it. */
static void
test_counted(void **state)
{
	struct fixture *fixture = fixture_new();
	struct live live = {.directory = fixture_directory(fixture), .run = "run"};
	struct live_view view;
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);

	(void)state;
	log_epoch(fixture, run, 0, 0, 1);
	log_epoch(fixture, run, 0, 0, 2);
	fixture_close(fixture);
	look(&live, &view);
	assert_int_equal(view.state, LIVE_RECORDING);
	assert_int_equal(view.info.replaced, 9000);
	fixture_end(fixture, run);
	fixture_close(fixture);
	look(&live, &view);
	assert_int_equal(view.state, LIVE_CLOSED);
	assert_int_equal(view.info.replaced, 9000);
	live_free(&live);
	fixture_free(fixture);
}

static bool
is_stopped(void)
{
	return true;
}

/* A look that is broken off leaves nothing half done. */
static void
test_stopped(void **state)
{
	struct fixture *fixture = fixture_new();
	struct live live = {.directory = fixture_directory(fixture), .run = "run", .stopped = is_stopped};
	struct portolan_error error;
	struct live_view view;
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);

	(void)state;
	log_epoch(fixture, run, 0, 0, 1);
	fixture_fold(fixture, run, 0);
	fixture_close(fixture);
	assert_int_equal(live_look(&live, &view, &error), PORTOLAN_E_CANCELLED);
	live.stopped = NULL;
	compare_looks(fixture, &live, &view);
	live_free(&live);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_looks),
	        cmocka_unit_test(test_counted),
	        cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_sessions.c: the table of sessions, run frontiers, and which epochs become due. */
#include "fold.h"
#include "sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const uint8_t *
id_of(uint8_t number)
{
	static uint8_t id[WIRE_SESSION_SIZE];

	memset(id, number, sizeof(id));
	return id;
}

static int
set_up(void **state)
{
	static struct sessions sessions;

	*state = &sessions;
	return sessions_init(&sessions);
}

static int
tear_down(void **state)
{
	sessions_deinit(*state);
	return 0;
}

static void
finds_what_was_added(void **state)
{
	struct sessions *sessions = *state;
	struct run *run = sessions_add_run(sessions, 7, "a");
	struct session *first = sessions_add(sessions, id_of(1), run);
	struct session *second = sessions_add(sessions, id_of(2), run);

	assert_ptr_equal(sessions_find(sessions, id_of(1)), first);
	assert_ptr_equal(sessions_find(sessions, id_of(2)), second);
	assert_null(sessions_find(sessions, id_of(3)));
	assert_ptr_equal(sessions_add_run(sessions, 7, "a"), run);
	assert_int_equal(sessions->live, 2);
	sessions_change(sessions, second, OWES_ACK);
	sessions_remove(sessions, second);
	assert_null(sessions_find(sessions, id_of(2)));
	assert_null(sessions_take_changed(sessions));
	assert_int_equal(sessions->live, 1);
	assert_int_equal(sessions->count, 1);
}

static void
frontier_is_the_least_of_live_sessions(void **state)
{
	struct sessions *sessions = *state;
	struct run *run = sessions_add_run(sessions, 1, "a");
	struct session *first = sessions_add(sessions, id_of(1), run);
	struct session *second = sessions_add(sessions, id_of(2), run);

	assert_int_equal(run->frontier, 0);
	sessions_set_frontier(first, 5);
	assert_int_equal(run->frontier, 0);
	sessions_set_frontier(second, 3);
	assert_int_equal(run->frontier, 3);
	sessions_set_state(sessions, second, SESSION_CLOSED);
	assert_int_equal(run->frontier, 5);
	assert_true(run_is_live(run));
	sessions_set_state(sessions, first, SESSION_GONE);
	assert_true(run->frontier == SESSIONS_NO_FRONTIER);
	assert_false(run_is_live(run));
	assert_int_equal(sessions->live, 0);
	/* A failed commit takes the time-out back. */
	sessions_set_state(sessions, first, SESSION_LIVE);
	assert_int_equal(run->frontier, 5);
	assert_int_equal(sessions->live, 1);
}

static void
passing_an_epoch_makes_it_due(void **state)
{
	struct sessions *sessions = *state;
	struct run *run = sessions_add_run(sessions, 1, "a");
	struct session *session = sessions_add(sessions, id_of(1), run);

	assert_false(run_is_touched(run));
	sessions_set_frontier(session, 2);
	assert_true(run_is_touched(run));
	assert_int_equal(run->due.from, 0);
	assert_int_equal(run->due.to, 2);
	run->due = run->touched = (struct epochs){0};
	run_make_due(run, 7, 8);
	sessions_set_frontier(session, 4);
	assert_int_equal(run->due.from, 2);
	assert_int_equal(run->due.to, 8);
	run_touch(run, 1, 2); /* a patch that nobody has ended yet */
	assert_int_equal(run->due.from, 2);
	assert_int_equal(run->touched.from, 1);
	assert_int_equal(run->touched.to, 8);
}

/* Against looking at every session. */
static void
frontier_of_many(void **state)
{
	enum { SESSIONS = 97, MOVES = 20000 };
	struct sessions *sessions = *state;
	struct run *run = sessions_add_run(sessions, 1, "a");
	struct session *all[SESSIONS];
	uint64_t random = 1;

	for (int i = 0; i < SESSIONS; i++)
		all[i] = sessions_add(sessions, id_of(i), run);
	for (int move = 0; move < MOVES; move++) {
		uint64_t least = SESSIONS_NO_FRONTIER;
		struct session *session;

		random = random * UINT64_C(6364136223846793005) + 1;
		session = all[(random >> 33) % SESSIONS];
		if (random >> 62 == 0)
			sessions_set_state(sessions, session, random >> 60 & 1 ? SESSION_LIVE : SESSION_CLOSED);
		else
			sessions_set_frontier(session, (random >> 40) % 50);
		for (int i = 0; i < SESSIONS; i++)
			if (all[i]->now.state == SESSION_LIVE && all[i]->now.frontier < least)
				least = all[i]->now.frontier;
		assert_true(run->frontier == least);
	}
}

/* Where each step looked at all sessions this took a minute. */
static void
many_sessions_of_a_run_cost_what_they_are(void **state)
{
	enum { SESSIONS = 60000 };
	struct sessions *sessions = *state;
	struct run *run = sessions_add_run(sessions, 1, "a");
	struct session **all = calloc(SESSIONS, sizeof(struct session *));
	uint8_t id[WIRE_SESSION_SIZE] = {0};
	clock_t begin = clock();

	for (uint32_t i = 0; i < SESSIONS; i++) {
		memcpy(id, &i, sizeof(i));
		all[i] = sessions_add(sessions, id, run);
		assert_non_null(all[i]);
	}
	for (uint32_t i = 0; i < SESSIONS; i++)
		sessions_set_frontier(all[i], i + 1);
	assert_int_equal(run->frontier, 1);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		sessions_set_state(sessions, all[i], SESSION_GONE);
		sessions_remove(sessions, all[i]);
		assert_int_equal(run_is_live(run), i + 1 < SESSIONS);
	}
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
	free(all);
}

static void
runs_are_found_by_number_and_name(void **state)
{
	struct sessions *sessions = *state;
	struct run *first = sessions_add_run(sessions, 1, "a"), *same_bucket, *second;

	same_bucket = sessions_add_run(sessions, 1 + 8192, "b");
	second = sessions_add_run(sessions, 2, "a");
	assert_ptr_equal(sessions_find_run(sessions, 1), first);
	assert_ptr_equal(sessions_find_run(sessions, 1 + 8192), same_bucket);
	assert_ptr_equal(sessions_next_named(sessions, "a", NULL), second);
	assert_ptr_equal(sessions_next_named(sessions, "a", second), first);
	assert_null(sessions_next_named(sessions, "a", first));
	sessions_remove_run(sessions, second);
	assert_ptr_equal(sessions_next_named(sessions, "a", NULL), first);
	sessions_remove_run(sessions, first);
	assert_null(sessions_next_named(sessions, "a", NULL));
	assert_null(sessions_find_run(sessions, 1));
	assert_ptr_equal(sessions->runs, same_bucket);
	assert_null(same_bucket->next);
}

static void
changed_sessions_are_taken_once(void **state)
{
	struct sessions *sessions = *state;
	struct run *run = sessions_add_run(sessions, 1, "a");
	struct session *session = sessions_add(sessions, id_of(1), run);

	sessions_change(sessions, session, OWES_ACK);
	sessions_change(sessions, session, OWES_ACK);
	assert_ptr_equal(sessions_take_changed(sessions), session);
	assert_null(sessions_take_changed(sessions));
}

static void
which_epochs_are_folded(void **state)
{
	enum { PATCH = FOLD_PATCH_BYTES };
	static const struct {
		uint64_t frontier, due_from, due_to;
		bool live;
		struct store_log_epoch epoch;
		bool expected;
	} cases[] = {
	        /* an open epoch, however large */
	        {3, 0, 10, true, {.epoch = 3, .rows = 9, .bytes = 100u * PATCH}, false},
	        /* a closed one that was never folded */
	        {3, 0, 0, true, {.epoch = 2, .rows = 1, .bytes = 20}, true},
	        /* a small patch waits, until its epoch is ended again, or nobody is left */
	        {3, 0, 0, true, {.epoch = 2, .rows = 1, .bytes = 20, .folded = 100}, false},
	        {3, 2, 3, true, {.epoch = 2, .rows = 1, .bytes = 20, .folded = 100}, true},
	        {3, 0, 2, true, {.epoch = 2, .rows = 1, .bytes = 20, .folded = 100}, false},
	        {SESSIONS_NO_FRONTIER, 0, 0, false, {.epoch = 2, .rows = 1, .bytes = 20, .folded = 100}, true},
	        /* a patch over 4 MB and over a quarter */
	        {3, 0, 0, true, {.epoch = 2, .rows = 26, .bytes = PATCH + 1, .folded = 100}, true},
	        {3, 0, 0, true, {.epoch = 2, .rows = 26, .bytes = PATCH, .folded = 100}, false},
	        {3, 0, 0, true, {.epoch = 2, .rows = 25, .bytes = PATCH + 1, .folded = 100}, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run run = {.frontier = cases[i].frontier, .due = {cases[i].due_from, cases[i].due_to}};

		if (fold_is_due(&run, cases[i].live, &cases[i].epoch) != cases[i].expected)
			fail_msg("case %zu", i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(finds_what_was_added, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(frontier_is_the_least_of_live_sessions, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(passing_an_epoch_makes_it_due, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(frontier_of_many, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(many_sessions_of_a_run_cost_what_they_are, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(runs_are_found_by_number_and_name, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(changed_sessions_are_taken_once, set_up, tear_down),
	        cmocka_unit_test(which_epochs_are_folded),
	};

	return cmocka_run_group_tests_name("sessions", tests, NULL, NULL);
}

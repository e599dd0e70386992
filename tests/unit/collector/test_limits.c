/* test_limits.c: what a client gets that wants more than its key allows, by each kind of frame that names a run. */
#include "ingest_fixture.h"

#include <owner.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct limits alice = {.rights = {.prefix = "alice/"}, .file = "gpu7"},
                           alice_keeps = {.rights = {.prefix = "alice/", .keeps_runs = true}, .file = "gpu8"},
                           alice_x = {.rights = {.prefix = "alice/x"}, .file = "gpu9"},
                           keeps = {.rights = {.keeps_runs = true}, .file = "gpu10"};

/* The runs alice/1 and bob/1, each of a session with 4 rows, by senders without limits. */
static void
make_runs(struct fixture *f)
{
	f->limits = NULL;
	fixture_open(f, 1, "alice/1", NULL);
	fixture_batch(f, 1, 1, 0, 0, 4, 0.25f, true);
	fixture_open(f, 2, "bob/1", NULL);
	fixture_batch(f, 2, 1, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
}

static void
assert_refused(struct fixture *f, uint8_t session, const char *words)
{
	const struct fixture_reply *reply = fixture_last(f, session, WIRE_ERROR);

	assert_int_equal(reply->code, WIRE_E_RIGHTS);
	assert_non_null(strstr(reply->message, words));
	fixture_commit(f);
	assert_int_equal(fixture_run(f, "bob/1").observations, 4);
}

static void
a_run_outside_the_prefix_is_refused_whatever_is_asked(void **state)
{
	struct fixture *f = *state;
	const struct wire_open asked[] = {{.resume = true},
	                                  {.overwrite = true},
	                                  {.overwrite = true, .whole = true},
	                                  {.overwrite = true, .late = true},
	                                  {.resume = true, .late = true, .after = 1, .partial = true},
	                                  {.group = {(const uint8_t *)"job", 3}, .rank = 1}};
	static const char *const names[] = {"bob/1",   "bob/none", "alice",         "alic",
	                                    "Alice/1", "alice2/1", "\xd0\xb0lice/1"};
	char said[256] = "";

	make_runs(f);
	f->limits = &alice;
	for (size_t name = 0; name < sizeof(names) / sizeof(*names); name++) {
		for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
			fixture_open(f, 3, names[name], &asked[i]);
			assert_refused(f, 3, "begin with 'alice/'");
			/* Word for word the same, whether the run exists or not. */
			if (said[0])
				assert_string_equal(fixture_last(f, 3, WIRE_ERROR)->message, said);
			strcpy(said, fixture_last(f, 3, WIRE_ERROR)->message);
			assert_null(strstr(said, "bob"));
		}
		fixture_remove(f, names[name], true);
		assert_refused(f, 99, "begin with 'alice/'");
		assert_string_equal(fixture_last(f, 99, WIRE_ERROR)->message, said);
		if (name > 0)
			assert_false(fixture_has_run(f, names[name]));
	}
	assert_int_equal(f->ingest.sessions.count, 2);
}

static void
within_its_prefix_a_key_does_everything(void **state)
{
	struct fixture *f = *state;
	struct wire_open resume = {.resume = true}, overwrite = {.overwrite = true};

	make_runs(f);
	f->limits = &alice;
	fixture_open(f, 3, "alice/2", NULL);
	fixture_commit(f);
	fixture_last(f, 3, WIRE_OPENED);
	fixture_wait(f, 5001);
	fixture_open(f, 4, "alice/1", &resume); /* another began it: the prefix alone decides */
	fixture_commit(f);
	fixture_last(f, 4, WIRE_OPENED);
	fixture_open(f, 5, "alice/1", &overwrite);
	fixture_commit(f);
	fixture_last(f, 5, WIRE_OPENED);
	fixture_remove(f, "alice/1", true);
	fixture_last(f, 99, WIRE_ACK);
	assert_false(fixture_has_run(f, "alice/1"));
}

/* A session's 16 bytes are no key: who knows them needs the right to the session's run all the same. */
static void
a_known_session_outside_the_prefix_is_refused(void **state)
{
	struct fixture *f = *state;
	struct wire_open again = {.resume = true};

	make_runs(f);
	for (int restarted = 0; restarted < 2; restarted++) {
		f->limits = &alice;
		fixture_open(f, 2, "bob/1", NULL);
		assert_refused(f, 2, "begin with 'alice/'");
		fixture_open(f, 2, "alice/mine", &again);
		assert_refused(f, 2, "this session does not record");
		assert_null(strstr(fixture_last(f, 2, WIRE_ERROR)->message, "bob"));
		assert_false(fixture_has_run(f, "alice/mine"));
		/* Within the prefix it is the session's own secret that counts, as without limits. */
		f->limits = &alice_x;
		fixture_open(f, 1, "alice/1", NULL);
		assert_refused(f, 1, "begin with 'alice/x'");
		fixture_open(f, 1, "alice/x", NULL);
		assert_refused(f, 1, "this session does not record");
		f->limits = &alice;
		fixture_open(f, 1, "alice/1", NULL);
		fixture_commit(f);
		assert_int_equal(fixture_last(f, 1, WIRE_OPENED)->acknowledged, 1);
		fixture_restart(f); /* the store knows the sessions, too, when they are in no table */
	}
}

static void
the_session_of_a_removed_run_is_not_named(void **state)
{
	struct fixture *f = *state;

	make_runs(f);
	fixture_remove(f, "bob/1", true);
	f->limits = &alice;
	fixture_open(f, 2, "alice/mine", NULL);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_RIGHTS);
	assert_null(strstr(fixture_last(f, 2, WIRE_ERROR)->message, "bob"));
}

static void
a_damaged_run_outside_the_prefix_is_not_named(void **state)
{
	struct fixture *f = *state;
	struct run *run;

	make_runs(f);
	run = sessions_live_named(&f->ingest.sessions, "bob/1");
	while (run->sessions)
		sessions_remove(&f->ingest.sessions, run->sessions);
	run->damaged = true;
	f->limits = &alice;
	fixture_open(f, 2, "alice/mine", NULL);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_RIGHTS);
	f->limits = NULL;
	fixture_open(f, 2, "bob/1", NULL);
	assert_int_equal(fixture_last(f, 2, WIRE_ERROR)->code, WIRE_E_RUN_DAMAGED);
}

/* Neither by `overwrite`, nor by a run that is made whole, nor by a spool, nor by `remove`. */
static void
a_key_without_overwrite_takes_no_run_away(void **state)
{
	struct fixture *f = *state;
	const struct wire_open asked[] = {{.overwrite = true},
	                                  {.overwrite = true, .whole = true},
	                                  {.overwrite = true, .late = true, .started = UINT64_C(1) << 60},
	                                  {.overwrite = true, .group = {(const uint8_t *)"job", 3}, .rank = 1}};
	const struct limits *const keys[] = {&alice_keeps, &keeps};
	struct wire_open resume = {.resume = true};

	make_runs(f);
	for (size_t key = 0; key < 2; key++) {
		f->limits = keys[key];
		for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
			fixture_open(f, 3, "alice/1", &asked[i]);
			assert_refused(f, 3, "overwrites no runs");
		}
		fixture_remove(f, "alice/1", true);
		assert_refused(f, 99, "overwrite = no");
		fixture_remove(f, "alice/none", true);
		assert_refused(f, 99, "overwrite = no");
		assert_int_equal(fixture_run(f, "alice/1").observations, 4);
	}
	/* A name that is free needs no such right; nor has resume anything to do with it. */
	fixture_open(f, 4, "alice/new", &asked[0]);
	fixture_commit(f);
	fixture_last(f, 4, WIRE_OPENED);
	fixture_wait(f, 5001);
	fixture_open(f, 5, "alice/1", &resume);
	fixture_commit(f);
	fixture_last(f, 5, WIRE_OPENED);
	assert_int_equal(fixture_run(f, "alice/1").observations, 4);
}

/* A run that is made whole gets its name at `close`: one that was made meanwhile stays. */
static void
a_whole_run_replaces_none_that_came_meanwhile(void **state)
{
	struct fixture *f = *state;
	struct wire_open whole = {.overwrite = true, .whole = true};

	f->limits = &alice_keeps;
	fixture_open(f, 1, "alice/1", &whole);
	fixture_commit(f);
	fixture_last(f, 1, WIRE_OPENED);
	f->limits = NULL;
	fixture_open(f, 2, "alice/1", NULL);
	fixture_batch(f, 2, 1, 0, 0, 4, 0.25f, true);
	fixture_commit(f);
	f->limits = &alice_keeps;
	fixture_close(f, 1, 1);
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ERROR)->code, WIRE_E_RUN_EXISTS);
	assert_int_equal(fixture_run(f, "alice/1").observations, 4);
}

/* The store's secret, by which a client without a key proves to be the store's user, widens no key. */
static void
the_owners_proof_widens_no_key(void **state)
{
	struct fixture *f = *state;
	const struct ingest_owner owner = {
	        .path = "/store/owner.secret", .secret = "secret of 16 by", .has_secret = true};
	struct wire_open overwrite = {.overwrite = true, .owner = owner.secret};

	make_runs(f);
	f->ingest.options.owner = &owner;
	f->limits = &alice_keeps;
	fixture_open(f, 3, "alice/1", &overwrite);
	assert_refused(f, 3, "overwrites no runs");
	fixture_open(f, 3, "bob/1", &overwrite);
	assert_refused(f, 3, "begin with 'alice/'");
	assert_int_equal(fixture_run(f, "alice/1").observations, 4);
	f->ingest.options.owner = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_run_outside_the_prefix_is_refused_whatever_is_asked),
	        TEST(within_its_prefix_a_key_does_everything),
	        TEST(a_known_session_outside_the_prefix_is_refused),
	        TEST(the_session_of_a_removed_run_is_not_named),
	        TEST(a_damaged_run_outside_the_prefix_is_not_named),
	        TEST(a_key_without_overwrite_takes_no_run_away),
	        TEST(a_whole_run_replaces_none_that_came_meanwhile),
	        TEST(the_owners_proof_widens_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

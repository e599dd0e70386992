/*
 * test_pages.c: pages that LMDB itself finds damaged. It then reads nothing more in that transaction; runs that have
 * nothing on these pages must be listed, checked and recorded all the same.
 */
#include "store_test.h"

#include "zero_pages.h"

#include <stdlib.h>

#define SESSIONS 100 /* several pages of them */
#define EPOCHS 200   /* and of these */

/* The runs "bad" and "good". Their configs and labels keep counters off the page of state and identity. */
static struct fixture *
fill_store(void)
{
	static const float gold_prob[] = {0.25f, 0.5f, 0.75f};
	const struct store_client client = {.told = 1, .logged = 3};
	const struct store_counters counters = {.received = 3};
	struct fixture *fixture = fixture_new();
	char text[1850];
	struct store_text labels[7];

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < 7; i++)
		labels[i] = (struct store_text){text, 250 - i};
	for (int i = 0; i < 2; i++) {
		const struct store_run_request request = {.name = {i ? "good" : "bad", i ? 4 : 3},
		                                          .config = {text, sizeof(text)},
		                                          .labels = labels,
		                                          .label_count = 7};
		uint32_t run;

		ok(store_writer_run(fixture_writer(fixture), &request, &run, &error));
		for (uint32_t rank = 0; rank < SESSIONS; rank++) {
			const uint32_t session = fixture_session(fixture, run, 2000 + rank, rank);

			ok(store_writer_client(fixture_writer(fixture), run, session, &client, &error));
		}
		ok(store_writer_count(fixture_writer(fixture), run, &counters, &error));
		for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
			fixture_log(fixture, run,
			            &(struct fixture_batch){.epoch = epoch, .n = 3, .gold_prob = gold_prob});
		fixture_end_unfolded(fixture, run);
	}
	return fixture;
}

/* The leaves of "bad" are lost that hold records of this kind alone; 'n' has leaves for both runs. The writer is open, as
 * it may be when it happens. */
static struct fixture *
make_store(char kind)
{
	struct fixture *fixture = fill_store();

	assert_true(zero_pages(fixture_directory(fixture), kind, kind == 'n' ? 0 : 1, ZERO_ALL) > 0);
	return fixture;
}

static void
note_damage(void *context, const char *line)
{
	(void)line;
	++*(int *)context;
}

static void
runs_are_listed(void **state)
{
	struct fixture *fixture = make_store('s');
	struct store_run_info *runs;
	size_t count;

	(void)state;
	ok(store_runs(fixture_store(fixture), &runs, &count, &error));
	assert_int_equal(count, 2);
	assert_int_equal(runs[0].state, STORE_DAMAGED);
	assert_string_equal(runs[1].name, "good");
	assert_int_equal(runs[1].observations, 3 * EPOCHS);
	free(runs);
	fixture_free(fixture);
}

static void
a_run_without_counters_is_listed(void **state)
{
	struct fixture *fixture = fill_store();
	struct store_run_info *runs;
	size_t count;

	(void)state;
	assert_int_equal(zero_pages_with_counters(fixture_directory(fixture), 1), 1);
	ok(store_runs(fixture_store(fixture), &runs, &count, &error));
	assert_int_equal(count, 2);
	assert_int_equal(runs[0].state, STORE_DAMAGED);
	assert_string_equal(runs[1].name, "good");
	assert_int_equal(runs[1].observations, 3 * EPOCHS);
	free(runs);
	fixture_free(fixture);
}

static void
the_run_is_checked(void **state)
{
	struct fixture *fixture = make_store('s');
	int damaged = 0;
	const struct store_verify options = {.damaged = note_damage, .context = &damaged};
	uint64_t records;

	(void)state;
	ok(store_verify(fixture_store(fixture), 1, &options, &records, &error));
	assert_true(damaged > 0);
	damaged = 0;
	ok(store_verify(fixture_store(fixture), 2, &options, &records, &error));
	assert_int_equal(damaged, 0);
	fixture_free(fixture);
}

static void
lost_ids_of_sessions_end_no_check(void **state)
{
	struct fixture *fixture = make_store('n');
	int damaged = 0;
	const struct store_verify options = {.damaged = note_damage, .context = &damaged};
	uint64_t records;

	(void)state;
	for (uint32_t run = 1; run <= 2; run++, damaged = 0) {
		ok(store_verify(fixture_store(fixture), run, &options, &records, &error));
		assert_int_equal(damaged, 1);
	}
	fixture_free(fixture);
}

/* Answers whether there was such a page. What is on a lost page, or beside it, stays in the file; the rest goes. LMDB
 * would write beyond its pages. */
static bool
remove_with_lost_page(char kind, unsigned one)
{
	struct fixture *fixture = fill_store();
	struct store_writer *writer = fixture_writer(fixture);
	int damaged = 0;
	const struct store_verify options = {.damaged = note_damage, .context = &damaged};
	const unsigned zeroed = zero_pages(fixture_directory(fixture), kind, kind == 'n' ? 0 : 1, one);
	uint32_t left = 0;
	uint64_t records;

	ok(store_writer_remove_run(writer, (struct store_text){"bad", 3}, &error));
	for (bool more = true; more;) {
		ok(store_writer_collect(writer, &more, &error));
		left += store_writer_left(writer);
		ok(store_writer_commit(writer, &error));
	}
	assert_true(left <= (zeroed > 0)); /* the number of the run, once; a free page may look like one of its */
	assert_true(left || one != ZERO_ALL);
	ok(store_verify(fixture_store(fixture), 2, &options, &records, &error));
	assert_true(damaged <= 1); /* the search for its first record may end on a lost page */
	fixture_free(fixture);
	return zeroed > 0;
}

static void
the_run_is_removed(void **state)
{
	static const char kinds[] = "skBEn";

	(void)state;
	for (const char *kind = kinds; *kind; kind++) {
		unsigned one = 0;

		while (remove_with_lost_page(*kind, one))
			one++;
		assert_true(one > 1);
		remove_with_lost_page(*kind, ZERO_ALL);
	}
}

/* LMDB then refuses all further calls, so it is not as if the counts alone were lost. */
static void
counts_on_lost_pages_are_an_error(void **state)
{
	struct fixture *fixture = make_store('k');
	const struct store_client client = {.told = 2, .logged = 3};

	(void)state;
	assert_int_equal(store_writer_client(fixture_writer(fixture), 1, SESSIONS / 2, &client, NULL), STORE_E_CORRUPT);
	store_writer_abort(fixture_writer(fixture));
	fixture_free(fixture);
}

/* As a collector does that starts. */
static int
read_sessions(void *context, uint32_t run, uint32_t sessions, struct portolan_error *error)
{
	struct store_session_info info;
	int rc = 0;

	for (uint32_t i = 0; i < sessions && !rc; i++)
		rc = store_writer_session_info(context, run, i, &info, error);
	return rc;
}

static const char *named;

static void
note_run(void *context, const char *name, uint32_t run, const char *what)
{
	(void)context;
	assert_null(named);
	assert_int_equal(run, 1);
	assert_string_equal(name, "bad");
	assert_non_null(strstr(what, "portolan salvage"));
	named = "bad";
}

static void
the_writer_goes_on(void **state)
{
	static const float gold_prob[] = {0.125f};
	struct fixture *fixture = make_store('s');
	struct store_writer *writer = fixture_writer(fixture);
	const struct store_each each = {.run = read_sessions, .damaged = note_run, .context = writer};
	struct store_session_info info;

	(void)state;
	ok(store_writer_each_run(writer, &each, &error));
	assert_non_null(named);
	assert_false(store_writer_is_spoilt(writer));
	assert_int_equal(store_writer_session_info(writer, 1, SESSIONS / 2, &info, NULL), STORE_E_CORRUPT);
	assert_true(store_writer_is_spoilt(writer));
	store_writer_abort(writer);
	fixture_log(fixture, 2, &(struct fixture_batch){.epoch = EPOCHS, .n = 1, .gold_prob = gold_prob});
	ok(store_writer_commit(writer, &error));
	fixture_free(fixture);
}

static int
close_run(void *context, uint32_t run, uint32_t sessions, struct portolan_error *error)
{
	return read_sessions(context, run, sessions, error)
	               ?: store_writer_set_state(context, run, STORE_CLOSED, error);
}

static void
note_nothing(void *context, const char *name, uint32_t run, const char *what)
{
	(void)context, (void)name, (void)run, (void)what;
}

static void
damage_takes_nothing_from_the_run_before(void **state)
{
	struct fixture *fixture = make_store('s');
	struct store_writer *writer = fixture_writer(fixture);
	const uint32_t able = fixture_run(fixture, "able", 0, NULL, 0);
	const struct store_each each = {.run = close_run, .damaged = note_nothing, .context = writer};
	struct store_run_info info;

	(void)state;
	ok(store_writer_commit(writer, &error));
	ok(store_writer_each_run(writer, &each, &error));
	ok(store_writer_run_info(writer, able, &info, &error));
	assert_int_equal(info.state, STORE_CLOSED);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(runs_are_listed),
	        cmocka_unit_test(a_run_without_counters_is_listed),
	        cmocka_unit_test(the_run_is_checked),
	        cmocka_unit_test(lost_ids_of_sessions_end_no_check),
	        cmocka_unit_test(counts_on_lost_pages_are_an_error),
	        cmocka_unit_test(the_writer_goes_on),
	        cmocka_unit_test(damage_takes_nothing_from_the_run_before),
	        cmocka_unit_test(the_run_is_removed),
	};

	return cmocka_run_group_tests_name("store pages", tests, NULL, NULL);
}

/* test_writer.c: runs, sessions, aborts, the lock, and what is answered when a store cannot be opened. */
#include "store_test.h"

#include "writer.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct store_text
text(const char *string)
{
	return (struct store_text){.data = string, .size = strlen(string)};
}

struct run_case {
	const char *name, *group;
	enum portolan_mode mode;
	uint64_t examples;
	bool resume, overwrite;
	int rc;
	int same_as; /* the case whose run this is; itself: a new one */
};

/* In order, all on one store; each run is recording. */
static const struct run_case run_cases[] = {
        {"a", "", PORTOLAN_EPOCH_END, 0, false, false, 0, 0},
        {"a", "", PORTOLAN_EPOCH_END, 0, false, false, STORE_E_EXISTS, 0},
        {"a", "", PORTOLAN_EPOCH_END, 0, true, false, 0, 0},
        {"a", "", PORTOLAN_TRAIN_FORWARD, 0, true, false, STORE_E_DIFFERS, 0},
        {"a", "", PORTOLAN_EPOCH_END, 5, true, false, STORE_E_DIFFERS, 0},
        {"a", "", PORTOLAN_TRAIN_FORWARD, 5, false, true, 0, 5},
        {"a", "", PORTOLAN_TRAIN_FORWARD, 5, true, true, 0, 5},
        {"b", "job", PORTOLAN_EPOCH_END, 5, true, false, 0, 7},
        {"b", "job", PORTOLAN_EPOCH_END, 5, false, true, 0, 7},
        {"b", "other", PORTOLAN_EPOCH_END, 5, false, false, STORE_E_EXISTS, 0},
        {"b", "job", PORTOLAN_EPOCH_END, 6, false, false, STORE_E_DIFFERS, 0},
        {"b", "", PORTOLAN_EPOCH_END, 5, false, false, STORE_E_EXISTS, 0},
        {"c", "", PORTOLAN_EPOCH_END, UINT64_C(1) << 40, false, false, STORE_E_DIFFERS, 0},
        {"", "", PORTOLAN_EPOCH_END, 0, false, false, STORE_E_DIFFERS, 0},
};

static void
runs(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t numbers[sizeof(run_cases) / sizeof(run_cases[0])] = {0};
	struct store_run_info *list;
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(run_cases) / sizeof(run_cases[0]); i++) {
		const struct run_case *want = &run_cases[i];
		struct store_run_request request = {.name = text(want->name),
		                                    .group = text(want->group),
		                                    .config = text("{\"lr\": 1}"),
		                                    .mode = want->mode,
		                                    .examples = want->examples,
		                                    .resume = want->resume,
		                                    .overwrite = want->overwrite};
		int rc = store_writer_run(fixture_writer(fixture), &request, &numbers[i], NULL);

		assert_int_equal(rc, want->rc);
		for (size_t j = 0; j < i && rc == 0; j++) {
			if (want->same_as == (int)i)
				assert_int_not_equal(numbers[i], numbers[j]);
			else if (want->same_as == (int)j)
				assert_int_equal(numbers[i], numbers[j]);
		}
	}
	ok(store_writer_set_state(fixture_writer(fixture), numbers[7], STORE_CLOSED, &error));
	ok(store_runs(fixture_store(fixture), &list, &count, &error));
	assert_int_equal(count, 2);
	assert_string_equal(list[0].name, "a");
	assert_int_equal(list[0].mode, PORTOLAN_TRAIN_FORWARD);
	assert_int_equal(list[0].declared, 5);
	assert_int_equal(list[0].state, STORE_RECORDING);
	assert_string_equal(list[1].group, "job");
	assert_int_equal(list[1].state, STORE_CLOSED);
	free(list);
	fixture_free(fixture);
}

/* So many that their records fill several pages, between others that stay. */
static void
unnamed_runs(void **state)
{
	enum { RUNS = 150 };
	struct fixture *fixture = fixture_new();
	uint32_t runs[RUNS];
	bool more = true;

	(void)state;
	for (uint32_t i = 0; i < RUNS; i++) {
		struct store_run_request request = {.name = {"run", 3}, .whole = i != RUNS / 2, .overwrite = true};

		ok(store_writer_run(fixture_writer(fixture), &request, &runs[i], &error));
	}
	fixture_close(fixture);
	while (more)
		ok(store_writer_collect(fixture_writer(fixture), &more, &error));
	for (uint32_t i = 0; i < RUNS; i++) {
		struct store_run_info info;
		int rc = store_writer_run_info(fixture_writer(fixture), runs[i], &info, NULL);

		assert_int_equal(rc, i == RUNS / 2 ? 0 : STORE_E_NO_RUN);
	}
	fixture_free(fixture);
}

static void
sessions(void **state)
{
	const struct store_session_request one = {.id = {1}, .started = 5},
	                                   two = {.id = {200}, .started = 77, .rank = 3},
	                                   later = {.id = {200}, .started = 99, .rank = 9};
	const uint8_t none[16] = {201};
	struct fixture *fixture = fixture_new();
	uint32_t a = fixture_run(fixture, "a", 0, NULL, 0), b = fixture_run(fixture, "b", 0, NULL, 0), first, again,
	         run;
	struct store_writer *writer = fixture_writer(fixture);
	struct store_session_info info;

	(void)state;
	ok(store_writer_session(writer, a, &two, &first, &error));
	ok(store_writer_session(writer, a, &later, &again, &error));
	assert_int_equal(first, again);
	ok(store_writer_session(writer, b, &one, &again, &error)); /* also the id of the fixture's own in `a` */
	ok(store_writer_end_epoch(writer, a, first, 1, 4, &error));
	ok(store_writer_end_epoch(writer, a, first, 2, 2, &error));
	ok(store_writer_session_live(writer, a, first, true, &error));
	fixture_close(fixture);
	writer = fixture_writer(fixture);
	ok(store_writer_find_session(writer, two.id, &run, &again, &error));
	assert_int_equal(run, a);
	assert_int_equal(again, first);
	ok(store_writer_find_session(writer, one.id, &run, &again, &error));
	assert_int_equal(run, b);
	assert_int_equal(store_writer_find_session(writer, none, &run, &again, NULL), STORE_E_NO_RUN);
	ok(store_writer_session_info(writer, a, first, &info, &error));
	assert_int_equal(info.started, 77);
	assert_int_equal(info.rank, 3);
	assert_int_equal(info.acknowledged, 2);
	assert_int_equal(info.frontier, 4);
	assert_true(info.live);
	ok(store_writer_remove_run(writer, text("a"), &error));
	assert_int_equal(store_writer_find_session(writer, two.id, &run, &again, NULL), STORE_E_NO_RUN);
	assert_int_equal(store_writer_session_info(writer, a, first, &info, NULL), STORE_E_NO_RUN);
	assert_int_equal(store_writer_remove_run(writer, text("a"), NULL), STORE_E_NO_RUN);
	fixture_free(fixture);
}

struct walk {
	uint32_t runs[4], sessions[4];
	int count;
};

static int
note_run(void *context, uint32_t run, uint32_t sessions, struct portolan_error *unused)
{
	struct walk *walk = context;

	(void)unused;
	walk->runs[walk->count] = run;
	walk->sessions[walk->count++] = sessions;
	return walk->count == 2 ? 42 : 0;
}

static void
each_run(void **state)
{
	struct fixture *fixture = fixture_new();
	struct walk walk = {.count = 0};
	const struct store_each each = {.run = note_run, .context = &walk};
	uint32_t b = fixture_run(fixture, "b", 0, NULL, 0), a = fixture_run(fixture, "a", 0, NULL, 0);

	(void)state;
	fixture_run(fixture, "c", 0, NULL, 0);
	fixture_session(fixture, a, 1, 1);
	assert_int_equal(store_writer_each_run(fixture_writer(fixture), &each, NULL), 42);
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.runs[0], a);
	assert_int_equal(walk.sessions[0], 2);
	assert_int_equal(walk.runs[1], b);
	assert_int_equal(walk.sessions[1], 1);
	fixture_free(fixture);
}

/* Abort gives back what was handed out since the last commit: numbers, indices, runs. */
static void
aborts(void **state)
{
	const uint64_t first[] = {50, 60}, second[] = {70, 60}, third[] = {80, 70};
	const float gold_prob[] = {.5f, .6f};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	struct store_session_info session;
	struct reading reading;
	struct store_block block;
	struct store_ids ids;

	(void)state;
	fixture_log(fixture, run, &(struct fixture_batch){.n = 2, .ids = first, .gold_prob = gold_prob});
	assert_true(store_writer_pending(fixture_writer(fixture)) > 0);
	ok(store_writer_commit(fixture_writer(fixture), &error));
	assert_int_equal(store_writer_pending(fixture_writer(fixture)), 0);
	fixture_log(fixture, run, &(struct fixture_batch){.n = 2, .ids = second, .gold_prob = gold_prob});
	fixture_run(fixture, "gone", 0, NULL, 0);
	store_writer_abort(fixture_writer(fixture));
	ok(store_writer_session_info(fixture_writer(fixture), run, 0, &session, &error));
	assert_int_equal(session.acknowledged, 1);
	assert_int_equal(session.observations, 2);
	fixture_log(fixture, run, &(struct fixture_batch){.n = 2, .ids = third, .gold_prob = gold_prob});
	reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
	reading_block(&reading, 0, &block, &ids);
	assert_int_equal(ids.rows, 4);
	assert_int_equal(ids.integers[2], 80);
	assert_int_equal(ids.integers[3], 70);
	reading_close(&reading);
	assert_int_equal(store_snapshot_open(fixture_store(fixture), "gone",
	                                     &(struct store_snapshot_options){.epoch_to = UINT32_MAX},
	                                     &reading.snapshot, NULL),
	                 STORE_E_NO_RUN);
	fixture_free(fixture);
}

static void
log_listing(void **state)
{
	const float gold_prob[] = {.5f, .6f, .7f};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 3, NULL, 0);
	struct store_log_epoch epoch;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		fixture_log(fixture, run, &(struct fixture_batch){.epoch = 2 * i, .n = 3 - i, .gold_prob = gold_prob});
	fixture_fold(fixture, run, 2);
	fixture_log(fixture, run, &(struct fixture_batch){.epoch = 2, .n = 1, .gold_prob = gold_prob});
	ok(store_writer_next_log(fixture_writer(fixture), run, 0, UINT64_MAX, &epoch, &error));
	assert_int_equal(epoch.epoch, 0);
	assert_int_equal(epoch.rows, 3);
	assert_int_equal(epoch.folded, 0);
	assert_true(epoch.bytes > 0);
	ok(store_writer_next_log(fixture_writer(fixture), run, 1, UINT64_MAX, &epoch, &error));
	assert_int_equal(epoch.epoch, 2);
	assert_int_equal(epoch.rows, 1);
	assert_int_equal(epoch.folded, 2);
	ok(store_writer_next_log(fixture_writer(fixture), run, 1, 2, &epoch, &error));
	assert_int_equal(epoch.rows, 0);
	fixture_fold(fixture, run, 2);
	ok(store_writer_next_log(fixture_writer(fixture), run, 1, UINT64_MAX, &epoch, &error)); /* passes it over */
	assert_int_equal(epoch.epoch, 4);
	ok(store_writer_next_log(fixture_writer(fixture), run, 5, UINT64_MAX, &epoch, &error));
	assert_int_equal(epoch.rows, 0);
	fixture_free(fixture);
}

/* A second collector, also one in another process, is told who has the store. */
static void
two_writers(void **state)
{
	struct fixture *fixture = fixture_new();
	struct store_writer *second;
	struct portolan_error failure = {0};
	char expected[64];
	int status;
	pid_t child;

	(void)state;
	fixture_writer(fixture);
	snprintf(expected, sizeof(expected), "(process %ld)", (long)getpid());
	assert_int_equal(store_writer_open(fixture_directory(fixture), &second, &failure), STORE_E_LOCKED);
	assert_non_null(strstr(failure.message, expected));
	assert_non_null(strstr(failure.message, "collector.sock"));
	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(store_writer_open(fixture_directory(fixture), &second, NULL) == STORE_E_LOCKED ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	fixture_close(fixture);
	ok(store_writer_open(fixture_directory(fixture), &second, &error));
	store_writer_close(second);
	fixture_free(fixture);
}

static void
newer_schema(void **state)
{
	struct fixture *fixture = fixture_new();
	struct store_writer *writer = fixture_writer(fixture), *again;
	/* a newer schema record may be of any size */
	const uint32_t body[9] = {STORE_SCHEMA_VERSION + 1, 4, 5, 6, 7, 8, 9, 10, 11};
	struct portolan_error failure = {0};
	struct store_key key = {.size = 0};
	struct store *store;

	(void)state;
	store_key_add_bytes(&key, "schema", 6);
	ok(store_writer_begin(writer, &error));
	ok(store_writer_put(writer, DB_META, &key, RECORD_SCHEMA, body, sizeof(body), &error));
	fixture_close(fixture);
	assert_int_equal(store_open(fixture_directory(fixture), &store, &failure), STORE_E_NEWER);
	assert_non_null(strstr(failure.message, "schema version 3"));
	assert_int_equal(store_writer_open(fixture_directory(fixture), &again, NULL), STORE_E_NEWER);
	fixture_free(fixture);
}

/* What an older version wrote is not touched, and the message says what can be done. */
static void
older_schema(void **state)
{
	struct fixture *fixture = fixture_new();
	struct store_writer *writer = fixture_writer(fixture), *again;
	const struct schema_record body = {.version = 1, .chunk = STORE_CHUNK};
	struct portolan_error failure = {0};
	struct store_key key = {.size = 0};
	struct store *store;

	(void)state;
	store_key_add_bytes(&key, "schema", 6);
	ok(store_writer_begin(writer, &error));
	ok(store_writer_put(writer, DB_META, &key, RECORD_SCHEMA, &body, sizeof(body), &error));
	fixture_close(fixture);
	assert_int_equal(store_open(fixture_directory(fixture), &store, &failure), STORE_E_OLDER);
	assert_non_null(strstr(failure.message, "schema version 1"));
	assert_non_null(strstr(failure.message, "record them again"));
	assert_int_equal(store_writer_open(fixture_directory(fixture), &again, NULL), STORE_E_OLDER);
	fixture_free(fixture);
}

static void
missing_stores(void **state)
{
	struct fixture *fixture = fixture_new();
	struct portolan_error failure = {0};
	struct store_writer *writer;
	struct store *store;
	char path[512];

	(void)state;
	assert_int_equal(store_open("/nowhere/at/all", &store, &failure), STORE_E_NO_STORE);
	assert_non_null(strstr(failure.message, "no store at '/nowhere/at/all'"));
	assert_int_equal(store_open(fixture_directory(fixture), &store, &failure), STORE_E_NO_STORE);
	snprintf(path, sizeof(path), "%s/lock.mdb", fixture_directory(fixture));
	assert_int_not_equal(access(path, F_OK), 0); /* looking leaves nothing behind */
	assert_int_equal(store_writer_open("/nowhere/at/all", &writer, &failure), STORE_E_SYSTEM);
	assert_non_null(strstr(failure.message, "/nowhere/at/all"));
	snprintf(path, sizeof(path), "%s/new", fixture_directory(fixture));
	ok(store_writer_open(path, &writer, &error));
	store_writer_close(writer);
	ok(store_open(path, &store, &error));
	store_close(store);
	fixture_free(fixture);
}

struct name_case {
	const char *asked, *message;
};

static const struct name_case name_cases[] = {
        {"snli/sed1", "did you mean 'snli/seed1'?"},   {"SNLI/seed1", "portolan runs"},
        {"snli/seed22", "did you mean 'snli/seed2'?"}, {"", "no run ''"},
        {"mnli/seed1", "did you mean 'snli/seed1'?"},
};

static void
wrong_names(void **state)
{
	struct fixture *fixture = fixture_new();
	struct store_snapshot_options options = {.epoch_to = UINT32_MAX};
	struct store_snapshot *snapshot;

	(void)state;
	fixture_run(fixture, "snli/seed1", 0, NULL, 0);
	fixture_run(fixture, "snli/seed2", 0, NULL, 0);
	for (size_t i = 0; i < sizeof(name_cases) / sizeof(name_cases[0]); i++) {
		struct portolan_error failure = {0};

		assert_int_equal(
		        store_snapshot_open(fixture_store(fixture), name_cases[i].asked, &options, &snapshot, &failure),
		        STORE_E_NO_RUN);
		assert_non_null(strstr(failure.message, name_cases[i].message));
	}
	/* a run without any observation can be read */
	ok(store_snapshot_open(fixture_store(fixture), "snli/seed1", &options, &snapshot, &error));
	assert_int_equal(store_snapshot_blocks(snapshot), 0);
	assert_int_equal(store_snapshot_info(snapshot)->epochs, 0);
	store_snapshot_close(snapshot);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(runs),           cmocka_unit_test(unnamed_runs), cmocka_unit_test(sessions),
	        cmocka_unit_test(each_run),       cmocka_unit_test(aborts),       cmocka_unit_test(log_listing),
	        cmocka_unit_test(two_writers),    cmocka_unit_test(newer_schema), cmocka_unit_test(older_schema),
	        cmocka_unit_test(missing_stores), cmocka_unit_test(wrong_names),
	};

	return cmocka_run_group_tests_name("store writer", tests, NULL, NULL);
}

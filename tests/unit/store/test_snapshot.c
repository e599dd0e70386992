/*
 * test_snapshot.c: a snapshot does not change, whatever the collector does; what no reader needs goes, and only that;
 * and a fold that was cut short leaves nothing.
 */
#include "reader_process.h"

#include "registry.h"
#include "writer.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = STORE_CHUNK + 500 };

static void
log_some(struct fixture *fixture, uint32_t run, uint32_t epoch, uint32_t from, uint32_t n, float value)
{
	static uint64_t ids[N];
	static float gold_prob[N];
	static int32_t gold[N];

	for (uint32_t i = 0; i < n; i++) {
		ids[i] = 1000 + (from + i) % N;
		gold_prob[i] = value + (float)i / (2 * N);
		gold[i] = (int32_t)(ids[i] % 7);
	}
	fixture_log(fixture, run,
	            &(struct fixture_batch){.epoch = epoch, .n = n, .ids = ids, .gold_prob = gold_prob, .gold = gold});
	ok(store_writer_commit(fixture_writer(fixture), &error));
}

static void
collect_all(struct fixture *fixture)
{
	bool more = true;

	while (more)
		ok(store_writer_collect(fixture_writer(fixture), &more, &error));
	ok(store_writer_commit(fixture_writer(fixture), &error));
}

/* Records of a run in one database. */
static size_t
count_records(struct fixture *fixture, enum store_db db, uint32_t run)
{
	struct store_writer *writer = fixture_writer(fixture);
	struct store_key from = store_key_u32(run);
	struct view_walk walk;
	size_t count = 0;

	ok(store_writer_begin(writer, &error));
	ok(store_walk_open(&walk, &writer->view, db, &from, 4, &error));
	while (store_walk_next(&walk, NULL) == 0)
		count++;
	store_walk_close(&walk);
	store_writer_abort(writer);
	return count;
}

static int
count_reader_files(struct fixture *fixture)
{
	char path[512];
	struct dirent *entry;
	int count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/readers", fixture_directory(fixture));
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)))
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

/* A store with an epoch folded, one in the log, and one that is both. */
static uint32_t
make_run(struct fixture *fixture, const char *name)
{
	uint32_t run = fixture_run(fixture, name, 0, NULL, 0);

	log_some(fixture, run, 0, 0, N, .1f);
	fixture_fold(fixture, run, 0);
	log_some(fixture, run, 1, 7, 300, .2f);
	log_some(fixture, run, 2, 0, N, .3f);
	fixture_fold(fixture, run, 2);
	log_some(fixture, run, 2, 100, 50, .4f);
	return run;
}

static void
does_not_change(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = make_run(fixture, "run");
	uint64_t before = digest_of(fixture_store(fixture), "run"), after;
	struct reader reader, second;
	struct store_fold *fold;
	bool done = false;

	(void)state;
	fixture_close(fixture);
	reader = reader_start(fixture_directory(fixture), "run", false);
	assert_true(before != 0);
	assert_true(reader_digest(&reader) == before);
	/* more of every epoch, and a fold half-way */
	log_some(fixture, run, 0, 3, 200, .5f);
	log_some(fixture, run, 1, 0, N, .5f);
	log_some(fixture, run, 4, 0, 10, .5f);
	assert_true(reader_digest(&reader) == before);
	ok(store_fold_begin(fixture_writer(fixture), run, 2, 1, &fold, &error));
	while (!done) {
		ok(store_fold_step(fold, &done, &error));
		collect_all(fixture);
		assert_true(reader_digest(&reader) == before);
	}
	store_fold_free(fold);
	fixture_end(fixture, run);
	collect_all(fixture);
	assert_true(reader_digest(&reader) == before);
	/* two readers at different points: what the older needs stays */
	second = reader_start(fixture_directory(fixture), "run", false);
	after = reader_digest(&second);
	assert_true(after != 0 && after != before);
	log_some(fixture, run, 0, 0, N, .7f);
	fixture_fold(fixture, run, 0);
	collect_all(fixture);
	assert_true(reader_digest(&reader) == before);
	assert_true(reader_digest(&second) == after);
	reader_stop(&reader);
	collect_all(fixture);
	assert_true(reader_digest(&second) == after);
	assert_true(reader_again(&second) == digest_of(fixture_store(fixture), "run"));
	reader_stop(&second);
	fixture_free(fixture);
}

/* Old generations stay exactly as long as somebody may need them. */
static void
collects(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	size_t once, twice;
	struct reader reader;

	(void)state;
	log_some(fixture, run, 0, 0, N, .1f);
	fixture_fold(fixture, run, 0);
	collect_all(fixture);
	assert_int_equal(count_records(fixture, DB_LOG, run), 0);
	assert_int_equal(count_records(fixture, DB_IDS, run), 2); /* one record per chunk */
	once = count_records(fixture, DB_COLUMNS, run);
	/* nobody reads: the old generation goes at once */
	log_some(fixture, run, 0, 0, N, .2f);
	fixture_fold(fixture, run, 0);
	twice = count_records(fixture, DB_COLUMNS, run);
	assert_int_equal(twice, once + 2 * 4); /* presence, gold_prob, correct, session; labels have not changed */
	collect_all(fixture);
	assert_int_equal(count_records(fixture, DB_COLUMNS, run), once);
	/* only the chunk that was touched is written again */
	log_some(fixture, run, 0, 0, 10, .3f);
	fixture_fold(fixture, run, 0);
	assert_true(count_records(fixture, DB_COLUMNS, run) < twice);
	collect_all(fixture);
	/* somebody reads */
	reader = reader_start(fixture_directory(fixture), "run", false);
	assert_true(reader_digest(&reader) != 0);
	assert_int_equal(count_reader_files(fixture), 1);
	log_some(fixture, run, 0, 0, N, .4f);
	fixture_fold(fixture, run, 0);
	collect_all(fixture);
	assert_int_equal(count_records(fixture, DB_COLUMNS, run), twice);
	/* it dies, and cannot say so */
	reader_kill(&reader);
	assert_int_equal(count_reader_files(fixture), 1);
	collect_all(fixture);
	assert_int_equal(count_reader_files(fixture), 0);
	assert_int_equal(count_records(fixture, DB_COLUMNS, run), once);
	fixture_free(fixture);
}

static void
removed_runs(void **state)
{
	static const enum store_db all[] = {DB_RUN,    DB_SESSIONS,  DB_IDS,     DB_LOG,
	                                    DB_EPOCHS, DB_DIRECTORY, DB_COLUMNS, DB_FOLDS};
	struct fixture *fixture = fixture_new();
	uint32_t kept = make_run(fixture, "kept"), run = make_run(fixture, "run"), again;
	uint64_t before = digest_of(fixture_store(fixture), "run"), other = digest_of(fixture_store(fixture), "kept");
	struct store_run_request request = {.name = {"run", 3}, .overwrite = true};
	struct store_fold *fold;
	struct reader reader;
	bool done;

	(void)state;
	fixture_close(fixture);
	reader = reader_start(fixture_directory(fixture), "run", false);
	assert_true(reader_digest(&reader) == before);
	ok(store_fold_begin(fixture_writer(fixture), run, 2, 1 << 20, &fold, &error));
	ok(store_fold_step(fold, &done, &error));
	ok(store_writer_run(fixture_writer(fixture), &request, &again, &error));
	assert_int_equal(store_fold_step(fold, &done, NULL), STORE_E_NO_RUN); /* its run is gone */
	store_fold_free(fold);
	ok(store_writer_commit(fixture_writer(fixture), &error));
	assert_int_not_equal(again, run);
	fixture_session(fixture, again, 1, 0);
	log_some(fixture, again, 0, 0, 10, .9f);
	collect_all(fixture);
	assert_true(reader_digest(&reader) == before);
	reader_stop(&reader);
	collect_all(fixture);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(count_records(fixture, all[i], run), 0);
	assert_true(count_records(fixture, DB_COLUMNS, kept) > 0);
	assert_true(digest_of(fixture_store(fixture), "kept") == other);
	fixture_free(fixture);
}

/* Where nothing can be written into readers/, the snapshot keeps LMDB's own transaction. */
static void
unlisted_reader(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = make_run(fixture, "run");
	uint64_t before;
	struct reader reader;
	char path[512];

	(void)state;
	fixture_close(fixture);
	snprintf(path, sizeof(path), "%s/readers", fixture_directory(fixture));
	assert_int_equal(rmdir(path), 0);
	reader = reader_start(fixture_directory(fixture), "run", false);
	before = reader_digest(&reader);
	assert_true(before != 0);
	for (int i = 0; i < 3; i++) {
		log_some(fixture, run, 0, 0, N, .5f);
		fixture_fold(fixture, run, 0);
		assert_int_equal(rmdir(path), i == 0 ? 0 : -1); /* made again by the writer's start */
		collect_all(fixture);
	}
	assert_true(reader_digest(&reader) == before);
	reader_stop(&reader);
	fixture_free(fixture);
}

/* A reader whose map has become too small takes a larger one. */
static void
map_grows(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	struct reader reader;
	uint64_t first, second;

	(void)state;
	log_some(fixture, run, 0, 0, 10, .1f);
	fixture_close(fixture);
	reader = reader_start(fixture_directory(fixture), "run", true);
	first = reader_digest(&reader);
	assert_true(first != 0);
	for (uint32_t epoch = 1; epoch < 30; epoch++)
		log_some(fixture, run, epoch, 0, N, .2f);
	fixture_end(fixture, run);
	assert_true(reader_digest(&reader) == first);
	second = reader_again(&reader);
	assert_true(second != 0 && second != first);
	reader_stop(&reader);
	fixture_close(fixture);
	assert_true(digest_of(fixture_store(fixture), "run") == second);
	fixture_free(fixture);
}

/* A process that takes `steps` steps of a fold and is gone. */
static bool
fold_and_die(struct fixture *fixture, uint32_t run, uint32_t epoch, int steps)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		struct store_writer *writer;
		struct store_fold *fold;
		bool done = false;

		if (store_writer_open(fixture_directory(fixture), &writer, NULL) != 0 ||
		    store_fold_begin(writer, run, epoch, 1, &fold, NULL) != 0)
			_exit(2);
		for (int i = 0; i < steps && !done; i++)
			if (store_fold_step(fold, &done, NULL) != 0)
				_exit(2);
		_exit(done);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 2);
	return WEXITSTATUS(status) == 1;
}

static void
crash_in_a_fold(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = make_run(fixture, "run");
	uint64_t before;
	size_t columns;
	bool done = false;

	(void)state;
	collect_all(fixture);
	columns = count_records(fixture, DB_COLUMNS, run);
	before = digest_of(fixture_store(fixture), "run");
	for (int steps = 0; !done; steps++) {
		fixture_close(fixture);
		assert_true(steps < 100);
		done = fold_and_die(fixture, run, 2, steps);
		assert_true(digest_of(fixture_store(fixture), "run") == before); /* merged or not: it shows the same */
		collect_all(fixture);
		assert_int_equal(count_records(fixture, DB_FOLDS, run), 0);
		if (!done)
			assert_int_equal(count_records(fixture, DB_COLUMNS, run), columns);
	}
	assert_true(digest_of(fixture_store(fixture), "run") == before);
	assert_int_equal(count_records(fixture, DB_COLUMNS, run), columns);
	fixture_free(fixture);
}

/* The collector may be another user than a reader of its group, and has to see what that reads. */
static void
a_reader_with_a_strict_umask_can_be_looked_at(void **state)
{
	struct fixture *fixture = fixture_new();
	struct registration registration;
	struct stat status;
	mode_t mask;

	(void)state;
	fixture_writer(fixture);
	mask = umask(077);
	assert_true(store_registry_enter(fixture_directory(fixture), &registration));
	umask(mask);
	assert_int_equal(fstat(registration.fd, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
	store_registry_leave(&registration);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_reader_with_a_strict_umask_can_be_looked_at),
	        cmocka_unit_test(does_not_change),
	        cmocka_unit_test(collects),
	        cmocka_unit_test(removed_runs),
	        cmocka_unit_test(unlisted_reader),
	        cmocka_unit_test(map_grows),
	        cmocka_unit_test(crash_in_a_fold),
	};

	return cmocka_run_group_tests_name("store snapshots", tests, NULL, NULL);
}

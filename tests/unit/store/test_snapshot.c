/*
 * test_snapshot.c: a snapshot does not change, whatever the collector does; what is not needed goes at once; pages are
 * used again once nobody reads them; and a fold that was cut short changes nothing.
 */
#include "reader_process.h"

#include "writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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
		fixture_collect(fixture);
		assert_true(reader_digest(&reader) == before);
	}
	store_fold_free(fold);
	fixture_end(fixture, run);
	fixture_collect(fixture);
	assert_true(reader_digest(&reader) == before);
	/* two readers at different points: what the older needs stays */
	second = reader_start(fixture_directory(fixture), "run", false);
	after = reader_digest(&second);
	assert_true(after != 0 && after != before);
	log_some(fixture, run, 0, 0, N, .7f);
	fixture_fold(fixture, run, 0);
	fixture_collect(fixture);
	assert_true(reader_digest(&reader) == before);
	assert_true(reader_digest(&second) == after);
	reader_stop(&reader);
	fixture_collect(fixture);
	assert_true(reader_digest(&second) == after);
	assert_true(reader_again(&second) == digest_of(fixture_store(fixture), "run"));
	reader_stop(&second);
	fixture_free(fixture);
}

/* Columns are written in place, and what is folded leaves the log. */
static void
collects(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	size_t once;

	(void)state;
	log_some(fixture, run, 0, 0, N, .1f);
	assert_true(count_records(fixture, DB_LOG, run) > 0);
	fixture_fold(fixture, run, 0);
	assert_int_equal(count_records(fixture, DB_REMOVALS, run), 1);
	fixture_collect(fixture);
	assert_int_equal(count_records(fixture, DB_LOG, run), 0);
	assert_int_equal(count_records(fixture, DB_REMOVALS, run), 0);
	assert_int_equal(count_records(fixture, DB_IDS, run), 2); /* a batch of two chunks */
	once = count_records(fixture, DB_COLUMNS, run);
	assert_int_equal(once,
	                 2 * (4 + 3)); /* presence, gold_prob, correct, session; presence, label and its session */
	for (int again = 0; again < 3; again++) {
		log_some(fixture, run, 0, 0, again == 1 ? 10 : N, .2f + .1f * (float)again);
		fixture_fold(fixture, run, 0);
		fixture_collect(fixture);
		assert_int_equal(count_records(fixture, DB_COLUMNS, run), once);
		assert_int_equal(count_records(fixture, DB_LOG, run), 0);
	}
	fixture_free(fixture);
}

static uint64_t
file_size(const struct fixture *fixture)
{
	struct stat status;
	char path[512];

	snprintf(path, sizeof(path), "%s/data.mdb", fixture_directory(fixture));
	assert_int_equal(stat(path, &status), 0);
	return (uint64_t)status.st_size;
}

static void
rewrite(struct fixture *fixture, uint32_t run, int times)
{
	for (int i = 0; i < times; i++) {
		log_some(fixture, run, 0, 0, N, .3f);
		fixture_fold(fixture, run, 0);
		fixture_collect(fixture);
	}
}

/* The price of a reader that stays: no page is used again meanwhile. When it is killed its slot is freed, and the file
 * grows no more. */
static void
pages_are_used_again_when_a_reader_is_gone(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	uint64_t before, held, after;
	struct reader reader;
	struct timespec second = {.tv_sec = 1, .tv_nsec = 100000000};

	(void)state;
	rewrite(fixture, run, 5);
	before = file_size(fixture);
	rewrite(fixture, run, 10);
	assert_in_range(file_size(fixture), before, before + before / 4); /* nobody reads: it stays as it is */
	before = file_size(fixture);
	reader = reader_start(fixture_directory(fixture), "run", false);
	assert_true(reader_digest(&reader) != 0);
	rewrite(fixture, run, 10);
	held = file_size(fixture);
	assert_true(held > before + before / 2);
	reader_kill(&reader);
	nanosleep(&second, NULL); /* the writer looks for dead readers once a second */
	rewrite(fixture, run, 1);
	after = file_size(fixture);
	rewrite(fixture, run, 10);
	assert_int_equal(file_size(fixture), after);
	fixture_free(fixture);
}

static void
removed_runs(void **state)
{
	static const enum store_db all[] = {DB_RUN, DB_SESSIONS, DB_IDS, DB_LOG, DB_EPOCHS, DB_COLUMNS, DB_REMOVALS};
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
	fixture_collect(fixture);
	assert_true(reader_digest(&reader) == before);
	reader_stop(&reader);
	fixture_collect(fixture);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(count_records(fixture, all[i], run), 0);
	assert_true(count_records(fixture, DB_COLUMNS, kept) > 0);
	assert_true(digest_of(fixture_store(fixture), "kept") == other);
	fixture_free(fixture);
}

struct shared {
	struct store_snapshot *snapshot;
	uint64_t sums[20];
};

/* Reads every block of the snapshot, again and again. */
static void *
read_blocks(void *context)
{
	const struct shared *shared = context;
	struct store_cursor *cursor;
	size_t wrong = 0;

	if (store_cursor_open(shared->snapshot, &cursor, NULL) != 0)
		return (void *)1;
	for (int turn = 0; turn < 50; turn++) {
		for (size_t b = 0; b < store_snapshot_blocks(shared->snapshot); b++) {
			struct store_block block;
			struct store_ids ids;
			uint64_t ones = 0;

			if (store_cursor_block(cursor, b, &block, NULL) != 0 ||
			    store_cursor_ids(cursor, b, &ids, NULL) != 0)
				wrong++;
			for (size_t e = 0; e < block.epoch_count; e++)
				for (uint32_t row = 0; row < block.rows; row++)
					ones += has(&block, e, STORE_GOLD_PROB, row);
			wrong += ones != shared->sums[b] || ids.integers[0] != 1000 + b * STORE_CHUNK;
		}
	}
	store_cursor_close(cursor);
	return (void *)wrong;
}

/* Cursors of several threads share the snapshot's transaction. */
static void
threads_share_a_snapshot(void **state)
{
	struct fixture *fixture = fixture_new();
	struct store_snapshot_options options = {.epoch_to = UINT32_MAX, .columns = UINT64_MAX};
	struct shared shared = {.sums = {0}};
	pthread_t threads[4];

	(void)state;
	make_run(fixture, "run");
	ok(store_snapshot_open(fixture_store(fixture), "run", &options, &shared.snapshot, &error));
	shared.sums[0] = 2 * STORE_CHUNK + 300;
	shared.sums[1] = 2 * (N - STORE_CHUNK);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_blocks, &shared), 0);
	for (int i = 0; i < 4; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	store_snapshot_close(shared.snapshot);
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
	struct store_run_info *runs;
	uint64_t before, observations;
	size_t columns, count;
	bool done = false;

	(void)state;
	fixture_collect(fixture);
	columns = count_records(fixture, DB_COLUMNS, run);
	before = digest_of(fixture_store(fixture), "run");
	ok(store_runs(fixture_store(fixture), &runs, &count, &error));
	observations = 2 * N + 300;
	free(runs);
	for (int steps = 0; !done; steps++) {
		fixture_close(fixture);
		assert_true(steps < 100);
		done = fold_and_die(fixture, run, 2, steps);
		assert_true(digest_of(fixture_store(fixture), "run") == before); /* merged or not: it shows the same */
		assert_int_equal(count_records(fixture, DB_COLUMNS, run), columns);
	}
	ok(store_runs(fixture_store(fixture), &runs, &count, &error));
	assert_int_equal(runs[0].observations, observations);
	assert_int_equal(runs[0].replaced, 50);
	free(runs);
	fixture_collect(fixture);
	assert_true(digest_of(fixture_store(fixture), "run") == before);
	fixture_free(fixture);
}

/* However many rows come for one chunk, a fold takes the memory of the chunk. */
static void
one_chunk_may_have_many_rows(void **state)
{
	struct fixture *fixture = fixture_new();
	struct store_writer *writer = fixture_writer(fixture);
	struct store_log_epoch log = {.rows = 1};
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0), folds = 0;
	struct store_epoch *epochs;
	struct store_run_info *runs;
	size_t count;

	(void)state;
	for (int again = 0; again < 7; again++)
		log_some(fixture, run, 0, 0, STORE_CHUNK, (float)again / 20);
	for (; log.rows && folds < 10; folds++) {
		struct store_fold *fold;
		bool done = false;

		ok(store_fold_begin(writer, run, 0, 1, &fold, &error));
		while (!done)
			ok(store_fold_step(fold, &done, &error));
		store_fold_free(fold);
		ok(store_writer_next_log(writer, run, 0, UINT64_MAX, &log, &error));
	}
	assert_int_equal(folds, 1);
	ok(store_epochs(fixture_store(fixture), run, &epochs, &count, &error));
	assert_int_equal(epochs[0].folded, STORE_CHUNK);
	assert_int_equal(epochs[0].waiting, 0);
	assert_int_equal(epochs[0].batches, 7);
	free(epochs);
	ok(store_runs(fixture_store(fixture), &runs, &count, &error));
	assert_int_equal(runs[0].replaced, 6 * STORE_CHUNK);
	free(runs);
	fixture_free(fixture);
}

/* A step of a fold may end with the last chunk that has rows, while chunks without any are left: what it has counted and
 * how far the log is merged must stay one. */
static void
chunks_without_rows_come_last(void **state)
{
	(void)state;
	for (uint32_t n = 126; n <= 130; n++) {
		struct fixture *fixture = fixture_new();
		uint32_t run = fixture_run(fixture, "run", 200 * STORE_CHUNK, NULL, 0);
		struct store_writer *writer = fixture_writer(fixture);
		struct store_log_epoch log;
		struct store_fold *fold;
		uint64_t ids[130];
		float gold_prob[130];
		bool done = false;

		for (uint32_t i = 0; i < n; i++) {
			ids[i] = (uint64_t)i * STORE_CHUNK;
			gold_prob[i] = 0.5f;
		}
		fixture_log(fixture, run, &(struct fixture_batch){.n = n, .ids = ids, .gold_prob = gold_prob});
		ok(store_writer_commit(writer, &error));
		ok(store_fold_begin(writer, run, 0, (size_t)64 << 20, &fold, &error));
		while (!done)
			ok(store_fold_step(fold, &done, &error));
		store_fold_free(fold);
		ok(store_writer_next_log(writer, run, 0, UINT64_MAX, &log, &error));
		assert_int_equal(log.rows, 0);
		fixture_log(fixture, run, &(struct fixture_batch){.n = n, .ids = ids, .gold_prob = gold_prob});
		digest_of(fixture_store(fixture), "run");
		fixture_free(fixture);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(does_not_change),
	        cmocka_unit_test(collects),
	        cmocka_unit_test(removed_runs),
	        cmocka_unit_test(pages_are_used_again_when_a_reader_is_gone),
	        cmocka_unit_test(threads_share_a_snapshot),
	        cmocka_unit_test(map_grows),
	        cmocka_unit_test(crash_in_a_fold),
	        cmocka_unit_test(one_chunk_may_have_many_rows),
	        cmocka_unit_test(chunks_without_rows_come_last),
	};

	return cmocka_run_group_tests_name("store snapshots", tests, NULL, NULL);
}

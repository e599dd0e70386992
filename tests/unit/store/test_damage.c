/*
 * test_damage.c: records that were damaged, or made by a program with a fault, and disks that are full. None of it may
 * crash a reader or the collector, or show a reader anything that was not stored.
 */
#include "reader_process.h"

#include "writer.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 700 };

static void
log_epoch(struct fixture *fixture, uint32_t run, uint32_t epoch, uint32_t n, bool strings)
{
	static char text[N][16];
	const char *names[N];
	uint64_t ids[N];
	float gold_prob[N], loss[N];
	int32_t gold[N];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(text[i], sizeof(text[i]), "id-%u", i * 3);
		names[i] = text[i];
		ids[i] = i * 3;
		gold_prob[i] = (float)((i + epoch) % 10) / 10;
		loss[i] = (float)i;
		gold[i] = (int32_t)(i % 3);
	}
	fixture_log(fixture, run,
	            &(struct fixture_batch){.epoch = epoch,
	                                    .n = n,
	                                    .ids = ids,
	                                    .strings = strings ? names : NULL,
	                                    .gold_prob = gold_prob,
	                                    .gold = gold,
	                                    .floats = {{"loss", loss}}});
}

/* Something of every kind of record. */
static void
make_store(struct fixture *fixture)
{
	static const char *const labels[] = {"x", "y", "z"};
	uint32_t run = fixture_run(fixture, "run", 0, labels, 3), other = fixture_run(fixture, "other", 0, NULL, 0);
	struct store_fold *fold;
	bool done, more = true;

	log_epoch(fixture, run, 0, N, true);
	fixture_fold(fixture, run, 0);
	log_epoch(fixture, run, 1, 20, true); /* thin: packed lists */
	fixture_fold(fixture, run, 1);
	log_epoch(fixture, run, 0, 30, true);
	log_epoch(fixture, other, 0, 40, false);
	while (more)
		ok(store_writer_collect(fixture_writer(fixture), &more, &error));
	fixture_fold(fixture, other, 0);
	log_epoch(fixture, other, 0, 40, false);
	log_epoch(fixture, other, 1, 40, false);
	ok(store_fold_begin(fixture_writer(fixture), other, 0, 1 << 20, &fold, &error));
	ok(store_fold_step(fold, &done, &error)); /* one of its chunks, perhaps */
	store_fold_free(fold);
	fixture_close(fixture);
}

struct saved {
	uint8_t *data;
	size_t size;
};

static void
data_path(const struct fixture *fixture, char path[512])
{
	snprintf(path, 512, "%s/data.mdb", fixture_directory(fixture));
}

static struct saved
save(struct fixture *fixture)
{
	char path[512];
	struct stat status;
	struct saved image;
	int fd;

	data_path(fixture, path);
	fd = open(path, O_RDONLY);
	assert_int_equal(fstat(fd, &status), 0);
	image.size = (size_t)status.st_size;
	image.data = malloc(image.size);
	assert_int_equal(read(fd, image.data, image.size), image.size);
	close(fd);
	return image;
}

static void
restore(struct fixture *fixture, const struct saved *image)
{
	char path[512];
	int fd;

	data_path(fixture, path);
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, image->data, image->size), image->size);
	close(fd);
}

enum harm { FLIP, CUT, FAULT, HARMS = 12 }; /* FAULT, and above: another body under a right checksum */

static uint32_t
random_below(uint64_t *state, size_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % limit);
}

/* Harms the `number`-th record of a database; false if there is none. */
static bool
harm_record(struct fixture *fixture, enum store_db db, int number, enum harm harm, uint64_t *random)
{
	struct store_writer *writer = fixture_writer(fixture);
	struct store_key all = {.size = 0};
	struct view_walk walk;
	uint8_t key_copy[512], *copy;
	MDB_val key = {.mv_data = key_copy}, value;
	int rc = 0;

	ok(store_writer_begin(writer, &error));
	ok(store_walk_open(&walk, &writer->view, db, &all, 0, &error));
	for (int i = 0; i <= number && rc == 0; i++)
		rc = store_walk_next(&walk, NULL);
	if (rc) {
		store_walk_close(&walk);
		return false;
	}
	copy = malloc(walk.value.mv_size + 1);
	memcpy(copy, walk.value.mv_data, walk.value.mv_size);
	memcpy(key_copy, walk.key.mv_data, walk.key.mv_size);
	key.mv_size = walk.key.mv_size;
	value = (MDB_val){.mv_data = copy, .mv_size = walk.value.mv_size};
	store_walk_close(&walk);
	if (harm == FLIP) {
		copy[random_below(random, value.mv_size)] ^= (uint8_t)(1u << random_below(random, 8));
	} else if (harm == CUT) {
		value.mv_size = random_below(random, value.mv_size);
	} else if (value.mv_size > RECORD_HEADER) {
		uint32_t at = RECORD_HEADER + random_below(random, value.mv_size - RECORD_HEADER);

		copy[at] = random_below(random, 2) ? 0xff : (uint8_t)random_below(random, 256);
		store_record_seal(copy, NULL, copy[0], value.mv_size);
	}
	assert_int_equal(mdb_put(writer->view.txn, writer->environment.dbi[db], &key, &value, 0), 0);
	free(copy);
	ok(store_writer_commit(writer, &error));
	return true;
}

/* Reads all there is; 0 if anything could not be read. */
static uint64_t
read_all(const char *directory)
{
	struct store *store;
	struct store_run_info *runs;
	struct store_counters counters;
	size_t count;
	uint64_t digest = 0;

	if (store_open(directory, &store, NULL) != 0)
		return 0;
	if (store_runs(store, &runs, &count, NULL) == 0) {
		uint64_t run = digest_of(store, "run"), other = digest_of(store, "other");

		digest = run && other ? run ^ other : 0;
		for (size_t i = 0; i < count; i++)
			if (store_counters(store, runs[i].number, &counters, NULL) < 0)
				digest = 0;
		free(runs);
	}
	store_close(store);
	return digest;
}

/* All a collector does; whatever it answers. */
static void
write_all(const char *directory)
{
	struct store_append_column columns[] = {
	        {.name = {"gold_prob", 9}, .type = STORE_TYPE_F4, .data = "\0\0\0\0\0\0\0"},
	        {.name = {"correct", 7}, .type = STORE_TYPE_BIT, .data = "\1"},
	        {.name = {"loss", 4}, .type = STORE_TYPE_F4, .data = "\0\0\0\0\0\0\0"},
	};
	struct store_append append = {.rows = 2,
	                              .id_kind = STORE_ID_STR,
	                              .id_size = 1,
	                              .ids = "\4\5id-0fresh",
	                              .ids_bytes = 11,
	                              .columns = columns,
	                              .column_count = 3};
	struct store_session_info info;
	struct store_writer *writer;
	uint32_t refused;
	bool more = true;

	if (store_writer_open(directory, &writer, NULL) != 0)
		return;
	for (uint32_t run = 1; run <= 2; run++) {
		for (append.epoch = 0; append.epoch < 2; append.epoch++) {
			struct store_fold *fold;
			bool done = false;
			int rc;

			if (store_writer_session_info(writer, run, 0, &info, NULL) == 0) {
				append.sequence = info.acknowledged + 1;
				if (store_writer_append(writer, run, 0, &append, &refused, NULL) == 0)
					assert_true(refused <= 2);
			}
			if (store_fold_begin(writer, run, append.epoch, 1 << 20, &fold, NULL) != 0) {
				store_writer_abort(writer);
				continue;
			}
			do {
				rc = store_fold_step(fold, &done, NULL);
			} while (rc == 0 && !done);
			store_fold_free(fold);
			if (rc)
				store_writer_abort(writer);
		}
	}
	while (more && store_writer_collect(writer, &more, NULL) == 0)
		;
	store_writer_abort(writer);
	store_writer_close(writer);
}

/* Databases of which a reader reads every record. */
static bool
is_read(enum store_db db)
{
	return db == DB_RUNS || db == DB_RUN || db == DB_SESSIONS || db == DB_IDS || db == DB_LOG || db == DB_EPOCHS ||
	       db == DB_COLUMNS;
}

static void
damaged_records(void **state)
{
	struct fixture *fixture = fixture_new();
	struct saved image;
	uint64_t random = 42, digest;
	int harmed = 0, noticed = 0;

	(void)state;
	make_store(fixture);
	/* The unfinished fold is tidied up by the next start: what is compared is the store after that. */
	fixture_writer(fixture);
	for (bool more = true; more;)
		ok(store_writer_collect(fixture_writer(fixture), &more, &error));
	fixture_close(fixture);
	image = save(fixture);
	digest = read_all(fixture_directory(fixture));
	assert_true(digest != 0);
	for (int db = 0; db < DB_COUNT; db++) {
		for (int number = 0; number < 200; number++) {
			for (int harm = 0; harm < HARMS; harm++) {
				uint64_t seen;

				restore(fixture, &image);
				if (!harm_record(fixture, (enum store_db)db, number, (enum harm)harm, &random))
					goto next;
				fixture_close(fixture);
				seen = read_all(fixture_directory(fixture));
				harmed++;
				noticed += seen == 0;
				if (harm < FAULT) {
					assert_true(seen == 0 || seen == digest);
					if (is_read((enum store_db)db))
						assert_true(seen == 0);
				}
				write_all(fixture_directory(fixture));
			}
		}
	next:
		fixture_close(fixture);
	}
	assert_true(harmed > 500);
	assert_true(noticed > 200);
	free(image.data);
	fixture_free(fixture);
}

/* The message says where. */
static void
names_the_place(void **state)
{
	struct fixture *fixture = fixture_new();
	struct store_snapshot_options options = {.epoch_to = UINT32_MAX, .columns = UINT64_MAX};
	struct portolan_error failure = {0};
	struct reading reading;
	struct store_block block;
	uint64_t random = 7;

	(void)state;
	make_store(fixture);
	fixture_writer(fixture); /* first the leftovers of the fold go */
	for (bool more = true; more;)
		ok(store_writer_collect(fixture_writer(fixture), &more, &error));
	harm_record(fixture, DB_COLUMNS, 0, FLIP, &random); /* run 1, epoch 0, chunk 0, column 0 */
	ok(store_snapshot_open(fixture_store(fixture), "run", &options, &reading.snapshot, &error));
	ok(store_cursor_open(reading.snapshot, &reading.cursor, &error));
	assert_int_equal(store_cursor_block(reading.cursor, 0, &block, &failure), STORE_E_CORRUPT);
	assert_non_null(strstr(failure.message, "run 'run': column of gold_prob, epoch 0, chunk 0 is damaged"));
	reading_close(&reading);
	fixture_free(fixture);
}

static void
limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
}

#define demand(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			_exit(__LINE__ % 256);                                                                         \
	} while (0)

/* In a process of its own: fills the disk while appending, then while folding, and goes on when there is room. */
static void
fill_the_disk(struct fixture *fixture, uint32_t run, rlim_t size)
{
	struct portolan_error failure;
	struct store_writer *writer = fixture_writer(fixture);
	struct store_session_info info;
	struct store_fold *fold;
	uint64_t committed = 0;
	bool done = false;
	int rc = 0;

	signal(SIGXFSZ, SIG_IGN);
	limit_file_size(size + (256 << 10));
	while (rc == 0 && committed < 1000) {
		log_epoch(fixture, run, (uint32_t)(committed % 5), N, false);
		rc = store_writer_commit(writer, &failure);
		committed += rc == 0;
	}
	demand(rc == STORE_E_FULL && strstr(failure.message, "no space left"));
	limit_file_size(16 << 10); /* now not even pages that are free can be written */
	for (int again = 0; again < 3; again++) {
		store_writer_abort(writer);
		demand(store_writer_session_info(writer, run, 0, &info, NULL) == 0);
		demand(info.acknowledged == committed);
		log_epoch(fixture, run, 0, N, false);
		demand(store_writer_commit(writer, NULL) == STORE_E_FULL);
	}
	store_writer_abort(writer);
	demand(store_fold_begin(writer, run, 1, 1 << 20, &fold, NULL) == 0);
	do {
		rc = store_fold_step(fold, &done, NULL);
	} while (rc == 0 && !done);
	store_fold_free(fold);
	demand(rc == STORE_E_FULL);
	store_writer_abort(writer);
	limit_file_size(RLIM_INFINITY);
	fixture_end(fixture, run);
	demand(store_writer_session_info(writer, run, 0, &info, NULL) == 0);
	demand(info.acknowledged == committed);
	log_epoch(fixture, run, 7, N, false);
	demand(store_writer_commit(writer, NULL) == 0);
	_exit(0);
}

static void
full_disk(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	struct store_run_info *info;
	struct stat status;
	char path[512];
	size_t count;
	int ended;
	pid_t child;

	(void)state;
	fixture_close(fixture);
	data_path(fixture, path);
	assert_int_equal(stat(path, &status), 0);
	fflush(NULL);
	child = fork();
	if (child == 0)
		fill_the_disk(fixture, run, (rlim_t)status.st_size);
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_int_equal(ended, 0);
	assert_true(digest_of(fixture_store(fixture), "run") != 0);
	ok(store_runs(fixture_store(fixture), &info, &count, &error));
	assert_int_equal(info->epochs, 6);
	assert_int_equal(info->observations, 6 * N);
	free(info);
	fixture_free(fixture);
}

/* The same on a file system of 2 MiB that is really full, and later becomes larger. */
static void
fill_a_small_disk(struct fixture *fixture)
{
	struct store_session_info info;
	struct store_writer *writer;
	uint64_t committed = 0;
	uint32_t run;
	int rc = 0;

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", fixture_directory(fixture), "tmpfs", 0, "size=2m") != 0)
		_exit(77);
	run = fixture_run(fixture, "run", 0, NULL, 0);
	writer = fixture_writer(fixture);
	demand(store_writer_commit(writer, NULL) == 0);
	while (rc == 0 && committed < 1000) {
		log_epoch(fixture, run, (uint32_t)(committed % 5), N, true);
		rc = store_writer_commit(writer, NULL);
		committed += rc == 0;
	}
	demand(rc == STORE_E_FULL);
	store_writer_abort(writer);
	demand(mount("none", fixture_directory(fixture), "tmpfs", MS_REMOUNT, "size=64m") == 0);
	log_epoch(fixture, run, 9, N, true);
	fixture_end(fixture, run);
	demand(store_writer_session_info(writer, run, 0, &info, NULL) == 0);
	demand(info.acknowledged == committed + 1);
	demand(info.replaced == (committed - 5) * N);
	demand(digest_of(fixture_store(fixture), "run") != 0);
	_exit(0);
}

static void
small_disk(void **state)
{
	struct fixture *fixture = fixture_new();
	int ended;
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	if (child == 0)
		fill_a_small_disk(fixture);
	assert_int_equal(waitpid(child, &ended, 0), child);
	fixture_free(fixture);
	if (WIFEXITED(ended) && WEXITSTATUS(ended) == 77) {
		print_message("# skipped: not possible here\n"); /* cmocka 1.1.5 writes a skip as "not ok" */
		return;
	} /* mounting is not allowed here */
	assert_int_equal(ended, 0);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* After a checksum the upper halves of the vector registers are clean, as the processor itself says: see record.c. */
static void
clean_registers(void **state)
{
	static uint8_t record[60000];
	uint32_t eax, ebx, ecx, edx, in_use, upper;

	(void)state;
	if (!__get_cpuid_count(0xd, 1, &eax, &ebx, &ecx, &edx) || !(eax & 4) || !__builtin_cpu_supports("avx"))
		return; /* the processor does not say */
	store_record_seal(record, NULL, 1, sizeof(record));
	__asm__ volatile("xgetbv" : "=a"(in_use), "=d"(upper) : "c"(1));
	assert_int_equal(in_use & 4, 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		cmocka_unit_test(clean_registers),
#endif
		cmocka_unit_test(damaged_records),
		cmocka_unit_test(names_the_place),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(small_disk),
	};

	return cmocka_run_group_tests_name("store damage", tests, NULL, NULL);
}

/*
 * test_limits.c: where the store meets the system: a map that has to grow, or cannot; readers that come, go and die;
 * files half made; frames repeated after a commit that was called failed; ids chosen to be slow, runs in great number.
 */
#include "reader_process.h"

#include "writer.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 10000 };

struct opened { /* a writer of its own, without the fixture's */
	struct store_writer *writer;
	uint32_t run, session;
	uint64_t sequence;
};

static void
open_with_run(struct opened *opened, const char *directory, size_t map_size)
{
	struct store_run_request request = {.name = {"run", 3}, .mode = PORTOLAN_EPOCH_END, .examples = ROWS};
	const struct store_session_request session = {.id = {1}, .started = 1};

	*opened = (struct opened){0};
	ok(store_writer_open(directory, &opened->writer, &error));
	if (map_size) { /* another map than the usual one */
		store_environment_close(&opened->writer->environment);
		ok(store_environment_open(&opened->writer->environment, directory, true, map_size, &error));
	}
	ok(store_writer_run(opened->writer, &request, &opened->run, &error));
	ok(store_writer_session(opened->writer, opened->run, &session, &opened->session, &error));
	ok(store_writer_commit(opened->writer, &error));
}

/* Appends ROWS observations and commits; answers the store's code. */
static int
append(struct opened *opened, uint32_t epoch, struct portolan_error *error)
{
	static uint32_t ids[ROWS];
	static float gold_prob[ROWS];
	static uint8_t correct[(ROWS + 7) / 8];
	struct store_append_column columns[] = {{{"gold_prob", 9}, STORE_TYPE_F4, gold_prob},
	                                        {{"correct", 7}, STORE_TYPE_BIT, correct}};
	struct store_append batch = {.sequence = opened->sequence + 1,
	                             .epoch = epoch,
	                             .rows = ROWS,
	                             .id_kind = STORE_ID_INT,
	                             .id_size = 4,
	                             .ids = ids,
	                             .ids_bytes = sizeof(ids),
	                             .columns = columns,
	                             .column_count = 2};
	uint32_t refused;
	int rc;

	for (uint32_t i = 0; i < ROWS; i++) {
		ids[i] = i;
		gold_prob[i] = (float)(i % 100) / 100;
	}
	rc = store_writer_append(opened->writer, opened->run, opened->session, &batch, &refused, error);
	if (!rc)
		rc = store_writer_commit(opened->writer, error);
	if (rc)
		store_writer_abort(opened->writer);
	else
		opened->sequence++;
	return rc;
}

static size_t
map_size(const struct opened *opened)
{
	MDB_envinfo info;

	assert_int_equal(mdb_env_info(opened->writer->environment.env, &info), 0);
	return info.me_mapsize;
}

/* From a map far too small to one that holds everything, without a failure, and readers follow. */
static void
the_map_grows_without_stopping(void **state)
{
	const size_t smallest = (size_t)512 << 10;
	struct fixture *fixture = fixture_new();
	struct opened opened;
	struct reader reader;
	uint64_t digest;

	(void)state;
	open_with_run(&opened, fixture_directory(fixture), smallest);
	ok(append(&opened, 0, &error));
	reader = reader_start(fixture_directory(fixture), "run", true);
	digest = reader_digest(&reader);
	assert_int_not_equal(digest, 0);
	for (uint32_t epoch = 1; epoch < 200; epoch++)
		ok(append(&opened, epoch, &error));
	assert_in_range(map_size(&opened), 16 * smallest, SIZE_MAX);
	assert_int_equal(reader_digest(&reader), digest); /* a snapshot does not change */
	assert_int_not_equal(reader_again(&reader), digest);
	reader_stop(&reader);
	store_writer_close(opened.writer);
	fixture_free(fixture);
}

/* A sanitizer's own memory is most of the address space. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LIMIT_ADDRESS_SPACE
static size_t
address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Where the address space is limited the map is used to its end; then an error says why; then there is room again. */
static int
fill_a_cramped_map(const char *directory)
{
	struct rlimit limit, most = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	struct portolan_error error = {0};
	struct opened opened;
	uint32_t epoch = 0;
	int rc = 0;

	open_with_run(&opened, directory, (size_t)16 << 20);
	if (append(&opened, epoch++, &error))
		return 1;
	limit = (struct rlimit){.rlim_cur = address_space() + ((size_t)4 << 20), .rlim_max = RLIM_INFINITY};
	if (setrlimit(RLIMIT_AS, &limit))
		return 2;
	for (int full = 0; full < 4 && epoch < 1000;) {
		rc = append(&opened, epoch, &error);
		epoch += rc == 0;
		full = rc ? full + 1 : 0; /* at first it can still be enlarged a little */
		if (rc && rc != STORE_E_FULL)
			return 3;
	}
	if (rc != STORE_E_FULL || !strstr(error.message, "ulimit"))
		return 4;
	if (epoch < 100) /* of some 85 KB each: more than half of the map */
		return 5;
	if (setrlimit(RLIMIT_AS, &most))
		return 7;
	if (append(&opened, epoch, &error) != 0 && append(&opened, epoch, &error) != 0)
		return 8;
	for (uint32_t more = 1; more < 300; more++)
		if (append(&opened, epoch + more, &error))
			return 9;
	store_writer_close(opened.writer);
	return 0;
}

static void
a_map_that_cannot_grow_is_used_to_its_end(void **state)
{
	struct fixture *fixture;
	pid_t child;
	int status;

	(void)state;
	if (getenv("UNDER_VALGRIND") || getenv("UNDER_QEMU")) /* which need address space of their own */
		skip();
	fixture = fixture_new();
	child = fork();
	assert_int_not_equal(child, -1);
	if (child == 0)
		_exit(fill_a_cramped_map(fixture_directory(fixture)));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0); /* else 256 × the place */
	fixture_free(fixture);
}
#endif

/* A process killed within a transaction leaves its slot, which keeps pages from being used again. */
static void
the_slot_of_a_dead_reader_is_freed(void **state)
{
	struct fixture *fixture = fixture_new();
	struct opened opened;
	struct reader reader;
	bool more;
	int dead;

	(void)state;
	open_with_run(&opened, fixture_directory(fixture), 0);
	ok(append(&opened, 0, &error));
	reader = reader_start(fixture_directory(fixture), "run", false);
	assert_int_not_equal(reader_digest(&reader), 0);
	reader_kill(&reader);
	ok(store_writer_collect(opened.writer, &more, &error));
	assert_int_equal(mdb_reader_check(opened.writer->environment.env, &dead), 0);
	assert_int_equal(dead, 0);
	store_writer_close(opened.writer);
	fixture_free(fixture);
}

/* Takes every slot there is, says so, and waits to be killed. */
static void
take_all_slots(const char *directory, int tell)
{
	const struct store_snapshot_options options = {.epoch_to = UINT32_MAX};
	struct store_snapshot *snapshot;
	struct store *store;
	int rc = store_open(directory, &store, NULL);

	while (!rc)
		rc = store_snapshot_open(store, "run", &options, &snapshot, NULL);
	if (write(tell, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Nobody writes to the store, and another reader stays, so LMDB does not begin its table anew. */
static void
killed_readers_do_not_keep_others_out(void **state)
{
	struct fixture *fixture = fixture_new();
	struct opened opened;
	struct reader stays;
	struct store *store;
	pid_t process;
	int ends[2];
	char byte;

	(void)state;
	open_with_run(&opened, fixture_directory(fixture), 0);
	ok(append(&opened, 0, &error));
	ok(store_writer_commit(opened.writer, &error));
	store_writer_close(opened.writer);
	stays = reader_start(fixture_directory(fixture), "run", false);
	assert_int_not_equal(reader_digest(&stays), 0);
	assert_int_equal(pipe(ends), 0);
	process = fork();
	if (process == 0)
		take_all_slots(fixture_directory(fixture), ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
	ok(store_open(fixture_directory(fixture), &store, &error));
	assert_int_not_equal(digest_of(store, "run"), 0);
	store_close(store);
	reader_stop(&stays);
	close(ends[0]);
	close(ends[1]);
	fixture_free(fixture);
}

static void
a_reader_that_stays_is_told_of_once(void **state)
{
	struct fixture *fixture = fixture_new();
	struct opened opened;
	struct reader reader;
	const uint64_t bound = 64 << 10;
	struct store_long_reader found;
	struct reader other;
	uint32_t epoch = 1;

	(void)state;
	open_with_run(&opened, fixture_directory(fixture), 0);
	ok(append(&opened, 0, &error));
	assert_false(store_writer_long_reader(opened.writer, 0, &found));
	reader = reader_start(fixture_directory(fixture), "run", false);
	assert_int_not_equal(reader_digest(&reader), 0);
	assert_false(store_writer_long_reader(opened.writer, 0, &found)); /* it reads what is newest */
	ok(append(&opened, epoch++, &error));
	assert_false(store_writer_long_reader(opened.writer, bound, &found)); /* and this is little */
	while (!store_writer_long_reader(opened.writer, bound, &found) && epoch < 100)
		ok(append(&opened, epoch++, &error));
	assert_int_equal(found.process, reader.process);
	assert_int_equal(found.behind, epoch - 1);
	assert_in_range(found.bytes, bound + 1, 2 * bound);
	ok(append(&opened, epoch++, &error));
	assert_false(store_writer_long_reader(opened.writer, bound, &found)); /* again */
	other = reader_start(fixture_directory(fixture), "run", false);
	assert_int_not_equal(reader_digest(&other), 0);
	reader_stop(&reader);
	assert_false(store_writer_long_reader(opened.writer, bound, &found));
	assert_int_equal(found.process, 0);
	while (!store_writer_long_reader(opened.writer, bound, &found) && epoch < 200)
		ok(append(&opened, epoch++, &error));
	assert_int_equal(found.process, other.process);
	reader_kill(&other); /* its slot is freed */
	assert_false(store_writer_long_reader(opened.writer, 0, &found));
	assert_int_equal(found.process, 0);
	store_writer_close(opened.writer);
	fixture_free(fixture);
}

/* A store that was being made when the power failed is made anew. */
static void
a_file_half_made_is_made_again(void **state)
{
	struct fixture *fixture = fixture_new();
	struct opened opened;
	char path[512];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/data.mdb.new", fixture_directory(fixture));
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "half a page", 11), 11);
	close(fd);
	open_with_run(&opened, fixture_directory(fixture), 0);
	ok(append(&opened, 0, &error));
	assert_int_equal(access(path, F_OK), -1);
	store_writer_close(opened.writer);
	fixture_free(fixture);
}

static void
what_is_acknowledged_is_not_stored_again(void **state)
{
	struct fixture *fixture = fixture_new();
	const struct store_append other_ids = {.sequence = 2, .rows = 7, .id_kind = STORE_ID_STR};
	struct store_session_info info;
	struct opened opened;
	uint32_t refused;

	(void)state;
	open_with_run(&opened, fixture_directory(fixture), 0);
	ok(append(&opened, 0, &error));
	ok(append(&opened, 0, &error));
	opened.sequence = 0; /* the caller was told that both commits had failed */
	ok(append(&opened, 0, &error));
	ok(append(&opened, 0, &error));
	ok(store_writer_end_epoch(opened.writer, opened.run, opened.session, 1, 1, &error));
	ok(store_writer_append(opened.writer, opened.run, opened.session, &other_ids, &refused, &error));
	ok(store_writer_session_info(opened.writer, opened.run, opened.session, &info, &error));
	assert_int_equal(info.acknowledged, 2);
	assert_int_equal(info.observations, 2 * ROWS);
	assert_int_equal(info.refused, 0);
	ok(append(&opened, 0, &error));
	ok(store_writer_session_info(opened.writer, opened.run, opened.session, &info, &error));
	assert_int_equal(info.observations, 3 * ROWS);
	store_writer_close(opened.writer);
	fixture_free(fixture);
}

/* A run that declares all that can be, and has a few rows here and there: what it costs to read follows the rows. */
static void
few_of_many_declared(void **state)
{
	enum { FEW = 2001 };
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", STORE_MAX_EXAMPLES, NULL, 0);
	struct store_snapshot_options options = {.epoch_to = UINT32_MAX, .columns = UINT64_MAX, .occupied = true};
	static uint64_t ids[FEW];
	static float gold_prob[FEW];
	struct reading reading;

	(void)state;
	for (uint64_t i = 0; i < FEW; i++) {
		ids[i] = i < 2000 ? i * 100 : STORE_MAX_EXAMPLES - 1;
		gold_prob[i] = (float)i / FEW;
	}
	for (int folded = 0; folded < 2; folded++) {
		uint64_t seen = 0;

		fixture_log(fixture, run, &(struct fixture_batch){.n = FEW, .ids = ids, .gold_prob = gold_prob});
		if (folded)
			fixture_fold(fixture, run, 0);
		ok(store_snapshot_open(fixture_store(fixture), "run", &options, &reading.snapshot, &error));
		ok(store_cursor_open(reading.snapshot, &reading.cursor, &error));
		assert_int_equal(store_snapshot_info(reading.snapshot)->examples, FEW);
		assert_int_equal(store_snapshot_blocks(reading.snapshot), 199900 / STORE_CHUNK + 2);
		for (size_t b = 0; b < store_snapshot_blocks(reading.snapshot); b++) {
			struct store_block block;
			struct store_ids found;

			reading_block(&reading, b, &block, &found);
			assert_int_equal(block.first, b * STORE_CHUNK);
			assert_int_equal(found.first, block.first);
			assert_true(block.first + block.rows <= store_snapshot_info(reading.snapshot)->rows);
			for (uint32_t row = 0; row < block.rows; row++) {
				if (!has(&block, 0, STORE_GOLD_PROB, row))
					continue;
				assert_int_equal(found.integers[row], ids[seen]);
				assert_true(float_of(&block, 0, STORE_GOLD_PROB, row) == gold_prob[seen]);
				seen++;
			}
		}
		assert_int_equal(seen, FEW);
		reading_close(&reading);
	}
	fixture_free(fixture);
}

static size_t
bytes_allocated(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* An epoch of very many small batches whose columns do not fit into memory: what is noted of the log is bounded, too.
 */
static void
a_long_log_is_folded_in_little_memory(void **state)
{
	enum { BATCHES = 60000, CHUNKS = 3, MEMORY = 400 << 10 };
	struct fixture *fixture = fixture_new();
	const uint64_t declared = CHUNKS * (uint64_t)STORE_CHUNK;
	uint32_t run = fixture_run(fixture, "run", declared, NULL, 0);
	struct store_fold *fold;
	struct store_run_info info;
	bool done = false;
	size_t before;

	(void)state;
	for (uint64_t i = 0; i < BATCHES; i++) {
		const uint64_t id = i * 7 % declared; /* in order, several times round */
		const float gold_prob = (float)id / (float)declared;

		fixture_log(fixture, run, &(struct fixture_batch){.n = 1, .ids = &id, .gold_prob = &gold_prob});
	}
	ok(store_writer_commit(fixture_writer(fixture), &error));
	before = bytes_allocated();
	ok(store_fold_begin(fixture_writer(fixture), run, 0, MEMORY, &fold, &error));
	assert_in_range(bytes_allocated() - before, 0, MEMORY);
	while (!done)
		ok(store_fold_step(fold, &done, &error));
	store_fold_free(fold);
	ok(store_writer_run_info(fixture_writer(fixture), run, &info, &error));
	assert_int_equal(info.observations, declared);
	assert_int_equal(info.replaced, BATCHES - declared);
	fixture_free(fixture);
}

static double
seconds_for_ids(unsigned shift)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	static uint64_t ids[ROWS];
	static float gold_prob[ROWS];
	struct timespec begin, end;

	for (uint64_t i = 0; i < ROWS; i++)
		ids[i] = i << shift;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	fixture_log(fixture, run, &(struct fixture_batch){.n = ROWS, .ids = ids, .gold_prob = gold_prob});
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	fixture_free(fixture);
	return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

/* A hash that loses the high or the low bits makes one of these a hundred times slower. */
static void
no_kind_of_id_is_slow(void **state)
{
	static const unsigned shifts[] = {8, 16, 24, 32, 40, 48, 50};
	double usual = seconds_for_ids(0) + seconds_for_ids(0) + 0.01;

	(void)state;
	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
		assert_true(seconds_for_ids(shifts[i]) < 10 * usual);
}

/* Appends new ids until there is no room for more; answers how many there are. */
static uint64_t
fill_the_dictionary(struct fixture *fixture, uint32_t run, uint64_t from)
{
	static uint64_t ids[ROWS];
	static float gold_prob[ROWS];
	static uint8_t correct[ROWS];
	struct store_append_column columns[] = {{{"gold_prob", 9}, STORE_TYPE_F4, gold_prob},
	                                        {{"correct", 7}, STORE_TYPE_BIT, correct}};
	struct store_append batch = {.rows = ROWS,
	                             .id_kind = STORE_ID_INT,
	                             .id_size = 8,
	                             .ids = ids,
	                             .ids_bytes = sizeof(ids),
	                             .columns = columns,
	                             .column_count = 2};
	struct portolan_error failure = {0};
	uint32_t refused;
	int rc = 0;

	while (rc == 0 && from < 100 * ROWS) {
		for (uint32_t i = 0; i < ROWS; i++)
			ids[i] = (from + i) * 977;
		batch.sequence++;
		rc = store_writer_append(fixture_writer(fixture), run, 0, &batch, &refused, &failure);
		from += rc == 0 ? ROWS : 0;
	}
	assert_int_equal(rc, STORE_E_IDS);
	assert_non_null(strstr(failure.message, "examples=N"));
	for (uint32_t i = 0; i < ROWS; i++) /* ids it knows need no room */
		ids[i] = i * UINT64_C(977);
	ok(store_writer_append(fixture_writer(fixture), run, 0, &batch, &refused, &error));
	return from;
}

/* The limit is for what is there: growth needs next to nothing beside it. */
static void
ids_fill_the_memory_they_may_take(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	const size_t limit = (size_t)10 << 20;
	uint64_t rows;

	(void)state;
	store_writer_limit_ids(fixture_writer(fixture), limit);
	rows = fill_the_dictionary(fixture, run, 0);
	/* 12 bytes each, and 4/3 slots of 4 bytes; the table grows by an eighth at least. */
	assert_in_range(rows, limit * 8 / 9 * 3 / 52 - ROWS, limit * 3 / 52);
	assert_in_range(fixture_writer(fixture)->dictionary.tables->bytes, limit * 8 / 9, limit);
	fixture_free(fixture);
}

static void
log_ids(struct fixture *fixture, uint32_t run, uint64_t from, uint32_t count)
{
	static uint64_t ids[ROWS];
	static float gold_prob[ROWS];

	for (uint32_t i = 0; i < count; i++)
		ids[i] = (from + i) * 977;
	fixture_log(fixture, run, &(struct fixture_batch){.n = count, .ids = ids, .gold_prob = gold_prob});
}

static uint64_t
rows_of(struct fixture *fixture, uint32_t run)
{
	struct store_run_info info;

	ok(store_writer_run_info(fixture_writer(fixture), run, &info, &error));
	return info.rows;
}

/* The table of a run follows the transaction, also where it has grown in it: no id is forgotten, none is left over. */
static void
an_abort_takes_new_ids_back(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	uint64_t rows = ROWS / 10;

	(void)state;
	log_ids(fixture, run, 0, (uint32_t)rows);
	ok(store_writer_commit(fixture_writer(fixture), &error));
	for (uint32_t round = 1; round < 10; round++) {
		const struct dictionary_table *table = fixture_writer(fixture)->dictionary.tables;

		log_ids(fixture, run, round % 2 ? rows + 5 : rows,
		        ROWS); /* those of even rounds come again, in order */
		log_ids(fixture, run, rows / 2, (uint32_t)rows);
		store_writer_abort(fixture_writer(fixture));
		assert_ptr_equal(fixture_writer(fixture)->dictionary.tables, table);
		assert_int_equal(table->rows, rows);
		log_ids(fixture, run, 0, (uint32_t)rows);
		assert_int_equal(rows_of(fixture, run), rows);
		log_ids(fixture, run, rows, 100 * round);
		ok(store_writer_commit(fixture_writer(fixture), &error));
		rows += 100 * round;
		assert_int_equal(rows_of(fixture, run), rows);
	}
	fixture_free(fixture);
}

/* Many runs recorded at once: none has to read its ids again for each batch. */
static void
each_run_keeps_its_table(void **state)
{
	enum { RUNS = 100 };
	struct fixture *fixture = fixture_new();
	static float gold_prob[3];
	uint32_t runs[RUNS], tables = 0;

	(void)state;
	for (uint32_t i = 0; i < RUNS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "run%u", i);
		runs[i] = fixture_run(fixture, name, 0, NULL, 0);
	}
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < RUNS; i++)
			fixture_log(fixture, runs[i], &(struct fixture_batch){.n = 3, .gold_prob = gold_prob});
	for (const struct dictionary_table *table = fixture_writer(fixture)->dictionary.tables; table;
	     table = table->next)
		tables++;
	assert_int_equal(tables, RUNS);
	fixture_free(fixture);
}

/* A later version may write longer records, an earlier one wrote shorter ones. */
static void
records_may_grow(void **state)
{
	struct fixture *fixture = fixture_new();
	struct store_key key;
	struct session_record record = {.id = {1}, .started = 1, .acknowledged = 5, .observations = 9, .refused = 4};
	uint8_t longer[sizeof(record) + 24] = {0};
	struct store_session_info info;
	struct opened opened;

	(void)state;
	open_with_run(&opened, fixture_directory(fixture), 0);
	key = store_key_u32_u32(opened.run, opened.session);
	ok(store_writer_begin(opened.writer, &error));
	ok(store_writer_put(opened.writer, DB_SESSIONS, &key, RECORD_SESSION, &record,
	                    offsetof(struct session_record, refused), &error));
	ok(store_writer_session_info(opened.writer, opened.run, opened.session, &info, &error));
	assert_int_equal(info.acknowledged, 5);
	assert_int_equal(info.observations, 9);
	assert_int_equal(info.refused, 0);
	memcpy(longer, &record, sizeof(record));
	ok(store_writer_put(opened.writer, DB_SESSIONS, &key, RECORD_SESSION, longer, sizeof(longer), &error));
	ok(store_writer_session_info(opened.writer, opened.run, opened.session, &info, &error));
	assert_int_equal(info.refused, 4);
	store_writer_close(opened.writer);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_map_grows_without_stopping),
#ifdef LIMIT_ADDRESS_SPACE
	        cmocka_unit_test(a_map_that_cannot_grow_is_used_to_its_end),
#endif
	        cmocka_unit_test(the_slot_of_a_dead_reader_is_freed),
	        cmocka_unit_test(killed_readers_do_not_keep_others_out),
	        cmocka_unit_test(a_reader_that_stays_is_told_of_once),
	        cmocka_unit_test(a_file_half_made_is_made_again),
	        cmocka_unit_test(what_is_acknowledged_is_not_stored_again),
	        cmocka_unit_test(few_of_many_declared),
	        cmocka_unit_test(a_long_log_is_folded_in_little_memory),
	        cmocka_unit_test(no_kind_of_id_is_slow),
	        cmocka_unit_test(ids_fill_the_memory_they_may_take),
	        cmocka_unit_test(an_abort_takes_new_ids_back),
	        cmocka_unit_test(each_run_keeps_its_table),
	        cmocka_unit_test(records_may_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

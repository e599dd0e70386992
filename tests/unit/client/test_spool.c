/*
 * test_spool.c: the file of frames: what was written is read; whatever is cut off or changed ends in a clear end or
 * error behind the records that are good; what cannot be written changes nothing.
 */
#include "spool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the place of the C library's: which directories were synced. */
static char synced[8][PATH_MAX];
static size_t synced_count;
static atomic_bool stop_removing;

int
fsync(int file)
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	length = readlink(link, synced[synced_count % 8], PATH_MAX - 1);
	synced[synced_count++ % 8][length < 0 ? 0 : length] = '\0';
	return 0;
}

#define RECORDS 4
#define FIRST 7
#define HEADER 64
#define LIMIT (UINT64_C(1) << 20)

static const uint8_t session_id[WIRE_SESSION_SIZE] = {0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7};
static const char *const frames[RECORDS] = {"one", "the second frame", "3", "a frame that is longer than the others"};

struct fixture {
	char directory[64], spools[80], path[128];
};

static int
setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/portolan-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(fixture->spools, sizeof(fixture->spools), "%s/a/b", fixture->directory);
	snprintf(fixture->path, sizeof(fixture->path), "%s/abcd010203040506.spool", fixture->spools);
	*state = fixture;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;
	char command[100];

	snprintf(command, sizeof(command), "%s/a", fixture->directory);
	unlink(fixture->path);
	rmdir(fixture->spools);
	rmdir(command);
	assert_int_equal(rmdir(fixture->directory), 0);
	free(fixture);
	return 0;
}

static struct wire_bytes
text(const char *string)
{
	return (struct wire_bytes){(const uint8_t *)string, strlen(string)};
}

static struct spool *
create(const struct fixture *fixture)
{
	const struct spool_session session = {.id = session_id, .open = text("an open frame"), .target = "/a/store"};
	struct portolan_error error = {0};
	struct spool *spool;

	if (spool_create(&spool, fixture->spools, &session, FIRST, LIMIT, &error) < 0)
		fail_msg("%s", error.message);
	return spool;
}

static int
append(struct spool *spool, size_t i, struct portolan_error *error)
{
	const struct spool_record record = {WIRE_BATCH, FIRST + i, 100 * i, 10 * i, 0};

	return spool_append(spool, &record, frames[i], strlen(frames[i]), error);
}

static void
write_all(const struct fixture *fixture)
{
	struct spool *spool = create(fixture);

	for (size_t i = 0; i < RECORDS; i++)
		assert_int_equal(append(spool, i, NULL), 0);
	assert_int_equal(spool_sync(spool, NULL), 0);
	spool_close(spool);
}

/* How many good records are read before the end (*status SPOOL_END) or an error. */
static size_t
read_all(const char *path, int *status)
{
	struct portolan_error error = {0};
	struct spool_record record;
	struct wire_bytes frame;
	struct spool *spool;
	size_t count = 0;

	*status = spool_open(&spool, path, false, &error);
	if (*status != 0) {
		assert_true(error.message[0] != '\0');
		return 0;
	}
	assert_int_equal(spool->first, FIRST);
	assert_memory_equal(spool->open, "an open frame", 13);
	while ((*status = spool_read(spool, &record, &frame, &error)) == 0) {
		assert_true(count < RECORDS);
		assert_int_equal(record.kind, WIRE_BATCH);
		assert_int_equal(record.sequence, FIRST + count);
		assert_int_equal(record.position, 100 * count);
		assert_int_equal(record.observations, 10 * count);
		assert_int_equal(frame.size, strlen(frames[count]));
		assert_memory_equal(frame.data, frames[count], frame.size);
		count++;
	}
	if (*status < 0)
		assert_non_null(strstr(error.message, path));
	spool_close(spool);
	return count;
}

static void
test_written_and_read(void **state)
{
	struct fixture *fixture = *state;
	struct stat file;
	int status;

	write_all(fixture);
	assert_int_equal(read_all(fixture->path, &status), RECORDS);
	assert_int_equal(status, SPOOL_END);
	assert_int_equal(stat(fixture->path, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0600);
	assert_true(spool_is_one(fixture->path));
	assert_false(spool_is_one("/proc/self/exe"));
	assert_false(spool_is_one(fixture->directory));
	assert_false(spool_is_one("/no/where"));
}

static void
test_reading_while_writing(void **state)
{
	struct fixture *fixture = *state;
	struct spool *spool = create(fixture);
	struct spool_record record;
	struct wire_bytes frame;

	assert_int_equal(spool_read(spool, &record, &frame, NULL), SPOOL_END);
	append(spool, 0, NULL);
	append(spool, 1, NULL);
	assert_int_equal(spool_read(spool, &record, &frame, NULL), 0);
	assert_int_equal(record.sequence, FIRST);
	spool_unread(spool, frame.size);
	assert_int_equal(spool_read(spool, &record, &frame, NULL), 0);
	assert_int_equal(record.sequence, FIRST);
	spool_skip(spool);
	assert_int_equal(spool_read(spool, &record, &frame, NULL), SPOOL_END);
	append(spool, 2, NULL);
	assert_int_equal(spool_read(spool, &record, &frame, NULL), 0);
	assert_int_equal(record.sequence, FIRST + 2);
	spool_remove(spool);
	assert_int_equal(access(fixture->spools, F_OK), -1); /* was made for it */
}

static void
test_every_prefix(void **state)
{
	struct fixture *fixture = *state;
	size_t before = 0;
	struct stat file;

	write_all(fixture);
	assert_int_equal(stat(fixture->path, &file), 0);
	/* From the whole file downwards: each cut leaves as many records as are whole, and never an error within them.
	 */
	for (off_t size = file.st_size; size >= 0; size--) {
		size_t count;
		int status;

		assert_int_equal(truncate(fixture->path, size), 0);
		count = read_all(fixture->path, &status);
		assert_true(size == file.st_size ? count == RECORDS : count <= before);
		assert_true(before - count <= 1 || size == file.st_size);
		assert_true(status == SPOOL_END || (status == PORTOLAN_E_INVALID && size < HEADER + 13 + 8));
		before = count;
	}
}

static void
test_every_flipped_bit(void **state)
{
	struct fixture *fixture = *state;
	uint64_t begins[RECORDS + 1] = {HEADER + 13 + 8};
	int file;

	write_all(fixture);
	for (size_t i = 0; i < RECORDS; i++)
		begins[i + 1] = begins[i] + 40 + strlen(frames[i]);
	file = open(fixture->path, O_RDWR);
	for (uint64_t bit = 0; bit < 8 * begins[RECORDS]; bit++) {
		size_t good = 0, count;
		uint8_t byte, flipped;
		int status;

		assert_int_equal(pread(file, &byte, 1, (off_t)(bit / 8)), 1);
		flipped = (uint8_t)(byte ^ 1u << bit % 8);
		assert_int_equal(pwrite(file, &flipped, 1, (off_t)(bit / 8)), 1);
		while (good < RECORDS && begins[good + 1] <= bit / 8)
			good++;
		count = read_all(fixture->path, &status);
		assert_int_equal(count, bit / 8 < begins[0] ? 0 : good);
		assert_true(status == PORTOLAN_E_INVALID || (status == SPOOL_END && bit / 8 >= begins[0]));
		assert_int_equal(pwrite(file, &byte, 1, (off_t)(bit / 8)), 1);
	}
	close(file);
}

/* A record holds a frame that has a number: what says that it holds another one is damage, although its check is right. */
static void
test_kinds_that_have_no_number(void **state)
{
	struct fixture *fixture = *state;
	struct spool_record record = {WIRE_BATCH, FIRST, 0, 0, 0};
	struct portolan_error error;
	struct wire_bytes frame;

	for (unsigned kind = 0; kind <= WIRE_LAST_KIND + 1; kind++) {
		struct spool *spool = create(fixture);
		bool has_number =
		        kind == WIRE_BATCH || kind == WIRE_END_EPOCH || kind == WIRE_CLOSE || kind == WIRE_EXAMPLES;

		record.kind = (enum wire_kind)kind;
		assert_int_equal(spool_append(spool, &record, "?", 1, NULL), 0);
		assert_int_equal(spool_read(spool, &record, &frame, &error), has_number ? 0 : PORTOLAN_E_INVALID);
		assert_true(has_number || strstr(error.message, "is damaged at byte 85"));
		spool_remove(spool);
	}
}

static void
test_its_limit(void **state)
{
	struct fixture *fixture = *state;
	struct portolan_error error;
	struct spool *spool = create(fixture);
	int status;

	append(spool, 0, NULL);
	spool->limit = spool->end + 40 + strlen(frames[1]) - 1;
	assert_int_equal(append(spool, 1, &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "has reached its limit"));
	assert_int_equal(read_all(fixture->path, &status), 0); /* belongs to its writer */
	assert_int_equal(status, SPOOL_BUSY);
	spool->limit++;
	assert_int_equal(append(spool, 1, &error), 0);
	spool_close(spool);
	assert_int_equal(read_all(fixture->path, &status), 2);
}

/* What the disk did not take is not there, and the next attempt begins where the last good record ends. */
static void
test_a_write_that_fails(void **state)
{
	struct fixture *fixture = *state;
	struct spool *spool = create(fixture);
	struct rlimit before, small;
	struct portolan_error error;
	int status;

	append(spool, 0, NULL);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){spool->end + 45, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	status = append(spool, 1, &error);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(status, PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "cannot write it: File too large"));
	assert_int_equal(append(spool, 1, &error), 0);
	spool_close(spool);
	assert_int_equal(read_all(fixture->path, &status), 2);
	assert_int_equal(status, SPOOL_END);
}

static void
test_it_belongs_to_one(void **state)
{
	struct fixture *fixture = *state;
	struct spool *spool = create(fixture), *other;
	struct portolan_error error = {0};

	assert_int_equal(spool_open(&other, fixture->path, true, &error), SPOOL_BUSY);
	assert_non_null(strstr(error.message, "belongs to a process that is running"));
	spool_close(spool);
	assert_int_equal(spool_open(&spool, fixture->path, false, &error), 0); /* two may read it */
	assert_int_equal(spool_open(&other, fixture->path, false, &error), 0);
	spool_close(other);
	assert_int_equal(spool_open(&other, fixture->path, true, &error), SPOOL_BUSY);
	spool_close(spool);
	assert_int_equal(spool_open(&other, fixture->path, true, &error), 0);
	spool_remove(other);
	assert_int_equal(spool_open(&other, fixture->path, true, &error), PORTOLAN_E_SYSTEM);
}

/* A child that goes on when the recording process is killed, as a data loader's may, does not keep its spool. */
static void
test_a_child_lets_it_go(void **state)
{
	struct fixture *fixture = *state;
	struct spool *spool = create(fixture), *other;
	struct portolan_error error = {0};
	int ready[2], gone[2], status;
	char byte = 0;
	pid_t child;

	append(spool, 0, NULL);
	assert_true(held_has(fixture->path));
	assert_int_equal(pipe(ready) + pipe(gone), 0);
	child = fork();
	if (child == 0) {
		close(gone[1]);
		_exit(write(ready[1], &byte, 1) != 1 || read(gone[0], &byte, 1) != 0 || held_has(fixture->path));
	}
	close(gone[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1); /* fork() has come back there */
	assert_int_equal(append(spool, 1, &error), 0); /* the parent has it as before */
	assert_int_equal(spool_open(&other, fixture->path, true, &error), SPOOL_BUSY);
	spool_close(spool); /* what a kill would do */
	assert_int_equal(spool_open(&other, fixture->path, true, &error), 0);
	spool_close(other);
	close(gone[1]);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read_all(fixture->path, &status), 2);
}

/* A power cut leaves the file's name, and those of the folders above it that were made with it. */
static void
test_its_folders_are_synced(void **state)
{
	struct fixture *fixture = *state;
	char above[80];

	snprintf(above, sizeof(above), "%s/a", fixture->directory);
	synced_count = 0;
	spool_close(create(fixture));
	assert_int_equal(synced_count, 3);
	assert_string_equal(synced[0], fixture->directory); /* has a */
	assert_string_equal(synced[1], above);              /* has a/b */
	assert_string_equal(synced[2], fixture->spools);    /* has the file */
}

/* Where the process was killed between making the file and beginning it; but none that is being made. */
static void
test_an_empty_file_is_removed(void **state)
{
	struct fixture *fixture = *state;
	struct portolan_error error = {0};
	struct spool *spool;
	int file;

	spool_close(create(fixture)); /* makes the directory */
	assert_int_equal(truncate(fixture->path, 0), 0);
	file = open(fixture->path, O_RDWR);
	assert_int_equal(flock(file, LOCK_EX), 0);
	assert_int_equal(spool_open(&spool, fixture->path, true, &error), SPOOL_BUSY);
	assert_int_equal(access(fixture->path, F_OK), 0); /* held */
	close(file);
	assert_int_equal(spool_open(&spool, fixture->path, false, &error), PORTOLAN_E_INVALID);
	assert_int_equal(access(fixture->path, F_OK), 0); /* not its reader's */
	error.code = 0;
	assert_int_equal(spool_open(&spool, fixture->path, true, &error), SPOOL_BUSY);
	assert_int_equal(error.code, 0); /* nothing to be said of it */
	assert_int_equal(access(fixture->path, F_OK), -1);
}

/* Between making the file and holding it, another process takes it for one that was left, and removes it. */
static void *
remove_empty_files(void *path)
{
	struct spool *spool;

	while (!atomic_load(&stop_removing))
		if (spool_open(&spool, path, true, NULL) == 0)
			spool_close(spool);
	return NULL;
}

static void
test_a_file_removed_while_it_is_made(void **state)
{
	struct fixture *fixture = *state;
	pthread_t remover;
	struct stat named, held;

	mkdir(fixture->spools, 0700);
	assert_int_equal(pthread_create(&remover, NULL, remove_empty_files, fixture->path), 0);
	for (int i = 0; i < 300; i++) {
		struct spool *spool = create(fixture);

		assert_int_equal(fstat(spool->held.file, &held), 0);
		assert_int_equal(stat(fixture->path, &named), 0);
		assert_int_equal(named.st_ino, held.st_ino);
		spool_remove(spool);
	}
	atomic_store(&stop_removing, true);
	pthread_join(remover, NULL);
}

static void
test_what_is_no_spool(void **state)
{
	struct fixture *fixture = *state;
	struct portolan_error error;
	const struct spool_session session = {.id = session_id, .open = text("o")};
	struct spool *spool;
	int status;

	assert_int_equal(spool_open(&spool, fixture->directory, false, &error), PORTOLAN_E_INVALID);
	assert_int_equal(spool_open(&spool, "/dev/null", false, &error), PORTOLAN_E_INVALID);
	assert_int_equal(spool_open(&spool, "/proc/self/exe", false, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "is no spool file"));
	status = spool_create(&spool, "/proc/nothing", &session, 1, LIMIT, &error);
	assert_int_equal(status, PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "spool: cannot make /proc/nothing"));
}

static uint8_t
version_of(const struct fixture *fixture)
{
	int file = open(fixture->path, O_RDONLY);
	uint8_t version = 0;

	assert_int_equal(pread(file, &version, 1, 16), 1);
	close(file);
	return version;
}

/* From the first record with texts on, the file says that earlier programs cannot read it; an import tells texts from
 * observations. */
static void
test_texts_have_a_version(void **state)
{
	const struct spool_record texts = {WIRE_EXAMPLES, FIRST + RECORDS, 5, 0, 17};
	struct fixture *fixture = *state;
	struct spool *spool = create(fixture);
	struct spool_record record;
	struct wire_bytes frame;

	for (size_t i = 0; i < RECORDS; i++)
		assert_int_equal(append(spool, i, NULL), 0);
	assert_int_equal(version_of(fixture), 2);
	assert_int_equal(spool_append(spool, &texts, "texts", 5, NULL), 0);
	assert_int_equal(version_of(fixture), 3);
	assert_int_equal(spool_set_store(spool, session_id, NULL), 0);
	assert_int_equal(version_of(fixture), 3);
	spool_close(spool);
	assert_int_equal(spool_open(&spool, fixture->path, false, NULL), 0);
	for (size_t i = 0; i < RECORDS; i++) {
		assert_int_equal(spool_read(spool, &record, &frame, NULL), 0);
		assert_int_equal(record.observations, 10 * i);
		assert_int_equal(record.texts, 0);
	}
	assert_int_equal(spool_read(spool, &record, &frame, NULL), 0);
	assert_int_equal(record.observations, 0);
	assert_int_equal(record.texts, 17);
	assert_int_equal(spool_read(spool, &record, &frame, NULL), SPOOL_END);
	spool_close(spool);
}

/* A newer file is not guessed at. */
static void
test_a_newer_version(void **state)
{
	struct fixture *fixture = *state;
	struct portolan_error error;
	struct spool *spool;
	uint8_t four = 4;
	int file;

	write_all(fixture);
	file = open(fixture->path, O_RDWR);
	assert_int_equal(pwrite(file, &four, 1, 16), 1);
	close(file);
	assert_int_equal(spool_open(&spool, fixture->path, false, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "is of version 4; this program knows versions 2 and 3"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_written_and_read, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_reading_while_writing, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_every_prefix, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_every_flipped_bit, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_kinds_that_have_no_number, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_its_limit, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_write_that_fails, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_it_belongs_to_one, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_child_lets_it_go, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_its_folders_are_synced, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_an_empty_file_is_removed, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_file_removed_while_it_is_made, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_what_is_no_spool, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_texts_have_a_version, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_newer_version, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_files.c: the files of a store: a new one is whole, lasting and alone or not there at all, nothing is written
 * through a symbolic link, and a store that lost its data is no new one.
 */
#include "store_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char synced[64][PATH_MAX];
static size_t synced_count;

/* In place of the C library's: notes what was synced. */
int
fsync(int fd)
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, synced[synced_count % 64], PATH_MAX - 1);
	if (length > 0)
		synced[synced_count++ % 64][length] = '\0';
	return (int)syscall(SYS_fsync, fd);
}

static bool
was_synced(const char *path)
{
	for (size_t i = 0; i < synced_count && i < 64; i++)
		if (strcmp(synced[i], path) == 0)
			return true;
	return false;
}

static void
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void
assert_file_is(const char *path, const char *text)
{
	char read[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(read, sizeof(read), file));
	fclose(file);
	assert_string_equal(read, text);
}

static void
nothing_is_written_through_a_link(void **state)
{
	static const char *const names[] = {"portoland.lock", "lock.mdb"};
	struct fixture *fixture = fixture_new();
	char target[PATH_MAX], link[PATH_MAX];
	struct store *store;

	(void)state;
	snprintf(target, sizeof(target), "%s/thesis", fixture_directory(fixture));
	for (int existing = 0; existing < 2; existing++) {
		for (size_t i = 0; i < 2; i++) {
			struct portolan_error failure = {0};
			struct store_writer *writer;

			write_file(target, "ten years of work");
			snprintf(link, sizeof(link), "%s/%s", fixture_directory(fixture), names[i]);
			unlink(link);
			assert_int_equal(symlink(target, link), 0);
			assert_int_equal(store_writer_open(fixture_directory(fixture), &writer, &failure),
			                 STORE_E_SYSTEM);
			assert_non_null(strstr(failure.message, names[i]));
			assert_non_null(strstr(failure.message, "symbolic link"));
			assert_file_is(target, "ten years of work");
			if (existing && i == 1) {
				assert_int_equal(store_open(fixture_directory(fixture), &store, &failure),
				                 STORE_E_SYSTEM);
				assert_non_null(strstr(failure.message, names[i]));
				assert_file_is(target, "ten years of work");
			}
			assert_int_equal(unlink(link), 0);
		}
		fixture_writer(fixture); /* now there is a store */
		fixture_close(fixture);
	}
	fixture_free(fixture);
}

static void
a_store_without_its_data_is_no_new_one(void **state)
{
	struct fixture *fixture = fixture_new();
	struct portolan_error failure = {0};
	struct store_writer *writer;
	char path[PATH_MAX];

	(void)state;
	fixture_run(fixture, "run", 0, NULL, 0);
	fixture_close(fixture);
	snprintf(path, sizeof(path), "%s/data.mdb", fixture_directory(fixture));
	assert_int_equal(unlink(path), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(store_writer_open(fixture_directory(fixture), &writer, &failure), STORE_E_NO_STORE);
		assert_non_null(strstr(failure.message, "data.mdb is gone"));
		assert_non_null(strstr(failure.message, "backup"));
		assert_int_equal(access(path, F_OK), -1);
	}
	snprintf(path, sizeof(path), "%s/lock.mdb", fixture_directory(fixture));
	assert_int_equal(unlink(path), 0); /* as the message says */
	ok(store_writer_open(fixture_directory(fixture), &writer, &error));
	store_writer_close(writer);
	fixture_free(fixture);
}

/* As far up as the directories may be new: whoever made them need not have synced them. */
static void
the_names_above_a_new_store_are_lasting(void **state)
{
	struct fixture *fixture = fixture_new();
	char path[PATH_MAX], above[PATH_MAX];
	struct store_writer *writer;

	(void)state;
	snprintf(above, sizeof(above), "%s/a", fixture_directory(fixture));
	assert_int_equal(mkdir(above, 0700), 0);
	snprintf(path, sizeof(path), "%s/a/b", fixture_directory(fixture));
	assert_int_equal(mkdir(path, 0700), 0); /* made by another: a shell, Python */
	synced_count = 0;
	ok(store_writer_open(path, &writer, &error));
	assert_true(was_synced(path));
	assert_true(was_synced(above));
	assert_true(was_synced(fixture_directory(fixture)));
	store_writer_close(writer);
	fixture_free(fixture);
}

#define demand(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			_exit(__LINE__ % 256);                                                                         \
	} while (0)

/* On a disk of `kilobytes`: the store is made, or it is said that the disk is full and nothing of it is left. */
static void
begin_on_a_small_disk(const char *directory, int kilobytes, bool *made)
{
	struct portolan_error failure = {0};
	struct store_writer *writer;
	char options[32], path[PATH_MAX];
	int rc;

	snprintf(options, sizeof(options), "size=%dk", kilobytes);
	demand(mount("none", directory, "tmpfs", 0, options) == 0);
	rc = store_writer_open(directory, &writer, &failure);
	*made = rc == 0;
	if (*made)
		store_writer_close(writer);
	demand(*made || (rc == STORE_E_FULL && strstr(failure.message, "no space left")));
	snprintf(path, sizeof(path), "%s/data.mdb", directory);
	demand(*made == (access(path, F_OK) == 0));
	snprintf(path, sizeof(path), "%s/lock.mdb", directory);
	demand(*made == (access(path, F_OK) == 0));
	snprintf(path, sizeof(path), "%s/data.mdb.new", directory);
	demand(access(path, F_OK) != 0);
	demand(umount(directory) == 0);
}

static void
small_disks(const char *directory)
{
	bool made = false;

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0)
		_exit(77);
	for (int kilobytes = 4; kilobytes <= 256 && !made; kilobytes += 4)
		begin_on_a_small_disk(directory, kilobytes, &made);
	demand(made);
	_exit(0);
}

static void
a_new_store_on_a_full_disk(void **state)
{
	struct fixture *fixture = fixture_new();
	int ended;
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	if (child == 0)
		small_disks(fixture_directory(fixture));
	assert_int_equal(waitpid(child, &ended, 0), child);
	fixture_free(fixture);
	if (WIFEXITED(ended) && WEXITSTATUS(ended) == 77) {
		print_message("# skipped: mounting is not allowed here\n"); /* cmocka 1.1.5 writes a skip as "not ok" */
		return;
	}
	assert_int_equal(ended, 0); /* else 256 × the line */
}

/* In another process: does to lock.mdb what LMDB 0.9.31 does to it while the last process closes the store, says so, and
 * closes it 50 ms later. */
static void
destroy_mutexes(const char *path, int told)
{
	struct flock part = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t *lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (lock == MAP_FAILED || fcntl(fd, F_SETLK, &part) < 0)
		_exit(1);
	pthread_mutex_destroy((pthread_mutex_t *)(void *)(lock + 8)); /* the readers', behind two numbers */
	if (write(told, "", 1) != 1)
		_exit(1);
	usleep(50000);
	_exit(0);
}

static void
a_store_that_is_just_being_closed_is_opened(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	char path[PATH_MAX];
	struct store *store;
	int told[2], status;
	pid_t process;
	uint8_t byte;

	(void)state;
	fixture_end(fixture, run);
	fixture_close(fixture);
	snprintf(path, sizeof(path), "%s/lock.mdb", fixture_directory(fixture));
	assert_int_equal(pipe(told), 0);
	process = fork();
	if (process == 0)
		destroy_mutexes(path, told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	ok(store_open(fixture_directory(fixture), &store, &error));
	store_close(store);
	assert_int_equal(waitpid(process, &status, 0), process);
	assert_int_equal(status, 0);
	close(told[0]);
	close(told[1]);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_is_written_through_a_link),
	        cmocka_unit_test(a_store_without_its_data_is_no_new_one),
	        cmocka_unit_test(the_names_above_a_new_store_are_lasting),
	        cmocka_unit_test(a_new_store_on_a_full_disk),
	        cmocka_unit_test(a_store_that_is_just_being_closed_is_opened),
	};

	return cmocka_run_group_tests_name("store files", tests, NULL, NULL);
}

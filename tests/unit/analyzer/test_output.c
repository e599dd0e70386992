/* test_output.c: files that appear whole or not at all, and how they reach the disk. */
#include "unit.h"

#include "output/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/portolan-test-XXXXXX";

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static size_t
read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY);
	ssize_t got;

	assert_true(fd >= 0);
	got = read(fd, text, room);
	close(fd);
	assert_true(got >= 0);
	return (size_t)got;
}

static unsigned
files_in_folder(void)
{
	DIR *directory = opendir(".");
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(directory)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

static void
test_appears_when_finished(void **state)
{
	struct output output;
	struct stat status;
	char text[10];

	(void)state;
	assert_int_equal(output_open(&output, "file", NULL), 0);
	output_text(&output, "hello");
	assert_int_equal(stat("file", &status), -1);
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_int_equal(read_file("file", text, sizeof(text)), 5);
	assert_int_equal(output_open(&output, "file", NULL), 0);
	output_text(&output, "other");
	output_discard(&output);
	assert_int_equal(read_file("file", text, sizeof(text)), 5);
	assert_memory_equal(text, "hello", 5);
	assert_int_equal(files_in_folder(), 1);
	unlink("file");
}

static void
test_keeps_links(void **state)
{
	struct output output;
	struct stat status;

	(void)state;
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(output_open(&output, "target", NULL), 0);
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_int_equal(output_open(&output, "link", NULL), 0);
	output_text(&output, "x");
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_int_equal(lstat("link", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat("target", &status), 0);
	assert_int_equal(status.st_size, 1);
	unlink("link");
	unlink("target");
}

/* A file that is replaced keeps its mode; until it is finished, nobody else may open the new one. */
static void
test_keeps_modes(void **state)
{
	static const mode_t modes[] = {0600, 0640, 0444, 0};
	mode_t mask = umask(027);
	struct output output;
	struct stat status;

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(output_open(&output, "file", NULL), 0);
		assert_int_equal(fstat(output.file.fd, &status), 0);
		assert_int_equal(status.st_mode & 0777, 0600);
		assert_int_equal(output_finish(&output, NULL), 0);
		assert_int_equal(stat("file", &status), 0);
		assert_int_equal(status.st_mode & 0777, i == 0 ? 0640 : modes[i - 1]);
		assert_int_equal(chmod("file", modes[i]), 0);
	}
	umask(mask);
	unlink("file");
}

static char calls[16]; /* 'f': a file was written to the disk, 'd': a folder, 'r': something renamed */

static void
note(char call)
{
	size_t length = strlen(calls);

	if (length + 1 < sizeof(calls))
		calls[length] = call;
}

int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);

static bool disk_fails;

int
__wrap_fsync(int fd)
{
	struct stat status;

	note(fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? 'd' : 'f');
	errno = EIO;
	return disk_fails ? -1 : __real_fsync(fd);
}

int
__wrap_rename(const char *from, const char *to)
{
	note('r');
	return __real_rename(from, to);
}

/* The content is on the disk before the name, and the name when the command is done. */
static void
test_reaches_the_disk(void **state)
{
	struct output output;

	(void)state;
	memset(calls, 0, sizeof(calls));
	assert_int_equal(output_open(&output, "file", NULL), 0);
	output_text(&output, "x");
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_string_equal(calls, "frd");
	assert_int_equal(output_open(&output, "/dev/null", NULL), 0);
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_string_equal(calls, "frd");
	unlink("file");
}

static unsigned hurried;
static off64_t hurried_from, hurried_bytes;
int __real_sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags);
int __wrap_sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags);

int
__wrap_sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags)
{
	hurried++;
	hurried_from = offset;
	hurried_bytes = bytes;
	assert_int_equal(flags, SYNC_FILE_RANGE_WRITE);
	return __real_sync_file_range(fd, offset, bytes, flags);
}

#define MB (1 << 20)

/* Of a long file the system writes each 8 MB to the disk while the command goes on: all that was written in order, or
 * the stretch that was written at places. Drafts are left alone, and so is what is no file of ours. */
static void
test_hurries(void **state)
{
	static char large[3 * MB];
	static const uint64_t places[] = {63 * MB, 60 * MB, 66 * MB, 27 * MB, 30 * MB, 24 * MB};
	struct output output;

	(void)state;
	memset(calls, 0, sizeof(calls));
	hurried = 0;
	assert_int_equal(output_open(&output, "file", NULL), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(hurried, 0);
		output_bytes(&output, large, sizeof(large));
	}
	assert_int_equal(hurried, 1);
	assert_int_equal(hurried_from, 0);
	assert_int_equal(hurried_bytes, 0); /* up to the end */
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(output_write_at(&output, large, sizeof(large), places[i], NULL), 0);
		assert_int_equal(output_write_draft_at(&output, large, sizeof(large), 90 * MB, NULL), 0);
		assert_int_equal(hurried, 1 + (i + 1) / 3);
		assert_int_equal(hurried_from, i < 2 ? 0 : i < 5 ? 60 * MB : 24 * MB);
		assert_int_equal(hurried_bytes, i < 2 ? 0 : 9 * MB);
		if (i == 1) /* counts by itself */
			output_bytes(&output, large, sizeof(large));
	}
	assert_string_equal(calls, ""); /* nothing has been waited for */
	assert_int_equal(files_in_folder(), 0);
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_string_equal(calls, "frd");
	assert_int_equal(output_open(&output, "/dev/null", NULL), 0);
	for (unsigned i = 0; i < 4; i++)
		output_bytes(&output, large, sizeof(large));
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_int_equal(hurried, 3);
	unlink("file");
}

static bool lacks_nameless_files;
int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);

int
__wrap_access(const char *path, int mode)
{
	return lacks_nameless_files ? -1 : __real_access(path, mode);
}

/* In the child that the signal ends: one file is finished, one discarded, two are being written. */
static void
write_until_signal(int number)
{
	struct output outputs[4];

	for (int i = 0; i < 4; i++) {
		char path[] = {(char)('a' + i), '\0'};

		if (output_open(&outputs[i], strdup(path), NULL) < 0)
			_exit(1);
	}
	if (output_finish(&outputs[0], NULL) < 0)
		_exit(1);
	output_discard(&outputs[1]);
	if (files_in_folder() != 3)
		_exit(2);
	raise(number);
	_exit(3);
}

/* A file that is synced early is not synced again, unless more was written; of several files in a folder, the last syncs
 * it. */
static void
test_reaches_the_disk_early(void **state)
{
	struct output first, last;

	(void)state;
	memset(calls, 0, sizeof(calls));
	assert_int_equal(output_open(&first, "first", NULL), 0);
	assert_int_equal(output_open(&last, "last", NULL), 0);
	output_text(&first, "x");
	output_sync(&first);
	assert_string_equal(calls, "f");
	output_sync(&first);
	assert_string_equal(calls, "f");
	output_text(&last, "x");
	output_sync(&last);
	output_text(&last, "y");
	assert_string_equal(calls, "ff");
	assert_int_equal(output_finish_before(&first, &last, NULL), 0);
	assert_string_equal(calls, "ffr");
	assert_int_equal(output_finish(&last, NULL), 0);
	assert_string_equal(calls, "ffrfrd");
	assert_int_equal(output_open(&first, "first", NULL), 0);
	output_text(&first, "xyz");
	output_sync(&first);
	output_patch(&first, "X", 1);
	memset(calls, 0, sizeof(calls));
	assert_int_equal(output_finish(&first, NULL), 0);
	assert_string_equal(calls, "frd");
	unlink("first");
	unlink("last");
}

/* The last of several files syncs the folder for those beside it, and for no others. */
static void
test_folders(void **state)
{
	static const struct {
		const char *first, *last, *calls;
	} cases[] = {{"first", "last", "fr"},
	             {"here/first", "here/last", "fr"},
	             {"here/first", "last", "frd"},
	             {"first", "here/last", "frd"},
	             {"here/first", "away/last", "frd"},
	             {"here/first", "her", "frd"},
	             {"first", "/dev/null", "frd"},
	             {"first", NULL, "frd"}};

	(void)state;
	assert_int_equal(mkdir("here", 0700), 0);
	assert_int_equal(mkdir("away", 0700), 0);
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct output first, last;

		assert_int_equal(output_open(&first, cases[c].first, NULL), 0);
		assert_int_equal(output_open(&last, cases[c].last, NULL), 0);
		memset(calls, 0, sizeof(calls));
		assert_int_equal(output_finish_before(&first, &last, NULL), 0);
		assert_string_equal(calls, cases[c].calls);
		output_discard(&last);
		assert_int_equal(unlink(cases[c].first), 0);
	}
	assert_int_equal(rmdir("here"), 0);
	assert_int_equal(rmdir("away"), 0);
}

/* What fails early is an error at the end, and leaves nothing of the file. */
static void
test_fails_early(void **state)
{
	struct portolan_error error;
	struct output output;

	(void)state;
	assert_int_equal(output_open(&output, "file", NULL), 0);
	output_text(&output, "x");
	disk_fails = true;
	output_sync(&output);
	disk_fails = false;
	assert_int_equal(output_finish(&output, &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, strerror(EIO)));
	assert_int_equal(files_in_folder(), 0);
}

/* A file that is synced early has its mode only at the end. */
static void
test_mode_comes_last(void **state)
{
	const mode_t mask = umask(022);
	struct output output;
	struct stat status;

	(void)state;
	assert_int_equal(output_open(&output, "file", NULL), 0);
	output_text(&output, "x");
	output_sync(&output);
	assert_int_equal(fstat(output.file.fd, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(output_finish(&output, NULL), 0);
	assert_int_equal(stat("file", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
	umask(mask);
	unlink("file");
}

/* The digest is of all bytes in order, however they came: through the buffer, past it, and around a call that flushes
 * it. That of nothing and that of "hello" are what xxh128sum prints. */
static void
test_digest(void **state)
{
	static char large[3 << 20];
	struct digest *digest = digest_new(), *parts = digest_new();
	char hex[DIGEST_ROOM], again[DIGEST_ROOM];
	struct output output;

	(void)state;
	assert_non_null(digest);
	assert_non_null(parts);
	assert_int_equal(digest_print(digest, hex), 0);
	assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
	digest_add(parts, "hello", 5);
	assert_int_equal(digest_print(parts, hex), 5);
	assert_string_equal(hex, "b5e9c1ad071b3e7fc779cfaa5e523818");
	memset(large, 'x', sizeof(large));
	assert_int_equal(output_open(&output, "digest", NULL), 0);
	output.digest = digest;
	output_text(&output, "hello");
	assert_int_equal(output_flush(&output, NULL), 0);
	assert_int_equal(files_in_folder(), 0); /* it has no name yet */
	output_bytes(&output, large, sizeof(large));
	output_text(&output, "the end");
	assert_int_equal(output_finish(&output, NULL), 0);
	digest_add(parts, large, sizeof(large));
	digest_add(parts, "the end", 7);
	assert_int_equal(digest_print(digest, hex), sizeof(large) + 12);
	digest_print(parts, again);
	assert_string_equal(hex, again);
	digest_free(digest);
	digest_free(parts);
	unlink("digest");
}

/* On a file system whose files need a name from the start. */
static void
test_signal_leaves_nothing(void **state)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	(void)state;
	lacks_nameless_files = true;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			write_until_signal(numbers[i]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), numbers[i]);
		assert_int_equal(unlink("a"), 0);
		assert_int_equal(files_in_folder(), 0);
	}
	lacks_nameless_files = false;
}

static void
test_failures(void **state)
{
	struct portolan_error error;
	struct output output;

	(void)state;
	assert_int_equal(output_open(&output, "no/such/folder", &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "no/such/folder"));
	assert_int_equal(output_open(&output, ".", &error), PORTOLAN_E_SYSTEM);
	assert_int_equal(output_open(&output, "/dev/full", &error), 0);
	output_text(&output, "x");
	assert_int_equal(output_finish(&output, &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, strerror(ENOSPC)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_appears_when_finished),
	        cmocka_unit_test(test_keeps_links),
	        cmocka_unit_test(test_keeps_modes),
	        cmocka_unit_test(test_reaches_the_disk),
	        cmocka_unit_test(test_reaches_the_disk_early),
	        cmocka_unit_test(test_hurries),
	        cmocka_unit_test(test_folders),
	        cmocka_unit_test(test_fails_early),
	        cmocka_unit_test(test_mode_comes_last),
	        cmocka_unit_test(test_digest),
	        cmocka_unit_test(test_signal_leaves_nothing),
	        cmocka_unit_test(test_failures),
	};

	signal(SIGINT, SIG_DFL); /* ignored in a shell's background, and SIGHUP under nohup: the tests may run there */
	signal(SIGHUP, SIG_DFL);
	return cmocka_run_group_tests(tests, setup, teardown);
}

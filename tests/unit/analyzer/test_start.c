/* test_start.c: which open files a program gets that is started. This program stands for that one, too: with a word, it
 * prints the numbers of its open files. */
#include "unit.h"

#include "base/start.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 200 /* open files: more than one look into /proc gives */

/* Prints the numbers of the open files above the standard ones. */
static int
print_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (atoi(entry->d_name) > STDERR_FILENO && atoi(entry->d_name) != dirfd(folder))
			printf("%s ", entry->d_name);
	return folder ? closedir(folder) : 1;
}

/* What the started program finds open: "3 5 ". */
static void
started_files(bool is_alone, const int files[], size_t count, char *found, size_t room)
{
	char program[] = "/proc/self/exe", word[] = "files", *const arguments[] = {program, word, NULL};
	int output = memfd_create("output", MFD_CLOEXEC), status;
	ssize_t size;
	pid_t child;

	assert_true(output >= 0);
	assert_int_equal(start_program(arguments, is_alone, output, -1, files, count, &child), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	size = pread(output, found, room - 1, 0);
	assert_true(size >= 0);
	found[size] = '\0';
	close(output);
}

static void
check_files(void)
{
	char found[MANY * 8], expected[16];
	int left_open[MANY], last;

	for (size_t i = 0; i < MANY; i++)
		assert_true((left_open[i] = open("/dev/null", O_RDONLY)) >= 0);
	last = left_open[MANY - 1];
	snprintf(expected, sizeof(expected), " %d ", last);
	started_files(false, NULL, 0, found, sizeof(found));
	assert_non_null(strstr(found, expected));
	started_files(true, NULL, 0, found, sizeof(found));
	assert_string_equal(found, "");
	started_files(true, &last, 1, found, sizeof(found));
	assert_string_equal(found, expected + 1);
	for (size_t i = 0; i < MANY; i++)
		close(left_open[i]);
}

static void
test_files(void **state)
{
	(void)state;
	check_files();
}

/* As on a kernel that has no close_range(). This cannot be taken back, so this test is the last one. */
static void
test_old_kernel(void **state)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};

	(void)state;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		skip();
	assert_int_equal(syscall(SYS_close_range, 1000000, 1000000, 0), -1);
	check_files();
}

int
main(int count, char *words[])
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_old_kernel)};

	if (count > 1 && strcmp(words[1], "files") == 0)
		return print_files();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

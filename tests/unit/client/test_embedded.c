/* test_embedded.c: where a store's collector is, and starting one: here a shell script that behaves in various ways. */
#include "embedded.h"

#include <portolan/clock.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
	char directory[64], program[128], store[128];
	struct embedded embedded;
};

static int
setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char made[] = "/tmp/portolan-test-XXXXXX";

	if (!mkdtemp(made))
		return -1;
	snprintf(fixture->directory, sizeof(fixture->directory), "%s", made);
	snprintf(fixture->program, sizeof(fixture->program), "%s/program", made);
	snprintf(fixture->store, sizeof(fixture->store), "%s/a/b/store", made);
	*state = fixture;
	return embedded_init(&fixture->embedded, fixture->store, fixture->program, NULL);
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;
	char command[2][128];
	pid_t child;

	embedded_deinit(&fixture->embedded);
	snprintf(command[0], sizeof(command[0]), "%s", fixture->directory);
	child = fork();
	if (child == 0) {
		execl("/bin/rm", "rm", "-rf", command[0], (char *)NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	free(fixture);
	return 0;
}

static void
write_program(const struct fixture *fixture, const char *script)
{
	FILE *file = fopen(fixture->program, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	fclose(file);
	assert_int_equal(chmod(fixture->program, 0755), 0);
}

static int
start(const struct fixture *fixture, struct portolan_error *error)
{
	return embedded_start(&fixture->embedded, clock_ms() + 10000, NULL, NULL, error);
}

static void
test_init(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;
	char expected[200];

	assert_int_equal(stat(fixture->store, &status), 0); /* made, with its parents */
	snprintf(expected, sizeof(expected), "ipc://%s/collector.sock", fixture->embedded.store);
	assert_string_equal(fixture->embedded.endpoint.text, expected);
	assert_false(embedded_is_served(&fixture->embedded));
}

static void
test_arguments(void **state)
{
	struct fixture *fixture = *state;
	char expected[512], got[512], path[160];
	int inherited;
	FILE *file;

	inherited = dup2(STDERR_FILENO, 7); /* a descriptor the application left open for its children */
	assert_int_equal(inherited, 7);
	write_program(fixture, "echo \"$@\" > \"$0.said\"\n"
	                       "for n in 0 1 2 3 4 5 6 7 8 9; do test -e /proc/$$/fd/$n && printf '%s ' $n >> "
	                       "\"$0.said\"; done; true");
	assert_int_equal(start(fixture, NULL), 0);
	close(inherited);
	snprintf(path, sizeof(path), "%s.said", fixture->program);
	file = fopen(path, "r");
	assert_non_null(file);
	got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
	fclose(file);
	snprintf(expected, sizeof(expected), "--store %s --listen local --exit-when-idle 2 --detach\n0 1 2 ",
	         fixture->embedded.store);
	assert_string_equal(got, expected);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
}

/* What the application does to its environment later neither matters nor is read, by a thread that starts one again. */
static void
test_environment_is_that_at_open(void **state)
{
	struct fixture *fixture = *state;
	struct embedded embedded;
	char path[160], got[16];
	FILE *file;

	write_program(fixture, "echo \"<$PORTOLAN_TEST_WORD>\" > \"$0.said\"");
	setenv("PORTOLAND", fixture->program, 1);
	setenv("PORTOLAN_TEST_WORD", "before", 1);
	assert_int_equal(embedded_init(&embedded, fixture->store, NULL, NULL), 0);
	setenv("PORTOLAND", "/does/not/exist", 1);
	setenv("PORTOLAN_TEST_WORD", "after", 1);
	assert_int_equal(embedded_start(&embedded, clock_ms() + 10000, NULL, NULL, NULL), 0);
	unsetenv("PORTOLAND");
	unsetenv("PORTOLAN_TEST_WORD");
	embedded_deinit(&embedded);
	snprintf(path, sizeof(path), "%s.said", fixture->program);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(got, sizeof(got), file));
	fclose(file);
	assert_string_equal(got, "<before>\n");
}

/* A name without a slash is looked for in PATH, as a shell would. */
static void
test_a_name_is_looked_for(void **state)
{
	struct fixture *fixture = *state;
	struct portolan_error error;
	struct embedded embedded;
	char before[4096];

	snprintf(before, sizeof(before), "%s", getenv("PATH"));
	write_program(fixture, "true");
	setenv("PATH", "/does/not/exist", 1);
	assert_int_equal(embedded_init(&embedded, fixture->store, "program", NULL), 0);
	assert_int_equal(embedded_start(&embedded, clock_ms() + 1000, NULL, NULL, &error), PORTOLAN_E_NO_COLLECTOR);
	assert_string_equal(error.message,
	                    "cannot start portoland: No such file or directory; install portoland, or name it in "
	                    "PORTOLAND");
	embedded_deinit(&embedded);
	setenv("PATH", fixture->directory, 1);
	assert_int_equal(embedded_init(&embedded, fixture->store, "program", NULL), 0);
	setenv("PATH", before, 1);
	assert_string_equal(embedded.program, fixture->program);
	assert_int_equal(embedded_start(&embedded, clock_ms() + 10000, NULL, NULL, NULL), 0);
	embedded_deinit(&embedded);
}

static void
test_failure(void **state)
{
	struct fixture *fixture = *state;
	struct portolan_error error;
	char expected[400];

	write_program(fixture, "echo 'portoland: the store is newer' >&2; exit 1");
	assert_int_equal(start(fixture, &error), PORTOLAN_E_NO_COLLECTOR);
	snprintf(expected, sizeof(expected), "cannot start a collector for store %s: portoland: the store is newer",
	         fixture->embedded.store);
	assert_string_equal(error.message, expected);
	/* The same where the application does not want to know of its children. */
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(start(fixture, &error), PORTOLAN_E_NO_COLLECTOR);
	assert_string_equal(error.message, expected);
	signal(SIGCHLD, SIG_DFL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	unlink(fixture->program);
	assert_int_equal(start(fixture, &error), PORTOLAN_E_NO_COLLECTOR);
	if (getenv("UNDER_VALGRIND")) /* which answers that it was started, whatever becomes of it */
		return;
	if (getenv("UNDER_QEMU")) /* whose vfork() copies the memory in which the child says why it did not start */
		skip();
	snprintf(expected, sizeof(expected),
	         "cannot start %s: No such file or directory; install portoland, or name it in PORTOLAND",
	         fixture->program);
	assert_string_equal(error.message, expected);
}

static void
test_loser_is_content(void **state)
{
	struct fixture *fixture = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	write_program(fixture, "echo 'already served' >&2; exit 1");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fixture->embedded.endpoint.text + strlen("ipc://"));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_false(embedded_is_served(&fixture->embedded)); /* a socket nobody listens at */
	assert_int_equal(listen(listener, 5), 0);
	assert_true(embedded_is_served(&fixture->embedded));
	assert_int_equal(start(fixture, NULL), 0);
	close(listener);
	assert_false(embedded_is_served(&fixture->embedded));
}

static int
always(void *context)
{
	(void)context;
	return true;
}

static void
test_time_is_up(void **state)
{
	struct fixture *fixture = *state;
	struct portolan_error error;

	write_program(fixture, "exec sleep 100");
	assert_int_equal(embedded_start(&fixture->embedded, clock_ms() + 100, NULL, NULL, &error),
	                 PORTOLAN_E_NO_COLLECTOR);
	assert_non_null(strstr(error.message, "did not come up"));
	assert_int_equal(embedded_start(&fixture->embedded, CLOCK_FOREVER, always, NULL, &error),
	                 PORTOLAN_E_NO_COLLECTOR);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* both were ended and reaped */
}

/* A directory whose path is too long for a socket's name has a short one while it is open. */
static void
test_long_paths(void **state)
{
	struct fixture *fixture = *state;
	char directory[220], link[100], expected[128];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	struct embedded embedded;
	struct endpoint endpoint;
	struct portolan_error error;
	struct stat here, there;
	int kept;

	snprintf(directory, sizeof(directory), "%s/%0*d", fixture->directory, 120, 0);
	assert_int_equal(embedded_init(&embedded, directory, NULL, NULL), 0);
	snprintf(expected, sizeof(expected), "ipc:///proc/self/fd/%d/collector.sock", embedded.endpoint.directory);
	assert_string_equal(embedded.endpoint.text, expected);
	snprintf(link, sizeof(link), "%s/link", fixture->directory);
	assert_int_equal(symlink(directory, link), 0);
	assert_int_equal(endpoint_open(link, &endpoint, NULL), 0); /* another way to the same place */
	assert_int_equal(fstat(embedded.endpoint.directory, &here), 0);
	assert_int_equal(fstat(endpoint.directory, &there), 0);
	assert_int_equal(here.st_ino, there.st_ino);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", endpoint.text + strlen("ipc://"));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 5), 0);
	assert_true(embedded_is_served(&embedded));
	close(listener);
	kept = embedded.endpoint.directory;
	endpoint_close(&endpoint);
	endpoint_close(&endpoint);
	embedded_deinit(&embedded);
	assert_int_equal(fcntl(kept, F_GETFD), -1);
	assert_int_equal(endpoint_open("/does/not/exist", &endpoint, &error), PORTOLAN_E_INVALID);
}

/* The lock of a store that nobody serves: an import, for instance. */
static void
test_held_by_other(void **state)
{
	struct fixture *fixture = *state;
	struct portolan_error error;
	char path[160], expected[64];
	int lock;

	write_program(fixture, "echo 'already served' >&2; exit 1");
	snprintf(path, sizeof(path), "%s/" ENDPOINT_LOCK_FILE, fixture->store);
	lock = open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(dprintf(lock, "%d\n", 4711), 5);
	assert_int_equal(embedded_start(&fixture->embedded, clock_ms() + 100, NULL, NULL, &error),
	                 PORTOLAN_E_NO_COLLECTOR);
	snprintf(expected, sizeof(expected), "is held by process 4711, which takes no connections");
	assert_non_null(strstr(error.message, expected));
	close(lock);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_init, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_arguments, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_environment_is_that_at_open, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_name_is_looked_for, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_failure, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_loser_is_content, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_time_is_up, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_long_paths, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_held_by_other, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

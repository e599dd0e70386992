/*
 * test_run_in_flight.c: what becomes of frames that libzmq still holds, because the collector's socket takes no more,
 * when the run is closed, the process forks, or the collector is another one.
 */
#include "remove_folder.h"
#include "run_fixture.h"

#include <sys/wait.h>
#include <time.h>

#define ROWS 150000
#define BYTES ((uint64_t)4 << 20) /* far more than the kernel's buffers take */

/* A run whose thread has given BYTES to libzmq, and a collector that does not read them: the caller holds its mutex. */
static portolan_run *
fill_socket(struct fake *fake)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	portolan_run *run;

	fake->queue = 1;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	pthread_mutex_lock(&fake->mutex);
	log_rows(run, 0, 0, ROWS);
	for (int i = 0; i < 20000 && stats_of(run).bytes_sent < BYTES; i++)
		nanosleep(&pause, NULL);
	assert_true(stats_of(run).bytes_sent >= BYTES);
	assert_int_equal(stats_of(run).acknowledged, 0);
	return run;
}

static void
stop(struct fake *fake)
{
	fake->running = false;
	pthread_mutex_unlock(&fake->mutex);
	fake_stop(fake);
}

static void
test_close(void **state)
{
	struct fake *fake = *state;
	portolan_run *run = fill_socket(fake);
	struct portolan_error error;

	assert_int_equal(portolan_close(run, 0, &error), PORTOLAN_E_TIMEOUT);
	assert_non_null(strstr(error.message, "150000 of 150000 observations are in a file, and 0 are lost"));
	stop(fake);
	assert_int_equal(remove_folder("portolan-spool"), 0);
}

/* The child has neither libzmq's threads nor its socket; what it frees is its own copy. */
static void
test_fork(void **state)
{
	struct fake *fake = *state;
	portolan_run *run = fill_socket(fake);
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(portolan_close(run, 0, NULL) != PORTOLAN_E_FORKED);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, ROWS);
	assert_int_equal(fake->gaps, 0);
}

/* The next collector gets everything that the first one has not read, while libzmq may not have dropped it yet. */
static void
test_sent_again(void **state)
{
	struct fake *fake = *state;
	portolan_run *run = fill_socket(fake);

	stop(fake);
	assert_true(fake->rows < ROWS);
	fake->queue = 0;
	fake_start(fake);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_true(fake->opens > 1);
	assert_int_equal(fake->rows, ROWS);
	assert_int_equal(fake->undecodable, 0);
	for (uint64_t i = 0; i < ROWS; i++) {
		assert_int_equal(fake->ids[i], i);
		assert_int_equal(fake->correct[i], i % 2);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_close, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_sent_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_run_threads.c: a run's full ring, and its thread beside those of the training. */
#include "run_fixture.h"

#include <portolan/clock.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static void
test_credit(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake->credit = 0;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, 0, 50000);
	assert_int_equal(portolan_flush(run, 50, NULL), PORTOLAN_E_TIMEOUT);
	assert_int_equal(fake_get(fake, &fake->batches), 0);
	pthread_mutex_lock(&fake->mutex);
	fake->credit = 1; /* less than any frame: one at a time */
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0); /* the next ping's answer tells */
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_true(fake->largest_under_way < 300000);
	assert_true(fake->batches > 1);
	assert_int_equal(fake->rows, 50000);
}

static void
test_full_ring_drops(void **state)
{
	struct fake *fake = *state;
	struct portolan_stats stats;
	portolan_run *run;

	fake->credit = 0;
	fake_start(fake);
	run = open_with(fake,
	                (struct portolan_options){.ring_bytes = 1 << 20, .when_full = PORTOLAN_DROP, .spool_bytes = 1});
	log_rows(run, 0, 0, 100000);                   /* 37 bytes each: about 28,000 fit into a MiB */
	for (uint32_t epoch = 0; epoch < 300; epoch++) /* it is not waited with these either */
		assert_int_equal(portolan_end_epoch(run, epoch, NULL), 0);
	stats = stats_of(run);
	assert_int_equal(stats.logged + stats.dropped, 100000);
	assert_in_range(stats.logged, 4096 * 5, 1048576 / 37);
	assert_int_equal(stats.waits, 0);
	assert_int_equal(portolan_close(run, 0, NULL), PORTOLAN_E_TIMEOUT);
	fake_stop(fake);
}

static void
test_full_ring_waits(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake->credit = 1;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.ring_bytes = 1 << 20});
	for (uint64_t i = 0; i < 30; i++)
		log_rows(run, 0, i * 10000, 10000);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 300000);
	for (uint64_t i = 0; i < fake->rows; i++)
		assert_int_equal(fake->ids[i], i);
}

static void *
log_many(void *argument)
{
	for (int i = 0; i < 100; i++)
		log_rows(argument, 0, 0, 100);
	return NULL;
}

static void
test_many_threads(void **state)
{
	struct fake *fake = *state;
	pthread_t threads[3];
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, log_many, run), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 30000);
}

static void
test_fork(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;
	pid_t child;
	int status;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, 0, 10);
	child = fork();
	if (child == 0) {
		struct portolan_stats stats;
		float logits[2] = {0};
		int wrong = 0;

		wrong += portolan_log_logits(run, 0, 1, 2, &(uint64_t){1}, logits, &(int32_t){0}, NULL) !=
		         PORTOLAN_E_FORKED;
		wrong += portolan_end_epoch(run, 0, NULL) != PORTOLAN_E_FORKED;
		wrong += portolan_flush(run, 1000, NULL) != PORTOLAN_E_FORKED;
		wrong += portolan_get_stats(run, &stats) != PORTOLAN_E_FORKED;
		wrong += portolan_close(run, 1000, NULL) != PORTOLAN_E_FORKED;
		_exit(wrong);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	log_rows(run, 0, 10, 10);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 20);
}

static volatile sig_atomic_t signalled_thread_is_main;
static pthread_t main_thread;

static void
on_signal(int number)
{
	(void)number;
	signalled_thread_is_main = pthread_equal(pthread_self(), main_thread);
}

static void
test_signals_stay_away(void **state)
{
	struct fake *fake = *state;
	struct sigaction action = {.sa_handler = on_signal}, before;
	sigset_t usr1, mask;
	portolan_run *run;

	fake_start(fake);
	main_thread = pthread_self();
	sigaction(SIGUSR1, &action, &before);
	run = open_with(fake, (struct portolan_options){0});
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	assert_false(sigismember(&mask, SIGUSR1)); /* opening leaves the caller's mask as it was */
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, &mask);
	fake_stop(fake);         /* its thread does not block signals */
	kill(getpid(), SIGUSR1); /* pending, unless one of the library's threads takes it */
	assert_int_equal(portolan_close(run, 0, NULL), 0);
	assert_int_equal(signalled_thread_is_main, 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	assert_int_equal(signalled_thread_is_main, 1);
	sigaction(SIGUSR1, &before, NULL);
}

/* The id of the library's own thread. */
static id_t
find_thread(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *entry;
	id_t found = 0;

	assert_non_null(threads);
	while ((entry = readdir(threads))) {
		char path[300], name[16] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(name, sizeof(name), file) && strcmp(name, "portolan\n") == 0)
			found = (id_t)strtoul(entry->d_name, NULL, 10);
		if (file)
			fclose(file);
	}
	closedir(threads);
	return found;
}

/* Where processors are scarce the training loop goes first; the loop's own priority stays as it was. */
static void
test_the_loop_goes_first(void **state)
{
	struct fake *fake = *state;
	int before = getpriority(PRIO_PROCESS, 0);
	portolan_run *run;
	id_t thread;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	thread = find_thread();
	assert_int_not_equal(thread, 0);
	assert_int_equal(getpriority(PRIO_PROCESS, thread), before < 5 ? 5 : before);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
}

/* How often the thread has slept so far. */
static uint64_t
count_sleeps(id_t thread)
{
	unsigned long long sleeps = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", (unsigned)thread);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &sleeps) == 1)
			break;
	fclose(file);
	return sleeps;
}

/* A loop that fills a frame in some 60 steps of 1 ms: the thread wakes neither for each step nor for each millisecond, and
 * yet sends what was logged without being asked. */
static void
test_a_slow_loop_is_left_alone(void **state)
{
	const struct timespec step = {.tv_nsec = 1000000};
	struct fake *fake = *state;
	portolan_run *run;
	uint64_t before;
	int64_t began;
	id_t thread;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	thread = find_thread();
	before = count_sleeps(thread);
	began = clock_ms();
	for (uint64_t i = 0; i < 500; i++) {
		log_rows(run, 0, i * 32, 32);
		nanosleep(&step, NULL);
	}
	assert_in_range(count_sleeps(thread) - before, 1, (uint64_t)(clock_ms() - began) / 2);
	fake_wait(fake, &fake->rows, 500 * 32);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
}

/* A call that began before the run was closed, and gets its turn only then, logs nothing behind the `close` frame. */
static void
test_closed_before_its_turn(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	assert_int_equal(run_finish(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(run_lock(run, NULL), PORTOLAN_E_CLOSED);
	assert_int_equal(pthread_mutex_trylock(&run->log_mutex), 0); /* nobody has it */
	pthread_mutex_unlock(&run->log_mutex);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_credit, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_full_ring_drops, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_full_ring_waits, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_many_threads, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_signals_stay_away, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_the_loop_goes_first, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_slow_loop_is_left_alone, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_closed_before_its_turn, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

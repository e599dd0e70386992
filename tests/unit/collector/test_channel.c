/* test_channel.c: the session of a command with a store's collector ends whole, also where a call is interrupted. */
#include "channel.h"
#include "remove_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

int __real_zmq_ctx_term(void *context);
int __wrap_zmq_ctx_term(void *context);

static unsigned interruptions, ended;

/* In the place of libzmq's: interrupted by a signal a few times. */
int
__wrap_zmq_ctx_term(void *context)
{
	if (interruptions > 0) {
		interruptions--;
		errno = EINTR;
		return -1;
	}
	ended++;
	return __real_zmq_ctx_term(context);
}

static char store[] = "/tmp/portolan-test-XXXXXX";
static int lock;

/* The store is locked, so that no collector is started. */
static int
setup(void **state)
{
	char path[sizeof(store) + 32];

	(void)state;
	snprintf(store, sizeof(store), "/tmp/portolan-test-XXXXXX");
	assert_non_null(mkdtemp(store));
	snprintf(path, sizeof(path), "%s/portoland.lock", store);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return flock(lock, LOCK_EX);
}

static int
teardown(void **state)
{
	(void)state;
	close(lock);
	return remove_folder(store);
}

static struct channel *
open_channel(void)
{
	struct portolan_error error = {0};
	struct channel *channel = NULL;

	if (channel_open(store, true, &channel, &error) < 0)
		fail_msg("%s", error.message);
	return channel;
}

/* An interrupted call leaves libzmq's threads and descriptors behind. */
static void
closing_outlasts_interruptions(void **state)
{
	struct channel *channel = open_channel();

	(void)state;
	interruptions = 2;
	assert_int_equal(channel_close(channel), 0);
	assert_int_equal(interruptions, 0);
	assert_int_equal(ended, 1);
}

/* A signal waits for the end, and is told then; one that nohup has this process ignore is none. */
static void
signals_wait(void **state)
{
	struct portolan_error error = {0};
	struct channel *channel = open_channel();

	(void)state;
	raise(SIGTERM);
	assert_int_equal(channel_remove(channel, "run", &error), PORTOLAN_E_SYSTEM);
	assert_string_equal(error.message, "interrupted");
	assert_int_equal(channel_close(channel), SIGTERM);
	signal(SIGHUP, SIG_IGN);
	channel = open_channel();
	raise(SIGHUP);
	assert_int_equal(channel_close(channel), 0);
	signal(SIGHUP, SIG_DFL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(closing_outlasts_interruptions, setup, teardown),
	        cmocka_unit_test_setup_teardown(signals_wait, setup, teardown),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}

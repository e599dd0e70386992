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

/* An interrupted call leaves libzmq's threads and descriptors behind. */
static void
closing_outlasts_interruptions(void **state)
{
	char store[] = "/tmp/portolan-test-XXXXXX", path[sizeof(store) + 32];
	struct portolan_error error = {0};
	struct channel *channel = NULL;
	int lock;

	(void)state;
	assert_non_null(mkdtemp(store));
	snprintf(path, sizeof(path), "%s/portoland.lock", store);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(flock(lock, LOCK_EX), 0); /* so that no collector is started */
	if (channel_open(store, true, &channel, &error) < 0)
		fail_msg("%s", error.message);
	interruptions = 2;
	assert_int_equal(channel_close(channel), 0);
	assert_int_equal(interruptions, 0);
	assert_int_equal(ended, 1);
	close(lock);
	remove_folder(store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(closing_outlasts_interruptions)};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}

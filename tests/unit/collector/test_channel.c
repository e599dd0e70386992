/* test_channel.c: the session of a command with a store's collector ends whole, also where a call is interrupted, or the
 * collector has had no memory for a frame. */
#include "channel.h"
#include "remove_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>
#include <zmq.h>

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

/* In the place of a collector: answers `open`, and pings, these as one that has had no memory for a frame: it asks to
 * repeat what is not acknowledged. */
struct stand_in {
	void *context, *router;
	const uint64_t *acknowledged; /* for each ping the last frame that it has */
	unsigned pings;
	pthread_t thread;
};

static void
answer(const struct stand_in *stand_in, wire_encoder *encoder, const uint8_t *id, int id_size, struct wire_frame *reply,
       const uint8_t *session)
{
	struct wire_bytes bytes;

	memcpy(reply->session, session, WIRE_SESSION_SIZE);
	wire_encode(encoder, reply, &bytes, NULL);
	zmq_send(stand_in->router, id, (size_t)id_size, ZMQ_SNDMORE);
	zmq_send(stand_in->router, bytes.data, bytes.size, 0);
}

static void *
stand_in_main(void *argument)
{
	const struct stand_in *stand_in = argument;
	struct wire_frame opened = {.kind = WIRE_OPENED, .opened.credit = 1 << 20};
	struct wire_frame doubt = {.kind = WIRE_ERROR, .error.code = WIRE_E_SEQUENCE};
	struct wire_frame ack = {.kind = WIRE_ACK, .ack.credit = 1 << 20};
	wire_encoder *encoder = wire_encoder_new();
	struct wire_head head = {0};
	uint8_t id[256], frame[1024];

	for (unsigned pings = 0; pings < stand_in->pings;) {
		int id_size = zmq_recv(stand_in->router, id, sizeof(id), 0);
		int size = zmq_recv(stand_in->router, frame, sizeof(frame), 0);

		if (size < 0 || !wire_peek(frame, (size_t)size, &head))
			break;
		if (head.kind == WIRE_OPEN)
			answer(stand_in, encoder, id, id_size, &opened, head.session);
		if (head.kind != WIRE_PING)
			continue;
		ack.ack.acknowledged = stand_in->acknowledged[pings++];
		answer(stand_in, encoder, id, id_size, &doubt, head.session);
		answer(stand_in, encoder, id, id_size, &ack, head.session);
	}
	wire_encoder_free(encoder);
	return NULL;
}

/* Records one epoch, in two frames, through a channel to a stand-in. */
static int
record(const uint64_t *acknowledged, unsigned pings, struct portolan_error *error)
{
	struct stand_in stand_in = {.context = zmq_ctx_new(), .acknowledged = acknowledged, .pings = pings};
	struct wire_frame open = {.kind = WIRE_OPEN, .open = {.run = {(const uint8_t *)"run", 3}, .started = 1}};
	struct wire_frame end = {.kind = WIRE_END_EPOCH};
	const int patience_ms = 20000;
	struct channel *channel;
	struct wire_ack last;
	char endpoint[sizeof(store) + 32];
	uint64_t before;
	int result;

	snprintf(endpoint, sizeof(endpoint), "ipc://%s/collector.sock", store);
	stand_in.router = zmq_socket(stand_in.context, ZMQ_ROUTER);
	zmq_setsockopt(stand_in.router, ZMQ_RCVTIMEO, &patience_ms, sizeof(patience_ms));
	assert_int_equal(zmq_bind(stand_in.router, endpoint), 0);
	assert_int_equal(pthread_create(&stand_in.thread, NULL, stand_in_main, &stand_in), 0);
	channel = open_channel();
	result = channel_new_session(open.session, error) ?: channel_begin(channel, &open, &before, error);
	if (result == 0)
		result = channel_send(channel, &end, error)
		                 ?: channel_end(channel, &(struct wire_counts){0}, &last, error);
	assert_int_equal(channel_close(channel), 0);
	pthread_join(stand_in.thread, NULL);
	zmq_close(stand_in.router);
	zmq_ctx_term(stand_in.context);
	return result;
}

/* The lost frame was of another session. */
static void
a_session_that_has_lost_nothing_goes_on(void **state)
{
	const uint64_t acknowledged[] = {1, 1,
	                                 2}; /* the collector has taken the first two pings before the second frame */
	struct portolan_error error = {0};

	(void)state;
	if (record(acknowledged, 3, &error) < 0)
		fail_msg("%s", error.message);
}

static void
a_session_whose_frame_was_lost_fails(void **state)
{
	const uint64_t acknowledged[] = {1, 1, 1, 1};
	struct portolan_error error = {0};

	(void)state;
	assert_int_equal(record(acknowledged, 4, &error), PORTOLAN_E_REFUSED);
	assert_non_null(strstr(error.message, "no memory for what was sent"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(closing_outlasts_interruptions, setup, teardown),
	        cmocka_unit_test_setup_teardown(signals_wait, setup, teardown),
	        cmocka_unit_test_setup_teardown(a_session_that_has_lost_nothing_goes_on, setup, teardown),
	        cmocka_unit_test_setup_teardown(a_session_whose_frame_was_lost_fails, setup, teardown),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}

/* test_run_refused.c: what the library does when the collector refuses a run, ends it, or cannot be reached. */
#include "remove_folder.h"
#include "run_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <zmq.h>

static portolan_run *
open_then_refuse(struct fake *fake, enum wire_error_code code, struct portolan_options options)
{
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, options);
	pthread_mutex_lock(&fake->mutex);
	fake->next_error = code;
	pthread_mutex_unlock(&fake->mutex);
	log_rows(run, 0, 0, 10);
	return run;
}

static int
log_three(portolan_run *run, const uint8_t correct[3], struct portolan_error *error)
{
	return portolan_log_gold(run, 0, 3, (uint64_t[3]){0, 1, 2}, (float[3]){0.5f, 0.5f, 0.5f}, correct, error);
}

/* Whatever the collector refuses for good, training goes on; what is wrong with the arguments is an error all the same.
 */
static void
test_ended(void **state)
{
	static const enum wire_error_code codes[] = {WIRE_E_RUN_REMOVED, WIRE_E_RUN_DAMAGED, WIRE_E_RUN_DIFFERS,
	                                             WIRE_E_VERSION,     WIRE_E_MALFORMED,   WIRE_E_OTHER_STORE};
	struct fake *fake = *state;
	struct portolan_error error;
	struct portolan_stats stats;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		portolan_run *run = open_then_refuse(fake, codes[i], (struct portolan_options){0});

		assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, &error), PORTOLAN_E_ENDED);
		assert_memory_equal(error.message, "run words/seed1 has ended: as the test wants it: ", 49);
		error.code = 0;
		assert_int_equal(log_three(run, (uint8_t[3]){0}, &error), 0);
		assert_int_equal(portolan_end_epoch(run, 0, &error), 0);
		assert_int_equal(error.code, 0);
		assert_int_equal(log_three(run, (uint8_t[3]){0, 2, 0}, &error), PORTOLAN_E_INVALID);
		assert_int_equal(portolan_end_epoch(run, UINT32_MAX, &error), PORTOLAN_E_INVALID);
		stats = stats_of(run);
		assert_int_equal(stats.logged, 10);
		assert_int_equal(stats.acknowledged, 0);
		assert_int_equal(stats.dropped, codes[i] == WIRE_E_RUN_REMOVED ? 13 : 3); /* others are in the spool */
		assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, &error), PORTOLAN_E_ENDED);
		if (codes[i] == WIRE_E_RUN_REMOVED)
			assert_string_equal(error.message, "run words/seed1 has ended: as the test wants it: 13 of 13 "
			                                   "observations are lost");
		else
			assert_non_null(strstr(error.message, ": 10 of 13 observations are in a file, and 3 are "
			                                      "lost: portolan import /tmp/"));
		fake_stop(fake);
		fake->stored = 0;
		assert_int_equal(remove_folder("portolan-spool"), 0);
	}
}

static void
test_ended_and_strict(void **state)
{
	struct fake *fake = *state;
	portolan_run *run = open_then_refuse(fake, WIRE_E_RUN_REMOVED, (struct portolan_options){.strict = 1});
	struct portolan_error error;

	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, &error), PORTOLAN_E_ENDED);
	assert_int_equal(log_three(run, (uint8_t[3]){0}, &error), PORTOLAN_E_ENDED);
	assert_string_equal(error.message,
	                    "run words/seed1 has ended: as the test wants it: 13 of 13 observations are lost");
	assert_int_equal(portolan_end_epoch(run, 0, &error), PORTOLAN_E_ENDED);
	assert_int_equal(stats_of(run).dropped, 13);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, &error), PORTOLAN_E_ENDED);
	fake_stop(fake);
}

/* A log call that waits for room when the run ends goes on as well. */
static void
test_ended_while_waiting(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;
	uint64_t logged;

	fake->credit = 1;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.ring_bytes = 1 << 20, .spool_bytes = 1});
	pthread_mutex_lock(&fake->mutex);
	fake->next_error = WIRE_E_RUN_REMOVED;
	pthread_mutex_unlock(&fake->mutex);
	log_rows(run, 0, 0, 300000);
	logged = stats_of(run).logged;
	assert_true(logged < 300000);
	assert_int_equal(stats_of(run).dropped, 300000);
	assert_int_equal(portolan_close(run, 0, NULL), PORTOLAN_E_ENDED);
	fake_stop(fake);
}

static void
test_open_refused(void **state)
{
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint};
	struct portolan_error error;
	portolan_run *run = NULL;

	fake->open_error = WIRE_E_RUN_EXISTS;
	fake_start(fake);
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_REFUSED);
	assert_string_equal(error.message, "as the test wants it");
	assert_null(run);
	fake_stop(fake);
}

/* A collector with too many connections may have fewer soon: opening goes on until its time is up, and says why. */
static void
test_too_many_connections(void **state)
{
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint, .open_timeout_ms = 300};
	struct portolan_error error;
	portolan_run *run = NULL;
	char expected[300];

	fake->zap_status = "500";
	fake_start(fake);
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_NO_COLLECTOR);
	snprintf(
	        expected, sizeof(expected),
	        "the collector at %s has too many connections (its --max-memory and limit of open files set how many); "
	        "trying again",
	        fake->endpoint);
	assert_string_equal(error.message, expected);
	pthread_mutex_lock(&fake->mutex);
	fake->zap_status = "400";
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_REFUSED);
	assert_non_null(strstr(error.message, "does not know this client's key"));
	fake_stop(fake);
}

/* A run that is open waits, and goes on when there is room again. */
static void
test_too_many_connections_later(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	fake_stop(fake);
	fake->zap_status = "500";
	fake_start(fake);
	log_rows(run, 0, 0, 10);
	assert_int_equal(portolan_flush(run, 6500, NULL), PORTOLAN_E_TIMEOUT);
	pthread_mutex_lock(&fake->mutex);
	fake->zap_status = "200";
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(portolan_flush(run, 20000, NULL), 0);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	assert_int_equal(fake->rows, 10);
}

/* In the place of libzmq's: a socket that is closed while a monitor sends its events is counted. */
static _Atomic(void *) monitored;
static _Atomic int monitored_when_closed, monitors;

int
zmq_socket_monitor(void *socket, const char *address, int events)
{
	static int (*real)(void *, const char *, int);

	if (!real)
		*(void **)(&real) = dlsym(RTLD_NEXT, "zmq_socket_monitor");
	monitored = address ? socket : NULL;
	monitors += address != NULL;
	return real(socket, address, events);
}

int
zmq_close(void *socket)
{
	static int (*real)(void *);

	if (!real)
		*(void **)(&real) = dlsym(RTLD_NEXT, "zmq_close");
	monitored_when_closed += socket == monitored;
	return real(socket);
}

/* An event for which nobody is left would hold up libzmq's I/O thread until the context ends, and its memory is lost:
 * the sockets of a run that failed, of one that could not be opened, and of one that has ended are closed after their
 * monitors. */
static void
test_monitors_end_first(void **state)
{
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint, .open_timeout_ms = 100};
	portolan_run *run = NULL;

	monitors = monitored_when_closed = 0;
	assert_int_equal(portolan_open("words", &options, &run, NULL), PORTOLAN_E_NO_COLLECTOR);
	assert_int_equal(monitors, 1);
	assert_int_equal(monitored_when_closed, 0);
	fake_start(fake);
	assert_int_equal(portolan_close(open_with(fake, (struct portolan_options){0}), PORTOLAN_WAIT_DEFAULT, NULL), 0);
	fake_stop(fake);
	fake->stored = 0;
	run = open_then_refuse(fake, WIRE_E_RUN_REMOVED, (struct portolan_options){0});
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), PORTOLAN_E_ENDED);
	fake_stop(fake);
	assert_int_equal(monitors, 3);
	assert_int_equal(monitored_when_closed, 0);
}

/* In the place of libzmq's: a signal interrupts it once. */
static bool interrupts;
static int contexts_ended;

int
zmq_ctx_term(void *context)
{
	static int (*real)(void *);

	if (!real)
		*(void **)(&real) = dlsym(RTLD_NEXT, "zmq_ctx_term");
	if (interrupts) {
		interrupts = false;
		errno = EINTR;
		return -1;
	}
	contexts_ended++;
	return real(context);
}

static void
test_close_interrupted(void **state)
{
	struct fake *fake = *state;
	portolan_run *run;

	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	contexts_ended = 0;
	interrupts = true;
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_false(interrupts);
	assert_int_equal(contexts_ended, 1);
	fake_stop(fake);
}

/* In the place of libzmq's: an option that cannot be set, and quick reconnections. */
static int refused_option, reconnect_ms;

int
zmq_setsockopt(void *socket, int option, const void *value, size_t size)
{
	static int (*real)(void *, int, const void *, size_t);

	if (!real)
		*(void **)(&real) = dlsym(RTLD_NEXT, "zmq_setsockopt");
	if (option == refused_option) {
		errno = EINVAL;
		return -1;
	}
	if (option == ZMQ_RECONNECT_IVL && reconnect_ms > 0)
		value = &reconnect_ms;
	return real(socket, option, value, size);
}

/* More than libzmq keeps for who reads them (1,000 on either side). */
#define MOST_EVENTS 2500

/* What forwards a port (ssh -L, a container's proxy) takes each connection, and closes it while its collector is down.
 * A run that has ended reads no events, and libzmq connects on: its thread must not keep the run from closing. */
static void
test_close_after_many_events(void **state)
{
	struct fake *fake = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct pollfd listener = {.events = POLLIN};
	portolan_run *run;

	reconnect_ms = 1;
	run = open_then_refuse(fake, WIRE_E_RUN_REMOVED, (struct portolan_options){0});
	reconnect_ms = 0;
	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), PORTOLAN_E_ENDED);
	fake_stop(fake);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fake->endpoint + strlen("ipc://"));
	unlink(address.sun_path);
	listener.fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(listener.fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener.fd, 1), 0);
	for (int i = 0; i < MOST_EVENTS && poll(&listener, 1, 1000) == 1; i++)
		close(accept(listener.fd, NULL, NULL));
	alarm(30);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), PORTOLAN_E_ENDED);
	alarm(0);
	close(listener.fd);
}

/* Without its heartbeat, or with frames without a limit, a run would seem to work. */
static void
test_options_that_cannot_be_set(void **state)
{
	static const int needed[] = {ZMQ_LINGER,        ZMQ_IMMEDIATE,        ZMQ_SNDHWM,
	                             ZMQ_MAXMSGSIZE,    ZMQ_HEARTBEAT_IVL,    ZMQ_HEARTBEAT_TIMEOUT,
	                             ZMQ_RECONNECT_IVL, ZMQ_RECONNECT_IVL_MAX};
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint, .open_timeout_ms = 100};
	struct portolan_error error;
	portolan_run *run = NULL;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		refused_option = needed[i];
		assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_SYSTEM);
		assert_string_equal(error.message, "cannot make a socket: Invalid argument");
	}
	refused_option = 0;
}

static void
test_nobody_answers(void **state)
{
	struct fake *fake = *state;
	struct portolan_options options = {.endpoint = fake->endpoint, .open_timeout_ms = 100};
	struct portolan_error error;
	portolan_run *run = NULL;
	char expected[400];

	snprintf(expected, sizeof(expected),
	         "no collector answered at %s within 0.1 s; start one with: portoland --store DIR --listen %s",
	         fake->endpoint, fake->endpoint);
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_NO_COLLECTOR);
	assert_string_equal(error.message, expected);
	options.endpoint = "tcp://nowhere";
	assert_int_equal(portolan_open("words", &options, &run, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message,
	                    "endpoint \"tcp://nowhere\": Invalid argument; give tcp://HOST:PORT or ipc://PATH");
}

static void
test_timeouts(void **state)
{
	struct fake *fake = *state;
	struct portolan_error error;
	portolan_run *run;

	fake->acknowledges = false;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){0});
	log_rows(run, 0, 0, 7);
	assert_int_equal(portolan_flush(run, 20, &error), PORTOLAN_E_TIMEOUT);
	assert_string_equal(error.message,
	                    "run words/seed1: 7 of 7 observations are not acknowledged by the collector yet");
	assert_int_equal(portolan_flush(run, -3, &error), PORTOLAN_E_INVALID);
	assert_int_equal(portolan_close(run, 20, &error), PORTOLAN_E_TIMEOUT);
	assert_int_equal(error.code, PORTOLAN_E_TIMEOUT);
	fake_stop(fake);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_ended, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_ended_and_strict, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_ended_while_waiting, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_open_refused, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_too_many_connections, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_too_many_connections_later, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_monitors_end_first, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_close_interrupted, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_options_that_cannot_be_set, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_close_after_many_events, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_nobody_answers, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_timeouts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

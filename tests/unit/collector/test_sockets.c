/* test_sockets.c: where memory fails between the parts of a message, what is sent next is whole, and goes where it
 * belongs. libzmq's requests for memory come to malloc() below, as this program defines it. */
#include "admission.h"
#include "commands.h"
#include "remove_folder.h"
#include "sockets.h"

#include <keys.h>
#include <portolan/clock.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>
#include <zmq.h>

#define PATIENCE_MS 30000
#define LARGE 10000
#define NO_REQUEST SIZE_MAX

/* Of the calling thread. */
static _Thread_local struct {
	size_t size; /* requests for exactly so many bytes fail */
	size_t last; /* the last request */
	unsigned failed;
} requests = {.size = NO_REQUEST};

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* whose own stands there */
void *__libc_malloc(size_t size);

void *
malloc(size_t size)
{
	requests.last = size;
	if (size != requests.size)
		return __libc_malloc(size);
	requests.failed++;
	errno = ENOMEM;
	return NULL;
}
#endif

/* How many bytes libzmq asks for, for a message of so many; 0: its requests do not come here. */
static size_t
request_for(size_t size)
{
	zmq_msg_t message;

	requests.last = 0;
	assert_int_equal(zmq_msg_init_size(&message, size), 0);
	assert_int_equal(zmq_msg_close(&message), 0);
	return requests.last;
}

/* From now on there is no memory for a message of so many bytes. */
static void
fail_message(size_t size)
{
	requests.size = request_for(size);
	requests.failed = 0;
}

struct fixture {
	char directory[64], endpoint[256];
	struct sockets *sockets;
	void *context;
	int fds[SOCKETS_FDS], writing[SOCKETS_FDS]; /* pipes in which nothing is ever written */
};

/* `keyed`: the endpoint is one of tcp, with keys; else a socket file. */
static void
set_up(struct fixture *fixture, bool keyed)
{
	char keys[96], text[128];
	struct portolan_error error = {0};
	struct address address;

	snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/portolan-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(keys, sizeof(keys), "%s/keys", fixture->directory);
	snprintf(text, sizeof(text), "ipc://%s/socket", fixture->directory);
	if (keyed && (keygen_collector(keys, &error) < 0 || keygen_client(keys, "tester", &error) < 0))
		fail_msg("%s", error.message);
	if (sockets_open(&fixture->sockets, keyed ? keys : NULL, (size_t)64 << 20, &error) < 0 ||
	    address_parse(keyed ? "tcp://127.0.0.1:*" : text, &address, &error) < 0 ||
	    sockets_bind(fixture->sockets, &address, fixture->endpoint, sizeof(fixture->endpoint), &error) < 0)
		fail_msg("%s", error.message);
	fixture->context = zmq_ctx_new();
	for (int i = 0; i < SOCKETS_FDS; i++) {
		int ends[2];

		assert_int_equal(pipe(ends), 0);
		fixture->fds[i] = ends[0];
		fixture->writing[i] = ends[1];
	}
}

static void
tear_down(struct fixture *fixture)
{
	zmq_ctx_term(fixture->context);
	sockets_close(fixture->sockets);
	for (int i = 0; i < SOCKETS_FDS; i++) {
		close(fixture->fds[i]);
		close(fixture->writing[i]);
	}
	assert_int_equal(remove_folder(fixture->directory), 0);
}

/* A client that sends one message of this text; NULL: none. */
static void *
connect_client(struct fixture *fixture, bool keyed, const char *text)
{
	void *client = zmq_socket(fixture->context, ZMQ_DEALER);
	const int none = 0, patience = PATIENCE_MS;
	struct portolan_error error = {0};
	struct keys keys;
	char path[96];

	assert_non_null(client);
	zmq_setsockopt(client, ZMQ_LINGER, &none, sizeof(none));
	zmq_setsockopt(client, ZMQ_RCVTIMEO, &patience, sizeof(patience));
	snprintf(path, sizeof(path), "%s/keys/tester", fixture->directory);
	if (keyed) {
		if (keys_read_client(path, &keys, &error) < 0)
			fail_msg("%s", error.message);
		zmq_setsockopt(client, ZMQ_CURVE_SERVERKEY, keys.server, strlen(keys.server));
		zmq_setsockopt(client, ZMQ_CURVE_PUBLICKEY, keys.own, strlen(keys.own));
		zmq_setsockopt(client, ZMQ_CURVE_SECRETKEY, keys.secret, strlen(keys.secret));
	}
	assert_int_equal(zmq_connect(client, fixture->endpoint), 0);
	if (text)
		assert_int_equal(zmq_send(client, text, strlen(text), 0), (int)strlen(text));
	return client;
}

/* Lets clients in, and waits for a message of this text; who sent it. */
static struct peer
wait_for(struct fixture *fixture, const char *text)
{
	const int64_t end = clock_ms() + PATIENCE_MS;
	struct portolan_error error = {0};
	struct arrival *arrival = NULL;
	struct peer peer;
	bool missed = false;

	while (!arrival && clock_ms() < end) {
		assert_int_equal(sockets_wait(fixture->sockets, fixture->fds, 10, &error), 0);
		arrival = sockets_receive(fixture->sockets, &missed);
	}
	assert_false(missed);
	if (!arrival)
		fail_msg("'%s' did not come", text);
	assert_int_equal(arrival->size, strlen(text));
	assert_memory_equal(arrival->data, text, arrival->size);
	peer = arrival->peer;
	arrival_free(arrival);
	return peer;
}

/* A reply that cannot be sent must not take the next one with it. */
static void
a_reply_goes_to_its_own_client(void **state)
{
	static uint8_t large[LARGE];
	struct fixture fixture = {0};
	void *first, *second;
	struct peer to_first, to_second;
	char got[8];

	(void)state;
	if (request_for(LARGE) == 0) /* as under sanitizers, and under Valgrind */
		return;
	set_up(&fixture, false);
	first = connect_client(&fixture, false, "first");
	to_first = wait_for(&fixture, "first");
	second = connect_client(&fixture, false, "second");
	to_second = wait_for(&fixture, "second");
	fail_message(sizeof(large));
	assert_false(sockets_send(fixture.sockets, &to_first, large, sizeof(large)));
	requests.size = NO_REQUEST;
	assert_int_equal(requests.failed, 1);
	assert_true(sockets_send(fixture.sockets, &to_second, "two", 3));
	assert_int_equal(zmq_recv(second, got, sizeof(got), 0), 3);
	assert_memory_equal(got, "two", 3);
	assert_true(sockets_send(fixture.sockets, &to_first, "one", 3));
	assert_int_equal(zmq_recv(first, got, sizeof(got), 0), 3);
	assert_memory_equal(got, "one", 3);
	zmq_close(first);
	zmq_close(second);
	tear_down(&fixture);
}

/* The answer to one connection's question fails; others must be let in afterwards. */
static void
clients_are_let_in_after_an_answer_failed(void **state)
{
	const int64_t end = clock_ms() + PATIENCE_MS;
	struct portolan_error error = {0};
	struct fixture fixture = {0};
	void *first, *second;

	(void)state;
	if (request_for(LARGE) == 0) /* as under sanitizers, and under Valgrind */
		return;
	set_up(&fixture, true);
	first = connect_client(&fixture, true, NULL);
	fail_message(1 + strlen(ADMISSION_KEY) + 4 + KEYS_TEXT_SIZE - 1); /* the last part: the connection's key */
	while (requests.failed == 0 && clock_ms() < end)
		assert_int_equal(sockets_wait(fixture.sockets, fixture.fds, 10, &error), 0);
	requests.size = NO_REQUEST;
	assert_int_equal(requests.failed, 1);
	second = connect_client(&fixture, true, "second");
	wait_for(&fixture, "second");
	zmq_close(first);
	zmq_close(second);
	tear_down(&fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_reply_goes_to_its_own_client),
	                                   cmocka_unit_test(clients_are_let_in_after_an_answer_failed)};

	return cmocka_run_group_tests_name("sockets", tests, NULL, NULL);
}

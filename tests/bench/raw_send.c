/* raw_send.c: see raw_send.h. */
#include "raw_send.h"

#include "raw_append.h"

#include <keys.h>

#include <err.h>
#include <pthread.h>
#include <stdlib.h>
#include <zmq.h>

struct sending {
	const char *keys, *endpoint;
	uint64_t messages;
	size_t size;
};

static void
must_do(int result, const char *what)
{
	if (result < 0)
		errx(1, "%s: %s", what, zmq_strerror(zmq_errno()));
}

static void
use_client_keys(void *socket, const char *directory)
{
	struct portolan_error error;
	struct keys keys;

	if (keys_read_client(directory, &keys, &error) < 0)
		errx(1, "%s", error.message);
	must_do(zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, keys.secret, KEYS_TEXT_SIZE), "keys");
	must_do(zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, keys.own, KEYS_TEXT_SIZE), "keys");
	must_do(zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, keys.server, KEYS_TEXT_SIZE), "keys");
	keys_forget(&keys);
}

static void *
send_messages(void *argument)
{
	const struct sending *sending = argument;
	void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_DEALER);
	const int most = 64; /* 16 MB, as much credit as a client has */
	uint8_t *message = calloc(1, sending->size);

	if (!message || !socket)
		err(1, "message");
	if (sending->keys)
		use_client_keys(socket, sending->keys);
	must_do(zmq_setsockopt(socket, ZMQ_SNDHWM, &most, sizeof(most)), "queue");
	must_do(zmq_connect(socket, sending->endpoint), sending->endpoint);
	for (uint64_t i = 0; i < sending->messages; i++)
		must_do(zmq_send(socket, message, sending->size, 0), "send");
	free(message);
	zmq_close(socket);
	zmq_ctx_term(context);
	return NULL;
}

double
raw_send(const char *keys, uint64_t messages, size_t bytes)
{
	void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_ROUTER);
	const int server = 1, most = 2; /* as in the collector */
	char endpoint[256];
	size_t length = sizeof(endpoint);
	struct sending sending = {.keys = keys, .endpoint = endpoint, .messages = messages, .size = bytes};
	struct portolan_error error;
	struct keys own;
	pthread_t sender;
	double begin = 0;

	if (!socket)
		err(1, "socket");
	must_do(zmq_setsockopt(socket, ZMQ_RCVHWM, &most, sizeof(most)), "queue");
	if (keys && keys_read_server(keys, &own, &error) < 0)
		errx(1, "%s", error.message);
	if (keys) {
		must_do(zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &server, sizeof(server)), "keys");
		must_do(zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own.secret, KEYS_TEXT_SIZE), "keys");
		keys_forget(&own);
	}
	must_do(zmq_bind(socket, "tcp://127.0.0.1:*"), "bind");
	must_do(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &length), "endpoint");
	if (pthread_create(&sender, NULL, send_messages, &sending) != 0)
		errx(1, "no thread");
	for (uint64_t parts = 0; parts < 2 * messages; parts++) { /* the sender's name, and the message */
		zmq_msg_t part;

		zmq_msg_init(&part);
		must_do(zmq_msg_recv(&part, socket, 0), "receive");
		zmq_msg_close(&part);
		if (parts == 1)
			begin = bench_seconds(); /* they are connected */
	}
	begin = bench_seconds() - begin;
	pthread_join(sender, NULL);
	zmq_close(socket);
	zmq_ctx_term(context);
	return begin;
}

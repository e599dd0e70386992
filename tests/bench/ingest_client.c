/* ingest_client.c: see ingest_client.h. Ids are made while the frames before are under way. */
#include "ingest_client.h"
#include "raw_append.h"

#include <keys.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

#define OPEN_SECONDS 300
#define STRING 16 /* bytes of a string id */

struct client {
	void *socket;
	wire_encoder *encoder;
	wire_decoder *decoder;
	uint8_t session[WIRE_SESSION_SIZE];
	uint64_t sent, acknowledged, credit, bytes;
	size_t frame_size;
	struct wire_frame open;
	double sent_at; /* when the last frame left */
	bool opened;
	uint32_t ids[ROWS];
	uint8_t strings[ROWS * (STRING + 1)];
	float gold_prob[ROWS];
	uint8_t correct[(ROWS + 7) / 8];
};

static void
send_frame(struct client *client, struct wire_frame *frame)
{
	struct portolan_error error;
	struct wire_bytes bytes;

	memcpy(frame->session, client->session, sizeof(frame->session));
	if (wire_encode(client->encoder, frame, &bytes, &error) < 0)
		errx(1, "%s", error.message);
	if (zmq_send(client->socket, bytes.data, bytes.size, 0) < 0)
		errx(1, "send: %s", zmq_strerror(zmq_errno()));
	client->bytes += bytes.size;
	client->sent_at = bench_seconds();
	if (frame->kind == WIRE_BATCH)
		client->frame_size = bytes.size;
}

/* False: nothing has come (only if `flags` is ZMQ_DONTWAIT). */
static bool
receive(struct client *client, int flags)
{
	struct portolan_error error;
	struct wire_frame frame;
	char buffer[4096];
	int size = zmq_recv(client->socket, buffer, sizeof(buffer), flags);

	if (size < 0 && flags && zmq_errno() == EAGAIN)
		return false;
	if (size < 0 || size > (int)sizeof(buffer))
		errx(1, "no answer: %s", zmq_strerror(zmq_errno()));
	if (wire_decode(client->decoder, buffer, (size_t)size, &frame, NULL, &error) < 0)
		errx(1, "%s", error.message);
	if (frame.kind == WIRE_ERROR)
		errx(1, "%.*s", (int)frame.error.message.size, (const char *)frame.error.message.data);
	client->opened = true;
	client->acknowledged = frame.kind == WIRE_ACK ? frame.ack.acknowledged : frame.opened.acknowledged;
	client->credit = frame.kind == WIRE_ACK ? frame.ack.credit : frame.opened.credit;
	return true;
}

/* As WIRE.md asks of clients: an `open` that is not answered is sent again, and a session that has nothing to send pings.
 * Of many clients on a slow disk each waits for seconds. */
static void
break_silence(struct client *client)
{
	struct wire_frame ping = {.kind = WIRE_PING};
	const double silent = bench_seconds() - client->sent_at;

	if (!client->opened && silent > 1)
		send_frame(client, &client->open);
	else if (client->opened && silent > WIRE_PING_MS / 1000.0)
		send_frame(client, &ping);
}

static void
use_keys(struct client *client, const char *directory)
{
	struct portolan_error error;
	struct keys keys;

	if (keys_read_client(directory, &keys, &error) < 0)
		errx(1, "%s", error.message);
	zmq_setsockopt(client->socket, ZMQ_CURVE_SECRETKEY, keys.secret, KEYS_TEXT_SIZE);
	zmq_setsockopt(client->socket, ZMQ_CURVE_PUBLICKEY, keys.own, KEYS_TEXT_SIZE);
	zmq_setsockopt(client->socket, ZMQ_CURVE_SERVERKEY, keys.server, KEYS_TEXT_SIZE);
	keys_forget(&keys);
}

struct client *
client_open(void *context, const char *endpoint, const char *keys, unsigned number, const struct load *load)
{
	struct client *client = calloc(1, sizeof(*client));
	int linger = 0, timeout = 120000;

	if (!client)
		err(1, "client");
	client->session[0] = (uint8_t)((number + 1) % 256);
	client->session[1] = (uint8_t)((number + 1) / 256);
	client->encoder = wire_encoder_new();
	client->decoder = wire_decoder_new();
	client->socket = zmq_socket(context, ZMQ_DEALER);
	zmq_setsockopt(client->socket, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(client->socket, ZMQ_RCVTIMEO, &timeout, sizeof(timeout));
	if (keys)
		use_keys(client, keys);
	if (zmq_connect(client->socket, endpoint) < 0)
		err(1, "%s", endpoint);
	for (uint32_t row = 0; row < ROWS; row++)
		client->gold_prob[row] = (float)(row % 1000) / 1000;
	client->open.kind = WIRE_OPEN;
	client->open.open = (struct wire_open){.run = {(const uint8_t *)"bench", 5},
	                                       .group = {(const uint8_t *)"bench", 5},
	                                       .started = (uint64_t)time(NULL) * 1000000000 + number,
	                                       .rank = number,
	                                       .examples = load->strings ? 0 : load->examples};
	send_frame(client, &client->open);
	return client;
}

void
client_wait_until_open(struct client **clients, unsigned count)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const double begin = bench_seconds();

	for (unsigned c = 0; c < count;) {
		for (unsigned i = 0; i < count; i++) {
			while (receive(clients[i], ZMQ_DONTWAIT))
				;
			break_silence(clients[i]);
		}
		while (c < count && clients[c]->opened)
			c++;
		if (c < count && bench_seconds() - begin > OPEN_SECONDS)
			errx(1, "%u of %u sessions are open after %d s", c, count, OPEN_SECONDS);
		nanosleep(&pause, NULL);
	}
}

uint32_t
load_ids(const struct load *load, uint64_t frame, uint32_t *ids)
{
	uint64_t first = frame % load_frames_of_epoch(load) * load_rows(load), left = load->examples - first;
	uint32_t rows = left < load_rows(load) ? (uint32_t)left : load_rows(load);

	/* A prime: another permutation for each epoch of an odd or even number of examples. The next id is found by
	 * addition: a division for each took a sixth of the processor time of a turn. */
	const uint64_t step = load->shuffled ? 2654435761u % load->examples : 1;
	uint64_t next =
	        load->shuffled ? (first * 2654435761u + frame / load_frames_of_epoch(load)) % load->examples : first;

	for (uint32_t row = 0; row < rows; row++) {
		ids[row] = (uint32_t)next;
		next += step;
		next -= next >= load->examples ? load->examples : 0;
	}
	return rows;
}

/* Sets the ids of the frame's rows; how many there are. */
static uint32_t
make_ids(struct client *client, const struct load *load, uint64_t frame)
{
	const uint32_t rows = load_ids(load, frame, client->ids);

	for (uint32_t row = 0; row < rows && load->strings; row++) {
		char text[STRING + 1] = "example-00000000";
		uint32_t id = client->ids[row];

		for (int digit = STRING - 1; digit >= 8; digit--, id /= 10)
			text[digit] = (char)('0' + id % 10);
		client->strings[row] = STRING;
		memcpy(client->strings + rows + (size_t)row * STRING, text, STRING);
	}
	return rows;
}

bool
client_send(struct client *client, const struct load *load, uint64_t frame)
{
	struct wire_frame sent = {.kind = WIRE_BATCH};
	struct wire_batch *batch = &sent.batch;

	while (receive(client, ZMQ_DONTWAIT))
		;
	if (client->sent > client->acknowledged &&
	    (client->sent - client->acknowledged + 1) * client->frame_size > client->credit) {
		break_silence(client);
		return false;
	}
	batch->rows = make_ids(client, load, frame);
	sent.sequence = ++client->sent;
	batch->epoch = (uint32_t)(frame / load_frames_of_epoch(load));
	batch->id_type = load->strings ? WIRE_STR : WIRE_U4;
	batch->ids = load->strings ? (struct wire_bytes){client->strings, (size_t)batch->rows * (STRING + 1)}
	                           : (struct wire_bytes){(const uint8_t *)client->ids, (size_t)batch->rows * 4};
	batch->column_count = 2;
	batch->columns[0] = (struct wire_column){{(const uint8_t *)"gold_prob", 9},
	                                         WIRE_F4,
	                                         {(const uint8_t *)client->gold_prob, (size_t)batch->rows * 4}};
	batch->columns[1] = (struct wire_column){
	        {(const uint8_t *)"correct", 7}, WIRE_BIT, {client->correct, (batch->rows + 7) / 8}};
	send_frame(client, &sent);
	return true;
}

void
client_close(struct client *client)
{
	struct wire_frame last = {.kind = WIRE_CLOSE};

	last.sequence = ++client->sent;
	send_frame(client, &last);
}

bool
client_is_done(struct client *client)
{
	while (receive(client, ZMQ_DONTWAIT))
		;
	return client->acknowledged == client->sent;
}

void *
client_socket(const struct client *client)
{
	return client->socket;
}

uint64_t
client_bytes(const struct client *client)
{
	return client->bytes;
}

void
client_free(struct client *client)
{
	zmq_close(client->socket);
	wire_encoder_free(client->encoder);
	wire_decoder_free(client->decoder);
	free(client);
}

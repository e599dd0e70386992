/* fake_collector.c: one session at a time is enough; it answers to whoever spoke last. */
#include "fake_collector.h"

#include "remove_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

struct link {
	struct fake *fake;
	void *socket;
	wire_encoder *encoder;
	wire_decoder *decoder;
	uint8_t peer[64];
	size_t peer_size;
	uint8_t session[WIRE_SESSION_SIZE];
	bool known;
	uint64_t told; /* what the last ack said */
	uint64_t under_way;
};

static void
answer(struct link *link, struct wire_frame *frame)
{
	struct wire_bytes bytes;

	if (link->fake->silent || link->peer_size == 0)
		return;
	memcpy(frame->session, link->session, WIRE_SESSION_SIZE);
	if (wire_encode(link->encoder, frame, &bytes, NULL) < 0)
		return;
	zmq_send(link->socket, link->peer, link->peer_size, ZMQ_SNDMORE | ZMQ_DONTWAIT);
	zmq_send(link->socket, bytes.data, bytes.size, ZMQ_DONTWAIT);
}

static void
answer_ack(struct link *link)
{
	struct wire_frame frame = {.kind = WIRE_ACK,
	                           .ack = {.acknowledged = link->fake->stored, .credit = link->fake->credit}};

	link->told = link->fake->stored;
	link->under_way = 0;
	answer(link, &frame);
}

static void
answer_error(struct link *link, enum wire_error_code code, uint64_t sequence)
{
	static const char message[] = "as the test wants it";
	struct wire_frame frame = {.kind = WIRE_ERROR,
	                           .error = {code, {(const uint8_t *)message, strlen(message)}, sequence}};

	answer(link, &frame);
}

static void
copy_text(char *to, size_t room, struct wire_bytes from)
{
	snprintf(to, room, "%.*s", (int)from.size, (const char *)from.data);
}

static void
on_open(struct link *link, const struct wire_frame *frame)
{
	struct fake *fake = link->fake;
	struct wire_frame reply = {.kind = WIRE_OPENED,
	                           .opened = {.acknowledged = fake->stored,
	                                      .credit = fake->credit,
	                                      .id_kind = fake->id_kind,
	                                      .texts = fake->takes_texts}};

	fake->opens++;
	memcpy(link->session, frame->session, WIRE_SESSION_SIZE);
	copy_text(fake->run, sizeof(fake->run), frame->open.run);
	copy_text(fake->config, sizeof(fake->config), frame->open.config);
	copy_text(fake->group, sizeof(fake->group), frame->open.group);
	fake->labels[0] = '\0';
	for (size_t i = 0; i < frame->open.label_count; i++)
		snprintf(fake->labels + strlen(fake->labels), sizeof(fake->labels) - strlen(fake->labels), "%.*s ",
		         (int)frame->open.labels[i].size, (const char *)frame->open.labels[i].data);
	fake->examples = frame->open.examples;
	fake->rank = frame->open.rank;
	if (fake->open_error != 0) {
		answer_error(link, fake->open_error, 0);
		return;
	}
	link->known = true;
	link->told = fake->stored;
	link->under_way = 0;
	answer(link, &reply);
}

static const uint8_t *
column(const struct wire_batch *batch, const char *name)
{
	for (size_t i = 0; i < batch->column_count; i++)
		if (batch->columns[i].name.size == strlen(name) &&
		    memcmp(batch->columns[i].name.data, name, strlen(name)) == 0)
			return batch->columns[i].data.data;
	return NULL;
}

static void
store_batch(struct fake *fake, const struct wire_batch *batch)
{
	const uint8_t *bits = column(batch, "correct");

	fake->batches++;
	fake->id_type = batch->id_type;
	fake->column_names[0] = '\0';
	for (size_t i = 0; i < batch->column_count; i++)
		snprintf(fake->column_names + strlen(fake->column_names),
		         sizeof(fake->column_names) - strlen(fake->column_names), "%.*s ",
		         (int)batch->columns[i].name.size, (const char *)batch->columns[i].name.data);
	if (batch->id_type == WIRE_STR && fake->first_string[0] == '\0')
		snprintf(fake->first_string, sizeof(fake->first_string), "%.*s", batch->ids.data[0],
		         (const char *)batch->ids.data + batch->rows);
	for (uint32_t r = 0; r < batch->rows && fake->rows < FAKE_MAX_ROWS; r++) {
		uint64_t id = 0;

		if (batch->id_type != WIRE_STR) {
			size_t width = batch->id_type == WIRE_U4 ? 4 : 8;

			memcpy(&id, batch->ids.data + r * width, width);
		}
		fake->ids[fake->rows] = id;
		fake->epochs[fake->rows] = batch->epoch;
		memcpy(&fake->gold_prob[fake->rows], column(batch, "gold_prob") + r * 4, 4);
		fake->correct[fake->rows] = bits[r / 8] >> r % 8 & 1;
		fake->rows++;
	}
}

static void
on_sequenced(struct link *link, const struct wire_frame *frame, uint64_t sequence, size_t size)
{
	struct fake *fake = link->fake;

	link->under_way += size;
	if (size > fake->largest_frame)
		fake->largest_frame = size;
	if (link->under_way > fake->largest_under_way)
		fake->largest_under_way = link->under_way;
	if (!link->known) {
		answer_error(link, WIRE_E_NO_SESSION, sequence);
	} else if (sequence <= fake->stored) {
		fake->repeats++;
		answer_ack(link);
	} else if (sequence > fake->stored + 1) {
		fake->gaps++;
		answer_error(link, WIRE_E_SEQUENCE, sequence);
	} else if (fake->next_error != 0) {
		if (fake->next_error == WIRE_E_REFUSED)
			fake->stored = sequence;
		if (fake->next_error == WIRE_E_NO_SESSION)
			link->known = false;
		answer_error(link, fake->next_error, sequence);
		fake->next_error = 0;
	} else {
		fake->stored = sequence;
		if (frame->kind == WIRE_BATCH)
			store_batch(fake, &frame->batch);
		if (frame->kind == WIRE_EXAMPLES) {
			fake->texts += frame->examples.rows;
			fake->text_bytes += frame->examples.texts.size;
		}
		fake->ends += frame->kind == WIRE_END_EPOCH;
		fake->closes += frame->kind == WIRE_CLOSE;
	}
}

static void
on_frame(struct link *link, const void *data, size_t size)
{
	struct wire_frame frame;

	if (wire_decode(link->decoder, data, size, &frame, NULL, NULL) < 0) {
		link->fake->undecodable++;
		return;
	}
	switch (frame.kind) {
	case WIRE_OPEN:
		on_open(link, &frame);
		break;
	case WIRE_BATCH:
	case WIRE_EXAMPLES:
	case WIRE_END_EPOCH:
	case WIRE_CLOSE:
		on_sequenced(link, &frame, frame.sequence, size);
		break;
	default:
		link->fake->pings++;
		if (link->known)
			answer_ack(link);
		else
			answer_error(link, WIRE_E_NO_SESSION, 0);
	}
}

/* True if a message was there. */
static bool
receive_one(struct link *link)
{
	zmq_msg_t peer, frame;
	bool got;

	zmq_msg_init(&peer);
	zmq_msg_init(&frame);
	got = zmq_msg_recv(&peer, link->socket, ZMQ_DONTWAIT) >= 0 && zmq_msg_recv(&frame, link->socket, 0) >= 0;
	if (got) {
		link->peer_size = zmq_msg_size(&peer);
		memcpy(link->peer, zmq_msg_data(&peer), link->peer_size);
		on_frame(link, zmq_msg_data(&frame), zmq_msg_size(&frame));
	}
	zmq_msg_close(&peer);
	zmq_msg_close(&frame);
	return got;
}

/* RFC 27: six parts or more come, six go. */
static void
answer_handshake(void *zap, const char *status)
{
	char parts[16][256];
	int sizes[16], count = 0, more = 1;
	size_t size = sizeof(more);

	while (more && count < 16) {
		sizes[count] = zmq_recv(zap, parts[count], sizeof(parts[count]), count == 0 ? ZMQ_DONTWAIT : 0);
		if (sizes[count] < 0)
			return;
		zmq_getsockopt(zap, ZMQ_RCVMORE, &more, &size);
		count++;
	}
	zmq_send(zap, "1.0", 3, ZMQ_SNDMORE);
	zmq_send(zap, parts[1], (size_t)sizes[1], ZMQ_SNDMORE);
	zmq_send(zap, status, 3, ZMQ_SNDMORE);
	zmq_send(zap, "", 0, ZMQ_SNDMORE);
	zmq_send(zap, "", 0, ZMQ_SNDMORE);
	zmq_send(zap, "", 0, 0);
}

static void *
fake_main(void *argument)
{
	struct fake *fake = argument;
	struct link link = {.fake = fake, .encoder = wire_encoder_new(), .decoder = wire_decoder_new()};
	void *context = zmq_ctx_new(), *zap = zmq_socket(context, ZMQ_REP);
	bool running = true;
	int none = 0;

	link.socket = zmq_socket(context, ZMQ_ROUTER);
	zmq_setsockopt(link.socket, ZMQ_LINGER, &none, sizeof(none));
	if (fake->queue > 0)
		zmq_setsockopt(link.socket, ZMQ_RCVHWM, &fake->queue, sizeof(fake->queue));
	zmq_setsockopt(link.socket, ZMQ_ZAP_DOMAIN, "test", fake->zap_status ? 4 : 0);
	if (zmq_bind(zap, "inproc://zeromq.zap.01") < 0 || zmq_bind(link.socket, fake->endpoint) < 0)
		abort();
	while (running) {
		zmq_pollitem_t item = {.socket = link.socket, .events = ZMQ_POLLIN};

		zmq_poll(&item, 1, 1);
		pthread_mutex_lock(&fake->mutex);
		fake->ready = true;
		if (fake->zap_status)
			answer_handshake(zap, fake->zap_status);
		while (fake->running && receive_one(&link))
			continue;
		if (fake->acknowledges && link.known && link.told < fake->stored)
			answer_ack(&link);
		running = fake->running;
		pthread_cond_broadcast(&fake->changed);
		pthread_mutex_unlock(&fake->mutex);
	}
	zmq_close(zap);
	zmq_close(link.socket);
	zmq_ctx_term(context);
	wire_encoder_free(link.encoder);
	wire_decoder_free(link.decoder);
	return NULL;
}

struct fake *
fake_new(void)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	char directory[] = "/tmp/portolan-test-XXXXXX";
	pthread_condattr_t attributes;

	assert_non_null(fake);
	assert_non_null(mkdtemp(directory));
	snprintf(fake->endpoint, sizeof(fake->endpoint), "ipc://%s/sock", directory);
	pthread_mutex_init(&fake->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&fake->changed, &attributes);
	fake->acknowledges = true;
	fake->credit = 8u << 20;
	return fake;
}

void
fake_start(struct fake *fake)
{
	fake->running = true;
	fake->ready = false;
	assert_int_equal(pthread_create(&fake->thread, NULL, fake_main, fake), 0);
	pthread_mutex_lock(&fake->mutex);
	while (!fake->ready)
		pthread_cond_wait(&fake->changed, &fake->mutex);
	pthread_mutex_unlock(&fake->mutex);
}

void
fake_stop(struct fake *fake)
{
	fake_set(fake, &fake->running, false);
	pthread_join(fake->thread, NULL);
}

void
fake_free(struct fake *fake)
{
	char *path = fake->endpoint + strlen("ipc://");

	*strrchr(path, '/') = '\0';
	assert_int_equal(remove_folder(path), 0);
	pthread_cond_destroy(&fake->changed);
	pthread_mutex_destroy(&fake->mutex);
	free(fake);
}

void
fake_wait(struct fake *fake, const uint64_t *counter, uint64_t least)
{
	struct timespec until;
	int status = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 20;
	pthread_mutex_lock(&fake->mutex);
	while (*counter < least && status == 0)
		status = pthread_cond_timedwait(&fake->changed, &fake->mutex, &until);
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(status, 0);
}

void
fake_set(struct fake *fake, bool *flag, bool value)
{
	pthread_mutex_lock(&fake->mutex);
	*flag = value;
	pthread_mutex_unlock(&fake->mutex);
}

uint64_t
fake_get(struct fake *fake, const uint64_t *counter)
{
	uint64_t value;

	pthread_mutex_lock(&fake->mutex);
	value = *counter;
	pthread_mutex_unlock(&fake->mutex);
	return value;
}

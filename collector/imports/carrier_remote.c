/*
 * carrier_remote.c: the local endpoint of the collector that serves the store.
 */
#include "carrier.h"

#include <endpoint.h>
#include <portolan/error.h>

#include <stdlib.h>
#include <zmq.h>

#define SEND_TIMEOUT_MS 30000
#define LINGER_MS 0

struct remote {
	struct carrier carrier; /* first: is cast back */
	struct endpoint endpoint;
	void *context, *dealer;
	wire_encoder *encoder;
	wire_decoder *decoder;
};

static int
remote_send(struct carrier *carrier, const struct wire_frame *frame, size_t *size, struct portolan_error *error)
{
	struct remote *remote = (struct remote *)carrier;
	struct wire_bytes bytes;
	int result = wire_encode(remote->encoder, frame, &bytes, error);

	if (result < 0)
		return result;
	*size = bytes.size;
	if (zmq_send(remote->dealer, bytes.data, bytes.size, 0) < 0)
		return error_set(error, PORTOLAN_E_NO_COLLECTOR, "cannot send to the collector of this store: %s",
		                 zmq_strerror(zmq_errno()));
	return 0;
}

static int
take_message(struct remote *remote, zmq_msg_t *message, struct portolan_error *error)
{
	struct wire_frame frame;
	int result = wire_decode(remote->decoder, zmq_msg_data(message), zmq_msg_size(message), &frame, NULL, error);

	if (result == 0)
		remote->carrier.answer(remote->carrier.context, &frame);
	return result;
}

static int
remote_receive(struct carrier *carrier, int timeout_ms, struct portolan_error *error)
{
	struct remote *remote = (struct remote *)carrier;
	zmq_pollitem_t item = {.socket = remote->dealer, .events = ZMQ_POLLIN};
	zmq_msg_t message;
	int result = 0;

	if (zmq_poll(&item, 1, timeout_ms) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot wait for the collector: %s",
		                 zmq_strerror(zmq_errno()));
	zmq_msg_init(&message);
	while (result == 0 && zmq_msg_recv(&message, remote->dealer, ZMQ_DONTWAIT) >= 0)
		result = take_message(remote, &message, error);
	zmq_msg_close(&message);
	return result;
}

/* The collector does that by itself. */
static int
remote_settle(struct carrier *carrier, struct portolan_error *error)
{
	(void)carrier;
	(void)error;
	return 0;
}

static void
remote_free(struct carrier *carrier)
{
	struct remote *remote = (struct remote *)carrier;

	if (remote->dealer)
		zmq_close(remote->dealer);
	if (remote->context)
		zmq_ctx_term(remote->context);
	wire_encoder_free(remote->encoder);
	wire_decoder_free(remote->decoder);
	endpoint_close(&remote->endpoint);
	free(remote);
}

static int
connect_dealer(struct remote *remote, const char *endpoint, struct portolan_error *error)
{
	int linger = LINGER_MS, timeout = SEND_TIMEOUT_MS;

	remote->context = zmq_ctx_new();
	remote->dealer = remote->context ? zmq_socket(remote->context, ZMQ_DEALER) : NULL;
	if (!remote->dealer || zmq_setsockopt(remote->dealer, ZMQ_LINGER, &linger, sizeof(linger)) ||
	    zmq_setsockopt(remote->dealer, ZMQ_SNDTIMEO, &timeout, sizeof(timeout)) ||
	    zmq_connect(remote->dealer, endpoint))
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot connect to %s: %s", endpoint,
		                 zmq_strerror(zmq_errno()));
	return 0;
}

int
carrier_remote_new(const char *store, struct carrier **carrier, struct portolan_error *error)
{
	struct remote *remote = calloc(1, sizeof(*remote));
	int result;

	if (!remote)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	remote->endpoint.directory = -1;
	remote->carrier = (struct carrier){
	        .send = remote_send, .receive = remote_receive, .settle = remote_settle, .free = remote_free};
	remote->encoder = wire_encoder_new();
	remote->decoder = wire_decoder_new();
	if (!remote->encoder || !remote->decoder)
		result = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	else if ((result = endpoint_open(store, &remote->endpoint, error)) == 0)
		result = connect_dealer(remote, remote->endpoint.text, error);
	if (result < 0)
		remote_free(&remote->carrier);
	else
		*carrier = &remote->carrier;
	return result;
}

/*
 * proof.c: makes libzmq do what the collector's sockets do: accept a connection, poll it, and read a message of it.
 *
 * Whether libzmq calls interpose.c depends on how this program was linked and on which libzmq is loaded: another
 * version, or one that was built otherwise, may poll by other means, or read by another function. So nothing is
 * assumed.
 */
#include "proof.h"

#include "interpose.h"

#include <errno.h>
#include <zmq.h>

#define WAIT_MS 1000

/* A message from one socket to the other. */
static void
send_over_loopback(void *receiver, void *sender)
{
	zmq_pollitem_t item = {.socket = receiver, .events = ZMQ_POLLIN};
	char endpoint[256];
	size_t size = sizeof(endpoint);

	if (zmq_bind(receiver, "tcp://127.0.0.1:*") == 0 &&
	    zmq_getsockopt(receiver, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0 && zmq_connect(sender, endpoint) == 0 &&
	    zmq_send(sender, "", 0, ZMQ_DONTWAIT) == 0)
		(void)zmq_poll(&item, 1, WAIT_MS);
}

bool
proof_succeeds(char *missing, size_t size)
{
	const int linger = 0;
	void *context = zmq_ctx_new();
	void *receiver = context ? zmq_socket(context, ZMQ_PULL) : NULL;
	void *sender = context ? zmq_socket(context, ZMQ_PUSH) : NULL;

	interpose_forget_calls();
	if (receiver && sender) {
		zmq_setsockopt(sender, ZMQ_LINGER, &linger, sizeof(linger));
		send_over_loopback(receiver, sender);
	}
	if (receiver)
		zmq_close(receiver);
	if (sender)
		zmq_close(sender);
	while (context && zmq_ctx_term(context) < 0 && zmq_errno() == EINTR)
		;
	return interpose_took_all(missing, size);
}

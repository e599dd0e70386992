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
#include <stdio.h>
#include <unistd.h>
#include <zmq.h>

/* Where this machine's loopback is down, connecting never ends. A machine that is busy may take long for a message. */
#define TCP_WAIT_MS 1000
#define IPC_WAIT_MS 10000

/* Sends a message from one socket to another; true when it has come. */
static bool
proof_send_to_itself(void *context, const char *address, long wait_ms)
{
	const int linger = 0;
	void *receiver = zmq_socket(context, ZMQ_PULL), *sender = zmq_socket(context, ZMQ_PUSH);
	zmq_pollitem_t item = {.socket = receiver, .events = ZMQ_POLLIN};
	char endpoint[256];
	size_t size = sizeof(endpoint);
	bool came = receiver && sender && zmq_setsockopt(sender, ZMQ_LINGER, &linger, sizeof(linger)) == 0 &&
	            zmq_bind(receiver, address) == 0 &&
	            zmq_getsockopt(receiver, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0 &&
	            zmq_connect(sender, endpoint) == 0 && zmq_send(sender, "", 0, ZMQ_DONTWAIT) == 0 &&
	            zmq_poll(&item, 1, wait_ms) == 1;

	if (receiver)
		zmq_close(receiver);
	if (sender)
		zmq_close(sender);
	return came;
}

bool
proof_succeeds(char *missing, size_t size)
{
	void *context = zmq_ctx_new();
	char socket_name[64];

	snprintf(socket_name, sizeof(socket_name), "ipc://@portoland-proof-%ld", (long)getpid());
	interpose_forget_calls();
	if (context && !proof_send_to_itself(context, "tcp://127.0.0.1:*", TCP_WAIT_MS))
		(void)proof_send_to_itself(context, socket_name, IPC_WAIT_MS);
	while (context && zmq_ctx_term(context) < 0 && zmq_errno() == EINTR)
		;
	return interpose_took_all(missing, size);
}

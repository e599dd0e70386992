/*
 * handshake.c: gives the socket of a run its keys, where the connection is encrypted (CURVE), and finds out why a
 * collector does not let it in. libzmq tells that to a monitor of the socket alone.
 *
 * What the monitor reports depends on where the handshake failed. The collector answers an unknown client key with a
 * status. If only one side uses keys, the side that reads the other's greeting first notices it. A wrong server key is
 * noticed by the collector. A collector that notices such a mistake closes the connection without a word. As it also
 * does so when it ends, only several such closes in a row count as a failure.
 */
#include "run.h"

#include "keys.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <errno.h>
#include <string.h>
#include <zmq.h>

#define BROKEN_ENOUGH 4
#define RETRY_MS 1000

static int
handshake_use_keys(void *socket, const char *directory, struct portolan_error *error)
{
	struct keys keys;
	int result = keys_read_client(directory, &keys, error);

	if (result < 0)
		return result;
	if (keys.exposed)
		fprintf(stderr, "portolan: others may read the secret key %s/client.key; chmod 600 it\n", directory);
	if (zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, keys.server, KEYS_TEXT_SIZE) < 0 ||
	    zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, keys.own, KEYS_TEXT_SIZE) < 0 ||
	    zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, keys.secret, KEYS_TEXT_SIZE) < 0)
		result = error_set(error, PORTOLAN_E_SYSTEM, "keys %.300s: %s", directory, zmq_strerror(zmq_errno()));
	keys_forget(&keys);
	return result;
}

int
handshake_init(struct portolan_run *run, const char *keys, struct portolan_error *error)
{
	const int events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
	                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
	struct handshake *handshake = &run->handshake;
	char address[64];
	int result = 0;

	handshake->keyed = keys != NULL;
	if (keys)
		result = handshake_use_keys(run->socket, keys, error);
	if (result < 0)
		return result;
	snprintf(address, sizeof(address), "inproc://portolan-handshake-%p", run->socket);
	handshake->monitor = zmq_socket(run->context, ZMQ_PAIR);
	if (!handshake->monitor || zmq_socket_monitor(run->socket, address, events) < 0 ||
	    zmq_connect(handshake->monitor, address) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot watch a socket: %s", zmq_strerror(zmq_errno()));
	return 0;
}

/* libzmq sends events until the monitored socket is destroyed, which its own threads do some time after zmq_close(). An
 * event that nobody reads would hold up libzmq's I/O thread until the context ends, and its memory would be lost. So
 * the events are stopped before the socket is closed.  Before that, all waiting events are read: nobody may have read
 * them since the session opened or ended. When 2,000 of them wait, libzmq's I/O thread waits for room, and holds the
 * lock that zmq_socket_monitor() needs. */
void
handshake_deinit(struct portolan_run *run)
{
	char part;

	if (!run->handshake.monitor)
		return;
	while (zmq_recv(run->handshake.monitor, &part, sizeof(part), ZMQ_DONTWAIT) >= 0 || zmq_errno() == EINTR)
		;
	zmq_socket_monitor(run->socket, NULL, 0);
	zmq_close(run->handshake.monitor);
	run->handshake.monitor = NULL;
}

static void
handshake_note_failure(struct portolan_run *run, const char *why)
{
	run->handshake.failed = true;
	error_set(&run->handshake.failure, PORTOLAN_E_REFUSED, "the collector at %s %s", run->endpoint, why);
}

/* The status for a connection beyond the collector's limit: ZAP's "internal error" (RFC 27). */
#define STATUS_TOO_MANY 500

static void
handshake_take_event(struct portolan_run *run, unsigned event, uint32_t value)
{
	struct handshake *handshake = &run->handshake;

	handshake->may_pass = event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH && value == STATUS_TOO_MANY;
	switch (event) {
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		handshake->failed = false;
		handshake->broken = 0;
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
		handshake_note_failure(
		        run,
		        handshake->keyed
		                ? "uses no keys, or is no collector; leave keys out, or start it with --keys"
		                : "wants keys, or is no collector; give keys (a directory that portolan keygen has "
		                  "made)");
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
		handshake_note_failure(
		        run,
		        handshake->may_pass
		                ? "has too many connections (its --max-memory and limit of open files set how many); trying again"
		                : "does not know this client's key; put its public key into the clients "
		                  "directory there");
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
		if (++handshake->broken >= BROKEN_ENOUGH)
			handshake_note_failure(
			        run, handshake->keyed ? "hangs up: it uses no keys, or server.pub is not its public key"
			                              : "hangs up: it wants keys (a directory that portolan keygen has "
			                                "made), or has too many clients");
		break;
	}
}

void
handshake_watch(struct portolan_run *run)
{
	struct handshake *handshake = &run->handshake;
	int64_t now = clock_ms();
	uint32_t value;
	uint16_t event;
	char part[256];
	int size;

	/* An event has two parts: its number (two bytes) and its value (four bytes); and an address. */
	while ((size = zmq_recv(handshake->monitor, part, sizeof(part), ZMQ_DONTWAIT)) >= 0) {
		if (size >= (int)(sizeof(event) + sizeof(value))) {
			memcpy(&event, part, sizeof(event));
			memcpy(&value, part + sizeof(event), sizeof(value));
			handshake_take_event(run, event, value);
		}
		zmq_recv(handshake->monitor, part, sizeof(part), ZMQ_DONTWAIT);
	}
	if (!handshake->failed)
		return;
	if (now - handshake->retried >= RETRY_MS) { /* libzmq does not connect again after a refusal */
		handshake->retried = now;
		zmq_disconnect(run->socket, run->endpoint);
		zmq_connect(run->socket, run->endpoint);
	}
	/* While the run opens, a refusal ends the opening, unless its reason may pass by itself. Later, frames wait,
	 * and the user may mend the reason meanwhile. */
	if (run->session.opened_count == 0 && !run->session.offline && !handshake->may_pass) {
		run->session.state = SESSION_FAILED;
		run->session.failure = handshake->failure;
	} else {
		error_set(&run->session.complaint, PORTOLAN_E_NO_COLLECTOR, "%s", handshake->failure.message);
	}
}

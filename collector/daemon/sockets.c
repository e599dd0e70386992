/*
 * sockets.c: libzmq ROUTER sockets and their options.
 *
 * Messages are bounded by WIRE_MAX_FRAME before they are in memory (a longer one costs its sender the connection), and
 * queues by count. ROUTER_MANDATORY makes an unroutable reply an error instead of silence.
 *
 * With keys, tcp endpoints take CURVE connections only. libzmq asks a handler whose keys are known, and admits every
 * key when there is none: so it is bound before any endpoint, and closed after them. No answer is a refusal.
 */
#include "sockets.h"

#include "allow_list.h"
#include "guard.h"
#include "log.h"
#include "zap.h"

#include <keys.h>
#include <portolan/error.h>
#include <portolan/wire.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define ENDPOINTS_MAX 32
#define RECEIVE_QUEUE 4 /* messages per connection, before TCP holds the sender back */
#define SEND_QUEUE 100
#define RECEIVE_BUFFER (64 << 10) /* bytes per connection in the kernel, and so at a time: others get their turn */
#define HEADER_BYTES 9            /* of a message as it is transported */
#define CURVE_BYTES 33            /* added by encryption */
#define LINGER_MS 1000
#define HEARTBEAT_MS 5000
#define HEARTBEAT_TIMEOUT_MS 15000
#define HANDSHAKE_MS 5000

struct endpoint {
	void *socket;
	char text[256];
	char path[128]; /* of the socket file, which libzmq leaves behind; empty: none */
};

struct sockets {
	void *context;
	void *routers[SOCKETS_COUNT]; /* SOCKETS_KEYED: NULL without keys */
	struct endpoint endpoints[ENDPOINTS_MAX];
	size_t endpoint_count;
	unsigned turn; /* which router is asked first */
	struct zap zap;
	struct guard *guard; /* of the sockets that strangers reach */
	zmq_msg_t body;
};

static int
set_option(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value));
}

static int
make_router(struct sockets *sockets, unsigned which)
{
	const uint64_t threads = which == SOCKETS_LOCAL ? 1 : 2; /* a mask: the first, or the second */
	const int64_t most = WIRE_MAX_FRAME;
	void **router = &sockets->routers[which];

	*router = zmq_socket(sockets->context, ZMQ_ROUTER);
	if (!*router)
		return -1;
	return zmq_setsockopt(*router, ZMQ_MAXMSGSIZE, &most, sizeof(most)) ||
	       zmq_setsockopt(*router, ZMQ_AFFINITY, &threads, sizeof(threads)) ||
	       set_option(*router, ZMQ_ROUTER_MANDATORY, 1) || set_option(*router, ZMQ_LINGER, LINGER_MS) ||
	       set_option(*router, ZMQ_RCVHWM, RECEIVE_QUEUE) || set_option(*router, ZMQ_SNDHWM, SEND_QUEUE) ||
	       (which != SOCKETS_LOCAL && set_option(*router, ZMQ_RCVBUF, RECEIVE_BUFFER)) ||
	       set_option(*router, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS) ||
	       set_option(*router, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS) ||
	       set_option(*router, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
}

/* The domain makes libzmq ask the handler. */
static int
make_keyed_router(struct sockets *sockets, const struct keys *keys)
{
	void **router = &sockets->routers[SOCKETS_KEYED];

	return make_router(sockets, SOCKETS_KEYED) || set_option(*router, ZMQ_CURVE_SERVER, 1) ||
	       zmq_setsockopt(*router, ZMQ_CURVE_SECRETKEY, keys->secret, KEYS_TEXT_SIZE) ||
	       zmq_setsockopt(*router, ZMQ_ZAP_DOMAIN, ZAP_DOMAIN, strlen(ZAP_DOMAIN));
}

/* The directory is there, but not what a collector needs: one made by hand, or a client's. */
static int
check_server_key(const char *directory, struct portolan_error *error)
{
	char path[PATH_MAX];

	if (access(directory, F_OK) != 0 ||
	    snprintf(path, sizeof(path), "%s/server.key", directory) >= (int)sizeof(path) || access(path, F_OK) == 0 ||
	    errno != ENOENT)
		return 0;
	return error_set(
	        error, PORTOLAN_E_SYSTEM,
	        "keys: there is no server.key in %.300s: portolan keygen DIR makes a directory of a collector's "
	        "keys",
	        directory);
}

static int
open_keys(struct sockets *sockets, const char *directory, struct portolan_error *error)
{
	struct keys keys = {0};
	char list[PATH_MAX];
	int result = check_server_key(directory, error);

	if (result == 0)
		result = keys_read_server(directory, &keys, error);

	if (result == 0 && snprintf(list, sizeof(list), "%s/clients", directory) >= (int)sizeof(list))
		result = error_set(error, PORTOLAN_E_INVALID, "keys: the directory's path is too long");
	if (result == 0)
		result = zap_open(&sockets->zap, sockets->context, list, error);
	if (result == 0 && keys.exposed)
		log_line("others may read the secret key %s/server.key; chmod 600 it", directory);
	if (result == 0 && make_keyed_router(sockets, &keys) != 0)
		result = error_set(error, PORTOLAN_E_SYSTEM, "cannot use keys: %s", zmq_strerror(zmq_errno()));
	keys_forget(&keys);
	if (result == 0)
		allow_list_check(list);
	return result;
}

int
sockets_open(struct sockets **sockets, const char *keys, size_t max_memory, struct portolan_error *error)
{
	struct sockets *opened = calloc(1, sizeof(*opened));
	int result = -1;

	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	zmq_msg_init(&opened->body);
	opened->context = zmq_ctx_new();
	/* One for the owner's own clients, whom strangers then do not slow down, and one for all others. */
	if (opened->context)
		zmq_ctx_set(opened->context, ZMQ_IO_THREADS, 2);
	if (opened->context)
		result = make_router(opened, SOCKETS_LOCAL) || make_router(opened, SOCKETS_PLAIN);
	if (result) {
		error_set(error, PORTOLAN_E_SYSTEM, "cannot make sockets: %s", zmq_strerror(zmq_errno()));
		sockets_close(opened);
		return PORTOLAN_E_SYSTEM;
	}
	result = keys ? open_keys(opened, keys, error) : 0;
	if (result == 0)
		result = guard_start(&opened->guard, opened->context, opened->routers + SOCKETS_PLAIN,
		                     SOCKETS_COUNT - SOCKETS_PLAIN, max_memory, error);
	if (result < 0)
		sockets_close(opened);
	else
		*sockets = opened;
	return result;
}

void
sockets_unbind(struct sockets *sockets)
{
	for (size_t i = 0; i < sockets->endpoint_count; i++) {
		const struct endpoint *endpoint = &sockets->endpoints[i];

		/* First the file: whoever looks for a collector from now on shall find none. */
		if (endpoint->path[0])
			unlink(endpoint->path);
		zmq_unbind(endpoint->socket, endpoint->text);
	}
	sockets->endpoint_count = 0;
}

void
sockets_close(struct sockets *sockets)
{
	if (!sockets)
		return;
	sockets_unbind(sockets);
	zmq_msg_close(&sockets->body);
	guard_stop(sockets->guard, sockets->routers + SOCKETS_PLAIN, SOCKETS_COUNT - SOCKETS_PLAIN);
	for (unsigned i = 0; i < SOCKETS_COUNT; i++)
		if (sockets->routers[i])
			zmq_close(sockets->routers[i]);
	zap_close(&sockets->zap);
	while (sockets->context && zmq_ctx_term(sockets->context) < 0 && zmq_errno() == EINTR)
		;
	free(sockets);
}

static int
bind_failed(const struct address *address, struct portolan_error *error)
{
	int code = zmq_errno();

	if (code == EADDRINUSE)
		return error_set(error, PORTOLAN_E_SYSTEM,
		                 "address %s is in use; stop what listens there, or give another with --listen",
		                 address->text);
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot listen on %s: %s", address->text, zmq_strerror(code));
}

static bool
is_keyed(const struct sockets *sockets, const struct address *address)
{
	return sockets->routers[SOCKETS_KEYED] && !address->is_ipc;
}

int
sockets_bind(struct sockets *sockets, const struct address *address, bool local, char *bound, size_t size,
             struct portolan_error *error)
{
	void *router = sockets->routers[local                        ? SOCKETS_LOCAL
	                                : is_keyed(sockets, address) ? SOCKETS_KEYED
	                                                             : SOCKETS_PLAIN];
	struct endpoint *endpoint = &sockets->endpoints[sockets->endpoint_count];
	size_t length = sizeof(endpoint->text);
	mode_t mask;
	int result;

	if (sockets->endpoint_count == ENDPOINTS_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "more than %d endpoints", ENDPOINTS_MAX);
	result = address_check_free(address, error);
	if (result < 0)
		return result;
	set_option(router, ZMQ_IPV6, address->ipv6);
	/* The file is made by this call, in this thread. */
	mask = umask(0177);
	result = zmq_bind(router, address->text);
	umask(mask);
	if (result < 0)
		return bind_failed(address, error);
	if (zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, endpoint->text, &length) < 0)
		snprintf(endpoint->text, sizeof(endpoint->text), "%s", address->text);
	endpoint->socket = router;
	snprintf(endpoint->path, sizeof(endpoint->path), "%s", address->path ? address->path : "");
	sockets->endpoint_count++;
	snprintf(bound, size, "%s", endpoint->text);
	return 0;
}

int
sockets_wait(struct sockets *sockets, int fd, int timeout_ms, int64_t now, bool *fd_ready, struct portolan_error *error)
{
	zmq_pollitem_t items[] = {
	        {.fd = fd, .events = ZMQ_POLLIN},
	        {.socket = sockets->routers[SOCKETS_LOCAL], .events = ZMQ_POLLIN},
	        {.socket = sockets->routers[SOCKETS_PLAIN], .events = ZMQ_POLLIN},
	        {.socket = sockets->routers[SOCKETS_KEYED], .events = ZMQ_POLLIN},
	        {.socket = sockets->zap.socket, .events = ZMQ_POLLIN},
	};

	*fd_ready = false;
	if (zmq_poll(items, sockets->zap.socket ? 5 : 3, timeout_ms) < 0) {
		if (zmq_errno() == EINTR)
			return 0;
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot wait for messages: %s", zmq_strerror(zmq_errno()));
	}
	*fd_ready = items[0].revents & ZMQ_POLLIN;
	if (items[4].revents)
		zap_answer(&sockets->zap, now);
	return 0;
}

/* The part after the routing id; a message of several parts is read to its end and given as NULL. */
static void
receive_body(struct sockets *sockets, void *router, struct sockets_message *message)
{
	bool single = true;

	message->data = NULL;
	message->size = 0;
	if (zmq_msg_recv(&sockets->body, router, ZMQ_DONTWAIT) < 0)
		return;
	while (zmq_msg_more(&sockets->body) && zmq_msg_recv(&sockets->body, router, ZMQ_DONTWAIT) >= 0)
		single = false;
	if (single) {
		message->data = zmq_msg_data(&sockets->body);
		message->size = zmq_msg_size(&sockets->body);
	}
}

/* Takes one message from the router; false: there is none. */
static bool
receive_from(struct sockets *sockets, unsigned which, struct sockets_message *message)
{
	void *router = sockets->routers[which];
	int size = router ? zmq_recv(router, message->peer.id, sizeof(message->peer.id), ZMQ_DONTWAIT) : -1;

	if (size < 0)
		return false;
	message->peer.socket = which;
	message->peer.size = (uint32_t)size;
	receive_body(sockets, router, message);
	message->connection = which == SOCKETS_LOCAL ? -1 : zmq_msg_get(&sockets->body, ZMQ_SRCFD);
	return true;
}

bool
sockets_receive(struct sockets *sockets, struct sockets_message *message)
{
	for (unsigned i = 0; i < SOCKETS_COUNT; i++) {
		unsigned which = (sockets->turn + i) % SOCKETS_COUNT;
		size_t more = HEADER_BYTES + (which == SOCKETS_KEYED ? CURVE_BYTES : 0);

		while (receive_from(sockets, which, message)) {
			sockets->turn = which + 1;
			if (guard_took(sockets->guard, message->connection, zmq_msg_size(&sockets->body) + more))
				return true;
		}
	}
	return false;
}

void
sockets_judge(struct sockets *sockets, const struct sockets_message *message, enum guard_verdict verdict)
{
	guard_judge(sockets->guard, message->connection, zmq_msg_size(&sockets->body), verdict);
}

const char *
sockets_address(struct sockets *sockets)
{
	const char *address = zmq_msg_gets(&sockets->body, "Peer-Address");

	return address && *address ? address : "a socket file";
}

bool
sockets_send(struct sockets *sockets, const struct peer *peer, const void *data, size_t size)
{
	void *router = sockets->routers[peer->socket];

	return zmq_send(router, peer->id, peer->size, ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0 &&
	       zmq_send(router, data, size, ZMQ_DONTWAIT) >= 0;
}

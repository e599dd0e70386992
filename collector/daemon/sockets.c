/*
 * sockets.c: opens, binds and reads for the receiver the libzmq ROUTER sockets to which clients connect.
 *
 * Messages are bounded by WIRE_MAX_FRAME before they are in memory (a longer one costs its sender the connection), and
 * queues by count. ROUTER_MANDATORY makes an unroutable reply an error instead of silence. There are no heartbeats:
 * clients send `ping`; and in libzmq 4.3.4 a heartbeat's timer that writes to a connection which is held back, and
 * whose peer has gone, aborts the process (`Assertion failed: !_io_error`). The time-out of handshakes cannot do that:
 * it only closes connections. See interpose.c for heartbeats that a peer sends.
 *
 * libzmq asks admission.c about every connection, and would admit all of them if there were no admission. So the
 * admission is opened before any endpoint is bound, and closed after all are unbound.
 */
#include "sockets.h"

#include "admission.h"
#include "interpose.h"
#include "log.h"
#include "shares.h"

#include <keys.h>
#include <portolan/clock.h>
#include <portolan/error.h>

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define ENDPOINTS_MAX 32
#define SEND_QUEUE 100
#define RECEIVE_BUFFER (64 << 10) /* bytes per connection in the kernel, and so per read: others get their turn */
#define LINGER_MS 1000
#define SMALL_BYTES (8 << 10)    /* a message below this shares libzmq's buffer with others, and is copied out of it */
#define MAPPED_BYTES (512 << 10) /* larger than a frame: mapping memory for each would take longer than receiving it */

struct bound {
	void *socket;
	char text[256];
	char path[128]; /* of the socket file, which libzmq leaves behind; empty: none */
};

struct sockets {
	void *context;
	void *routers[SOCKETS_COUNT]; /* SOCKETS_KEYED: NULL without keys */
	struct bound endpoints[ENDPOINTS_MAX];
	size_t endpoint_count;
	unsigned turn; /* the router that is read first */
	struct admission admission;
};

_Static_assert(SOCKETS_PLAIN == PEER_STRANGERS_SOCKET, "the one that anybody can use");
_Static_assert(sizeof(((struct limits *)0)->file) == ALLOW_LIST_NAME, "it is the name of a file of the list");
_Static_assert(sizeof(zmq_msg_t) <= sizeof(((struct arrival *)0)->message), "an arrival has room for a message");

static int
sockets_set_option(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value));
}

static int
sockets_set_options(void *router, unsigned which)
{
	const uint64_t threads = which == SOCKETS_LOCAL ? 1 : 2; /* a mask of I/O threads: the first, or the second */
	const int64_t most = WIRE_MAX_FRAME;

	return zmq_setsockopt(router, ZMQ_MAXMSGSIZE, &most, sizeof(most)) ||
	       zmq_setsockopt(router, ZMQ_AFFINITY, &threads, sizeof(threads)) ||
	       sockets_set_option(router, ZMQ_ROUTER_MANDATORY, 1) ||
	       sockets_set_option(router, ZMQ_LINGER, LINGER_MS) ||
	       sockets_set_option(router, ZMQ_RCVHWM, SHARES_RECEIVE_QUEUE) ||
	       sockets_set_option(router, ZMQ_SNDHWM, SEND_QUEUE) ||
	       (which != SOCKETS_LOCAL && sockets_set_option(router, ZMQ_RCVBUF, RECEIVE_BUFFER)) ||
	       sockets_set_option(router, ZMQ_HANDSHAKE_IVL, ADMISSION_HANDSHAKE_MS);
}

/* Makes a router; its clients need a key if `keys` is not NULL. */
static int
sockets_make_router(struct sockets *sockets, unsigned which, const struct keys *keys, struct portolan_error *error)
{
	void *router = sockets->routers[which] = zmq_socket(sockets->context, ZMQ_ROUTER);

	if (!router || sockets_set_options(router, which) ||
	    (keys && (sockets_set_option(router, ZMQ_CURVE_SERVER, 1) ||
	              zmq_setsockopt(router, ZMQ_CURVE_SECRETKEY, keys->secret, KEYS_TEXT_SIZE))))
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make sockets: %s", zmq_strerror(zmq_errno()));
	return admission_watch(&sockets->admission, sockets->context, router, which, keys, error);
}

/* Checks that a directory of keys that exists is a collector's: it may have been made by hand, or be a client's. */
static int
sockets_check_server_key(const char *directory, struct portolan_error *error)
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
sockets_open_routers(struct sockets *sockets, const char *directory, size_t max_memory, struct portolan_error *error)
{
	struct keys keys = {0};
	char list[PATH_MAX] = "";
	int result = directory ? sockets_check_server_key(directory, error) : 0;

	if (result == 0 && directory)
		result = keys_read_server(directory, &keys, error);
	if (result == 0 && directory && snprintf(list, sizeof(list), "%s/clients", directory) >= (int)sizeof(list))
		result = error_set(error, PORTOLAN_E_INVALID, "keys: the directory's path is too long");
	if (result == 0)
		result = admission_open(&sockets->admission, sockets->context, max_memory, directory ? list : NULL,
		                        error);
	if (result == 0 && keys.exposed)
		log_line("others may read the secret key %s/server.key; chmod 600 it", directory);
	for (unsigned which = 0; which < SOCKETS_COUNT && result == 0; which++)
		if (which != SOCKETS_KEYED || directory)
			result = sockets_make_router(sockets, which, which == SOCKETS_KEYED ? &keys : NULL, error);
	keys_forget(&keys);
	return result;
}

int
sockets_open(struct sockets **sockets, const char *keys, size_t max_memory, struct portolan_error *error)
{
	struct sockets *opened = calloc(1, sizeof(*opened));
	int result;

	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	/* Else each commit gives the pages of its transaction back, and the next one faults them in again. A thread's
	 * heap keeps no more than a commit takes; server_tick() gives that back too when memory is above half of what
	 * is allowed. */
	mallopt(M_TRIM_THRESHOLD, (int)shares_commit(max_memory));
	opened->context = zmq_ctx_new();
	/* One I/O thread for the owner's own clients, so that strangers do not slow them down, and one for all
	 * others. */
	if (!opened->context || zmq_ctx_set(opened->context, ZMQ_IO_THREADS, 2) < 0)
		result = error_set(error, PORTOLAN_E_SYSTEM, "cannot make sockets: %s", zmq_strerror(zmq_errno()));
	else
		result = sockets_open_routers(opened, keys, max_memory, error);
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
		const struct bound *endpoint = &sockets->endpoints[i];

		/* Removes the socket file first, so that a client that looks for a collector from now on finds none. */
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
	admission_close(&sockets->admission, sockets->routers);
	for (unsigned i = 0; i < SOCKETS_COUNT; i++)
		if (sockets->routers[i])
			zmq_close(sockets->routers[i]);
	while (sockets->context && zmq_ctx_term(sockets->context) < 0 && zmq_errno() == EINTR)
		;
	free(sockets);
}

static int
sockets_bind_failed(const struct address *address, struct portolan_error *error)
{
	int code = zmq_errno();

	if (code == EADDRINUSE)
		return error_set(error, PORTOLAN_E_SYSTEM,
		                 "address %s is in use; stop what listens there, or give another with --listen",
		                 address->text);
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot listen on %s: %s", address->text, zmq_strerror(code));
}

int
sockets_bind(struct sockets *sockets, const struct address *address, char *bound, size_t size,
             struct portolan_error *error)
{
	void *router = sockets->routers[address->is_ipc                   ? SOCKETS_LOCAL
	                                : sockets->routers[SOCKETS_KEYED] ? SOCKETS_KEYED
	                                                                  : SOCKETS_PLAIN];
	struct bound *endpoint = &sockets->endpoints[sockets->endpoint_count];
	size_t length = sizeof(endpoint->text);
	mode_t mask;
	int result;

	if (sockets->endpoint_count == ENDPOINTS_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "more than %d endpoints", ENDPOINTS_MAX);
	result = address_check_free(address, error);
	if (result < 0)
		return result;
	sockets_set_option(router, ZMQ_IPV6, address->ipv6);
	/* zmq_bind() makes the socket file, in this thread. */
	mask = umask(0177);
	result = zmq_bind(router, address->text);
	umask(mask);
	if (result < 0)
		return sockets_bind_failed(address, error);
	if (zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, endpoint->text, &length) < 0)
		snprintf(endpoint->text, sizeof(endpoint->text), "%s", address->text);
	endpoint->socket = router;
	snprintf(endpoint->path, sizeof(endpoint->path), "%s", address->path ? address->path : "");
	sockets->endpoint_count++;
	snprintf(bound, size, "%s", endpoint->text);
	return 0;
}

int
sockets_wait(struct sockets *sockets, const int fds[SOCKETS_FDS], int timeout_ms, struct portolan_error *error)
{
	struct admission *admission = &sockets->admission;
	zmq_pollitem_t items[SOCKETS_FDS + 1 + 2 * SOCKETS_COUNT] = {{.socket = admission->handler}};
	int count = 1;

	for (int i = 0; i < SOCKETS_FDS; i++)
		items[count++].fd = fds[i];
	for (int i = 0; i < SOCKETS_COUNT && sockets->routers[i]; i++) {
		items[count++].socket = sockets->routers[i];
		items[count++].socket = admission->monitors[i];
	}
	for (int i = 0; i < count; i++)
		items[i].events = ZMQ_POLLIN;
	if (zmq_poll(items, count, timeout_ms) < 0 && zmq_errno() != EINTR)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot wait for messages: %s", zmq_strerror(zmq_errno()));
	admission_answer(admission, clock_ms());
	return 0;
}

void
arrival_free_data(struct arrival *arrival)
{
	if (arrival->is_moved)
		zmq_msg_close((zmq_msg_t *)arrival->message);
	arrival->is_moved = false;
	arrival->data = NULL;
}

void
arrival_free(struct arrival *arrival)
{
	if (!arrival)
		return;
	arrival_free_data(arrival);
	free(arrival->limits);
	free(arrival);
}

static struct arrival *
sockets_make_arrival(zmq_msg_t *message, bool single, bool keyed)
{
	const size_t size = single ? zmq_msg_size(message) : 0;
	const char *address = zmq_msg_gets(message, "Peer-Address");
	const char *key = keyed ? zmq_msg_gets(message, ADMISSION_KEY) : NULL;
	struct arrival *arrival = malloc(sizeof(*arrival) + (size < SMALL_BYTES ? size : 0));

	if (!arrival)
		return NULL;
	*arrival = (struct arrival){.size = size};
	snprintf(arrival->address, sizeof(arrival->address), "%s", address && *address ? address : "a socket file");
	snprintf(arrival->peer.key, sizeof(arrival->peer.key), "%s", key ? key : "");
	if (!single)
		return arrival;
	if (size < SMALL_BYTES) {
		memcpy(arrival->copy, zmq_msg_data(message), size);
		arrival->data = arrival->copy;
		return arrival;
	}
	zmq_msg_init((zmq_msg_t *)arrival->message);
	zmq_msg_move((zmq_msg_t *)arrival->message, message);
	arrival->data = zmq_msg_data((zmq_msg_t *)arrival->message);
	arrival->is_moved = true;
	return arrival;
}

/* Reads the part after the routing id; a message of several parts is read to its end, and returned without data. NULL:
 * out of memory; the message is then lost. */
static struct arrival *
sockets_receive_body(void *router, bool keyed)
{
	struct arrival *arrival;
	bool single = true;
	zmq_msg_t body;

	zmq_msg_init(&body);
	if (zmq_msg_recv(&body, router, ZMQ_DONTWAIT) < 0)
		return NULL;
	while (zmq_msg_more(&body) && zmq_msg_recv(&body, router, ZMQ_DONTWAIT) >= 0)
		single = false;
	interpose_message_taken(zmq_msg_get(&body, ZMQ_SRCFD));
	arrival = sockets_make_arrival(&body, single, keyed);
	zmq_msg_close(&body);
	return arrival;
}

struct arrival *
sockets_receive(struct sockets *sockets, bool *missed)
{
	for (unsigned i = 0; i < SOCKETS_COUNT; i++) {
		unsigned which = (sockets->turn + i) % SOCKETS_COUNT;
		void *router = sockets->routers[which];
		struct peer peer = {.socket = which};
		int size = router ? zmq_recv(router, peer.id, sizeof(peer.id), ZMQ_DONTWAIT) : -1;
		struct arrival *arrival = size < 0 ? NULL : sockets_receive_body(router, which == SOCKETS_KEYED);

		*missed |= size >= 0 && !arrival;
		if (!arrival)
			continue;
		peer.size = (uint32_t)size;
		memcpy(peer.key, arrival->peer.key, sizeof(peer.key));
		arrival->peer = peer;
		sockets->turn = which + 1;
		return arrival;
	}
	return NULL;
}

enum sockets_standing
sockets_find_limits(struct sockets *sockets, struct arrival *arrival)
{
	const struct allow_list_key *key;

	if (arrival->peer.socket != SOCKETS_KEYED)
		return SOCKETS_MAY;
	key = allow_list_find(&sockets->admission.list, arrival->peer.key);
	if (!key)
		return allow_list_is_unsure(&sockets->admission.list, arrival->peer.key) ? SOCKETS_LATER
		                                                                         : SOCKETS_MAY_NOT;
	if (!rights_are_limited(&key->rights))
		return SOCKETS_MAY;
	if (!arrival->limits)
		arrival->limits = malloc(sizeof(*arrival->limits));
	if (!arrival->limits)
		return SOCKETS_LATER;
	arrival->limits->rights = key->rights;
	memcpy(arrival->limits->file, key->name, sizeof(key->name));
	return SOCKETS_MAY;
}

const char *
sockets_trouble(const struct sockets *sockets)
{
	const struct portolan_error *trouble = &sockets->admission.list.trouble;

	return trouble->code ? trouble->message : "out of memory";
}

bool
sockets_send(struct sockets *sockets, const struct peer *peer, const void *data, size_t size)
{
	void *router = sockets->routers[peer->socket];
	bool is_sent;
	zmq_msg_t body;

	/* The body gets its memory first. If the id alone were sent, what is sent next would go to this peer. */
	if (zmq_msg_init_size(&body, size) < 0)
		return false;
	memcpy(zmq_msg_data(&body), data, size);
	is_sent = zmq_send(router, peer->id, peer->size, ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0 &&
	          zmq_msg_send(&body, router, ZMQ_DONTWAIT) >= 0;
	zmq_msg_close(&body);
	return is_sent;
}

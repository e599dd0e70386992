/*
 * interpose.c: protects the collector from its peers where libzmq 4.3.4 has no option for that: replaces some of the
 * system's functions, in three ways. The functions below have the names of the system's, so libzmq calls them.
 *
 * 1. A peer must not abort the process. When a connection's queue is full, libzmq stops polling its input: it asks for
 * no events. But epoll reports errors and hang-ups even then. libzmq then notes that the connection has failed, and
 * continues with the data it has read. If these contain a heartbeat of the peer (a PING of ZMTP, which any peer may
 * send), it answers, and runs into `Assertion failed: !_io_error`. Without this file
 * tests/integration/hostile_stalls.py does this in a second. So a descriptor for which libzmq asks for no events is
 * removed from epoll until it asks for some. And if a descriptor can be read or written, only that is reported, as
 * reading or writing finds the error anyway. So libzmq sees the failure of a connection only after it polls the
 * connection again, and handles that well.
 *
 * 2. A message of many parts must not fill the memory. libzmq bounds the size of a part and the number of whole
 * messages, but not the number of parts: a peer that never sends the last one has all of them kept. So this file counts
 * the bytes that a connection has sent since its last whole message was taken, and ends a connection that sent more
 * than UNFINISHED_MOST.
 *
 * 3. Connections must not use up the descriptors that the store and its files need. When accept() fails with EMFILE,
 * libzmq's tcp listener asks again and again, as the connection still waits, and its listener on a socket file aborts
 * the process. So a connection beyond the limit is accepted and closed at once, and libzmq takes it for one that its
 * peer gave up. The system gives out the lowest free descriptor, so a high number means that as many are open.
 *
 * Without one of these functions the collector must not be open to others. Whether libzmq calls them depends on how
 * this program was linked and on which libzmq is loaded: another version, or one that was built otherwise, may poll by
 * other means, or read by another function. So nothing is assumed: interpose_is_proven() makes libzmq do what the
 * collector's sockets do (accept a connection, poll it, and read a message of it), and each of the functions notes that
 * it was called.
 */
#include "interpose.h"

#include "shares.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zmq.h>

/* The most bytes that libzmq holds of a connection whose messages are all whole: its queue, one message that it has
 * taken out of it, one that is read in part, and buffers. */
#define UNFINISHED_MOST ((SHARES_RECEIVE_QUEUE + 2) * (uint32_t)WIRE_MAX_FRAME + (uint32_t)SHARES_CONNECTION)

/* Where this machine's loopback is down, connecting never ends. A machine that is busy may take long for a message. */
#define TCP_WAIT_MS 1000
#define IPC_WAIT_MS 10000

static atomic_uint unfinished[INTERPOSE_DESCRIPTORS]; /* bytes + 1; 0: not a connection that was accepted */
static atomic_ullong ended, surplus;
static atomic_int limit = INT_MAX;

enum { EPOLL_CTL, EPOLL_WAIT, ACCEPT4, RECV, CALLS };
static const char *const call_names[CALLS] = {"epoll_ctl", "epoll_wait", "accept4", "recv"};
static atomic_bool came[CALLS];

/* Notes that a call came here. It writes only once: threads share the line of the cache. */
static void
interpose_note_call(int call)
{
	if (!came[call])
		came[call] = true;
}

/* Has each of the calls come here since interpose_is_proven() began? */
static bool
interpose_took_all(char *missing, size_t size)
{
	size_t used = 0;

	missing[0] = '\0';
	for (int call = 0; call < CALLS; call++)
		if (!came[call] && used < size)
			used += (size_t)snprintf(missing + used, size - used, "%s%s", used ? ", " : "",
			                         call_names[call]);
	return used == 0;
}

void
interpose_message_taken(int fd)
{
	if (fd >= 0 && fd < INTERPOSE_DESCRIPTORS && unfinished[fd])
		unfinished[fd] = 1;
}

uint64_t
interpose_take_ended(void)
{
	return atomic_exchange(&ended, 0);
}

uint64_t
interpose_take_surplus(void)
{
	return atomic_exchange(&surplus, 0);
}

void
interpose_limit(int most)
{
	limit = most;
}

int
epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	long result;

	interpose_note_call(EPOLL_CTL);
	if (operation == EPOLL_CTL_MOD && event->events == 0)
		operation = EPOLL_CTL_DEL;
	result = syscall(SYS_epoll_ctl, epoll, operation, fd, event);
	if (result < 0 && errno == ENOENT && operation == EPOLL_CTL_MOD)
		return (int)syscall(SYS_epoll_ctl, epoll, EPOLL_CTL_ADD, fd, event);
	return result < 0 && errno == ENOENT && operation == EPOLL_CTL_DEL ? 0 : (int)result;
}

int
epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
	const int count = (int)syscall(SYS_epoll_pwait, epoll, events, most, timeout, NULL, 0);

	interpose_note_call(EPOLL_WAIT);
	for (int i = 0; i < count; i++)
		if (events[i].events & (EPOLLIN | EPOLLOUT))
			events[i].events &= ~(uint32_t)(EPOLLERR | EPOLLHUP);
	return count;
}

int
accept4(int listener, struct sockaddr *address, socklen_t *size, int flags)
{
	const int fd = (int)syscall(SYS_accept4, listener, address, size, flags);

	if (fd >= limit) {
		close(fd);
		surplus++;
		errno = ECONNABORTED;
		return -1;
	}
	if (fd < 0 && errno != EAGAIN && errno != EINTR)
		errno = ECONNABORTED;
	if (fd < 0 || fd >= INTERPOSE_DESCRIPTORS)
		return fd;
	unfinished[fd] = 1;
	interpose_note_call(ACCEPT4);
	return fd;
}

/* Reads, and ends a connection that sent too much: libzmq takes it for one that its peer has closed. */
ssize_t
recv(int fd, void *data, size_t size, int flags)
{
	const ssize_t received = syscall(SYS_recvfrom, fd, data, size, flags, NULL, NULL);

	if (received <= 0 || fd >= INTERPOSE_DESCRIPTORS || !unfinished[fd])
		return received;
	interpose_note_call(RECV);
	if (atomic_fetch_add(&unfinished[fd], (unsigned)received) + (unsigned)received <= UNFINISHED_MOST)
		return received;
	ended++;
	return 0;
}

/* Sends a message from one socket to another; true when it has come. */
static bool
interpose_send_to_itself(void *context, const char *address, long wait_ms)
{
	const int linger = 0;
	void *receiver = zmq_socket(context, ZMQ_PULL), *sender = zmq_socket(context, ZMQ_PUSH);
	zmq_pollitem_t item = {.socket = receiver, .events = ZMQ_POLLIN};
	char endpoint[256];
	size_t size = sizeof(endpoint);
	bool arrived = receiver && sender && zmq_setsockopt(sender, ZMQ_LINGER, &linger, sizeof(linger)) == 0 &&
	               zmq_bind(receiver, address) == 0 &&
	               zmq_getsockopt(receiver, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0 &&
	               zmq_connect(sender, endpoint) == 0 && zmq_send(sender, "", 0, ZMQ_DONTWAIT) == 0 &&
	               zmq_poll(&item, 1, wait_ms) == 1;

	if (receiver)
		zmq_close(receiver);
	if (sender)
		zmq_close(sender);
	return arrived;
}

bool
interpose_is_proven(char *missing, size_t size)
{
	void *context = zmq_ctx_new();
	char socket_name[64];

	snprintf(socket_name, sizeof(socket_name), "ipc://@portoland-proof-%ld", (long)getpid());
	for (int call = 0; call < CALLS; call++)
		came[call] = false;
	if (context && !interpose_send_to_itself(context, "tcp://127.0.0.1:*", TCP_WAIT_MS))
		(void)interpose_send_to_itself(context, socket_name, IPC_WAIT_MS);
	while (context && zmq_ctx_term(context) < 0 && zmq_errno() == EINTR)
		;
	return interpose_took_all(missing, size);
}

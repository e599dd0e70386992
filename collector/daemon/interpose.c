/*
 * interpose.c: replaces some of the system's functions for libzmq 4.3.4, for three things that libzmq has no option
 * for. The functions below have the names of the system's, so libzmq calls them.
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
 * Without one of these functions the collector must not be open to others: see proof.c. */
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

/* The most bytes that libzmq holds of a connection whose messages are all whole: its queue, one message that it has
 * taken out of it, one that is read in part, and buffers. */
#define UNFINISHED_MOST ((SHARES_RECEIVE_QUEUE + 2) * (uint32_t)WIRE_MAX_FRAME + (uint32_t)SHARES_CONNECTION)

static atomic_uint unfinished[INTERPOSE_DESCRIPTORS]; /* bytes + 1; 0: not a connection that was accepted */
static atomic_ullong ended, surplus;
static atomic_int limit = INT_MAX;

enum { EPOLL_CTL, EPOLL_WAIT, ACCEPT4, RECV, CALLS };
static const char *const call_names[CALLS] = {"epoll_ctl", "epoll_wait", "accept4", "recv"};
static atomic_bool came[CALLS];

void
interpose_forget_calls(void)
{
	for (int call = 0; call < CALLS; call++)
		came[call] = false;
}

/* Notes that a call came here. It writes only once: threads share the line of the cache. */
static void
interpose_note_call(int call)
{
	if (!came[call])
		came[call] = true;
}

bool
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

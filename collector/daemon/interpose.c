/*
 * interpose.c: stands between libzmq 4.3.4 and the system, for two things that libzmq has no option for. The
 * functions below have the names of the system's, and are what libzmq finds.
 *
 * 1. A peer must not abort the process. When a connection's queue is full libzmq stops polling its input: it asks for
 * no events. But epoll tells of errors and hang-ups all the same. libzmq then takes note that the connection has
 * failed, and goes on with what it had read; if a heartbeat of the peer (a PING of ZMTP, which any peer may send) is in
 * that, it answers, and so runs into `Assertion failed: !_io_error`. tests/integration/hostile_stalls.py does it in a
 * second without this file. So a descriptor for which no events are asked is taken out of epoll until some are; and
 * where something can be read or written, that is all that is told, as reading or writing finds the error anyway. The
 * failure of a connection is thereby never seen while it is held back, but afterwards, which is what libzmq handles
 * well.
 *
 * 2. A message of many parts must not fill the memory. libzmq bounds the size of a part and the number of whole
 * messages, but not the number of parts: a peer that never sends the last one has all of them kept. So the bytes that a
 * connection has sent since its last whole message was taken are counted, and beyond UNFINISHED_MOST it has ended.
 */
#include "interpose.h"

#include "shares.h"

#include <portolan/error.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* What libzmq may hold of a connection whose messages are all whole: its queue, one message that it has taken out of
 * that, one that is read in part, and buffers. */
#define UNFINISHED_MOST ((SHARES_RECEIVE_QUEUE + 2) * (uint32_t)WIRE_MAX_FRAME + (uint32_t)SHARES_CONNECTION)

static int (*real_control)(int, int, int, struct epoll_event *);
static int (*real_wait)(int, struct epoll_event *, int, int);
static int (*real_accept)(int, struct sockaddr *, socklen_t *, int);
static ssize_t (*real_receive)(int, void *, size_t, int);

static atomic_uint unfinished[INTERPOSE_DESCRIPTORS]; /* bytes, and one; 0: not a connection that was accepted */
static atomic_ullong ended;
static atomic_bool is_called;

int
interpose_init(struct portolan_error *error)
{
	real_control = (int (*)(int, int, int, struct epoll_event *))dlsym(RTLD_NEXT, "epoll_ctl");
	real_wait = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
	real_accept = (int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4");
	real_receive = (ssize_t(*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
	if (!real_control || !real_wait || !real_accept || !real_receive)
		return error_set(error, PORTOLAN_E_SYSTEM,
		                 "cannot find epoll_ctl, epoll_wait, accept4 and recv of the "
		                 "system: link portoland with the shared C library");
	return 0;
}

/* Other programs of this library may not have called it; then there is one thread yet. */
static void
find_calls(void)
{
	struct portolan_error error;

	if (!real_receive && interpose_init(&error) < 0)
		_exit(1);
}

bool
interpose_works(void)
{
	return is_called;
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

int
epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	int result;

	find_calls();
	is_called = true;
	if (operation == EPOLL_CTL_MOD && event->events == 0)
		operation = EPOLL_CTL_DEL;
	result = real_control(epoll, operation, fd, event);
	if (result < 0 && errno == ENOENT && operation == EPOLL_CTL_MOD)
		return real_control(epoll, EPOLL_CTL_ADD, fd, event);
	return result < 0 && errno == ENOENT && operation == EPOLL_CTL_DEL ? 0 : result;
}

int
epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
	int count;

	find_calls();
	count = real_wait(epoll, events, most, timeout);
	for (int i = 0; i < count; i++)
		if (events[i].events & (EPOLLIN | EPOLLOUT))
			events[i].events &= ~(uint32_t)(EPOLLERR | EPOLLHUP);
	return count;
}

int
accept4(int listener, struct sockaddr *address, socklen_t *size, int flags)
{
	int fd;

	find_calls();
	fd = real_accept(listener, address, size, flags);
	if (fd < 0 || fd >= INTERPOSE_DESCRIPTORS)
		return fd;
	unfinished[fd] = 1;
	return fd;
}

/* To libzmq a connection that has ended is one whose peer has closed it. */
ssize_t
recv(int fd, void *data, size_t size, int flags)
{
	ssize_t received;

	find_calls();
	received = real_receive(fd, data, size, flags);
	if (received <= 0 || fd >= INTERPOSE_DESCRIPTORS || !unfinished[fd])
		return received;
	if (atomic_fetch_add(&unfinished[fd], (unsigned)received) + (unsigned)received <= UNFINISHED_MOST)
		return received;
	ended++;
	return 0;
}

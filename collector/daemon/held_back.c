/*
 * held_back.c: stands between libzmq 4.3.4 and epoll, and keeps a peer from aborting the process.
 *
 * When a connection's queue is full libzmq stops polling its input: it asks for no events. But epoll tells of errors
 * and hang-ups all the same. libzmq then takes note that the connection has failed, and goes on with what it had read;
 * if a heartbeat of the peer (a PING of ZMTP, which any peer may send) is in that, it answers, and so runs into
 * `Assertion failed: !_io_error`. tests/integration/hostile_stalls.py does it in a second without this file.
 *
 * So a descriptor for which no events are asked is taken out of epoll until some are; and where something can be read
 * or written, that is all that is told, as reading or writing finds the error anyway. The failure of a connection is
 * thereby never seen while it is held back, but afterwards, which is what libzmq handles well.
 */
#include "held_back.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/epoll.h>

static int (*real_control)(int, int, int, struct epoll_event *);
static int (*real_wait)(int, struct epoll_event *, int, int);

void
held_back_init(void)
{
	real_control = (int (*)(int, int, int, struct epoll_event *))dlsym(RTLD_NEXT, "epoll_ctl");
	real_wait = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
}

int
epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	int result;

	if (!real_control)
		held_back_init();
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

	if (!real_wait)
		held_back_init();
	count = real_wait(epoll, events, most, timeout);
	for (int i = 0; i < count; i++)
		if (events[i].events & (EPOLLIN | EPOLLOUT))
			events[i].events &= ~(uint32_t)(EPOLLERR | EPOLLHUP);
	return count;
}

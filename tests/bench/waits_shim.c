/* waits_shim.c: a library to be preloaded into the collector: takes the time of the calls in which its storer waits
 * (waits.h). A thread is the storer's if it has that name. */
#undef _FILE_OFFSET_BITS /* so that pwrite() and pwrite64() are two names */

#include "waits.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct waits *waits;

__attribute__((constructor)) static void
waits_open(void)
{
	const char *path = getenv(WAITS_FILE);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*waits), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	waits = map == MAP_FAILED ? NULL : map;
	if (fd >= 0)
		close(fd);
}

static bool
is_counted(void)
{
	char name[16] = "";

	return waits && prctl(PR_GET_NAME, name) == 0 && strcmp(name, "storer") == 0;
}

static uint64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void
count(enum wait wait, uint64_t began, ssize_t bytes)
{
	atomic_fetch_add_explicit(&waits->nanoseconds[wait], now() - began, memory_order_relaxed);
	atomic_fetch_add_explicit(&waits->calls[wait], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&waits->bytes[wait], bytes > 0 ? (uint64_t)bytes : 0, memory_order_relaxed);
}

static enum wait
kind_of(int fd)
{
	return fcntl(fd, F_GETFL) & O_DSYNC ? WAIT_SYNC : WAIT_WRITE;
}

/* Defines `name`, which calls the system's, and counts the call if it is the storer's. */
#define DEFINE(result, name, kind, written, parameters, arguments)                                                     \
	result name parameters                                                                                         \
	{                                                                                                              \
		static result(*real) parameters;                                                                       \
		uint64_t began;                                                                                        \
		result value;                                                                                          \
                                                                                                                       \
		if (!real)                                                                                             \
			*(void **)(&real) = dlsym(RTLD_NEXT, #name);                                                   \
		if (!is_counted())                                                                                     \
			return real arguments;                                                                         \
		began = now();                                                                                         \
		value = real arguments;                                                                                \
		count(kind, began, written);                                                                           \
		return value;                                                                                          \
	}

DEFINE(int, fdatasync, WAIT_SYNC, 0, (int fd), (fd))
DEFINE(ssize_t, pwrite, kind_of(fd), value, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
DEFINE(ssize_t, pwrite64, kind_of(fd), value, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
DEFINE(ssize_t, writev, kind_of(fd), value, (int fd, const struct iovec *parts, int n), (fd, parts, n))
DEFINE(ssize_t, pwritev, kind_of(fd), value, (int fd, const struct iovec *parts, int n, off_t at), (fd, parts, n, at))
DEFINE(int, pthread_cond_wait, WAIT_FRAMES, 0, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
DEFINE(int, pthread_cond_timedwait, WAIT_FRAMES, 0,
       (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until), (condition, mutex, until))
DEFINE(int, pthread_cond_clockwait, WAIT_FRAMES, 0,
       (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
       (condition, mutex, clock, until))

/*
 * guard.c: the thread, and its table of connections by file descriptor.
 *
 * How much a connection holds is what its kernel socket has handed over (tcpi_bytes_received, less what is unread
 * there) less what the event loop has taken. Headers, heartbeats and encryption come in but are not taken: a few bytes
 * a message, which a client that keeps to its credit cannot sum up to what a hostile one holds, so nothing below TRIFLE
 * is looked at.
 *
 * An event about a descriptor may be old: libzmq may have closed it, and used the number again. Ending the wrong
 * one costs a client a new connection, and does nothing to what is no socket; a listening socket is left alone.
 * `connections` is written by both threads, field by field, as atomics without order: a count that is late by a message
 * does no harm.
 */
#include "guard.h"

#include "guard_table.h"
#include "log.h"
#include "throttle.h"

#include <portolan/error.h>

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define DESCRIPTORS_MOST 65536
#define DESCRIPTORS_OTHERS 64       /* files, sockets and events that are no connections */
#define CONNECTION_BYTES (40 << 10) /* of libzmq, for one that sends nothing: measured */
#define BUSY_MS 2
#define CALM_MOST_MS 50
#define TRIM_MS 1000
#define FAST_BYTES ((size_t)1 << 20) /* more than that since the last look: another one soon */
#define MAPPED_BYTES (512 << 10)     /* a message as large leaves no hole in the heap when it goes */

struct guard {
	struct guard_table table;
	void *monitors[GUARD_SOCKETS_MAX];
	size_t monitor_count;
	int stop;      /* an event */
	size_t limit;  /* of the process's memory, above which connections are closed */
	size_t credit; /* what honest clients may hold in sum */
	int64_t trimmed;
	pthread_t thread;
	bool running;
	struct throttle crowd, hoard, handshakes;
};

size_t
guard_connections_for(size_t max_memory, size_t descriptors)
{
	size_t most = max_memory / 8 / CONNECTION_BYTES;

	if (descriptors <= 2 * DESCRIPTORS_OTHERS)
		return descriptors / 2;
	return most < descriptors - DESCRIPTORS_OTHERS ? most : descriptors - DESCRIPTORS_OTHERS;
}

static int64_t
now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* As many descriptors as the system allows, within reason; how many that are. */
static size_t
raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1024;
	if (limit.rlim_cur < DESCRIPTORS_MOST && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			getrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur < DESCRIPTORS_MOST ? limit.rlim_cur : DESCRIPTORS_MOST;
}

/* One event: its number (16 bits) and value (32), then a part with the endpoint. */
static bool
take_event(struct guard *guard, void *monitor, uint64_t *failed)
{
	uint8_t part[512];
	uint16_t event;
	uint32_t value;

	if (zmq_recv(monitor, part, sizeof(part), ZMQ_DONTWAIT) < (int)(sizeof(event) + sizeof(value)))
		return false;
	memcpy(&event, part, sizeof(event));
	memcpy(&value, part + sizeof(event), sizeof(value));
	zmq_recv(monitor, part, sizeof(part), ZMQ_DONTWAIT);
	if (event == ZMQ_EVENT_ACCEPTED)
		guard_table_enter(&guard->table, (int)value);
	else if (event == ZMQ_EVENT_DISCONNECTED)
		guard_table_leave(&guard->table, (int)value);
	else
		++*failed;
	return true;
}

static void
take_events(struct guard *guard)
{
	uint64_t failed = 0, since;

	for (size_t i = 0; i < guard->monitor_count; i++)
		while (take_event(guard, guard->monitors[i], &failed))
			;
	if (throttle_count(&guard->handshakes, failed, now_ms(), &since))
		log_line("%" PRIu64 " connection%s broke off, or sent what is not this protocol, before a first frame",
		         since, since == 1 ? "" : "s");
}

static void
thin_out(struct guard *guard)
{
	uint64_t gone = 0, since;

	while (guard->table.open > guard->table.most && guard_table_expel_one(&guard->table))
		gone++;
	if (throttle_count(&guard->crowd, gone, now_ms(), &since))
		log_line("more than %zu connections, the most that --max-memory allows: %" PRIu64
		         " of them closed, first those without a session",
		         guard->table.most, since);
}

/* Lets the allocator give back what it keeps for later: only when nobody has to go, as it takes its time. */
static void
trim(struct guard *guard, size_t memory)
{
	int64_t now = now_ms();

	if (memory < guard->limit / 4 * 3 || now < guard->trimmed + TRIM_MS)
		return;
	malloc_trim(0);
	guard->trimmed = now;
}

/* Returns whether it is to be looked at again soon. */
static bool
free_memory(struct guard *guard, size_t memory)
{
	uint64_t gone = memory > guard->limit ? guard_table_expel_largest(&guard->table, guard->credit) : 0;
	uint64_t since;

	if (!gone)
		trim(guard, memory);
	if (throttle_count(&guard->hoard, gone, now_ms(), &since))
		log_line("memory is short (%zu MB): %" PRIu64 " connection%s closed that sent more than their credit",
		         memory >> 20, since, since == 1 ? "" : "s");
	return gone > 0;
}

/* How long one may look away: loopback brings about 2 GB/s, so an eighth of the memory would fill meanwhile. */
static int
calm_ms(size_t max_memory)
{
	size_t ms = max_memory >> 24;

	return ms < BUSY_MS ? BUSY_MS : ms > CALM_MOST_MS ? CALM_MOST_MS : (int)ms;
}

static void *
guard_main(void *argument)
{
	struct guard *guard = argument;
	zmq_pollitem_t items[GUARD_SOCKETS_MAX + 1] = {{.fd = guard->stop, .events = ZMQ_POLLIN}};
	size_t memory = 0, before;
	bool soon;
	int calm = calm_ms(guard->credit * 4), wait = calm;

	for (size_t i = 0; i < guard->monitor_count; i++)
		items[i + 1] = (zmq_pollitem_t){.socket = guard->monitors[i], .events = ZMQ_POLLIN};
	for (;;) {
		if (zmq_poll(items, (int)guard->monitor_count + 1, guard->table.open ? wait : -1) < 0 &&
		    zmq_errno() != EINTR)
			return NULL;
		if (items[0].revents)
			return NULL;
		take_events(guard);
		thin_out(guard);
		before = memory;
		memory = guard_memory();
		soon = free_memory(guard, memory) || memory > before + FAST_BYTES;
		wait = soon ? BUSY_MS : calm;
	}
}

static int
watch(struct guard *guard, void *context, void *socket, struct portolan_error *error)
{
	const int events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
	                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
	const int unlimited = 0; /* a full queue of events would stop libzmq's own thread */
	void *monitor = zmq_socket(context, ZMQ_PAIR);
	char address[64];

	snprintf(address, sizeof(address), "inproc://portoland-guard-%p", socket);
	if (monitor)
		guard->monitors[guard->monitor_count++] = monitor;
	if (!monitor || zmq_setsockopt(monitor, ZMQ_RCVHWM, &unlimited, sizeof(unlimited)) < 0 ||
	    zmq_socket_monitor(socket, address, events) < 0 || zmq_connect(monitor, address) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot watch a socket: %s", zmq_strerror(zmq_errno()));
	return 0;
}

static int
start_thread(struct guard *guard, struct portolan_error *error)
{
	int status = pthread_create(&guard->thread, NULL, guard_main, guard);

	if (status != 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start a thread: %s", strerror(status));
	pthread_setname_np(guard->thread, "guard");
	guard->running = true;
	return 0;
}

int
guard_start(struct guard **guard, void *context, void *const sockets[], size_t count, size_t max_memory,
            struct portolan_error *error)
{
	struct guard *started = calloc(1, sizeof(*started));
	size_t descriptors = raise_descriptors();
	int result = 0;

	if (!started)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	started->limit = max_memory / 2;
	started->credit = guard_credit_for(max_memory);
	started->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (started->stop < 0 ||
	    guard_table_init(&started->table, descriptors, guard_connections_for(max_memory, descriptors)) < 0)
		result = error_set(error, PORTOLAN_E_SYSTEM, "cannot begin to watch connections: %s", strerror(errno));
	for (size_t i = 0; result == 0 && i < count; i++)
		if (sockets[i])
			result = watch(started, context, sockets[i], error);
	if (result == 0)
		result = start_thread(started, error);
	if (result < 0)
		guard_stop(started, sockets, count);
	else
		*guard = started;
	return result;
}

void
guard_stop(struct guard *guard, void *const sockets[], size_t count)
{
	const uint64_t one = 1;

	if (!guard)
		return;
	for (size_t i = 0; i < count; i++)
		if (sockets[i])
			zmq_socket_monitor(sockets[i], NULL, 0);
	if (guard->running && write(guard->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(guard->thread, NULL);
	for (size_t i = 0; i < guard->monitor_count; i++)
		zmq_close(guard->monitors[i]);
	if (guard->stop >= 0)
		close(guard->stop);
	guard_table_deinit(&guard->table);
	free(guard);
}

bool
guard_took(struct guard *guard, int fd, size_t bytes)
{
	return guard_table_took(&guard->table, fd, bytes);
}

void
guard_judge(struct guard *guard, int fd, size_t bytes, enum guard_verdict verdict)
{
	if (verdict == GUARD_MEMBER)
		guard_table_admit(&guard->table, fd);
	else
		guard_table_strike(&guard->table, fd, bytes, verdict == GUARD_RUBBISH);
}

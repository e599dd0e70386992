/*
 * guard_table.c: counting, choosing and hanging up. Choosing walks the table: it is done only when somebody must go.
 */
#include "guard_table.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of frames of no session. A client whose collector was started again has a window's worth under way before it hears.
 */
#define STRANGE_MOST ((uint64_t)16 << 20)
#define UNREADABLE_WEIGHT ((uint64_t)1 << 20) /* each frame, beside its bytes */

int
guard_table_init(struct guard_table *table, size_t size, size_t most)
{
	*table = (struct guard_table){.size = size, .most = most, .coming = 1};
	table->connections = calloc(size, sizeof(*table->connections));
	return table->connections ? 0 : -1;
}

void
guard_table_deinit(struct guard_table *table)
{
	free(table->connections);
	table->connections = NULL;
	table->size = 0;
}

static struct guard_connection *
find(const struct guard_table *table, int fd)
{
	return fd >= 0 && (size_t)fd < table->size ? &table->connections[fd] : NULL;
}

static void
reset(struct guard_connection *connection)
{
	connection->number = 0;
	atomic_store(&connection->member, false);
	atomic_store(&connection->taken, 0);
	atomic_store(&connection->strange, 0);
	atomic_store(&connection->expelled, false);
}

void
guard_table_enter(struct guard_table *table, int fd)
{
	struct guard_connection *connection = find(table, fd);

	if (!connection)
		return;
	guard_table_leave(table, fd); /* its end went unnoticed */
	reset(connection);
	connection->number = table->coming++;
	if ((size_t)fd >= table->used)
		table->used = (size_t)fd + 1;
	table->open++;
}

void
guard_table_leave(struct guard_table *table, int fd)
{
	struct guard_connection *connection = find(table, fd);

	if (!connection || !connection->number)
		return;
	if (!atomic_load(&connection->expelled))
		table->open--;
	reset(connection);
	while (table->used > 0 && !table->connections[table->used - 1].number)
		table->used--;
}

/* Connecting to nowhere resets a TCP connection at once: what has arrived for it is not read any more. A socket file's
 * cannot be, and is shut down. */
static void
hang_up(int fd)
{
	const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
	socklen_t size = sizeof(int);
	int listens = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && !listens &&
	    connect(fd, &nowhere, sizeof(nowhere)) < 0)
		shutdown(fd, SHUT_RDWR);
}

static void
expel(struct guard_table *table, size_t fd)
{
	struct guard_connection *connection = &table->connections[fd];

	atomic_store(&connection->expelled, true);
	table->open--;
	hang_up((int)fd);
}

bool
guard_table_expel_one(struct guard_table *table)
{
	size_t oldest = table->size, newest = table->size;

	for (size_t fd = 0; fd < table->used; fd++) {
		const struct guard_connection *connection = &table->connections[fd];

		if (!connection->number || atomic_load(&connection->expelled))
			continue;
		if (newest == table->size || connection->number > table->connections[newest].number)
			newest = fd;
		if (!atomic_load(&connection->member) &&
		    (oldest == table->size || connection->number < table->connections[oldest].number))
			oldest = fd;
	}
	if (newest == table->size)
		return false;
	expel(table, oldest < table->size ? oldest : newest);
	return true;
}

/* What libzmq holds of the connection. */
static uint64_t
held_by(const struct guard_connection *connection, int fd)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);
	uint64_t outside = atomic_load(&connection->taken);
	int unread = 0;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 || ioctl(fd, FIONREAD, &unread) < 0)
		return 0;
	outside += (uint64_t)unread;
	return info.tcpi_bytes_received > outside ? info.tcpi_bytes_received - outside : 0;
}

struct holder {
	uint64_t held;
	size_t fd;
};

static int
by_held(const void *left, const void *right)
{
	const struct holder *a = left, *b = right;

	return (a->held < b->held) - (a->held > b->held);
}

uint64_t
guard_table_expel_largest(struct guard_table *table, uint64_t allowed)
{
	struct holder *holders = calloc(table->used ? table->used : 1, sizeof(*holders));
	size_t count = 0, i;
	uint64_t held = 0;

	for (size_t fd = 0; holders && fd < table->used; fd++) {
		const struct guard_connection *connection = &table->connections[fd];

		if (!connection->number || atomic_load(&connection->expelled))
			continue;
		holders[count] = (struct holder){held_by(connection, (int)fd), fd};
		held += holders[count].held;
		count += holders[count].held >= GUARD_TRIFLE;
	}
	if (holders)
		qsort(holders, count, sizeof(*holders), by_held);
	for (i = 0; i < count && held > allowed; i++) {
		held -= holders[i].held;
		expel(table, holders[i].fd);
	}
	free(holders);
	return i;
}

bool
guard_table_took(struct guard_table *table, int fd, size_t bytes)
{
	struct guard_connection *connection = find(table, fd);

	if (!connection)
		return true;
	atomic_fetch_add_explicit(&connection->taken, bytes, memory_order_relaxed);
	return !atomic_load_explicit(&connection->expelled, memory_order_relaxed) &&
	       atomic_load_explicit(&connection->strange, memory_order_relaxed) <= STRANGE_MOST;
}

void
guard_table_admit(struct guard_table *table, int fd)
{
	struct guard_connection *connection = find(table, fd);

	if (!connection)
		return;
	if (!atomic_load_explicit(&connection->member, memory_order_relaxed))
		atomic_store_explicit(&connection->member, true, memory_order_relaxed);
	if (atomic_load_explicit(&connection->strange, memory_order_relaxed))
		atomic_store_explicit(&connection->strange, 0, memory_order_relaxed);
}

void
guard_table_strike(struct guard_table *table, int fd, size_t bytes, bool unreadable)
{
	struct guard_connection *connection = find(table, fd);
	uint64_t weight = bytes + (unreadable ? UNREADABLE_WEIGHT : 0);

	if (connection &&
	    atomic_fetch_add_explicit(&connection->strange, weight, memory_order_relaxed) + weight > STRANGE_MOST)
		hang_up(fd);
}

size_t
guard_memory(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	unsigned long resident = 0, shared = 0;
	char text[128];
	ssize_t size;

	if (fd < 0)
		return 0;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	if (sscanf(text, "%*s %lu %lu", &resident, &shared) != 2 || shared > resident)
		return 0;
	return (resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * trace_shim.c: writes down what happens to data.mdb, so that every state a power failure could leave can be made
 * again; LD_PRELOAD.
 *
 * CRASH_TRACE names the trace. CRASH_SIDES names the clients' side files, parted by ':': what is acknowledged at the
 * moment of each event goes with it. An event: struct event, then acked[sides], then the data written. See
 * crash_power.py.
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined below */
#include "model.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIDES_MOST 64

enum { WRITTEN = 1, SYNCED = 2, TRUNCATED = 3, RENAMED = 4 };

struct event {
	uint32_t kind;
	uint32_t lasting; /* the descriptor has O_DSYNC: the write is on disk when it returns */
	uint64_t offset, length;
};

static int trace = -1;
static struct crash_side *sides[SIDES_MOST];
static size_t side_count;

static void *
next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void
start(void)
{
	const char *path = getenv("CRASH_TRACE"), *names = getenv("CRASH_SIDES");
	char *list = names ? strdup(names) : NULL, *rest = NULL;

	if (!path || !list)
		return;
	for (char *name = strtok_r(list, ":", &rest); name && side_count < SIDES_MOST;
	     name = strtok_r(NULL, ":", &rest)) {
		int fd = open(name, O_RDWR | O_CLOEXEC);
		void *map = mmap(NULL, sizeof(**sides), PROT_READ, MAP_SHARED, fd, 0);

		if (fd < 0 || map == MAP_FAILED)
			abort();
		close(fd);
		sides[side_count++] = map;
	}
	free(list);
	trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static bool
is_data(int fd)
{
	char link[64], name[4096];
	ssize_t size;

	if (trace < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, name, sizeof(name) - 1);
	name[size < 0 ? 0 : size] = '\0';
	return strstr(name, "/data.mdb") != NULL;
}

/* Before the call is made: what is acknowledged by then must survive without it. */
static void
note(uint32_t kind, int fd, uint64_t offset, const struct iovec *data, int count)
{
	ssize_t (*real)(int, const struct iovec *, int) = (ssize_t(*)(int, const struct iovec *, int))next("writev");
	struct event event = {.kind = kind, .offset = offset};
	struct iovec parts[2 + 1024] = {{&event, sizeof(event)}};
	uint64_t acked[SIDES_MOST];
	ssize_t size = 0;

	event.lasting = fd >= 0 && fcntl(fd, F_GETFL) & O_DSYNC;
	for (size_t i = 0; i < side_count; i++)
		acked[i] = __atomic_load_n(&sides[i]->acked, __ATOMIC_ACQUIRE);
	parts[1] = (struct iovec){acked, side_count * sizeof(*acked)};
	for (int i = 0; i < count; i++) {
		parts[2 + i] = data[i];
		event.length += data[i].iov_len;
	}
	for (int i = 0; i < 2 + count; i++)
		size += (ssize_t)parts[i].iov_len;
	for (int i = 0; i < 2 + count; i += 1000) /* IOV_MAX is 1024 */
		size -= real(trace, parts + i, 2 + count - i < 1000 ? 2 + count - i : 1000);
	if (size != 0)
		abort(); /* half a trace proves nothing */
}

ssize_t
pwrite(int fd, const void *data, size_t size, off_t offset)
{
	ssize_t (*real)(int, const void *, size_t, off_t) =
	        (ssize_t(*)(int, const void *, size_t, off_t))next("pwrite");

	if (is_data(fd))
		note(WRITTEN, fd, (uint64_t)offset, &(struct iovec){(void *)data, size}, 1);
	return real(fd, data, size, offset);
}

ssize_t
pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	ssize_t (*real)(int, const struct iovec *, int, off_t) =
	        (ssize_t(*)(int, const struct iovec *, int, off_t))next("pwritev");

	if (is_data(fd))
		note(WRITTEN, fd, (uint64_t)offset, parts, count);
	return real(fd, parts, count, offset);
}

/* LMDB writes runs of pages so, after an lseek(). */
ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	ssize_t (*real)(int, const struct iovec *, int) = (ssize_t(*)(int, const struct iovec *, int))next("writev");

	if (is_data(fd))
		note(WRITTEN, fd, (uint64_t)lseek(fd, 0, SEEK_CUR), parts, count);
	return real(fd, parts, count);
}

int
fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))next("fdatasync");
	int rc = real(fd);

	if (is_data(fd))
		note(SYNCED, -1, 0, NULL, 0);
	return rc;
}

int
fsync(int fd)
{
	int (*real)(int) = (int (*)(int))next("fsync");
	int rc = real(fd);

	if (is_data(fd))
		note(SYNCED, -1, 0, NULL, 0);
	return rc;
}

int
ftruncate(int fd, off_t size)
{
	int (*real)(int, off_t) = (int (*)(int, off_t))next("ftruncate");

	if (is_data(fd))
		note(TRUNCATED, -1, (uint64_t)size, NULL, 0);
	return real(fd, size);
}

int
rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) = (int (*)(const char *, const char *))next("rename");

	if (trace >= 0 && strstr(to, "/data.mdb"))
		note(RENAMED, -1, 0, NULL, 0);
	return real(from, to);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) __attribute__((alias("pwrite")));
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) __attribute__((alias("pwritev")));
int ftruncate64(int fd, off64_t size) __attribute__((alias("ftruncate")));

/*
 * fault_shim.c: makes system and library calls fail on purpose; LD_PRELOAD.
 *
 * CRASH_FAULTS names a file of the words below, mapped by this library and by whoever decides. Calls of the kinds in
 * `calls` that are made by the program itself or by LMDB are counted down from `skip`; then the next `fail` of them
 * fail with `error`, or, where `how` says so, do half of what they were asked to; or the first of them does all of it
 * and claims to have failed; or they take `error` milliseconds longer. A request for memory that libzmq or the C++ library makes is left alone: these end the
 * process when they get none, which is a kill like any other.
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined below */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum call { PWRITE = 1, WRITE = 2, SYNC = 4, TRUNCATE = 8, MMAP = 16, MEMORY = 32 };
enum how { FAIL = 0, HALF, LIE, STALL };

struct faults {
	uint64_t calls, skip, fail, error, how;
	uint64_t met, failed; /* counted here: calls of the kinds asked for; of these, failed */
};

static struct faults *faults; /* a shim has no other place for it */
static __thread bool inside;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static void *
next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void
start(void)
{
	const char *path = getenv("CRASH_FAULTS");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (map != MAP_FAILED)
		faults = map;
}

/* Whether the call was made by a part that has to put up with its failure. */
static bool
is_ours(const void *caller)
{
	Dl_info info;
	bool ours = false;

	if (inside)
		return false;
	inside = true; /* dladdr() may ask for memory */
	if (dladdr(caller, &info) && info.dli_fname)
		ours = strstr(info.dli_fname, "portoland") || strstr(info.dli_fname, "liblmdb") ||
		       strstr(info.dli_fname, "libmsgpack");
	inside = false;
	return ours;
}

static bool
must_fail(enum call call, const void *caller)
{
	struct faults *at = faults;

	if (!at || !(__atomic_load_n(&at->calls, __ATOMIC_ACQUIRE) & call) || !is_ours(caller))
		return false;
	at->met++;
	if (at->skip) {
		at->skip--;
		return false;
	}
	if (at->fail == 0)
		return false;
	at->fail--;
	at->failed++;
	if (at->how == STALL) {
		usleep((useconds_t)at->error * 1000);
		return false;
	}
	errno = (int)at->error;
	return true;
}

#define CALLER __builtin_return_address(0)

ssize_t
pwrite(int fd, const void *data, size_t size, off_t offset)
{
	ssize_t (*real)(int, const void *, size_t, off_t) =
	        (ssize_t(*)(int, const void *, size_t, off_t))next("pwrite");
	ssize_t done;

	if (!must_fail(PWRITE, CALLER))
		return real(fd, data, size, offset);
	if (faults->how == HALF && size > 1)
		return real(fd, data, size / 2, offset);
	done = faults->how == LIE && faults->failed == 1 ? real(fd, data, size, offset) : 0;
	(void)done;
	errno = (int)faults->error;
	return -1;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) __attribute__((alias("pwrite")));

ssize_t
pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	ssize_t (*real)(int, const struct iovec *, int, off_t) =
	        (ssize_t(*)(int, const struct iovec *, int, off_t))next("pwritev");
	ssize_t done;

	if (!must_fail(PWRITE, CALLER))
		return real(fd, parts, count, offset);
	if (faults->how == HALF && count > 1)
		return real(fd, parts, count / 2, offset);
	done = faults->how == LIE && faults->failed == 1 ? real(fd, parts, count, offset) : 0;
	(void)done;
	errno = (int)faults->error;
	return -1;
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) __attribute__((alias("pwritev")));

ssize_t
write(int fd, const void *data, size_t size)
{
	ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))next("write");

	return must_fail(WRITE, CALLER) ? -1 : real(fd, data, size);
}

int
fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))next("fdatasync");

	return must_fail(SYNC, CALLER) ? -1 : real(fd);
}

int
fsync(int fd)
{
	int (*real)(int) = (int (*)(int))next("fsync");

	return must_fail(SYNC, CALLER) ? -1 : real(fd);
}

int
ftruncate(int fd, off_t size)
{
	int (*real)(int, off_t) = (int (*)(int, off_t))next("ftruncate");

	return must_fail(TRUNCATE, CALLER) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size) __attribute__((alias("ftruncate")));

void *
mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t) =
	        (void *(*)(void *, size_t, int, int, int, off_t))next("mmap");

	return must_fail(MMAP, CALLER) ? MAP_FAILED : real(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset) __attribute__((alias("mmap")));

void *
malloc(size_t size)
{
	return must_fail(MEMORY, CALLER) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	return must_fail(MEMORY, CALLER) ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *memory, size_t size)
{
	return must_fail(MEMORY, CALLER) ? NULL : __libc_realloc(memory, size);
}

int
statfs(const char *path, struct statfs *status)
{
	int (*real)(const char *, struct statfs *) = (int (*)(const char *, struct statfs *))next("statfs");
	const char *type = getenv("CRASH_FILE_SYSTEM");
	int rc = real(path, status);

	if (rc == 0 && type)
		status->f_type = (long)strtoul(type, NULL, 10);
	return rc;
}

int
statfs64(const char *path, struct statfs64 *status)
{
	_Static_assert(sizeof(struct statfs) == sizeof(struct statfs64), "one structure under two names");
	return statfs(path, (struct statfs *)status);
}

/*
 * mapping.c: maps users' files, and survives that another program cuts one short.
 *
 * The mappings stand in a table that a signal handler can read. An entry without an address is free. The handler
 * replaces the lost page and all pages after it by zeros, so it runs once, not for each page.
 */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPPINGS_MAX 16

struct mapping {
	_Atomic(char *) begin; /* NULL: free. It is set last */
	size_t size;
	const char *path;
	int fd;
	struct timespec changed; /* the file's time of change when it was mapped */
	atomic_bool outlives_cuts;
	atomic_bool was_cut; /* zeros stand for the lost part */
};

static struct mapping mappings[MAPPINGS_MAX];
static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER; /* held while a mapping is made */

static struct mapping *
find_free(void)
{
	for (size_t m = 0; m < MAPPINGS_MAX; m++)
		if (!atomic_load(&mappings[m].begin))
			return &mappings[m];
	return NULL;
}

static struct mapping *
fill(struct mapping *mapping, int fd, const struct stat *status, const char *path)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	char *begin = own < 0 ? MAP_FAILED : mmap(NULL, (size_t)status->st_size, PROT_READ, MAP_PRIVATE, own, 0);

	if (begin == MAP_FAILED) {
		if (own >= 0)
			close(own);
		return NULL;
	}
	mapping->size = (size_t)status->st_size;
	mapping->path = path;
	mapping->fd = own;
	mapping->changed = status->st_mtim;
	mapping->outlives_cuts = mapping->was_cut = false;
	atomic_store(&mapping->begin, begin);
	return mapping;
}

struct mapping *
mapping_new(int fd, const struct stat *status, const char *path)
{
	struct mapping *mapping;

	pthread_mutex_lock(&mappings_lock);
	mapping = find_free();
	if (mapping)
		mapping = fill(mapping, fd, status, path);
	pthread_mutex_unlock(&mappings_lock);
	return mapping;
}

void
mapping_free(struct mapping *mapping)
{
	char *begin;
	size_t size;

	if (!mapping)
		return;
	begin = mapping->begin;
	size = mapping->size;
	close(mapping->fd);
	atomic_store(&mapping->begin, NULL); /* before munmap(), after which another mapping may get this address */
	munmap(begin, size);
}

const char *
mapping_bytes(const struct mapping *mapping)
{
	return mapping->begin;
}

void
mapping_outlive_cuts(struct mapping *mapping)
{
	mapping->outlives_cuts = true;
}

bool
mapping_is_unchanged(const struct mapping *mapping)
{
	struct stat now;

	return !mapping->was_cut && fstat(mapping->fd, &now) == 0 && (size_t)now.st_size == mapping->size &&
	       now.st_mtim.tv_sec == mapping->changed.tv_sec && now.st_mtim.tv_nsec == mapping->changed.tv_nsec;
}

/* Puts zeros in the place of the page at `from` and all after it. False: there is no memory for them. */
static bool
put_zeros(struct mapping *mapping, char *begin, size_t from)
{
	size_t page = from - from % (size_t)sysconf(_SC_PAGESIZE);
	int before = errno;
	void *zeros;

	mapping->was_cut = true;
	zeros = mmap(begin + page, mapping->size - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	errno = before;
	return zeros != MAP_FAILED;
}

bool
mapping_take_bus_error(void *address, const char **path)
{
	for (size_t m = 0; m < MAPPINGS_MAX; m++) {
		struct mapping *mapping = &mappings[m];
		char *begin = mapping->begin;
		uintptr_t from = (uintptr_t)address - (uintptr_t)begin;

		if (!begin || from >= mapping->size)
			continue;
		*path = mapping->path;
		return mapping->outlives_cuts && put_zeros(mapping, begin, from);
	}
	return false;
}

/*
 * arrays.c: gives the analyzer's code the memory of its long arrays, keeps it within --max-memory, and continues in
 * temporary files beyond that limit (arrays.h).
 *
 * A small array comes from malloc(). Every other one is a mapping of its own; the mappings stand in one list, which is
 * searched, as there are some hundreds of them at most. The process has one such list, as it has one malloc():
 * --max-memory limits all memory of the process. A temporary file gets its blocks on the disk before it is mapped, so a
 * full disk is an error here, and no SIGBUS later.
 */
#include "arrays.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL ((size_t)256 << 10)
#define HUGE_PAGE ((size_t)2 << 20)

struct mapping {
	struct mapping *next;
	void *at;
	size_t bytes;
	bool is_anonymous;
};

static struct {
	pthread_mutex_t lock; /* guards what follows */
	uint64_t limit, used; /* bytes of anonymous memory */
	struct mapping *mappings;
} arrays = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = UINT64_MAX};

void
arrays_set_limit(uint64_t bytes)
{
	pthread_mutex_lock(&arrays.lock);
	arrays.limit = bytes;
	pthread_mutex_unlock(&arrays.lock);
}

uint64_t
arrays_room(void)
{
	uint64_t room;

	pthread_mutex_lock(&arrays.lock);
	room = arrays.limit > arrays.used ? arrays.limit - arrays.used : 0;
	pthread_mutex_unlock(&arrays.lock);
	return room;
}

/* Memory in huge pages, which needs their alignment: without them, a third of the time of a large `metrics` went into
 * page faults. */
static void *
map_anonymous(size_t bytes)
{
	size_t ahead = bytes >= HUGE_PAGE ? HUGE_PAGE : 0, skipped;
	char *at = mmap(NULL, bytes + ahead, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || ahead == 0)
		return at == MAP_FAILED ? NULL : at;
	skipped = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
	if (skipped > 0)
		munmap(at, skipped);
	if (skipped < ahead)
		munmap(at + skipped + bytes, ahead - skipped);
	madvise(at + skipped, bytes, MADV_HUGEPAGE);
	return at + skipped;
}

/* A file without a name; -1: errno says why not. */
static int
open_nameless(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	if (asprintf(&path, "%s/portolan-XXXXXX", folder) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

int
arrays_open_file(const char **folder)
{
	const char *given = getenv("TMPDIR"), *used = given && *given ? given : "/var/tmp";

	if (folder)
		*folder = used;
	return open_nameless(used);
}

static void *
map_file(size_t bytes, const char *what, struct portolan_error *error)
{
	const char *folder;
	int fd = arrays_open_file(&folder), failure = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
	void *at = MAP_FAILED;

	if (failure == 0) {
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		failure = at == MAP_FAILED ? errno : 0;
	}
	if (fd >= 0)
		close(fd);
	if (failure == 0)
		return at;
	error_set(error, PORTOLAN_E_MEMORY,
	          "cannot hold %llu MiB of %s, which --max-memory has no room for, in a temporary file in %s: %s (say "
	          "more "
	          "--max-memory, or set TMPDIR to a folder with room)",
	          (unsigned long long)((bytes + (1 << 20) - 1) >> 20), what, folder, strerror(failure));
	return NULL;
}

static void *
map(size_t bytes, const char *what, struct portolan_error *error)
{
	struct mapping *mapping = malloc(sizeof(*mapping));

	if (!mapping) {
		error_set(error, PORTOLAN_E_MEMORY, "out of memory for %s", what);
		return NULL;
	}
	*mapping = (struct mapping){.bytes = (bytes + 4095) & ~(size_t)4095};
	pthread_mutex_lock(&arrays.lock);
	mapping->is_anonymous = arrays.limit > arrays.used && mapping->bytes <= arrays.limit - arrays.used;
	arrays.used += mapping->is_anonymous ? mapping->bytes : 0;
	pthread_mutex_unlock(&arrays.lock);
	if (mapping->is_anonymous)
		mapping->at = map_anonymous(mapping->bytes);
	else
		mapping->at = map_file(mapping->bytes, what, error);
	if (mapping->is_anonymous && !mapping->at)
		error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu MiB of %s", (bytes + (1 << 20) - 1) >> 20,
		          what);
	pthread_mutex_lock(&arrays.lock);
	if (mapping->at) {
		mapping->next = arrays.mappings;
		arrays.mappings = mapping;
	} else {
		arrays.used -= mapping->is_anonymous ? mapping->bytes : 0;
	}
	pthread_mutex_unlock(&arrays.lock);
	if (mapping->at)
		return mapping->at;
	free(mapping);
	return NULL;
}

void *
array_new(size_t count, size_t size, const char *what, struct portolan_error *error)
{
	void *array = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= PTRDIFF_MAX) {
		if (bytes >= SMALL)
			return map(bytes, what, error);
		array = calloc(1, bytes > 0 ? bytes : 1);
	}
	if (!array)
		error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu %s", count, what);
	return array;
}

void *
array_grow(void *array, size_t used, size_t count, size_t size, const char *what, struct portolan_error *error)
{
	void *grown = array_new(count, size, what, error);

	if (!grown)
		return NULL;
	if (used > 0)
		memcpy(grown, array, used * size);
	array_free(array);
	return grown;
}

int
array_reserve(void **array, size_t *room, size_t needed, size_t size, const char *what, struct portolan_error *error)
{
	size_t larger = *room ? *room : needed > 64 ? needed : 64;
	void *grown;

	if (needed <= *room)
		return 0;
	while (larger < needed)
		larger *= 2;
	grown = array_grow(*array, *room, larger, size, what, error);
	if (!grown)
		return PORTOLAN_E_MEMORY;
	*array = grown;
	*room = larger;
	return 0;
}

void
array_free(const void *array)
{
	struct mapping **link = &arrays.mappings, *mapping;

	pthread_mutex_lock(&arrays.lock);
	while (*link && (*link)->at != array)
		link = &(*link)->next;
	mapping = *link;
	if (mapping) {
		*link = mapping->next;
		arrays.used -= mapping->is_anonymous ? mapping->bytes : 0;
	}
	pthread_mutex_unlock(&arrays.lock);
	if (mapping)
		munmap(mapping->at, mapping->bytes);
	else
		free((void *)array);
	free(mapping);
}

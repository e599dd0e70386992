/*
 * content.c: brings the bytes of a user's file into memory (content.h): a regular file by mapping it, a pipe by reading
 * it. The program survives when another one cuts a mapped file short.
 *
 * The mappings stand in a table that a signal handler can read. An entry without an address is free. The handler
 * replaces the lost page and all pages after it by zeros, so it runs once, not for each page.
 */
#include "content.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAPPINGS_MAX 256 /* the live page maps a file for each run that keeps texts */

struct mapping {
	_Atomic(char *) begin; /* NULL: the entry is free. It is set last */
	size_t size;
	const char *path;
	int fd;
	struct timespec changed; /* the file's time of change when it was mapped */
	atomic_bool outlives_cuts;
	atomic_bool was_cut; /* another program cut the file short: zeros stand for the lost part */
};

static struct mapping mappings[MAPPINGS_MAX];
static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER; /* held while a mapping is made */

static struct mapping *
mapping_find_free(void)
{
	for (size_t m = 0; m < MAPPINGS_MAX; m++)
		if (!atomic_load(&mappings[m].begin))
			return &mappings[m];
	return NULL;
}

static struct mapping *
mapping_fill(struct mapping *mapping, int fd, const struct stat *status, const char *path)
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

/* Maps the file, which is not empty. NULL: it cannot be mapped, or there are too many mappings. */
static struct mapping *
mapping_new(int fd, const struct stat *status, const char *path)
{
	struct mapping *mapping;

	pthread_mutex_lock(&mappings_lock);
	mapping = mapping_find_free();
	if (mapping)
		mapping = mapping_fill(mapping, fd, status, path);
	pthread_mutex_unlock(&mappings_lock);
	return mapping;
}

static void
mapping_free(struct mapping *mapping)
{
	char *begin = mapping->begin;
	size_t size = mapping->size;

	close(mapping->fd);
	atomic_store(&mapping->begin, NULL); /* before munmap(), after which another mapping may get this address */
	munmap(begin, size);
}

void
content_close(struct content *content)
{
	if (content->mapping)
		mapping_free(content->mapping);
	else
		free((void *)content->bytes);
	*content = (struct content){0};
}

static int
content_read_all(struct content *content, int fd)
{
	size_t room = 1 << 20;
	char *bytes = malloc(room);

	while (bytes) {
		ssize_t got = read(fd, bytes + content->size, room - content->size);

		if (got == 0) {
			content->bytes = bytes;
			return 0;
		}
		if (got < 0 && errno != EINTR)
			break;
		content->size += got > 0 ? (size_t)got : 0;
		if (content->size == room) {
			char *larger = realloc(bytes, room *= 2);

			if (!larger)
				break;
			bytes = larger;
		}
	}
	free(bytes);
	return -1;
}

static int
content_take(struct content *content, int fd, const char *path, bool is_input)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (S_ISREG(status.st_mode) && status.st_size > 0 && !is_input)
		content->mapping = mapping_new(fd, &status, path);
	if (!content->mapping)
		return content_read_all(content, fd);
	content->bytes = content->mapping->begin;
	content->size = (size_t)status.st_size;
	return 0;
}

/* The file that content_lend() was given last. */
static struct {
	const char *path; /* NULL: none */
	int file;
} lent;

int
content_lend(const char *path, int file, struct portolan_error *error)
{
	if (lent.path)
		close(lent.file);
	lent.path = NULL;
	lent.file = fcntl(file, F_DUPFD_CLOEXEC, 0);
	if (lent.file < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot keep %s open: %s", path, strerror(errno));
	lent.path = path;
	return 0;
}

void
content_rename_lent(const char *path)
{
	lent.path = path;
}

/* Opens the file anew where it was lent, so that each reader begins at its beginning. */
static int
content_open_file(const char *path)
{
	char name[64];

	if (!lent.path || strcmp(lent.path, path) != 0)
		return open(path, O_RDONLY | O_CLOEXEC);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", lent.file);
	return open(name, O_RDONLY | O_CLOEXEC);
}

int
content_open(struct content *content, const char *path, struct portolan_error *error)
{
	bool is_input = strcmp(path, "-") == 0;
	int fd = is_input ? dup(STDIN_FILENO) : content_open_file(path);
	int result, failure;

	*content = (struct content){0};
	result = content_take(content, fd, path, is_input);
	failure = errno;
	if (fd >= 0)
		close(fd);
	if (result < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", path, strerror(failure));
	return 0;
}

void
content_outlive_cuts(struct content *content)
{
	if (content->mapping)
		content->mapping->outlives_cuts = true;
}

bool
content_is_unchanged(const struct content *content)
{
	const struct mapping *mapping = content->mapping;
	struct stat now;

	if (!mapping)
		return true;
	return !mapping->was_cut && fstat(mapping->fd, &now) == 0 && (size_t)now.st_size == mapping->size &&
	       now.st_mtim.tv_sec == mapping->changed.tv_sec && now.st_mtim.tv_nsec == mapping->changed.tv_nsec;
}

/* Puts zeros in the place of the page at `from` and all after it. False: there is no memory for them. */
static bool
mapping_put_zeros(struct mapping *mapping, char *begin, size_t from)
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
content_take_bus_error(void *address, const char **path)
{
	for (size_t m = 0; m < MAPPINGS_MAX; m++) {
		struct mapping *mapping = &mappings[m];
		char *begin = mapping->begin;
		uintptr_t from = (uintptr_t)address - (uintptr_t)begin;

		if (!begin || from >= mapping->size)
			continue;
		*path = mapping->path;
		return mapping->outlives_cuts && mapping_put_zeros(mapping, begin, from);
	}
	return false;
}

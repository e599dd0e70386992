/*
 * spool_io.c: the descriptor of a spool file; its bytes, written whole or not at all, and their check.
 *
 * A child of fork() has a copy of every descriptor, and with it the lock, for as long as it lives, also when the
 * process that recorded was killed. So the child closes them, first of all: a fork waits while a file is being opened,
 * and the list of open spools is the one thing the two sides of it share.
 *
 * A record is written behind the last good one and only then counts; where writing fails the file is cut back. The
 * check is FNV-1a over words of eight bytes, with a rotation: each step is a bijection, so a change within one word is
 * always seen.
 */
#include "spool_io.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static struct spool *open_spools; /* under open_mutex */
static pthread_mutex_t open_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t registered = PTHREAD_ONCE_INIT;

static void
before_fork(void)
{
	pthread_mutex_lock(&open_mutex);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&open_mutex);
}

static void
in_child(void)
{
	for (; open_spools; open_spools = open_spools->following) {
		close(open_spools->file);
		open_spools->file = -1;
	}
	pthread_mutex_unlock(&open_mutex);
}

static void
register_handlers(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

int
spool_io_open(struct spool *spool, const char *path, int flags)
{
	pthread_once(&registered, register_handlers);
	pthread_mutex_lock(&open_mutex);
	spool->file = open(path, flags | O_CLOEXEC, 0600);
	if (spool->file >= 0) {
		spool->following = open_spools;
		open_spools = spool;
	}
	pthread_mutex_unlock(&open_mutex);
	return spool->file;
}

void
spool_io_close(struct spool *spool)
{
	if (spool->file < 0)
		return;
	pthread_mutex_lock(&open_mutex);
	for (struct spool **link = &open_spools; *link; link = &(*link)->following)
		if (*link == spool) {
			*link = spool->following;
			break;
		}
	close(spool->file);
	spool->file = -1;
	pthread_mutex_unlock(&open_mutex);
}

bool
spool_is_ours(const char *path)
{
	struct stat wanted, open;
	bool found = false;

	if (stat(path, &wanted) < 0)
		return false;
	pthread_mutex_lock(&open_mutex);
	for (const struct spool *spool = open_spools; spool && !found; spool = spool->following)
		found = fstat(spool->file, &open) == 0 && open.st_ino == wanted.st_ino && open.st_dev == wanted.st_dev;
	pthread_mutex_unlock(&open_mutex);
	return found;
}

uint64_t
spool_check(const void *head, size_t head_size, const void *body, size_t body_size)
{
	const struct {
		const uint8_t *data;
		size_t size;
	} parts[] = {{head, head_size - sizeof(uint64_t)}, {body, body_size}};
	/* Multiplied, or the size would cancel itself out when the head, which has it too, is added. */
	uint64_t check = (UINT64_C(0xcbf29ce484222325) ^ body_size) * UINT64_C(0x100000001b3);

	for (int part = 0; part < 2; part++)
		for (size_t at = 0; at < parts[part].size; at += 8) {
			size_t left = parts[part].size - at;
			uint64_t word = 0;

			memcpy(&word, parts[part].data + at, left < 8 ? left : 8);
			check = (check ^ word) * UINT64_C(0x100000001b3);
			check = check << 29 | check >> 35;
		}
	return check;
}

int
spool_fail(const struct spool *spool, const char *what, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_SYSTEM, "spool %s: cannot %s: %s", spool->path, what, strerror(errno));
}

int
spool_damaged(const struct spool *spool, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID,
	                 "spool %s is damaged at byte %" PRIu64 "; what stands before it is good", spool->path,
	                 spool->at);
}

int
spool_write(struct spool *spool, const void *head, size_t head_size, const void *body, size_t body_size,
            struct portolan_error *error)
{
	struct iovec parts[] = {{(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)body, body_size}};
	struct iovec *part = parts;
	uint64_t at = spool->end;

	if (head_size + body_size > spool->limit - spool->end || spool->end > spool->limit)
		return error_set(error, PORTOLAN_E_SYSTEM,
		                 "spool %s has reached its limit of %" PRIu64 " bytes (spool_bytes)", spool->path,
		                 spool->limit);
	while (part < parts + 2) {
		ssize_t written = pwritev(spool->file, part, (int)(parts + 2 - part), (off_t)at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			int status = spool_fail(spool, "write it", error);

			/* Readers stop at what is not whole, so it matters little if this fails as well. */
			(void)!ftruncate(spool->file, (off_t)spool->end);
			return status;
		}
		at += (uint64_t)written;
		while (part < parts + 2 && (size_t)written >= part->iov_len) {
			written -= (ssize_t)part->iov_len;
			part++;
		}
		if (part < parts + 2) {
			part->iov_base = (char *)part->iov_base + written;
			part->iov_len -= (size_t)written;
		}
	}
	spool->end = at;
	return 0;
}

ssize_t
spool_read_at(const struct spool *spool, uint64_t offset, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t count = pread(spool->file, (char *)data + done, size - done, (off_t)(offset + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -1;
		if (count == 0)
			break;
		done += (size_t)count;
	}
	return (ssize_t)done;
}

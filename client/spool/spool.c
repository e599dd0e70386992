/*
 * spool.c: reading and writing of spool files.
 *
 * A file gets its final name when it is locked and has a header: whoever looks for left-over files sees no other.
 */
#include "spool.h"

#include "directory.h"
#include "spool_io.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VERSION 2
#define LONGEST_TARGET 8192
#define UNFINISHED_SECONDS 60 /* a file without its name is at work for less than a second */
#define TRIES 5               /* another run may remove the directory just as we are about to use it */

static const char magic[16] = "portolan spool\n";

struct header {
	char magic[16];
	uint32_t version, open_size;
	uint64_t first;
	uint8_t store[WIRE_STORE_SIZE];
	uint32_t has_store, target_size;
	uint64_t check;
};

struct head {
	uint32_t size, kind;
	uint64_t sequence, position, observations, check;
};

_Static_assert(sizeof(struct header) == 64 && sizeof(struct head) == 40, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they are");

static struct spool *
new_spool(const char *path)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	if (!spool)
		return NULL;
	spool->file = -1;
	spool->path = strdup(path);
	if (!spool->path) {
		free(spool);
		return NULL;
	}
	return spool;
}

void
spool_close(struct spool *spool)
{
	if (!spool)
		return;
	spool_io_close(spool);
	free(spool->path);
	free(spool->made);
	free(spool->open);
	free(spool->buffer);
	free(spool);
}

void
spool_remove(struct spool *spool)
{
	if (!spool)
		return;
	unlink(spool->path);
	if (spool->made)
		rmdir(spool->made);
	spool_close(spool);
}

/* Opens DIRECTORY/….new, the directory being made if it is not there. */
static int
make_file(struct spool *spool, const char *directory, const char *path, struct portolan_error *error)
{
	for (int i = 0; i < TRIES; i++) {
		bool made;
		int status = directory_make(directory, "spool", &made, error);

		if (status < 0)
			return status;
		if (made && !spool->made)
			spool->made = strdup(directory);
		if (spool_io_open(spool, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW) >= 0 || errno != ENOENT)
			break;
	}
	if (spool->file < 0)
		return spool_fail(spool, "make it", error);
	return flock(spool->file, LOCK_EX | LOCK_NB) < 0 ? spool_fail(spool, "lock it", error) : 0;
}

/* For what the spool knows of its session. */
static struct header
make_header(const struct spool *spool)
{
	struct header header = {.version = VERSION,
	                        .open_size = (uint32_t)spool->open_size,
	                        .first = spool->first,
	                        .has_store = spool->has_store,
	                        .target_size = (uint32_t)strlen(spool->target)};

	memcpy(header.magic, magic, sizeof(magic));
	memcpy(header.store, spool->store, sizeof(header.store));
	header.check = spool_check(&header, sizeof(header), spool->open, spool->open_size + header.target_size);
	return header;
}

static int
begin(struct spool *spool, const struct spool_session *session, uint64_t first, struct portolan_error *error)
{
	const char *target = session->target ? session->target : "";
	size_t size = session->open.size;
	struct header header;

	/* One that is too long to be kept is as good as none. */
	if (strlen(target) > LONGEST_TARGET)
		target = "";
	spool->open = malloc(size + strlen(target) + 1);
	if (!spool->open)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	memcpy(spool->open, session->open.data, size);
	memcpy(spool->open + size, target, strlen(target) + 1);
	spool->open_size = size;
	spool->target = (const char *)spool->open + size;
	spool->has_store = session->store != NULL;
	if (session->store)
		memcpy(spool->store, session->store, sizeof(spool->store));
	spool->first = spool->next = first;
	spool->last = first - 1;
	header = make_header(spool);
	return spool_write(spool, &header, sizeof(header), spool->open, size + header.target_size, error);
}

int
spool_set_store(struct spool *spool, const uint8_t store[WIRE_STORE_SIZE], struct portolan_error *error)
{
	struct header header;

	memcpy(spool->store, store, sizeof(spool->store));
	spool->has_store = true;
	header = make_header(spool);
	return pwrite(spool->file, &header, sizeof(header), 0) == (ssize_t)sizeof(header)
	               ? 0
	               : spool_fail(spool, "write it", error);
}

void
spool_release(struct spool *spool)
{
	flock(spool->file, LOCK_UN);
}

int
spool_create(struct spool **spool, const char *directory, const struct spool_session *session, uint64_t first,
             uint64_t limit, struct portolan_error *error)
{
	char *path = NULL, *passing = NULL;
	struct spool *created = NULL;
	uint64_t digits = 0;
	int status;

	for (int i = 0; i < 8; i++)
		digits = digits << 8 | session->id[i];
	if (asprintf(&path, "%s/%016" PRIx64 SPOOL_SUFFIX, directory, digits) < 0)
		path = NULL;
	if (path && asprintf(&passing, "%s/%016" PRIx64 SPOOL_UNFINISHED, directory, digits) < 0)
		passing = NULL;
	if (passing)
		created = new_spool(path);
	free(path);
	if (!created) {
		free(passing);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	created->limit = limit;
	status = make_file(created, directory, passing, error);
	if (status == 0)
		status = begin(created, session, first, error);
	if (status == 0 && rename(passing, created->path) < 0)
		status = spool_fail(created, "name it", error);
	created->at = created->end;
	if (status == 0) {
		directory_sync(directory);
		*spool = created;
	} else {
		if (created->file >= 0)
			unlink(passing);
		if (created->made)
			rmdir(created->made);
		spool_close(created);
	}
	free(passing);
	return status;
}

static int
open_and_lock(struct spool *spool, bool to_remove, struct portolan_error *error)
{
	struct stat status;

	if (spool_io_open(spool, spool->path, (to_remove ? O_RDWR | O_NOFOLLOW : O_RDONLY) | O_NONBLOCK) < 0)
		return spool_fail(spool, "open it", error);
	if (flock(spool->file, (to_remove ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return spool_fail(spool, "lock it", error);
		error_set(error, PORTOLAN_E_REFUSED,
		          "spool %s belongs to a process that is running, and sends it or leaves it when it ends",
		          spool->path);
		return SPOOL_BUSY;
	}
	if (fstat(spool->file, &status) < 0)
		return spool_fail(spool, "look at it", error);
	if (status.st_nlink == 0)
		return SPOOL_BUSY; /* whoever had it has just sent it */
	if (!S_ISREG(status.st_mode))
		return error_set(error, PORTOLAN_E_INVALID, "%s is no file", spool->path);
	spool->end = (uint64_t)status.st_size;
	return 0;
}

static int
read_header(struct spool *spool, struct portolan_error *error)
{
	struct header header;
	ssize_t size = spool_read_at(spool, 0, &header, sizeof(header));
	size_t body;

	if (size < 0)
		return spool_fail(spool, "read it", error);
	if (size < (ssize_t)sizeof(header) || memcmp(header.magic, magic, sizeof(magic)) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is no spool file", spool->path);
	if (header.version != VERSION)
		return error_set(error, PORTOLAN_E_INVALID, "spool %s is of version %u; this program knows version %d",
		                 spool->path, header.version, VERSION);
	if (header.open_size > WIRE_MAX_FRAME || header.target_size > LONGEST_TARGET || header.first == 0)
		return spool_damaged(spool, error);
	body = header.open_size + header.target_size;
	spool->open = malloc(body + 1);
	if (!spool->open)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	size = spool_read_at(spool, sizeof(header), spool->open, body);
	if (size < 0)
		return spool_fail(spool, "read it", error);
	if ((size_t)size < body || header.check != spool_check(&header, sizeof(header), spool->open, body))
		return spool_damaged(spool, error);
	spool->open[body] = '\0';
	spool->open_size = header.open_size;
	spool->target = (const char *)spool->open + header.open_size;
	spool->has_store = header.has_store != 0;
	memcpy(spool->store, header.store, sizeof(spool->store));
	spool->first = spool->next = header.first;
	spool->last = UINT64_MAX; /* not known */
	spool->at = sizeof(header) + body;
	return 0;
}

int
spool_open(struct spool **spool, const char *path, bool to_remove, struct portolan_error *error)
{
	struct spool *opened = new_spool(path);
	int status;

	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	status = open_and_lock(opened, to_remove, error);
	if (status == 0)
		status = read_header(opened, error);
	if (status == 0)
		*spool = opened;
	else
		spool_close(opened);
	return status;
}

int
spool_append(struct spool *spool, const struct spool_record *record, const void *frame, size_t size,
             struct portolan_error *error)
{
	struct head head = {.size = (uint32_t)size,
	                    .kind = record->kind,
	                    .sequence = record->sequence,
	                    .position = record->position,
	                    .observations = record->observations};
	int status;

	head.check = spool_check(&head, sizeof(head), frame, size);
	status = spool_write(spool, &head, sizeof(head), frame, size, error);
	if (status == 0)
		spool->last = record->sequence;
	return status;
}

int
spool_sync(struct spool *spool, struct portolan_error *error)
{
	return fdatasync(spool->file) < 0 ? spool_fail(spool, "write it to disk", error) : 0;
}

static int
make_room(struct spool *spool, size_t size, struct portolan_error *error)
{
	uint8_t *buffer;

	if (size <= spool->room)
		return 0;
	buffer = realloc(spool->buffer, size);
	if (!buffer)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a frame of %zu bytes", size);
	spool->buffer = buffer;
	spool->room = size;
	return 0;
}

int
spool_read(struct spool *spool, struct spool_record *record, struct wire_bytes *frame, struct portolan_error *error)
{
	struct head head;
	uint64_t left = spool->end - spool->at;
	ssize_t size;
	int status;

	if (left < sizeof(head))
		return SPOOL_END;
	size = spool_read_at(spool, spool->at, &head, sizeof(head));
	if (size < 0)
		return spool_fail(spool, "read it", error);
	if (size < (ssize_t)sizeof(head))
		return SPOOL_END;
	if (head.size == 0 || head.size > WIRE_MAX_FRAME || head.sequence != spool->next)
		return spool_damaged(spool, error);
	if (head.size > left - sizeof(head))
		return SPOOL_END;
	status = make_room(spool, head.size, error);
	if (status < 0)
		return status;
	size = spool_read_at(spool, spool->at + sizeof(head), spool->buffer, head.size);
	if (size < 0)
		return spool_fail(spool, "read it", error);
	if ((size_t)size < head.size)
		return SPOOL_END;
	if (head.check != spool_check(&head, sizeof(head), spool->buffer, head.size))
		return spool_damaged(spool, error);
	*record = (struct spool_record){(enum wire_kind)head.kind, head.sequence, head.position, head.observations};
	*frame = (struct wire_bytes){spool->buffer, head.size};
	spool->at += sizeof(head) + head.size;
	spool->next++;
	return 0;
}

void
spool_unread(struct spool *spool, size_t size)
{
	spool->at -= sizeof(struct head) + size;
	spool->next--;
}

void
spool_skip(struct spool *spool)
{
	spool->at = spool->end;
	spool->next = spool->last + 1;
}

void
spool_remove_unfinished(const char *path)
{
	int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (file < 0)
		return;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    status.st_mtime < time(NULL) - UNFINISHED_SECONDS && flock(file, LOCK_EX | LOCK_NB) == 0)
		unlink(path);
	close(file);
}

bool
spool_is_one(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char begin[sizeof(magic)];
	bool is_one;

	if (file < 0)
		return false;
	is_one = read(file, begin, sizeof(begin)) == (ssize_t)sizeof(begin) && memcmp(begin, magic, sizeof(magic)) == 0;
	close(file);
	return is_one;
}

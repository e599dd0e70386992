/*
 * spool.c: keeps on disk the frames of a session that no collector has acknowledged yet. The client's I/O thread writes
 * and sends such a spool file; `import` of the collector reads it. spool.h describes the file.
 *
 * A new file is empty until it is locked and has a header. A process that finds an empty file without a lock removes
 * it; a writer that loses its file in this way makes another one. A record is written after the last complete one, and
 * counts once it is complete; if writing fails, the file is cut back.
 */
#include "spool.h"

#include "directory.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 2
#define VERSION_WITH_TEXTS 3 /* of a file in which there are texts, which earlier programs do not know */
#define LONGEST_TARGET 8192
#define TRIES 100 /* as another run may remove the directory, or the empty file, just before it is used */

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
	uint64_t sequence, position, count, check;
};

_Static_assert(sizeof(struct header) == 64 && sizeof(struct head) == 40, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they are");

/* Fills in `error` for a system call that has just failed. */
static int
spool_fail(const struct spool *spool, const char *what, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_SYSTEM, "spool %s: cannot %s: %s", spool->path, what, strerror(errno));
}

static int
spool_damaged(const struct spool *spool, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "spool %s is damaged at byte %" PRIu64 "; the part before is good",
	                 spool->path, spool->at);
}

static uint64_t
check_add_word(uint64_t check, uint64_t word)
{
	check = (check ^ word) * UINT64_C(0x100000001b3);
	return check << 29 | check >> 35;
}

/* Continues a check over more bytes. Whole words are copied with a constant size, as a copy of variable size would make
 * this ten times slower. */
static uint64_t
check_add_bytes(uint64_t check, const uint8_t *data, size_t size)
{
	uint64_t word;

	for (; size >= sizeof(word); data += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		check = check_add_word(check, word);
	}
	word = 0;
	memcpy(&word, data, size);
	return size ? check_add_word(check, word) : check;
}

/* The check of a head and the bytes after it; the head's last eight bytes hold the check itself. FNV-1a over words of
 * eight bytes, with a rotation. Each step is a bijection, so a change within one word is always detected. */
static uint64_t
check_of(const void *head, size_t head_size, const void *body, size_t body_size)
{
	/* The size is multiplied: otherwise it would cancel out with the size in the head. */
	const uint64_t begin = (UINT64_C(0xcbf29ce484222325) ^ body_size) * UINT64_C(0x100000001b3);

	return check_add_bytes(check_add_bytes(begin, head, head_size - sizeof(uint64_t)), body, body_size);
}

/* Writes all of `data` at `offset`. Returns 0, or -1 with errno. */
static int
spool_write_at(const struct spool *spool, uint64_t offset, const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t count =
		        pwrite(spool->held.file, (const char *)data + done, size - done, (off_t)(offset + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return -1;
		done += (size_t)count;
	}
	return 0;
}

/* Appends both parts at spool->end, and moves that; or appends nothing. */
static int
spool_append_bytes(struct spool *spool, const void *head, size_t head_size, const void *body, size_t body_size,
                   struct portolan_error *error)
{
	size_t size = head_size + body_size;
	int status;

	if (spool->end > spool->limit || size > spool->limit - spool->end)
		return error_set(error, PORTOLAN_E_SYSTEM,
		                 "spool %s has reached its limit of %" PRIu64 " bytes (spool_bytes)", spool->path,
		                 spool->limit);
	if (spool_write_at(spool, spool->end, head, head_size) == 0 &&
	    spool_write_at(spool, spool->end + head_size, body, body_size) == 0) {
		spool->end += size;
		return 0;
	}
	status = spool_fail(spool, "write it", error);
	/* If cutting the file fails, that does little harm: readers stop at a record that is not whole. */
	(void)!ftruncate(spool->held.file, (off_t)spool->end);
	return status;
}

/* Reads `size` bytes at `offset`. SPOOL_END: the file ends before. */
static int
spool_read_at(const struct spool *spool, uint64_t offset, void *data, size_t size, struct portolan_error *error)
{
	if (offset > spool->end || size > spool->end - offset)
		return SPOOL_END;
	for (size_t done = 0; done < size;) {
		ssize_t count = pread(spool->held.file, (char *)data + done, size - done, (off_t)(offset + done));

		if (count == 0)
			return SPOOL_END;
		if (count < 0 && errno != EINTR)
			return spool_fail(spool, "read it", error);
		done += count > 0 ? (size_t)count : 0;
	}
	return 0;
}

/* Makes the structure. Takes over `path`, even if it fails. Fails if `path` is NULL. */
static struct spool *
spool_new(char *path)
{
	struct spool *spool = path ? calloc(1, sizeof(*spool)) : NULL;

	if (!spool) {
		free(path);
		return NULL;
	}
	spool->held.file = -1;
	spool->path = path;
	return spool;
}

/* The path of a session's spool file. NULL: out of memory. */
static char *
spool_make_path(const char *directory, const uint8_t *id)
{
	uint64_t digits = 0;
	char *path;

	for (int i = 0; i < 8; i++)
		digits = digits << 8 | id[i];
	return asprintf(&path, "%s/%016" PRIx64 SPOOL_SUFFIX, directory, digits) < 0 ? NULL : path;
}

void
spool_close(struct spool *spool)
{
	if (!spool)
		return;
	held_close(&spool->held);
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

/* Locks the file. Returns 0, or -1 with errno. May wait for another process that checks whether the file is empty. */
static int
spool_lock(const struct spool *spool)
{
	int result;

	while ((result = flock(spool->held.file, LOCK_EX)) < 0 && errno == EINTR)
		continue;
	return result;
}

/* Makes the file and locks it. Makes its directory first, if there is none. */
static int
spool_make_file(struct spool *spool, const char *directory, struct portolan_error *error)
{
	struct stat status = {0};

	for (int i = 0; i < TRIES && status.st_nlink == 0; i++) {
		bool made;
		int result = directory_make(directory, "spool", &made, error);

		if (result < 0)
			return result;
		if (made && !spool->made)
			spool->made = strdup(directory);
		held_close(&spool->held);
		if (held_open(&spool->held, spool->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW) < 0) {
			if (errno != ENOENT)
				return spool_fail(spool, "make it", error);
		} else if (spool_lock(spool) < 0 || fstat(spool->held.file, &status) < 0) {
			return spool_fail(spool, "lock it", error);
		}
	}
	return status.st_nlink == 0 ? spool_fail(spool, "keep it", error) : 0;
}

/* Makes the header of the file from what `spool` knows of the session. */
static struct header
spool_make_header(const struct spool *spool)
{
	struct header header = {.version = spool->has_texts ? VERSION_WITH_TEXTS : VERSION,
	                        .open_size = (uint32_t)spool->open_size,
	                        .first = spool->first,
	                        .has_store = spool->has_store,
	                        .target_size = (uint32_t)strlen(spool->target)};

	memcpy(header.magic, magic, sizeof(magic));
	memcpy(header.store, spool->store, sizeof(header.store));
	header.check = check_of(&header, sizeof(header), spool->open, spool->open_size + header.target_size);
	return header;
}

/* Allocates memory for the session's `open` frame and, behind it, the target. */
static int
spool_make_body(struct spool *spool, size_t open_size, size_t target_size, struct portolan_error *error)
{
	spool->open = malloc(open_size + target_size + 1);
	if (!spool->open)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	spool->open[open_size + target_size] = '\0';
	spool->open_size = open_size;
	spool->target = (const char *)spool->open + open_size;
	return 0;
}

static int
spool_begin(struct spool *spool, const struct spool_session *session, uint64_t first, struct portolan_error *error)
{
	size_t size = session->open.size, target_size = session->target ? strlen(session->target) : 0;
	struct header header;
	int status;

	/* A target that is too long is not kept. */
	if (target_size > LONGEST_TARGET)
		target_size = 0;
	status = spool_make_body(spool, size, target_size, error);
	if (status < 0)
		return status;
	memcpy(spool->open, session->open.data, size);
	if (target_size > 0)
		memcpy(spool->open + size, session->target, target_size);
	spool->has_store = session->store != NULL;
	if (session->store)
		memcpy(spool->store, session->store, sizeof(spool->store));
	spool->first = spool->next = first;
	spool->last = first - 1;
	header = spool_make_header(spool);
	return spool_append_bytes(spool, &header, sizeof(header), spool->open, size + target_size, error);
}

static int
spool_rewrite_header(const struct spool *spool, struct portolan_error *error)
{
	struct header header = spool_make_header(spool);

	return spool_write_at(spool, 0, &header, sizeof(header)) < 0 ? spool_fail(spool, "write it", error) : 0;
}

int
spool_set_store(struct spool *spool, const uint8_t store[WIRE_STORE_SIZE], struct portolan_error *error)
{
	memcpy(spool->store, store, sizeof(spool->store));
	spool->has_store = true;
	return spool_rewrite_header(spool, error);
}

void
spool_release(struct spool *spool)
{
	flock(spool->held.file, LOCK_UN);
}

int
spool_create(struct spool **spool, const char *directory, const struct spool_session *session, uint64_t first,
             uint64_t limit, struct portolan_error *error)
{
	struct spool *created = spool_new(spool_make_path(directory, session->id));
	int status;

	if (!created)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	created->limit = limit;
	status = spool_make_file(created, directory, error);
	if (status == 0)
		status = spool_begin(created, session, first, error);
	if (status < 0) {
		if (created->held.file >= 0)
			unlink(created->path);
		if (created->made)
			rmdir(created->made);
		spool_close(created);
		return status;
	}
	created->at = created->end;
	directory_sync(directory);
	*spool = created;
	return 0;
}

static int
spool_open_and_lock(struct spool *spool, bool to_remove, struct portolan_error *error)
{
	struct stat status;

	if (held_open(&spool->held, spool->path, (to_remove ? O_RDWR | O_NOFOLLOW : O_RDONLY) | O_NONBLOCK) < 0)
		return spool_fail(spool, "open it", error);
	if (flock(spool->held.file, (to_remove ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return spool_fail(spool, "lock it", error);
		error_set(error, PORTOLAN_E_REFUSED,
		          "spool %s belongs to a process that is running, and sends it or leaves it when it ends",
		          spool->path);
		return SPOOL_BUSY;
	}
	if (fstat(spool->held.file, &status) < 0)
		return spool_fail(spool, "look at it", error);
	if (status.st_nlink == 0)
		return SPOOL_BUSY; /* the process that held the file has just sent it */
	if (!S_ISREG(status.st_mode))
		return error_set(error, PORTOLAN_E_INVALID, "%s is no file", spool->path);
	if (to_remove && status.st_size == 0) {
		unlink(spool->path);
		return SPOOL_BUSY;
	}
	spool->end = (uint64_t)status.st_size;
	return 0;
}

static int
spool_read_header(struct spool *spool, struct portolan_error *error)
{
	struct header header;
	int status = spool_read_at(spool, 0, &header, sizeof(header), error);
	size_t body;

	if (status < 0)
		return status;
	if (status == SPOOL_END || memcmp(header.magic, magic, sizeof(magic)) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is no spool file", spool->path);
	if (header.version != VERSION && header.version != VERSION_WITH_TEXTS)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "spool %s is of version %u; this program knows versions 2 and 3: use %s portolan",
		                 spool->path, header.version,
		                 header.version > VERSION_WITH_TEXTS ? "a newer" : "the same version of");
	if (header.open_size > WIRE_MAX_FRAME || header.target_size > LONGEST_TARGET || header.first == 0)
		return spool_damaged(spool, error);
	body = header.open_size + header.target_size;
	status = spool_make_body(spool, header.open_size, header.target_size, error);
	if (status == 0)
		status = spool_read_at(spool, sizeof(header), spool->open, body, error);
	if (status < 0)
		return status;
	if (status == SPOOL_END || header.check != check_of(&header, sizeof(header), spool->open, body))
		return spool_damaged(spool, error);
	spool->has_texts = header.version == VERSION_WITH_TEXTS;
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
	struct spool *opened = spool_new(strdup(path));
	int status;

	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	status = spool_open_and_lock(opened, to_remove, error);
	if (status == 0)
		status = spool_read_header(opened, error);
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
	                    .count = record->observations + record->texts};
	int status = 0;

	/* On disk before there are texts: never does a file of the earlier version hold some. */
	if (record->kind == WIRE_EXAMPLES && !spool->has_texts) {
		spool->has_texts = true;
		status = spool_rewrite_header(spool, error);
		if (status == 0)
			status = spool_sync(spool, error);
		if (status < 0) {
			spool->has_texts = false;
			return status;
		}
	}
	head.check = check_of(&head, sizeof(head), frame, size);
	status = spool_append_bytes(spool, &head, sizeof(head), frame, size, error);
	if (status == 0)
		spool->last = record->sequence;
	return status;
}

int
spool_sync(struct spool *spool, struct portolan_error *error)
{
	return fdatasync(spool->held.file) < 0 ? spool_fail(spool, "write it to disk", error) : 0;
}

static bool
head_is_valid(const struct head *head, uint64_t sequence)
{
	const bool has_number = head->kind == WIRE_BATCH || head->kind == WIRE_END_EPOCH || head->kind == WIRE_CLOSE ||
	                        head->kind == WIRE_EXAMPLES;

	return has_number && head->size > 0 && head->size <= WIRE_MAX_FRAME && head->sequence == sequence;
}

int
spool_read(struct spool *spool, struct spool_record *record, struct wire_bytes *frame, struct portolan_error *error)
{
	struct head head;
	int status = spool_read_at(spool, spool->at, &head, sizeof(head), error);

	if (status != 0)
		return status;
	if (!head_is_valid(&head, spool->next))
		return spool_damaged(spool, error);
	if (!spool->buffer && !(spool->buffer = malloc(WIRE_MAX_FRAME)))
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a frame of %u bytes", WIRE_MAX_FRAME);
	status = spool_read_at(spool, spool->at + sizeof(head), spool->buffer, head.size, error);
	if (status != 0)
		return status;
	if (head.check != check_of(&head, sizeof(head), spool->buffer, head.size))
		return spool_damaged(spool, error);
	*record = (struct spool_record){(enum wire_kind)head.kind, head.sequence, head.position, head.count, 0};
	if (head.kind == WIRE_EXAMPLES) {
		record->texts = head.count;
		record->observations = 0;
	}
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

/*
 * spool.h: keeps on disk the frames of one session that no collector has acknowledged yet: spool files. The client's
 * I/O thread writes and sends them; `import` of the collector reads them too.
 *
 *	header	16 bytes "portolan spool\n\0"
 *		u4 version (2; 3 where a record has texts of examples); u4 size of the `open` frame; u8 sequence number of the first record's frame
 *		16 bytes id of the store that the session belongs to; u4 1 if that id is known
 *		u4 size of the target; u8 check of these 56 bytes and of what follows
 *		the session's `open` frame (WIRE.md)
 *		the target, text: the endpoint, or the store's directory, where the session was to be recorded
 *	record	u4 size of the frame; u4 kind (enum wire_kind, of a frame that has a sequence number); u8 that number
 *		u8 position (of use to its writer only); u8 observations in the frame, or examples with texts
 *		u8 check of these 32 bytes and of the frame
 *		the frame
 *
 * Numbers are little-endian. Frames are consecutive. A record at the end that a killed writer left half-written does
 * not count. The name is DIRECTORY/<16 hexadecimal digits of the session>.spool. The process that writes or sends the
 * file holds an exclusive flock, which ends with the process; its forked children do not have it. An empty file was not
 * begun yet, or its process was killed at that moment.
 *
 * One thread per spool. Errors: PORTOLAN_E_SYSTEM (cannot be read or written; also full), PORTOLAN_E_INVALID (is no
 * spool, or damaged), PORTOLAN_E_MEMORY; the message names the file. Positive answers: SPOOL_….
 */
#ifndef CLIENT_SPOOL_H
#define CLIENT_SPOOL_H

#include "held.h"

#include <portolan/wire.h>

#define SPOOL_SUFFIX ".spool"

enum {
	SPOOL_END = 1, /* there is no further record that is whole */
	/* Another process has the file open (`error` says so), or the file was removed meanwhile (`error` is not set). */
	SPOOL_BUSY = 2,
};

struct spool_record {
	enum wire_kind kind; /* of the frame, which has a sequence number */
	uint64_t sequence, position, observations;
	uint64_t texts; /* examples with texts in the frame */
};

struct spool {
	struct held held;
	char *path;
	char *made;    /* directory that was made for it, or NULL */
	uint8_t *open; /* the session's `open` frame */
	size_t open_size;
	const char *target;             /* endpoint or store directory for which it was recorded; lies behind `open` */
	uint8_t store[WIRE_STORE_SIZE]; /* id of the store it belongs to */
	bool has_store;                 /* the id is known */
	bool has_texts;                 /* the file may hold texts of examples, and its header says so */
	uint64_t first;                 /* sequence number of the first record */
	uint64_t limit;                 /* bytes */
	uint64_t end, at;    /* end: offset after the last record written; at: of the next record to be read */
	uint64_t last, next; /* sequence numbers: of the last record written, and of the next one to be read */
	uint8_t *buffer;     /* for a frame of WIRE_MAX_FRAME bytes; NULL: nothing was read yet */
};

/* A session, as its file's header describes it. */
struct spool_session {
	const uint8_t *id;      /* WIRE_SESSION_SIZE bytes */
	struct wire_bytes open; /* its `open` frame */
	const char *target;     /* NULL: not said */
	const uint8_t *store;   /* NULL: not known yet */
};

/* Makes the directory, if need be, and in it the file, with a header. `first`: the sequence number of the first frame
 * that will be appended. `limit`: most bytes of the file. */
int spool_create(struct spool **spool, const char *directory, const struct spool_session *session, uint64_t first,
                 uint64_t limit, struct portolan_error *error);

/* Writes the id of the session's store into the header, once it is known. */
int spool_set_store(struct spool *spool, const uint8_t store[WIRE_STORE_SIZE], struct portolan_error *error);

/* Gives up the lock; the file stays. */
void spool_release(struct spool *spool);

/* Opens a file, to read it from the first record on. `to_remove`: the caller will remove it in the end, so it is locked
 * exclusively; an empty file is removed at once, and SPOOL_BUSY returned. Otherwise the file is locked so that no other
 * process can lock it exclusively. SPOOL_BUSY. */
int spool_open(struct spool **spool, const char *path, bool to_remove, struct portolan_error *error);

void spool_close(struct spool *spool); /* the file stays; NULL accepted */
/* Removes the file, and its directory if that was made for the file and is empty. NULL accepted. */
void spool_remove(struct spool *spool);

/* Appends a frame; if that fails, nothing. */
int spool_append(struct spool *spool, const struct spool_record *record, const void *frame, size_t size,
                 struct portolan_error *error);
int spool_sync(struct spool *spool, struct portolan_error *error);

/* Reads the next record. *frame is valid until the next call. SPOOL_END. */
int spool_read(struct spool *spool, struct spool_record *record, struct wire_bytes *frame,
               struct portolan_error *error);
/* Goes back, so that the record just read, whose frame had `size` bytes, is read again. */
void spool_unread(struct spool *spool, size_t size);
void spool_skip(struct spool *spool); /* moves to the end of the last record written */

/* Does the file begin like a spool file? */
bool spool_is_one(const char *path);

#endif

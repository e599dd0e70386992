/*
 * session.h: the client's side of the protocol (WIRE.md) as a state machine, without socket, clock or thread.
 *
 * It is given frames that arrived and the time, and gives frames to send. Every sequenced frame is kept in its backlog
 * until it is acknowledged, and is given out again after the session had to be opened again. Memory is bounded:
 * session_has_room() says when another frame may be added, which is when it may be sent at once; beyond that frames can
 * go to a spool.
 *
 * Times are milliseconds of a clock that never goes back. One thread.
 */
#ifndef CLIENT_SESSION_H
#define CLIENT_SESSION_H

#include "spool.h"

#include <portolan/wire.h>

#define SESSION_OPEN_GROWS 64u       /* bytes: what an `open` says later that it does not say at first */
#define SESSION_OPEN_RETRY_MS 1000   /* without an answer `open` is sent again */
#define SESSION_CONTACT_MS 5000      /* nothing heard for so long: open again */
#define SESSION_PAUSE_MS 1000        /* after `unavailable` */
#define SESSION_MAX_KEPT (16u << 20) /* bytes of frames not acknowledged, whatever the credit */

enum session_state {
	SESSION_OPENING, /* `open` is to be sent, or was, and has no answer yet, or one to try again later */
	SESSION_OPEN,
	SESSION_CLOSED, /* `close` is acknowledged */
	SESSION_FAILED, /* `failure` says why; for good */
	SESSION_ALONE, /* offline, and refused when a collector came: recorded to the spool for good; `failure` says why
	                */
};

/*
 * The frames that are not acknowledged, in order: in memory those up to `loaded`; a file, if there is one, holds those
 * up to `spooled`, and whatever of them is not acknowledged. While `spooling`, frames are added to the file alone and
 * come into memory one by one as they are to be sent; otherwise they are added to memory. So a file never has a gap,
 * and the process may be killed at any time.
 */
struct backlog_frame {
	struct backlog_frame *following;
	struct spool_record record;
	size_t size;
	uint8_t data[];
};

struct backlog {
	struct backlog_frame *first, *last; /* in memory, by ascending sequence */
	struct backlog_frame *next;         /* to be sent; NULL: all in memory are under way */
	uint64_t kept_bytes, under_way_bytes;
	uint64_t acknowledged, loaded, spooled, sequence; /* numbers of frames; `sequence`: of the last one added */
	struct spool *spool;                              /* owned; NULL: none */
	bool spooling;
	bool is_left_over; /* the file of another process, read to its end: `sequence` is not known before */
	bool closed;       /* `close` is acknowledged */
	bool has_close;    /* `close` was added or read: nothing may follow */

	/* Of what is acknowledged: the last position, all observations. */
	uint64_t settled_position, settled_observations;
	uint64_t added_observations, spooled_observations; /* all there ever were; of these, written to a file */
};

struct session {
	enum session_state state;
	uint8_t id[WIRE_SESSION_SIZE];
	uint8_t *open; /* the encoded `open` frame, as it was at first */
	size_t open_size;
	wire_encoder *encoder;
	wire_decoder *decoder;

	struct backlog backlog; /* what is not acknowledged */
	uint64_t credit;
	uint64_t sent;                  /* the highest number that went out on any opening */
	const char *directory;          /* of spool files; the owner's to set, as the next two */
	uint64_t spool_limit;           /* bytes */
	const char *target;             /* where it records to, for the spool file */
	uint8_t store[WIRE_STORE_SIZE]; /* that it is in, */
	bool has_store;                 /* if that is known */
	bool offline;                   /* goes on without ever having been opened */

	enum wire_kind offered; /* what session_next() gave out last */
	int64_t last_sent, last_heard;
	int64_t open_due; /* when `open` is to be sent, while SESSION_OPENING */

	struct wire_counts counts; /* what `ping` and `close` tell; the owner's to set */

	/* For the user. */
	enum wire_id_kind id_kind;  /* as `opened` told */
	uint64_t opened_count;      /* times `opened` began or began again */
	uint64_t replaced, refused; /* by the collector, of this session */
	struct portolan_error
	        failure; /* SESSION_FAILED, SESSION_ALONE; code 0: none. A damaged left-over file sets it too */
	enum wire_error_code refusal;    /* what the collector said to it; 0: the failure is our own */
	struct portolan_error complaint; /* the last `refused` or `unavailable`; code 0: none */
};

/* `open`: the encoded `open` frame, with the session's id; it is copied. */
int session_init(struct session *session, struct wire_bytes open, int64_t now, struct portolan_error *error);
/* Of a left-over file, which it takes over if it succeeds. */
int session_init_left_over(struct session *session, struct spool *spool, int64_t now, struct portolan_error *error);
void session_deinit(struct session *session); /* leaves a spool file; twice does no harm */

/* The only store it may be sent to; else the first that answers becomes that. */
void session_set_store(struct session *session, const uint8_t store[WIRE_STORE_SIZE]);
/* Frames go to a file in session->directory from now on, until it is sent; backlog.spooling says so. */
int session_spill(struct session *session, struct portolan_error *error);

/* Goes on without an answer: to the spool, and when a collector comes, as a late session. What it then refuses is no
 * failure. On failure nothing has changed. */
int session_go_offline(struct session *session, struct portolan_error *error);

/* The session is open, everything kept is under way, and credit is left for a frame of `bytes`. */
bool session_has_room(const struct session *session, size_t bytes);

/* Adds a batch, the end of an epoch or a close, giving it the session's id and the next sequence number: where
 * session_has_room(), or while spooling. `position` comes back in backlog.settled_position. On failure (no memory; the
 * spool cannot be written) nothing has changed. */
int session_add(struct session *session, struct wire_frame *frame, uint64_t position, struct portolan_error *error);

/* A frame from the collector. What is no frame of this session is ignored. */
void session_receive(struct session *session, const void *data, size_t size, int64_t now);

/* Contact is lost, or the collector is known to be another one now: opens again, unless the session has ended. */
void session_lost(struct session *session);

/* Lets time pass, then: the frame to send now, if any. It stays the next one until session_sent(); it is valid until
 * the next call of any function but session_sent(). */
bool session_next(struct session *session, int64_t now, struct wire_bytes *frame);
void session_sent(struct session *session, int64_t now);

/* Nothing is left to be acknowledged. */
static inline bool
backlog_is_empty(const struct backlog *backlog)
{
	return !backlog->spooling && backlog->acknowledged >= backlog->sequence;
}

/* Observations in the file that are not acknowledged: also where it could not take everything. */
uint64_t backlog_saved(const struct backlog *backlog);

/* Of backlog.c, for session.c. Reads the next frame to be sent from the file, if none is in memory. What the file can
 * no longer give is lost, and ends the session, or what was left over of it; a lack of memory passes. */
void session_load(struct session *session);
/* Everything up to `acknowledged` is on disk. The file goes when nothing in it is needed. */
void session_settle(struct session *session, uint64_t acknowledged);

/*
 * leftover.c sends the spool files that earlier processes left in a directory, one after the other, each as the
 * session it is. It shares the socket of the run that found them.
 *
 * A file goes to the store it belongs to and to no other: the one that answered its session, or, where none has, the
 * one that a run with the same target is recorded in. Others stay where they are, and a line on stderr says so. A file
 * is gone once the collector has acknowledged all of it. One that the collector refuses for good, or that is damaged,
 * is renamed to ….rejected, and a line on stderr says why.
 */
struct leftover {
	const char *directory;   /* not owned */
	struct dirent **entries; /* found, not yet looked at: from `at` on */
	int count, at;
	char *path;   /* of entries[at], once it is looked at */
	bool sending; /* `session` is in use, for entries[at] */
	struct session session;
	const char *target;   /* of the run that found them; not owned */
	const uint8_t *store; /* its store's id, not owned; NULL: not known */
};

/* Looks for files; there are none if the directory cannot be read. `directory`, `target` and `store` are the run's. */
void leftover_init(struct leftover *leftover, const char *directory, const char *target, const uint8_t *store);
void leftover_deinit(struct leftover *leftover); /* leaves files that are not sent; twice does no harm */

bool leftover_is_done(const struct leftover *leftover);

/* As session_next(), for leftover->session, which is told of what is sent and received while leftover->sending. */
bool leftover_next(struct leftover *leftover, int64_t now, struct wire_bytes *frame);

#endif

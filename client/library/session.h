/*
 * session.h: the client's side of the protocol with the collector (WIRE.md), for the I/O thread: a state machine
 * without socket, clock or thread.
 *
 * The caller gives it received frames and the time, and gets frames to send. The backlog keeps every numbered frame
 * until it is acknowledged; if the session had to be opened again, the backlog gives the frame out once more. Memory is
 * bounded: another frame may be added only if session_has_room() says that it can be sent at once. Other frames can go
 * to a spool.
 *
 * Times are milliseconds of a clock that never goes back. One thread.
 */
#ifndef CLIENT_SESSION_H
#define CLIENT_SESSION_H

#include "spool.h"

#include <portolan/wire.h>

#include <stdatomic.h>

#define SESSION_OPEN_GROWS 96u       /* bytes that a later `open` may have more than the first one */
#define SESSION_OPEN_RETRY_MS 1000   /* after so long without an answer, `open` is sent again */
#define SESSION_CONTACT_MS 5000      /* after so long without any reply, the session is opened again */
#define SESSION_PAUSE_MS 1000        /* after `unavailable` */
#define SESSION_MAX_KEPT (16u << 20) /* most bytes of frames not acknowledged, whatever the credit */

enum session_state {
	SESSION_OPENING, /* `open` is to be sent, or has no answer yet, or is to be tried again later */
	SESSION_OPEN,
	SESSION_CLOSED, /* `close` is acknowledged */
	SESSION_FAILED, /* `failure` says why; for good */
	SESSION_ALONE,  /* it was offline, and the collector that came refused it: it records to the spool for good;
	                 * `failure` says why
	                 */
};

/*
 * The frames that are not acknowledged, in order. Memory holds them up to `loaded`; a file, if there is one, holds them
 * up to `spooled`. While `spooling`, new frames go to the file alone, and are read into memory one by one to be sent;
 * otherwise they go to memory. So the file never has a gap, and the process may be killed at any time.
 */
struct backlog_frame {
	struct backlog_frame *following;
	struct spool_record record;
	size_t size;
	_Atomic unsigned users; /* the backlog, and the socket once for each time that it was given the frame */
	uint8_t data[];
};

struct backlog {
	struct backlog_frame *first, *last; /* in memory, by ascending sequence */
	struct backlog_frame *next;         /* to be sent; NULL: all in memory are under way */
	struct backlog_frame *lent;         /* acknowledged, but the socket still has them */
	uint64_t kept_bytes;                /* in memory, lent frames among them */
	uint64_t under_way_bytes;
	uint64_t acknowledged, loaded, spooled, sequence; /* numbers of frames; `sequence`: of the last one added */
	struct spool *spool;                              /* owned; NULL: none */
	bool spooling;
	bool is_left_over; /* the file of an earlier process: `sequence` is known once it is read to its end */
	bool closed;       /* `close` is acknowledged */
	bool has_close;    /* `close` was added or read: nothing may follow */

	/* Of acknowledged frames: the last position, and the number of observations. */
	uint64_t settled_position, settled_observations;
	uint64_t added_observations, spooled_observations; /* observations ever added; of these, written to a file */
};

struct session {
	enum session_state state;
	uint8_t id[WIRE_SESSION_SIZE];
	uint8_t *open; /* the first encoded `open` frame */
	size_t open_size;
	wire_encoder *encoder;
	wire_decoder *decoder;

	struct backlog backlog; /* frames that are not acknowledged */
	uint64_t credit;
	uint64_t sent;                  /* the highest number ever sent */
	const char *directory;          /* of spool files; the owner sets this and the next two */
	uint64_t spool_limit;           /* bytes */
	const char *target;             /* the endpoint or store it records to, for the spool file */
	uint8_t store[WIRE_STORE_SIZE]; /* id of the session's store */
	bool has_store;                 /* the id is known */
	uint8_t owner[WIRE_OWNER_SIZE]; /* the store's secret, once the collector has asked for it */
	bool proves;                    /* it was found */
	uint64_t turn;                  /* how often it became SESSION_OPENING */
	bool offline;                   /* began to record before any collector answered */

	enum wire_kind offered; /* the frame that session_next() gave out last */
	int64_t last_sent, last_heard;
	int64_t open_due; /* when `open` is to be sent, while SESSION_OPENING */

	struct wire_counts counts; /* the counts that `ping` and `close` carry; the owner sets them */

	/* For the user. */
	enum wire_id_kind id_kind;       /* from `opened` */
	uint64_t opened_count;           /* how often the session became SESSION_OPEN */
	uint64_t replaced, refused;      /* observations of this session, as the collector counts them */
	struct portolan_error failure;   /* SESSION_FAILED, SESSION_ALONE, a damaged left-over file; code 0: none */
	enum wire_error_code refusal;    /* the collector's error code; 0: the library itself failed */
	struct portolan_error complaint; /* the last `refused` or `unavailable`; code 0: none */
};

/* `open`: the encoded `open` frame, with the session's id; copied. */
int session_init(struct session *session, struct wire_bytes open, int64_t now, struct portolan_error *error);
/* Makes a session of a left-over file. On success the session owns the file. */
int session_init_left_over(struct session *session, struct spool *spool, int64_t now, struct portolan_error *error);
void session_deinit(struct session *session); /* closes the spool file but does not remove it; twice does no harm */

/* Sets the only store that the session may be sent to; otherwise the first store that answers becomes that. */
void session_set_store(struct session *session, const uint8_t store[WIRE_STORE_SIZE]);
/* From now on frames go to a file in session->directory, until the file is sent; sets backlog.spooling. */
int session_spill(struct session *session, struct portolan_error *error);

/* Continues without an answer: frames go to the spool; when a collector comes, the session is a late one, and a refusal
 * is then no failure. On failure nothing has changed. */
int session_go_offline(struct session *session, struct portolan_error *error);

/* Is the session open, every kept frame under way, and credit left for a frame of `bytes`? */
bool session_has_room(const struct session *session, size_t bytes);

/* Adds a batch, the end of an epoch or a close, and gives it the session's id and the next sequence number. Requires
 * session_has_room(), or spooling. Once the frame is acknowledged, backlog.settled_position is its `position`. On
 * failure (no memory; the spool cannot be written) nothing has changed. */
int session_add(struct session *session, struct wire_frame *frame, uint64_t position, struct portolan_error *error);

/* Takes a frame from the collector; ignores frames of other sessions. */
void session_receive(struct session *session, const void *data, size_t size, int64_t now);

/* Opens the session again, unless it has ended: contact is lost, or another collector serves now. */
void session_lost(struct session *session);

/* Takes note of the time and gives the frame to send now, if any. The frame stays the next one until session_sent(); it
 * is valid until the next call of any function but session_sent(). */
bool session_next(struct session *session, int64_t now, struct wire_bytes *frame);
void session_sent(struct session *session, int64_t now);

/* The memory of the frame that session_next() has just given out, lent to who sends it: the frame may be acknowledged,
 * sent once more, or its session end meanwhile. session_take_back() must follow once, on any thread. NULL: the frame is
 * not kept (`open`, `ping`), and is to be copied. */
struct backlog_frame *session_lend(const struct session *session);
void session_take_back(void *data, void *frame); /* as libzmq calls it; `data` is of no use */

/* Are all frames acknowledged? */
static inline bool
backlog_is_empty(const struct backlog *backlog)
{
	return !backlog->spooling && backlog->acknowledged >= backlog->sequence;
}

/* Observations in the file that are not acknowledged, even if the file could not take every frame. */
uint64_t backlog_saved(const struct backlog *backlog);

/* Of backlog.c, for session.c. Reads the next frame to be sent from the file, if none is in memory. If the file cannot
 * be read any more, its frames are lost and the session ends; a lack of memory only delays the frame. */
void session_load(struct session *session);
/* Drops the frames up to `acknowledged`, which are on disk. Removes the file when none of its frames is needed. */
void session_settle(struct session *session, uint64_t acknowledged);
/* Frees the acknowledged frames that are no longer lent. */
void backlog_free_settled(struct backlog *backlog);

/*
 * leftover.c sends the spool files that earlier processes left in a directory, one after the other, each as its own
 * session. It shares the socket of the run that found them.
 *
 * A file goes only to the store it belongs to: the store that answered its session, or, if none has, the store of a run
 * with the same target. Other files stay where they are, and a line on stderr says so. A file is removed once the
 * collector has acknowledged all of it. A file that the collector refuses for good, or that is damaged, is renamed to
 * ….rejected, and a line on stderr says why.
 */
struct leftover {
	const char *directory;   /* not owned */
	struct dirent **entries; /* names found; those from `at` on are not opened yet */
	int count, at;
	char *path;   /* of entries[at], once it is opened */
	bool sending; /* `session` is in use, for entries[at] */
	struct session session;
	const char *target;   /* target of the run that found them; not owned */
	const uint8_t *store; /* its store's id, not owned; NULL: not known */
};

/* Looks for files; there are none if the directory cannot be read. `directory`, `target` and `store` are the run's. */
void leftover_init(struct leftover *leftover, const char *directory, const char *target, const uint8_t *store);
void leftover_deinit(struct leftover *leftover); /* files that are not sent stay; twice does no harm */

bool leftover_is_done(const struct leftover *leftover);

/* As session_next(), for leftover->session. While leftover->sending, pass the frames sent and received to that session
 * too. */
bool leftover_next(struct leftover *leftover, int64_t now, struct wire_bytes *frame);

#endif

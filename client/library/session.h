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

#define SESSION_OPEN_GROWS 96u       /* so many bytes longer than the first `open` may a later one be */
#define SESSION_OPEN_RETRY_MS 1000   /* after so long without an answer, `open` is sent again */
#define SESSION_CONTACT_MS 5000      /* after so long without any reply, the session is opened again */
#define SESSION_PAUSE_MS 1000        /* wait after the collector's `unavailable` */
#define SESSION_MAX_KEPT (16u << 20) /* most bytes of kept frames, whatever the credit */

enum session_state {
	SESSION_OPENING, /* `open` is to be sent, or has no answer yet, or is to be tried again later */
	SESSION_OPEN,
	SESSION_CLOSED, /* `close` is acknowledged */
	SESSION_FAILED, /* `failure` says why; for good */
	SESSION_ALONE,  /* it was offline, and the collector that came then refused it. It records to the spool for
	                 * good; `failure` says why
	                 */
};

/*
 * The backlog: the frames that are not acknowledged, in order. Those up to number `loaded` are in memory. If there is a
 * spool file, those up to `spooled` are in it. While `spooling`, new frames go to the file alone, and are read into
 * memory one by one to be sent; otherwise new frames go to memory. So the file never has a gap, and the process may be
 * killed at any time.
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
	struct backlog_frame *next;         /* the next one to be sent; NULL: all frames in memory are under way */
	struct backlog_frame *lent;         /* acknowledged, but the socket still has them */
	uint64_t kept_bytes;                /* of frames in memory, lent ones included */
	uint64_t under_way_bytes;
	uint64_t acknowledged, loaded, spooled, sequence; /* numbers of frames; `sequence`: of the last one added */
	struct spool *spool;                              /* owned; NULL: none */
	bool spooling;
	bool is_left_over; /* the file of an earlier process: `sequence` is known once it is read to its end */
	bool closed;       /* `close` is acknowledged */
	bool has_close;    /* `close` was added or read: nothing may follow */

	/* Over all acknowledged frames: the last one's position, and the number of observations. */
	uint64_t settled_position, settled_observations, settled_texts;
	uint64_t added_texts;                              /* examples with texts, as observations below */
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
	bool proves;                    /* the secret was found */
	uint64_t turn;                  /* how often the session began to open: see session_begin_turn() */
	bool offline;                   /* began to record before any collector answered */

	enum wire_kind offered; /* the frame that session_next() gave out last */
	int64_t last_sent, last_heard;
	int64_t open_due; /* when `open` is to be sent, while SESSION_OPENING */

	struct wire_counts counts; /* the counts that `ping` and `close` carry; the owner sets them */

	/* For the user. */
	enum wire_id_kind id_kind;       /* from `opened` */
	bool takes_texts;                /* from `opened`: the collector takes WIRE_EXAMPLES */
	bool texts_are_lost;             /* there were some, for a collector that takes none */
	uint64_t opened_count;           /* how often the session became SESSION_OPEN */
	uint64_t replaced, refused;      /* observations of this session, as the collector counts them */
	struct portolan_error failure;   /* SESSION_FAILED, SESSION_ALONE, a damaged left-over file; code 0: none */
	enum wire_error_code refusal;    /* the collector's error code; 0: the library itself failed */
	struct portolan_error complaint; /* the last `refused` or `unavailable`; code 0: none */
};

extern const char session_no_texts[]; /* why an earlier collector gets no texts */

/* `open`: the encoded `open` frame, with the session's id; copied. */
int session_init(struct session *session, struct wire_bytes open, int64_t now, struct portolan_error *error);
/* Makes a session that sends a left-over spool file. On success the session owns the file. */
int session_init_left_over(struct session *session, struct spool *spool, int64_t now, struct portolan_error *error);
void session_deinit(struct session *session); /* closes the spool file but does not remove it; twice does no harm */

/* Sets the only store to which the session may be sent. Without this call, it is the first store that answers. */
void session_set_store(struct session *session, const uint8_t store[WIRE_STORE_SIZE]);
/* From now on, and until all of it is sent, new frames go to a file in session->directory; sets backlog.spooling. */
int session_spill(struct session *session, struct portolan_error *error);

/* Continues although no collector has answered: frames go to the spool. If a collector comes, the session tells it that
 * it was recorded before; a refusal is then no failure. If this call fails, nothing has changed. */
int session_go_offline(struct session *session, struct portolan_error *error);

/* May a frame of `bytes` be added, to be sent at once: is the session open, every kept frame under way, and credit
 * left? */
bool session_has_room(const struct session *session, size_t bytes);

/* Adds a batch, texts of examples, the end of an epoch or a close, and gives it the session's id and the next sequence number. Requires
 * session_has_room(), or spooling. Once the frame is acknowledged, backlog.settled_position is its `position`. On
 * failure (no memory; the spool cannot be written) nothing has changed. */
int session_add(struct session *session, struct wire_frame *frame, uint64_t position, struct portolan_error *error);

/* Takes a frame that the collector has sent. Ignores frames of other sessions. */
void session_receive(struct session *session, const void *data, size_t size, int64_t now);

/* Says that contact is lost, or that another collector serves now: the session, unless it has ended, opens again. */
void session_lost(struct session *session);

/* Takes note of the time and gives the frame to send now, if any. The frame stays the next one until session_sent(); it
 * is valid until the next call of any function but session_sent(). */
bool session_next(struct session *session, int64_t now, struct wire_bytes *frame);
void session_sent(struct session *session, int64_t now);

/* Lends the memory of the frame that session_next() has just given out to whoever sends it. It stays valid even if the
 * frame is acknowledged, or sent once more, or its session ends. session_take_back() must follow once, on any thread.
 * NULL: the frame is not kept (`open`, `ping`, one in place of texts), and must be copied. */
struct backlog_frame *session_lend(const struct session *session);
void session_take_back(void *data, void *frame); /* for libzmq to call; `data` is not used */

/* Are all frames acknowledged? */
static inline bool
backlog_is_empty(const struct backlog *backlog)
{
	return !backlog->spooling && backlog->acknowledged >= backlog->sequence;
}

/* How many observations, and examples with texts, in the file are not acknowledged. Also right if the file could not take every frame. */
uint64_t backlog_saved(const struct backlog *backlog, uint64_t *texts);

/* Three functions of backlog.c for session.c. This one reads the next frame to be sent from the file, if none is in
 * memory. If the file cannot be read any more, its frames are lost, and the session ends. A lack of memory only delays
 * the frame. */
void session_load(struct session *session);
/* Drops the frames up to `acknowledged`: they are on the collector's disk. Removes the file once none of its frames is
 * needed. */
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
	struct dirent **entries; /* the files' names; those from `at` on are not opened yet */
	int count, at;
	char *path;   /* of entries[at], once it is opened */
	bool sending; /* `session` is in use, for entries[at] */
	struct session session;
	const char *target;   /* target of the run that found them; not owned */
	const uint8_t *store; /* its store's id, not owned; NULL: not known */
};

/* Lists the files in the directory; if it cannot be read, there are none. `directory`, `target` and `store` are the
 * run's. */
void leftover_init(struct leftover *leftover, const char *directory, const char *target, const uint8_t *store);
void leftover_deinit(struct leftover *leftover); /* files that are not sent stay; twice does no harm */

bool leftover_is_done(const struct leftover *leftover);

/* Gives the frame of a left-over file to be sent now, as session_next() does. While leftover->sending, also call
 * session_sent() and session_receive() for leftover->session. */
bool leftover_next(struct leftover *leftover, int64_t now, struct wire_bytes *frame);

#endif

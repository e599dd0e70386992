/*
 * backlog.h: the frames of a session that are not acknowledged, in order: in memory, and behind them in a spool file.
 *
 * In memory are those up to `loaded`; a file, if there is one, holds those up to `spooled`, and whatever of them is not
 * acknowledged. While `spooling`, frames are added to the file alone and come into memory one by one as they are to be
 * sent; otherwise they are added to memory. So a file never has a gap, and the process may be killed at any time.
 *
 * One thread.
 */
#ifndef CLIENT_BACKLOG_H
#define CLIENT_BACKLOG_H

#include "spool.h"

/* What is added together with a frame, and comes back when it is acknowledged. */
struct session_mark {
	uint64_t position;     /* of the pool: all its frames before this are in this one or an earlier one */
	uint64_t observations; /* in this frame */
};

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

	struct session_mark settled; /* of what is acknowledged: last position, all observations */
	uint64_t added_observations, spooled_observations; /* all there ever were; of these, written to a file */
};

void backlog_deinit(struct backlog *backlog); /* leaves the file; twice does no harm */

/* Nothing is left to be acknowledged. */
bool backlog_is_empty(const struct backlog *backlog);

/* Adds the next frame. Negative: nothing has changed. */
int backlog_add(struct backlog *backlog, enum wire_kind kind, struct wire_bytes bytes, struct session_mark mark,
                struct portolan_error *error);

/* From now on to the file, which is made in `directory` if there is none. What fails may be tried again. */
int backlog_spill(struct backlog *backlog, const char *directory, const struct spool_session *session, uint64_t limit,
                  struct portolan_error *error);

/* Observations in the file that are not acknowledged: also where it could not take everything. */
uint64_t backlog_saved(const struct backlog *backlog);

/* Goes on with the file of a process that is gone; takes it over. */
void backlog_take_over(struct backlog *backlog, struct spool *spool);

/* Sees to it that `next` is set if a frame is left to be sent, by reading it from the file. */
int backlog_load(struct backlog *backlog, struct portolan_error *error);

/* The file is read to its end, or nothing behind what was read is wanted (left over only). */
void backlog_cut(struct backlog *backlog);

void backlog_sent(struct backlog *backlog);   /* `next` is under way */
void backlog_rewind(struct backlog *backlog); /* nothing is under way any more */

/* Everything up to `acknowledged` is on disk. The file goes when nothing in it is needed. */
void backlog_settle(struct backlog *backlog, uint64_t acknowledged);

#endif

/*
 * intake.c: when frames leave the pool, and where to.
 *
 * While the collector keeps up they are sent at once, but for one that is not full, which waits for more rows: each
 * frame costs both sides ten times what its rows do, and the training loop may need the processors. The pool takes up
 * the collector's pauses; beyond that frames go to the spool, and once they do, all go there until it is drained.
 * Whatever fails is tried again.
 */
#include "intake.h"

#include "clock.h"

#include <stdio.h>

#define SPOOL_BLOCKED_MS 100 /* frames of which a quarter are full are not waited with for longer */
#define SPOOL_SILENCE_MS 10000
#define SPOOL_RETRY_MS 1000
#define PARTIAL_MS 20

/* Said once for each kind of trouble, and once when it is over. */
static void
note_spool(struct io *io, int status, const struct portolan_error *error)
{
	if (status < 0) {
		io->spool_again = clock_ms() + SPOOL_RETRY_MS;
		if (io->spool_trouble != status)
			fprintf(stderr, "portolan: run %s: %s (trying again every second)\n", io->run, error->message);
	} else if (io->spool_trouble != 0) {
		fprintf(stderr, "portolan: run %s: the spool is written again\n", io->run);
	}
	io->spool_trouble = status < 0 ? status : 0;
}

static bool
spill(struct io *io)
{
	struct portolan_error error;
	int status;

	if (!io->session.directory || clock_ms() < io->spool_again)
		return false;
	status = session_spill(&io->session, &error);
	note_spool(io, status, &error);
	return status == 0;
}

/* One frame into the session. 1: done; 0: there is none, or a log call is filling it; negative: not now. */
static int
take_frame(struct io *io, bool partial, struct portolan_error *error)
{
	struct frame *frame = frames_take(io->frames, partial);
	struct session_mark mark = {.position = frames_released(io->frames) + 1};
	int status = 0;

	if (!frame)
		return 0;
	if (frame->rows > 0) {
		struct session_mark rows = {mark.position - frame->ends_epoch, frame->rows};

		status = session_add_batch(&io->session, &io->frames->batch, rows, error);
		if (status < 0)
			return status;
		frame->rows = 0; /* the session has them, also if the next one fails */
	}
	if (frame->ends_epoch)
		status = session_add_end_epoch(&io->session, frame->shape.epoch, mark, error);
	if (status < 0)
		return status;
	frames_release(io->frames);
	return 1;
}

static uint64_t
waiting(const struct io *io)
{
	return frames_begun(io->frames) - frames_released(io->frames);
}

/*
 * The frames are the first to take up a pause of the collector. Before they are full, when one takes longer, and when
 * there is no contact (a killed process should lose seconds, not all that fits), they flow to the spool.
 */
static bool
needs_spool(struct io *io)
{
	int64_t now = clock_ms();
	uint64_t used = waiting(io);

	if (io->blocked_since == 0)
		io->blocked_since = now;
	return used > io->frames->count / 4 * 3 ||
	       (used > io->frames->count / 4 && now - io->blocked_since >= SPOOL_BLOCKED_MS) ||
	       (now - io->session.last_heard >= SPOOL_SILENCE_MS &&
	        (used > 0 || !backlog_is_empty(&io->session.backlog)));
}

static bool
may_take(struct io *io)
{
	if (session_is_spooling(&io->session))
		return clock_ms() >= io->spool_again;
	if (session_has_room(&io->session, FRAMES_MAX_BYTES)) {
		io->blocked_since = 0;
		return true;
	}
	return !io->session.closing && needs_spool(io) && spill(io);
}

/* The newest frame is taken as it is when it has waited, or somebody waits for it; else it is left to be filled. */
static bool
wants_partial(const struct io *io, int64_t now)
{
	return io->hurried || now - io->taken_at >= PARTIAL_MS || atomic_load(&io->command) != COMMAND_RUN;
}

/* A loop that fills frames as fast as they are taken must not keep the thread from what comes in. */
#define ROUND_MS 20

bool
intake_frames(struct io *io)
{
	int64_t began = clock_ms();
	bool partial = wants_partial(io, began), any = false;

	while (waiting(io) > !partial && clock_ms() - began < ROUND_MS && may_take(io)) {
		bool spooling = session_is_spooling(&io->session);
		struct portolan_error error;
		int status = take_frame(io, partial, &error);

		if (spooling && status != 0 && status != PORTOLAN_E_MEMORY)
			note_spool(io, status, &error);
		if (status <= 0)
			break;
		io_send_frames(io);
		any = true;
	}
	if (waiting(io) == 0) {
		io->taken_at = began;
		io->hurried = false;
	}
	return any || (!partial && waiting(io) > 0); /* looked at again soon: a fast loop fills frames in no time */
}

/* After the last frame: `close`. */
void
intake_finish(struct io *io)
{
	struct session_mark mark = {.position = frames_released(io->frames)};

	if (!io->session.closing && mark.position == frames_begun(io->frames) &&
	    (session_has_room(&io->session, 0) || session_is_spooling(&io->session)))
		session_add_close(&io->session, mark, NULL);
}

/* All there is, and `close`, to the spool. */
int
intake_save(struct io *io, struct portolan_error *error)
{
	struct session *session = &io->session;
	int status = 0, synced;

	if (backlog_is_empty(&session->backlog) && waiting(io) == 0 && !session->offline)
		return 0; /* only `close` was not acknowledged, which is missed by nobody */
	status = session_spill(session, error);
	if (status == 0)
		do
			status = take_frame(io, true, error);
		while (status > 0);
	if (status == 0 && !session->closing)
		status = session_add_close(session, (struct session_mark){.position = frames_released(io->frames)},
		                           error);
	/* What a full file does hold is as good as the rest would be. */
	synced = session->backlog.spool ? spool_sync(session->backlog.spool, status == 0 ? error : NULL) : 0;
	if (synced == 0)
		atomic_store(&io->saved, backlog_saved(&session->backlog));
	return status < 0 ? status : synced;
}

/*
 * intake.c: when records leave the ring, and where to.
 *
 * While the collector keeps up they become frames that are sent at once, but for a few small ones, which wait for more:
 * each frame costs both sides ten times what its rows do, and the training loop may need the processors. The ring takes
 * up the collector's pauses; beyond that frames go to the spool, and once they do, all go there until it is drained.
 * Whatever fails is tried again.
 */
#include "intake.h"

#include "clock.h"

#include <stdio.h>

#define SPOOL_BLOCKED_MS 100 /* a ring that is a quarter full is not waited with for longer */
#define SPOOL_SILENCE_MS 10000
#define SPOOL_RETRY_MS 1000
#define GATHER_MS 20
#define GATHER_ENOUGH (64u << 10) /* bytes, or an eighth of the ring: worth a frame at once */

/* Reads records into `gather` up to one that does not belong there; *end_epoch is one that stands first. */
static void
gather_records(struct io *io, const struct record **end_epoch)
{
	*end_epoch = NULL;
	for (;;) {
		uint64_t before = ring_position(io->ring);
		const struct record *record;
		size_t bytes;

		record = ring_read(io->ring, &bytes);
		if (!record)
			return;
		if (record->kind == RECORD_END_EPOCH && io->gather.rows == 0) {
			*end_epoch = record;
			return;
		}
		if (record->kind == RECORD_END_EPOCH || !gather_add(&io->gather, record)) {
			ring_unread(io->ring, before);
			return;
		}
	}
}

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

/* One frame out of the ring into the session. 1: done; 0: there is nothing; negative: not now. */
static int
take_frame(struct io *io, struct portolan_error *error)
{
	uint64_t before = ring_position(io->ring);
	const struct record *end_epoch;
	struct session_mark mark;
	int status;

	gather_records(io, &end_epoch);
	mark = (struct session_mark){.position = ring_position(io->ring), .observations = io->gather.rows};
	if (end_epoch) {
		status = session_add_end_epoch(&io->session, end_epoch->epoch, mark, error);
	} else if (io->gather.rows > 0) {
		struct wire_batch batch;

		gather_batch(&io->gather, &batch);
		status = session_add_batch(&io->session, &batch, mark, error);
		gather_clear(&io->gather);
	} else {
		return 0;
	}
	if (status < 0) {
		ring_unread(io->ring, before);
		return status;
	}
	ring_release(io->ring);
	return 1;
}

/*
 * The ring is the first to take up a pause of the collector. Before it is full, when one takes longer, and when there
 * is no contact (a killed process should lose seconds, not a ring full), it flows to the spool.
 */
static bool
needs_spool(struct io *io)
{
	int64_t now = clock_ms();
	size_t used = ring_used(io->ring);

	if (io->blocked_since == 0)
		io->blocked_since = now;
	return used > io->ring->size / 4 * 3 ||
	       (used > io->ring->size / 4 && now - io->blocked_since >= SPOOL_BLOCKED_MS) ||
	       (now - io->session.last_heard >= SPOOL_SILENCE_MS &&
	        (used > 0 || !backlog_is_empty(&io->session.backlog)));
}

static bool
may_take(struct io *io)
{
	if (session_is_spooling(&io->session))
		return clock_ms() >= io->spool_again;
	if (session_has_room(&io->session, GATHER_MAX_FRAME)) {
		io->blocked_since = 0;
		return true;
	}
	return !io->session.closing && needs_spool(io) && spill(io);
}

static bool
is_worth_a_frame(const struct io *io, int64_t now)
{
	size_t used = ring_used(io->ring);

	return io->hurried || now - io->taken_at >= GATHER_MS || used >= GATHER_ENOUGH || used >= io->ring->size / 8 ||
	       atomic_load(&io->command) != COMMAND_RUN;
}

/* A loop that fills the ring as fast as it is emptied must not keep the thread from what comes in. */
#define ROUND_MS 20

bool
intake_frames(struct io *io)
{
	int64_t began = clock_ms();
	bool any = false;

	if (!is_worth_a_frame(io, began))
		return ring_used(io->ring) > 0; /* looked at again soon: a fast loop fills it in no time */
	while (clock_ms() - began < ROUND_MS && may_take(io)) {
		bool spooling = session_is_spooling(&io->session);
		struct portolan_error error;
		int status = take_frame(io, &error);

		if (spooling && status != 0 && status != PORTOLAN_E_MEMORY)
			note_spool(io, status, &error);
		if (status == 0) {
			io->taken_at = began;
			io->hurried = false;
		}
		if (status <= 0)
			break;
		io_send_frames(io);
		any = true;
	}
	return any;
}

/* After the last record: `close`. */
void
intake_finish(struct io *io)
{
	struct session_mark mark = {.position = ring_position(io->ring)};

	if (!io->session.closing && mark.position == ring_head(io->ring) &&
	    (session_has_room(&io->session, 0) || session_is_spooling(&io->session)))
		session_add_close(&io->session, mark, NULL);
}

/* All there is, and `close`, to the spool. */
int
intake_save(struct io *io, struct portolan_error *error)
{
	struct session *session = &io->session;
	int status = 0, synced;

	if (backlog_is_empty(&session->backlog) && ring_used(io->ring) == 0 && !session->offline)
		return 0; /* only `close` was not acknowledged, which is missed by nobody */
	status = session_spill(session, error);
	if (status == 0)
		do
			status = take_frame(io, error);
		while (status > 0);
	if (status == 0 && !session->closing)
		status = session_add_close(session, (struct session_mark){.position = ring_position(io->ring)}, error);
	/* What a full file does hold is as good as the rest would be. */
	synced = session->backlog.spool ? spool_sync(session->backlog.spool, status == 0 ? error : NULL) : 0;
	if (synced == 0)
		atomic_store(&io->saved, backlog_saved(&session->backlog));
	return status < 0 ? status : synced;
}

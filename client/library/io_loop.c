/*
 * io_loop.c: one round of the thread: take what arrived, let the session say what to send, take frames while
 * there is credit, tell waiters, sleep. A log call never wakes the thread (that would be a system call): it looks
 * at the frames every 1 ms while there is work, every 10 ms when idle; flush, close and full frames wake it.
 *
 * While the collector keeps up frames are sent at once, but for one that is not full, which waits for more rows: each
 * frame costs both sides ten times what its rows do, and the training loop may need the processors. The pool takes up
 * the collector's pauses; beyond that frames go to the spool, and once they do, all go there until it is drained.
 * Whatever fails is tried again.
 */
#include "io_loop.h"

#include "clock.h"

#include <portolan/error.h>

#include <stdio.h>
#include <unistd.h>
#include <zmq.h>

#define POLL_BUSY_MS 1
#define POLL_IDLE_MS 10
#define LEFT_OVER_FRAMES 32
#define LEFT_OVER_MS 5000    /* closing waits for so long for what others have left over */
#define REVIVE_MS 1000       /* how often a lost collector is looked for */
#define ANSWER_MS 100        /* how long one usually takes to answer */
#define REVIVE_START_MS 5000 /* how long it may take to come up */
#define SPOOL_BLOCKED_MS 100 /* frames of which a quarter are full are not waited with for longer */
#define SPOOL_SILENCE_MS 10000
#define SPOOL_RETRY_MS 1000
#define PARTIAL_MS 20
#define ROUND_MS 20

static bool
receive_frames(struct io *io)
{
	bool any = false;

	for (;;) {
		zmq_msg_t message;

		zmq_msg_init(&message);
		if (zmq_msg_recv(&message, io->socket, ZMQ_DONTWAIT) < 0) {
			zmq_msg_close(&message);
			return any;
		}
		/* A frame is one part; an empty delimiter or anything else decodes to nothing. */
		session_receive(&io->session, zmq_msg_data(&message), zmq_msg_size(&message), clock_ms());
		if (io->leftover.sending)
			session_receive(&io->leftover.session, zmq_msg_data(&message), zmq_msg_size(&message),
			                clock_ms());
		zmq_msg_close(&message);
		any = true;
	}
}

static bool
send_frame(struct io *io, struct wire_bytes frame)
{
	io->unsent = zmq_send(io->socket, frame.data, frame.size, ZMQ_DONTWAIT) < 0;
	if (io->unsent)
		return false; /* not connected: later */
	io->bytes_sent += frame.size;
	return true;
}

static bool
send_frames(struct io *io)
{
	struct wire_bytes frame;
	bool any = false;

	while (session_next(&io->session, clock_ms(), &frame) && send_frame(io, frame)) {
		session_sent(&io->session, clock_ms());
		any = true;
	}
	return any;
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
	if (io->session.backlog.spooling)
		return clock_ms() >= io->spool_again;
	if (session_has_room(&io->session, FRAMES_MAX_BYTES)) {
		io->blocked_since = 0;
		return true;
	}
	return !io->session.backlog.has_close && needs_spool(io) && spill(io);
}

/* The newest frame is taken as it is when it has waited, or somebody waits for it; else it is left to be filled. */
static bool
wants_partial(const struct io *io, int64_t now)
{
	return io->hurried || now - io->taken_at >= PARTIAL_MS || atomic_load(&io->command) != COMMAND_RUN;
}

/* Takes frames while they can be sent, or go to the spool; true: there were some, or one is being filled. A loop that
 * fills frames as fast as they are taken must not keep the thread from what comes in. */
static bool
take_frames(struct io *io)
{
	int64_t began = clock_ms();
	bool partial = wants_partial(io, began), any = false;

	while (waiting(io) > !partial && clock_ms() - began < ROUND_MS && may_take(io)) {
		bool spooling = io->session.backlog.spooling;
		struct portolan_error error;
		int status = take_frame(io, partial, &error);

		if (spooling && status != 0 && status != PORTOLAN_E_MEMORY)
			note_spool(io, status, &error);
		if (status <= 0)
			break;
		send_frames(io);
		any = true;
	}
	if (waiting(io) == 0) {
		io->taken_at = began;
		io->hurried = false;
	}
	return any || (!partial && waiting(io) > 0); /* looked at again soon: a fast loop fills frames in no time */
}

/* After the last frame: `close`. */
static void
add_close(struct io *io)
{
	struct session_mark mark = {.position = frames_released(io->frames)};

	if (!io->session.backlog.has_close && mark.position == frames_begun(io->frames) &&
	    (session_has_room(&io->session, 0) || io->session.backlog.spooling))
		session_add_close(&io->session, mark, NULL);
}

/* Everything that is not acknowledged, the frames too, and `close`, to the spool; on disk when this returns. */
static int
save_to_spool(struct io *io, struct portolan_error *error)
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
	if (status == 0 && !session->backlog.has_close)
		status = session_add_close(session, (struct session_mark){.position = frames_released(io->frames)},
		                           error);
	/* What a full file does hold is as good as the rest would be. */
	synced = session->backlog.spool ? spool_sync(session->backlog.spool, status == 0 ? error : NULL) : 0;
	if (synced == 0)
		io->saved = backlog_saved(&session->backlog);
	return status < 0 ? status : synced;
}

/* A few frames at a time: the run's own come first. */
static bool
send_left_over(struct io *io)
{
	struct wire_bytes frame;
	unsigned count = 0;

	if (io->session.state != SESSION_OPEN && io->session.state != SESSION_CLOSED)
		return false;
	if (!io->leftover.target)
		leftover_init(&io->leftover, io->session.directory, io->target,
		              io->session.has_store ? io->session.store : NULL);
	while (count < LEFT_OVER_FRAMES && leftover_next(&io->leftover, clock_ms(), &frame) && send_frame(io, frame)) {
		session_sent(&io->leftover.session, clock_ms());
		count++;
	}
	return count > 0;
}

/* A run that fails leaves what was not acknowledged to an import, unless somebody removed it on purpose. One line says
 * that it is no longer recorded, unless it was never open: then the caller of portolan_open() is told. */
static void
leave(struct io *io)
{
	struct session *session = &io->session;
	struct portolan_error error;
	char where[IO_PATH_SIZE + 200] = "";

	if (atomic_load(&io->phase) == PHASE_OPENING)
		return;
	if (session->refusal == WIRE_E_RUN_REMOVED || !session->directory) {
		spool_remove(session->backlog.spool);
		session->backlog.spool = NULL;
	} else {
		int status = save_to_spool(io, &error);
		struct spool *spool = session->backlog.spool;

		if (spool) {
			snprintf(where, sizeof(where), "; what was not acknowledged is in %s%s", spool->path,
			         spool->first > 1 ? " (what came before is lost: import it with --run NAME)" : "");
			spool_release(spool);
		}
		if (status < 0)
			snprintf(where, sizeof(where), "; %s", error.message);
	}
	fprintf(stderr, "portolan: run %s is no longer recorded: %s%s\n", io->run, session->failure.message, where);
}

static bool
is_aborted(const struct io *io)
{
	return atomic_load(&io->command) >= COMMAND_SAVE;
}

/* A collector that refuses at the first contact ends the run's opening, unless it may think better of it; later, it may
 * be put right while frames wait. */
static void
watch_handshake(struct io *io)
{
	if (io->session.state != SESSION_OPENING || !handshake_has_failed(&io->handshake, io->socket, clock_ms()))
		return;
	if (io->session.opened_count == 0 && !io->session.offline && !io->handshake.may_pass) {
		io->session.state = SESSION_FAILED;
		io->session.failure = io->handshake.failure;
	} else {
		io->session.complaint = io->handshake.failure;
	}
}

static enum phase
phase_of(const struct io *io)
{
	switch (io->session.state) {
	case SESSION_FAILED:
		return PHASE_FAILED;
	case SESSION_CLOSED:
		return leftover_is_done(&io->leftover) || clock_ms() - io->session.last_heard >= LEFT_OVER_MS
		               ? PHASE_CLOSED
		               : PHASE_OPEN;
	default:
		return io->session.opened_count > 0 ? PHASE_OPEN : io->session.offline ? PHASE_OFFLINE : PHASE_OPENING;
	}
}

static void
say_on_stderr(struct io *io, enum phase phase)
{
	int before = atomic_load(&io->phase);
	bool was_open = before == PHASE_OPEN || before == PHASE_OFFLINE;

	if (io->session.state == SESSION_ALONE && !io->said_alone) {
		io->said_alone = true;
		fprintf(stderr, "portolan: run %s: a collector came, and refused: %s (the run goes on into %s)\n",
		        io->run, io->session.failure.message, io->counters.spool);
	}
	if (before == PHASE_OFFLINE && phase == PHASE_OPEN)
		fprintf(stderr, "portolan: run %s: a collector came; what is in the spool is being sent\n", io->run);
	if (io->session.complaint.code != 0 && io->session.complaint.code != io->complained && was_open) {
		io->complained = io->session.complaint.code;
		fprintf(stderr, "portolan: run %s: the collector says: %s\n", io->run, io->session.complaint.message);
	}
}

/* What others may see; those who wait are woken when it matters to them. */
static void
publish(struct io *io)
{
	const struct session *session = &io->session;
	const struct backlog *backlog = &session->backlog;
	enum phase phase = phase_of(io);
	bool matters = phase != (enum phase)atomic_load(&io->phase) ||
	               backlog->settled.position != atomic_load(&io->settled_position) ||
	               session->complaint.code != io->complaint.code;

	say_on_stderr(io, phase);
	pthread_mutex_lock(&io->mutex);
	io->counters = (struct io_counters){
	        .settled_observations = backlog->settled.observations,
	        .replaced = session->replaced,
	        .refused = session->refused,
	        .spooled = backlog->spooled_observations,
	        .saved = io->saved,
	        .bytes_sent = io->bytes_sent,
	        .opened = session->opened_count,
	};
	snprintf(io->counters.spool, sizeof(io->counters.spool), "%s", backlog->spool ? backlog->spool->path : "");
	if (matters) {
		io->blocked_since = 0;
		io->failure = session->failure;
		io->complaint = session->complaint;
		io->id_kind = session->id_kind;
		atomic_store(&io->settled_position, backlog->settled.position);
		atomic_store(&io->phase, phase);
		pthread_cond_broadcast(&io->changed);
	}
	pthread_mutex_unlock(&io->mutex);
}

/* Everything goes on while a collector starts. It is given up when the one that was thought gone is heard again: it
 * may only have been busy, and would hold the lock that a new one waits for. */
static int
work_meanwhile(void *context)
{
	struct io *io = context;

	receive_frames(io);
	send_frames(io);
	take_frames(io);
	if (io->session.state == SESSION_FAILED)
		return true;
	publish(io);
	return is_aborted(io) || io->session.last_heard > io->revived;
}

/* Embedded: a collector that is gone is started again. Silence alone is no proof; that nobody listens is. */
static void
revive(struct io *io)
{
	int64_t now = clock_ms();
	struct portolan_error error;
	/* What went out a moment ago has no answer yet; after an answer, the silence begins with what is sent next. */
	bool is_answered = io->session.last_sent <= io->session.last_heard && !io->unsent;
	bool is_early = !io->unsent && now - io->session.last_sent < ANSWER_MS;

	if (!io->embedded || is_answered || is_early || now - io->session.last_heard < REVIVE_MS ||
	    now - io->revived < REVIVE_MS)
		return;
	io->revived = now;
	if (embedded_is_served(io->embedded))
		return;
	if (embedded_start(io->embedded, now + REVIVE_START_MS, work_meanwhile, io, &error) == 0) {
		session_lost(&io->session);
		if (io->leftover.sending)
			session_lost(&io->leftover.session);
	} else if (!io->revival_failed && !is_aborted(io) && io->session.last_heard <= now) {
		io->revival_failed = true;
		fprintf(stderr, "portolan: run %s: the collector is gone: %s (trying again every second)\n", io->run,
		        error.message);
	}
	io->revived = clock_ms();
}

static void
sleep_a_little(struct io *io, int timeout)
{
	zmq_pollitem_t items[] = {{.socket = io->socket, .events = ZMQ_POLLIN}, {.fd = io->wake, .events = ZMQ_POLLIN}};
	uint64_t count;

	zmq_poll(items, 2, timeout);
	if (!items[1].revents)
		return;
	io->hurried = true;
	if (read(io->wake, &count, sizeof(count)) < 0)
		return; /* somebody else's wake-up; the next round looks anyway */
}

/* The round's last word to whoever gave the command: how it went, and that it is done. */
static void
answer_command(struct io *io, enum phase phase, int status, const struct portolan_error *error)
{
	publish(io);
	pthread_mutex_lock(&io->mutex);
	if (status < 0)
		io->command_error = *error;
	if (phase == PHASE_SAVED)
		error_set(&io->failure, PORTOLAN_E_CLOSED, "it was closed");
	atomic_store(&io->phase, phase);
	atomic_store(&io->command, COMMAND_RUN);
	pthread_cond_broadcast(&io->changed);
	pthread_mutex_unlock(&io->mutex);
}

/* Orders of the threads that own the run. False: the thread ends. */
static bool
obey(struct io *io)
{
	struct portolan_error error;
	int status;

	switch (atomic_load(&io->command)) {
	case COMMAND_OFFLINE:
		/* The collector may have come at the last moment. */
		status = io->session.opened_count > 0 ? 0 : session_go_offline(&io->session, &error);
		answer_command(io, phase_of(io), status, &error);
		return true;
	case COMMAND_FINISH:
		add_close(io);
		return true;
	case COMMAND_SAVE:
		status = io->session.state == SESSION_CLOSED || io->session.state == SESSION_FAILED
		                 ? 0
		                 : save_to_spool(io, &error);
		answer_command(io, PHASE_SAVED, status, &error);
		return false;
	case COMMAND_ABORT:
		return false;
	default:
		return true;
	}
}

/* What `ping` and `close` tell the collector. */
static void
set_counts(struct io *io)
{
	io->session.counts = (struct wire_counts){
	        .told = true,
	        .logged = atomic_load(&io->counts->logged),
	        .refused = atomic_load(&io->counts->refused),
	        .dropped = atomic_load(&io->counts->dropped),
	        .spooled = io->session.backlog.spooled_observations,
	        .waits = atomic_load(&io->counts->waits),
	};
}

void *
io_main(void *argument)
{
	struct io *io = argument;
	int timeout = POLL_BUSY_MS;

	for (;;) {
		bool busy = receive_frames(io);

		set_counts(io);
		busy |= send_frames(io);
		busy |= take_frames(io);
		busy |= send_left_over(io);
		if (!obey(io))
			return NULL;
		watch_handshake(io);
		if (io->session.state == SESSION_FAILED)
			leave(io);
		publish(io);
		if (phase_of(io) == PHASE_FAILED || phase_of(io) == PHASE_CLOSED)
			return NULL;
		revive(io);
		timeout = busy ? POLL_BUSY_MS : timeout * 2 < POLL_IDLE_MS ? timeout * 2 : POLL_IDLE_MS;
		sleep_a_little(io, timeout);
	}
}

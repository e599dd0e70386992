/*
 * io.c: the thread of a run that sends to the collector what was logged.
 *
 * One round: receive replies, send the frames that the session gives out, take frames from the pool while there is
 * credit (bytes that the collector has allowed the session to send), wake waiters, sleep. A log call never wakes the
 * thread (that would be a system call): the thread looks at the pool, every 1 ms while frames fill fast, less often, up
 * to every 10 ms, while they fill slowly or not at all. Flush, close and a full pool wake it.
 *
 * While the collector keeps up, frames are sent when some have gathered, or when the oldest of them has waited for 20
 * ms, full or not. What is sent together costs both sides less: they wake once, and the collector commits once. The
 * training loop may need the processors. A short pause of the collector fills the pool. Then frames go to the spool, and
 * all later frames too until the spool is empty. Every step that fails is tried again.
 */
#include "run.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zmq.h>

#define POLL_FAST_MS 1
#define POLL_SLOW_MS 10
#define LEFT_OVER_FRAMES 32
#define REVIVE_MS 1000       /* how often the thread looks for a lost collector */
#define ANSWER_MS 100        /* how long a collector usually takes to answer */
#define REVIVE_START_MS 5000 /* how long a collector may take to start */
#define SPOOL_BLOCKED_MS 100 /* when the pool is a quarter full, frames wait no longer than this for the collector */
#define SPOOL_SILENCE_MS 10000
#define SPOOL_RETRY_MS 1000
#define GATHER_FRAMES 8 /* are sent together (0.6 MB); of a small pool, an eighth */
#define GATHER_MS 20    /* rows wait no longer for others while the collector keeps up; less than SENDING_MS there */
#define ROUND_MS 20
#define NICE 5 /* the thread then gets a third of a training thread's processor time when both compete */

static void
io_receive_frames(struct portolan_run *run)
{
	for (;;) {
		zmq_msg_t message;

		zmq_msg_init(&message);
		if (zmq_msg_recv(&message, run->socket, ZMQ_DONTWAIT) < 0) {
			zmq_msg_close(&message);
			return;
		}
		/* A frame has one part. An empty delimiter, or any other part, is no valid frame, and is ignored. */
		session_receive(&run->session, zmq_msg_data(&message), zmq_msg_size(&message), clock_ms());
		if (run->leftover.sending)
			session_receive(&run->leftover.session, zmq_msg_data(&message), zmq_msg_size(&message),
			                clock_ms());
		zmq_msg_close(&message);
	}
}

/* Lends a kept frame to libzmq, which gives it back once it has sent or dropped it. -1: libzmq has not taken it. */
static int
io_send_kept(struct portolan_run *run, struct backlog_frame *frame)
{
	zmq_msg_t message;

	if (zmq_msg_init_data(&message, frame->data, frame->size, session_take_back, frame) < 0) {
		session_take_back(NULL, frame);
		return -1;
	}
	if (zmq_msg_send(&message, run->socket, ZMQ_DONTWAIT) >= 0)
		return 0;
	zmq_msg_close(&message);
	return -1;
}

/* Sends the frame that the session has given out. */
static bool
io_send_frame(struct portolan_run *run, const struct session *session, struct wire_bytes frame)
{
	struct backlog_frame *kept = session_lend(session);

	run->unsent =
	        (kept ? io_send_kept(run, kept) : zmq_send(run->socket, frame.data, frame.size, ZMQ_DONTWAIT)) < 0;
	if (run->unsent)
		return false; /* not connected: try again later */
	run->bytes_sent += frame.size;
	return true;
}

static void
io_send_frames(struct portolan_run *run)
{
	struct wire_bytes frame;

	while (session_next(&run->session, clock_ms(), &frame) && io_send_frame(run, &run->session, frame))
		session_sent(&run->session, clock_ms());
}

/* Notes whether writing to the spool has worked. Prints a line once for each kind of trouble, and once when it is
 * over. */
static void
io_note_spool(struct portolan_run *run, int status, const struct portolan_error *error)
{
	if (status < 0) {
		run->spool_again = clock_ms() + SPOOL_RETRY_MS;
		if (run->spool_trouble != status)
			fprintf(stderr, "portolan: run %s: %s (trying again every second)\n", run->name,
			        error->message);
	} else if (run->spool_trouble != 0) {
		fprintf(stderr, "portolan: run %s: the spool is written again\n", run->name);
	}
	run->spool_trouble = status < 0 ? status : 0;
}

/* Moves one frame from the pool into the session. 1: done; 0: there is none, or a log call is filling it; negative: the
 * session cannot take it now. */
static int
io_take_frame(struct portolan_run *run, bool partial, struct portolan_error *error)
{
	struct frame *frame = frames_take(&run->frames, partial);
	uint64_t position = frames_released(&run->frames);
	struct wire_frame end = {.kind = WIRE_END_EPOCH};
	int status = 0;

	if (!frame)
		return 0;
	if (frame->rows > 0) {
		status = session_add(&run->session, &run->frames.wire, position + !frame->ends_epoch, error);
		if (status < 0)
			return status;
		frame->rows = 0; /* the session has the rows, even if adding the epoch's end fails */
	}
	end.end_epoch.epoch = frame->shape.epoch;
	if (frame->ends_epoch)
		status = session_add(&run->session, &end, position + 1, error);
	if (status < 0)
		return status;
	frames_release(&run->frames);
	return 1;
}

static uint64_t
io_frames_waiting(const struct portolan_run *run)
{
	return frames_begun(&run->frames) - frames_released(&run->frames);
}

/*
 * Must frames that cannot be sent go to the spool now? When the collector pauses, they first wait in the pool. They go
 * to the spool when the pool is nearly full, when the pause lasts longer, or when contact is lost (a process that is
 * killed should lose seconds, not a whole pool).
 */
static bool
io_needs_spool(struct portolan_run *run)
{
	int64_t now = clock_ms();
	uint64_t used = io_frames_waiting(run);

	if (run->blocked_since == 0)
		run->blocked_since = now;
	return used > run->frames.count / 4 * 3 ||
	       (used > run->frames.count / 4 && now - run->blocked_since >= SPOOL_BLOCKED_MS) ||
	       (now - run->session.last_heard >= SPOOL_SILENCE_MS &&
	        (used > 0 || !backlog_is_empty(&run->session.backlog)));
}

static bool
io_may_take(struct portolan_run *run)
{
	struct portolan_error error;
	int status;

	if (run->session.backlog.spooling)
		return clock_ms() >= run->spool_again;
	if (session_has_room(&run->session, FRAMES_MAX_BYTES)) {
		run->blocked_since = 0;
		return true;
	}
	if (run->session.backlog.has_close || !io_needs_spool(run) || clock_ms() < run->spool_again)
		return false;
	status = session_spill(&run->session, &error);
	io_note_spool(run, status, &error);
	return status == 0;
}

/* Takes frames from the pool while they can be sent or spooled, if it is time. The time is bounded: a loop that fills
 * frames as fast as they are taken must not keep the thread from receiving. True: many had gathered, and some of them
 * could be taken, so the thread must look again soon. */
static bool
io_take_frames(struct portolan_run *run)
{
	int64_t began = clock_ms();
	uint64_t gathered = io_frames_waiting(run), eighth = run->frames.count / 8;
	uint64_t enough = eighth < GATHER_FRAMES ? eighth : GATHER_FRAMES;
	/* The newest frame is taken partly filled when it has waited long enough, or when a flush waits for it. */
	bool partial = run->hurried || began - run->taken_at >= GATHER_MS || atomic_load(&run->command) != COMMAND_RUN;
	bool any = false;

	if (!partial && gathered > 0 && gathered <= enough)
		return false;
	while (io_frames_waiting(run) > !partial && clock_ms() - began < ROUND_MS && io_may_take(run)) {
		bool spooling = run->session.backlog.spooling;
		struct portolan_error error;
		int status = io_take_frame(run, partial, &error);

		if (spooling && status != 0 && status != PORTOLAN_E_MEMORY)
			io_note_spool(run, status, &error);
		if (status <= 0)
			break;
		io_send_frames(run);
		any = true;
	}
	if (io_frames_waiting(run) == 0) {
		run->taken_at = began;
		run->hurried = false;
	}
	return any && gathered > 2 * enough;
}

/* Adds `close` to the session, after its last frame. */
static int
io_add_close(struct portolan_run *run, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_CLOSE, .close = {.counts = run->session.counts}};

	return run->session.backlog.has_close
	               ? 0
	               : session_add(&run->session, &frame, frames_released(&run->frames), error);
}

/* Writes to the spool everything that is not acknowledged: the session's frames, those still in the pool, and `close`.
 * They are on disk when this returns. */
static int
io_save_to_spool(struct portolan_run *run, struct portolan_error *error)
{
	struct session *session = &run->session;
	int status = 0, synced;

	if (backlog_is_empty(&session->backlog) && io_frames_waiting(run) == 0 &&
	    (!session->offline || session->opened_count > 0))
		return 0; /* only `close` is not acknowledged, and an import does without it */
	status = session_spill(session, error);
	if (status == 0)
		do
			status = io_take_frame(run, true, error);
		while (status > 0);
	if (status == 0)
		status = io_add_close(run, error);
	/* Even if the file is full, the frames in it are worth keeping. */
	synced = session->backlog.spool ? spool_sync(session->backlog.spool, status == 0 ? error : NULL) : 0;
	if (synced == 0)
		run->saved = backlog_saved(&session->backlog, &run->texts_saved);
	return status < 0 ? status : synced;
}

/* Sends a few frames of left-over files. Only a few at a time, as the run's own frames come first. True: it sent
 * some. */
static bool
io_send_left_over(struct portolan_run *run)
{
	struct wire_bytes frame;
	unsigned count = 0;

	if (run->session.state != SESSION_OPEN && run->session.state != SESSION_CLOSED)
		return false;
	if (!run->leftover.target)
		leftover_init(&run->leftover, run->session.directory, run->session.target,
		              run->session.has_store ? run->session.store : NULL);
	while (count < LEFT_OVER_FRAMES && leftover_next(&run->leftover, clock_ms(), &frame) &&
	       io_send_frame(run, &run->leftover.session, frame)) {
		session_sent(&run->leftover.session, clock_ms());
		count++;
	}
	return count > 0;
}

/* Called when the run has failed: writes the frames that were not acknowledged to a spool file, for an import, unless
 * the run was removed on purpose. A line on stderr says that the run is no longer recorded. Does nothing if the run was
 * never open: portolan_open() then returns the error. */
static void
io_leave_run(struct portolan_run *run)
{
	struct session *session = &run->session;
	struct portolan_error error;
	char where[RUN_PATH_SIZE + 200] = "";

	if (atomic_load(&run->phase) == PHASE_OPENING)
		return;
	if (session->refusal == WIRE_E_RUN_REMOVED) {
		spool_remove(session->backlog.spool);
		session->backlog.spool = NULL;
	} else {
		int status = io_save_to_spool(run, &error);
		struct spool *spool = session->backlog.spool;

		if (spool) {
			snprintf(where, sizeof(where), "; the observations that were not acknowledged are in %s%s",
			         spool->path,
			         spool->first > 1 ? " (those before are lost: import the file with --run NAME)" : "");
			spool_release(spool);
		}
		if (status < 0)
			snprintf(where, sizeof(where), "; %s", error.message);
	}
	fprintf(stderr, "portolan: run %s is no longer recorded: %s%s\n", run->name, session->failure.message, where);
}

static bool
io_is_aborted(const struct portolan_run *run)
{
	return atomic_load(&run->command) >= COMMAND_SAVE;
}

/* Called again and again while a collector starts, so that the thread keeps working. True: give up the start; for one
 * reason, the old collector is heard again: it was only busy, and holds the lock that the new one waits for. */
static int
io_work_meanwhile(void *context)
{
	struct portolan_run *run = context;

	io_receive_frames(run);
	io_send_frames(run);
	io_take_frames(run);
	if (run->session.state == SESSION_FAILED)
		return true;
	io_publish(run, io_phase(run));
	return io_is_aborted(run) || run->session.last_heard > run->revived;
}

/* Starts a collector again if the run has a store directory and its collector is gone. Silence alone does not prove
 * that it is gone; an endpoint on which nobody listens does. */
static void
io_revive_collector(struct portolan_run *run)
{
	int64_t now = clock_ms();
	struct portolan_error error;
	/* Silence counts only after a frame without an answer; and one that was sent a moment ago cannot have an answer
	 * yet. */
	bool is_answered = run->session.last_sent <= run->session.last_heard && !run->unsent;
	bool is_early = !run->unsent && now - run->session.last_sent < ANSWER_MS;

	if (!run->embedded.store || is_answered || is_early || now - run->session.last_heard < REVIVE_MS ||
	    now - run->revived < REVIVE_MS)
		return;
	run->revived = now;
	if (embedded_is_served(&run->embedded))
		return;
	if (embedded_start(&run->embedded, now + REVIVE_START_MS, io_work_meanwhile, run, &error) == 0) {
		session_lost(&run->session);
		if (run->leftover.sending)
			session_lost(&run->leftover.session);
	} else if (!run->revival_failed && !io_is_aborted(run) && run->session.last_heard <= now) {
		run->revival_failed = true;
		fprintf(stderr, "portolan: run %s: the collector is gone: %s (trying again every second)\n", run->name,
		        error.message);
	}
	run->revived = clock_ms();
}

static void
io_sleep(struct portolan_run *run, int timeout)
{
	zmq_pollitem_t items[] = {{.socket = run->socket, .events = ZMQ_POLLIN},
	                          {.fd = run->wake, .events = ZMQ_POLLIN}};
	uint64_t count;

	zmq_poll(items, 2, timeout);
	if (!items[1].revents)
		return;
	run->hurried = true;
	if (read(run->wake, &count, sizeof(count)) < 0)
		return; /* another thread has used up this wake-up; the next round looks anyway */
}

/* Obeys run->command, which the calls of the training loop set. False: the thread shall end. */
static bool
io_obey_command(struct portolan_run *run)
{
	struct session *session = &run->session;

	switch (atomic_load(&run->command)) {
	case COMMAND_OFFLINE:
		/* The collector may have answered at the last moment. */
		if (session->state == SESSION_OPENING && session->opened_count == 0 &&
		    session_go_offline(session, &session->failure) < 0)
			session->state = SESSION_FAILED;
		atomic_compare_exchange_strong(&run->command, &(int){COMMAND_OFFLINE}, COMMAND_RUN);
		return true;
	case COMMAND_FINISH:
		if (io_frames_waiting(run) == 0 && (session_has_room(session, 0) || session->backlog.spooling)) {
			io_add_close(run, NULL);
			io_send_frames(run);
		}
		return true;
	case COMMAND_SAVE:
		if (session->state == SESSION_FAILED)
			return true;
		if (session->state != SESSION_CLOSED)
			io_save_to_spool(run, &run->save_error);
		io_publish(run, PHASE_SAVED);
		return false;
	case COMMAND_ABORT:
		return false;
	default:
		return true;
	}
}

/* Sets the counts that the session sends in `ping` and `close`. */
static void
io_set_counts(struct portolan_run *run)
{
	run->session.counts = (struct wire_counts){
	        .told = true,
	        .logged = atomic_load(&run->logged),
	        .refused = atomic_load(&run->refused),
	        .dropped = atomic_load(&run->dropped),
	        .spooled = run->session.backlog.spooled_observations,
	        .waits = atomic_load(&run->waits),
	};
}

/* If all processors are busy, the training loop's threads go first. On Linux setpriority() changes the calling thread
 * alone. */
static void
io_lower_priority(void)
{
	if (getpriority(PRIO_PROCESS, 0) < NICE)
		(void)setpriority(PRIO_PROCESS, 0, NICE);
}

/* How long the thread sleeps after a round, unless something comes for it. `fast`: frames fill fast. */
static int
io_choose_timeout(const struct portolan_run *run, int last, bool fast)
{
	int timeout = fast ? POLL_FAST_MS : last * 2 < POLL_SLOW_MS ? last * 2 : POLL_SLOW_MS;
	int64_t due = run->taken_at + GATHER_MS - clock_ms();

	return io_frames_waiting(run) > 0 && due > 0 && due < timeout ? (int)due : timeout;
}

void *
io_main(void *argument)
{
	struct portolan_run *run = argument;
	int timeout = POLL_FAST_MS;

	io_lower_priority();
	for (;;) {
		enum run_phase phase;
		bool fast;

		io_receive_frames(run);
		io_set_counts(run);
		io_send_frames(run);
		fast = io_take_frames(run);
		frames_populate(&run->frames);
		fast |= io_send_left_over(run);
		if (!io_obey_command(run))
			return NULL;
		if (run->session.state == SESSION_OPENING)
			handshake_watch(run);
		if (run->session.state == SESSION_FAILED)
			io_leave_run(run);
		phase = io_phase(run);
		io_publish(run, phase);
		if (phase == PHASE_FAILED || phase == PHASE_CLOSED)
			return NULL;
		io_revive_collector(run);
		timeout = io_choose_timeout(run, timeout, fast);
		io_sleep(run, timeout);
	}
}

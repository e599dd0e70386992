/*
 * io_loop.c: one round of the thread: take what arrived, let the session say what to send, take frames while
 * there is credit, tell waiters, sleep. A log call never wakes the thread (that would be a system call): it looks
 * at the frames every 1 ms while there is work, every 10 ms when idle; flush, close and full frames wake it.
 */
#include "io_loop.h"

#include "clock.h"
#include "intake.h"

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
		leftover_receive(&io->leftover, zmq_msg_data(&message), zmq_msg_size(&message), clock_ms());
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
	atomic_fetch_add_explicit(&io->bytes_sent, frame.size, memory_order_relaxed);
	return true;
}

bool
io_send_frames(struct io *io)
{
	struct wire_bytes frame;
	bool any = false;

	while (session_next(&io->session, clock_ms(), &frame) && send_frame(io, frame)) {
		session_sent(&io->session, clock_ms());
		any = true;
	}
	return any;
}

/* A few frames at a time: the run's own come first. */
static bool
send_left_over(struct io *io)
{
	struct wire_bytes frame;
	unsigned count = 0;

	if (io->session.state != SESSION_OPEN && io->session.state != SESSION_CLOSED)
		return false;
	if (!io->looked_for_left_over) {
		io->looked_for_left_over = true;
		leftover_init(&io->leftover, io->session.directory, io->session.target,
		              io->session.has_store ? io->session.store : NULL);
	}
	while (count < LEFT_OVER_FRAMES && leftover_next(&io->leftover, clock_ms(), &frame) && send_frame(io, frame)) {
		leftover_sent(&io->leftover, clock_ms());
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
		int status = intake_save(io, &error);
		struct spool *spool = session->backlog.spool;

		if (spool) {
			snprintf(where, sizeof(where), "; what was not acknowledged is in %s%s", spool->path,
			         spool->first > 1 ? " (what came before is lost: import it with --run NAME)" : "");
			pthread_mutex_lock(&io->mutex);
			snprintf(io->spool_path, sizeof(io->spool_path), "%s", spool->path);
			pthread_mutex_unlock(&io->mutex);
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
		return leftover_is_done(&io->leftover) || clock_ms() - io->closed_at >= LEFT_OVER_MS ? PHASE_CLOSED
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
		        io->run, io->session.failure.message, io->spool_path);
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
	enum phase phase = phase_of(io);
	bool matters = phase != (enum phase)atomic_load(&io->phase) ||
	               session->backlog.settled.position != atomic_load(&io->settled_position) ||
	               session->complaint.code != io->complaint.code;

	say_on_stderr(io, phase);
	atomic_store(&io->settled_observations, session->backlog.settled.observations);
	atomic_store(&io->replaced, session->replaced);
	atomic_store(&io->refused, session->refused);
	atomic_store(&io->opened, session->opened_count);
	atomic_store(&io->spooled, session->backlog.spooled_observations);
	if (!matters)
		return;
	io->blocked_since = 0;
	pthread_mutex_lock(&io->mutex);
	io->failure = session->failure;
	io->complaint = session->complaint;
	io->id_kind = session->id_kind;
	atomic_store(&io->settled_position, session->backlog.settled.position);
	atomic_store(&io->phase, phase);
	pthread_cond_broadcast(&io->changed);
	pthread_mutex_unlock(&io->mutex);
}

/* Everything goes on while a collector starts. It is given up when the one that was thought gone is heard again: it
 * may only have been busy, and would hold the lock that a new one waits for. */
static bool
work_meanwhile(void *context)
{
	struct io *io = context;

	receive_frames(io);
	io_send_frames(io);
	intake_frames(io);
	if (io->session.state == SESSION_FAILED)
		return true;
	publish(io);
	return is_aborted(io) || io->session.last_heard > io->reviving_since;
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
	io->revived = io->reviving_since = now;
	if (embedded_is_served(io->embedded))
		return;
	if (embedded_start(io->embedded, now + REVIVE_START_MS, work_meanwhile, io, &error) == 0) {
		session_lost(&io->session);
		leftover_lost(&io->leftover);
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

static void
end_command(struct io *io, enum phase phase, int status, const struct portolan_error *error)
{
	const struct spool *spool = io->session.backlog.spool;

	pthread_mutex_lock(&io->mutex);
	io->command_done = true;
	io->command_status = status;
	if (status < 0)
		io->command_error = *error;
	if (phase == PHASE_SAVED)
		error_set(&io->failure, PORTOLAN_E_CLOSED, "it was closed");
	atomic_store(&io->phase, phase);
	atomic_store(&io->spooled, io->session.backlog.spooled_observations);
	snprintf(io->spool_path, sizeof(io->spool_path), "%s", spool ? spool->path : "");
	pthread_cond_broadcast(&io->changed);
	pthread_mutex_unlock(&io->mutex);
}

/* Orders of the threads that own the run. False: the thread ends. */
static bool
obey(struct io *io)
{
	int command = atomic_load(&io->command), offline = COMMAND_OFFLINE;
	struct portolan_error error;
	int status;

	switch (command) {
	case COMMAND_OFFLINE:
		/* The collector may have come at the last moment. */
		status = io->session.opened_count > 0 ? 0 : session_go_offline(&io->session, &error);
		atomic_compare_exchange_strong(&io->command, &offline, COMMAND_RUN);
		end_command(io, phase_of(io), status, &error);
		return true;
	case COMMAND_FINISH:
		intake_finish(io);
		return true;
	case COMMAND_SAVE:
		status = io->session.state == SESSION_CLOSED || io->session.state == SESSION_FAILED
		                 ? 0
		                 : intake_save(io, &error);
		publish(io);
		end_command(io, PHASE_SAVED, status, &error);
		return false;
	default:
		return command != COMMAND_ABORT;
	}
}

void *
io_main(void *argument)
{
	struct io *io = argument;
	int timeout = POLL_BUSY_MS;

	for (;;) {
		bool busy = receive_frames(io);

		if (io->count) {
			io->count(io->counted, &io->session.counts);
			io->session.counts.spooled = io->session.backlog.spooled_observations;
		}

		busy |= io_send_frames(io);
		busy |= intake_frames(io);
		busy |= send_left_over(io);
		if (!obey(io))
			return NULL;
		watch_handshake(io);
		if (io->session.state == SESSION_CLOSED && io->closed_at == 0)
			io->closed_at = clock_ms();
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

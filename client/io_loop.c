/*
 * io_loop.c: one round of the thread: take what arrived, let the session say what to send, turn records into frames
 * while there is credit, tell waiters, sleep. A log call never wakes the thread (that would be a system call): it looks
 * at the ring every 1 ms while there is work, every 10 ms when idle; flush, close and a full ring wake it.
 */
#include "io_loop.h"

#include "clock.h"

#include <portolan/error.h>

#include <stdio.h>
#include <unistd.h>
#include <zmq.h>

#define POLL_BUSY_MS 1
#define POLL_IDLE_MS 10
#define REVIVE_MS 1000       /* how often a lost collector is looked for */
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
		zmq_msg_close(&message);
		any = true;
	}
}

static bool
send_frames(struct io *io)
{
	struct wire_bytes frame;
	bool any = false;

	while (session_next(&io->session, clock_ms(), &frame)) {
		if (zmq_send(io->socket, frame.data, frame.size, ZMQ_DONTWAIT) < 0)
			return any; /* not connected: later */
		session_sent(&io->session, clock_ms());
		atomic_fetch_add_explicit(&io->bytes_sent, frame.size, memory_order_relaxed);
		any = true;
	}
	return any;
}

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

/* One frame out of the ring into the session; false: there is nothing, or no memory now. */
static bool
take_frame(struct io *io)
{
	uint64_t before = ring_position(io->ring);
	const struct record *end_epoch;
	struct session_mark mark;
	int status;

	gather_records(io, &end_epoch);
	mark = (struct session_mark){.position = ring_position(io->ring), .observations = io->gather.rows};
	if (end_epoch) {
		status = session_add_end_epoch(&io->session, end_epoch->epoch, mark, NULL);
	} else if (io->gather.rows > 0) {
		struct wire_batch batch;

		gather_batch(&io->gather, &batch);
		status = session_add_batch(&io->session, &batch, mark, NULL);
		gather_clear(&io->gather);
	} else {
		return false;
	}
	if (status < 0) {
		ring_unread(io->ring, before);
		return false;
	}
	ring_release(io->ring);
	return true;
}

static bool
take_frames(struct io *io)
{
	bool any = false;

	while (session_has_room(&io->session, GATHER_MAX_FRAME) && take_frame(io)) {
		send_frames(io);
		any = true;
	}
	return any;
}

/* After the last record: `close`. */
static void
finish(struct io *io)
{
	struct session_mark mark = {.position = ring_position(io->ring)};

	if (session_has_room(&io->session, 0) && mark.position == ring_head(io->ring))
		session_add_close(&io->session, mark, NULL);
}

static bool
is_aborted(void *context)
{
	struct io *io = context;

	return atomic_load(&io->command) == COMMAND_ABORT;
}

/* Embedded: a collector that is gone is started again. Silence alone is no proof; a free lock is. */
static void
revive(struct io *io)
{
	int64_t now = clock_ms();
	struct portolan_error error;

	if (!io->embedded || now - io->session.last_heard < REVIVE_MS || now - io->revived < REVIVE_MS)
		return;
	io->revived = now;
	if (embedded_is_served(io->embedded))
		return;
	if (embedded_start(io->embedded, now + REVIVE_START_MS, is_aborted, io, &error) == 0) {
		session_lost(&io->session);
	} else if (!io->revival_failed && !is_aborted(io)) {
		io->revival_failed = true;
		fprintf(stderr, "portolan: run %s: the collector is gone: %s (trying again every second)\n", io->run,
		        error.message);
	}
	io->revived = clock_ms();
}

static enum phase
phase_of(const struct io *io)
{
	switch (io->session.state) {
	case SESSION_FAILED:
		return PHASE_FAILED;
	case SESSION_CLOSED:
		return PHASE_CLOSED;
	default:
		return io->session.opened_count > 0 ? PHASE_OPEN : PHASE_OPENING;
	}
}

static void
say_on_stderr(struct io *io, enum phase phase)
{
	bool was_open = atomic_load(&io->phase) == PHASE_OPEN;

	if (phase == PHASE_FAILED && was_open)
		fprintf(stderr, "portolan: run %s is no longer recorded: %s\n", io->run, io->session.failure.message);
	if (io->session.complaint.code != io->complained && was_open) {
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
	               session->settled_position != atomic_load(&io->settled_position);

	say_on_stderr(io, phase);
	atomic_store(&io->settled_observations, session->settled_observations);
	atomic_store(&io->replaced, session->replaced);
	atomic_store(&io->refused, session->refused);
	atomic_store(&io->opened, session->opened_count);
	if (!matters)
		return;
	pthread_mutex_lock(&io->mutex);
	io->failure = session->failure;
	io->id_kind = session->id_kind;
	atomic_store(&io->settled_position, session->settled_position);
	atomic_store(&io->phase, phase);
	pthread_cond_broadcast(&io->changed);
	pthread_mutex_unlock(&io->mutex);
}

static void
sleep_a_little(struct io *io, int timeout)
{
	zmq_pollitem_t items[] = {{.socket = io->socket, .events = ZMQ_POLLIN}, {.fd = io->wake, .events = ZMQ_POLLIN}};
	uint64_t count;

	zmq_poll(items, 2, timeout);
	if (items[1].revents && read(io->wake, &count, sizeof(count)) < 0)
		return; /* somebody else's wake-up; the next round looks anyway */
}

void *
io_main(void *argument)
{
	struct io *io = argument;
	int timeout = POLL_BUSY_MS;

	for (;;) {
		int command = atomic_load(&io->command);
		bool busy;

		if (command == COMMAND_ABORT)
			return NULL;
		if (io->count)
			io->count(io->counted, &io->session.counts);
		busy = receive_frames(io);
		busy |= send_frames(io);
		busy |= take_frames(io);
		if (command == COMMAND_FINISH)
			finish(io);
		publish(io);
		if (phase_of(io) == PHASE_FAILED || phase_of(io) == PHASE_CLOSED)
			return NULL;
		revive(io);
		timeout = busy ? POLL_BUSY_MS : timeout * 2 < POLL_IDLE_MS ? timeout * 2 : POLL_IDLE_MS;
		sleep_a_little(io, timeout);
	}
}

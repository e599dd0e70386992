/*
 * io.c: making, waiting for, and ending the thread of io_loop.c.
 *
 * Signals are blocked before context and thread are made, so that the application's handlers run in its own threads.
 * The socket is made by the opening thread, to report a malformed endpoint at once; starting the thread hands it over.
 */
#include "io_loop.h"

#include "clock.h"

#include <portolan/error.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>
#include <zmq.h>

static int
set_options(void *socket, struct portolan_error *error)
{
	static const struct {
		int option, value;
	} options[] = {
	        {ZMQ_LINGER, 0},
	        {ZMQ_IMMEDIATE, 1},
	        {ZMQ_SNDHWM, 0}, /* credit bounds what is under way */
	        {ZMQ_HEARTBEAT_IVL, WIRE_PING_MS},
	        {ZMQ_HEARTBEAT_TIMEOUT, SESSION_CONTACT_MS},
	        {ZMQ_RECONNECT_IVL, 50},
	        {ZMQ_RECONNECT_IVL_MAX, 1000},
	};
	const int64_t largest = WIRE_MAX_FRAME;
	int status = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &largest, sizeof(largest));

	for (size_t i = 0; status == 0 && i < sizeof(options) / sizeof(options[0]); i++)
		status = zmq_setsockopt(socket, options[i].option, &options[i].value, sizeof(options[i].value));
	if (status < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make a socket: %s", zmq_strerror(zmq_errno()));
	return 0;
}

static int
connect_socket(struct io *io, const struct io_options *options, struct portolan_error *error)
{
	int status;

	io->context = zmq_ctx_new();
	io->socket = io->context ? zmq_socket(io->context, ZMQ_DEALER) : NULL;
	if (!io->socket)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make a socket: %s", zmq_strerror(zmq_errno()));
	status = set_options(io->socket, error);
	if (status == 0)
		status = handshake_init(&io->handshake, io->context, io->socket, options->endpoint, options->keys,
		                        error);
	if (status == 0 && zmq_connect(io->socket, options->endpoint) < 0)
		status = error_set(error, PORTOLAN_E_INVALID, "endpoint \"%s\": %s; give tcp://HOST:PORT or ipc://PATH",
		                   options->endpoint, zmq_strerror(zmq_errno()));
	return status;
}

static int
start_thread(struct io *io, struct portolan_error *error)
{
	pthread_condattr_t attributes;
	int status;

	pthread_mutex_init(&io->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&io->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	status = pthread_create(&io->thread, NULL, io_main, io);
	if (status != 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start a thread: %s", strerror(status));
	pthread_setname_np(io->thread, "portolan");
	return 0;
}

void
io_abandon(struct io *io)
{
	if (!io)
		return;
	session_deinit(&io->session);
	leftover_deinit(&io->leftover);
	if (io->wake >= 0)
		close(io->wake);
	free(io->target);
	free(io);
}

static void
close_socket(struct io *io)
{
	handshake_deinit(&io->handshake, io->socket);
	if (io->socket)
		zmq_close(io->socket);
	if (io->context)
		zmq_ctx_term(io->context);
}

static int
prepare(struct io *io, const struct io_options *options, struct portolan_error *error)
{
	uint8_t id[WIRE_SESSION_SIZE];
	int status;

	io->run = (const char *)options->request->run.data;
	io->target = strdup(options->embedded ? options->embedded->store : options->endpoint);
	if (!io->target)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	io->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (io->wake < 0 || getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot begin a session: %s", strerror(errno));
	status = session_init(&io->session, id, options->request, clock_ms(), error);
	session_set_spool(&io->session, options->spool, options->spool_bytes, io->target);
	return status;
}

int
io_create(struct io **io, const struct io_options *options, struct portolan_error *error)
{
	struct io *created = calloc(1, sizeof(*created));
	sigset_t all, before;
	int status;

	if (!created)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	created->wake = -1;
	created->frames = options->frames;
	created->embedded = options->embedded;
	created->counts = options->counts;
	status = prepare(created, options, error);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (status == 0)
		status = connect_socket(created, options, error);
	if (status == 0)
		status = start_thread(created, error);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (status < 0) {
		close_socket(created);
		io_abandon(created);
		return status;
	}
	*io = created;
	return 0;
}

void
io_destroy(struct io *io)
{
	if (!io)
		return;
	atomic_store(&io->command, COMMAND_ABORT);
	io_wake(io);
	pthread_join(io->thread, NULL);
	close_socket(io);
	pthread_cond_destroy(&io->changed);
	pthread_mutex_destroy(&io->mutex);
	io_abandon(io);
}

void
io_wake(struct io *io)
{
	const uint64_t one = 1;

	if (write(io->wake, &one, sizeof(one)) < 0)
		return; /* the counter is full: it is awake */
}

bool
io_has_ended(const struct io *io)
{
	int phase = atomic_load(&io->phase);

	return phase == PHASE_FAILED || phase == PHASE_CLOSED || phase == PHASE_SAVED;
}

/* Waits until `reached` (NULL: nothing) or the thread has ended; false: the deadline came first. */
static bool
wait_until(struct io *io, bool (*reached)(const struct io *io, uint64_t argument), uint64_t argument, int64_t deadline)
{
	struct timespec until = {.tv_sec = (time_t)(deadline / 1000), .tv_nsec = (long)(deadline % 1000) * 1000000};
	bool done;
	int status = 0;

	io_wake(io);
	pthread_mutex_lock(&io->mutex);
	for (;;) {
		done = (reached && reached(io, argument)) || io_has_ended(io);
		if (done || status != 0)
			break;
		if (deadline == CLOCK_FOREVER)
			pthread_cond_wait(&io->changed, &io->mutex);
		else
			status = pthread_cond_timedwait(&io->changed, &io->mutex, &until);
	}
	pthread_mutex_unlock(&io->mutex);
	return done;
}

static bool
has_opened(const struct io *io, uint64_t unused)
{
	(void)unused;
	return atomic_load(&io->phase) != PHASE_OPENING;
}

bool
io_is_settled(const struct io *io, uint64_t position)
{
	return atomic_load(&io->settled_position) >= position;
}

int
io_wait_open(struct io *io, int64_t deadline, enum wire_id_kind *id_kind, struct portolan_error *error)
{
	if (!wait_until(io, has_opened, 0, deadline)) {
		pthread_mutex_lock(&io->mutex);
		error_set(error, PORTOLAN_E_NO_COLLECTOR, "%s", io->complaint.code ? io->complaint.message : "");
		pthread_mutex_unlock(&io->mutex);
		return PORTOLAN_E_NO_COLLECTOR;
	}
	if (io_has_failed(io))
		return error_set(error, io->failure.code, "%s", io->failure.message);
	*id_kind = io->id_kind;
	return 0;
}

int
io_wait_settled(struct io *io, uint64_t position, int64_t deadline, struct portolan_error *error)
{
	if (!wait_until(io, io_is_settled, position, deadline))
		return PORTOLAN_E_TIMEOUT;
	if (io_is_settled(io, position))
		return 0;
	if (io_has_failed(io))
		return PORTOLAN_E_ENDED;
	return error_set(error, PORTOLAN_E_CLOSED, "the run has ended: %s", io->failure.message);
}

int
io_finish(struct io *io, int64_t deadline)
{
	atomic_store(&io->command, COMMAND_FINISH);
	if (!wait_until(io, NULL, 0, deadline))
		return PORTOLAN_E_TIMEOUT;
	return io_has_failed(io) ? PORTOLAN_E_ENDED : 0;
}

static bool
has_obeyed(const struct io *io, uint64_t unused)
{
	(void)unused;
	return atomic_load(&io->command) == COMMAND_RUN;
}

/* Has the thread do it, and waits for that; it does not wait for anybody else meanwhile. */
static int
command(struct io *io, enum command what, struct portolan_error *error)
{
	int status;

	pthread_mutex_lock(&io->mutex);
	io->command_error.code = 0;
	pthread_mutex_unlock(&io->mutex);
	atomic_store(&io->command, what);
	wait_until(io, has_obeyed, 0, CLOCK_FOREVER);
	pthread_mutex_lock(&io->mutex);
	status = io->command_error.code;
	if (status < 0)
		*error = io->command_error;
	pthread_mutex_unlock(&io->mutex);
	return status;
}

int
io_go_offline(struct io *io, struct portolan_error *error)
{
	return command(io, COMMAND_OFFLINE, error);
}

bool
io_is_offline(const struct io *io)
{
	return atomic_load(&io->phase) == PHASE_OFFLINE;
}

int
io_save(struct io *io, struct portolan_error *error)
{
	return command(io, COMMAND_SAVE, error);
}

bool
io_has_failed(const struct io *io)
{
	return atomic_load(&io->phase) == PHASE_FAILED;
}

const struct portolan_error *
io_failure(const struct io *io)
{
	return &io->failure;
}

void
io_get_counters(struct io *io, struct io_counters *counters)
{
	pthread_mutex_lock(&io->mutex);
	*counters = io->counters;
	pthread_mutex_unlock(&io->mutex);
}

/*
 * channel.c: sends frames to a store's collector for `portolan import` and `rm`, as a client does, but waits for the
 * answers.
 *
 * The channel sends within its credit, and waits for answers when that is used up. Once a session has begun, the
 * channel repeats nothing: if the collector goes away, or cannot store a frame, the session fails and the caller
 * reports it. Before that it repeats `open`: a collector that is ending does not answer it. Then either the store is
 * free, and a new collector is started, or another process starts one.
 *
 * A store's collector holds its lock, so the lock shows whether a collector must be started. Looking at the lock may
 * keep another collector from starting, so a start is tried more than once. The collector is this program itself, in
 * the background. It ends when no session is live and all is folded, and at once when this process has ended, even by
 * SIGKILL: it must not go on holding the store then. (The client library starts collectors differently, in embedded.c:
 * they outlive the process that started them, as other ranks record there too.)
 */
#include "channel.h"

#include "interruption.h"

#include <endpoint.h>
#include <portolan/error.h>
#include <portolan/store.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

/* A frame is lost if it is not acknowledged after so many pings that were told of a loss. The first two may have been
 * sent before it: one that the collector had, and one on its way. */
#define DOUBTS 3
#define OPEN_MS 1000 /* an `open` without an answer is repeated after so long */
#define PAUSE_NS 5000000
/* A collector that is started here ends after so long without a session: this process has to connect by then, or it
 * starts another one. */
#define IDLE_SECONDS "0.25"
#define TRIES 2
#define SILENCE_MS 30000 /* a collector that has not answered for so long is given up */

struct channel {
	const char *store;
	struct interruption interruption;
	pid_t collector; /* the one that was started here, a child; 0: none was, or it has ended */
	struct endpoint endpoint;
	void *context, *dealer;
	wire_encoder *encoder;
	wire_decoder *decoder;
	uint8_t session[WIRE_SESSION_SIZE];
	uint64_t sent;                                     /* the last sequence number sent */
	uint64_t underway;                                 /* bytes sent since everything was last acknowledged */
	struct wire_ack ack;                               /* the last reply */
	int silence;                                       /* ms waited since the last answer */
	bool (*refused)(void *context, uint64_t sequence); /* NULL: a refusal ends the session */
	void *context_of_refused;
	bool begun;      /* the session's first frame was answered */
	unsigned doubts; /* pings since the last frame, or news, that were told that a frame may have been lost */
	bool closing;
	bool done; /* every request was answered: the collector may take its time to end */
};

/* Lets the signals come again. Takes and returns the one that came meanwhile; 0: none. */
static int
channel_unblock_signals(struct channel *channel)
{
	const struct timespec at_once = {0};
	int arrived = 0, next;

	while ((next = sigtimedwait(&channel->interruption.signals, NULL, &at_once)) > 0)
		arrived = next;
	pthread_sigmask(SIG_SETMASK, &channel->interruption.before, NULL);
	return arrived;
}

/* Has the collector that was started here, if any, ended? */
static bool
channel_collector_has_left(struct channel *channel)
{
	/* -1: if SIGCHLD is ignored, the kernel keeps nothing of a child that has ended. */
	if (channel->collector > 0 && waitpid(channel->collector, NULL, WNOHANG) != 0)
		channel->collector = 0;
	return channel->collector == 0;
}

/* Ends the collector that was started here, without folding. */
static void
channel_stop_collector(const struct channel *channel)
{
	if (channel->collector > 0)
		kill(channel->collector, SIGTERM);
}

/* Starts the program in a session of its own, so that Ctrl-C does not reach it, with no signal blocked or ignored, as
 * channel_stop_collector() ends it by one. Returns 0 or an errno. */
static int
channel_spawn_collector(const char *program, const char *store, int said, pid_t *child)
{
	char starter[32];
	const char *const arguments[] = {"portoland",        "--store",    store,       "--listen", "local",
	                                 "--exit-when-idle", IDLE_SECONDS, "--starter", starter,    NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	int status;

	snprintf(starter, sizeof(starter), "%d", (int)getpid());
	sigfillset(&all);
	sigemptyset(&none);
	if ((status = posix_spawn_file_actions_init(&files)) != 0)
		return status;
	if ((status = posix_spawnattr_init(&attributes)) == 0) {
		posix_spawnattr_setflags(&attributes,
		                         POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
		posix_spawnattr_setsigdefault(&attributes, &all);
		posix_spawnattr_setsigmask(&attributes, &none);
		posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_adddup2(&files, said, STDERR_FILENO);
		status = posix_spawn(child, program, &files, &attributes, (char **)(uintptr_t)arguments, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return status;
}

/* Reads the child's stderr until it closes it: then it can serve, or has said why not. */
static int
channel_await_collector(struct channel *channel, int pipe, struct portolan_error *error)
{
	static const char own_name[] = "portoland: "; /* the prefix, which this process prints itself */
	char said[sizeof(error->message)];
	size_t used = 0;
	ssize_t count;

	while ((count = read(pipe, said + used, sizeof(said) - 1 - used)) > 0 || (count < 0 && errno == EINTR))
		used += count > 0 ? (size_t)count : 0;
	while (used > 0 && said[used - 1] == '\n')
		used--;
	said[used] = '\0';
	if (used == 0 && !channel_collector_has_left(channel))
		return 0;
	channel_stop_collector(channel); /* the child has failed, and ends */
	if (used == 0)
		return error_set(error, PORTOLAN_E_NO_COLLECTOR, "the collector ended while it started");
	return error_set(error, PORTOLAN_E_NO_COLLECTOR, "%s",
	                 said + (strncmp(said, own_name, strlen(own_name)) == 0 ? strlen(own_name) : 0));
}

static int
channel_start_collector(struct channel *channel, struct portolan_error *error)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int pipes[2], status;

	if (length < 0 || pipe2(pipes, O_CLOEXEC) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start a collector: %s", strerror(errno));
	program[length] = '\0';
	status = channel_spawn_collector(program, channel->store, pipes[1], &channel->collector);
	close(pipes[1]);
	if (status != 0)
		status = error_set(error, PORTOLAN_E_SYSTEM, "cannot start %.300s: %s", program, strerror(status));
	else
		status = channel_await_collector(channel, pipes[0], error);
	close(pipes[0]);
	return status;
}

/* Makes sure that the store has a collector: it has one already, in whatever state, or one is started here, whose
 * message becomes the error if it fails. Makes the store if there is none. 1: a collector was started; 0: there was
 * one. */
static int
channel_ensure_collector(struct channel *channel, struct portolan_error *error)
{
	int result;

	for (int tries = 1; !endpoint_is_locked(channel->store, NULL); tries++) {
		result = channel_start_collector(channel, error);
		if (result == 0)
			return 1;
		if (tries == TRIES && !endpoint_is_locked(channel->store, NULL))
			return result;
	}
	return 0;
}

static bool
channel_store_exists(const char *store)
{
	struct stat status;
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/data.mdb", store);

	return length > 0 && (size_t)length < sizeof(path) && stat(path, &status) == 0;
}

static void
channel_disconnect(struct channel *channel)
{
	if (channel->dealer)
		zmq_close(channel->dealer);
	channel->dealer = NULL;
	endpoint_close(&channel->endpoint);
}

static int
channel_connect_dealer(struct channel *channel, struct portolan_error *error)
{
	int linger = 0, timeout = SILENCE_MS, result;

	channel_disconnect(channel);
	result = endpoint_open(channel->store, &channel->endpoint, error);
	if (result < 0)
		return result;
	channel->dealer = zmq_socket(channel->context, ZMQ_DEALER);
	if (!channel->dealer || zmq_setsockopt(channel->dealer, ZMQ_LINGER, &linger, sizeof(linger)) ||
	    zmq_setsockopt(channel->dealer, ZMQ_SNDTIMEO, &timeout, sizeof(timeout)) ||
	    zmq_connect(channel->dealer, channel->endpoint.text))
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot connect to %s: %s", channel->endpoint.text,
		                 zmq_strerror(zmq_errno()));
	return 0;
}

int
channel_open(const char *store, bool create, struct channel **channel, struct portolan_error *error)
{
	struct channel *opened;
	int result;

	if (!create && !channel_store_exists(store))
		return error_set(error, STORE_E_NO_STORE, "there is no store at %s; give its directory with --store",
		                 store);
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	*opened = (struct channel){.store = store, .endpoint.directory = -1};
	interruption_block(&opened->interruption); /* before libzmq makes threads */
	opened->encoder = wire_encoder_new();
	opened->decoder = wire_decoder_new();
	opened->context = zmq_ctx_new();
	if (!opened->encoder || !opened->decoder || !opened->context)
		result = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	else if ((result = channel_ensure_collector(opened, error)) >= 0)
		result = channel_connect_dealer(opened, error);
	if (result < 0)
		channel_close(opened);
	else
		*channel = opened;
	return result;
}

int
channel_close(struct channel *channel)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int arrived;

	if (!channel)
		return 0;
	channel_disconnect(channel);
	/* An interrupted call leaves libzmq's threads behind. */
	while (channel->context && zmq_ctx_term(channel->context) < 0 && zmq_errno() == EINTR)
		;
	while (!channel_collector_has_left(channel)) {
		if (!channel->done || interruption_came(&channel->interruption))
			channel_stop_collector(channel);
		nanosleep(&pause, NULL);
	}
	wire_encoder_free(channel->encoder);
	wire_decoder_free(channel->decoder);
	arrived = channel_unblock_signals(channel);
	free(channel);
	return arrived;
}

static int
channel_take_answer(struct channel *channel, const struct wire_frame *frame, struct portolan_error *error)
{
	if (!wire_answers(frame, channel->session))
		return 0;
	channel->silence = 0;
	switch (frame->kind) {
	case WIRE_OPENED: /* a second `opened`, if `open` was repeated: nothing was sent before the first one */
		if (!channel->begun)
			channel->sent = frame->opened.acknowledged;
		channel->ack.acknowledged = frame->opened.acknowledged;
		channel->ack.credit = frame->opened.credit;
		break;
	case WIRE_ACK:
		if (frame->ack.acknowledged != channel->ack.acknowledged)
			channel->doubts = 0;
		channel->ack = frame->ack;
		if (channel->doubts >= DOUBTS && channel->ack.acknowledged < channel->sent)
			return error_set(
			        error, PORTOLAN_E_REFUSED,
			        "the collector had no memory for what was sent; try again when less is recorded, or "
			        "give it more (portoland --max-memory)");
		break;
	case WIRE_ERROR:
		/* The answer to a ping: a frame may have been lost for lack of memory, perhaps of another session. */
		if (frame->error.code == WIRE_E_SEQUENCE && frame->error.sequence == 0) {
			channel->doubts++;
			return 0;
		}
		if (frame->error.code == WIRE_E_REFUSED && channel->refused &&
		    channel->refused(channel->context_of_refused, frame->error.sequence))
			return 0;
		return error_set(error, frame->error.code == WIRE_E_NO_RUN ? STORE_E_NO_RUN : PORTOLAN_E_REFUSED,
		                 "%.*s", (int)frame->error.message.size, (const char *)frame->error.message.data);
	default:
		return 0;
	}
	channel->begun = true;
	if (channel->ack.acknowledged >= channel->sent)
		channel->underway = 0;
	return 0;
}

/* Takes all answers that have come; waits for the first for at most `timeout_ms`. */
static int
channel_receive(struct channel *channel, int timeout_ms, struct portolan_error *error)
{
	zmq_pollitem_t item = {.socket = channel->dealer, .events = ZMQ_POLLIN};
	struct wire_frame frame;
	zmq_msg_t message;
	int result = 0;

	if (zmq_poll(&item, 1, timeout_ms) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot wait for the collector: %s",
		                 zmq_strerror(zmq_errno()));
	zmq_msg_init(&message);
	while (result == 0 && zmq_msg_recv(&message, channel->dealer, ZMQ_DONTWAIT) >= 0) {
		result = wire_decode(channel->decoder, zmq_msg_data(&message), zmq_msg_size(&message), &frame, NULL,
		                     error)
		                 ?: channel_take_answer(channel, &frame, error);
	}
	zmq_msg_close(&message);
	return result;
}

static int
channel_put(struct channel *channel, struct wire_frame *frame, struct portolan_error *error)
{
	struct wire_bytes bytes;
	int result;

	memcpy(frame->session, channel->session, WIRE_SESSION_SIZE);
	result = wire_encode(channel->encoder, frame, &bytes, error);
	if (result < 0 || zmq_send(channel->dealer, bytes.data, bytes.size, 0) >= 0)
		return result;
	return error_set(error, PORTOLAN_E_NO_COLLECTOR, "cannot send to the collector of this store: %s",
	                 zmq_strerror(zmq_errno()));
}

/* Repeats the first frame, which had no answer; to another collector, if the one that got it has ended. While that one
 * lives, `remove` is not repeated: the run might be removed already, and would not be found. */
static int
channel_begin_again(struct channel *channel, struct wire_frame *first, struct portolan_error *error)
{
	int result = channel_ensure_collector(channel, error);

	if (result == 0 && first->kind == WIRE_REMOVE)
		return 0;
	if (result > 0)
		result = channel_connect_dealer(channel, error);
	return result < 0 ? result : channel_put(channel, first, error);
}

/* Receives once. After a while without answers it sends a ping, or, if the session has not begun, `first` again. */
static int
channel_wait_once(struct channel *channel, struct wire_frame *first, struct portolan_error *error)
{
	struct wire_frame ping = {.kind = WIRE_PING};
	int timeout = channel->begun ? WIRE_PING_MS : OPEN_MS, result;

	if (!channel->closing && interruption_came(&channel->interruption))
		return error_set(error, PORTOLAN_E_SYSTEM, "interrupted");
	channel->silence += timeout;
	result = channel_receive(channel, timeout, error);
	if (result < 0 || channel->silence == 0)
		return result;
	if (channel->silence >= SILENCE_MS)
		return error_set(
		        error, PORTOLAN_E_TIMEOUT,
		        "store %s is locked, but its collector does not answer; try again, or stop that process",
		        channel->store);
	return channel->begun ? channel_put(channel, &ping, error) : channel_begin_again(channel, first, error);
}

int
channel_new_session(uint8_t session[WIRE_SESSION_SIZE], struct portolan_error *error)
{
	if (getrandom(session, WIRE_SESSION_SIZE, 0) == WIRE_SESSION_SIZE)
		return 0;
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot get random bytes: %s", strerror(errno));
}

/* Answers to an earlier session, which may still come, are ignored. */
int
channel_begin(struct channel *channel, const struct wire_frame *first, uint64_t *acknowledged,
              struct portolan_error *error)
{
	struct wire_frame frame = *first;
	int result;

	memcpy(channel->session, first->session, WIRE_SESSION_SIZE);
	channel->begun = channel->closing = channel->done = false;
	channel->underway = channel->silence = channel->doubts = 0;
	result = channel_put(channel, &frame, error);
	while (result == 0 && !channel->begun)
		result = channel_wait_once(channel, &frame, error);
	if (result == 0)
		*acknowledged = channel->ack.acknowledged;
	return result;
}

int
channel_send(struct channel *channel, const struct wire_frame *frame, struct portolan_error *error)
{
	struct wire_frame numbered = *frame;
	size_t size;
	int result;

	numbered.sequence = channel->sent + 1;
	if (interruption_came(&channel->interruption))
		return error_set(error, PORTOLAN_E_SYSTEM, "interrupted");
	result = wire_measure(&numbered, &size, error);
	while (result == 0 && channel->underway > 0 && channel->underway + size > channel->ack.credit)
		result = channel_wait_once(channel, NULL, error);
	if (result < 0)
		return result;
	channel->sent++;
	channel->doubts = 0;
	channel->underway += size;
	return channel_put(channel, &numbered, error);
}

void
channel_tell_refused(struct channel *channel, bool (*refused)(void *context, uint64_t sequence), void *context)
{
	channel->refused = refused;
	channel->context_of_refused = context;
}

int
channel_end(struct channel *channel, const struct wire_counts *counts, struct wire_ack *last,
            struct portolan_error *error)
{
	const struct wire_frame frame = {.kind = WIRE_CLOSE, .close = {.counts = *counts}};
	int result = channel_send(channel, &frame, error);

	channel->closing = true;
	while (result == 0 && channel->ack.acknowledged < channel->sent)
		result = channel_wait_once(channel, NULL, error);
	if (result < 0)
		return result;
	channel->done = true;
	*last = channel->ack;
	return 0;
}

int
channel_remove(struct channel *channel, const char *run, struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_REMOVE, .remove.run = {(const uint8_t *)run, strlen(run)}};
	uint64_t ignored;
	int result = channel_new_session(frame.session, error) ?: channel_begin(channel, &frame, &ignored, error);

	channel->done = result == 0;
	return result;
}

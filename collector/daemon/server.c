/*
 * server.c: the event loop.
 *
 * One round: wait; take what can be read, until a commit is worth its sync, or 5 ms have passed, or nothing is left;
 * commit and acknowledge; then one step of folding, but now and then only while clients keep sending. The commit of one
 * round gathers what arrives during the one before, so busy clients share syncs, and a lone one gets its answer at
 * once.
 *
 * Signals are a file descriptor like any other; they are blocked before libzmq starts its threads, which inherit that.
 */
#include "server.h"

#include "ingest.h"
#include "log.h"
#include "sockets.h"
#include "store/write.h"
#include "throttle.h"

#include <endpoint.h>
#include <portolan/error.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define ROUND_MS 5
#define TICK_MS 1000
#define WORK_MS 50   /* between steps of folding while clients are sending */
#define DRAIN_MS 200 /* for what arrived while leaving */

struct server {
	const struct server_options *options;
	struct store_writer *writer;
	struct sockets *sockets;
	struct endpoint local; /* the store's own */
	struct ingest ingest;
	wire_decoder *decoder;
	wire_encoder *encoder;
	int signals;
	bool has_ingest;
	struct throttle malformed;
	char endpoints[800]; /* for the log */
	int64_t next_tick, next_work, last_live;
};

static int64_t
now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void
send_reply(void *context, const struct peer *peer, const struct wire_frame *frame)
{
	struct server *server = context;
	struct wire_bytes bytes;

	if (wire_encode(server->encoder, frame, &bytes, NULL) == 0)
		sockets_send(server->sockets, peer, bytes.data, bytes.size);
}

static void
log_trouble(void *context, const char *line)
{
	(void)context;
	log_line("%s", line);
}

static int
open_signals(struct server *server, struct portolan_error *error)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN); /* stderr may be a pipe nobody reads any more */
	server->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return server->signals < 0 ? error_set(error, PORTOLAN_E_SYSTEM, "cannot watch signals: %s", strerror(errno))
	                           : 0;
}

static int
bind_one(struct server *server, const struct address *address, bool local, struct portolan_error *error)
{
	size_t used = strlen(server->endpoints);
	char bound[256];
	int result = sockets_bind(server->sockets, address, local, bound, sizeof(bound), error);

	if (result == 0 && local && server->local.directory >= 0) /* its name here says nothing to others */
		snprintf(bound, sizeof(bound), "ipc://%s/collector.sock", server->options->store);
	if (result == 0)
		snprintf(server->endpoints + used, sizeof(server->endpoints) - used, "%s%s", used ? ", " : "", bound);
	return result;
}

/* The store's own socket first: whoever holds the store's lock may take its place. */
static int
bind_all(struct server *server, struct portolan_error *error)
{
	struct address local;
	int result = endpoint_open(server->options->store, &server->local, error);

	if (result == 0)
		result = address_parse(server->local.text, &local, error);
	if (result == 0)
		result = bind_one(server, &local, true, error);
	for (size_t i = 0; i < server->options->listen_count && result == 0; i++)
		if (!server->options->listen[i].is_local && !address_is_same(&server->options->listen[i], &local))
			result = bind_one(server, &server->options->listen[i], false, error);
	return result;
}

static int
start(struct server *server, struct portolan_error *error)
{
	struct ingest_options ingest_options = {
	        .max_memory = server->options->max_memory,
	        .reply = send_reply,
	        .trouble = log_trouble,
	        .news = log_trouble,
	        .context = server,
	};
	int result = open_signals(server, error);

	/* Wrong keys are found out before anything is made on disk. */
	if (result == 0)
		result = sockets_open(&server->sockets, server->options->keys, server->options->max_memory, error);
	if (result == 0)
		result = store_writer_open(server->options->store, &server->writer, error);
	if (result < 0)
		return result;
	server->decoder = wire_decoder_new();
	server->encoder = wire_encoder_new();
	if (!server->decoder || !server->encoder)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	ingest_options.writer = server->writer;
	result = ingest_init(&server->ingest, &ingest_options, now_ms(), error);
	if (result < 0)
		return result;
	server->has_ingest = true;
	return bind_all(server, error);
}

static void
take_malformed(struct server *server, const struct sockets_message *message, enum wire_error_code code,
               const struct portolan_error *error, int64_t now)
{
	uint64_t since;

	ingest_malformed(&server->ingest, &message->peer, code, error->message);
	sockets_judge(server->sockets, message, GUARD_RUBBISH);
	if (throttle_count(&server->malformed, 1, now, &since))
		log_line("%" PRIu64 " message%s that cannot be read, the last from %.64s: %s", since,
		         since == 1 ? "" : "s", sockets_address(server->sockets), error->message);
}

static void
take(struct server *server, const struct sockets_message *message, int64_t now)
{
	struct wire_frame frame;
	enum wire_error_code code = WIRE_E_MALFORMED;
	struct portolan_error error = {.message = "a message is one part that holds one frame"};

	if (!message->data || wire_decode(server->decoder, message->data, message->size, &frame, &code, &error) < 0) {
		take_malformed(server, message, code, &error, now);
		return;
	}
	ingest_frame(&server->ingest, &message->peer, message->peer.socket == SOCKETS_LOCAL, &frame, message->size,
	             now);
	sockets_judge(server->sockets, message,
	              sessions_find(&server->ingest.sessions, frame.session) ? GUARD_MEMBER : GUARD_STRANGER);
}

/* Takes what can be read now, but not for longer than a round; how many messages that were. */
static unsigned
take_round(struct server *server)
{
	struct sockets_message message;
	int64_t begin = now_ms(), now = begin;
	unsigned taken = 0;

	while (!ingest_is_full(&server->ingest) && now - begin < ROUND_MS &&
	       sockets_receive(server->sockets, &message)) {
		take(server, &message, now);
		taken++;
		now = now_ms();
	}
	return taken;
}

static bool
is_idle(struct server *server, int64_t now)
{
	if (server->ingest.sessions.live)
		server->last_live = now;
	return server->options->idle_ms >= 0 && now - server->last_live >= server->options->idle_ms;
}

/* Nothing more can be folded, or the store cannot be written anyway. */
static bool
is_done(const struct server *server)
{
	return server->ingest.health == INGEST_UNAVAILABLE || !ingest_has_work(&server->ingest);
}

static int
wait_time(const struct server *server, int64_t now)
{
	int64_t until = server->next_tick;

	if (server->options->idle_ms >= 0 && server->last_live + server->options->idle_ms < until)
		until = server->last_live + server->options->idle_ms;
	return until > now ? (int)(until - now) : 0;
}

static bool
signal_arrived(const struct server *server)
{
	struct signalfd_siginfo info;

	return read(server->signals, &info, sizeof(info)) == sizeof(info);
}

/* Until a signal (true), or idleness (false). */
static int
serve(struct server *server, bool *stopped, struct portolan_error *error)
{
	bool busy = false, worked, signalled;
	int result = 0;

	*stopped = false;
	server->last_live = now_ms();
	while (result == 0) {
		int64_t now = now_ms();

		if (now >= server->next_tick) {
			server->next_tick = ingest_tick(&server->ingest, now) ? now : now + TICK_MS;
		}
		ingest_commit(&server->ingest, now);
		if (server->ingest.lost) {
			error_set(error, STORE_E_NO_STORE, "store '%s' was removed while it was served",
			          server->options->store);
			store_writer_check(server->writer, error);
			return STORE_E_NO_STORE;
		}
		worked = (!busy || now >= server->next_work) && ingest_work(&server->ingest, now);
		if (worked)
			server->next_work = now_ms() + WORK_MS;
		if (is_idle(server, now) && !busy && is_done(server))
			return 0;
		result = sockets_wait(server->sockets, server->signals,
		                      busy || worked ? 0 : wait_time(server, now_ms()), now, &signalled, error);
		if (result == 0 && signalled && signal_arrived(server)) {
			*stopped = true;
			return 0;
		}
		busy = take_round(server) > 0;
	}
	return result;
}

/* A client may be connecting at this moment: no new connections, then an answer for whatever has already come. An
 * `open` gets none, so that its client starts another collector. */
static void
leave(struct server *server)
{
	int64_t end = now_ms() + DRAIN_MS;

	server->ingest.leaving = true;
	sockets_unbind(server->sockets);
	while (take_round(server) > 0 && now_ms() < end)
		ingest_commit(&server->ingest, now_ms());
}

static void
finish(struct server *server)
{
	sockets_close(server->sockets);
	endpoint_close(&server->local);
	if (server->has_ingest)
		ingest_deinit(&server->ingest);
	wire_decoder_free(server->decoder);
	wire_encoder_free(server->encoder);
	store_writer_close(server->writer);
	if (server->signals >= 0)
		close(server->signals);
}

int
server_run(const struct server_options *options, struct portolan_error *error)
{
	struct server server = {.options = options, .signals = -1, .local.directory = -1};
	bool stopped;
	int result = start(&server, error);

	if (result == 0) {
		if (options->ready)
			options->ready(options->context);
		log_line("serving %s at %s", options->store, server.endpoints);
		result = serve(&server, &stopped, error);
		if (options->stopping)
			options->stopping();
		if (result == 0 && !stopped)
			leave(&server);
		ingest_commit(&server.ingest, now_ms());
		log_line("%s: %" PRIu64 " sessions, %" PRIu64 " observations, %" PRIu64 " bytes of frames",
		         stopped ? "stopped" : "nobody records any more, leaving", server.ingest.totals.sessions,
		         server.ingest.totals.observations, server.ingest.totals.bytes);
	}
	finish(&server);
	return result;
}

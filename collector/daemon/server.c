/*
 * server.c: the receiver: the thread of the collector that reads clients' messages from the sockets, hands them to the
 * storer (storer.c), and sends its replies. It also takes the signals, and keeps the ledger of sessions (ledger.h).
 *
 * It never touches the store and never waits for the disk, so it drains libzmq's connections whatever the storer does.
 * One round: wait; read messages for at most 5 ms, and hand those to the storer that are for it (receiver.c); send the
 * storer's replies.
 *
 * The collector leaves only when nothing is queued, and the storer waits for arrivals and has no live session. From
 * then on an `open` is neither handed over nor answered, so that its client starts another collector.
 *
 * Signals are a file descriptor like any other; they are blocked before any thread is started, which inherits that.
 */
#include "server.h"

#include "interpose.h"
#include "interruption.h"
#include "log.h"
#include "parent.h"
#include "receiver.h"
#include "shares.h"
#include "storer.h"

#include <endpoint.h>
#include <owner.h>
#include <portolan/cleanup.h>
#include <portolan/clock.h>
#include <portolan/error.h>

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define ROUND_MS 5
#define TICK_MS 1000
#define DRAIN_MS 200 /* for messages that arrived while leaving */

struct server {
	const struct options *options;
	struct sockets *sockets;
	struct endpoint local; /* the store's own */
	struct ledger ledger;
	struct exchange exchange;
	struct receiver receiver;
	struct storer storer;
	struct storer_state state;
	struct list arrived; /* not handed over yet */
	int signals;
	char endpoints[800]; /* for the log */
	char plain[2000];    /* the tcp endpoints without keys, as lines of owner.secret */
	struct ingest_owner owner;
	int64_t next_tick, last_live;
};

static int
server_open_signals(struct server *server, struct portolan_error *error)
{
	struct interruption interruption;

	interruption_block(&interruption);
	signal(SIGPIPE, SIG_IGN); /* stderr may be a pipe that no process reads any more */
	server->signals = signalfd(-1, &interruption.signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return server->signals < 0 ? error_set(error, PORTOLAN_E_SYSTEM, "cannot watch signals: %s", strerror(errno))
	                           : 0;
}

static int
server_bind_one(struct server *server, const struct address *address, bool local, struct portolan_error *error)
{
	size_t used = strlen(server->endpoints);
	char bound[256];
	int result = sockets_bind(server->sockets, address, bound, sizeof(bound), error);

	/* An endpoint by the number of a descriptor means nothing to other processes. */
	if (result == 0 && local && server->local.directory >= 0)
		snprintf(bound, sizeof(bound), "ipc://%s/collector.sock", server->options->store);
	if (result == 0 && !address->is_ipc && !server->options->keys)
		owner_line(server->plain, sizeof(server->plain), bound);
	if (result == 0)
		snprintf(server->endpoints + used, sizeof(server->endpoints) - used, "%s%s", used ? ", " : "", bound);
	return result;
}

/* Are there endpoints that other users can reach, and is this program safe from them? */
static bool
server_may_bind_others(const struct server *server, const struct address *local)
{
	bool has_others = false;
	char missing[64];

	for (size_t i = 0; i < server->options->listen_count; i++)
		has_others |=
		        !server->options->listen[i].is_local && !address_is_same(&server->options->listen[i], local);
	if (!has_others || interpose_is_proven(missing, sizeof(missing)))
		return has_others;
	log_line("libzmq does not come to this program's %s, which protect it from its peers: serving only the socket "
	         "in the store's directory; use Debian's libzmq, and link portoland as its build does",
	         missing);
	return false;
}

/* Binds the store's own socket first: the holder of the store's lock may replace the socket file. */
static int
server_bind_all(struct server *server, struct portolan_error *error)
{
	struct address local;
	int result = endpoint_open(server->options->store, &server->local, error)
	             ?: address_parse(server->local.text, &local, error)
	             ?: server_bind_one(server, &local, true, error);

	if (result < 0 || !server_may_bind_others(server, &local))
		return result;
	for (size_t i = 0; i < server->options->listen_count && result == 0; i++)
		if (!server->options->listen[i].is_local && !address_is_same(&server->options->listen[i], &local))
			result = server_bind_one(server, &server->options->listen[i], false, error);
	return result;
}

/* Makes the secret of the store. Without one (a full disk, say) nobody proves anything at a plain tcp endpoint. */
static void
server_make_secret(struct server *server)
{
	struct ingest_owner *owner = &server->owner;
	char *store = realpath(server->options->store, NULL);

	if (server->plain[0] && store &&
	    snprintf(owner->path, sizeof(owner->path), "%s/" OWNER_FILE, store) < (int)sizeof(owner->path) &&
	    !(owner->has_secret = owner_write(owner->path, server->plain, owner->secret)))
		log_line("%s cannot be written: %s; at plain tcp endpoints no run is overwritten", owner->path,
		         strerror(errno));
	free(store);
}

static int
server_start(struct server *server, struct portolan_error *error)
{
	const size_t max_memory = server->options->max_memory;
	/* Wrong keys are found before anything is made on disk. */
	int result = server_open_signals(server, error)
	             ?: sockets_open(&server->sockets, server->options->keys, max_memory, error)
	             ?: exchange_init(&server->exchange, error)
	             ?: storer_open(&server->storer, server->options->store, max_memory, server->options->max_texts,
	                            &server->owner, &server->exchange, error);

	if (result == 0 && server->options->group_readable)
		result = store_open_to_group(server->options->store, error);
	if (result < 0)
		return result;
	server->receiver = (struct receiver){.sockets = server->sockets,
	                                     .ledger = &server->ledger,
	                                     .exchange = &server->exchange,
	                                     .keys = server->options->keys,
	                                     .decoder = wire_decoder_new(),
	                                     .encoder = wire_encoder_new()};
	if (!server->receiver.decoder || !server->receiver.encoder ||
	    ledger_init(&server->ledger, shares_of(max_memory, SHARES_QUEUE), sessions_most(max_memory)) < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	result = server_bind_all(server, error);
	if (result < 0)
		return result;
	server_make_secret(server);
	return storer_start(&server->storer, error);
}

/* Reads messages, but for no longer than a round; returns how many, lost ones among them. */
static unsigned
server_take_round(struct server *server)
{
	int64_t begin = clock_ms(), now = begin;
	struct arrival *arrival;
	unsigned taken = 0;
	bool missed = false;

	while (now - begin < ROUND_MS && (arrival = sockets_receive(server->sockets, &missed))) {
		if (receiver_take(&server->receiver, arrival, now))
			list_append(&server->arrived, &arrival->link);
		else
			arrival_free(arrival);
		taken++;
		now = clock_ms();
	}
	exchange_put(&server->exchange, &server->arrived, missed);
	return taken + missed;
}

/* Takes finished arrivals out of the ledger, and then sends the replies: a reply may let a client send as much again. */
static void
server_take_replies(struct server *server, int64_t now)
{
	struct list done, replies;
	struct arrival *arrival;
	struct reply *reply;

	exchange_collect(&server->exchange, &done, &replies, &server->state, &server->receiver.busy_since);
	while ((arrival = list_take(&done))) {
		ledger_unqueue(&server->ledger, arrival);
		arrival_free(arrival);
	}
	while ((reply = list_take(&replies))) {
		ledger_take_reply(&server->ledger, reply, now);
		sockets_send(server->sockets, &reply->peer, reply->data, reply->size);
		free(reply);
	}
}

/* The process's memory that is not backed by files, in bytes. */
static size_t
server_memory(void)
{
	unsigned long resident = 0, shared = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%*u %lu %lu", &resident, &shared) != 2)
		resident = shared = 0;
	if (file)
		fclose(file);
	return (resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

static void
server_tick(struct server *server, int64_t now)
{
	if (now < server->next_tick)
		return;
	server->next_tick = now + TICK_MS;
	ledger_forget_silent(&server->ledger, now);
	/* Gives back memory that a burst has left in the heap of one thread, so that another thread can use it. */
	if (server_memory() > server->options->max_memory / 2)
		malloc_trim(0);
}

static bool
server_may_leave(struct server *server, int64_t now)
{
	if (server->state.live)
		server->last_live = now;
	return server->options->idle_ms >= 0 && now - server->last_live >= server->options->idle_ms &&
	       !server->state.live && !server->state.has_work && server->ledger.queued == 0 &&
	       server->receiver.busy_since == 0;
}

static int
server_wait_time(const struct server *server, int64_t now)
{
	int64_t until = server->next_tick, idle = server->last_live + server->options->idle_ms;

	if (server->options->idle_ms >= 0 && idle < until && !server->state.live)
		until = idle > now ? idle : now + ROUND_MS; /* the storer is about to say that it is done */
	return until > now ? (int)(until - now) : 0;
}

static bool
server_is_stopped(const struct server *server)
{
	struct signalfd_siginfo info;

	return read(server->signals, &info, sizeof(info)) == sizeof(info);
}

/* Serves until a signal (*stopped), or until idle. */
static int
server_serve(struct server *server, bool *stopped, struct portolan_error *error)
{
	const int fds[SOCKETS_FDS] = {server->signals, server->exchange.event};
	bool busy = false;
	int result = 0;

	*stopped = false;
	server->last_live = clock_ms();
	while (result == 0) {
		int64_t now = clock_ms();

		result = sockets_wait(server->sockets, fds, busy ? 0 : server_wait_time(server, now), error);
		*stopped = server_is_stopped(server);
		if (result < 0 || *stopped)
			break;
		busy = server_take_round(server) > 0;
		now = clock_ms();
		server_take_replies(server, now);
		server_tick(server, now);
		if (server->state.failed) {
			*error = server->state.error;
			return STORE_E_NO_STORE;
		}
		if (!busy && server_may_leave(server, now))
			break;
	}
	return result;
}

/* Takes no new connections, and answers the messages that still come, except `open`. */
static void
server_leave(struct server *server)
{
	int64_t end = clock_ms() + DRAIN_MS;

	server->receiver.leaving = true;
	if (server->owner.has_secret) /* soon another process may listen there, and is not to be told */
		unlink(server->owner.path);
	sockets_unbind(server->sockets);
	while (server_take_round(server) > 0 && clock_ms() < end)
		;
}

static void
server_finish(struct server *server)
{
	exchange_stop(&server->exchange);
	storer_finish(&server->storer);
	sockets_close(server->sockets);
	endpoint_close(&server->local);
	exchange_deinit(&server->exchange);
	ledger_deinit(&server->ledger);
	wire_decoder_free(server->receiver.decoder);
	wire_encoder_free(server->receiver.encoder);
	if (server->signals >= 0)
		close(server->signals);
}

int
server_run(const struct options *options, int *parent, struct portolan_error *error)
{
	CLEANUP(server_finish)
	struct server server = {.options = options, .signals = -1, .local.directory = -1, .exchange.event = -1};
	const struct ingest_totals *totals = &server.storer.ingest.totals;
	bool stopped;
	int result = server_start(&server, error);

	if (result < 0)
		return result;
	parent_notify("READY=1");
	parent_answer(parent, options->store, "");
	if (options->starter)
		parent_log_to_file(options->store);
	if (store_is_open_to_others(options->store))
		log_line("store %s can be read by every user of this machine: chmod -R o-rwx %s keeps it to its user "
		         "and group",
		         options->store, options->store);
	log_line("serving %s at %s", options->store, server.endpoints);
	result = server_serve(&server, &stopped, error);
	parent_notify("STOPPING=1");
	server_leave(&server);
	/* Stores everything that was received, and acknowledges it. */
	exchange_stop(&server.exchange);
	storer_join(&server.storer);
	server_take_replies(&server, clock_ms());
	log_line("%s: %" PRIu64 " sessions, %" PRIu64 " observations, %" PRIu64 " bytes of frames",
	         result < 0 ? "failed"
	         : stopped  ? "stopped"
	                    : "no client records any more, leaving",
	         totals->sessions, totals->observations, totals->bytes);
	return result;
}

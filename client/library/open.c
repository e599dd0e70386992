/*
 * open.c: portolan_open(): opens a run for a training loop: checks the options, finds or starts a collector, and waits
 * until it accepts the run. If the user gave a spool and no collector answers, the run begins without one. A wrong
 * option fails before a collector is started or a socket made.
 */
#include "run.h"

#include "batch.h"
#include "directory.h"
#include "wire_check.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define DEFAULT_RING_BYTES ((size_t)32 << 20)
#define LEAST_RING_BYTES ((size_t)1 << 20)
#define DEFAULT_OPEN_TIMEOUT_MS 10000
#define DEFAULT_SPOOL_BYTES (UINT64_C(16) << 30)
#define LABEL_HEAD 3 /* most bytes that the `open` frame has before each label */
#define OTHERS 992   /* bytes left for the rest of the `open` frame, such as the names of run and group */

static bool
options_is_name(const char *text)
{
	return wire_name_is_valid(text, strnlen(text, WIRE_MAX_NAME + 1), false);
}

static bool
options_is_empty(const char *directory)
{
	return directory && !directory[0];
}

/* Checks that the config is text, stands in braces, and is not too long. Does not parse the JSON. */
static int
options_check_config(const char *config, struct portolan_error *error)
{
	static const char *const space = " \t\r\n";
	size_t size = strnlen(config, WIRE_MAX_CONFIG + 1), end = size;

	if (size > WIRE_MAX_CONFIG)
		return error_set(error, PORTOLAN_E_INVALID, "config has more than %d bytes", WIRE_MAX_CONFIG);
	while (end > 0 && strchr(space, config[end - 1]))
		end--;
	if (end == 0 || config[end - 1] != '}' || config[strspn(config, space)] != '{' ||
	    !wire_text_is_valid(config, size, true))
		return error_set(error, PORTOLAN_E_INVALID, "config must be a JSON object, in UTF-8");
	return 0;
}

/* Checks the labels, and that they fit into one frame together with the config. */
static int
options_check_labels(const struct portolan_options *options, struct portolan_error *error)
{
	size_t most = WIRE_MAX_FRAME - SESSION_OPEN_GROWS - OTHERS, size = 0;
	size_t config = options->config ? strlen(options->config) : 0;

	if (options->label_count > WIRE_MAX_LABELS)
		return error_set(error, PORTOLAN_E_INVALID, "labels: %zu names; the limit is %d", options->label_count,
		                 WIRE_MAX_LABELS);
	if (options->label_count > 0 && !options->labels)
		return error_set(error, PORTOLAN_E_INVALID, "labels is NULL, but label_count is %zu",
		                 options->label_count);
	for (size_t i = 0; i < options->label_count; i++) {
		const char *label = options->labels[i];
		size_t length = label ? strnlen(label, WIRE_MAX_NAME + 1) : 0;

		if (!label || !wire_name_is_valid(label, length, true))
			return error_set(error, PORTOLAN_E_INVALID,
			                 "labels: number %zu must be at most %d bytes of UTF-8 without control "
			                 "characters",
			                 i, WIRE_MAX_NAME);
		size += LABEL_HEAD + length;
	}
	if (size + config <= most)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "labels have %zu bytes and config %zu; both together %zu at most: leave the labels out", size,
	                 config, most);
}

#define NAME_RULE " must be 1 to 255 bytes of UTF-8 without control characters"
_Static_assert(WIRE_MAX_NAME == 255, "as NAME_RULE says");

int
options_check(const char *name, const struct portolan_options *options, struct portolan_error *error)
{
	static const struct portolan_options none;
	const struct portolan_options *o = options ? options : &none;
	bool is_tcp = o->endpoint && strncmp(o->endpoint, "tcp://", 6) == 0;
	const struct {
		bool broken;
		const char *rule;
	} rules[] = {
	        {!name || !options_is_name(name), "the run's name" NAME_RULE},
	        {!options, "options are missing: store or endpoint must be given"},
	        {o->group && o->group[0] && !options_is_name(o->group), "group" NAME_RULE},
	        {o->mode != PORTOLAN_EPOCH_END && o->mode != PORTOLAN_TRAIN_FORWARD,
	         "mode must be PORTOLAN_EPOCH_END or PORTOLAN_TRAIN_FORWARD"},
	        {o->when_full != PORTOLAN_WAIT && o->when_full != PORTOLAN_DROP,
	         "when_full must be PORTOLAN_WAIT or PORTOLAN_DROP"},
	        {o->resume && o->overwrite, "give resume or overwrite, and not both"},
	        {o->open_timeout_ms < 0, "open_timeout_ms is negative"},
	        {!o->store == !o->endpoint, "give store (a directory) or endpoint, and not both"},
	        {options_is_empty(o->store), "store is empty; give a directory"},
	        {options_is_empty(o->spool), "spool is empty; give a directory"},
	        {memcmp(o->reserved, none.reserved, sizeof(none.reserved)) != 0, batch_unknown},
	        {options_is_empty(o->keys), "keys is empty; give a directory"},
	        {o->keys && !is_tcp, "keys are for an endpoint tcp://HOST:PORT; a store's own socket, and ipc://, are "
	                             "guarded by their files' permissions"},
	};
	int status;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].broken)
			return error_set(error, PORTOLAN_E_INVALID, "%s", rules[i].rule);
	if (o->endpoint && !is_tcp && strncmp(o->endpoint, "ipc://", 6) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "endpoint \"%.200s\" must be tcp://HOST:PORT or ipc://PATH",
		                 o->endpoint);
	if (o->ring_bytes != 0 && o->ring_bytes < LEAST_RING_BYTES)
		return error_set(error, PORTOLAN_E_INVALID, "ring_bytes is %zu; at least %zu is needed", o->ring_bytes,
		                 LEAST_RING_BYTES);
	status = o->config ? options_check_config(o->config, error) : 0;
	return status < 0 ? status : options_check_labels(o, error);
}

static struct portolan_run *
run_new(const char *name, const struct portolan_options *options)
{
	struct portolan_run *run =
	        aligned_alloc(_Alignof(struct portolan_run), sizeof(*run)); /* struct frames needs this alignment */
	pthread_condattr_t attributes;

	if (!run)
		return NULL;
	memset(run, 0, sizeof(*run));
	run->embedded.endpoint.directory = -1;
	run->wake = -1;
	pthread_mutex_init(&run->log_mutex, NULL);
	pthread_mutex_init(&run->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&run->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	run->name = strdup(name);
	run->generation = run_generation();
	run->strict = options->strict != 0;
	run->when_full = options->when_full;
	run->examples = options->examples;
	run->label_count = options->label_count;
	run->cancelled = options->cancelled;
	run->cancelled_context = options->cancelled_context;
	if (run->name)
		return run;
	run_free(run);
	return NULL;
}

static struct wire_bytes
open_text(const char *string)
{
	return (struct wire_bytes){(const uint8_t *)(string ? string : ""), string ? strlen(string) : 0};
}

/* Makes the session, with an `open` request from the options, which have been checked. */
static int
open_session(struct portolan_run *run, const struct portolan_options *options, struct portolan_error *error)
{
	struct wire_bytes *labels = calloc(options->label_count + 1, sizeof(*labels)), bytes;
	wire_encoder *encoder = wire_encoder_new();
	struct wire_frame open = {
	        .kind = WIRE_OPEN,
	        .open = {.run = open_text(run->name),
	                 .group = open_text(options->group),
	                 .client = open_text("libportolan/" PORTOLAN_VERSION),
	                 .config = open_text(options->config),
	                 .labels = options->label_count > 0 ? labels : NULL,
	                 .label_count = options->label_count,
	                 .examples = options->examples,
	                 .rank = options->rank,
	                 .mode = options->mode,
	                 .resume = options->resume != 0,
	                 .overwrite = options->overwrite != 0,
	                 .process = (uint64_t)getpid()},
	};
	char host[WIRE_MAX_HOST + 1] = "";
	struct timespec now;
	int status = 0;

	for (size_t i = 0; labels && i < options->label_count; i++)
		labels[i] = open_text(options->labels[i]);
	if (gethostname(host, sizeof(host) - 1) == 0 && wire_name_is_valid(host, strlen(host), false))
		open.open.host = open_text(host);
	clock_gettime(CLOCK_REALTIME, &now);
	open.open.started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	run->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!labels || !encoder)
		status = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	else if (run->wake < 0 || getrandom(open.session, WIRE_SESSION_SIZE, 0) != WIRE_SESSION_SIZE)
		status = error_set(error, PORTOLAN_E_SYSTEM, "cannot begin a session: %s", strerror(errno));
	if (status == 0)
		status = wire_encode(encoder, &open, &bytes, error);
	if (status == 0)
		status = session_init(&run->session, bytes, clock_ms(), error);
	wire_encoder_free(encoder);
	run->session.directory = run->spool;
	run->session.spool_limit = options->spool_bytes ? options->spool_bytes : DEFAULT_SPOOL_BYTES;
	run->session.target = run->embedded.store ? run->embedded.store : run->endpoint;
	free(labels);
	return status;
}

static int
open_set_socket_options(void *socket)
{
	static const struct {
		int option, value;
	} options[] = {
	        {ZMQ_LINGER, 0},
	        {ZMQ_IMMEDIATE, 1},
	        {ZMQ_SNDHWM, 0}, /* no limit: credit bounds what is under way */
	        {ZMQ_HEARTBEAT_IVL, WIRE_PING_MS},
	        {ZMQ_HEARTBEAT_TIMEOUT, SESSION_CONTACT_MS},
	        {ZMQ_RECONNECT_IVL, 50},
	        {ZMQ_RECONNECT_IVL_MAX, 1000},
	};
	const int64_t largest = WIRE_MAX_FRAME;
	int status = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &largest, sizeof(largest));

	for (size_t i = 0; status == 0 && i < sizeof(options) / sizeof(options[0]); i++)
		status = zmq_setsockopt(socket, options[i].option, &options[i].value, sizeof(options[i].value));
	return status;
}

/* Makes the socket, here in the thread that opens the run, so that a malformed endpoint is reported at once. Starting
 * the I/O thread hands the socket over to it. */
static int
open_socket(struct portolan_run *run, const char *keys, struct portolan_error *error)
{
	int status;

	run->context = zmq_ctx_new();
	run->socket = run->context ? zmq_socket(run->context, ZMQ_DEALER) : NULL;
	if (!run->socket || open_set_socket_options(run->socket) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make a socket: %s", zmq_strerror(zmq_errno()));
	status = handshake_init(run, keys, error);
	if (status == 0 && zmq_connect(run->socket, run->endpoint) < 0)
		status = error_set(error, PORTOLAN_E_INVALID, "endpoint \"%s\": %s; give tcp://HOST:PORT or ipc://PATH",
		                   run->endpoint, zmq_strerror(zmq_errno()));
	return status;
}

/* Makes the libzmq context, the socket and the I/O thread. Signals are blocked meanwhile, so that no thread made here
 * takes one: the application's handlers run in its own threads. */
static int
open_start_thread(struct portolan_run *run, const char *keys, struct portolan_error *error)
{
	sigset_t all, before;
	int status, code;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	status = open_socket(run, keys, error);
	code = status == 0 ? pthread_create(&run->thread, NULL, io_main, run) : 0;
	if (code != 0)
		status = error_set(error, PORTOLAN_E_SYSTEM, "cannot start a thread: %s", strerror(code));
	run->is_started = status == 0;
	if (run->is_started)
		pthread_setname_np(run->thread, "portolan");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

/* Sets run->spool, the directory of spool files. The directory itself is made with the first file. */
static int
open_place_spool(struct portolan_run *run, const struct portolan_options *options, struct portolan_error *error)
{
	const char *parent = run->embedded.store;

	if (options->spool || !parent)
		run->spool = directory_absolute(options->spool ? options->spool : "portolan-spool");
	else if (asprintf(&run->spool, "%s/spool", parent) < 0)
		run->spool = NULL;
	return run->spool ? 0 : error_set(error, PORTOLAN_E_SYSTEM, "spool: %s", strerror(errno));
}

/* Waits for the collector's answer; in slices, as the caller may cancel. PORTOLAN_E_NO_COLLECTOR: no answer came, or
 * the collector cannot take the run now. */
static int
open_await_answer(struct portolan_run *run, const struct portolan_options *options, int64_t deadline, int timeout,
                  struct portolan_error *error)
{
	int64_t slice = 0;

	while (slice < deadline) {
		slice = clock_ms() + RUN_SLICE_MS;
		if (run_wait(run, 0, slice < deadline ? slice : deadline))
			return run_has_failed(run) ? error_set(error, run->failure.code, "%s", run->failure.message)
			                           : 0;
		if (run_is_cancelled(run))
			return error_set(error, PORTOLAN_E_CANCELLED, "run %s: opening was given up", run->name);
	}
	pthread_mutex_lock(&run->mutex);
	*error = run->complaint;
	pthread_mutex_unlock(&run->mutex);
	if (error->message[0] != '\0' && error->code == PORTOLAN_E_REFUSED) /* another process records into the run */
		return error->code;
	error->code = PORTOLAN_E_NO_COLLECTOR;
	if (error->message[0] != '\0')
		return error->code;
	if (options->store)
		return error_set(error, PORTOLAN_E_NO_COLLECTOR, "the collector of store %s did not answer within %g s",
		                 run->embedded.store, timeout / 1000.0);
	return error_set(error, PORTOLAN_E_NO_COLLECTOR,
	                 "no collector answered at %s within %g s; start one with: portoland --store DIR --listen %s",
	                 options->endpoint, timeout / 1000.0, options->endpoint);
}

/* Begins the run without a collector. `why`: the reason why there is none. */
static int
open_go_offline(struct portolan_run *run, struct portolan_error *why)
{
	struct run_counters counters;

	atomic_store(&run->command, COMMAND_OFFLINE);
	run_wait(run, 0, CLOCK_FOREVER);
	if (run_has_failed(run))
		return error_set(why, run->failure.code, "%s", run->failure.message);
	run_get_counters(run, &counters);
	if (run_is_offline(run))
		fprintf(stderr, "portolan: run %s: %s: recording to %s until one answers\n", run->name, why->message,
		        counters.spool);
	return 0;
}

static int
open_with_options(struct portolan_run *run, const struct portolan_options *options, struct portolan_error *error)
{
	int timeout = options->open_timeout_ms > 0 ? options->open_timeout_ms : DEFAULT_OPEN_TIMEOUT_MS, status;
	int64_t deadline = clock_ms() + timeout;
	struct portolan_error why = {0};
	int found = 0;

	status = frames_init(&run->frames, options->ring_bytes > 0 ? options->ring_bytes : DEFAULT_RING_BYTES, error);
	if (status == 0 && options->store) {
		status = embedded_init(&run->embedded, options->store, options->collector_program, error);
		if (status == 0 && !embedded_is_served(&run->embedded))
			found = embedded_start(&run->embedded, deadline, run->cancelled, run->cancelled_context, &why);
	}
	if (status == 0)
		status = open_place_spool(run, options, error);
	if (status == 0 && found < 0 && !options->spool)
		return error_set(error, found, "%s", why.message);
	if (status == 0) {
		run->endpoint = strdup(options->store ? run->embedded.endpoint.text : options->endpoint);
		if (!run->endpoint)
			status = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	if (status == 0)
		status = open_session(run, options, error);
	if (status == 0)
		status = open_start_thread(run, options->keys, error);
	if (status < 0)
		return status;
	if (found == 0)
		found = open_await_answer(run, options, deadline, timeout, &why);
	if (found == PORTOLAN_E_NO_COLLECTOR && options->spool && !run_is_cancelled(run))
		found = open_go_offline(run, &why);
	return found < 0 ? error_set(error, found, "%s", why.message) : 0;
}

int
portolan_open(const char *name, const struct portolan_options *options, portolan_run **run,
              struct portolan_error *error)
{
	bool exists;

	return run_open(name, options, run, &exists, error);
}

int
run_open(const char *name, const struct portolan_options *options, portolan_run **run, bool *exists,
         struct portolan_error *error)
{
	struct portolan_run *opened;
	int status;

	*exists = false;
	if (!run)
		return error_set(error, PORTOLAN_E_INVALID, "run is NULL");
	status = options_check(name, options, error);
	if (status < 0)
		return status;
	opened = run_new(name, options);
	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	status = open_with_options(opened, options, error);
	if (status == 0) {
		*run = opened;
		return 0;
	}
	*exists = run_has_failed(opened) && opened->refusal == WIRE_E_RUN_EXISTS;
	run_free(opened);
	return status;
}

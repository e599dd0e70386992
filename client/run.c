/*
 * run.c: opening, ending epochs, flushing, closing, counting. Portions of a run's life that may wait; log.c has the one
 * that does not.
 */
#include "run.h"

#include "clock.h"
#include "fork.h"
#include "options.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WAIT_MS 60000
#define RING_KEPT 4096 /* bytes batches leave free, so that ends of epochs need not wait for them */
#define FULL_SLEEP_US 200

int
run_check(const struct portolan_run *run, struct portolan_error *error)
{
	if (!run)
		return error_set(error, PORTOLAN_E_INVALID, "run is NULL");
	if (run->generation != fork_generation())
		return error_set(error, PORTOLAN_E_FORKED,
		                 "run %s was opened by the parent process; open one of its own here, with a group",
		                 run->name);
	if (io_has_failed(run->io))
		return error_set(error, PORTOLAN_E_CLOSED, "run %s has ended: %s", run->name,
		                 io_failure(run->io)->message);
	if (atomic_load(&run->closed))
		return error_set(error, PORTOLAN_E_CLOSED, "run %s is closed", run->name);
	return 0;
}

static void
warn_full(struct portolan_run *run)
{
	if (!atomic_exchange(&run->warned_full, true))
		fprintf(stderr,
		        "portolan: run %s: the collector does not keep up, and %zu bytes of memory for what is not yet "
		        "sent are full: %s\n",
		        run->name, run->ring.size,
		        run->when_full == PORTOLAN_DROP ? "observations are dropped, and counted"
		                                        : "logging waits for it (ring_bytes makes more room)");
}

void *
run_reserve(struct portolan_run *run, size_t bytes, bool may_drop, int *status, struct portolan_error *error)
{
	const struct timespec pause = {.tv_nsec = FULL_SLEEP_US * 1000};
	size_t keep = may_drop ? RING_KEPT : 0;
	void *record = ring_reserve(&run->ring, bytes, keep);

	*status = 0;
	if (record)
		return record;
	if (may_drop)
		warn_full(run);
	if (may_drop && run->when_full == PORTOLAN_DROP)
		return NULL;
	atomic_fetch_add(&run->waits, 1);
	io_wake(run->io);
	while (!record) {
		nanosleep(&pause, NULL);
		*status = run_check(run, error);
		if (*status < 0)
			return NULL;
		record = ring_reserve(&run->ring, bytes, keep);
	}
	return record;
}

static void
free_run(struct portolan_run *run)
{
	ring_deinit(&run->ring);
	embedded_deinit(&run->embedded);
	pthread_mutex_destroy(&run->log_mutex);
	free(run->name);
	free(run);
}

static struct portolan_run *
new_run(const char *name, const struct portolan_options *options)
{
	struct portolan_run *run =
	        aligned_alloc(_Alignof(struct portolan_run), sizeof(*run)); /* as the ring asks for */

	if (!run)
		return NULL;
	memset(run, 0, sizeof(*run));
	pthread_mutex_init(&run->log_mutex, NULL);
	run->name = strdup(name);
	run->generation = fork_generation();
	run->strict = options->strict != 0;
	run->when_full = options->when_full;
	run->examples = options->examples;
	if (!run->name) {
		free_run(run);
		return NULL;
	}
	return run;
}

/* What the collector is told. Called by the sending thread. */
static void
count(const void *context, struct wire_counts *counts)
{
	const struct portolan_run *run = context;

	*counts = (struct wire_counts){
	        .told = true,
	        .logged = atomic_load(&run->logged),
	        .refused = atomic_load(&run->refused),
	        .dropped = atomic_load(&run->dropped),
	        .waits = atomic_load(&run->waits),
	};
}

static int
start_io(struct portolan_run *run, const struct portolan_options *options, const char *endpoint,
         struct portolan_error *error)
{
	struct wire_bytes *labels;
	struct wire_open request;
	struct io_options io = {
	        .endpoint = endpoint, .count = count, .context = run, .ring = &run->ring, .request = &request};
	int status = options_request(run->name, options, &request, &labels, error);

	if (status < 0)
		return status;
	if (options->store)
		io.embedded = &run->embedded;
	status = io_create(&run->io, &io, error);
	free(labels);
	return status;
}

static int
await_open(struct portolan_run *run, const struct portolan_options *options, int timeout, int64_t deadline,
           struct portolan_error *error)
{
	enum wire_id_kind id_kind;
	int status = io_wait_open(run->io, deadline, &id_kind, error);

	if (status == 0)
		atomic_store(&run->id_kind, id_kind);
	if (status != PORTOLAN_E_NO_COLLECTOR)
		return status;
	if (options->store)
		return error_set(error, status, "the collector of store %s did not answer at %s within %g s",
		                 run->embedded.store, run->embedded.endpoint, timeout / 1000.0);
	return error_set(error, status,
	                 "no collector answered at %s within %g s; start one with: portoland --store DIR",
	                 options->endpoint, timeout / 1000.0);
}

static int
open_run(struct portolan_run *run, const struct portolan_options *options, struct portolan_error *error)
{
	int timeout = options->open_timeout_ms > 0 ? options->open_timeout_ms : OPTIONS_OPEN_TIMEOUT_MS, status;
	int64_t deadline = clock_ms() + timeout;
	const char *endpoint = options->endpoint;

	status = ring_init(&run->ring, options->ring_bytes > 0 ? options->ring_bytes : OPTIONS_RING_BYTES, error);
	if (status == 0 && options->store) {
		status = embedded_init(&run->embedded, options->store, options->collector_program, error);
		endpoint = run->embedded.endpoint;
		if (status == 0 && !embedded_is_served(&run->embedded))
			status = embedded_start(&run->embedded, deadline, NULL, NULL, error);
	}
	if (status == 0)
		status = start_io(run, options, endpoint, error);
	if (status < 0)
		return status;
	status = await_open(run, options, timeout, deadline, error);
	if (status < 0)
		io_destroy(run->io);
	return status;
}

int
portolan_open(const char *name, const struct portolan_options *options, portolan_run **run,
              struct portolan_error *error)
{
	struct portolan_run *opened;
	int status;

	if (!run)
		return error_set(error, PORTOLAN_E_INVALID, "there is nowhere to put the run: run is NULL");
	status = options_check(name, options, error);
	if (status < 0)
		return status;
	opened = new_run(name, options);
	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	status = open_run(opened, options, error);
	if (status < 0) {
		free_run(opened);
		return status;
	}
	*run = opened;
	return 0;
}

int
portolan_end_epoch(portolan_run *run, uint32_t epoch, struct portolan_error *error)
{
	const struct record end = {.kind = RECORD_END_EPOCH, .epoch = epoch};
	struct record *record;
	int status = run_check(run, error);

	if (status < 0)
		return status;
	if (epoch > WIRE_MAX_EPOCH)
		return error_set(error, PORTOLAN_E_INVALID, "epoch is %u; the limit is %u", epoch, WIRE_MAX_EPOCH);
	pthread_mutex_lock(&run->log_mutex);
	record = run_reserve(run, record_size(&end), false, &status, error);
	if (record) {
		*record = end;
		ring_commit(&run->ring, record_size(&end));
	}
	pthread_mutex_unlock(&run->log_mutex);
	return status;
}

/* Sets *deadline; PORTOLAN_E_INVALID for a negative number that means nothing. */
static int
deadline_of(int timeout_ms, int64_t *deadline, struct portolan_error *error)
{
	if (timeout_ms < PORTOLAN_WAIT_FOREVER)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "timeout_ms is %d; give milliseconds, PORTOLAN_WAIT_DEFAULT or PORTOLAN_WAIT_FOREVER",
		                 timeout_ms);
	if (timeout_ms == PORTOLAN_WAIT_FOREVER)
		*deadline = CLOCK_FOREVER;
	else
		*deadline = clock_ms() + (timeout_ms == PORTOLAN_WAIT_DEFAULT ? DEFAULT_WAIT_MS : timeout_ms);
	return 0;
}

static uint64_t
not_acknowledged(const struct portolan_run *run)
{
	struct io_counters counters;
	uint64_t logged = atomic_load(&run->logged);

	io_get_counters(run->io, &counters);
	return logged > counters.settled_observations ? logged - counters.settled_observations : 0;
}

static int
timed_out(const struct portolan_run *run, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_TIMEOUT,
	                 "run %s: %llu of %llu observations are not acknowledged by the collector yet", run->name,
	                 (unsigned long long)not_acknowledged(run), (unsigned long long)atomic_load(&run->logged));
}

int
portolan_flush(portolan_run *run, int timeout_ms, struct portolan_error *error)
{
	int64_t deadline = 0;
	int status = run_check(run, error);

	if (status == 0)
		status = deadline_of(timeout_ms, &deadline, error);
	if (status < 0)
		return status;
	status = io_wait_settled(run->io, ring_head(&run->ring), deadline, error);
	return status == PORTOLAN_E_TIMEOUT ? timed_out(run, error) : status;
}

static int
finish(struct portolan_run *run, int timeout_ms, struct portolan_error *error)
{
	int64_t deadline = clock_ms();
	int invalid = deadline_of(timeout_ms, &deadline, error), status;

	atomic_store(&run->closed, true);
	pthread_mutex_lock(&run->log_mutex); /* whoever is still logging is let out first */
	pthread_mutex_unlock(&run->log_mutex);
	status = io_finish(run->io, deadline, error);
	if (status == PORTOLAN_E_TIMEOUT)
		status = io_is_settled(run->io, ring_head(&run->ring)) ? 0 : timed_out(run, error);
	return invalid < 0 ? invalid : status;
}

int
portolan_close(portolan_run *run, int timeout_ms, struct portolan_error *error)
{
	int status = 0;

	if (!run)
		return 0;
	if (run->generation != fork_generation()) {
		status = error_set(error, PORTOLAN_E_FORKED,
		                   "run %s was opened by the parent process, which closes it; its memory is freed here",
		                   run->name);
		io_abandon(run->io);
	} else {
		status = finish(run, timeout_ms, error);
		io_destroy(run->io);
	}
	free_run(run);
	return status;
}

int
portolan_get_stats(const portolan_run *run, struct portolan_stats *stats)
{
	struct io_counters counters;
	int status = run_check(run, NULL);
	uint64_t settled;

	if (status < 0 && status != PORTOLAN_E_CLOSED)
		return status;
	if (!stats)
		return PORTOLAN_E_INVALID;
	io_get_counters(run->io, &counters);
	settled = counters.settled_observations;
	*stats = (struct portolan_stats){
	        .logged = atomic_load(&run->logged),
	        .acknowledged = settled > counters.refused ? settled - counters.refused : 0,
	        .refused = atomic_load(&run->refused) + counters.refused,
	        .replaced = counters.replaced,
	        .dropped = atomic_load(&run->dropped),
	        .bytes_sent = counters.bytes_sent,
	        .reconnects = counters.opened > 0 ? counters.opened - 1 : 0,
	        .waits = atomic_load(&run->waits),
	};
	if (io_has_failed(run->io))
		stats->dropped += not_acknowledged(run);
	return 0;
}

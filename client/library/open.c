/*
 * open.c: how a run begins: find, or start, a collector, and have it agree; or, where the user gave a spool and nobody
 * answers, begin without one.
 */
#include "run.h"

#include "clock.h"
#include "directory.h"
#include "options.h"

#include <portolan/error.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
run_free(struct portolan_run *run)
{
	frames_deinit(&run->frames);
	embedded_deinit(&run->embedded);
	pthread_mutex_destroy(&run->log_mutex);
	free(run->name);
	free(run->spool);
	free(run);
}

static struct portolan_run *
new_run(const char *name, const struct portolan_options *options)
{
	struct portolan_run *run =
	        aligned_alloc(_Alignof(struct portolan_run), sizeof(*run)); /* as the frames ask for */

	if (!run)
		return NULL;
	memset(run, 0, sizeof(*run));
	run->embedded.endpoint.directory = -1;
	pthread_mutex_init(&run->log_mutex, NULL);
	run->name = strdup(name);
	run->generation = run_generation();
	run->strict = options->strict != 0;
	run->when_full = options->when_full;
	run->examples = options->examples;
	run->cancelled = options->cancelled;
	run->cancelled_context = options->cancelled_context;
	if (!run->name) {
		run_free(run);
		return NULL;
	}
	return run;
}

static int
start_io(struct portolan_run *run, const struct portolan_options *options, const char *endpoint,
         struct portolan_error *error)
{
	struct wire_bytes *labels;
	struct wire_open request;
	struct io_options io = {.endpoint = endpoint,
	                        .counts = &run->counts,
	                        .keys = options->keys,
	                        .frames = &run->frames,
	                        .request = &request,
	                        .spool = run->spool,
	                        .spool_bytes = options->spool_bytes ? options->spool_bytes : OPTIONS_SPOOL_BYTES};
	int status = options_request(run->name, options, &request, &labels, error);

	if (status < 0)
		return status;
	if (options->store)
		io.embedded = &run->embedded;
	status = io_create(&run->io, &io, error);
	free(labels);
	return status;
}

/* Where spool files go; made when the first one is. */
static int
place_spool(struct portolan_run *run, const struct portolan_options *options, struct portolan_error *error)
{
	const char *parent = run->embedded.store;

	if (options->spool || !parent)
		run->spool = directory_absolute(options->spool ? options->spool : "portolan-spool");
	else if (asprintf(&run->spool, "%s/spool", parent) < 0)
		run->spool = NULL;
	return run->spool ? 0 : error_set(error, PORTOLAN_E_SYSTEM, "spool: %s", strerror(errno));
}

/* The answer of the collector, in slices: whoever waits may want to give up. As io_wait_open(). */
static int
await_answer(struct portolan_run *run, int64_t deadline, struct portolan_error *error)
{
	for (;;) {
		int64_t slice = clock_ms() + RUN_SLICE_MS;
		enum wire_id_kind id_kind;
		int status = io_wait_open(run->io, slice < deadline ? slice : deadline, &id_kind, error);

		if (status == 0)
			atomic_store(&run->id_kind, id_kind);
		if (status != PORTOLAN_E_NO_COLLECTOR || clock_ms() >= deadline)
			return status;
		if (run_is_cancelled(run))
			return error_set(error, PORTOLAN_E_CANCELLED, "run %s: opening was given up", run->name);
	}
}

/* `error`: of await_answer(). */
static int
nobody_answered(const struct portolan_run *run, const struct portolan_options *options, int timeout,
                struct portolan_error *error)
{
	if (error->message[0] != '\0')
		return PORTOLAN_E_NO_COLLECTOR;
	if (options->store)
		return error_set(error, PORTOLAN_E_NO_COLLECTOR, "the collector of store %s did not answer within %g s",
		                 run->embedded.store, timeout / 1000.0);
	return error_set(error, PORTOLAN_E_NO_COLLECTOR,
	                 "no collector answered at %s within %g s; start one with: portoland --store DIR --listen %s",
	                 options->endpoint, timeout / 1000.0, options->endpoint);
}

/* `why`: no collector. */
static int
go_offline(struct portolan_run *run, const struct portolan_error *why, struct portolan_error *error)
{
	struct io_counters counters;
	int status = io_go_offline(run->io, error);

	if (status < 0 || !io_is_offline(run->io))
		return status;
	io_get_counters(run->io, &counters);
	fprintf(stderr, "portolan: run %s: %s: recording to %s until one answers\n", run->name, why->message,
	        counters.spool);
	return 0;
}

static int
open_run(struct portolan_run *run, const struct portolan_options *options, struct portolan_error *error)
{
	int timeout = options->open_timeout_ms > 0 ? options->open_timeout_ms : OPTIONS_OPEN_TIMEOUT_MS, status;
	int64_t deadline = clock_ms() + timeout;
	const char *endpoint = options->endpoint;
	struct portolan_error why = {0};
	int found = 0;

	status = frames_init(&run->frames, options->ring_bytes > 0 ? options->ring_bytes : OPTIONS_RING_BYTES, error);
	if (status == 0 && options->store) {
		status = embedded_init(&run->embedded, options->store, options->collector_program, error);
		endpoint = run->embedded.endpoint.text;
		if (status == 0 && !embedded_is_served(&run->embedded))
			found = embedded_start(&run->embedded, deadline, run->cancelled, run->cancelled_context, &why);
	}
	if (status == 0)
		status = place_spool(run, options, error);
	if (status == 0 && found < 0 && !options->spool)
		return error_set(error, found, "%s", why.message);
	if (status == 0)
		status = start_io(run, options, endpoint, error);
	if (status < 0)
		return status;
	if (found == 0)
		status = await_answer(run, deadline, &why);
	if (found == 0 && status == PORTOLAN_E_NO_COLLECTOR)
		found = nobody_answered(run, options, timeout, &why);
	if (found < 0 && options->spool && !run_is_cancelled(run))
		status = go_offline(run, &why, &why);
	else if (found < 0)
		status = found;
	if (status < 0) {
		io_destroy(run->io);
		error_set(error, status, "%s", why.message);
	}
	return status;
}

int
portolan_open(const char *name, const struct portolan_options *options, portolan_run **run,
              struct portolan_error *error)
{
	struct portolan_run *opened;
	int status;

	if (!run)
		return error_set(error, PORTOLAN_E_INVALID, "run is NULL");
	status = options_check(name, options, error);
	if (status < 0)
		return status;
	opened = new_run(name, options);
	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	status = open_run(opened, options, error);
	if (status < 0) {
		run_free(opened);
		return status;
	}
	*run = opened;
	return 0;
}

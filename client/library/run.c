/* run.c: the calls of a training loop that may wait, on an open run: end an epoch, flush, close, and get the counts.
 * Logging, which waits only for room, is in log.c, opening in open.c. */
#include "run.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define DEFAULT_WAIT_MS 60000
#define FULL_SLEEP_US 200
#define CLOSE_LEAST_MS 100
#define WARN_AFTER_MS 500 /* the user is not told of shorter waits */

/* The number of forks so far: see run_generation(). Global, as pthread_atfork() gives its handlers no argument. */
static _Atomic unsigned generation;

static void
run_count_fork(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void
run_register_fork_handler(void)
{
	pthread_atfork(NULL, NULL, run_count_fork);
}

unsigned
run_generation(void)
{
	static pthread_once_t registered = PTHREAD_ONCE_INIT;

	pthread_once(&registered, run_register_fork_handler);
	return atomic_load_explicit(&generation, memory_order_relaxed);
}

int
run_check(const struct portolan_run *run, struct portolan_error *error)
{
	if (!run)
		return error_set(error, PORTOLAN_E_INVALID, "run is NULL");
	if (run->generation != run_generation())
		return error_set(error, PORTOLAN_E_FORKED,
		                 "run %s was opened by the parent process; open one of its own here, with a group",
		                 run->name);
	if (atomic_load(&run->closed))
		return error_set(error, PORTOLAN_E_CLOSED, "run %s is closed", run->name);
	return 0;
}

void
run_get_counters(struct portolan_run *run, struct run_counters *counters)
{
	uint64_t logged = atomic_load(&run->logged), texts = atomic_load(&run->texts);

	pthread_mutex_lock(&run->mutex);
	*counters = run->counters;
	pthread_mutex_unlock(&run->mutex);
	counters->missing = logged > counters->settled ? logged - counters->settled : 0;
	counters->texts = texts > counters->texts ? texts - counters->texts : 0;
}

#define TEXTS_SIZE 64

/* What a message says behind a number of observations of the texts of examples; "" if there are none. */
static const char *
run_say_texts(uint64_t examples, char text[TEXTS_SIZE])
{
	text[0] = '\0';
	if (examples > 0)
		snprintf(text, TEXTS_SIZE, " and the texts of %llu examples", (unsigned long long)examples);
	return text;
}

/* Fills in `error`: not everything is on the collector's disk, why, and where the rest is. */
static int
run_report_missing(struct portolan_run *run, int code, const char *why, struct portolan_error *error)
{
	unsigned long long dropped = code == PORTOLAN_E_ENDED ? atomic_load(&run->dropped) : 0, missing, saved,
	                   all = atomic_load(&run->logged) + dropped;
	const char *ended = code == PORTOLAN_E_ENDED ? " has ended" : "";
	char texts_saved[TEXTS_SIZE], texts_lost[TEXTS_SIZE];
	struct run_counters counters;

	run_get_counters(run, &counters);
	missing = counters.missing + dropped;
	saved = counters.saved < missing ? counters.saved : missing;
	run_say_texts(counters.texts_saved, texts_saved);
	run_say_texts(counters.texts > counters.texts_saved ? counters.texts - counters.texts_saved : 0, texts_lost);
	if (saved == 0 && counters.texts_saved == 0 && (missing > 0 || !*counters.spool))
		return error_set(error, code, "run %s%s: %s: %llu of %llu observations%s are lost", run->name, ended,
		                 why, missing, all, texts_lost);
	return error_set(
	        error, code,
	        "run %s%s: %s: %llu of %llu observations%s are in a file, and %llu%s are lost: portolan import "
	        "%s --store %s",
	        run->name, ended, why, saved, all, texts_saved, missing - saved, texts_lost, counters.spool,
	        run->embedded.store ? run->embedded.store : "DIR");
}

static int
run_describe_end(struct portolan_run *run, struct portolan_error *error)
{
	return run_report_missing(run, PORTOLAN_E_ENDED, run->failure.message, error);
}

int
run_report_end(struct portolan_run *run, struct portolan_error *error)
{
	return run->strict ? run_describe_end(run, error) : 0;
}

static void
run_warn_full(struct portolan_run *run)
{
	if (!atomic_exchange(&run->warned_full, true))
		fprintf(stderr,
		        "portolan: run %s: neither collector nor spool keep up, and %zu bytes of memory are full: %s\n",
		        run->name, run->frames.bytes,
		        run->when_full == PORTOLAN_DROP ? "observations are dropped, and counted"
		                                        : "logging waits (ring_bytes makes more room)");
}

/* Has the I/O thread look at the frames now. Makes a system call. */
static void
run_wake(struct portolan_run *run)
{
	const uint64_t one = 1;

	if (write(run->wake, &one, sizeof(one)) < 0)
		return; /* the eventfd's counter is full, so the thread will wake anyway */
}

static bool
run_has_ended(const struct portolan_run *run)
{
	return atomic_load(&run->phase) >= PHASE_CLOSED;
}

bool
run_wait(struct portolan_run *run, uint64_t position, int64_t deadline)
{
	struct timespec until = {.tv_sec = (time_t)(deadline / 1000), .tv_nsec = (long)(deadline % 1000) * 1000000};
	bool reached;
	int status = 0;

	run_wake(run);
	pthread_mutex_lock(&run->mutex);
	for (;;) {
		reached = position == 0 ? atomic_load(&run->phase) != PHASE_OPENING
		                        : atomic_load(&run->settled_position) >= position || run_has_ended(run);
		if (reached || status != 0)
			break;
		if (deadline == CLOCK_FOREVER)
			pthread_cond_wait(&run->changed, &run->mutex);
		else
			status = pthread_cond_timedwait(&run->changed, &run->mutex, &until);
	}
	pthread_mutex_unlock(&run->mutex);
	return reached;
}

bool
run_is_cancelled(const struct portolan_run *run)
{
	return run->cancelled && run->cancelled(run->cancelled_context) != 0;
}

static int
run_check_wanted(const struct portolan_run *run, struct portolan_error *error)
{
	int status = run_check(run, error);

	if (status == 0 && run_is_cancelled(run))
		return error_set(error, PORTOLAN_E_CANCELLED, "run %s: the wait for room was given up", run->name);
	return status;
}

/* By the clock of the wall, as glibc has pthread_mutex_clocklock() from 2.30 on only. If somebody sets that clock back,
 * one slice takes longer. */
static int
run_lock_in_slices(struct portolan_run *run, struct portolan_error *error)
{
	int status = 0;

	if (pthread_mutex_trylock(&run->log_mutex) == 0)
		return 0;
	atomic_fetch_add(&run->queued, 1);
	while (status == 0) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += RUN_SLICE_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_mutex_timedlock(&run->log_mutex, &until) == 0)
			break;
		status = run_check_wanted(run, error);
	}
	atomic_fetch_sub(&run->queued, 1);
	return status;
}

int
run_lock(struct portolan_run *run, struct portolan_error *error)
{
	int status = run_lock_in_slices(run, error);

	if (status < 0)
		return status;
	/* Another thread may have closed the run since this call began: then `close` is the session's last frame. */
	status = run_check(run, error);
	if (status < 0)
		pthread_mutex_unlock(&run->log_mutex);
	return status;
}

void
run_unlock(struct portolan_run *run)
{
	const struct timespec pause = {.tv_nsec = FULL_SLEEP_US * 1000};

	pthread_mutex_unlock(&run->log_mutex);
	if (atomic_load(&run->queued) > 0) /* the mutex itself would favour this thread, which is running */
		nanosleep(&pause, NULL);
}

int
run_wait_for_room(struct portolan_run *run, struct portolan_error *error)
{
	const struct timespec pause = {.tv_nsec = FULL_SLEEP_US * 1000};
	int64_t now = clock_ms();
	bool asks = now - run->asked >= RUN_SLICE_MS;
	int status;

	if (run->when_full == PORTOLAN_DROP) {
		run_wake(run);
		run_warn_full(run);
		return 0;
	}
	if (run->waiting_since == 0) {
		run_wake(run);
		atomic_fetch_add(&run->waits, 1);
		run->waiting_since = run->asked = now;
		asks = false;
	}
	nanosleep(&pause, NULL);
	status = run_has_failed(run) ? PORTOLAN_E_ENDED : asks ? run_check_wanted(run, error) : run_check(run, error);
	if (asks)
		run->asked = now;
	if (now - run->waiting_since >= WARN_AFTER_MS)
		run_warn_full(run);
	return status < 0 ? status : 1;
}

int
portolan_end_epoch(portolan_run *run, uint32_t epoch, struct portolan_error *error)
{
	int status = run_check(run, error);

	if (status < 0)
		return status;
	if (epoch > WIRE_MAX_EPOCH)
		return error_set(error, PORTOLAN_E_INVALID, "epoch is %u; the limit is %u", epoch, WIRE_MAX_EPOCH);
	if (run_has_failed(run))
		return run_report_end(run, error);
	status = run_lock(run, error);
	if (status < 0)
		return status;
	run->waiting_since = 0;
	/* The end of an epoch is only a hint: if the user wants no waiting, it is dropped too. */
	for (status = 1; status > 0 && !frames_end_epoch(&run->frames, epoch);)
		status = run_wait_for_room(run, error);
	pthread_mutex_unlock(&run->log_mutex);
	return status == PORTOLAN_E_ENDED ? run_report_end(run, error) : status < 0 ? status : 0;
}

/* Sets *deadline. PORTOLAN_E_INVALID: timeout_ms is a negative number without a meaning. */
static int
run_deadline_of(int timeout_ms, int64_t *deadline, struct portolan_error *error)
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

int
portolan_flush(portolan_run *run, int timeout_ms, struct portolan_error *error)
{
	struct run_counters counters;
	char texts[TEXTS_SIZE];
	int64_t deadline = 0;
	int status = run_check(run, error);
	uint64_t position;
	bool ended;

	if (status == 0)
		status = run_deadline_of(timeout_ms, &deadline, error);
	if (status < 0)
		return status;
	if (run_is_offline(run)) /* there is no collector to wait for */
		deadline = clock_ms();
	position = frames_begun(&run->frames);
	ended = run_wait(run, position, deadline);
	if (run_has_failed(run))
		return run_describe_end(run, error);
	if (atomic_load(&run->settled_position) >= position)
		return 0;
	if (ended)
		return error_set(error, PORTOLAN_E_CLOSED, "run %s is closed", run->name);
	run_get_counters(run, &counters);
	return error_set(error, PORTOLAN_E_TIMEOUT,
	                 "run %s: %llu of %llu observations%s are not acknowledged by the collector yet", run->name,
	                 (unsigned long long)counters.missing, (unsigned long long)atomic_load(&run->logged),
	                 run_say_texts(counters.texts, texts));
}

/* Writes what is not acknowledged to the spool. Says so in `error`; or on stderr if the run never had a collector,
 * which is no failure. */
static int
run_save_rest(struct portolan_run *run, struct portolan_error *error)
{
	bool offline = run_is_offline(run), came;
	struct run_counters counters;
	struct portolan_error why;

	atomic_store(&run->command, COMMAND_SAVE);
	run_wait(run, RUN_END, CLOCK_FOREVER);
	if (run_has_failed(run))
		return run_describe_end(run, error);
	if (run->save_error.code < 0)
		return run_report_missing(run, PORTOLAN_E_TIMEOUT, run->save_error.message, error);
	run_get_counters(run, &counters);
	came = run->session.opened_count > 0; /* perhaps just now */
	if (counters.missing == 0 && counters.texts == 0 && (came || !offline))
		return 0;
	if (offline) {
		run_report_missing(run, PORTOLAN_E_TIMEOUT,
		                   came ? "its collector came too late to take all" : "no collector has taken it",
		                   &why);
		fprintf(stderr, "portolan: %s\n", why.message);
		return 0;
	}
	return run_report_missing(run, PORTOLAN_E_TIMEOUT, "not all was acknowledged in time", error);
}

int
run_finish(struct portolan_run *run, int timeout_ms, struct portolan_error *error)
{
	int64_t deadline = clock_ms(), soon;
	int status = run_deadline_of(timeout_ms, &deadline, error);

	if (status < 0)
		return status;
	atomic_store(&run->closed, true);
	pthread_mutex_lock(&run->log_mutex); /* wait until log calls of other threads have ended */
	pthread_mutex_unlock(&run->log_mutex);
	if (run_is_offline(run)) /* there is no collector to wait for */
		return PORTOLAN_E_TIMEOUT;
	soon = clock_ms() + CLOSE_LEAST_MS;
	if (deadline < soon && atomic_load(&run->settled_position) >= frames_begun(&run->frames))
		deadline = soon; /* time for `close` to tell the collector that the run is over */
	atomic_store(&run->command, COMMAND_FINISH);
	if (!run_wait(run, RUN_END, deadline))
		return PORTOLAN_E_TIMEOUT;
	return run_has_failed(run) ? PORTOLAN_E_ENDED : 0;
}

int
run_end(struct portolan_run *run, int timeout_ms, struct portolan_error *error)
{
	bool invalid = timeout_ms < PORTOLAN_WAIT_FOREVER;
	int status = run_finish(run, invalid ? 0 : timeout_ms, error);

	if (status == PORTOLAN_E_TIMEOUT)
		status = run_save_rest(run, error);
	else if (status == PORTOLAN_E_ENDED)
		status = run_describe_end(run, error);
	if (invalid)
		status = run_deadline_of(timeout_ms, &(int64_t){0}, error);
	return status;
}

void
run_free(struct portolan_run *run)
{
	if (run->generation == run_generation()) {
		if (run->is_started) {
			atomic_store(&run->command, COMMAND_ABORT);
			run_wake(run);
			pthread_join(run->thread, NULL);
		}
		handshake_deinit(run);
		if (run->socket)
			zmq_close(run->socket);
		/* Tried again, as an interrupted call leaves libzmq's threads behind. */
		while (run->context && zmq_ctx_term(run->context) < 0 && zmq_errno() == EINTR)
			;
		pthread_cond_destroy(&run->changed);
		pthread_mutex_destroy(&run->mutex);
		pthread_mutex_destroy(&run->log_mutex);
	}
	session_deinit(&run->session);
	leftover_deinit(&run->leftover);
	if (run->wake >= 0)
		close(run->wake);
	frames_deinit(&run->frames);
	embedded_deinit(&run->embedded);
	free(run->name);
	free(run->endpoint);
	free(run->spool);
	free(run);
}

int
portolan_close(portolan_run *run, int timeout_ms, struct portolan_error *error)
{
	int status = 0;

	if (!run)
		return 0;
	if (run->generation == run_generation())
		status = run_end(run, timeout_ms, error);
	else
		status = error_set(error, PORTOLAN_E_FORKED,
		                   "run %s was opened by the parent process, which closes it; its memory is freed here",
		                   run->name);
	run_free(run);
	return status;
}

int
portolan_get_stats(const portolan_run *opened, struct portolan_stats *stats)
{
	struct portolan_run *run = (struct portolan_run *)(uintptr_t)opened; /* not const, for its mutex */
	struct run_counters counters;
	int status = run_check(run, NULL);

	if (status < 0 && status != PORTOLAN_E_CLOSED)
		return status;
	if (!stats)
		return PORTOLAN_E_INVALID;
	run_get_counters(run, &counters);
	*stats = counters.stats;
	stats->logged = atomic_load(&run->logged);
	stats->refused += atomic_load(&run->refused);
	stats->dropped = atomic_load(&run->dropped);
	stats->waits = atomic_load(&run->waits);
	if (run_has_ended(run) && counters.missing > counters.saved)
		stats->dropped += counters.missing - counters.saved;
	return 0;
}

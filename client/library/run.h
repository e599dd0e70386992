/*
 * run.h: one open run, as its parts see it. Private to the library.
 *
 * Locks: log_mutex serialises the threads that log (frames have one producer at a time); the sending thread never
 * takes it.
 */
#ifndef CLIENT_RUN_H
#define CLIENT_RUN_H

#include "embedded.h"
#include "frames.h"
#include "io.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct portolan_run {
	char *name;
	unsigned generation; /* of the process that opened it */
	bool strict;
	enum portolan_when_full when_full;
	uint64_t examples; /* declared; 0: not */
	struct frames frames;
	struct io *io;
	struct embedded embedded; /* used if its store is set */
	char *spool;              /* directory, absolute */
	int (*cancelled)(void *context);
	void *cancelled_context;

	pthread_mutex_t log_mutex;
	uint8_t leave_out[FRAMES_MOST_ROWS]; /* under log_mutex */
	int64_t waiting_since, asked; /* under log_mutex: this call has had to wait, and is counted; 0: it has not */

	_Atomic bool closed;
	_Atomic int id_kind; /* enum wire_id_kind; fixed by the collector, or by the first rows logged */
	_Atomic bool warned_refused, warned_full;
	struct io_counts counts;
};

/* What may be asked of portolan_open(). PORTOLAN_E_INVALID with a message that names what is wrong. */
int options_check(const char *name, const struct portolan_options *options, struct portolan_error *error);

/* The number of forks between the first process that asked and this one. A forked child inherits a run's memory but
 * neither its thread nor its socket; it must know before it touches either, also within a log call, which makes no
 * system call. */
unsigned run_generation(void);

/* PORTOLAN_E_FORKED, PORTOLAN_E_CLOSED, PORTOLAN_E_INVALID (NULL) or 0: what every call on a run asks first. */
int run_check(const struct portolan_run *run, struct portolan_error *error);

/* What a call of the training loop answers once io_has_failed(): PORTOLAN_E_ENDED if the run is strict, else 0. */
int run_report_end(const struct portolan_run *run, struct portolan_error *error);

#define RUN_SLICE_MS 100 /* how often waiting is interrupted to ask whether it is still wanted */

/* What the caller of this run answers to options.cancelled. */
bool run_is_cancelled(const struct portolan_run *run);

/* log_mutex, in slices. PORTOLAN_E_CANCELLED, PORTOLAN_E_CLOSED. */
int run_lock(struct portolan_run *run, struct portolan_error *error);

/* Under log_mutex, when all frames are full. 1: try again; 0: there is no room, and `may_wait` is false; negative:
 * waiting was given up, or the run has ended (PORTOLAN_E_ENDED, no message). run->waiting_since is 0 when a call
 * begins. */
int run_wait_for_room(struct portolan_run *run, bool may_wait, struct portolan_error *error);

/* No log call begins any more, and none waits any longer. Any thread. */
void run_stop_logging(struct portolan_run *run);

/* All of portolan_close() that waits. PORTOLAN_E_TIMEOUT (no message): not yet, it may be called again.
 * PORTOLAN_E_ENDED (no message). */
int run_finish(struct portolan_run *run, int timeout_ms, struct portolan_error *error);

/* All of portolan_close() but freeing the run, which portolan_close(run, 0) then does. */
int run_end(struct portolan_run *run, int timeout_ms, struct portolan_error *error);

void run_free(struct portolan_run *run);

#endif

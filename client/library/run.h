/*
 * run.h: one open run, as its parts see it. Private to the library.
 *
 *	open.c	finds or starts a collector, makes the socket and starts the thread
 *	log.c	fills frames; the one part that never waits but for room
 *	run.c	waits: for the end of an epoch, a flush, the end of the run
 *	io.c	the thread: it alone takes frames, drives the session and, once it runs, touches the socket
 *
 * Locks: log_mutex serialises the threads that log (frames have one producer at a time); the thread never takes it.
 * What the thread publishes is atomic, or under `mutex`, and `changed` is signalled when something was acknowledged,
 * opened, closed or failed.
 */
#ifndef CLIENT_RUN_H
#define CLIENT_RUN_H

#include "embedded.h"
#include "frames.h"
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define RUN_PATH_SIZE 4200

/* How a connection to the collector begins: with which keys, and why it did not come about. libzmq tries again without
 * a word for as long as it takes; a refused key, or keys that one side has and the other has not, would look like a
 * collector that is not there. */
struct handshake {
	void *monitor; /* socket of the events; the owner's to close */
	bool keyed;
	unsigned broken; /* handshakes in a row that broke off without a reason */
	bool failed;     /* the last one; `failure` says why */
	bool may_pass;   /* it failed for a reason that may pass: the collector has too many connections */
	int64_t retried;
	struct portolan_error failure;
};

enum run_command { COMMAND_RUN, COMMAND_OFFLINE, COMMAND_FINISH, COMMAND_SAVE, COMMAND_ABORT };
enum run_phase { PHASE_OPENING, PHASE_OFFLINE, PHASE_OPEN, PHASE_CLOSED, PHASE_SAVED, PHASE_FAILED };

/* What the thread has counted. */
struct run_counters {
	uint64_t settled;            /* observations acknowledged, those that the collector refused among them */
	uint64_t missing;            /* observations logged, and not acknowledged: as run_get_counters() finds it */
	uint64_t saved;              /* observations left in a spool file when the run ended */
	struct portolan_stats stats; /* its part of them */
	char spool[RUN_PATH_SIZE];   /* the spool file, or "" while there is none */
};

struct portolan_run {
	/* As it was opened. */
	char *name;
	unsigned generation; /* of the process that opened it */
	bool strict;
	enum portolan_when_full when_full;
	uint64_t examples;        /* declared; 0: not */
	struct embedded embedded; /* used if its store is set */
	char *endpoint;           /* of the collector */
	char *spool;              /* directory of spool files, absolute */
	int (*cancelled)(void *context);
	void *cancelled_context;

	struct frames frames;

	/* Of the threads that log. */
	pthread_mutex_t log_mutex;
	uint8_t leave_out[FRAMES_MOST_ROWS]; /* under log_mutex */
	int64_t waiting_since, asked; /* under log_mutex: this call has had to wait, and is counted; 0: it has not */
	_Atomic bool closed;
	_Atomic int id_kind; /* enum wire_id_kind; fixed by the collector, or by the first rows logged */
	_Atomic bool warned_refused, warned_full;
	_Atomic uint64_t logged, refused, dropped, waits; /* counters */

	/* The thread's own, from its start on. */
	void *context, *socket;
	struct handshake handshake;
	struct session session;
	struct leftover leftover;
	int64_t revived;       /* when a lost collector was last looked for */
	int64_t blocked_since; /* no frame could be taken, nor was acknowledged; 0: not so */
	int64_t spool_again;   /* not before: writing to the spool has failed */
	int64_t taken_at;      /* when there was last no frame left */
	bool hurried;          /* somebody waits for what is in the frames */
	int spool_trouble;     /* its code, already said; 0: none */
	int complained;        /* code of the complaint already passed on */
	bool revival_failed, said_alone;
	bool unsent; /* the last frame could not be given to the socket */
	uint64_t bytes_sent, saved;

	/* Shared. */
	pthread_t thread;
	bool is_started; /* the thread */
	int wake;        /* eventfd */
	_Atomic int command, phase;
	_Atomic uint64_t settled_position; /* all frames before it are acknowledged */
	struct portolan_error failure;     /* written before phase becomes PHASE_FAILED */
	enum wire_error_code refusal;      /* likewise: what the collector said; 0: the failure is our own */
	struct portolan_error save_error;  /* written before phase becomes PHASE_SAVED; code 0: none */
	/* Under mutex. */
	struct run_counters counters;
	struct portolan_error complaint; /* the collector's last; code 0: none */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

/* What may be asked of portolan_open(). PORTOLAN_E_INVALID with a message that names what is wrong. */
int options_check(const char *name, const struct portolan_options *options, struct portolan_error *error);

/* The number of forks between the first process that asked and this one. A forked child inherits a run's memory but
 * neither its thread nor its socket; it must know before it touches either, also within a log call, which makes no
 * system call. */
unsigned run_generation(void);

/* PORTOLAN_E_FORKED, PORTOLAN_E_CLOSED, PORTOLAN_E_INVALID (NULL) or 0: what every call on a run asks first. */
int run_check(const struct portolan_run *run, struct portolan_error *error);

/* For good; a plain load. */
static inline bool
run_has_failed(const struct portolan_run *run)
{
	return atomic_load(&run->phase) == PHASE_FAILED;
}

/* It goes on without a collector, and none has come yet. */
static inline bool
run_is_offline(const struct portolan_run *run)
{
	return atomic_load(&run->phase) == PHASE_OFFLINE;
}

/* What a call of the training loop answers once run_has_failed(): PORTOLAN_E_ENDED if the run is strict, else 0. */
int run_report_end(struct portolan_run *run, struct portolan_error *error);

#define RUN_SLICE_MS 100 /* how often waiting is interrupted to ask whether it is still wanted */

/* What the caller of this run answers to options.cancelled. */
bool run_is_cancelled(const struct portolan_run *run);

/* log_mutex of a run that is not closed, in slices. PORTOLAN_E_CANCELLED, PORTOLAN_E_CLOSED. */
int run_lock(struct portolan_run *run, struct portolan_error *error);

/* Under log_mutex, when all frames are full. 1: try again; 0: there is no room, and the run drops then; negative:
 * waiting was given up, or the run has ended (PORTOLAN_E_ENDED, no message). run->waiting_since is 0 when a call
 * begins. */
int run_wait_for_room(struct portolan_run *run, struct portolan_error *error);

#define RUN_END UINT64_MAX

/* Wakes the thread, and waits until all frames before `position` are acknowledged (0: until the run is open or
 * offline), or the run has ended. False: the deadline came first. */
bool run_wait(struct portolan_run *run, uint64_t position, int64_t deadline);
void run_wake(struct portolan_run *run); /* the thread looks at the frames now: a system call */
void run_get_counters(struct portolan_run *run, struct run_counters *counters);

/* As portolan_open(). *exists, after PORTOLAN_E_REFUSED: because of a run of that name. */
int run_open(const char *name, const struct portolan_options *options, portolan_run **run, bool *exists,
             struct portolan_error *error);

/* All of portolan_close() that waits. PORTOLAN_E_TIMEOUT (no message): not yet, it may be called again.
 * PORTOLAN_E_ENDED (no message). */
int run_finish(struct portolan_run *run, int timeout_ms, struct portolan_error *error);

/* All of portolan_close() but freeing the run, which portolan_close(run, 0) then does. */
int run_end(struct portolan_run *run, int timeout_ms, struct portolan_error *error);

/* Ends the thread at once, and frees everything. In a forked child the thread and the socket, which are the parent's,
 * are left alone. */
void run_free(struct portolan_run *run);

/* Before the socket connects. `keys`: the directory (keys.h), or NULL. Warns on stderr about an exposed secret key. */
int handshake_init(struct portolan_run *run, const char *keys, struct portolan_error *error);

/* While the session opens: where the last handshake was refused, and none has succeeded since, connects again once a
 * second, and passes the reason on to the session. */
void handshake_watch(struct portolan_run *run);

/* The thread; `run` is a struct portolan_run. */
void *io_main(void *run);

#endif

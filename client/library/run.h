/*
 * run.h: struct portolan_run, one open run, and what the files below share to serve the calls of portolan.h. Private to
 * the library.
 *
 *	open.c	finds or starts a collector, makes the socket and starts the thread
 *	log.c, log_examples.c	fill frames; wait only for room
 *	run.c	waits: for the end of an epoch, a flush, the end of the run
 *	io.c	the thread: it alone takes frames, drives the session and, once it runs, touches the socket
 *	publish.c	what the thread tells the other threads, and the user
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

/* The handshake of the connection to the collector: whether it uses keys, and why it failed. libzmq by itself would try
 * again for ever without a word: a refused key, or keys on one side only, would look like a missing collector. */
struct handshake {
	void *monitor; /* the socket that libzmq's events about `socket` come from */
	bool keyed;
	unsigned broken; /* how many handshakes in a row broke off without a reason */
	bool failed;     /* the last handshake failed; `failure` says why */
	bool may_pass;   /* the failure may pass by itself: the collector has too many connections */
	int64_t retried;
	struct portolan_error failure;
};

enum run_command { COMMAND_RUN, COMMAND_OFFLINE, COMMAND_FINISH, COMMAND_SAVE, COMMAND_ABORT };
enum run_phase { PHASE_OPENING, PHASE_OFFLINE, PHASE_OPEN, PHASE_CLOSED, PHASE_SAVED, PHASE_FAILED };

/* What the I/O thread counts. */
struct run_counters {
	uint64_t settled;            /* observations acknowledged, those that the collector refused among them */
	uint64_t missing;            /* observations logged and not acknowledged, computed by run_get_counters() */
	uint64_t saved;              /* observations left in a spool file when the run ended */
	uint64_t texts, texts_saved; /* examples whose texts are not acknowledged; of these, in that file */
	struct portolan_stats stats; /* for portolan_get_stats(): only the members that the I/O thread counts */
	char spool[RUN_PATH_SIZE];   /* the spool file, or "" while there is none */
};

struct portolan_run {
	/* Fixed when the run is opened. */
	char *name;
	unsigned generation; /* of the process that opened it */
	bool strict;
	enum portolan_when_full when_full;
	uint64_t examples;        /* as declared; 0: they were not */
	size_t label_count;       /* as declared; 0: none were */
	struct embedded embedded; /* used if its store is set */
	char *endpoint;           /* of the collector */
	char *spool;              /* directory of spool files, absolute */
	int (*cancelled)(void *context);
	void *cancelled_context;

	struct frames frames;

	/* Of the threads that log. */
	pthread_mutex_t log_mutex;
	uint8_t leave_out[FRAMES_MOST_ROWS]; /* under log_mutex */
	int64_t waiting_since; /* under log_mutex: since when the log call waits for room; 0: it has not waited */
	int64_t asked;         /* under log_mutex: when the log call, while it waits, last asked `cancelled` */
	/* Under log_mutex: how many rows of logits were logged so far, as long as all of them look like probabilities;
	 * UINT64_MAX: it is decided whether they are. */
	uint64_t like_probs;
	/* Under log_mutex: the number of classes of the first scores; 0: none were logged yet; SIZE_MAX: the user was
	 * warned that the number differs. */
	size_t classes;
	_Atomic bool closed;
	_Atomic int id_kind; /* enum wire_id_kind; fixed by the collector's answer, or by the first rows logged */
	bool kind_fixed, of_losses; /* what the first rows were: losses, or probabilities of labels; under log_mutex */
	_Atomic bool takes_texts;   /* the collector keeps texts of examples; set by the I/O thread */
	_Atomic bool warned_refused, warned_full, warned_texts;
	_Atomic uint64_t logged, refused, dropped, waits; /* counters */
	_Atomic uint64_t texts;                           /* of how many examples texts were logged */
	_Atomic unsigned queued;                          /* threads that wait for log_mutex */

	/* Used by the I/O thread alone, from its start on. */
	void *context, *socket;
	struct handshake handshake;
	struct session session;
	struct leftover leftover;
	int64_t revived;       /* when it last looked for a lost collector */
	int64_t blocked_since; /* since when no frame could be taken and none was acknowledged; 0: not so */
	int64_t spool_again;   /* writing to the spool has failed, and is not tried again before this time */
	int64_t taken_at;      /* when the pool was last empty */
	bool hurried;          /* a caller waits for frames in the pool */
	int spool_trouble;     /* code of the trouble already printed; 0: none */
	int complained;        /* code of the complaint already passed on */
	bool revival_failed, said_alone;
	bool unsent; /* the socket has not taken the last frame */
	uint64_t bytes_sent, saved, texts_saved;

	/* Shared. */
	pthread_t thread;
	bool is_started; /* the thread */
	int wake;        /* eventfd */
	_Atomic int command, phase;
	_Atomic uint64_t settled_position; /* all frames before it are acknowledged */
	struct portolan_error failure;     /* set before phase becomes PHASE_FAILED */
	enum wire_error_code refusal;      /* likewise: the collector's error code; 0: the library itself failed */
	struct portolan_error save_error;  /* set before phase becomes PHASE_SAVED; code 0: none */
	/* Under mutex. */
	struct run_counters counters;
	struct portolan_error complaint; /* the collector's last; code 0: none */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

/* Checks the options of portolan_open(). PORTOLAN_E_INVALID with a message that names what is wrong. */
int options_check(const char *name, const struct portolan_options *options, struct portolan_error *error);

/* The number of forks between the first process that called this and the calling one. A forked child inherits a run's
 * memory, but neither its thread nor its socket. It must notice this before it touches either, also within a log call,
 * which makes no system call. */
unsigned run_generation(void);

/* May the run be used? Every call on a run begins with this check. 0: yes. PORTOLAN_E_FORKED, PORTOLAN_E_CLOSED;
 * PORTOLAN_E_INVALID: run is NULL. */
int run_check(const struct portolan_run *run, struct portolan_error *error);

/* Has the run failed for good? Costs only the load of a variable. */
static inline bool
run_has_failed(const struct portolan_run *run)
{
	return atomic_load(&run->phase) == PHASE_FAILED;
}

/* Does the run record to its spool, because no collector has answered yet? */
static inline bool
run_is_offline(const struct portolan_run *run)
{
	return atomic_load(&run->phase) == PHASE_OFFLINE;
}

/* What a call of the training loop returns once run_has_failed(): PORTOLAN_E_ENDED if the run is strict, else 0. */
int run_report_end(struct portolan_run *run, struct portolan_error *error);

#define RUN_SLICE_MS 100 /* how often a wait asks options.cancelled */

/* Does the options.cancelled of this run say that the wait shall end? */
bool run_is_cancelled(const struct portolan_run *run);

/* Locks log_mutex, unless the run is closed. Waits in slices, to ask options.cancelled. PORTOLAN_E_CANCELLED,
 * PORTOLAN_E_CLOSED. */
int run_lock(struct portolan_run *run, struct portolan_error *error);

/* Unlocks log_mutex, and leaves it to a thread that waits, before this one locks it again. */
void run_unlock(struct portolan_run *run);

/* Prints, once, that the collector keeps no texts. */
void run_warn_no_texts(struct portolan_run *run);

/* Waits for room in the pool; to be called under log_mutex, when all frames are full. 1: try again; 0: there is no
 * room, and the user wants rows to be dropped; negative: the wait was cancelled, or the run has ended
 * (PORTOLAN_E_ENDED, no message). A call of the training loop sets run->waiting_since to 0 at its beginning. */
int run_wait_for_room(struct portolan_run *run, struct portolan_error *error);

#define RUN_END UINT64_MAX

/* Wakes the I/O thread, and waits until all frames before `position` are acknowledged, or the run has ended. Position
 * 0: waits until the run is open or offline. False: the deadline came first. */
bool run_wait(struct portolan_run *run, uint64_t position, int64_t deadline);
void run_get_counters(struct portolan_run *run, struct run_counters *counters);

/* Does what portolan_open() does. After PORTOLAN_E_REFUSED, *exists says whether the reason is that a run of this name
 * exists. */
int run_open(const char *name, const struct portolan_options *options, portolan_run **run, bool *exists,
             struct portolan_error *error);

/* Does the part of portolan_close() that waits. PORTOLAN_E_TIMEOUT: not everything is acknowledged yet; may be called
 * again. PORTOLAN_E_ENDED. Neither sets a message. */
int run_finish(struct portolan_run *run, int timeout_ms, struct portolan_error *error);

/* Does all of portolan_close() except freeing the run; portolan_close(run, 0) then frees it. */
int run_end(struct portolan_run *run, int timeout_ms, struct portolan_error *error);

/* Ends the I/O thread at once, and frees everything. In a forked child, leaves thread and socket alone: they are the
 * parent's. */
void run_free(struct portolan_run *run);

/* Gives the socket its keys, and begins to watch its handshakes. Call before the socket connects. `keys`: the directory
 * of keys (keys.h), or NULL. Warns on stderr about an exposed secret key. */
int handshake_init(struct portolan_run *run, const char *keys, struct portolan_error *error);

/* Stops watching. Call after the I/O thread has ended, and before the socket is closed; may be called if
 * handshake_init() has failed or was not called. */
void handshake_deinit(struct portolan_run *run);

/* To be called again and again while the session opens: if the last handshake was refused, connects again once a
 * second, and passes the reason on to the session. */
void handshake_watch(struct portolan_run *run);

/* The I/O thread's function; `run` is a struct portolan_run. */
void *io_main(void *run);

/* For the I/O thread alone, in publish.c. io_phase(): the run's phase, by the present state of its session.
 * io_publish(): publishes the phase and the counts, and wakes the threads that wait for a change in them. */
enum run_phase io_phase(const struct portolan_run *run);
void io_publish(struct portolan_run *run, enum run_phase phase);

#endif

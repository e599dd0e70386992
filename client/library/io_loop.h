/*
 * io_loop.h: what io.c (making, waiting, ending) and io_loop.c (the thread) share.
 */
#ifndef CLIENT_IO_LOOP_H
#define CLIENT_IO_LOOP_H

#include "handshake.h"
#include "io.h"
#include "leftover.h"
#include "session.h"

#include <pthread.h>

enum command { COMMAND_RUN, COMMAND_OFFLINE, COMMAND_FINISH, COMMAND_SAVE, COMMAND_ABORT };
enum phase { PHASE_OPENING, PHASE_OFFLINE, PHASE_OPEN, PHASE_CLOSED, PHASE_SAVED, PHASE_FAILED };

struct io {
	void *context, *socket;
	struct handshake handshake;
	int wake;
	pthread_t thread;
	struct frames *frames;
	const struct embedded *embedded;
	const struct io_counts *counts;
	const char *run; /* its name, which ends with a null byte */
	char *target;    /* what a spool file says of where it belongs */

	/* The thread's own. */
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
	_Atomic int command, phase;
	_Atomic uint64_t settled_position;
	struct portolan_error failure; /* written before phase becomes PHASE_FAILED */
	/* Under mutex. */
	struct io_counters counters;
	struct portolan_error complaint;     /* the collector's last; code 0: none */
	struct portolan_error command_error; /* of the last COMMAND_OFFLINE or COMMAND_SAVE; code 0: none */
	enum wire_id_kind id_kind;           /* written before phase becomes PHASE_OPEN */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

/* The thread; `argument` is the struct io. */
void *io_main(void *argument);

#endif

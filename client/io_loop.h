/*
 * io_loop.h: what io.c (making, waiting, ending) and io_loop.c (the thread) share. Private to the two.
 */
#ifndef CLIENT_IO_LOOP_H
#define CLIENT_IO_LOOP_H

#include "gather.h"
#include "io.h"
#include "session.h"

#include <pthread.h>

enum command { COMMAND_RUN, COMMAND_FINISH, COMMAND_ABORT };
enum phase { PHASE_OPENING, PHASE_OPEN, PHASE_CLOSED, PHASE_FAILED };

struct io {
	void *context, *socket;
	int wake;
	pthread_t thread;
	struct ring *ring;
	const struct embedded *embedded;
	void (*count)(const void *context, struct wire_counts *counts);
	const void *counted; /* its argument */
	char *run;

	/* The thread's own. */
	struct session session;
	struct gather gather;
	int64_t revived;
	int complained; /* code of the complaint already passed on */
	bool revival_failed;

	/* Shared. */
	_Atomic int command, phase;
	_Atomic uint64_t settled_position, settled_observations, replaced, refused, bytes_sent, opened;
	struct portolan_error failure; /* written before phase becomes PHASE_FAILED */
	enum wire_id_kind id_kind;     /* written before phase becomes PHASE_OPEN */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

/* The thread; `argument` is the struct io. */
void *io_main(void *argument);

#endif

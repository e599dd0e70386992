/*
 * io.h: the thread that sends. It alone takes frames, drives the session and, once it runs, touches the socket.
 *
 * The functions here are for the threads that own the run. Waiting is done on a condition the thread signals when
 * something was acknowledged, opened, closed or failed; counters are atomics.
 */
#ifndef CLIENT_IO_H
#define CLIENT_IO_H

#include "embedded.h"
#include "frames.h"

#include <portolan/wire.h>

#include <stdbool.h>

#define IO_PATH_SIZE 4200

struct io;

struct io_options {
	const char *endpoint;            /* of the collector */
	const char *keys;                /* directory of keys, or NULL; used during io_create() only */
	const struct embedded *embedded; /* NULL, or who may start it again; must outlive the io */
	struct frames *frames;           /* must outlive the io */
	const struct wire_open
	        *request;     /* used during io_create() only, but for the run's name, which must outlive the io */
	const char *spool;    /* directory of spool files; must outlive the io */
	uint64_t spool_bytes; /* limit of one */
	const struct io_counts *counts; /* must outlive the io */
};

/* What the log calls of a run have counted so far. */
struct io_counts {
	_Atomic uint64_t logged, refused, dropped, waits;
};

struct io_counters {
	uint64_t settled_observations; /* acknowledged, refused ones among them */
	uint64_t replaced, refused;    /* by the collector */
	uint64_t spooled;              /* observations written to a spool file */
	uint64_t saved;                /* observations left in one when the run ended */
	uint64_t bytes_sent, opened;
	char spool[IO_PATH_SIZE]; /* the spool file, or "" while there is none */
};

/* Connects and starts the thread. PORTOLAN_E_INVALID: the endpoint is malformed. */
int io_create(struct io **io, const struct io_options *options, struct portolan_error *error);

/* Ends the thread at once and frees everything; NULL accepted. */
void io_destroy(struct io *io);

/* In a forked child: frees memory and nothing else, as thread and socket belong to the parent. NULL accepted. */
void io_abandon(struct io *io);

/* Until the collector has agreed; the kind of id it has for the run. PORTOLAN_E_NO_COLLECTOR (what the collector that
 * is there says instead, or an empty message), or the collector's refusal. */
int io_wait_open(struct io *io, int64_t deadline, enum wire_id_kind *id_kind, struct portolan_error *error);

/* Until all frames before `position` are acknowledged. PORTOLAN_E_TIMEOUT, PORTOLAN_E_ENDED (no
 * messages), PORTOLAN_E_CLOSED. */
int io_wait_settled(struct io *io, uint64_t position, int64_t deadline, struct portolan_error *error);

/* Sends what is left, then `close`, and waits for its acknowledgement. PORTOLAN_E_TIMEOUT, PORTOLAN_E_ENDED (no
 * messages). */
int io_finish(struct io *io, int64_t deadline);

/* After io_wait_open() found nobody: records to the spool, until a collector comes. Fails if the spool cannot be made.
 */
int io_go_offline(struct io *io, struct portolan_error *error);
bool io_is_offline(const struct io *io); /* and none has come yet */

/* Ends the run where it is: what is not acknowledged goes to the spool, on disk when this returns. */
int io_save(struct io *io, struct portolan_error *error);

bool io_has_failed(const struct io *io);                      /* for good; a plain load */
bool io_has_ended(const struct io *io);                       /* that, closed, or saved */
const struct portolan_error *io_failure(const struct io *io); /* once it has failed */
bool io_is_settled(const struct io *io, uint64_t position);

void io_wake(struct io *io); /* look at the frames now: a system call */
void io_get_counters(struct io *io, struct io_counters *counters);

#endif

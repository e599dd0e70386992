/*
 * join.h: what becomes of a session whose run exists already; private to the writing half.
 *
 * A group is one launch of a job, in which each rank has one session. So a session belongs to the launch that made the
 * run if it gives the run's group, the run has no session of its rank, and it came in time: somebody records into the
 * run and is heard of, or it began at most STORE_GROUP_WINDOW after the last one of the run did. That covers a rank
 * that is slow to begin as well as one that begins when all others are done; and it keeps a job that crashed and was
 * started again apart, since its ranks are there already. One that is started again with more ranks has some that are
 * not there: so whoever asks for `overwrite` does not join a run that somebody records into but nobody is heard of, nor
 * comes in time later than such a run is taken for closed (STORE_GROUP_WINDOW_OVERWRITE).
 */
#ifndef STORE_JOIN_H
#define STORE_JOIN_H

#include "write.h"

struct store_writer;

enum join {
	JOIN_SESSION = 1, /* the session joins the run */
	JOIN_REPLACES,    /* the run is removed, and made anew */
	JOIN_BESIDE,      /* a run is made beside it, which may take its name later */
	JOIN_REFUSED,
};

#define STORE_ROSTERS 64 /* runs whose roster is kept: by their number, modulo this */

/* The sessions of one run: which ranks they have, and when the latest began. Read from the store once and kept in
 * step, as thousands may open one after the other. */
struct roster {
	uint32_t run, sessions; /* 0: none; the sessions counted so far */
	uint64_t aborts;        /* of the writer: an abort may take sessions back */
	uint64_t newest;        /* the latest start of a session */
	uint32_t *ranks;        /* hash table, open addressing; `taken` says which places hold one */
	uint8_t *taken;
	size_t room, count; /* room: a power of 2 */
};

void store_roster_free(struct roster *roster);

/* Of the run, up to date; it stays so until the next session is registered. NULL: `error`, with its code in *rc. */
const struct roster *store_roster(struct store_writer *writer, uint32_t run, int *rc, struct portolan_error *error);

int store_join(struct store_writer *writer, const struct store_run_info *info, const struct store_run_request *request,
               enum join *join, struct portolan_error *error);

#endif

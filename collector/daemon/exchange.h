/*
 * exchange.h: what the receiver and the storer hand to each other, in whole lists: arrivals to the storer; replies, and
 * arrivals that are done with, to the receiver. One mutex, held for no longer than it takes to append a list.
 *
 * Neither side waits for the other but for the storer, when there is nothing to do.
 */
#ifndef COLLECTOR_EXCHANGE_H
#define COLLECTOR_EXCHANGE_H

#include "arrival.h"

#include <pthread.h>
#include <stdatomic.h>

/* How the storer is, as of its last round. */
struct storer_state {
	size_t live;   /* sessions */
	bool has_work; /* something is left that can be folded, and may be */
	bool failed;   /* it has ended: see `error` */
	struct portolan_error error;
};

struct exchange {
	pthread_mutex_t mutex;
	pthread_cond_t arrived;
	int event;                 /* can be read when there is something for the receiver */
	struct list waiting, done; /* arrivals */
	struct list replies;
	struct storer_state state;
	/* Messages that the receiver has not handed over, to be counted by the storer: those that made no sense, and
	 * those that were beyond the credit of their session. */
	atomic_ullong unreadable, dropped;
	int64_t busy_since; /* of the storer's round; 0: it waits for arrivals */
	bool stop;          /* no more arrivals come */
};

int exchange_init(struct exchange *exchange, struct portolan_error *error);
void exchange_deinit(struct exchange *exchange); /* frees what is left in it */

/* The receiver's: hands over what has arrived, and empties the list. */
void exchange_put(struct exchange *exchange, struct list *arrivals);
/* Takes what the storer has for it; *busy_since as above. */
void exchange_collect(struct exchange *exchange, struct list *done, struct list *replies, struct storer_state *state,
                      int64_t *busy_since);
void exchange_stop(struct exchange *exchange);

/* The storer's: takes everything that waits. With `until` > 0 it waits for that, until this moment (ms); false: there
 * is nothing, and there will be nothing more. */
bool exchange_take(struct exchange *exchange, int64_t until, struct list *arrivals);
/* Hands over replies and what is done with (both lists are emptied), and wakes the receiver. */
void exchange_post(struct exchange *exchange, struct list *done, struct list *replies,
                   const struct storer_state *state);

#endif

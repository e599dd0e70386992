/*
 * exchange.h: hands lists between the collector's two threads: arrivals from the receiver (server.c) to the storer
 * (storer.c); replies, and arrivals that are finished, back. One mutex, held only while a list is appended.
 *
 * The receiver never waits for the storer; the storer waits for arrivals when it has nothing to do.
 */
#ifndef COLLECTOR_EXCHANGE_H
#define COLLECTOR_EXCHANGE_H

#include "arrival.h"

#include <pthread.h>
#include <stdatomic.h>

/* The storer's state after its last round. */
struct storer_state {
	size_t live;   /* live sessions */
	bool has_work; /* an epoch can be folded now */
	bool failed;   /* the storer has ended: see `error` */
	struct portolan_error error;
};

struct exchange {
	pthread_mutex_t mutex;
	pthread_cond_t arrived;
	int event;                 /* readable when there is something for the receiver */
	struct list waiting, done; /* arrivals: for the storer; finished by it */
	struct list replies;
	struct storer_state state;
	/* Numbers of messages that the receiver did not hand over, for the storer to count: malformed ones, and ones
	 * beyond the credit of their session. */
	atomic_ullong unreadable, dropped;
	bool missed;        /* a message was lost for lack of memory since the storer last took arrivals */
	int64_t busy_since; /* beginning of the storer's round; 0: it waits for arrivals */
	bool stop;          /* no more arrivals will come */
};

int exchange_init(struct exchange *exchange, struct portolan_error *error);
void exchange_deinit(struct exchange *exchange); /* frees the lists that are left */

/* For the receiver: hands over the arrivals, and empties the list. `missed`: a message was lost for lack of memory; what
 * came before it is in this list, or in earlier ones. */
void exchange_put(struct exchange *exchange, struct list *arrivals, bool missed);
/* For the receiver: takes the storer's lists; *busy_since: see struct exchange. */
void exchange_collect(struct exchange *exchange, struct list *done, struct list *replies, struct storer_state *state,
                      int64_t *busy_since);
void exchange_stop(struct exchange *exchange);

/* For the storer: takes all arrivals. With `until` > 0 it waits for one until this moment (ms). Sets *missed if
 * a message was lost for lack of memory; whatever came before it is then taken. False: no arrival is left, and none will
 * come. */
bool exchange_take(struct exchange *exchange, int64_t until, struct list *arrivals, bool *missed);
/* For the storer: hands over replies and finished arrivals (and empties both lists), and wakes the receiver. */
void exchange_post(struct exchange *exchange, struct list *done, struct list *replies,
                   const struct storer_state *state);

#endif

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

struct arrivals {
	struct arrival *first, **last;
};

struct replies {
	struct reply *first, **last;
};

/* Messages that the receiver has not handed over, to be counted by the storer. */
struct refusals {
	uint64_t unreadable; /* made no sense */
	uint64_t dropped;    /* were beyond the credit of their session */
};

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
	int event; /* can be read when there is something for the receiver */
	struct arrivals waiting, done;
	struct replies replies;
	struct storer_state state;
	struct refusals refused; /* since the storer took the last numbers */
	int64_t busy_since;  /* of the storer's round; 0: it waits for arrivals */
	bool stop;           /* no more arrivals come */
};

int exchange_init(struct exchange *exchange, struct portolan_error *error);
void exchange_deinit(struct exchange *exchange); /* frees what is left in it */

static inline void
arrivals_append(struct arrivals *list, struct arrival *arrival)
{
	arrival->next = NULL;
	*(list->first ? list->last : &list->first) = arrival;
	list->last = &arrival->next;
}

/* The receiver's: hands over what has arrived, and empties the list; and what it has refused, which it sets to 0. */
void exchange_put(struct exchange *exchange, struct arrivals *arrivals, struct refusals *refused);
/* Takes what the storer has for it; *busy_since as above. */
void exchange_collect(struct exchange *exchange, struct arrivals *done, struct replies *replies,
                      struct storer_state *state, int64_t *busy_since);
/* Whether the storer has nothing to do and is not doing anything. */
bool exchange_is_idle(struct exchange *exchange);
void exchange_stop(struct exchange *exchange);

/* The storer's: takes everything that waits. With `until` > 0 it waits for that, until this moment (ms); false: there
 * is nothing, and there will be nothing more. */
bool exchange_take(struct exchange *exchange, int64_t until, struct arrivals *arrivals, struct refusals *refused);
/* Hands over replies and what is done with (both lists are emptied), and wakes the receiver. */
void exchange_post(struct exchange *exchange, struct arrivals *done, struct replies *replies,
                   const struct storer_state *state);

#endif

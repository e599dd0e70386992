/*
 * storer.h: the storer, the thread of the collector that owns the store: it decodes arrivals, hands the frames to
 * ingest, commits, posts the replies, and folds between rounds.
 */
#ifndef COLLECTOR_STORER_H
#define COLLECTOR_STORER_H

#include "exchange.h"
#include "ingest.h"

struct storer {
	struct exchange *exchange;
	struct store_writer *writer;
	struct ingest ingest;
	wire_decoder *decoder;
	wire_encoder *encoder;
	struct list replies, done; /* not posted yet */
	bool missed;               /* a message was lost for lack of memory, and sessions do not know yet */
	int64_t next_tick, next_work;
	int64_t arrived;      /* when the last frame came */
	int64_t behind_since; /* the last time when nothing was left to fold */
	bool has_ingest, is_running;
	pthread_t thread;
};

/* Opens the store; `storer` is zero. This and storer_start() may fail half-way: call storer_finish() in any case. */
int storer_open(struct storer *storer, const char *store, size_t max_memory, uint64_t max_texts,
                const struct ingest_owner *owner, struct exchange *exchange, struct portolan_error *error);
int storer_start(struct storer *storer, struct portolan_error *error);

/* Should the storer wait for more arrivals before it stores these? They are few, and all were sent ahead. Not static for
 * the tests. */
bool storer_waits_for_more(const struct storer *storer, const struct list *arrivals);

/* Call after exchange_stop(): waits until all arrivals are stored. Then storer->ingest may be read. */
void storer_join(struct storer *storer);
void storer_finish(struct storer *storer);

#endif

/*
 * fake_collector.h: a collector in a thread of the test: a ROUTER that answers as it is told, and remembers what it
 * got. "Stored" lives in memory and survives fake_stop() and fake_start(), as a disk would.
 */
#ifndef FAKE_COLLECTOR_H
#define FAKE_COLLECTOR_H

#include <portolan/wire.h>

#include <pthread.h>

#define FAKE_MAX_ROWS 400000

struct fake {
	char endpoint[128];
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool running, ready;

	/* How it behaves; under mutex, or before fake_start(). */
	bool silent;       /* answers nothing at all */
	bool takes_texts;  /* its `opened` says so; else it is a collector of an earlier version */
	bool acknowledges; /* what is stored is acknowledged at once; else when this becomes true */
	uint64_t credit;
	int queue; /* most frames that wait in its socket, beyond what the kernel holds; 0: libzmq's own limit */
	enum wire_error_code open_error; /* 0: opens are welcome */
	enum wire_error_code next_error; /* the next sequenced frame gets it, once; `refused` uses its number up */
	enum wire_id_kind id_kind;
	const char *zap_status; /* what every handshake is answered with; NULL: all are welcome */

	/* What it got; under mutex. */
	uint64_t stored; /* highest sequence number */
	uint64_t opens, batches, repeats, gaps, ends, closes, pings, undecodable;
	uint64_t largest_frame;     /* bytes */
	uint64_t largest_under_way; /* bytes received since the last ack sent */
	uint64_t rows;
	uint64_t texts, text_bytes; /* examples with texts, and the bytes of their texts with lengths */
	uint64_t ids[FAKE_MAX_ROWS];
	float gold_prob[FAKE_MAX_ROWS];
	uint8_t correct[FAKE_MAX_ROWS];
	uint32_t epochs[FAKE_MAX_ROWS];
	char first_string[256]; /* the first string id */
	char column_names[512]; /* of the last batch, each with a blank behind it */
	char run[256], config[256], labels[256], group[256];
	enum wire_type id_type;
	uint64_t examples;
	uint32_t rank;
};

struct fake *fake_new(void);        /* on a socket of its own in a fresh directory; not started */
void fake_start(struct fake *fake); /* returns when it listens */
void fake_stop(struct fake *fake);  /* as if killed */
void fake_free(struct fake *fake);

/* Waits until *counter (one of the fake's) is at least `least`; fails the test after 20 s. */
void fake_wait(struct fake *fake, const uint64_t *counter, uint64_t least);
uint64_t fake_get(struct fake *fake, const uint64_t *counter);
void fake_set(struct fake *fake, bool *flag, bool value);

#endif

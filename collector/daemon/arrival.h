/*
 * arrival.h: what the collector's two threads hand to each other: a message on its way from the receiver (server.c) to
 * the storer (storer.c), and a reply on its way back.
 */
#ifndef COLLECTOR_ARRIVAL_H
#define COLLECTOR_ARRIVAL_H

#include "rights.h"

#include <string.h>

#define PEER_STRANGERS_SOCKET 1 /* plain tcp: anybody on this machine; the other sockets take its owner, or keys */

/* Who sent a message: one connection to a socket of the receiver, and the key that it came with. A client may choose its
 * routing id, and so take that of a connection that has gone; with another key it is another peer all the same. */
struct peer {
	uint32_t socket;
	uint32_t size;            /* 0: the connection is not known (a session taken over from an earlier collector) */
	char key[KEYS_TEXT_SIZE]; /* its public key, and zeros to the end; zeros: the endpoint takes no keys */
	uint8_t id[256];          /* libzmq's routing id */
};

/* Bytes of a peer that are compared and hashed. */
static inline size_t
peer_bytes(const struct peer *peer)
{
	return offsetof(struct peer, id) + peer->size;
}

static inline bool
peer_is_same(const struct peer *a, const struct peer *b)
{
	return a->size == b->size && memcmp(a, b, peer_bytes(a)) == 0;
}

/* What a client's key may do, and the name of the file that says so, without its .pub. */
struct limits {
	struct rights rights;
	char file[256];
};

/* May this run be recorded? NULL: every run may. */
static inline bool
limits_admit_run(const struct limits *limits, const void *name, size_t size)
{
	return !limits || rights_admit_run(&limits->rights, name, size);
}

/* Who sent a frame, and what it may do. */
struct sender {
	const struct peer *peer;
	bool trusted;                /* it came by a socket where only the store's owner, or who has a key, can send */
	const struct limits *limits; /* of its key; NULL: none */
};

/* A list of items; each item begins with a link. */
struct link {
	struct link *next;
};

struct list {
	struct link *first, **last;
};

static inline void
list_append(struct list *list, struct link *link)
{
	link->next = NULL;
	*(list->first ? list->last : &list->first) = link;
	list->last = &link->next;
}

/* Moves all of `from` to the end of `to`. */
static inline void
list_move(struct list *to, struct list *from)
{
	if (!from->first)
		return;
	*(to->first ? to->last : &to->first) = from->first;
	to->last = from->last;
	*from = (struct list){0};
}

/* Removes and returns the first item; NULL: there is none. */
static inline void *
list_take(struct list *list)
{
	struct link *link = list->first;

	if (link)
		list->first = link->next;
	return link;
}

struct arrival {
	struct link link;
	struct peer peer;
	char address[48];      /* the sender's address, for the log */
	struct limits *limits; /* of the key, for an `open` or `remove`; NULL: none */
	const uint8_t *data;   /* the message; NULL: it had several parts */
	size_t size;
	/* those of its bytes that are beyond its connection's part of the queue (ledger.h) */
	size_t beyond;
	struct wire_head head; /* the head that the receiver read */
	bool is_moved;         /* `data` is in `message`, else in `copy` */
	bool is_ahead; /* observations of a client that sends on without waiting for acknowledgements (ledger.h) */
	_Alignas(8) unsigned char message[64]; /* a zmq_msg_t */
	uint8_t copy[];
};

/* A frame on its way back. */
struct reply {
	struct link link;
	struct peer peer;
	enum wire_kind kind;
	uint8_t session[WIRE_SESSION_SIZE];
	struct wire_ack ack;       /* what a WIRE_ACK says; a WIRE_OPENED sets part of it */
	enum wire_error_code code; /* WIRE_ERROR */
	size_t size;
	uint8_t data[]; /* the frame, encoded */
};

/* Memory that an arrival takes besides its data and its limits. */
#define ARRIVAL_BYTES (sizeof(struct arrival) + 64)

void arrival_free_data(struct arrival *arrival);
void arrival_free(struct arrival *arrival); /* NULL accepted */

#endif

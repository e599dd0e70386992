/*
 * arrival.h: a message on its way from the receiver to the storer, and a reply on its way back.
 */
#ifndef COLLECTOR_ARRIVAL_H
#define COLLECTOR_ARRIVAL_H

#include <portolan/wire.h>

#include <string.h>

/* A socket of the receiver, and the routing id of one connection to it. */
#define PEER_OWNERS_SOCKET 0 /* the store's own, which is its owner's alone */

struct peer {
	uint32_t socket;
	uint32_t size; /* 0: not known (a session taken over from an earlier collector) */
	uint8_t id[256];
};

static inline bool
peer_is_same(const struct peer *a, const struct peer *b)
{
	return a->socket == b->socket && a->size == b->size && memcmp(a->id, b->id, a->size) == 0;
}

struct arrival {
	struct arrival *next;
	struct peer peer;
	char address[48];    /* where it came from, for the log */
	const uint8_t *data; /* the message; NULL: it had several parts */
	size_t size;
	struct wire_head head;                 /* as the receiver read it */
	bool is_moved;                         /* `data` is in `message`, else in `copy` */
	_Alignas(8) unsigned char message[64]; /* libzmq's */
	uint8_t copy[];
};

/* A frame on its way back. */
struct reply {
	struct reply *next;
	struct peer peer;
	enum wire_kind kind;
	uint8_t session[WIRE_SESSION_SIZE];
	struct wire_ack ack;       /* WIRE_ACK, and as far as it goes WIRE_OPENED */
	enum wire_error_code code; /* WIRE_ERROR */
	size_t size;
	uint8_t data[]; /* the frame, encoded */
};

/* What an arrival takes besides its data. */
#define ARRIVAL_BYTES (sizeof(struct arrival) + 64)

void arrival_free_data(struct arrival *arrival);
void arrival_free(struct arrival *arrival); /* NULL accepted */

#endif

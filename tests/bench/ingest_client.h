/*
 * ingest_client.h: a session that does nothing but keep its credit used, so that the collector is what is measured.
 * What fails ends the program with a message.
 */
#ifndef INGEST_CLIENT_H
#define INGEST_CLIENT_H

#include <portolan/wire.h>

#define ROWS 30000u /* per frame, at most: with integer ids, gold_prob and correct it stays below 256 KiB */

struct load { /* what is to be sent, over all clients */
	uint64_t examples;
	uint32_t epochs, rows; /* rows of a frame, at most ROWS */
	bool strings, shuffled;
};

/* Per frame: strings take more room. */
static inline uint32_t
load_rows(const struct load *load)
{
	return load->strings && load->rows > ROWS / 3 ? ROWS / 3 : load->rows;
}

static inline uint64_t
load_frames_of_epoch(const struct load *load)
{
	return (load->examples + load_rows(load) - 1) / load_rows(load);
}

/* Sets ids[] to those of the rows of a frame (counted over all epochs); how many there are. */
uint32_t load_ids(const struct load *load, uint64_t frame, uint32_t *ids);

struct client;

/* Asks for a session. `keys`: a directory of keys, or NULL. The client is one of those that record the run together. */
struct client *client_open(void *context, const char *endpoint, const char *keys, unsigned number,
                           const struct load *load);
void client_wait_until_open(struct client **clients, unsigned count);

/* Takes answers that have come; sends frame `frame` (counted over all epochs) if there is credit. False: there is none.
 */
bool client_send(struct client *client, const struct load *load, uint64_t frame);
void client_close(struct client *client);   /* sends `close` */
bool client_is_done(struct client *client); /* everything is acknowledged */
void *client_socket(const struct client *client);
uint64_t client_bytes(const struct client *client); /* of frames */
void client_free(struct client *client);

#endif

/*
 * carrier_local.c: the ingest in this process, on a store that nobody serves. Waiting for answers is committing.
 */
#include "carrier.h"

#include "ingest.h"
#include "interrupt.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>

#define MEMORY ((size_t)256 << 20)

struct local {
	struct carrier carrier; /* first: is cast back */
	struct store_writer *writer;
	struct ingest ingest;
	bool has_ingest;
	char trouble[504]; /* the store's, empty: none */
};

static const struct peer myself = {.size = 1, .id = {1}};

static void
take_reply(void *context, const struct peer *peer, const struct wire_frame *frame)
{
	struct local *local = context;

	(void)peer;
	local->carrier.answer(local->carrier.context, frame);
}

static void
take_trouble(void *context, const char *line)
{
	struct local *local = context;

	snprintf(local->trouble, sizeof(local->trouble), "%s", line);
}

/* Time stands still: a session that cannot be away is never late. */
static int
local_send(struct carrier *carrier, const struct wire_frame *frame, size_t *size, struct portolan_error *error)
{
	struct local *local = (struct local *)carrier;

	(void)error;
	*size = frame->kind == WIRE_BATCH ? frame->batch.ids.size : 0;
	for (size_t i = 0; frame->kind == WIRE_BATCH && i < frame->batch.column_count; i++)
		*size += frame->batch.columns[i].data.size;
	ingest_frame(&local->ingest, &myself, true, frame, *size, 0);
	if (ingest_is_full(&local->ingest))
		ingest_commit(&local->ingest, 0);
	return 0;
}

static int
check_trouble(struct local *local, struct portolan_error *error)
{
	return local->trouble[0] ? error_set(error, STORE_E_SYSTEM, "%s", local->trouble) : 0;
}

static int
local_receive(struct carrier *carrier, int timeout_ms, struct portolan_error *error)
{
	struct local *local = (struct local *)carrier;

	(void)timeout_ms;
	ingest_commit(&local->ingest, 0);
	return check_trouble(local, error);
}

/* Whoever wants it to stop need not wait: what is not folded now is later, by whoever opens the store next. */
static int
local_settle(struct carrier *carrier, struct portolan_error *error)
{
	struct local *local = (struct local *)carrier;

	do
		ingest_commit(&local->ingest, 0);
	while (!local->trouble[0] && !interrupt_arrived() && ingest_work(&local->ingest, 0));
	return check_trouble(local, error);
}

static void
local_free(struct carrier *carrier)
{
	struct local *local = (struct local *)carrier;

	if (local->has_ingest)
		ingest_deinit(&local->ingest);
	store_writer_close(local->writer);
	free(local);
}

int
carrier_local_new(const char *store, struct carrier **carrier, struct portolan_error *error)
{
	struct local *local = calloc(1, sizeof(*local));
	struct ingest_options options = {
	        .max_memory = MEMORY, .reply = take_reply, .trouble = take_trouble, .context = local};
	int result;

	if (!local)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	local->carrier = (struct carrier){
	        .send = local_send, .receive = local_receive, .settle = local_settle, .free = local_free};
	result = store_writer_open(store, &local->writer, error);
	if (result == 0) {
		options.writer = local->writer;
		result = ingest_init(&local->ingest, &options, 0, error);
		local->has_ingest = result == 0;
	}
	if (result < 0)
		local_free(&local->carrier);
	else
		*carrier = &local->carrier;
	return result;
}

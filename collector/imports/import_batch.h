/*
 * import_batch.h: rows of training dynamics, gathered into batches of the wire.
 */
#ifndef COLLECTOR_IMPORT_BATCH_H
#define COLLECTOR_IMPORT_BATCH_H

#include "channel.h"
#include "dynamics.h"

struct import_batch;

struct import_batch *import_batch_new(void); /* NULL: out of memory */
void import_batch_free(struct import_batch *batch);

/* Whether `row` must wait for the next batch: this one is full, or has another number of classes. */
bool import_batch_is_full(const struct import_batch *batch, const struct dynamics_row *row);

/* Adds a row from line `line`, for which there is room. PORTOLAN_E_MEMORY. */
int import_batch_add(struct import_batch *batch, const struct dynamics_row *row, uint64_t line,
                     struct portolan_error *error);

/* Derives the signals, sends what is not refused, and empties the batch. `refused` is called for each line left out;
 * *sent grows by the rows sent. */
int import_batch_send(struct import_batch *batch, struct channel *channel, uint32_t epoch,
                      void (*refused)(void *context, uint64_t line), void *context, uint64_t *sent,
                      struct portolan_error *error);

#endif

/*
 * fold.h: inside a fold: its state, and the two kinds of steps that do the work; private to the writing half.
 */
#ifndef STORE_FOLD_H
#define STORE_FOLD_H

#include "writer.h"

#include "chunk.h"

#define FOLD_STEP_BYTES ((size_t)1 << 20)  /* read or written in one step: some milliseconds */
#define FOLD_SMALL_BYTES ((size_t)1 << 18) /* in the log: folded in one step, if no more has to be read or written */

enum chunk_state { WAITING = 0, ACTIVE, DEFERRED, DONE };

struct fold_chunk {
	uint32_t number;
	struct merge_chunk epoch, examples;
};

struct store_fold {
	struct store_writer *writer;
	uint64_t aborts;
	uint32_t run, epoch, generation, example_generation;
	char name[256];
	size_t memory;
	bool examples; /* the run keeps something per example: labels, or which of the declared were seen */
	uint64_t rows_of_run, position, end; /* positions in the log */
	uint32_t row;                        /* of the batch at `position`: those before it are merged */
	uint32_t sessions, *order;
	uint64_t *replaced; /* per session */
	uint32_t chunk_count;
	uint32_t *generations, *example_generations; /* present ones */
	uint32_t *new_generations, *new_example_generations;
	uint8_t *states;
	struct fold_chunk **active;       /* per chunk; NULL unless ACTIVE */
	size_t chunk_bytes, active_bytes; /* of a chunk with every column the run has; of the active ones */
	bool deferred, first_pass;
	uint32_t next_write;
	uint64_t rows, bytes, all_replaced, seen, changed;
	enum { FOLD_SCAN, FOLD_WRITE, FOLD_IDS, FOLD_FINISH, FOLD_DONE } phase;
};

int store_fold_out_of_memory(const struct store_fold *fold, struct portolan_error *error);

/* Merges some of the log into images; the phase becomes FOLD_WRITE at the log's end. */
int store_fold_scan(struct store_fold *fold, struct portolan_error *error);
/* Writes some images; the phase becomes FOLD_IDS when all chunks are done, FOLD_SCAN when some had to wait. */
int store_fold_write(struct store_fold *fold, struct portolan_error *error);
void store_fold_drop_chunk(struct store_fold *fold, uint32_t number);

#endif

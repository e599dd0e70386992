/*
 * fold.h: inside a fold: its state, and its parts; private to the writing half.
 */
#ifndef STORE_FOLD_H
#define STORE_FOLD_H

#include "writer.h"

#include "chunk.h"

#define FOLD_READ_BYTES ((size_t)4 << 20)  /* of the log, read in one step: some milliseconds */
#define FOLD_WRITE_BYTES ((size_t)4 << 20) /* written in one step */
#define FOLD_WRITE_CHUNKS 128              /* in one step, where they are thin */
#define FOLD_SMALL_BYTES ((size_t)1 << 18) /* in the log: folded in one step, if no more has to be read or written */

struct fold_span { /* the chunks that some entries touch lie between these */
	uint32_t first, last;
};

struct fold_chunk {
	struct merge_chunk epoch, examples;
	uint32_t before;         /* observations stored of it */
	struct fold_chunk *next; /* of those that are not used */
};

struct store_fold {
	struct store_writer *writer;
	uint64_t aborts;
	uint32_t run, epoch;
	char name[256];
	bool examples;    /* the run keeps something per example: labels, or which of the declared were seen */
	bool fresh;       /* the epoch has no columns yet */
	uint64_t columns; /* of the epoch, that were logged */
	uint64_t rows_of_run, begin, position, end; /* positions in the log */
	uint32_t sessions, *order;
	struct fold_chunk **chunks; /* by number; NULL: no row has come */
	uint32_t chunk_count;       /* of the run */
	uint32_t from, to;          /* the range of chunks that takes rows */
	uint32_t taken, most;       /* chunks that have memory, and how many may */
	struct fold_chunk *unused;
	struct fold_span *spans; /* of so many entries each; NULL: all chunks fit into memory */
	uint64_t per_span;
	uint32_t next_write;
	uint64_t bytes;      /* of the log's entries */
	struct fold_counts { /* of the chunks written since the counts were last put */
		uint64_t chunks, kept, replaced, returned, seen, relabelled;
		uint64_t *by_session; /* replaced */
	} counts;
	enum { FOLD_FILL, FOLD_WRITE, FOLD_DONE } phase;
};

int store_fold_out_of_memory(const struct store_fold *fold, struct portolan_error *error);
struct chunk_place store_fold_place(const struct store_fold *fold, uint32_t epoch, uint32_t chunk);

/* Merges some of the log into chunks; the phase becomes FOLD_WRITE at the log's end. */
int store_fold_fill(struct store_fold *fold, struct portolan_error *error);
/* Goes through the log again for the chunks from fold->to on. */
void store_fold_next_range(struct store_fold *fold);

#endif

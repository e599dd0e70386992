/*
 * fold.h: the state of a fold, which turns the log of an epoch into columns; for fold.c, fold_log.c and fold_write.c
 * alone.
 */
#ifndef STORE_FOLD_H
#define STORE_FOLD_H

#include "writer.h"

#include "chunk.h"

#include <stdatomic.h>

#define FOLD_READ_BYTES ((size_t)4 << 20)  /* bytes of the log read in one step: some milliseconds */
#define FOLD_WRITE_BYTES ((size_t)4 << 20) /* bytes written in one step */
#define FOLD_WRITE_CHUNKS 128              /* chunks written in one step, if they have few rows */
#define FOLD_SMALL_BYTES ((size_t)1 << 18) /* a log of so few bytes is folded in one step */

struct fold_span { /* the range of chunks that a group of entries touches */
	uint32_t first, last;
};

struct fold_chunk {
	struct merge_chunk epoch, examples;
	uint32_t before;         /* observations stored in it */
	struct fold_chunk *next; /* in the list of unused chunks */
};

struct fold_ahead { /* the thread of fold_ahead.c, and what it is told and tells */
	pthread_t thread;
	bool runs;
	struct view view; /* what it reads */
	atomic_bool stop;
	int result;
};

struct store_fold {
	struct store_writer *writer;
	const struct view *view; /* what is read to fill the chunks: the writer's, or that of `ahead` */
	struct fold_ahead ahead;
	uint64_t aborts, examples_written; /* the writer's counts when the fold began */
	size_t memory;                     /* the most bytes that it takes; SIZE_MAX: all that it may */
	uint32_t run, epoch;
	char name[256];
	bool examples;    /* the run keeps values per example: labels, or which declared examples were seen */
	bool fresh;       /* the epoch has no columns yet */
	uint64_t columns; /* columns that were logged in the epoch */
	uint64_t rows_of_run, begin, position, end; /* the last three: positions in the log */
	uint32_t sessions, *order;
	struct merge_shared *shared; /* NULL: each chunk has arrays of its own */
	struct fold_chunk **chunks;  /* by number of the chunk; NULL: it has no memory now */
	uint32_t chunk_count;        /* chunks of the run */
	uint32_t from, to;           /* the range of chunks that are filled now */
	uint32_t taken, most;        /* number of chunks that have memory, and the most that may */
	struct fold_chunk *unused;
	struct fold_span *spans; /* each is for `per_span` entries; NULL: all chunks fit into memory */
	uint64_t per_span;
	uint32_t next_write;
	uint64_t bytes;      /* of the log's entries */
	struct fold_counts { /* counts of the chunks written since they were last stored */
		uint64_t chunks, kept;
		struct merge_counts merged;
		uint64_t *by_session; /* observations replaced, by session */
	} counts;
	enum { FOLD_FILL, FOLD_WRITE, FOLD_DONE } phase;
};

int store_fold_out_of_memory(const struct store_fold *fold, struct portolan_error *error);

/* The place of a chunk of the epoch, or (STORE_EPOCH_RUN) of the values kept per example. */
static inline struct chunk_place
store_fold_place(const struct store_fold *fold, uint32_t epoch, uint32_t chunk)
{
	return (struct chunk_place){.run = fold->run,
	                            .epoch = epoch,
	                            .chunk = chunk,
	                            .rows = store_chunk_rows(fold->rows_of_run, chunk),
	                            .sessions = fold->sessions};
}

/* fold_even.c: merges the first rows of a batch, if all chunks that it touches are alike: those before the first row
 * whose place is taken. *rows is their number. The fold must have shared arrays. STORE_E_MEMORY is its only failure. */
int store_fold_even(const struct store_fold *fold, const struct batch *batch, uint32_t *rows);

/* Merges some of the log into chunks; the phase becomes FOLD_WRITE at the log's end. */
int store_fold_fill(struct store_fold *fold, struct portolan_error *error);
/* Reads what is stored of the values kept per example: all of them, or only which examples were seen. */
int store_fold_load_examples(const struct store_fold *fold, uint32_t number, bool whole, struct merge_chunk *examples,
                             struct portolan_error *error);
/* Begins to read the log again for the chunks from fold->to on. */
void store_fold_next_range(struct store_fold *fold);

/* fold_write.c: writes the image's columns and presences in place of the chunk's stored ones. */
int store_chunk_write(struct store_writer *writer, const struct chunk_place *place, const struct merge_chunk *chunk,
                      struct portolan_error *error);

#endif

/*
 * fold.h: inside a fold: its state, and the two sources that fill chunks: the image, and the log; private to the
 * writing half.
 */
#ifndef STORE_FOLD_H
#define STORE_FOLD_H

#include "writer.h"

#include "chunk.h"

#define FOLD_READ_BYTES ((size_t)1 << 20)  /* of the log, merged in one step: some milliseconds */
#define FOLD_WRITE_BYTES ((size_t)4 << 20) /* written in one step */
#define FOLD_SMALL_BYTES ((size_t)1 << 18) /* in the log: folded in one step, if no more has to be read or written */

enum chunk_state { WAITING = 0, ACTIVE, DEFERRED, DONE };

struct fold_span { /* the chunks a batch touches lie between these */
	uint32_t first, last;
};

struct fold_chunk {
	uint32_t number;
	uint64_t rows; /* of the log, merged into it */
	struct merge_chunk epoch, examples;
};

struct store_fold {
	struct store_writer *writer;
	uint64_t aborts;
	uint32_t run, epoch;
	char name[256];
	size_t memory;
	bool examples; /* the run keeps something per example: labels, or which of the declared were seen */
	uint64_t rows_of_run, begin, position, end; /* positions in the log */
	uint32_t row;                               /* of the batch at `position`: those before it are merged */
	uint32_t sessions, *order;
	uint32_t chunk_count;
	struct image *image;       /* NULL: the log is read */
	struct fold_chunk scratch; /* for the chunks of the image, one after another */
	uint8_t *states;
	struct fold_chunk **active;       /* per chunk; NULL unless ACTIVE */
	struct fold_span *spans;          /* per position; NULL: everything fits, there is one pass */
	size_t chunk_bytes, active_bytes; /* of a chunk with every column the run has; of the active ones */
	bool deferred, first_pass;
	uint32_t next_write;
	uint64_t bytes;
	struct fold_counts { /* of the chunks written since the counts were last put */
		uint64_t rows, replaced, seen, relabelled;
		uint64_t *by_session; /* replaced */
	} counts;
	enum { FOLD_SCAN, FOLD_WRITE, FOLD_IDS, FOLD_DONE } phase;
};

int store_fold_out_of_memory(const struct store_fold *fold, struct portolan_error *error);
struct chunk_place store_fold_place(const struct store_fold *fold, uint32_t epoch, uint32_t chunk);

/* Merges some of the log into chunks; the phase becomes FOLD_WRITE at the log's end. */
int store_fold_scan(struct store_fold *fold, struct portolan_error *error);
/* Opens the batch at a position of the log, with the walk where it is or from there on. */
int store_fold_batch(const struct store_fold *fold, struct view_walk *walk, uint64_t position, struct batch *batch,
                     struct portolan_error *error);
void store_fold_drop_chunk(struct store_fold *fold, uint32_t number);

/* Writes a chunk of the image, if it has one. */
int store_fold_image_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error);

/* Writes a chunk as it is now, and counts what was merged into it. */
int store_fold_put_chunk(struct store_fold *fold, struct fold_chunk *chunk, struct portolan_error *error);

#endif

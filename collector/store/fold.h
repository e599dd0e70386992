/*
 * fold.h: inside a fold: its state, and its parts; private to the writing half.
 */
#ifndef STORE_FOLD_H
#define STORE_FOLD_H

#include "writer.h"

#include "chunk.h"

#define FOLD_READ_BYTES ((size_t)1 << 20)  /* of the log, read in one step: some milliseconds */
#define FOLD_WRITE_BYTES ((size_t)4 << 20) /* written in one step */
#define FOLD_WRITE_CHUNKS 128              /* in one step, where they are thin */
#define FOLD_SMALL_BYTES ((size_t)1 << 18) /* in the log: folded in one step, if no more has to be read or written */

struct fold_span { /* the chunks a batch touches lie between these */
	uint32_t first, last;
};

struct fold_chunk {
	uint32_t number;
	struct merge_chunk epoch, examples;
};

struct store_fold {
	struct store_writer *writer;
	uint64_t aborts;
	uint32_t run, epoch;
	char name[256];
	size_t memory;
	bool examples; /* the run keeps something per example: labels, or which of the declared were seen */
	bool fresh;    /* the epoch has no columns yet */
	uint64_t rows_of_run, begin, position, end; /* positions in the log */
	uint32_t sessions, *order;
	uint32_t chunk_count;
	struct image *image;
	bool from_log;           /* the image is the fold's own, made from the log */
	struct fold_span *spans; /* per position; NULL: everything fits, there is one range of chunks */
	uint32_t next_write;
	struct fold_chunk scratch; /* for the chunks of the image, one after another */
	uint64_t bytes;
	struct fold_counts { /* of the chunks written since the counts were last put */
		uint64_t chunks, rows, replaced, seen, relabelled;
		uint64_t *by_session; /* replaced */
	} counts;
	enum { FOLD_COUNT, FOLD_FILL, FOLD_WRITE, FOLD_DONE } phase;
};

int store_fold_out_of_memory(const struct store_fold *fold, struct portolan_error *error);
struct chunk_place store_fold_place(const struct store_fold *fold, uint32_t epoch, uint32_t chunk);

/* Makes an image that is filled from the log. */
int store_fold_from_log(struct store_fold *fold, const struct epoch_record *epoch, struct portolan_error *error);
/* Counts the rows of some of the log, chunk by chunk; the phase becomes FOLD_FILL at the log's end. */
int store_fold_count(struct store_fold *fold, struct portolan_error *error);
/* Goes through the log again for the next chunks, as many as fit. */
int store_fold_next_range(struct store_fold *fold, struct portolan_error *error);
/* Adds some of the log to the image; the phase becomes FOLD_WRITE at the log's end. */
int store_fold_fill(struct store_fold *fold, struct portolan_error *error);

/* Writes a chunk of the image, if it has one, and counts what was merged into it. */
int store_fold_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error);

#endif

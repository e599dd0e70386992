/*
 * image.h: rows of the log, sorted by chunk in memory: what an epoch will become as columns; private to the writing
 * half.
 *
 * An image of an epoch in progress is made with its first batch and follows its log entry by entry. It is kept while
 * the epoch has no columns yet, every batch has the same columns, and the memory allowed holds all of the run's
 * examples. Where it is missing, because it did not fit or its transaction was given up, the fold makes one from the
 * log, for as many chunks at a time as fit. An image holds, chunk by chunk, the rows in the order in which they came;
 * merging them is the fold's.
 */
#ifndef STORE_IMAGE_H
#define STORE_IMAGE_H

#include "batch.h"
#include "merge.h"

#define IMAGES_USUAL_BYTES ((size_t)64 << 20)

struct image_key {
	uint32_t run, epoch;
};

#define IMAGE_ROOM (STORE_CHUNK + 64u) /* rows of a chunk while an epoch is recorded: a few may come twice */
#define IMAGE_NOT_LOOKED_UP UINT64_MAX

struct image_chunk {
	size_t begin;    /* its rows stand in the arrays from here on: a multiple of 64 */
	uint64_t merged; /* entries of the log before this position are not taken */
	uint32_t room;   /* rows it can take; from a log: all it will have */
	uint32_t count;  /* rows that came */
	uint32_t first;  /* of the chunk's rows, the one that came first */
	bool scattered;  /* they are not first, first + 1, …: see `places` */
};

struct image_source { /* what batches have in common */
	uint32_t session;
	uint64_t columns;
};

struct image {
	struct image_key key;
	bool unused;         /* only its memory is kept, for the next one */
	uint64_t begin, end; /* positions in the log: what it holds */
	uint64_t columns;    /* of any batch */
	uint64_t log_bytes;
	size_t slots; /* room of the arrays, in rows */
	struct image_chunk *chunks;
	uint32_t chunk_count;
	uint32_t from, to; /* the chunks whose rows are taken */
	uint16_t *places;  /* of each row that came: its row of the chunk; valid where the chunk is scattered */
	void *values[STORE_COLUMN_MAX]; /* in the order in which rows came */
	struct image_source *sources;
	uint32_t source_count;
	uint32_t *source_of; /* each row's; NULL: all are of the first */
	int64_t used_at;     /* seconds of a monotonic clock */
	struct image *next;
};

struct images {
	struct image *first;
	size_t limit;
};

/* Adds a batch that was just appended: `epoch` as it was before, `rows` as many indices as the run has now. */
void store_images_add(struct images *images, const struct image_key *key, const struct epoch_record *epoch,
                      uint64_t rows, const struct batch *batch);

/* Takes the image of the epoch, if it covers the whole log as `epoch` describes it; or NULL. To be given back. */
struct image *store_images_take(struct images *images, const struct image_key *key, const struct epoch_record *epoch);
void store_images_give_back(struct images *images, struct image *image); /* its content is not needed any more */

void store_images_drop(struct images *images); /* all content */
void store_images_free(struct images *images);

/* An image to be filled from a log that has these columns, of a run with so many chunks; NULL: out of memory. The
 * caller counts in each chunk's `room` what it will take. */
struct image *store_image_new(uint64_t columns, uint32_t chunks);
/* Makes room for the chunks from image->to on, as many as the memory allows, but one at least, and takes what is in
 * them from now on; false: out of memory. */
bool store_image_next_chunks(struct image *image, size_t memory);
/* Adds those rows of the batch at a position of the log that are taken; false: there is no room. */
bool store_image_add(struct image *image, const struct batch *batch, uint64_t position);
void store_image_free(struct image *image); /* NULL accepted */
size_t store_image_row_bytes(uint64_t columns);

struct image_rows {              /* the rows of one chunk, in the order in which they came */
	struct batch batch;      /* row i came i-th; session and columns are those of the first source */
	const uint16_t *places;  /* each one's row of the chunk */
	const uint32_t *sources; /* NULL: all are of the first source */
};

/* False: none came. `room` is for the places where they are not stored. */
bool store_image_rows(const struct image *image, uint32_t number, struct image_rows *rows, uint16_t room[IMAGE_ROOM]);

#endif

/*
 * image.h: the columns that an epoch in progress will become, kept in memory beside its log; private to the writing
 * half.
 *
 * An image is made with the first batch of an epoch and follows its log entry by entry. It is only kept while it is
 * simple: the epoch has no columns yet, every batch has the same columns, and the memory allowed holds all of the run's
 * examples. It holds, chunk by chunk, the rows in the order in which they came; merging them is the fold's. Where a
 * chunk has no room for more, because examples came again, the row is noted and looked up in the log. An image that is
 * no longer simple, or whose transaction was given up, is dropped: the fold then reads the log.
 */
#ifndef STORE_IMAGE_H
#define STORE_IMAGE_H

#include "batch.h"
#include "merge.h"

#define IMAGES_USUAL_BYTES ((size_t)64 << 20)

struct image_key {
	uint32_t run, epoch;
};

struct image_again {       /* an observation there was no room for */
	uint64_t position; /* in the log */
	uint32_t row, index;
};

struct image_chunk {
	uint32_t count; /* rows that came */
	uint32_t first; /* of the chunk's rows, the one that came first */
	bool scattered; /* they are not first, first + 1, …: see `places` */
};

struct image {
	struct image_key key;
	bool unused;         /* only its memory is kept, for the next one */
	uint64_t begin, end; /* positions in the log that it covers */
	uint64_t columns;    /* of every batch */
	uint64_t log_bytes;
	uint32_t session; /* of every row, while `sessions` is NULL */
	size_t rows;      /* room of the arrays, a multiple of STORE_CHUNK */
	struct image_chunk *chunks;
	uint16_t *places; /* of each row that came: its row of the chunk; valid where the chunk is scattered */
	void *values[STORE_COLUMN_MAX]; /* in the order in which rows came, STORE_CHUNK of them for each chunk */
	uint32_t *sessions;
	struct image_again *again;
	size_t again_count;
	int64_t used_at; /* seconds of a monotonic clock */
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

/* The rows of a chunk that came, as a batch of its own: row i came i-th. places[i] is its row of the chunk; it points
 * to `room` where that is not stored. False: none came. */
bool store_image_rows(const struct image *image, uint32_t number, struct batch *batch, const uint16_t **places,
                      uint16_t room[STORE_CHUNK]);

#endif

/*
 * image.c: scattering batches into the image of their epoch.
 *
 * The arrays go over all indices of the run, so an index is a place: no chunk has to be found. Chunks are multiples of
 * 64 rows, so each is a part of every array. Most epochs meet each example once, and then a batch is scattered in loops
 * without a branch that is hard to foresee. Memory that is no longer needed is kept for the next epoch: fresh pages
 * cost more than the scattering.
 */
#include "image.h"

#include "bits.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define AGAIN_MOST 4096 /* more examples that come again: the fold had better read the log in order */
#define IDLE_SECONDS 60

static int64_t
now_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	return (int64_t)time.tv_sec;
}

static size_t
bytes_of(size_t rows, uint64_t columns, bool sessions)
{
	size_t bytes = rows / 8 + (sessions ? rows * 4 : 0) + AGAIN_MOST * sizeof(struct image_again);

	for (; columns; columns &= columns - 1)
		bytes += column_is_bits(mask_first(columns)) ? rows / 8 : rows * 4;
	return bytes;
}

static size_t
bytes_of_image(const struct image *image)
{
	return bytes_of(image->rows, image->columns, image->sessions != NULL);
}

static size_t
bytes_of_all(const struct images *images)
{
	size_t bytes = 0;

	for (const struct image *image = images->first; image; image = image->next)
		bytes += bytes_of_image(image);
	return bytes;
}

static void
free_image(struct image *image)
{
	free(image->present);
	for (int column = 0; column < STORE_COLUMN_MAX; column++)
		free(image->values[column]);
	free(image->sessions);
	free(image->again);
	free(image);
}

/* Takes the image out of the list; false: it is not there. */
static bool
take_out(struct images *images, const struct image *image)
{
	struct image **link = &images->first;

	while (*link && *link != image)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = image->next;
	return true;
}

/* Whether `bytes` more may be used: first what is unused goes, then what was not used of late; never `keep`. */
static bool
make_room(struct images *images, size_t bytes, const struct image *keep)
{
	struct image **link = &images->first;
	int64_t now = now_seconds();

	while (*link && bytes_of_all(images) + bytes > images->limit) {
		struct image *image = *link;

		if (image != keep && (image->unused || now - image->used_at > IDLE_SECONDS)) {
			*link = image->next;
			free_image(image);
		} else {
			link = &image->next;
		}
	}
	return bytes_of_all(images) + bytes <= images->limit;
}

/* Makes an array larger; what is new of a bitmap is 0. */
static bool
grow(void **array, size_t old, size_t new, bool zero)
{
	uint8_t *more = realloc(*array, new);

	if (!more)
		return false;
	if (zero)
		memset(more + old, 0, new - old);
	*array = more;
	return true;
}

/* Room for `rows` indices. */
static bool
grow_image(struct images *images, struct image *image, uint64_t rows)
{
	size_t room = (size_t)((rows + STORE_CHUNK - 1) / STORE_CHUNK * STORE_CHUNK), old = image->rows;
	size_t larger = (room + room / 2) / STORE_CHUNK * STORE_CHUNK;
	size_t now = bytes_of_image(image);

	if (room <= old)
		return true;
	if (old && make_room(images, bytes_of(larger, image->columns, image->sessions) - now, image))
		room = larger; /* it goes on growing */
	else if (!make_room(images, bytes_of(room, image->columns, image->sessions) - now, image))
		return false;
	if (!grow((void **)&image->present, old / 8, room / 8, true))
		return false;
	for (uint64_t mask = image->columns; mask; mask &= mask - 1) {
		bool bits = column_is_bits(mask_first(mask));

		if (!grow(&image->values[mask_first(mask)], bits ? old / 8 : old * 4, bits ? room / 8 : room * 4, bits))
			return false;
	}
	if (image->sessions && !grow((void **)&image->sessions, old * 4, room * 4, false))
		return false;
	image->rows = room;
	return true;
}

/* An image without content: one whose memory fits, or a new one. */
static struct image *
make_image(struct images *images, uint64_t columns)
{
	struct image *image = images->first;

	while (image && !(image->unused && image->columns == columns))
		image = image->next;
	if (image) {
		memset(image->present, 0, image->rows / 8);
		for (uint64_t mask = columns; mask; mask &= mask - 1)
			if (column_is_bits(mask_first(mask)))
				memset(image->values[mask_first(mask)], 0, image->rows / 8);
		free(image->sessions);
		image->sessions = NULL;
	} else {
		image = calloc(1, sizeof(*image));
		if (!image)
			return NULL;
		image->columns = columns;
		image->next = images->first;
		images->first = image;
	}
	image->unused = false;
	image->again_count = 0;
	image->log_bytes = 0;
	return image;
}

static struct image *
find(const struct images *images, const struct image_key *key)
{
	struct image *image = images->first;

	while (image && (image->unused || image->key.run != key->run || image->key.epoch != key->epoch))
		image = image->next;
	return image;
}

/* A second session: from now on the session of each row is kept. */
static bool
add_session(struct images *images, struct image *image, uint32_t session)
{
	if (image->sessions || session == image->session)
		return true;
	if (!make_room(images, image->rows * 4, image))
		return false;
	image->sessions = malloc(image->rows * 4);
	for (size_t row = 0; image->sessions && row < image->rows; row++)
		image->sessions[row] = image->session;
	return image->sessions != NULL;
}

static bool
note_again(struct image *image, const struct batch *batch, uint32_t row)
{
	if (!image->again && !(image->again = malloc(AGAIN_MOST * sizeof(*image->again))))
		return false;
	if (image->again_count == AGAIN_MOST)
		return false;
	image->again[image->again_count++] = (struct image_again){
	        .position = image->end, .row = row, .index = store_batch_index(batch, row)};
	return true;
}

/* Indices that follow one another and have no observation yet. */
static void
copy_stretch(struct image *image, const struct batch *batch)
{
	uint32_t at = batch->first, end = at + batch->rows;

	bits_set_all(image->present, at, end);
	for (uint64_t mask = batch->columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		if (column_is_bits(column))
			bits_copy(image->values[column], at, batch->data[column], 0, batch->rows);
		else
			memcpy((uint32_t *)image->values[column] + at, batch->data[column], 4 * (size_t)batch->rows);
	}
	for (uint32_t i = at; i < end && image->sessions; i++)
		image->sessions[i] = batch->session;
}

/* Marks the places of rows from … to − 1, up to the first that is taken; answers where it stopped. */
static uint32_t
mark(uint64_t *present, const struct batch *batch, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		uint32_t index = store_batch_index(batch, from);

		if (bit_get(present, index))
			break;
		bit_set(present, index);
	}
	return from;
}

/* Writes rows from … to − 1, whose places are marked. */
static void
scatter(struct image *image, const struct batch *batch, uint32_t from, uint32_t to)
{
	for (uint64_t mask = batch->columns; mask; mask &= mask - 1) {
		const uint8_t *data = batch->data[mask_first(mask)];
		uint32_t *values = image->values[mask_first(mask)];
		uint64_t *words = image->values[mask_first(mask)];

		if (column_is_bits(mask_first(mask))) {
			for (uint32_t row = from; row < to; row++) {
				uint32_t index = store_batch_index(batch, row);

				words[index / 64] |= (uint64_t)(data[row / 8] >> (row % 8) & 1) << (index % 64);
			}
			continue;
		}
		for (uint32_t row = from; row < to; row++)
			values[store_batch_index(batch, row)] = load_u32(data + 4 * (size_t)row);
	}
	for (uint32_t row = from; row < to && image->sessions; row++)
		image->sessions[store_batch_index(batch, row)] = batch->session;
}

static bool
add_rows(struct image *image, const struct batch *batch)
{
	if (!batch->index && bits_all_are(image->present, batch->first, batch->first + batch->rows, false)) {
		copy_stretch(image, batch);
		return true;
	}
	for (uint32_t row = 0; row < batch->rows;) {
		uint32_t end = mark(image->present, batch, row, batch->rows);

		scatter(image, batch, row, end);
		if (end < batch->rows && !note_again(image, batch, end))
			return false;
		row = end + 1;
	}
	return true;
}

void
store_images_add(struct images *images, const struct image_key *key, const struct epoch_record *epoch, uint64_t rows,
                 const struct batch *batch)
{
	struct image *image = find(images, key);

	if (!image && epoch->log_begin == epoch->log_end && epoch->observations == 0 &&
	    bytes_of((size_t)rows, batch->columns, false) <= images->limit) {
		image = make_image(images, batch->columns);
		if (!image)
			return;
		image->key = *key;
		image->begin = image->end = epoch->log_begin;
		image->session = batch->session;
	}
	if (!image)
		return;
	image->used_at = now_seconds();
	if (image->end != epoch->log_end || image->columns != batch->columns || !grow_image(images, image, rows) ||
	    !add_session(images, image, batch->session) || !add_rows(image, batch)) {
		take_out(images, image);
		free_image(image);
		return;
	}
	image->end++;
	image->log_bytes += store_batch_size(batch->rows, batch->columns, batch->index != NULL);
}

struct image *
store_images_take(struct images *images, const struct image_key *key, const struct epoch_record *epoch)
{
	struct image *image = find(images, key);

	if (!image)
		return NULL;
	take_out(images, image);
	if (image->begin == epoch->log_begin && image->end == epoch->log_end && epoch->observations == 0)
		return image;
	free_image(image);
	return NULL;
}

void
store_images_give_back(struct images *images, struct image *image)
{
	if (!image)
		return;
	image->unused = true;
	image->next = images->first;
	images->first = image;
	for (struct image *other = image->next; other; other = other->next)
		if (other->unused) { /* one is kept */
			take_out(images, other);
			free_image(other);
			return;
		}
}

void
store_images_drop(struct images *images)
{
	while (images->first) {
		struct image *image = images->first;

		images->first = image->next;
		free_image(image);
	}
}

void
store_images_free(struct images *images)
{
	store_images_drop(images);
}

bool
store_image_chunk(const struct image *image, uint32_t number, uint32_t *sessions, struct merge_chunk *chunk)
{
	size_t first = (size_t)number * STORE_CHUNK, last = STORE_CHUNK_WORDS;
	uint64_t *present = image->present + first / 64;

	while (last > 0 && present[last - 1] == 0)
		last--;
	if (last == 0)
		return false;
	*chunk = (struct merge_chunk){.columns = image->columns | STORE_COLUMN_BIT(STORE_SESSION)};
	chunk->columns &= ~STORE_COLUMN_BIT(STORE_GOLD);
	chunk->rows = (uint32_t)(last * 64 - (size_t)__builtin_clzll(present[last - 1]));
	chunk->present[STORE_GOLD_PROB] = present;
	for (uint64_t mask = image->columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		chunk->present[column] = present;
		chunk->values[column] = column_is_bits(column) ? (void *)((uint64_t *)image->values[column] + first / 64)
		                                               : (void *)((uint32_t *)image->values[column] + first);
	}
	for (uint32_t row = 0; row < STORE_CHUNK && !image->sessions; row++)
		sessions[row] = image->session;
	chunk->values[STORE_SESSION] = image->sessions ? image->sessions + first : sessions;
	return true;
}

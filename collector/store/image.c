/*
 * image.c: sorting the rows of batches by chunk as they arrive.
 *
 * A shuffled batch touches as many cache lines of an epoch's columns as it has rows, and each would have to come from
 * memory. So rows are only appended to their chunk, which is one line per chunk; they find their places when the chunk
 * is folded and is small enough to stay in the cache. Memory that is no longer needed is kept for the next epoch.
 */
#include "image.h"

#include "bits.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define AGAIN_MOST 4096 /* more examples that come again: the fold had better read the log in order */
#define IDLE_SECONDS 60
#define GROUP 2048 /* rows sorted at a time */

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
	size_t bytes = rows * 2 + (sessions ? rows * 4 : 0) + AGAIN_MOST * sizeof(struct image_again);

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
	free(image->chunks);
	free(image->places);
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

/* Makes an array larger; what is new of a bitmap is 0. Large ones are asked for in huge pages: nearly each row of a
 * shuffled batch is in another page. */
static bool
grow(void **array, size_t old, size_t new, bool zero)
{
	const size_t huge = (size_t)2 << 20;
	uint8_t *more = new < huge ? malloc(new) : aligned_alloc(huge, (new + huge - 1) / huge * huge);

	if (!more)
		return false;
	if (new >= huge)
		madvise(more, (new + huge - 1) / huge * huge, MADV_HUGEPAGE);
	if (old)
		memcpy(more, *array, old);
	if (zero)
		memset(more + old, 0, new - old);
	free(*array);
	*array = more;
	return true;
}

/* Room for `rows` indices. */
static bool
grow_image(struct images *images, struct image *image, uint64_t rows)
{
	size_t room = (size_t)((rows + STORE_CHUNK - 1) / STORE_CHUNK * STORE_CHUNK), old = image->rows;
	size_t larger = (room + room / 2) / STORE_CHUNK * STORE_CHUNK;
	size_t beside = old * sizeof(uint32_t); /* an array is there beside the larger one for a moment */
	size_t now = bytes_of_image(image) - beside;

	if (room <= old)
		return true;
	if (old && make_room(images, bytes_of(larger, image->columns, image->sessions) - now, image))
		room = larger; /* it goes on growing */
	else if (!make_room(images, bytes_of(room, image->columns, image->sessions) - now, image))
		return false;
	if (!grow((void **)&image->chunks, old / STORE_CHUNK * sizeof(*image->chunks),
	          room / STORE_CHUNK * sizeof(*image->chunks), true) ||
	    !grow((void **)&image->places, old * sizeof(uint16_t), room * sizeof(uint16_t), false))
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
		memset(image->chunks, 0, image->rows / STORE_CHUNK * sizeof(*image->chunks));
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

/* The rows of a chunk do not follow one another any more. */
static void
scatter_chunk(struct image *image, uint32_t number)
{
	struct image_chunk *chunk = &image->chunks[number];

	for (uint32_t i = 0; i < chunk->count; i++)
		image->places[(size_t)number * STORE_CHUNK + i] = (uint16_t)(chunk->first + i);
	chunk->scattered = true;
}

static bool
note_again(struct image *image, const struct batch *batch, uint32_t row)
{
	if (!image->again && !(image->again = malloc(AGAIN_MOST * sizeof(*image->again))))
		return false;
	if (image->again_count == AGAIN_MOST)
		return false;
	image->again[image->again_count++] =
	        (struct image_again){.position = image->end, .row = row, .index = store_batch_index(batch, row)};
	return true;
}

/* Rows `row` … of the batch, whose indices follow one another within a chunk, as far as there is room. */
static uint32_t
add_stretch(struct image *image, const struct batch *batch, uint32_t row)
{
	uint32_t index = batch->first + row, number = index / STORE_CHUNK, at = index % STORE_CHUNK;
	struct image_chunk *chunk = &image->chunks[number];
	size_t slot = (size_t)number * STORE_CHUNK + chunk->count;
	uint32_t n = STORE_CHUNK - at < batch->rows - row ? STORE_CHUNK - at : batch->rows - row;

	n = n < STORE_CHUNK - chunk->count ? n : STORE_CHUNK - chunk->count;
	if (n == 0)
		return 0;
	if (chunk->count == 0)
		chunk->first = at;
	if (!chunk->scattered && at != chunk->first + chunk->count)
		scatter_chunk(image, number);
	for (uint32_t i = 0; i < n && chunk->scattered; i++)
		image->places[slot + i] = (uint16_t)(at + i);
	for (uint64_t mask = batch->columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		if (column_is_bits(column))
			bits_copy(image->values[column], slot, batch->data[column], row, n);
		else
			memcpy((uint32_t *)image->values[column] + slot, batch->data[column] + 4 * (size_t)row,
			       4 * (size_t)n);
	}
	for (uint32_t i = 0; i < n && image->sessions; i++)
		image->sessions[slot + i] = batch->session;
	chunk->count += n;
	return n;
}

struct group { /* rows of a batch, and where each belongs in the arrays */
	uint32_t rows[GROUP], count;
	size_t slots[GROUP];
};

/* Finds places for rows from `row` on; *full: the row it ended with has none. */
static uint32_t
place_rows(struct image *image, const struct batch *batch, uint32_t row, struct group *group, bool *full)
{
	*full = false;
	for (group->count = 0; group->count < GROUP && row < batch->rows; row++) {
		uint32_t index = load_u32(batch->index + 4 * (size_t)row), number = index / STORE_CHUNK;
		struct image_chunk *chunk = &image->chunks[number];
		size_t slot = (size_t)number * STORE_CHUNK + chunk->count;

		if (!chunk->scattered)
			scatter_chunk(image, number);
		if (chunk->count == STORE_CHUNK) {
			*full = true;
			break;
		}
		chunk->count++;
		__builtin_prefetch(&image->places[slot + 32], 1);
		image->places[slot] = (uint16_t)(index - number * STORE_CHUNK);
		group->slots[group->count] = slot;
		group->rows[group->count++] = row;
	}
	return row;
}

static void
append_rows(struct image *image, const struct batch *batch, const struct group *group)
{
	for (uint64_t mask = batch->columns; mask; mask &= mask - 1) {
		const uint8_t *data = batch->data[mask_first(mask)];
		uint32_t *values = image->values[mask_first(mask)];
		uint64_t *words = image->values[mask_first(mask)];

		if (!column_is_bits(mask_first(mask))) {
			for (uint32_t i = 0; i < group->count; i++) {
				__builtin_prefetch(&values[group->slots[i] + 16], 1);
				values[group->slots[i]] = load_u32(data + 4 * (size_t)group->rows[i]);
			}
			continue;
		}
		for (uint32_t i = 0; i < group->count; i++) {
			uint32_t row = group->rows[i];

			words[group->slots[i] / 64] |= (uint64_t)(data[row / 8] >> (row % 8) & 1)
			                               << (group->slots[i] % 64);
		}
	}
	for (uint32_t i = 0; i < group->count && image->sessions; i++)
		image->sessions[group->slots[i]] = batch->session;
}

static bool
add_rows(struct image *image, const struct batch *batch)
{
	uint32_t row = 0;

	while (row < batch->rows) {
		struct group group;
		bool full;

		if (batch->index) {
			row = place_rows(image, batch, row, &group, &full);
			append_rows(image, batch, &group);
		} else {
			uint32_t n = add_stretch(image, batch, row);

			row += n;
			full = n == 0;
		}
		if (full && !note_again(image, batch, row++))
			return false;
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
store_image_rows(const struct image *image, uint32_t number, struct batch *batch, const uint16_t **places,
                 uint16_t room[STORE_CHUNK])
{
	size_t first = (size_t)number * STORE_CHUNK;
	const struct image_chunk *chunk;

	if (first >= image->rows || image->chunks[number].count == 0)
		return false;
	chunk = &image->chunks[number];
	*batch = (struct batch){.session = image->session, .rows = chunk->count, .columns = image->columns};
	for (uint64_t mask = image->columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		batch->data[column] =
		        (const uint8_t *)image->values[column] + (column_is_bits(column) ? first / 8 : first * 4);
	}
	*places = image->places + first;
	if (chunk->scattered)
		return true;
	for (uint32_t i = 0; i < chunk->count; i++)
		room[i] = (uint16_t)(chunk->first + i);
	*places = room;
	return true;
}

/*
 * image.c: sorting the rows of batches by chunk as they arrive.
 *
 * A shuffled batch touches as many cache lines of an epoch's columns as it has rows, and each would have to come from
 * memory. So rows are only appended to their chunk, which is one line per chunk; they find their places when the chunk
 * is folded and is small enough to stay in the cache. Memory that is no longer needed is kept for the next epoch.
 *
 * Who sent a row is one number per row, into a table of sources, and only where there is more than one.
 */
#include "image.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define IDLE_SECONDS 60
#define GROUP 2048 /* rows sorted at a time */

static int64_t
now_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	return (int64_t)time.tv_sec;
}

size_t
store_image_row_bytes(uint64_t columns)
{
	return sizeof(uint16_t) + sizeof(uint32_t) + 4 * (size_t)__builtin_popcountll(columns);
}

static size_t
bytes_of(size_t slots, uint64_t columns, bool sources)
{
	size_t bytes = slots * (sizeof(uint16_t) + (sources ? sizeof(uint32_t) : 0));

	for (; columns; columns &= columns - 1)
		bytes += column_is_bits(mask_first(columns)) ? slots / 8 : slots * 4;
	return bytes;
}

static size_t
bytes_of_image(const struct image *image)
{
	return bytes_of(image->slots, image->columns, image->source_of != NULL);
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
free_arrays(struct image *image)
{
	free(image->places);
	for (int column = 0; column < STORE_COLUMN_MAX; column++) {
		free(image->values[column]);
		image->values[column] = NULL;
	}
	free(image->source_of);
	image->places = NULL;
	image->source_of = NULL;
	image->slots = 0;
}

void
store_image_free(struct image *image)
{
	if (!image)
		return;
	free_arrays(image);
	free(image->chunks);
	free(image->sources);
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
			store_image_free(image);
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
	uint8_t *more = new < huge ? malloc(new + 1) : aligned_alloc(huge, (new + huge - 1) / huge * huge);

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

static bool
grow_arrays(struct image *image, size_t slots)
{
	size_t old = image->slots;

	if (!grow((void **)&image->places, old * sizeof(uint16_t), slots * sizeof(uint16_t), false))
		return false;
	for (uint64_t mask = image->columns; mask; mask &= mask - 1) {
		bool bits = column_is_bits(mask_first(mask));

		if (!grow(&image->values[mask_first(mask)], bits ? old / 8 : old * 4, bits ? slots / 8 : slots * 4,
		          bits))
			return false;
	}
	if (image->source_of && !grow((void **)&image->source_of, old * 4, slots * 4, false))
		return false;
	image->slots = slots;
	return true;
}

/* Room for `rows` indices of an epoch in progress. */
static bool
grow_image(struct images *images, struct image *image, uint64_t rows)
{
	size_t chunks = (size_t)((rows + STORE_CHUNK - 1) / STORE_CHUNK), larger = chunks + chunks / 2;
	size_t beside = image->slots * sizeof(uint32_t); /* an array is there beside the larger one for a moment */
	size_t now = bytes_of_image(image) - (image->slots ? beside : 0);
	bool sources = image->source_of != NULL;

	if (chunks <= image->chunk_count)
		return true;
	if (image->slots && make_room(images, bytes_of(larger * IMAGE_ROOM, image->columns, sources) - now, image))
		chunks = larger; /* it goes on growing */
	else if (!make_room(images, bytes_of(chunks * IMAGE_ROOM, image->columns, sources) - now, image))
		return false;
	if (!grow((void **)&image->chunks, image->chunk_count * sizeof(*image->chunks), chunks * sizeof(*image->chunks),
	          true) ||
	    !grow_arrays(image, chunks * IMAGE_ROOM))
		return false;
	for (size_t i = image->chunk_count; i < chunks; i++)
		image->chunks[i] = (struct image_chunk){.begin = i * IMAGE_ROOM, .room = IMAGE_ROOM};
	image->chunk_count = image->to = (uint32_t)chunks;
	return true;
}

struct image *
store_image_new(uint64_t columns, uint32_t chunks)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->columns = columns;
	image->chunk_count = chunks;
	image->chunks = calloc((size_t)chunks + 1, sizeof(*image->chunks));
	if (!image->chunks) {
		store_image_free(image);
		return NULL;
	}
	return image;
}

bool
store_image_next_chunks(struct image *image, size_t memory)
{
	size_t slots = 0;

	for (image->from = image->to; image->to < image->chunk_count; image->to++) {
		struct image_chunk *chunk = &image->chunks[image->to];
		size_t more = ((size_t)chunk->room + 63) / 64 * 64;

		if (slots && more && (slots + more) * store_image_row_bytes(image->columns) > memory)
			break;
		chunk->begin = slots;
		slots += more;
	}
	free_arrays(image);
	image->source_count = 0;
	return grow_arrays(image, slots);
}

/* An image without content: one whose memory fits, or a new one. */
static struct image *
make_image(struct images *images, uint64_t columns)
{
	struct image *image = images->first;

	while (image && !(image->unused && image->columns == columns))
		image = image->next;
	if (image) {
		for (uint32_t i = 0; i < image->chunk_count; i++)
			image->chunks[i] = (struct image_chunk){.begin = i * (size_t)IMAGE_ROOM, .room = IMAGE_ROOM};
		for (uint64_t mask = columns; mask; mask &= mask - 1)
			if (column_is_bits(mask_first(mask)))
				memset(image->values[mask_first(mask)], 0, image->slots / 8);
		free(image->source_of);
		image->source_of = NULL;
	} else {
		image = store_image_new(columns, 0);
		if (!image)
			return NULL;
		image->next = images->first;
		images->first = image;
	}
	image->unused = false;
	image->source_count = 0;
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

/* The number of the batch's source, or a negative one: out of memory. From the second on each row's is kept. */
static int64_t
find_source(struct image *image, const struct batch *batch)
{
	uint32_t at = image->source_count;

	while (at > 0 &&
	       (image->sources[at - 1].session != batch->session || image->sources[at - 1].columns != batch->columns))
		at--;
	if (at > 0)
		return at - 1;
	at = image->source_count;
	if ((at & (at - 1)) == 0 && !grow((void **)&image->sources, at * sizeof(*image->sources),
	                                  (at ? 2 * (size_t)at : 1) * sizeof(*image->sources), false))
		return -1;
	if (at == 1 && !(image->source_of = calloc(image->slots + 1, sizeof(*image->source_of))))
		return -1;
	image->sources[at] = (struct image_source){.session = batch->session, .columns = batch->columns};
	image->source_count++;
	return at;
}

/* The rows of a chunk do not follow one another any more. */
static void
scatter_chunk(struct image *image, uint32_t number)
{
	struct image_chunk *chunk = &image->chunks[number];

	for (uint32_t i = 0; i < chunk->count; i++)
		image->places[chunk->begin + i] = (uint16_t)(chunk->first + i);
	chunk->scattered = true;
}

/* Bits row … row + n − 1 of `from`, to places at … of `to`, which are 0. */
static void
copy_bits(uint64_t *to, size_t at, const uint8_t *from, uint32_t row, uint32_t n)
{
	uint32_t done = 0;

	while (done < n && ((row + done) % 8 != 0 || (at + done) % 8 != 0) && done < 64) {
		to[(at + done) / 64] |= (uint64_t)(from[(row + done) / 8] >> ((row + done) % 8) & 1)
		                        << ((at + done) % 64);
		done++;
	}
	if ((row + done) % 8 == 0 && (at + done) % 8 == 0) { /* the same place within a byte: whole bytes */
		memcpy((uint8_t *)to + (at + done) / 8, from + (row + done) / 8, (n - done) / 8);
		done += (n - done) / 8 * 8;
	}
	for (; done < n; done++)
		to[(at + done) / 64] |= (uint64_t)(from[(row + done) / 8] >> ((row + done) % 8) & 1)
		                        << ((at + done) % 64);
}

static bool
is_taken(const struct image *image, uint32_t number, uint64_t position)
{
	return number >= image->from && number < image->to && position >= image->chunks[number].merged;
}

/* Rows `row` … of the batch, whose indices follow one another within a chunk; answers how many are done, 0: no room. */
static uint32_t
add_stretch(struct image *image, const struct batch *batch, uint32_t source, uint64_t position, uint32_t row)
{
	uint32_t index = batch->first + row, number = index / STORE_CHUNK, at = index % STORE_CHUNK;
	struct image_chunk *chunk = &image->chunks[number];
	size_t slot = chunk->begin + chunk->count;
	uint32_t n = STORE_CHUNK - at < batch->rows - row ? STORE_CHUNK - at : batch->rows - row;

	if (!is_taken(image, number, position))
		return n;
	if (n > chunk->room - chunk->count)
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
			copy_bits(image->values[column], slot, batch->data[column], row, n);
		else
			memcpy((uint32_t *)image->values[column] + slot, batch->data[column] + 4 * (size_t)row,
			       4 * (size_t)n);
	}
	for (uint32_t i = 0; i < n && image->source_of; i++)
		image->source_of[slot + i] = source;
	chunk->count += n;
	return n;
}

struct group { /* rows of a batch, and where each belongs in the arrays */
	uint32_t rows[GROUP], count;
	size_t slots[GROUP];
};

/* Finds places for rows from `row` on; *full: the row it ended with has none. */
static uint32_t
place_rows(struct image *image, const struct batch *batch, uint64_t position, uint32_t row, struct group *group,
           bool *full)
{
	*full = false;
	for (group->count = 0; group->count < GROUP && row < batch->rows; row++) {
		uint32_t index = load_u32(batch->index + 4 * (size_t)row), number = index / STORE_CHUNK;
		struct image_chunk *chunk = &image->chunks[number];
		size_t slot = chunk->begin + chunk->count;

		if (!is_taken(image, number, position))
			continue;
		if (chunk->count == chunk->room) {
			*full = true;
			break;
		}
		if (!chunk->scattered)
			scatter_chunk(image, number);
		chunk->count++;
		__builtin_prefetch(&image->places[slot + 32], 1);
		image->places[slot] = (uint16_t)(index - number * STORE_CHUNK);
		group->slots[group->count] = slot;
		group->rows[group->count++] = row;
	}
	return row;
}

static void
append_rows(struct image *image, const struct batch *batch, uint32_t source, const struct group *group)
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
	for (uint32_t i = 0; i < group->count && image->source_of; i++)
		image->source_of[group->slots[i]] = source;
}

bool
store_image_add(struct image *image, const struct batch *batch, uint64_t position)
{
	int64_t source = find_source(image, batch);
	bool full = source < 0;

	for (uint32_t row = 0; row < batch->rows && !full;) {
		struct group group;

		if (batch->index) {
			row = place_rows(image, batch, position, row, &group, &full);
			append_rows(image, batch, (uint32_t)source, &group);
		} else {
			uint32_t n = add_stretch(image, batch, (uint32_t)source, position, row);

			row += n;
			full = n == 0;
		}
	}
	return !full;
}

/* From the second on, each row's source is kept, which takes memory. */
static bool
is_second_source(const struct image *image, const struct batch *batch)
{
	return image->source_count == 1 && image->sources[0].session != batch->session;
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
	}
	if (!image)
		return;
	image->used_at = now_seconds();
	if (image->end != epoch->log_end || image->columns != batch->columns || !grow_image(images, image, rows) ||
	    (is_second_source(image, batch) && !make_room(images, image->slots * sizeof(uint32_t), image)) ||
	    !store_image_add(image, batch, image->end)) {
		take_out(images, image);
		store_image_free(image);
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
	store_image_free(image);
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
			store_image_free(other);
			return;
		}
}

void
store_images_drop(struct images *images)
{
	while (images->first) {
		struct image *image = images->first;

		images->first = image->next;
		store_image_free(image);
	}
}

void
store_images_free(struct images *images)
{
	store_images_drop(images);
}

bool
store_image_rows(const struct image *image, uint32_t number, struct image_rows *rows, uint16_t room[IMAGE_ROOM])
{
	const struct image_chunk *chunk = &image->chunks[number];

	if (number < image->from || number >= image->to || chunk->count == 0)
		return false;
	*rows = (struct image_rows){.places = image->places + chunk->begin};
	rows->batch = (struct batch){
	        .session = image->sources[0].session, .rows = chunk->count, .columns = image->sources[0].columns};
	for (uint64_t mask = image->columns; mask; mask &= mask - 1)
		rows->batch.data[mask_first(mask)] =
		        (const uint8_t *)image->values[mask_first(mask)] +
		        (column_is_bits(mask_first(mask)) ? chunk->begin / 8 : chunk->begin * 4);
	rows->sources = image->source_of ? image->source_of + chunk->begin : NULL;
	if (chunk->scattered)
		return true;
	for (uint32_t i = 0; i < chunk->count; i++)
		room[i] = (uint16_t)(chunk->first + i);
	rows->places = room;
	return true;
}

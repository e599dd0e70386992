/*
 * ring.c: head and tail are the only shared words; each is written by one side and read by the other with acquire and
 * release, which is all the ordering the records need. Each record has an 8-byte header with its size; a
 * header of SKIP says that the next record starts at the beginning of the memory.
 */
#include "ring.h"

#include <portolan/error.h>

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER 8
#define SKIP UINT64_MAX

static size_t
record_space(size_t bytes)
{
	return HEADER + ((bytes + 7) & ~(size_t)7);
}

int
ring_init(struct ring *ring, size_t size, struct portolan_error *error)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *data;

	if (size > SIZE_MAX - page)
		return error_set(error, PORTOLAN_E_MEMORY, "a ring of %zu bytes is too large", size);
	size = (size + page - 1) / page * page;
	data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return error_set(error, PORTOLAN_E_MEMORY, "no memory for a ring of %zu bytes: %s", size,
		                 strerror(errno));
	ring->data = data;
	ring->size = size;
	atomic_init(&ring->head, 0);
	atomic_init(&ring->tail, 0);
	ring->read = 0;
	return 0;
}

void
ring_deinit(struct ring *ring)
{
	if (ring->data)
		munmap(ring->data, ring->size);
	ring->data = NULL;
}

/* Where a record of `space` bytes goes when the end of the memory is `left` bytes away: bytes to skip first. */
static size_t
skip_for(const struct ring *ring, uint64_t head, size_t space)
{
	size_t left = ring->size - head % ring->size;

	return left < space ? left : 0;
}

void *
ring_reserve(struct ring *ring, size_t bytes, size_t keep)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	size_t space = record_space(bytes), skip = skip_for(ring, head, space);

	assert(bytes > 0 && space <= ring->size / 4 + HEADER);
	if (head - tail + skip + space + keep > ring->size)
		return NULL;
	return ring->data + (head + skip) % ring->size + HEADER;
}

void
ring_commit(struct ring *ring, size_t bytes)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed), size = bytes, marker = SKIP;
	size_t space = record_space(bytes), skip = skip_for(ring, head, space);

	if (skip > 0)
		memcpy(ring->data + head % ring->size, &marker, HEADER);
	memcpy(ring->data + (head + skip) % ring->size, &size, HEADER);
	atomic_store_explicit(&ring->head, head + skip + space, memory_order_release);
}

uint64_t
ring_head(const struct ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_acquire);
}

size_t
ring_used(const struct ring *ring)
{
	/* The tail first: it never overtakes a head that is read later. */
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	return (size_t)(ring_head(ring) - tail);
}

const void *
ring_read(struct ring *ring, size_t *bytes)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire), size;

	if (ring->read == head)
		return NULL;
	memcpy(&size, ring->data + ring->read % ring->size, HEADER);
	if (size == SKIP) {
		ring->read += ring->size - ring->read % ring->size;
		memcpy(&size, ring->data, HEADER);
	}
	*bytes = (size_t)size;
	ring->read += record_space(*bytes);
	return ring->data + (ring->read - record_space(*bytes)) % ring->size + HEADER;
}

void
ring_unread(struct ring *ring, uint64_t position)
{
	ring->read = position;
}

uint64_t
ring_position(const struct ring *ring)
{
	return ring->read;
}

void
ring_release(struct ring *ring)
{
	atomic_store_explicit(&ring->tail, ring->read, memory_order_release);
}

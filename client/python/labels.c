/*
 * labels.c: a hash table with open addressing from ids to gold labels. An id is known by 49 bits of its hash, so two of
 * the 65,536 are taken for one with a probability of some 4e-6; the slots are few enough to stay in the cache.
 */
#include "module.h"

#include "../library/batch.h"

#include <string.h>

#define SLOTS ((size_t)1 << 17)
#define MOST_IDS (SLOTS / 2) /* beyond it, ids that are not there yet are not remembered */
#define CHUNK 64

struct labels_slot {
	uint32_t tag; /* 0: free */
	int32_t gold;
};

static uint64_t
mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t
hash_text(const char *text, size_t length)
{
	uint64_t hash = length, word;

	for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = mix(hash ^ word);
	}
	word = 0;
	memcpy(&word, text, length);
	return mix(hash ^ word);
}

/* 1: another label than before. */
static int
see_one(struct labels *labels, uint64_t hash, int32_t gold, int32_t *before)
{
	uint32_t tag = (uint32_t)(hash >> 32) | 1;
	size_t at = hash % SLOTS;

	for (; labels->slots[at].tag; at = (at + 1) % SLOTS)
		if (labels->slots[at].tag == tag) {
			*before = labels->slots[at].gold;
			return *before != gold;
		}
	if (labels->used < MOST_IDS) {
		labels->slots[at] = (struct labels_slot){tag, gold};
		labels->used++;
	}
	return 0;
}

static void
read_hashes(const struct portolan_batch *batch, size_t first, size_t count, uint64_t *hashes)
{
	if (!batch->string_ids)
		arrays_read_u64(&batch->ids, first, count, hashes);
	for (size_t i = 0; i < count; i++)
		hashes[i] = batch->string_ids
		                    ? hash_text(batch->string_ids[first + i], batch_id_length(batch, first + i))
		                    : mix(hashes[i]);
}

static int
look(struct labels *labels, const struct portolan_batch *batch, size_t *row, int32_t *before)
{
	uint64_t hashes[CHUNK];
	int32_t gold[CHUNK];

	for (size_t first = 0; first < batch->n; first += CHUNK) {
		size_t count = batch->n - first < CHUNK ? batch->n - first : CHUNK;

		read_hashes(batch, first, count, hashes);
		for (size_t i = 0; i < count; i++) /* after a training step none of them is in a cache */
			__builtin_prefetch(&labels->slots[hashes[i] % SLOTS]);
		arrays_read_i32(&batch->gold, first, count, gold);
		for (size_t i = 0; i < count; i++)
			if (see_one(labels, hashes[i], gold[i], before)) {
				*row = first + i;
				return 1;
			}
	}
	return 0;
}

int
labels_see(struct labels *labels, const struct portolan_batch *batch, size_t *row, int32_t *before)
{
	if (labels->done || !batch->gold.data || batch->n == 0)
		return 0;
	if (!labels->slots)
		labels->slots = PyMem_Calloc(SLOTS, sizeof(*labels->slots));
	if (labels->slots && !look(labels, batch, row, before))
		return 0;
	int found = labels->slots != NULL;

	labels_clear(labels);
	labels->done = 1;
	return found;
}

void
labels_clear(struct labels *labels)
{
	PyMem_Free(labels->slots);
	*labels = (struct labels){0};
}

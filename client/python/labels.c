/*
 * labels.c: notices mistakes of a training loop in Python: a gold label that changes, and an id that is logged twice in
 * an epoch. For this it remembers the gold label and the epoch of ids that were logged.
 *
 * It is a hash table with open addressing of at most 65,536 ids, which stays in the cache. An id is known by 48 bits of
 * its hash, so the probability that any two are confused is about 1e-5. When it is full, a bitmap says of nearly all
 * other ids that they are not in it: a run of millions would else search in vain for most of its ids.
 */
#include "module.h"

#include "batch.h"

#include <string.h>

#define SLOTS ((size_t)1 << 17)
#define MOST_IDS (SLOTS / 2) /* so many ids are remembered; later ones are not */
#define REACH 256            /* slots searched for one id: a bound even for ids that were chosen to collide */
#define CHUNK 64
#define BITS ((size_t)1 << 20) /* of the bitmap: 6% of the ids that are not remembered have their bit set */
#define NOT_KNOWN INT32_MIN    /* stands for no gold label; labels are 0 or more */

struct labels_slot {
	uint32_t tag; /* 0: the slot is free */
	int32_t gold;
	uint32_t epoch; /* the last epoch that it was logged in */
};

static uint64_t
labels_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* Hashes a text, word by word. The upper half of each product is mixed into the lower one: in the lower half alone, the
 * last characters of a word would change only a few bits, and the next word could change them back. */
static uint64_t
labels_hash_text(const char *text, size_t length)
{
	uint64_t hash = length, word;

	for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
		unsigned __int128 product;

		memcpy(&word, text, sizeof(word));
		product = (unsigned __int128)(hash ^ word) * 0x9e3779b97f4a7c15u;
		hash = (uint64_t)(product >> 64) ^ (uint64_t)product;
	}
	word = 0;
	memcpy(&word, text, length);
	return labels_mix(hash ^ word);
}

/* The word of the bitmap that has the id's bit. Other bits of the hash say where its slot is, and what its tag. */
static uint64_t *
labels_word(const struct labels *labels, uint64_t hash)
{
	return &labels->bitmap[(hash >> 18) % (BITS / 64)];
}

static uint64_t
labels_bit(uint64_t hash)
{
	return UINT64_C(1) << hash % 64;
}

static bool
labels_are_done(const struct labels *labels)
{
	return labels->said_changed && labels->said_returned;
}

/* The slot of an id, or a free one for it; NULL: other ids use all slots that may be searched. */
static struct labels_slot *
labels_find_slot(struct labels *labels, uint64_t hash, uint32_t tag)
{
	for (size_t i = 0; i < REACH; i++) {
		struct labels_slot *slot = &labels->slots[(hash + i) % SLOTS];

		if (!slot->tag || slot->tag == tag)
			return slot;
	}
	return NULL;
}

static void
labels_check_row(struct labels *labels, uint64_t hash, uint32_t epoch, int32_t gold, size_t row,
                 struct labels_found *found)
{
	uint32_t tag = (uint32_t)(hash >> 32) | 1;
	struct labels_slot *slot = labels_find_slot(labels, hash, tag);

	if (!slot)
		return;
	if (!slot->tag) {
		if (labels->used < MOST_IDS) {
			*slot = (struct labels_slot){tag, gold, epoch};
			*labels_word(labels, hash) |= labels_bit(hash);
			labels->used++;
		}
		return;
	}
	if (!labels->said_changed && gold != NOT_KNOWN && slot->gold != NOT_KNOWN && slot->gold != gold) {
		labels->said_changed = found->changed = true;
		found->changed_row = row;
		found->before = slot->gold;
	}
	if (!labels->said_returned && slot->epoch == epoch) {
		labels->said_returned = found->returned = true;
		found->returned_row = row;
	}
	slot->epoch = epoch;
	if (slot->gold == NOT_KNOWN)
		slot->gold = gold;
}

static void
labels_read_hashes(const struct portolan_batch *batch, size_t first, size_t count, uint64_t *hashes)
{
	if (!batch->string_ids)
		arrays_read_u64(&batch->ids, first, count, hashes);
	for (size_t i = 0; i < count; i++)
		hashes[i] = batch->string_ids
		                    ? labels_hash_text(batch->string_ids[first + i], batch_id_length(batch, first + i))
		                    : labels_mix(hashes[i]);
}

/* Leaves out the hashes of ids that are certainly not remembered. rows[] gets the places of the others; returns how many
 * these are. */
static size_t
labels_choose(const struct labels *labels, const uint64_t *hashes, size_t count, uint8_t *rows)
{
	const bool full = labels->used == MOST_IDS;
	size_t chosen = 0;

	for (size_t i = 0; i < count && full; i++) /* after a training step, nothing is in a cache */
		__builtin_prefetch(labels_word(labels, hashes[i]));
	for (size_t i = 0; i < count; i++) {
		rows[chosen] = (uint8_t)i;
		chosen += !full || (*labels_word(labels, hashes[i]) & labels_bit(hashes[i])) != 0;
	}
	for (size_t i = 0; i < chosen; i++)
		__builtin_prefetch(&labels->slots[hashes[rows[i]] % SLOTS]);
	return chosen;
}

static void
labels_check_batch(struct labels *labels, const struct portolan_batch *batch, struct labels_found *found)
{
	uint64_t hashes[CHUNK];
	uint8_t rows[CHUNK];
	int32_t gold[CHUNK];

	for (size_t i = 0; i < CHUNK; i++)
		gold[i] = NOT_KNOWN;
	for (size_t first = 0; first < batch->n && !labels_are_done(labels); first += CHUNK) {
		size_t count = batch->n - first < CHUNK ? batch->n - first : CHUNK, chosen;

		labels_read_hashes(batch, first, count, hashes);
		chosen = labels_choose(labels, hashes, count, rows);
		if (batch->gold.data && chosen > 0)
			arrays_read_i32(&batch->gold, first, count, gold);
		for (size_t i = 0; i < chosen; i++)
			labels_check_row(labels, hashes[rows[i]], batch->epoch, gold[rows[i]], first + rows[i], found);
	}
}

struct labels_found
labels_see(struct labels *labels, const struct portolan_batch *batch)
{
	struct labels_found found = {.changed = false};

	if (labels_are_done(labels) || batch->n == 0)
		return found;
	if (!labels->slots)
		labels->slots = PyMem_Calloc(1, SLOTS * sizeof(*labels->slots) + BITS / 8);
	if (labels->slots) {
		labels->bitmap = (uint64_t *)(labels->slots + SLOTS);
		labels_check_batch(labels, batch, &found);
	}
	if (!labels->slots || labels_are_done(labels)) {
		labels_clear(labels);
		labels->said_changed = labels->said_returned = true;
	}
	return found;
}

void
labels_clear(struct labels *labels)
{
	PyMem_Free(labels->slots);
	*labels = (struct labels){0};
}

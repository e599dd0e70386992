/*
 * names.h: gives each different text a number, for code that counts or stores texts which come again and again (words,
 * categories) as small integers. The numbers are 0, 1, 2 … in the order in which the texts first appear. One owner, one
 * thread; finding a text is safe from several.
 */
#ifndef NAMES_H
#define NAMES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define NAMES_NONE UINT32_MAX

#define NAMES_SHORT 8 /* bytes of a text that its key holds as they are */

struct names_slot {
	uint64_t key;
	uint32_t name; /* + 1; 0: free */
	uint32_t length;
};

struct names {
	uint32_t count;
	/* private */
	struct names_slot *slots;
	size_t mask;
	uint64_t *offsets; /* count + 1 */
	char *text;
	size_t room, text_room;
	/* by first byte: the lengths of the texts that begin with it, as bits: bit (length mod 64) */
	uint64_t lengths[256];
};

/* The key by which a text is found. Texts of up to NAMES_SHORT bytes that have the same key and length are the same. */
static inline uint64_t
names_key(const char *text, size_t length)
{
	uint64_t key = 0;

	if (length > NAMES_SHORT)
		return XXH3_64bits(text, length);
	memcpy(&key, text, length);
	return le64toh(key);
}

/* The same key, computed faster, of a text that is not empty, and from whose beginning NAMES_SHORT bytes can be read,
 * even if it is shorter. */
static inline uint64_t
names_key_padded(const char *text, size_t length)
{
	uint64_t key;

	if (length > NAMES_SHORT)
		return XXH3_64bits(text, length);
	memcpy(&key, text, sizeof(key));
	return le64toh(key) & UINT64_MAX >> (64 - 8 * length);
}

/* The slot to look at first for a key. Every byte of the key has a say in it: the upper half of the key is folded into
 * the lower one, each bit of which moves all those bits of the product that are taken. */
static inline size_t
names_place(const struct names *names, uint64_t key)
{
	return (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & names->mask;
}

/* The number of the text, which is added if it is new; NAMES_NONE: out of memory, or 4 GB long. */
uint32_t names_add_key(struct names *names, const char *text, size_t length, uint64_t key);

/* The number of a short text, if it stands in the slot that is looked at first, as most do: slot `place`, which
 * names_prefetch() has returned. NAMES_NONE: it does not, and names_add_key() must look further. */
static inline uint32_t
names_find_at(const struct names *names, size_t place, size_t length, uint64_t key)
{
	const struct names_slot *slot = &names->slots[place];

	return slot->key == key && slot->length == length && length <= NAMES_SHORT ? slot->name - 1 : NAMES_NONE;
}

static inline uint32_t
names_add(struct names *names, const char *text, size_t length)
{
	return names_add_key(names, text, length, names_key(text, length));
}

/* Prefetches the memory that names_add_key() will read, and returns the place that names_find_at() looks at. There must
 * be a name already. Always inlined: gcc 12 removes a call of a function that changes nothing, although it prefetches. */
static inline __attribute__((always_inline)) size_t
names_prefetch(const struct names *names, uint64_t key)
{
	size_t place = names_place(names, key);

	__builtin_prefetch(&names->slots[place]);
	return place;
}

/* NAMES_NONE: not there. */
uint32_t names_find(const struct names *names, const char *text, size_t length);

/* NUL-terminated; the pointer is valid until another text is added. */
static inline const char *
names_text(const struct names *names, uint32_t name, size_t *length)
{
	*length = (size_t)(names->offsets[name + 1] - names->offsets[name]) - 1;
	return names->text + names->offsets[name];
}

/* Below, at or above 0: name a comes before, is, or comes after name b, bytewise. */
int names_compare(const struct names *names, uint32_t a, uint32_t b);

/* By number: how many of the names come before it, bytewise. The caller's to free(). NULL: out of memory. */
uint32_t *names_rank(const struct names *names);

void names_free(struct names *names); /* may be called twice */

#endif

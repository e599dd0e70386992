/* names.h: texts, each once, numbered from 0 in the order in which they came. One owner, one thread; finding is safe
 * from several. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define NAMES_NONE UINT32_MAX

struct names_slot {
	uint32_t hash;                 /* its upper half */
	uint32_t name;                 /* + 1; 0: free */
	uint64_t at : 40, length : 24; /* its text: so a look there costs no other */
};

struct names {
	uint32_t count;
	/* private */
	struct names_slot *slots;
	size_t mask;
	uint64_t *hashes, *offsets; /* offsets: count + 1 */
	char *text;
	size_t room, text_room;
	uint64_t lengths[256]; /* by first byte, which lengths there are: bit (length mod 64) */
};

static inline uint64_t
names_hash(const char *text, size_t length)
{
	return XXH3_64bits(text, length);
}

/* The number of the text, which is added if it is new; NAMES_NONE: out of memory. Texts are below 16 MB each, 1 TB in
 * all. */
uint32_t names_add(struct names *names, const char *text, size_t length, uint64_t hash);

/* False: it is not there, which most texts that are looked for among a few are; and no hash is needed to say so. */
static inline bool
names_may_have(const struct names *names, const char *text, size_t length)
{
	return length > 0 && names->lengths[(unsigned char)text[0]] >> length % 64 & 1;
}

/* NAMES_NONE: not there. */
uint32_t names_find(const struct names *names, const char *text, size_t length, uint64_t hash);

/* NUL-terminated, and where it is until another is added. */
static inline const char *
names_text(const struct names *names, uint32_t name, size_t *length)
{
	*length = (size_t)(names->offsets[name + 1] - names->offsets[name]) - 1;
	return names->text + names->offsets[name];
}

static inline uint64_t
names_hash_of(const struct names *names, uint32_t name)
{
	return names->hashes[name];
}

/* Below, at or above 0: name a comes before, is, or comes after name b, bytewise. */
int names_compare(const struct names *names, uint32_t a, uint32_t b);

void names_free(struct names *names); /* may be called twice */

#endif

/* names.c: an open table of hashes over texts that lie one behind the other. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

void
names_free(struct names *names)
{
	free(names->slots);
	free(names->hashes);
	free(names->offsets);
	free(names->text);
	*names = (struct names){0};
}

/* The slot that has the text, or the free one where it belongs. */
static struct names_slot *
find_slot(const struct names *names, const char *text, size_t length, uint64_t hash)
{
	uint32_t upper = (uint32_t)(hash >> 32);

	for (size_t at = hash & names->mask;; at = (at + 1) & names->mask) {
		struct names_slot *slot = &names->slots[at];

		if (slot->name == 0)
			return slot;
		if (slot->hash == upper && slot->length == length && memcmp(names->text + slot->at, text, length) == 0)
			return slot;
	}
}

/* Twice as many slots. */
static bool
grow_slots(struct names *names)
{
	size_t slots = names->slots ? 2 * (names->mask + 1) : 256;
	struct names_slot *grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return false;
	free(names->slots);
	names->slots = grown;
	names->mask = slots - 1;
	for (uint32_t name = 0; name < names->count; name++) {
		size_t at = names->hashes[name] & names->mask;

		while (grown[at].name != 0)
			at = (at + 1) & names->mask;
		grown[at] = (struct names_slot){(uint32_t)(names->hashes[name] >> 32), name + 1, names->offsets[name],
		                                names->offsets[name + 1] - names->offsets[name] - 1};
	}
	return true;
}

static bool
grow_list(struct names *names)
{
	size_t room = names->room ? 2 * names->room : 128;
	uint64_t *hashes = realloc(names->hashes, room * sizeof(*hashes));
	uint64_t *offsets;

	if (!hashes)
		return false;
	names->hashes = hashes;
	offsets = realloc(names->offsets, (room + 1) * sizeof(*offsets));
	if (!offsets)
		return false;
	names->offsets = offsets;
	offsets[names->count] = names->count ? offsets[names->count] : 0;
	names->room = room;
	return true;
}

static bool
grow_text(struct names *names, size_t size)
{
	size_t room = names->text_room ? names->text_room : 1024;
	char *grown;

	while (room < size)
		room *= 2;
	grown = realloc(names->text, room);
	if (!grown)
		return false;
	names->text = grown;
	names->text_room = room;
	return true;
}

uint32_t
names_add(struct names *names, const char *text, size_t length, uint64_t hash)
{
	struct names_slot *slot = names->slots ? find_slot(names, text, length, hash) : NULL;
	uint64_t end;

	if (slot && slot->name)
		return slot->name - 1;
	if (length >> 24 || (names->count && names->offsets[names->count] >> 40) || names->count == NAMES_NONE - 1 ||
	    (names->count == names->room && !grow_list(names)))
		return NAMES_NONE;
	end = names->offsets[names->count];
	if (end + length + 1 > names->text_room && !grow_text(names, end + length + 1))
		return NAMES_NONE;
	if (!names->slots || 2 * ((size_t)names->count + 1) > names->mask) {
		if (!grow_slots(names))
			return NAMES_NONE;
		slot = find_slot(names, text, length, hash);
	}
	memcpy(names->text + end, text, length);
	names->text[end + length] = '\0';
	if (length > 0)
		names->lengths[(unsigned char)text[0]] |= UINT64_C(1) << length % 64;
	names->hashes[names->count] = hash;
	*slot = (struct names_slot){(uint32_t)(hash >> 32), ++names->count, end, length};
	names->offsets[names->count] = end + length + 1;
	return names->count - 1;
}

uint32_t
names_find(const struct names *names, const char *text, size_t length, uint64_t hash)
{
	return names->slots ? find_slot(names, text, length, hash)->name - 1 : NAMES_NONE;
}

int
names_compare(const struct names *names, uint32_t a, uint32_t b)
{
	size_t lengths[2];
	const char *texts[2] = {names_text(names, a, &lengths[0]), names_text(names, b, &lengths[1])};
	int order = memcmp(texts[0], texts[1], lengths[0] < lengths[1] ? lengths[0] : lengths[1]);

	return order ? order : (lengths[0] > lengths[1]) - (lengths[0] < lengths[1]);
}

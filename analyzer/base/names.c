/* names.c: gives each different text (a word, a category) a number, and finds it again (names.h). The texts lie one
 * behind the other in memory; an open-addressed table of their hashes finds them. */
#include "names.h"

#include "cleanup.h"

#include <stdlib.h>
#include <string.h>

void
names_free(struct names *names)
{
	free(names->slots);
	free(names->offsets);
	free(names->text);
	*names = (struct names){0};
}

/* The slot that has the text, or the free one where it belongs. */
static struct names_slot *
find_slot(const struct names *names, const char *text, size_t length, uint64_t key)
{
	for (size_t at = names_place(names, key);; at = (at + 1) & names->mask) {
		struct names_slot *slot = &names->slots[at];

		if (slot->name == 0)
			return slot;
		if (slot->key == key && slot->length == length &&
		    (length <= NAMES_SHORT || memcmp(names->text + names->offsets[slot->name - 1], text, length) == 0))
			return slot;
	}
}

/* Doubles the number of slots. */
static bool
grow_slots(struct names *names)
{
	struct names_slot *old = names->slots;
	size_t had = old ? names->mask + 1 : 0, slots = old ? 2 * had : 256;
	struct names_slot *grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return false;
	names->slots = grown;
	names->mask = slots - 1;
	for (size_t s = 0; s < had; s++) {
		size_t at = names_place(names, old[s].key);

		if (old[s].name == 0)
			continue;
		while (grown[at].name != 0)
			at = (at + 1) & names->mask;
		grown[at] = old[s];
	}
	free(old);
	return true;
}

static bool
grow_list(struct names *names)
{
	size_t room = names->room ? 2 * names->room : 128;
	uint64_t *offsets = realloc(names->offsets, (room + 1) * sizeof(*offsets));

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
names_add_key(struct names *names, const char *text, size_t length, uint64_t key)
{
	struct names_slot *slot = names->slots ? find_slot(names, text, length, key) : NULL;
	uint64_t end;

	if (slot && slot->name)
		return slot->name - 1;
	if (length > UINT32_MAX || names->count == NAMES_NONE - 1 || (names->count == names->room && !grow_list(names)))
		return NAMES_NONE;
	end = names->offsets[names->count];
	if (end + length + 1 > names->text_room && !grow_text(names, end + length + 1))
		return NAMES_NONE;
	if (!names->slots || 2 * ((size_t)names->count + 1) > names->mask) {
		if (!grow_slots(names))
			return NAMES_NONE;
		slot = find_slot(names, text, length, key);
	}
	memcpy(names->text + end, text, length);
	names->text[end + length] = '\0';
	if (length > 0)
		names->lengths[(unsigned char)text[0]] |= UINT64_C(1) << length % 64;
	*slot = (struct names_slot){key, ++names->count, (uint32_t)length};
	names->offsets[names->count] = end + length + 1;
	return names->count - 1;
}

/* The first byte and the length are compared first: where the names are few, most texts that are looked up are found to
 * be none of them by that, without a hash. */
uint32_t
names_find(const struct names *names, const char *text, size_t length)
{
	if (length == 0 || !(names->lengths[(unsigned char)text[0]] >> length % 64 & 1))
		return NAMES_NONE;
	return find_slot(names, text, length, names_key(text, length))->name - 1;
}

int
names_compare(const struct names *names, uint32_t a, uint32_t b)
{
	size_t lengths[2];
	const char *texts[2] = {names_text(names, a, &lengths[0]), names_text(names, b, &lengths[1])};
	int order = memcmp(texts[0], texts[1], lengths[0] < lengths[1] ? lengths[0] : lengths[1]);

	return order ? order : (lengths[0] > lengths[1]) - (lengths[0] < lengths[1]);
}

static int
compare_numbers(const void *a, const void *b, void *names)
{
	const uint32_t *first = a, *second = b;

	return names_compare(names, *first, *second);
}

uint32_t *
names_rank(const struct names *names)
{
	CLEANUP_FREE uint32_t *order = malloc((names->count + (size_t)1) * sizeof(*order));
	uint32_t *ranks = malloc((names->count + (size_t)1) * sizeof(*ranks));

	if (!order || !ranks) {
		free(ranks);
		return NULL;
	}
	for (uint32_t k = 0; k < names->count; k++)
		order[k] = k;
	qsort_r(order, names->count, sizeof(*order), compare_numbers, (void *)(uintptr_t)names);
	for (uint32_t k = 0; k < names->count; k++)
		ranks[order[k]] = k;
	return ranks;
}

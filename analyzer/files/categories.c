/* categories.c: see categories.h. Open addressing at half load. */
#include "categories.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
hash_text(const char *text, size_t length)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash ^ hash >> 29;
}

static int
grow_names(struct attribute *attribute, struct categories *names)
{
	size_t room = names->room ? 2 * names->room : 64;
	char **grown = realloc(attribute->names, room * sizeof(*grown));
	uint32_t *slots = calloc(2 * room, sizeof(*slots));

	if (grown)
		attribute->names = grown;
	if (!grown || !slots) {
		free(slots);
		return -1;
	}
	free(names->slots);
	*names = (struct categories){slots, 2 * room - 1, room};
	for (size_t i = 0; i < attribute->name_count; i++) {
		size_t slot = hash_text(grown[i], strlen(grown[i])) & names->mask;

		while (slots[slot])
			slot = (slot + 1) & names->mask;
		slots[slot] = (uint32_t)i + 1;
	}
	return 0;
}

int32_t
categories_find(struct categories *names, struct attribute *attribute, const char *text, size_t length)
{
	size_t slot;

	if (attribute->name_count == names->room && grow_names(attribute, names) < 0)
		return -1;
	slot = hash_text(text, length) & names->mask;
	for (; names->slots[slot]; slot = (slot + 1) & names->mask) {
		const char *there = attribute->names[names->slots[slot] - 1];

		if (strlen(there) == length && memcmp(there, text, length) == 0)
			return (int32_t)names->slots[slot] - 1;
	}
	attribute->names[attribute->name_count] = strndup(text, length);
	if (!attribute->names[attribute->name_count])
		return -1;
	names->slots[slot] = (uint32_t)++attribute->name_count;
	return (int32_t)attribute->name_count - 1;
}

void
categories_free(struct categories *names)
{
	free(names->slots);
	*names = (struct categories){0};
}

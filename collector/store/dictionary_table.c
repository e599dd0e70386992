/*
 * dictionary_table.c: making room in the table from ids to indices.
 */
#include "dictionary_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SMALLEST ((size_t)1 << 10)

/* Large tables are asked for in huge pages: nearly each look-up is in another page. */
static struct dictionary_entry *
make_entries(size_t room)
{
	const size_t huge = (size_t)2 << 20;
	size_t bytes = room * sizeof(struct dictionary_entry);
	void *entries = bytes < 2 * huge ? malloc(bytes) : aligned_alloc(huge, bytes);

	if (entries && bytes >= 2 * huge)
		madvise(entries, bytes, MADV_HUGEPAGE);
	if (entries)
		memset(entries, 0xff, bytes); /* every index DICTIONARY_NO_INDEX */
	return entries;
}

size_t
dictionary_table_room(uint64_t rows)
{
	size_t room = SMALLEST;

	while (room * 3 / 4 < rows)
		room *= 2;
	return room;
}

bool
dictionary_table_rebuild(struct dictionary_table *table, size_t room, uint64_t rows)
{
	struct dictionary_table larger = *table;

	larger.entries = make_entries(room);
	if (!larger.entries)
		return false;
	larger.room = room;
	for (size_t i = 0; i < table->room; i++) {
		const struct dictionary_entry *entry = &table->entries[i];

		if (entry->index < rows)
			*dictionary_table_find(&larger, (struct dictionary_id){.id = entry->id, .more = entry->more}) =
			        *entry;
	}
	free(table->entries);
	*table = larger;
	return true;
}

bool
dictionary_table_add(struct dictionary_table *table, struct dictionary_id id, uint32_t index)
{
	if (table->room * 3 / 4 <= table->rows &&
	    !dictionary_table_rebuild(table, table->room ? 2 * table->room : SMALLEST, DICTIONARY_NO_INDEX))
		return false;
	*dictionary_table_find(table, id) = (struct dictionary_entry){.id = id.id, .more = id.more, .index = index};
	table->rows++;
	return true;
}

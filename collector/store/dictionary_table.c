/*
 * dictionary_table.c: making room in the table from ids to indices.
 */
#include "dictionary_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SMALLEST 32

/* Large pieces are asked for in huge pages: nearly each look-up is in another page. */
static struct dictionary_entry *
make_entries(uint32_t room)
{
	const size_t huge = (size_t)2 << 20;
	size_t bytes = room * sizeof(struct dictionary_entry);
	void *entries = bytes < 2 * huge ? malloc(bytes) : aligned_alloc(huge, (bytes + huge - 1) / huge * huge);

	if (entries && bytes >= 2 * huge)
		madvise(entries, bytes, MADV_HUGEPAGE);
	if (entries)
		memset(entries, 0xff, bytes); /* every index DICTIONARY_NO_INDEX */
	return entries;
}

/* Makes a piece `room` large, keeping what has an index below `rows`. */
static bool
rebuild(struct dictionary_table *table, struct dictionary_piece *piece, uint32_t room, uint64_t rows)
{
	struct dictionary_piece old = *piece;

	piece->entries = make_entries(room);
	if (!piece->entries) {
		*piece = old;
		return false;
	}
	piece->room = room;
	piece->rows = 0;
	for (uint32_t i = 0; i < old.room; i++) {
		const struct dictionary_entry *entry = &old.entries[i];

		if (entry->index >= rows)
			continue;
		*dictionary_table_find(table, (struct dictionary_id){.id = entry->id, .more = entry->more}) = *entry;
		piece->rows++;
	}
	table->bytes += ((size_t)room - old.room) * sizeof(*piece->entries);
	free(old.entries);
	return true;
}

/* The room of a piece that has to hold so many ids: it grows by half. */
static uint32_t
room_for(const struct dictionary_piece *piece, uint64_t rows)
{
	uint64_t room = piece->room ? piece->room : SMALLEST;

	while (room * 3 / 4 < rows)
		room += room / 2;
	return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

bool
dictionary_table_add(struct dictionary_table *table, struct dictionary_id id, uint32_t index)
{
	struct dictionary_piece *piece = &table->pieces[dictionary_table_piece(dictionary_table_hash(table, id))];
	uint32_t room = room_for(piece, (uint64_t)piece->rows + 1);

	if (room != piece->room && !rebuild(table, piece, room, DICTIONARY_NO_INDEX))
		return false;
	*dictionary_table_find(table, id) = (struct dictionary_entry){.id = id.id, .more = id.more, .index = index};
	piece->rows++;
	table->rows++;
	return true;
}

bool
dictionary_table_cut(struct dictionary_table *table, uint64_t rows)
{
	for (int i = 0; i < DICTIONARY_PIECES; i++)
		if (table->pieces[i].room && !rebuild(table, &table->pieces[i], table->pieces[i].room, rows))
			return false;
	table->rows = rows;
	return true;
}

size_t
dictionary_table_bytes_with(const struct dictionary_table *table, const uint32_t more[DICTIONARY_PIECES])
{
	size_t bytes = table->bytes, largest = 0;

	for (int i = 0; i < DICTIONARY_PIECES; i++) {
		const struct dictionary_piece *piece = &table->pieces[i];
		uint32_t room = more[i] ? room_for(piece, (uint64_t)piece->rows + more[i]) : piece->room;

		bytes += ((size_t)room - piece->room) * sizeof(*piece->entries);
		if (room != piece->room && piece->room > largest)
			largest = piece->room; /* is there beside the larger one for a moment */
	}
	return bytes + largest * sizeof(struct dictionary_entry);
}

void
dictionary_table_free(struct dictionary_table *table)
{
	for (int i = 0; table && i < DICTIONARY_PIECES; i++)
		free(table->pieces[i].entries);
	free(table);
}

/*
 * kept.c: keeps in memory which tokens each record holds, so that `portolan upsample` reads its file once (kept.h).
 * Bytes are counted when they are asked for. When a thread meets the limit, no thread keeps anything more; the counting
 * of tokens goes on.
 */
#include "kept.h"

#include "die/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096

void
kept_init(struct kept *kept, size_t parts, unsigned threads, size_t limit)
{
	*kept = (struct kept){.part_count = parts, .threads = threads, .limit = limit};
	kept->parts = memory_new(parts, sizeof(*kept->parts));
	kept->tokens = memory_new(threads, sizeof(*kept->tokens));
	kept->labels = memory_new(threads, sizeof(*kept->labels));
}

void
kept_free(struct kept *kept)
{
	for (size_t p = 0; p < kept->part_count; p++) {
		free(kept->parts[p].records);
		free(kept->parts[p].rows);
	}
	for (unsigned t = 0; t < kept->threads; t++) {
		free(kept->tokens[t]);
		free(kept->labels[t]);
	}
	free(kept->parts);
	free(kept->tokens);
	free(kept->labels);
	*kept = (struct kept){0};
}

struct kept_part *
kept_begin(struct kept *kept, size_t part, unsigned thread)
{
	if (atomic_load_explicit(&kept->bytes, memory_order_relaxed) >= kept->limit)
		return NULL;
	kept->parts[part].thread = thread;
	return &kept->parts[part];
}

/* Ends the keeping for all threads: sets the count of bytes beyond the limit. */
static void
kept_give_up(struct kept *kept)
{
	atomic_store_explicit(&kept->bytes, SIZE_MAX / 2, memory_order_relaxed);
}

/* Doubles the room of a list whose items have `item` bytes. Returns the list; NULL: there is no memory for it. */
static void *
kept_grow(struct kept *kept, void *list, size_t *room, size_t item)
{
	size_t more = *room ? *room : FIRST_ROOM;
	void *grown = NULL;

	if (atomic_fetch_add_explicit(&kept->bytes, more * item, memory_order_relaxed) + more * item <= kept->limit)
		grown = realloc(list, (*room + more) * item);
	if (grown)
		*room += more;
	else
		kept_give_up(kept);
	return grown;
}

bool
kept_add_record(struct kept *kept, struct kept_part *part, uint64_t at, size_t size, uint32_t label)
{
	if (size > UINT32_MAX) {
		kept_give_up(kept);
		return false;
	}
	if (part->record_count == part->record_room) {
		struct kept_record *grown = kept_grow(kept, part->records, &part->record_room, sizeof(*grown));

		if (!grown)
			return false;
		part->records = grown;
	}
	part->records[part->record_count++] = (struct kept_record){.at = at, .size = (uint32_t)size, .label = label};
	return true;
}

bool
kept_add_tokens(struct kept *kept, struct kept_part *part, const uint32_t *rows, size_t count)
{
	while (part->row_count + count > part->row_room) {
		uint32_t *grown = kept_grow(kept, part->rows, &part->row_room, sizeof(*grown));

		if (!grown)
			return false;
		part->rows = grown;
	}
	memcpy(part->rows + part->row_count, rows, count * sizeof(*rows));
	part->row_count += count;
	part->records[part->record_count - 1].tokens += (uint32_t)count;
	return true;
}

void
kept_finish(struct kept *kept)
{
	kept->whole = kept->limit > 0 && atomic_load_explicit(&kept->bytes, memory_order_relaxed) <= kept->limit;
	if (!kept->whole)
		kept_free(kept);
}

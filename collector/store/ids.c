/*
 * ids.c: computes how much room the writer needs for a segment of ids (ids.h), and finds the ids in a stored one, after
 * checking every offset.
 */
#include "ids.h"

size_t
store_ids_size(enum store_id_kind kind, uint32_t count, size_t text_size)
{
	size_t ids = kind == STORE_ID_STR ? 4 * ((size_t)count + 1) + text_size : 8 * (size_t)count;

	return RECORD_HEADER + sizeof(struct ids_record) + ids;
}

bool
store_ids_open(const uint8_t *body, size_t size, struct ids_segment *segment)
{
	struct ids_record head;
	size_t offsets;

	if (size < sizeof(head))
		return false;
	memcpy(&head, body, sizeof(head));
	body += sizeof(head);
	size -= sizeof(head);
	if (head.count == 0 || head.count > STORE_CHUNK)
		return false;
	*segment = (struct ids_segment){.count = head.count, .kind = (enum store_id_kind)head.kind};
	if (head.kind == STORE_ID_INT) {
		segment->integers = body;
		return size == 8 * (size_t)head.count;
	}
	offsets = 4 * ((size_t)head.count + 1);
	if (head.kind != STORE_ID_STR || size < offsets || load_u32(body) != 0 ||
	    load_u32(body + offsets - 4) != size - offsets)
		return false;
	for (uint32_t i = 0; i < head.count; i++)
		if (load_u32(body + 4 * (size_t)i) > load_u32(body + 4 * (size_t)i + 4))
			return false;
	segment->offsets = body;
	segment->text = body + offsets;
	segment->text_size = size - offsets;
	return true;
}

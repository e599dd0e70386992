/*
 * page.c: reads for a salvage one page of LMDB's file format (version 1, of LMDB 0.9), its nodes, and their values,
 * from a file that may be damaged. Every number in a page is checked before it is used.
 */
#include "pages_parts.h"

#include <stdlib.h>
#include <unistd.h>

#define NODE_HEADER 8

bool
pages_read_bytes(const struct pages *pages, uint64_t at, void *bytes, size_t size)
{
	for (ssize_t got; size; bytes = (uint8_t *)bytes + got, at += (uint64_t)got, size -= (size_t)got) {
		got = pread(pages->file, bytes, size, (off_t)at);
		if (got <= 0)
			return false; /* the file ends, or its disk cannot be read */
	}
	return true;
}

bool
pages_read_page(const struct pages *pages, uint64_t number, unsigned flags, uint8_t *page)
{
	return number > 1 && number <= pages->last && number < pages->count &&
	       pages_read_bytes(pages, number * pages->size, page, pages->size) && load_u64(page) == number &&
	       load_u16(page + 10) == flags;
}

unsigned
pages_count_nodes(const struct pages *pages, const uint8_t *page)
{
	const unsigned lower = load_u16(page + 12), upper = load_u16(page + 14);

	return lower < PAGE_HEADER || lower % 2 || lower > upper || upper > pages->size ? 0 : (lower - PAGE_HEADER) / 2;
}

bool
pages_read_node(const struct pages *pages, const uint8_t *page, unsigned index, bool branch, struct node *node)
{
	const size_t at = load_u16(page + PAGE_HEADER + 2 * (size_t)index);
	const uint8_t *head = page + at;

	if (at < load_u16(page + 14) || at + NODE_HEADER > pages->size)
		return false;
	*node = (struct node){.key = head + NODE_HEADER,
	                      .key_size = load_u16(head + 6),
	                      .flags = load_u16(head + 4),
	                      .size = load_u32(head)};
	node->data = node->key + node->key_size;
	if (branch) {
		node->child = node->size | (uint64_t)node->flags << 32;
		return at + NODE_HEADER + node->key_size <= pages->size && (index == 0 || node->key_size);
	}
	return node->key_size > 0 && node->key_size < KEY_MAX &&
	       at + NODE_HEADER + node->key_size + (node->flags & NODE_OVERFLOW ? 8 : node->size) <= pages->size;
}

bool
pages_next_node(const struct pages *pages, unsigned *index, struct node *node)
{
	const unsigned count = pages_count_nodes(pages, pages->page);

	while (*index < count)
		if (pages_read_node(pages, pages->page, (*index)++, false, node))
			return true;
	return false;
}

const uint8_t *
pages_read_value(struct pages *pages, const struct node *node)
{
	uint8_t head[PAGE_HEADER], *larger;
	uint64_t number;
	const uint64_t needed = (PAGE_HEADER - 1 + (uint64_t)node->size) / pages->size + 1;

	if (!(node->flags & NODE_OVERFLOW))
		return node->data;
	number = load_u64(node->data);
	if (number < 2 || number > pages->last || needed > pages->last + 1 - number ||
	    !pages_read_bytes(pages, number * pages->size, head, sizeof(head)) || load_u64(head) != number ||
	    load_u16(head + 10) != PAGE_OVERFLOW || load_u32(head + 12) < needed)
		return NULL;
	larger = node->size <= pages->value_room ? pages->value : realloc(pages->value, node->size);
	if (!larger) {
		pages->no_memory = true;
		return NULL;
	}
	pages->value_room = larger == pages->value ? pages->value_room : node->size;
	pages->value = larger;
	return pages_read_bytes(pages, number * pages->size + PAGE_HEADER, larger, node->size) ? larger : NULL;
}

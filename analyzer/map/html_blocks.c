/* html_blocks.c: writes JSON and base64 such that an HTML document can hold them. */
#include "html_blocks.h"

#include <stdio.h>
#include <string.h>

#define TAGS_ROOM 128       /* bytes of an element without its text */
#define GROUPS_AT_ONCE 1024 /* of three bytes */

void
html_blocks_text(struct html_blocks *blocks, const void *text, size_t size)
{
	output_bytes(blocks->output, text, size);
	blocks->written += size;
}

void
html_block_begin(struct html_blocks *blocks, const char *name, enum html_block_kind kind)
{
	char tag[TAGS_ROOM];
	int length = snprintf(tag, sizeof(tag), "<script type=\"application/%s\" id=\"file-%s\">",
	                      kind == HTML_JSON ? "json" : "octet-stream", name);

	blocks->kind = kind;
	blocks->pending_count = 0;
	html_blocks_text(blocks, tag, (size_t)length);
}

/* Prints 1 to 3 bytes as four characters; "=" stands for bytes that are not there. */
static void
html_print_group(char to[4], const unsigned char *bytes, unsigned count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t group =
	        (uint32_t)bytes[0] << 16 | (count > 1 ? (uint32_t)bytes[1] << 8 : 0) | (count > 2 ? bytes[2] : 0);

	for (unsigned i = 0; i < 4; i++)
		to[i] = i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
}

/* Writes whole groups: `size` is a multiple of 3. */
static void
html_write_groups(struct html_blocks *blocks, const unsigned char *bytes, size_t size)
{
	char text[4 * GROUPS_AT_ONCE];

	while (size > 0) {
		size_t groups = size / 3 < GROUPS_AT_ONCE ? size / 3 : GROUPS_AT_ONCE;

		for (size_t g = 0; g < groups; g++)
			html_print_group(text + 4 * g, bytes + 3 * g, 3);
		html_blocks_text(blocks, text, 4 * groups);
		bytes += 3 * groups;
		size -= 3 * groups;
	}
}

static void
html_write_bytes(struct html_blocks *blocks, const unsigned char *bytes, size_t size)
{
	while (size > 0 && blocks->pending_count > 0 && blocks->pending_count < 3) {
		blocks->pending[blocks->pending_count++] = *bytes++;
		size--;
	}
	if (blocks->pending_count == 3) {
		html_write_groups(blocks, blocks->pending, 3);
		blocks->pending_count = 0;
	}
	html_write_groups(blocks, bytes, size - size % 3);
	for (size_t i = size - size % 3; i < size; i++)
		blocks->pending[blocks->pending_count++] = bytes[i];
}

static void
html_write_json(struct html_blocks *blocks, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *bracket = memchr(text, '<', (size_t)(end - text));

		html_blocks_text(blocks, text, (size_t)((bracket ? bracket : end) - text));
		if (bracket)
			html_blocks_text(blocks, "\\u003c", 6);
		text = bracket ? bracket + 1 : end;
	}
}

void
html_block_write(struct html_blocks *blocks, const void *data, size_t size)
{
	if (blocks->kind == HTML_JSON)
		html_write_json(blocks, data, size);
	else
		html_write_bytes(blocks, data, size);
}

void
html_block_end(struct html_blocks *blocks)
{
	static const char end[] = "</script>\n";
	char text[4];

	if (blocks->pending_count > 0) {
		html_print_group(text, blocks->pending, blocks->pending_count);
		html_blocks_text(blocks, text, sizeof(text));
	}
	blocks->pending_count = 0;
	html_blocks_text(blocks, end, sizeof(end) - 1);
}

uint64_t
html_block_size(uint64_t bytes)
{
	return (bytes + 2) / 3 * 4 + TAGS_ROOM;
}

/*
 * html_blocks.h: data within an HTML document: script elements that no browser runs, each with JSON, or with bytes as
 * base64, as their text. They are written as they come; only bytes that do not yet fill a group of three are kept.
 *
 *     html_block_begin(blocks, "gold", HTML_BYTES) → html_block_write() … → html_block_end()
 *
 * In JSON, "<" is written as \u003c, which is the same text, so that no text ends the element. Errors are the output's.
 */
#ifndef HTML_BLOCKS_H
#define HTML_BLOCKS_H

#include "output/output.h"

#include <stdint.h>

enum html_block_kind {
	HTML_JSON,
	HTML_BYTES,
};

struct html_blocks {
	struct output *output;
	uint64_t written; /* bytes of the document so far */
	/* private */
	enum html_block_kind kind;
	unsigned char pending[3];
	unsigned pending_count;
};

/* Text of the document between blocks, as it is. */
void html_blocks_text(struct html_blocks *blocks, const void *text, size_t size);

/* The element has the id "file-NAME". */
void html_block_begin(struct html_blocks *blocks, const char *name, enum html_block_kind kind);
void html_block_write(struct html_blocks *blocks, const void *data, size_t size);
void html_block_end(struct html_blocks *blocks);

/* The most that a block of so many bytes adds to the document. */
uint64_t html_block_size(uint64_t bytes);

#endif

/* page.h: the files of the live page (HTML, scripts, styles), which pack.py has packed into the program: for the
 * server, and for `portolan map`, which can write the page as one document (map_html.c). */
#ifndef PAGE_H
#define PAGE_H

#include <stddef.h>

struct page_file {
	const char *name; /* "index.html", "map.js"; NULL ends the list */
	const char *type;
	const unsigned char *bytes, *packed; /* the content, plain and compressed by gzip */
	size_t size, packed_size;
};
extern const struct page_file page_files[];

/* The whole page as one document: the part before its data, and the part after. */
extern const unsigned char page_document_begin[], page_document_end[];
extern const size_t page_document_begin_size, page_document_end_size;

#endif

/* writers.h: write the document of `portolan report` (page.h) for people, into an output that the caller finishes. Each
 * writer only lays out what the page says. */
#ifndef REPORT_WRITERS_H
#define REPORT_WRITERS_H

#include "output/output.h"
#include "page.h"

/* One file that needs no other and no network. */
void page_write_html(const struct page *page, struct output *output);
/* The map is the file `picture` beside it. */
void page_write_markdown(const struct page *page, struct output *output, const char *picture);
/* For a terminal: no line is longer than it is wide. */
void page_write_text(const struct page *page, struct output *output);

#endif

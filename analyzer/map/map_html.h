/*
 * map_html.h: writes the map of a run as a page (`portolan map -o FILE.html`): the live page of `serve`, with the run's data
 * inside, in one file that opens from disk without a server.
 *
 * The file holds the examples' ids, gold labels and measures (float64), or those of a random sample if there are more than
 * --sample examples; p(gold) and correctness by epoch, if the file then has at most 100 MB; and the texts that --text asks
 * for. serve/page/file_source.js reads it.
 */
#ifndef MAP_HTML_H
#define MAP_HTML_H

#include "drawing.h"
#include "options/options.h"

#define MAP_HTML_TEXTS 16

struct map_html {
	const char *data; /* --data; NULL: none */
	const char *texts[MAP_HTML_TEXTS];
	size_t text_count;
};

/* Does the user want a page: does the name of -o end with .html? */
bool map_html_is_meant(const char *output);

/* Refuses options that only pictures have. Returns 0, or the status of options_wrong(). */
int map_html_check(const struct common_options *common);

/* Writes the page; returns an exit status. If the run has no such measure, or the data have no such field, the program
 * ends, and leaves no file. */
int map_html_write(const struct map_html *html, const struct map_request *request, const struct common_options *common);

#endif

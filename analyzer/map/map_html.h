/*
 * map_html.h: portolan map -o FILE.html: the map of a run as one file: the live page with its data inside, which opens from
 * disk without a server.
 *
 * It holds the examples' ids, gold labels and measures (float64), or of more than --sample examples a random sample of them;
 * p(gold) and correctness by epoch, if the file then has at most 100 MB; and the texts that --text asks for.
 * page/file_source.js reads it.
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

/* Does the name end with .html? */
bool map_html_is_meant(const char *output);

/* 0, or the status of options_wrong(): an option is of pictures alone. */
int map_html_check(const struct common_options *common);

/* Writes the file; returns an exit status. If the run has no such measure, or the data have no such field, the program
 * ends, and nothing is left of the file. */
int map_html_write(const struct map_html *html, const struct map_request *request, const struct common_options *common);

#endif

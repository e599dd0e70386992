/* map_html.h: portolan map -o FILE.html: the part that reads the command line. */
#ifndef MAP_HTML_H
#define MAP_HTML_H

#include "drawing.h"
#include "options/options.h"

#define MAP_HTML_TEXTS 16
#define MAP_HTML_SAMPLE 200000 /* examples in the file, unless --sample says otherwise */

struct map_html {
	const char *data; /* --data; NULL: none */
	const char *texts[MAP_HTML_TEXTS];
	size_t text_count;
};

/* Does the name end with .html? */
bool map_html_is_meant(const char *output);

/* 0, or the status of options_wrong(): an option is of pictures alone. */
int map_html_check(const struct common_options *common);

/* An exit status, or a negative code. */
int map_html_write(const struct map_html *html, const struct map_request *request, const struct common_options *common,
                   struct portolan_error *error);

#endif

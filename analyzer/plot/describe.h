/* describe.h: gives a picture a title and a description, for screen readers and for search. */
#ifndef PLOT_DESCRIBE_H
#define PLOT_DESCRIBE_H

#include "picture.h"

/* Copies an SVG or PDF that stands whole in the file `from`. An SVG gets <title> and <desc>, and names of fonts for
 * viewers that lack its own. A PDF, which has its fonts inside, gets a title and a subject. A PDF whose structure this
 * code does not know is copied unchanged. Errors of writing are output_finish()'s. */
int picture_describe(int from, struct output *to, enum picture_format format, const struct picture_page *page,
                     struct portolan_error *error);

#endif

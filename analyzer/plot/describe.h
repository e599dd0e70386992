/* describe.h: the title and description of a picture, for those who do not see it and for those who look for it. */
#ifndef PLOT_DESCRIBE_H
#define PLOT_DESCRIBE_H

#include "picture.h"

/* Copies an SVG or PDF that stands whole in the file `from`. An SVG gets <title> and <desc>, and other fonts to take
 * where its own is missing; a PDF, which brings its fonts along, a title and a subject. A PDF that is written in a way
 * that is not known here is copied as it is. Errors of writing are output_finish()'s. */
int picture_describe(int from, struct output *to, enum picture_format format, const struct picture_page *page,
                     struct portolan_error *error);

#endif

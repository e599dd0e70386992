/* describe.h: gives a picture that gnuplot has drawn a title and a description, for screen readers and for search. */
#ifndef PLOT_DESCRIBE_H
#define PLOT_DESCRIBE_H

#include "script.h"

/* Copies a complete SVG or PDF from the file `from`, and adds title and description, which may have any characters. An
 * SVG gets <title> and <desc>, and further names of fonts for viewers that lack its own. A PDF, which has its fonts
 * inside, gets a title and a subject. A PDF whose structure this code does not know is copied unchanged. Errors of
 * writing are output_finish()'s. */
void picture_describe(int from, struct output *to, enum picture_format format, const char *title,
                      const char *description);

#endif

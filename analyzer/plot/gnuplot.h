/* gnuplot.h: the one place that starts gnuplot. */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stdint.h>

/* Runs `script` in `folder` with the script's variable `picture` set to the file name given; both names are made of
 * letters, digits and . _ - only. PORTOLAN_E_SYSTEM: it is not installed, or failed; the message has what it said. */
int gnuplot_run(const char *folder, const char *script, const char *picture, struct portolan_error *error);

/* Whether one of the fonts it would find draws this character (fontconfig's fc-list says so; without it: no). */
bool gnuplot_has_glyph(uint32_t character);

#endif

/* gnuplot.h: the one place that starts gnuplot, and the program that knows its fonts. */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <portolan/portolan.h>

#include <stdint.h>

/* Has gnuplot write to the file `picture` what the file `script` draws, with its variable `data` set to a path of the
 * file `data`. All three are open; their offsets do not matter, but for the picture's. PORTOLAN_E_SYSTEM: gnuplot is
 * not installed, or failed; the message has what it said. */
int gnuplot_run(int script, int data, int picture, struct portolan_error *error);

/* The characters that some font on this machine has (fontconfig's fc-list says so), a bit for each of PLOT_CHARACTERS;
 * the caller's to free(). NULL: that is not known. */
uint8_t *gnuplot_characters(void);

#endif
